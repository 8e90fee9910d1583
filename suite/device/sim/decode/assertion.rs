//! A call of `__assertfail(message, file, line, function, bytes of a character)` ends the kernel with what the compiler
//! left of the assertion in the module.

use super::inline::{Call, Expander, Level};
use crate::device::sim::assertion::{Assertion, Note};
use crate::image::ptx::{
    AddressBase, Body, Immediate, Initialiser, Instruction, Module, Operand, Statement,
};

/// From a register back to the variable whose address it holds: a `cvta` and a `mov`.
const MAX_STEPS: usize = 4;

impl<'a> Expander<'a> {
    pub(super) fn assertion(&mut self, level: &Level<'a>, from: &Instruction, call: &Call<'_>) {
        let note = Note::Assertion(passed(self.module, level.body, from, call));
        self.trap_as(from, note);
    }
}

/// What a call passes to `__assertfail`, as far as it is known.
fn passed(module: &Module, body: &Body, from: &Instruction, call: &Call<'_>) -> Assertion {
    let before = before(body, from);
    let passed = |argument: usize| Some(origin(body, stored(before, call.passed.get(argument)?)?));
    let text = |argument| match passed(argument)? {
        Operand::Name(variable) => text(module, variable),
        _ => None,
    };
    let line = match passed(2) {
        Some(Operand::Immediate(Immediate::Int(line))) => u32::try_from(*line).ok(),
        _ => None,
    };
    Assertion {
        message: text(0),
        place: text(1).zip(line),
        function: text(3),
    }
}

/// The statements before a call.
fn before<'a>(body: &'a Body, from: &Instruction) -> &'a [Statement] {
    let is_call = |s: &Statement| matches!(s, Statement::Instruction(i) if i.line == from.line && i.text == from.text);
    let at = body.statements.iter().position(is_call).unwrap_or(0);
    &body.statements[..at]
}

/// What was last stored into a `.param` variable.
fn stored<'a>(before: &'a [Statement], operand: &Operand) -> Option<&'a Operand> {
    let Operand::Name(param) = operand else {
        return None;
    };
    before.iter().rev().find_map(|s| match s {
        Statement::Instruction(i) if i.opcode == "st" => match &i.operands[..] {
            [
                Operand::Address {
                    base: AddressBase::Name(name),
                    ..
                },
                value,
            ] if name == param => Some(value),
            _ => None,
        },
        _ => None,
    })
}

/// What a register holds, by the only instruction that writes it, and of that what its source holds.
fn origin<'a>(body: &'a Body, operand: &'a Operand) -> &'a Operand {
    let mut at = operand;
    for _ in 0..MAX_STEPS {
        let mut writers = body.statements.iter().filter_map(|s| match s {
            Statement::Instruction(i) if matches!(i.opcode.as_str(), "mov" | "cvta") => {
                match &i.operands[..] {
                    [d, source] if d == at => Some(source),
                    _ => None,
                }
            }
            _ => None,
        });
        match writers.next() {
            Some(source) => at = source,
            None => break,
        }
    }
    at
}

/// The characters of a variable up to its zero.
fn text(module: &Module, name: &str) -> Option<String> {
    let variable = module.variables.iter().find(|v| v.name == name)?;
    let bytes = variable.init.iter().map_while(|value| match value {
        Initialiser::Value(Immediate::Int(byte)) if *byte != 0 => Some(*byte as u8),
        _ => None,
    });
    let bytes: Vec<u8> = bytes.collect();
    (variable.ty.bits == 8).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
