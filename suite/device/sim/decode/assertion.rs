//! Assertions: a call of `__assertfail` ends the kernel with the words that the compiler left in the module.

use super::inline::{Call, Expander, Level};
use crate::image::ptx::{
    AddressBase, Body, Immediate, Initialiser, Instruction, Module, Operand, Statement,
};

/// From a register back to the variable whose address it holds: a `cvta` and a `mov`.
const MAX_STEPS: usize = 4;

impl<'a> Expander<'a> {
    pub(super) fn assertion(&mut self, level: &Level<'a>, from: &Instruction, call: &Call<'_>) {
        let what = words(self.module, level.body, from, call);
        let what = what.unwrap_or_else(|| "an assertion failed".to_owned());
        self.trap(from, &what);
    }
}

/// `file:line: function: assertion failed: message`, as far as it is known.
fn words(module: &Module, body: &Body, from: &Instruction, call: &Call<'_>) -> Option<String> {
    let [message, file, line, function, _] = call.passed else {
        return None;
    };
    let before = before(body, from);
    let passed = |operand| Some(origin(body, stored(before, operand)?));
    let text = |operand| match passed(operand)? {
        Operand::Name(variable) => text(module, variable),
        _ => None,
    };
    let mut words = String::new();
    if let (Some(file), Some(Operand::Immediate(Immediate::Int(line)))) = (text(file), passed(line))
    {
        words += &format!("{file}:{line}: ");
    }
    if let Some(function) = text(function) {
        words += &format!("{function}: ");
    }
    Some(format!("{words}assertion failed: {}", text(message)?))
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
