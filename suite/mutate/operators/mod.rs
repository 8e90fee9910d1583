//! What is changed in a kernel, one instruction at a time.
//!
//! Each operator is a function from an instruction to the texts that may stand in its place: none where a change
//! cannot make a difference. Imports `image` and `terms`.

mod access;
mod arithmetic;
mod atomic;
mod control;
mod warp;

use super::facts::Facts;
use super::print;
use crate::image::ptx::{Instruction, Operand};
use crate::terms::named_enum;

named_enum! {
    /// A kind of change.
    Operator {
        /// A barrier is gone.
        DropBarrier = "drop_barrier",
        /// A fence is gone.
        DropFence = "drop_fence",
        /// `.sys` → `.gpu` → `.cta`, of a fence or an access.
        WeakenScope = "weaken_scope",
        /// Acquire and release → relaxed, relaxed and volatile → plain.
        WeakenOrder = "weaken_order",
        /// An atomic operation as a load, its operation and a store.
        SplitAtomic = "split_atomic",
        /// `<` ↔ `≤`, `>` ↔ `≥`, `=` ↔ `≠`.
        Comparison = "comparison",
        /// A number and one less or one more; an address and one access before or behind it.
        Immediate = "immediate",
        /// Signed ↔ unsigned.
        Signedness = "signedness",
        /// The two operands of what does not commute.
        SwapOperands = "swap_operands",
        /// A store, or an atomic operation whose result nobody reads, is gone.
        DropStore = "drop_store",
        /// A lane is missing in a membermask.
        Membermask = "membermask",
        /// A shuffle in the other direction, or by one lane less or more.
        Shuffle = "shuffle",
        /// A guard that always lets through, or the opposite one.
        Guard = "guard",
        /// One block less or more.
        Grid = "grid",
    }
}

/// An instruction and what is known of the kernel around it.
pub(super) struct Site<'a> {
    pub instruction: &'a Instruction,
    pub facts: &'a Facts<'a>,
}

impl Operator {
    /// The texts that may stand in the instruction's place, each with its semicolons; empty where it is gone.
    pub(super) fn apply(self, site: &Site<'_>) -> Vec<String> {
        match self {
            Self::DropBarrier => control::drop_barrier(site),
            Self::DropFence => control::drop_fence(site),
            Self::WeakenScope => access::weaken_scope(site),
            Self::WeakenOrder => access::weaken_order(site),
            Self::SplitAtomic => atomic::split(site),
            Self::Comparison => arithmetic::comparison(site),
            Self::Immediate => arithmetic::immediate(site),
            Self::Signedness => arithmetic::signedness(site),
            Self::SwapOperands => arithmetic::swap_operands(site),
            Self::DropStore => access::drop_store(site),
            Self::Membermask => warp::membermask(site),
            Self::Shuffle => warp::shuffle(site),
            Self::Guard => control::guard(site),
            // Of a launch, not of an instruction.
            Self::Grid => Vec::new(),
        }
    }
}

impl Site<'_> {
    fn opcode(&self) -> &str {
        &self.instruction.opcode
    }

    fn has(&self, modifier: &str) -> bool {
        self.instruction.modifiers.iter().any(|m| m == modifier)
    }

    fn operand(&self, index: usize) -> Option<&Operand> {
        self.instruction.operands.get(index)
    }

    /// The text of the instruction after `change`.
    fn changed(&self, change: impl FnOnce(&mut Instruction)) -> String {
        let mut instruction = self.instruction.clone();
        change(&mut instruction);
        print::instruction(&instruction)
    }

    fn with_operand(&self, index: usize, operand: Operand) -> String {
        self.changed(|i| i.operands[index] = operand)
    }

    fn with_modifier(&self, index: usize, modifier: &str) -> String {
        self.changed(|i| i.modifiers[index] = modifier.to_owned())
    }

    /// `@%p ` or nothing.
    fn guard_text(&self) -> String {
        let Some(guard) = &self.instruction.guard else {
            return String::new();
        };
        let not = if guard.negated { "!" } else { "" };
        format!("@{not}{} ", guard.name)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::facts::Facts;
    use super::{Operator, Site};
    use crate::image::ptx::{self, Instruction};

    /// What an operator makes of the last of these instructions, where every register but the last of a kind
    /// is looked at in the end.
    pub fn apply(operator: Operator, code: &str) -> Vec<String> {
        let look = |n: u32| {
            format!(
                "st.global.u32 [0], %r{n}; st.global.u64 [0], %rd{n}; @%p{n} st.global.u32 [0], 0;"
            )
        };
        let looks: String = (0..8).map(look).collect();
        let text = format!(
            ".version 7.8 .target sm_75 .address_size 64 .visible .entry k() {{ \
             .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; L: {code} {looks} }}"
        );
        let module = ptx::parse(&text).expect("PTX");
        let facts = Facts::of(&module.functions[0]).expect("a body");
        let all: Vec<&Instruction> = facts.instructions().collect();
        let instruction = all[all.len() - 1 - 3 * 8];
        let made = operator.apply(&Site {
            instruction,
            facts: &facts,
        });
        for replacement in &made {
            let span = instruction.span.clone();
            let mutated = [&text[..span.start], replacement, &text[span.end..]].concat();
            ptx::parse(&mutated).unwrap_or_else(|error| panic!("{replacement}: {error}"));
        }
        made
    }
}
