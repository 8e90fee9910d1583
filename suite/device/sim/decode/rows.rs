//! Names and immediates to rows.

use std::collections::HashMap;

use super::super::flow::Usage;
use super::super::lanes::{CARRY, Class, FALSE, FIRST_PREDICATE, Row, SINK, SINK_DATA, TRUE};
use super::super::program::{RowCounts, Space, Special};
use super::{Places, Wrong, window};
use crate::image::ptx::{Body, Immediate, Operand, Type, TypeClass};

/// Hands out rows; only registers that are used get one.
pub(super) struct Rows<'a> {
    scopes: &'a [Option<usize>],
    /// Declarations without a count.
    single: HashMap<(usize, &'a str), Type>,
    /// Declarations with one: `%r<12>`.
    counted: HashMap<(usize, &'a str), (u32, Type)>,
    symbols: Places,
    registers: HashMap<(usize, String), (Class, Row)>,
    narrow_constants: HashMap<u32, Row>,
    wide_constants: HashMap<u64, Row>,
    specials: HashMap<Special, Row>,
    next: RowCounts,
    /// Of the instruction being decoded.
    scope: usize,
    usage: Usage,
}

impl<'a> Rows<'a> {
    pub(super) fn new(body: &'a Body, symbols: Places) -> Self {
        let mut single = HashMap::new();
        let mut counted = HashMap::new();
        for decl in &body.registers {
            let key = (decl.scope, decl.name.as_str());
            match decl.count {
                Some(count) => drop(counted.insert(key, (count, decl.ty))),
                None => drop(single.insert(key, decl.ty)),
            }
        }
        Self {
            scopes: &body.scopes,
            single,
            counted,
            symbols,
            registers: HashMap::new(),
            narrow_constants: HashMap::new(),
            wide_constants: HashMap::new(),
            specials: HashMap::new(),
            next: RowCounts {
                narrow: usize::from(SINK_DATA) + 1,
                wide: usize::from(SINK_DATA) + 1,
                predicates: usize::from(FIRST_PREDICATE),
            },
            scope: 0,
            usage: Usage::default(),
        }
    }

    pub(super) fn enter(&mut self, scope: usize) {
        self.scope = scope;
    }

    pub(super) fn scope(&self) -> usize {
        self.scope
    }

    pub(super) fn take_usage(&mut self) -> Usage {
        std::mem::take(&mut self.usage)
    }

    /// Notes the condition code as both read and written.
    pub(super) fn carry(&mut self) {
        self.usage.reads.push((Class::Predicate, CARRY));
        self.usage.writes.push((Class::Predicate, CARRY));
    }

    pub(super) fn counts(&self) -> RowCounts {
        self.next
    }

    /// Constants in row order, so that nothing depends on a hash.
    pub(super) fn narrow_constants(&self) -> Vec<(Row, u32)> {
        sorted(
            self.narrow_constants
                .iter()
                .map(|(&value, &row)| (row, value)),
        )
    }

    pub(super) fn wide_constants(&self) -> Vec<(Row, u64)> {
        sorted(
            self.wide_constants
                .iter()
                .map(|(&value, &row)| (row, value)),
        )
    }

    pub(super) fn specials(&self) -> Vec<(Row, Special)> {
        sorted(self.specials.iter().map(|(&special, &row)| (row, special)))
    }

    /// Whether a row is filled before the kernel starts.
    pub(super) fn is_preset(&self, (class, row): (Class, Row)) -> bool {
        match class {
            Class::Narrow => {
                self.narrow_constants.values().any(|&r| r == row)
                    || self.specials.values().any(|&r| r == row)
            }
            Class::Wide => self.wide_constants.values().any(|&r| r == row),
            Class::Predicate => row == TRUE || row == FALSE,
        }
    }

    /// A register's type, looked up from the present scope outwards.
    pub(super) fn register_type(&self, name: &str) -> Option<Type> {
        self.declaration(name).map(|(_, ty)| ty)
    }

    fn declaration(&self, name: &str) -> Option<(usize, Type)> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].parse::<u32>().ok();
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            if let Some(&ty) = self.single.get(&(at, name)) {
                return Some((at, ty));
            }
            if let Some(&(count, ty)) = self.counted.get(&(at, stem))
                && number.is_some_and(|n| n < count)
            {
                return Some((at, ty));
            }
            scope = self.scopes[at];
        }
        None
    }

    /// The class and row of a register.
    fn register(&mut self, name: &str) -> Result<Option<(Class, Row)>, Wrong> {
        let Some((scope, ty)) = self.declaration(name) else {
            return Ok(None);
        };
        if let Some(&found) = self.registers.get(&(scope, name.to_owned())) {
            return Ok(Some(found));
        }
        let class = class_of(ty)?;
        let row = self.fresh(class)?;
        self.registers
            .insert((scope, name.to_owned()), (class, row));
        Ok(Some((class, row)))
    }

    fn fresh(&mut self, class: Class) -> Result<Row, Wrong> {
        let next = match class {
            Class::Narrow => &mut self.next.narrow,
            Class::Wide => &mut self.next.wide,
            Class::Predicate => &mut self.next.predicates,
        };
        let row = Row::try_from(*next).map_err(|_| {
            let most = u32::from(Row::MAX) + 1;
            format!("the kernel has more than {most} registers and different numbers of one size")
        })?;
        *next += 1;
        Ok(row)
    }

    /// A source operand of the class the instruction wants.
    pub(super) fn source(&mut self, operand: &Operand, class: Class) -> Result<Row, Wrong> {
        match operand {
            Operand::Immediate(value) => self.immediate(*value, class),
            Operand::Name(name) => self.named(name, 0, class),
            Operand::Offset { symbol, offset } => self.named(symbol, *offset, class),
            other => Err(format!("cannot read the operand {other:?}")),
        }
    }

    fn immediate(&mut self, value: Immediate, class: Class) -> Result<Row, Wrong> {
        match (class, value) {
            (Class::Narrow, Immediate::Int(bits)) => self.narrow(bits as u32),
            (Class::Wide, Immediate::Int(bits)) => self.wide(bits),
            (Class::Narrow, Immediate::F32(bits)) => self.narrow(bits),
            (Class::Wide, Immediate::F64(bits)) => self.wide(bits),
            // `1.5` in a single-precision instruction.
            (Class::Narrow, Immediate::F64(bits)) => {
                self.narrow((f64::from_bits(bits) as f32).to_bits())
            }
            (Class::Wide, Immediate::F32(bits)) => {
                self.wide(f64::from(f32::from_bits(bits)).to_bits())
            }
            (Class::Predicate, Immediate::Int(bits)) => Ok(if bits == 0 { FALSE } else { TRUE }),
            (Class::Predicate, _) => Err("a float is no predicate".to_owned()),
        }
    }

    /// A row that holds a constant in every lane.
    pub(super) fn narrow(&mut self, value: u32) -> Result<Row, Wrong> {
        if let Some(&row) = self.narrow_constants.get(&value) {
            return Ok(row);
        }
        let row = self.fresh(Class::Narrow)?;
        self.narrow_constants.insert(value, row);
        Ok(row)
    }

    pub(super) fn wide(&mut self, value: u64) -> Result<Row, Wrong> {
        if let Some(&row) = self.wide_constants.get(&value) {
            return Ok(row);
        }
        let row = self.fresh(Class::Wide)?;
        self.wide_constants.insert(value, row);
        Ok(row)
    }

    fn named(&mut self, name: &str, offset: i64, class: Class) -> Result<Row, Wrong> {
        if let Some((found, row)) = self.register(name)? {
            if offset != 0 {
                return Err("a sum of register and number is no operand".to_owned());
            }
            if found != class {
                return Err(format!(
                    "{name} is {}, the instruction wants {}",
                    words(found),
                    words(class)
                ));
            }
            self.usage.reads.push((class, row));
            return Ok(row);
        }
        if let Some(special) = Special::from_name(name) {
            if class != Class::Narrow {
                return Err(format!("{name} has 32 bits"));
            }
            if let Some(&row) = self.specials.get(&special) {
                return Ok(row);
            }
            let row = self.fresh(Class::Narrow)?;
            self.specials.insert(special, row);
            return Ok(row);
        }
        if name == "WARP_SZ" {
            return self.immediate(Immediate::Int(32), class);
        }
        let (_, address) = self
            .symbol(name)
            .ok_or_else(|| format!("{name} is not declared"))?;
        self.immediate(Immediate::Int(address.wrapping_add_signed(offset)), class)
    }

    /// A variable's space and its address there.
    pub(super) fn symbol(&self, name: &str) -> Option<(Space, u64)> {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            if let Some(&found) = self.symbols.get(&(Some(at), name.to_owned())) {
                return Some(found);
            }
            scope = self.scopes[at];
        }
        self.symbols.get(&(None, name.to_owned())).copied()
    }

    /// A destination register, or `_`.
    pub(super) fn destination(&mut self, operand: &Operand, class: Class) -> Result<Row, Wrong> {
        match operand {
            Operand::Sink => Ok(sink(class)),
            Operand::Name(name) => self.destination_named(name, class),
            other => Err(format!("cannot write to the operand {other:?}")),
        }
    }

    pub(super) fn destination_named(&mut self, name: &str, class: Class) -> Result<Row, Wrong> {
        if name == "_" {
            return Ok(sink(class));
        }
        match self.register(name)? {
            Some((found, row)) if found == class => {
                self.usage.writes.push((class, row));
                Ok(row)
            }
            Some((found, _)) => Err(format!(
                "{name} is {}, the instruction wants {}",
                words(found),
                words(class)
            )),
            None => Err(format!("{name} is no register")),
        }
    }

    /// A predicate that is read.
    pub(super) fn predicate(&mut self, name: &str) -> Result<Row, Wrong> {
        self.named(name, 0, Class::Predicate)
    }

    /// A predicate operand, with the mask that negates it.
    pub(super) fn signed_predicate(&mut self, operand: &Operand) -> Result<(Row, u32), Wrong> {
        match operand {
            Operand::Not(name) => Ok((self.predicate(name)?, u32::MAX)),
            other => Ok((self.source(other, Class::Predicate)?, 0)),
        }
    }

    /// The class of a data operand of a load or store: the register's, else the type's.
    pub(super) fn class_of_operand(&self, operand: &Operand, ty: Type) -> Result<Class, Wrong> {
        match operand {
            Operand::Name(name) => self
                .register_type(name)
                .map_or_else(|| class_of(ty), class_of),
            _ => class_of(ty),
        }
    }
}

fn sorted<T>(all: impl Iterator<Item = (Row, T)>) -> Vec<(Row, T)> {
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by_key(|&(row, _)| row);
    all
}

pub(super) fn sink(class: Class) -> Row {
    if class == Class::Predicate {
        SINK
    } else {
        SINK_DATA
    }
}

pub(super) fn class_of(ty: Type) -> Result<Class, Wrong> {
    match (ty.class, ty.bits) {
        (TypeClass::Predicate, _) => Ok(Class::Predicate),
        (_, 8 | 16 | 32) => Ok(Class::Narrow),
        (_, 64) => Ok(Class::Wide),
        (_, bits) => Err(format!("registers of {bits} bits are not supported")),
    }
}

fn words(class: Class) -> &'static str {
    match class {
        Class::Narrow => "a register of up to 32 bits",
        Class::Wide => "a 64-bit register",
        Class::Predicate => "a predicate",
    }
}

/// The generic address of a variable.
pub(super) fn generic(space: Space, address: u64) -> u64 {
    window(space).wrapping_add(address)
}
