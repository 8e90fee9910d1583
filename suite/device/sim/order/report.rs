//! Conflicts in words.

use super::super::findings::Recorder;
use super::super::memory::{GlobalMemory, Spaces};
use super::super::program::{Pc, Scope, Space};
use super::super::reporter::Reporter;
use super::{Conflict, Entry, GRANULE, Order};
use crate::outcome::Finding;
use crate::terms::FindingKind;

impl Reporter<'_> {
    /// Takes what the last access was found to conflict with.
    #[cold]
    pub fn conflicts(&self, recorder: &mut Recorder, spaces: &mut Spaces<'_>, pc: Pc) {
        let conflicts = std::mem::take(&mut spaces.order.conflicts);
        for conflict in &conflicts {
            recorder.note(pc, conflict.kind, 1, || self.conflict(spaces, pc, conflict));
        }
        spaces.order.conflicts = conflicts;
        spaces.order.conflicts.clear();
    }

    fn conflict(&self, spaces: &Spaces<'_>, pc: Pc, conflict: &Conflict) -> Finding {
        let offset = (conflict.granule * GRANULE) as u64;
        let (space, address) = match conflict.allocation {
            Some(index) => (Space::Global, GlobalMemory::base(index) + offset),
            None => (Space::Shared, offset),
        };
        let place = spaces.describe(space, conflict.lane, address, 4);
        let (new, old) = (verb(conflict.writes), verb(conflict.other_writes));
        let message = match conflict.kind {
            FindingKind::Stale => {
                format!("a read through the read-only cache {place}, which this launch writes")
            }
            FindingKind::ValueRace => format!(
                "{new} {place}, not ordered with {old} of another thread; the value there stays"
            ),
            _ => format!("{new} {place}, not ordered with {old} of another thread"),
        };
        let order = &*spaces.order;
        let block = order
            .other_block(spaces.who, conflict)
            .unwrap_or(self.block);
        let mut detail = vec![self.other(block, conflict.other)];
        if conflict.kind != FindingKind::Stale {
            detail.push(self.missing(order, block, conflict));
        }
        let site = self.site(pc, conflict.lane as u32, Some(address));
        Finding::new(conflict.kind, message)
            .with_detail(detail)
            .at(site)
    }

    /// The earlier access.
    fn other(&self, block: [u32; 3], other: Entry) -> String {
        let number = (other.warp() * 32 + other.lane()) as u32;
        let ([bx, by, bz], [x, y, z]) = (block, self.shape.thread(number));
        let who = format!("block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})");
        let Some(origin) = other
            .pc()
            .and_then(|pc| self.kernel.origin.get(pc as usize))
        else {
            return format!("the other: {who}");
        };
        let source = origin.source.as_ref();
        let source = source.map_or(String::new(), |source| format!(" ({source})"));
        format!(
            "the other: PTX line {}{source}: `{}` in {who}",
            origin.ptx_line, origin.text
        )
    }

    /// What would have ordered them.
    fn missing(&self, order: &Order, block: [u32; 3], conflict: &Conflict) -> String {
        let other = conflict.other;
        let strong = other.scope().min(conflict.scope);
        if block != self.block {
            return match order.fenced(conflict) {
                _ if strong == Scope::Block => {
                    let [x, y, z] = block;
                    format!("a `.cta` scope does not reach block ({x}, {y}, {z})")
                }
                Scope::Weak => "no fence of scope .gpu follows the other in its thread, and no release".to_owned(),
                Scope::Block => {
                    "the fence that follows the other in its thread has scope .cta; blocks need .gpu".to_owned()
                }
                Scope::Device => "the other is released, but not acquired here: no strong read of what its thread \
                    wrote after the fence, with a fence of scope .gpu between that and this"
                    .to_owned(),
            };
        }
        if strong != Scope::Weak {
            "both are strong, but of different bytes".to_owned()
        } else if other.warp() == self.warp {
            "no bar.warp.sync and no barrier between them, for the two threads".to_owned()
        } else {
            "no barrier between them, for the two threads".to_owned()
        }
    }
}

fn verb(writes: bool) -> &'static str {
    if writes { "a write" } else { "a read" }
}
