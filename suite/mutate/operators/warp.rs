//! What the lanes of a warp do together.

use super::Site;
use crate::image::ptx::{Immediate, Operand};
use crate::mutate::print;

/// Without its first and without its last lane.
pub fn membermask(site: &Site<'_>) -> Vec<String> {
    let takes_mask = match site.opcode() {
        "shfl" | "vote" | "match" | "redux" => site.has("sync"),
        "bar" => site.has("warp"),
        _ => false,
    };
    let Some(last) = site
        .instruction
        .operands
        .len()
        .checked_sub(1)
        .filter(|_| takes_mask)
    else {
        return Vec::new();
    };
    let Some(mask) = site.operand(last) else {
        return Vec::new();
    };
    match site.facts.constant(mask) {
        Some(known) => {
            let known = known as u32;
            let lanes = [known.trailing_zeros(), 31 - known.leading_zeros().min(31)];
            let several = known.count_ones() > 1;
            let lanes = lanes.iter().filter(|_| several);
            lanes
                .map(|lane| number(site, last, i64::from(known & !(1 << lane))))
                .collect()
        }
        None => [!1_u32, !(1 << 31)]
            .iter()
            .map(|kept| {
                let make = format!("and.b32 %made, {}, {kept};", print::operand(mask));
                made_before(site, last, &make)
            })
            .collect(),
    }
}

/// Up ↔ down, and one lane less or more.
pub fn shuffle(site: &Site<'_>) -> Vec<String> {
    const DELTA: usize = 2;
    let (true, Some(delta)) = (site.opcode() == "shfl", site.operand(DELTA)) else {
        return Vec::new();
    };
    let mut made = Vec::new();
    for (at, mode) in site.instruction.modifiers.iter().enumerate() {
        match mode.as_str() {
            "up" => made.push(site.with_modifier(at, "down")),
            "down" => made.push(site.with_modifier(at, "up")),
            _ => {}
        }
    }
    for by in [-1_i64, 1] {
        match site.facts.constant(delta) {
            Some(known) => {
                let known = i64::from(known as u32);
                if known + by >= 0 {
                    made.push(number(site, DELTA, known + by));
                }
            }
            None => {
                let make = format!("add.s32 %made, {}, {by};", print::operand(delta));
                made.push(made_before(site, DELTA, &make));
            }
        }
    }
    made
}

fn number(site: &Site<'_>, index: usize, value: i64) -> String {
    site.with_operand(
        index,
        Operand::Immediate(Immediate::Int(value.cast_unsigned())),
    )
}

/// The instruction with `%made`, which `make` writes, as one of its operands.
fn made_before(site: &Site<'_>, index: usize, make: &str) -> String {
    let with = site.with_operand(index, Operand::Name("%made".to_owned()));
    format!("{{ .reg .b32 %made; {make} {with} }}")
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use super::super::tests::apply;

    #[test]
    fn a_lane_is_left_out() {
        let masks = |code| apply(Operator::Membermask, code);
        assert_eq!(
            masks("mov.u32 %r9, -1; bar.warp.sync %r9;"),
            ["bar.warp.sync 4294967294;", "bar.warp.sync 2147483647;"]
        );
        assert_eq!(
            masks("vote.sync.ballot.b32 %r1, %p1, %r2;")[1],
            "{ .reg .b32 %made; and.b32 %made, %r2, 2147483647; vote.sync.ballot.b32 %r1, %p1, %made; }"
        );
        assert_eq!(masks("bar.warp.sync 4;"), [""; 0]);
        assert_eq!(masks("bar.sync 0;"), [""; 0]);
    }

    #[test]
    fn a_shuffle_turns_and_moves() {
        let shuffles = |code| apply(Operator::Shuffle, code);
        assert_eq!(
            shuffles("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;"),
            [
                "shfl.sync.down.b32 %r1|%p1, %r2, 1, 0, -1;",
                "shfl.sync.up.b32 %r1|%p1, %r2, 0, 0, -1;",
                "shfl.sync.up.b32 %r1|%p1, %r2, 2, 0, -1;"
            ]
        );
        let by_register = shuffles("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;");
        assert_eq!(by_register.len(), 2);
        assert_eq!(
            by_register[0],
            "{ .reg .b32 %made; add.s32 %made, %r3, -1; shfl.sync.idx.b32 %r1|%p1, %r2, %made, 31, -1; }"
        );
    }
}
