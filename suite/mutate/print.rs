//! Instructions as PTX text. Imports `image` (the parsed form).

use crate::image::ptx::{AddressBase, Immediate, Instruction, Operand};

/// One instruction with its guard and semicolon; read back, it is the same instruction.
pub fn instruction(instruction: &Instruction) -> String {
    let mut text = String::new();
    if let Some(guard) = &instruction.guard {
        let not = if guard.negated { "!" } else { "" };
        text.push_str(&format!("@{not}{} ", guard.name));
    }
    text.push_str(&instruction.opcode);
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(modifier);
    }
    if !instruction.operands.is_empty() {
        text.push(' ');
        text.push_str(&list(&instruction.operands));
    }
    text.push(';');
    text
}

fn list(operands: &[Operand]) -> String {
    let each: Vec<String> = operands.iter().map(operand).collect();
    each.join(", ")
}

/// One operand.
pub fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Name(name) => name.clone(),
        Operand::Not(name) => format!("!{name}"),
        Operand::Immediate(value) => immediate(*value),
        Operand::Offset { symbol, offset } => format!("{symbol}{}", signed(*offset)),
        Operand::Address { base, offset } => match base {
            AddressBase::Name(name) => format!("[{name}{}]", signed(*offset)),
            AddressBase::Absolute => format!("[{offset}]"),
        },
        Operand::Vector(elements) => format!("{{{}}}", list(elements)),
        Operand::Pair(p, q) => format!("{p}|{q}"),
        Operand::List(elements) => format!("({})", list(elements)),
        Operand::Sink => "_".to_owned(),
    }
}

fn signed(offset: i64) -> String {
    match offset {
        0 => String::new(),
        offset => format!("+{offset}"),
    }
}

fn immediate(value: Immediate) -> String {
    match value {
        Immediate::Int(bits) => bits.cast_signed().to_string(),
        Immediate::F32(bits) => format!("0f{bits:08X}"),
        Immediate::F64(bits) => format!("0d{bits:016X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::instruction;
    use crate::image::ptx::{self, Statement};

    #[test]
    fn what_is_printed_reads_back_as_the_same_instruction() {
        let lines = [
            "ret;",
            "bar.sync 0;",
            "@%p1 bra L;",
            "@!%p1 st.shared.u32 [%rd4+1024], %r1;",
            "ld.global.cs.v4.u32 {%r1, %r2, _, %r4}, [%rd1+-16];",
            "shfl.sync.up.b32 %r1|%p2, %r3, 1, 0, -1;",
            "add.f32 %f1, %f2, 0f3F800000;",
            "add.f64 %d1, %d2, 0dBFF0000000000000;",
            "mov.u64 %rd1, sym+8;",
            "or.pred %p1, %p2, %p3;",
            "setp.eq.or.u32 %p1, %r1, 2, !%p2;",
            "st.param.b32 [8], 1;",
            "call.uni (r0), f, (p0, p1);",
        ];
        for line in lines {
            let parse = |line: &str| {
                let text = format!(
                    ".version 7.8 .target sm_75 .address_size 64 .visible .entry k() {{ L: {line} }}"
                );
                let module = ptx::parse(&text).expect("PTX");
                let body = module.functions[0].body.as_ref().expect("a body");
                match &body.statements[1] {
                    Statement::Instruction(found) => found.clone(),
                    other => panic!("{other:?}"),
                }
            };
            let first = parse(line);
            let again = parse(&instruction(&first));
            assert_eq!(
                (&first.opcode, &first.modifiers),
                (&again.opcode, &again.modifiers)
            );
            assert_eq!(
                (&first.guard, &first.operands),
                (&again.guard, &again.operands),
                "{line}"
            );
        }
    }
}
