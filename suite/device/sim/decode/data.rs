//! Instructions that only touch registers, and conversions of addresses.

use super::super::alu::{self, Shape};
use super::super::lanes::{Class, Comparison, Operands, Row, SINK, comparison};
use super::super::memory::{FUNCTION_WINDOW, WINDOW_BYTES};
use super::super::program::{Combine, Compare, Kind, Space};
use super::rows::sink;
use super::{Decoder, Wrong, exactly, unknown, window};
use crate::image::ptx::Operand;

impl Decoder<'_> {
    pub(super) fn data(
        &mut self,
        opcode: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        if opcode == "mov"
            && let Some(kind) = self.special_move(modifiers, operands)?
        {
            return Ok(kind);
        }
        let [d, sources @ ..] = operands else {
            return Err("has no operands".to_owned());
        };
        let modifiers = modifiers.join(".");
        let low_part = match sources {
            [Operand::Name(name)]
                if self.rows.register_type(name).is_some_and(|t| t.bits == 64) =>
            {
                alu::select_low_part(opcode, &modifiers)
            }
            _ => None,
        };
        let operation = low_part.or_else(|| alu::select(opcode, &modifiers));
        let operation = operation.ok_or_else(|| refused(opcode, &modifiers))?;
        if sources.len() != operation.sources.len() {
            return Err(format!(
                "has {} operands, wants {}",
                operands.len(),
                operation.sources.len() + 1
            ));
        }
        let mut rows = [sink(Class::Narrow); 4];
        for ((row, source), &class) in rows.iter_mut().zip(sources).zip(operation.sources) {
            *row = self.rows.source(source, class)?;
        }
        if matches!(opcode, "addc" | "subc" | "madc") || modifiers.split('.').any(|m| m == "cc") {
            self.rows.carry();
        }
        let d = self.rows.destination(d, operation.d)?;
        let [a, b, c, e] = rows;
        Ok(Kind::Alu(operation.run, Operands { d, a, b, c, e }))
    }

    /// `mov` of a clock, or between a whole and its parts.
    fn special_move(
        &mut self,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Option<Kind>, Wrong> {
        let [ty] = modifiers else { return Ok(None) };
        match operands {
            [d, Operand::Name(name)] if let Some((wide, high)) = clock(name) => {
                let class = if wide { Class::Wide } else { Class::Narrow };
                let d = self.rows.destination(d, class)?;
                Ok(Some(Kind::Clock { d, wide, high }))
            }
            [Operand::Vector(parts), whole] => {
                let shape = Shape::new(ty, parts.len()).ok_or_else(unknown)?;
                let whole = self.rows.source(whole, shape.whole)?;
                let parts = self.each(parts, |this, part| {
                    this.rows.destination(part, Class::Narrow)
                })?;
                Ok(Some(Kind::Pack {
                    shape,
                    whole,
                    parts,
                    split: true,
                }))
            }
            [whole, Operand::Vector(parts)] => {
                let shape = Shape::new(ty, parts.len()).ok_or_else(unknown)?;
                let parts = self.each(parts, |this, part| this.rows.source(part, Class::Narrow))?;
                let whole = self.rows.destination(whole, shape.whole)?;
                Ok(Some(Kind::Pack {
                    shape,
                    whole,
                    parts,
                    split: false,
                }))
            }
            _ => Ok(None),
        }
    }

    /// Up to four rows.
    pub(super) fn each(
        &mut self,
        operands: &[Operand],
        mut row: impl FnMut(&mut Self, &Operand) -> Result<Row, Wrong>,
    ) -> Result<[Row; 4], Wrong> {
        let mut rows = [sink(Class::Narrow); 4];
        if operands.len() > rows.len() {
            return Err(unknown());
        }
        for (slot, operand) in rows.iter_mut().zip(operands) {
            *slot = row(self, operand)?;
        }
        Ok(rows)
    }

    /// `setp`
    pub(super) fn compare(
        &mut self,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        let (d, mut compare) = self.comparison(modifiers, operands)?;
        (compare.p, compare.q) = self.predicate_pair(d)?;
        Ok(Kind::Compare(compare))
    }

    /// `set`: as `setp`, with the type of the result before that of the sources.
    pub(super) fn set(&mut self, all: &[&str], operands: &[Operand]) -> Result<Kind, Wrong> {
        let [front @ .., to, from] = all else {
            return Err(unknown());
        };
        let one = match *to {
            "u32" | "s32" => u32::MAX,
            "f32" => 1.0_f32.to_bits(),
            _ => return Err(unknown()),
        };
        let modifiers: Vec<&str> = front.iter().chain([from]).copied().collect();
        let (d, compare) = self.comparison(&modifiers, operands)?;
        let d = self.rows.destination(d, Class::Narrow)?;
        Ok(Kind::Set { compare, d, one })
    }

    /// The destination, and the comparison without one.
    fn comparison<'o>(
        &mut self,
        modifiers: &[&str],
        operands: &'o [Operand],
    ) -> Result<(&'o Operand, Compare), Wrong> {
        let flush = modifiers.contains(&"ftz");
        let modifiers: Vec<&str> = modifiers.iter().copied().filter(|&m| m != "ftz").collect();
        let (name, combine, ty) = match modifiers[..] {
            [name, ty] => (name, Combine::None, ty),
            [name, "and", ty] => (name, Combine::And, ty),
            [name, "or", ty] => (name, Combine::Or, ty),
            [name, "xor", ty] => (name, Combine::Xor, ty),
            _ => return Err(unknown()),
        };
        let ty = if flush {
            format!("ftz.{ty}")
        } else {
            ty.to_owned()
        };
        let comparison = alu::comparison(name, &ty).ok_or_else(unknown)?;
        let ([d, a, b], third) = match operands {
            [d, a, b] if combine == Combine::None => ([d, a, b], None),
            [d, a, b, c] if combine != Combine::None => ([d, a, b], Some(c)),
            _ => return Err(format!("has {} operands", operands.len())),
        };
        let a = self.rows.source(a, comparison.class)?;
        let b = self.rows.source(b, comparison.class)?;
        let (c, flip) = match third {
            Some(c) => self.rows.signed_predicate(c)?,
            None => (SINK, 0),
        };
        let compare = Compare {
            comparison,
            p: SINK,
            q: SINK,
            a,
            b,
            combine,
            c,
            flip,
        };
        Ok((d, compare))
    }

    /// `p` or `p|q` as destinations.
    pub(super) fn predicate_pair(&mut self, operand: &Operand) -> Result<(Row, Row), Wrong> {
        match operand {
            Operand::Pair(p, q) => Ok((
                self.rows.destination_named(p, Class::Predicate)?,
                self.rows.destination_named(q, Class::Predicate)?,
            )),
            one => Ok((self.rows.destination(one, Class::Predicate)?, SINK)),
        }
    }

    /// `cvta.to.shared.u64 d, a` and back: windows are a constant away.
    pub(super) fn convert_address(
        &mut self,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        let (to, space) = match *modifiers {
            ["to", space, "u64"] => (true, space),
            [space, "u64"] => (false, space),
            _ => return Err(unknown()),
        };
        let start = window(space_named(space).ok_or_else(unknown)?);
        let [d, a] = exactly(operands)?;
        let shift = if to { start.wrapping_neg() } else { start };
        let operation = alu::select("add", "u64").ok_or_else(unknown)?;
        let rows = Operands {
            a: self.rows.source(a, Class::Wide)?,
            b: self.rows.wide(shift)?,
            d: self.rows.destination(d, Class::Wide)?,
            ..Operands::default()
        };
        Ok(Kind::Alu(operation.run, rows))
    }

    /// `testp.finite.f32 p, a`
    pub(super) fn test(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<Kind, Wrong> {
        let comparison = alu::kind_of_number(&modifiers.join(".")).ok_or_else(unknown)?;
        let [d, a] = exactly(operands)?;
        let a = self.rows.source(a, comparison.class)?;
        Ok(Kind::Compare(Compare {
            comparison,
            a,
            b: a,
            p: self.rows.destination(d, Class::Predicate)?,
            q: SINK,
            combine: Combine::None,
            c: SINK,
            flip: 0,
        }))
    }

    /// `isspacep.shared p, a`
    pub(super) fn is_space(
        &mut self,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        let [name] = modifiers else {
            return Err(unknown());
        };
        let space = space_named(name).ok_or_else(unknown)?;
        let [d, a] = exactly(operands)?;
        let comparison: Comparison = match space {
            // All windows lie below every allocation.
            Space::Global => comparison!(u64, |a, b| a >= b),
            _ => comparison!(u64, |a, b| a & !(WINDOW_BYTES - 1) == b),
        };
        let bound = if space == Space::Global {
            FUNCTION_WINDOW + WINDOW_BYTES
        } else {
            window(space)
        };
        Ok(Kind::Compare(Compare {
            comparison,
            a: self.rows.source(a, Class::Wide)?,
            b: self.rows.wide(bound)?,
            p: self.rows.destination(d, Class::Predicate)?,
            q: SINK,
            combine: Combine::None,
            c: SINK,
            flip: 0,
        }))
    }
}

/// Why an instruction is not known.
fn refused(opcode: &str, modifiers: &str) -> Wrong {
    let approximate = matches!(opcode, "sin" | "cos" | "ex2" | "lg2" | "rsqrt" | "tanh")
        || modifiers
            .split('.')
            .any(|m| matches!(m, "approx" | "full" | "full_range"));
    if approximate {
        return "approximate results differ between cards".to_owned();
    }
    let capability = match opcode {
        "redux" | "mbarrier" | "cp" => "8.0",
        "min" | "max" if modifiers.contains("16") || modifiers.contains("NaN") => "8.0",
        "elect" | "griddepcontrol" | "wgmma" | "setmaxnreg" | "mapa" | "getctarank" => "9.0",
        _ => return unknown(),
    };
    format!("needs compute capability {capability}, and the simulated device has 7.5")
}

/// Of a clock: whether it has 64 bits, and whether it is the upper half of one that has.
fn clock(name: &str) -> Option<(bool, bool)> {
    Some(match name {
        "%clock" | "%globaltimer_lo" => (false, false),
        "%clock_hi" | "%globaltimer_hi" => (false, true),
        "%clock64" | "%globaltimer" => (true, false),
        _ => return None,
    })
}

/// A state space of a modifier.
pub(super) fn space_named(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" => Space::Param,
        _ => return None,
    })
}
