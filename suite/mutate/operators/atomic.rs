//! An atomic operation taken apart: what a program without atomics does.

use super::Site;
use crate::image::ptx::{Operand, Type, TypeClass};
use crate::mutate::print;

/// In a scope of its own, so that its registers are fresh: `{ .reg …; ld …; op …; st …; mov …; }`.
pub fn split(site: &Site<'_>) -> Vec<String> {
    let (d, address, values) = match (site.opcode(), site.instruction.operands.as_slice()) {
        ("atom", [d, address, values @ ..]) => (Some(d), address, values),
        ("red", [address, values @ ..]) => (None, address, values),
        _ => return Vec::new(),
    };
    let modifiers = &site.instruction.modifiers;
    let ty = modifiers.last().map_or("", String::as_str);
    let names = [
        "add", "and", "or", "xor", "min", "max", "exch", "cas", "inc", "dec",
    ];
    let operation = modifiers.iter().find(|m| names.contains(&m.as_str()));
    let (Some(operation), Some(parsed)) = (operation, Type::from_name(ty)) else {
        return Vec::new();
    };
    if !matches!(parsed.bits, 32 | 64) {
        return Vec::new();
    }
    let space = ["global", "shared"].iter().find(|space| site.has(space));
    let space = space.map_or(String::new(), |space| format!(".{space}"));
    let values: Vec<String> = values.iter().map(print::operand).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let Some(compute) = compute(operation, ty, &values) else {
        return Vec::new();
    };
    let (guard, address) = (site.guard_text(), print::operand(address));
    let mut lines = vec![format!("ld{space}.{ty} %was, {address};")];
    lines.extend(compute);
    lines.push(format!("st{space}.{ty} {address}, %new;"));
    if let Some(d) = d.filter(|d| **d != Operand::Sink) {
        lines.push(format!("mov.{ty} {}, %was;", print::operand(d)));
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("{guard}{line}")).collect();
    let declared = register(parsed);
    let registers =
        format!(".reg {declared} %was; .reg {declared} %new; .reg .pred %is; .reg .pred %or;");
    vec![format!("{{ {registers} {} }}", lines.join(" "))]
}

fn register(ty: Type) -> String {
    let class = if ty.class == TypeClass::Float {
        'f'
    } else {
        'b'
    };
    format!(".{class}{}", ty.bits)
}

/// From `%was` and the operation's own operands to `%new`.
fn compute(operation: &str, ty: &str, values: &[&str]) -> Option<Vec<String>> {
    let lines = match (operation, values) {
        ("exch", [v]) => vec![format!("mov.{ty} %new, {v};")],
        ("cas", [compare, v]) => vec![
            format!("setp.eq.{ty} %is, %was, {compare};"),
            format!("selp.{ty} %new, {v}, %was, %is;"),
        ],
        ("inc", [v]) => vec![
            format!("setp.ge.{ty} %is, %was, {v};"),
            format!("add.{ty} %new, %was, 1;"),
            format!("selp.{ty} %new, 0, %new, %is;"),
        ],
        ("dec", [v]) => vec![
            format!("setp.eq.{ty} %is, %was, 0;"),
            format!("setp.gt.or.{ty} %or, %was, {v}, %is;"),
            format!("sub.{ty} %new, %was, 1;"),
            format!("selp.{ty} %new, {v}, %new, %or;"),
        ],
        (operation, [v]) => vec![format!("{operation}.{ty} %new, %was, {v};")],
        _ => return None,
    };
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use super::super::tests::apply;

    #[test]
    fn an_atomic_becomes_a_load_its_operation_and_a_store() {
        let made = apply(
            Operator::SplitAtomic,
            "@%p1 atom.global.add.u32 %r1, [%rd1+4], 2;",
        );
        assert_eq!(
            made,
            [
                "{ .reg .b32 %was; .reg .b32 %new; .reg .pred %is; .reg .pred %or; \
              @%p1 ld.global.u32 %was, [%rd1+4]; @%p1 add.u32 %new, %was, 2; \
              @%p1 st.global.u32 [%rd1+4], %new; @%p1 mov.u32 %r1, %was; }"
            ]
        );
        for code in [
            "red.shared.max.s32 [%rd1], %r1;",
            "atom.global.cas.b64 %rd1, [%rd2], %rd3, %rd4;",
            "atom.global.inc.u32 %r1, [%rd2], 7;",
            "atom.global.dec.u32 _, [%rd2], 7;",
            "atom.global.exch.b32 %r1, [%rd2], %r3;",
        ] {
            assert_eq!(apply(Operator::SplitAtomic, code).len(), 1, "{code}");
        }
        assert_eq!(
            apply(Operator::SplitAtomic, "ld.global.u32 %r1, [%rd1];"),
            [""; 0]
        );
    }
}
