//! What flows into what at each instruction of a kernel.

use super::super::flow::{Choice, Usage};
use super::super::lanes::{CARRY, Class, Row};
use super::super::program::{Instruction, Kind, RowCounts};
use super::number;

/// The rows one instruction reads and writes, by number.
#[derive(Debug, Default)]
pub struct Flow {
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
    /// The predicate it runs under.
    pub guard: usize,
    /// What may keep operands from mattering, and the operands: of `selp` the choices and what chooses.
    pub choice: Option<(Choice, [usize; 3])>,
}

/// One for each instruction.
pub fn flows(code: &[Instruction], usage: &[Usage], counts: RowCounts) -> Vec<Flow> {
    let all = code.iter().zip(usage);
    all.map(|(instruction, usage)| {
        let guard = number(counts, Class::Predicate, instruction.guard);
        let of = |&(class, row): &(Class, Row)| number(counts, class, row);
        // What only sets the condition code is said to read it, too.
        let is_input = |row: &&(Class, Row)| **row != (Class::Predicate, CARRY) || usage.carries;
        let inputs = usage.reads.iter().filter(is_input).map(of);
        let choice = match (&instruction.kind, usage.choice, usage.writes.first()) {
            (Kind::Alu(_, rows), Some(choice), Some(&(class, _))) => {
                let operands = [(class, rows.a), (class, rows.b), (Class::Predicate, rows.c)];
                Some((choice, operands.map(|operand| of(&operand))))
            }
            _ => None,
        };
        Flow {
            reads: inputs.filter(|&row| row != guard).collect(),
            writes: usage.writes.iter().map(of).collect(),
            guard,
            choice,
        }
    })
    .collect()
}
