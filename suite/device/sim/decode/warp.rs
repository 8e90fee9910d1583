//! Instructions through which the lanes of a warp talk.

use super::super::lanes::{Class, SINK};
use super::super::program::{Kind, Shuffle, ShuffleMode, VoteOp};
use super::{Decoder, Wrong, exactly, unknown};
use crate::image::ptx::Operand;

impl Decoder<'_> {
    pub(super) fn warp(
        &mut self,
        opcode: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        match (opcode, modifiers) {
            ("activemask", ["b32"]) => {
                let [d] = exactly(operands)?;
                let d = self.rows.destination(d, Class::Narrow)?;
                Ok(Kind::ActiveMask { d })
            }
            ("shfl", ["sync", mode, "b32"]) => self.shuffle(mode, operands),
            (
                "vote",
                ["sync", op @ ("all" | "any" | "uni"), "pred"]
                | [op @ ("all" | "any" | "uni"), "sync", "pred"],
            ) => {
                let [d, source, mask] = exactly(operands)?;
                let op = match *op {
                    "all" => VoteOp::All,
                    "any" => VoteOp::Any,
                    _ => VoteOp::Uniform,
                };
                let (source, flip) = self.rows.signed_predicate(source)?;
                let mask = self.rows.source(mask, Class::Narrow)?;
                let d = self.rows.destination(d, Class::Predicate)?;
                Ok(Kind::Vote {
                    op,
                    d,
                    source,
                    flip,
                    mask,
                })
            }
            ("vote", ["sync", "ballot", "b32"] | ["ballot", "sync", "b32"]) => {
                let [d, source, mask] = exactly(operands)?;
                let (source, flip) = self.rows.signed_predicate(source)?;
                let mask = self.rows.source(mask, Class::Narrow)?;
                let d = self.rows.destination(d, Class::Narrow)?;
                Ok(Kind::Vote {
                    op: VoteOp::Ballot,
                    d,
                    source,
                    flip,
                    mask,
                })
            }
            ("match", [op @ ("any" | "all"), "sync", ty @ ("b32" | "b64")]) => {
                let [d, a, mask] = exactly(operands)?;
                let wide = *ty == "b64";
                let class = if wide { Class::Wide } else { Class::Narrow };
                let a = self.rows.source(a, class)?;
                let mask = self.rows.source(mask, Class::Narrow)?;
                let (d, agreed) = self.data_and_predicate(d)?;
                Ok(Kind::Match {
                    all: *op == "all",
                    wide,
                    d,
                    agreed,
                    a,
                    mask,
                })
            }
            _ => Err(unknown()),
        }
    }

    fn shuffle(&mut self, mode: &str, operands: &[Operand]) -> Result<Kind, Wrong> {
        let mode = match mode {
            "up" => ShuffleMode::Up,
            "down" => ShuffleMode::Down,
            "bfly" => ShuffleMode::Butterfly,
            "idx" => ShuffleMode::Index,
            _ => return Err(unknown()),
        };
        let [d, a, b, c, mask] = exactly(operands)?;
        let a = self.rows.source(a, Class::Narrow)?;
        let b = self.rows.source(b, Class::Narrow)?;
        let c = self.rows.source(c, Class::Narrow)?;
        let mask = self.rows.source(mask, Class::Narrow)?;
        let (d, p) = self.data_and_predicate(d)?;
        Ok(Kind::Shuffle(Shuffle {
            mode,
            d,
            p,
            a,
            b,
            c,
            mask,
        }))
    }

    /// `d` or `d|p`.
    fn data_and_predicate(&mut self, operand: &Operand) -> Result<(u16, u16), Wrong> {
        match operand {
            Operand::Pair(d, p) => Ok((
                self.rows.destination_named(d, Class::Narrow)?,
                self.rows.destination_named(p, Class::Predicate)?,
            )),
            one => Ok((self.rows.destination(one, Class::Narrow)?, SINK)),
        }
    }
}
