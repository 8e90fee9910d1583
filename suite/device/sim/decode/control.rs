//! Branches, exits, fences and barriers.

use super::super::lanes::{Class, TRUE};
use super::super::program::{Barrier, BarrierEffect, Kind, Pc};
use super::access::named_scope;
use super::rows::sink;
use super::{Decoder, Wrong, exactly, unknown};
use crate::image::ptx::Operand;

impl Decoder<'_> {
    pub(super) fn control(
        &mut self,
        opcode: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        match (opcode, modifiers) {
            ("bra", [] | ["uni"]) => {
                let [Operand::Name(label)] = operands else {
                    return Err("wants a label".to_owned());
                };
                let target = self
                    .label(label)
                    .ok_or_else(|| format!("there is no label {label}"))?;
                Ok(Kind::Branch {
                    target,
                    reconverge: 0,
                })
            }
            ("exit", []) | ("ret", [] | ["uni"]) if operands.is_empty() => Ok(Kind::Exit),
            ("trap", []) => Ok(Kind::Trap),
            ("membar", ["cta" | "gl" | "sys"])
            | ("fence", ["acq_rel" | "sc", "cta" | "gpu" | "sys" | "cluster"]) => {
                Ok(Kind::Fence {
                    scope: named_scope(modifiers),
                    // `membar` is a synonym of `fence.sc` since compute capability 7.0.
                    sc: modifiers[0] != "acq_rel",
                })
            }
            ("prefetch" | "prefetchu", _) => Ok(Kind::Nothing),
            ("nanosleep", ["u32"]) => {
                let [time] = exactly(operands)?;
                self.rows.source(time, Class::Narrow)?;
                Ok(Kind::Yield)
            }
            _ => Err(unknown()),
        }
    }

    fn label(&self, name: &str) -> Option<Pc> {
        let mut scope = Some(self.rows.scope());
        while let Some(at) = scope {
            if let Some(&pc) = self.labels.get(&(at, name)) {
                return Some(pc);
            }
            scope = self.scopes[at];
        }
        None
    }

    /// `bar.x` is `barrier.x.aligned`.
    pub(super) fn barrier(
        &mut self,
        opcode: &str,
        all: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        let aligned = opcode == "bar" || all.contains(&"aligned");
        let names: Vec<&str> = all
            .iter()
            .copied()
            .filter(|&m| m != "cta" && m != "aligned")
            .collect();
        if names == ["warp", "sync"] && opcode == "bar" {
            let [mask] = exactly(operands)?;
            let mask = self.rows.source(mask, Class::Narrow)?;
            return Ok(Kind::WarpSync { mask });
        }
        let mut barrier = Barrier {
            effect: BarrierEffect::Sync,
            aligned,
            id: 0,
            threads: None,
            d: sink(Class::Narrow),
            source: TRUE,
            flip: 0,
        };
        let operands = match names[..] {
            ["sync"] => operands,
            ["arrive"] if operands.len() == 2 => {
                barrier.effect = BarrierEffect::Arrive;
                operands
            }
            ["red", op @ ("popc" | "and" | "or"), ty] => {
                let [d, rest @ .., source] = operands else {
                    return Err("has too few operands".to_owned());
                };
                let (effect, class) = match (op, ty) {
                    ("popc", "u32") => (BarrierEffect::Popc, Class::Narrow),
                    ("and", "pred") => (BarrierEffect::And, Class::Predicate),
                    ("or", "pred") => (BarrierEffect::Or, Class::Predicate),
                    _ => return Err(unknown()),
                };
                barrier.effect = effect;
                (barrier.source, barrier.flip) = self.rows.signed_predicate(source)?;
                barrier.d = self.rows.destination(d, class)?;
                rest
            }
            _ => return Err(unknown()),
        };
        let (id, threads) = match operands {
            [id] => (id, None),
            [id, threads] => (id, Some(threads)),
            _ => return Err(format!("has {} operands", operands.len())),
        };
        barrier.id = self.rows.source(id, Class::Narrow)?;
        barrier.threads = threads
            .map(|t| self.rows.source(t, Class::Narrow))
            .transpose()?;
        Ok(Kind::Barrier(barrier))
    }
}
