//! Comparisons, numbers, signs and the order of operands.

use super::Site;
use crate::image::ptx::{Immediate, Operand, Type, TypeClass};

/// The bound itself belongs to the other side.
pub fn comparison(site: &Site<'_>) -> Vec<String> {
    if !matches!(site.opcode(), "setp" | "set") {
        return Vec::new();
    }
    let Some(name) = site.instruction.modifiers.first() else {
        return Vec::new();
    };
    let other = match name.as_str() {
        "lt" => "le",
        "le" => "lt",
        "gt" => "ge",
        "ge" => "gt",
        "eq" => "ne",
        "ne" => "eq",
        "lo" => "ls",
        "ls" => "lo",
        "hi" => "hs",
        "hs" => "hi",
        "ltu" => "leu",
        "leu" => "ltu",
        "gtu" => "geu",
        "geu" => "gtu",
        "equ" => "neu",
        "neu" => "equ",
        _ => return Vec::new(),
    };
    vec![site.with_modifier(0, other)]
}

/// Instructions whose numbers are values. Those of barriers, shuffles and the like are names and modes, and have
/// operators of their own.
const WITH_VALUES: [&str; 26] = [
    "add", "sub", "mul", "mad", "addc", "subc", "madc", "mul24", "mad24", "and", "or", "xor",
    "shl", "shr", "shf", "min", "max", "div", "rem", "setp", "set", "selp", "mov", "bfe", "bfi",
    "sad",
];

/// One less and one more; of an address, one access before and one behind.
pub fn immediate(site: &Site<'_>) -> Vec<String> {
    if matches!(site.opcode(), "ld" | "st" | "atom" | "red") {
        return addresses(site);
    }
    let ty = last_type(site);
    if !WITH_VALUES.contains(&site.opcode()) || ty.is_none_or(|ty| ty.class == TypeClass::Predicate)
    {
        return Vec::new();
    }
    values(site)
}

/// The numbers among the operands.
fn values(site: &Site<'_>) -> Vec<String> {
    let is_shift = matches!(site.opcode(), "shl" | "shr" | "shf" | "bfe" | "bfi");
    let bits = last_type(site).map_or(32, |ty| ty.bits);
    let mut made = Vec::new();
    for (index, operand) in site.instruction.operands.iter().enumerate() {
        let Operand::Immediate(Immediate::Int(value)) = operand else {
            continue;
        };
        for by in [-1_i64, 1] {
            let value = narrow(*value, bits).wrapping_add(by);
            // No shift is by less than nothing.
            if is_shift && index > 1 && value < 0 {
                continue;
            }
            let value = narrow(value.cast_unsigned(), bits).cast_unsigned();
            if !site.facts.number_matters(site.instruction, index, value) {
                continue;
            }
            let value = Immediate::Int(value);
            made.push(site.with_operand(index, Operand::Immediate(value)));
        }
    }
    made
}

fn addresses(site: &Site<'_>) -> Vec<String> {
    let Some(ty) = last_type(site).filter(|_| !site.has("param")) else {
        return Vec::new();
    };
    let elements = match () {
        () if site.has("v2") => 2,
        () if site.has("v4") => 4,
        () => 1,
    };
    let bytes = i64::from(ty.bytes()) * elements;
    let mut made = Vec::new();
    for (index, operand) in site.instruction.operands.iter().enumerate() {
        if let Operand::Address { base, offset } = operand {
            for by in [-bytes, bytes] {
                let moved = Operand::Address {
                    base: base.clone(),
                    offset: offset.wrapping_add(by),
                };
                made.push(site.with_operand(index, moved));
            }
        }
    }
    // The value that is stored, where it is a number.
    if !made.is_empty() && ty.class != TypeClass::Float {
        made.extend(values(site));
    }
    made
}

/// A value of so many bits, sign-extended.
fn narrow(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused).cast_signed() >> unused
}

fn last_type(site: &Site<'_>) -> Option<Type> {
    Type::from_name(site.instruction.modifiers.last()?)
}

/// Where the sign bit is read as a sign, and may be set.
pub fn signedness(site: &Site<'_>) -> Vec<String> {
    let modifiers = &site.instruction.modifiers;
    let Some(ty) = last_type(site) else {
        return Vec::new();
    };
    let ordered = ["lt", "le", "gt", "ge"].iter().any(|name| site.has(name));
    let last = modifiers.len() - 1;
    let operands: &[usize] = match site.opcode() {
        "setp" | "set" if ordered => &[1, 2],
        "shr" | "bfe" => &[1],
        "min" | "max" | "div" | "rem" => &[1, 2],
        "mul" | "mad" if site.has("wide") || site.has("hi") => &[1, 2],
        "ld" if ty.bits < 32 => &[],
        "atom" | "red" if site.has("min") || site.has("max") => &[],
        "cvt" => return converted(site),
        _ => return Vec::new(),
    };
    let never_negative = |index: &usize| {
        let operand = site.operand(*index);
        operand.is_some_and(|operand| site.facts.is_never_negative(operand, ty.bits))
    };
    let reads_no_sign = !operands.is_empty() && operands.iter().all(never_negative);
    if reads_no_sign || !site.facts.sign_matters(site.instruction) {
        return Vec::new();
    }
    let other = other_sign(&modifiers[last]);
    other
        .map(|other| site.with_modifier(last, &other))
        .into_iter()
        .collect()
}

/// `cvt.to.from`: a wider result is filled up by sign or with zeros; to and from floats all of the number counts.
fn converted(site: &Site<'_>) -> Vec<String> {
    let modifiers = &site.instruction.modifiers;
    let [.., to, from] = modifiers.as_slice() else {
        return Vec::new();
    };
    let (Some(wide), Some(narrow)) = (Type::from_name(to), Type::from_name(from)) else {
        return Vec::new();
    };
    let last = modifiers.len() - 1;
    let to_float = wide.class == TypeClass::Float;
    let source = site.operand(1);
    let non_negative = source.is_some_and(|s| site.facts.is_never_negative(s, narrow.bits));
    if narrow.class == TypeClass::Float {
        let other = other_sign(to).filter(|_| !to_float);
        return other
            .map(|other| site.with_modifier(last - 1, &other))
            .into_iter()
            .collect();
    }
    let no_wider = wide.bits <= narrow.bits && !to_float;
    if non_negative || no_wider || !site.facts.sign_matters(site.instruction) {
        return Vec::new();
    }
    let Some(other) = other_sign(from) else {
        return Vec::new();
    };
    // Both, as compilers write it.
    let to = other_sign(to).unwrap_or_else(|| to.clone());
    vec![site.changed(|i| {
        i.modifiers[last] = other;
        i.modifiers[last - 1] = to;
    })]
}

fn other_sign(ty: &str) -> Option<String> {
    let bits = ty.get(1..)?;
    match ty.as_bytes().first()? {
        b's' => Some(format!("u{bits}")),
        b'u' => Some(format!("s{bits}")),
        _ => None,
    }
}

pub fn swap_operands(site: &Site<'_>) -> Vec<String> {
    let ordered = [
        "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "ltu", "leu", "gtu", "geu",
    ];
    let applies = match site.opcode() {
        "sub" | "subc" | "div" | "rem" | "selp" => true,
        // The amount has 32 bits whatever is shifted.
        "shl" | "shr" => last_type(site).is_some_and(|ty| ty.bits == 32),
        "setp" | "set" => ordered.iter().any(|name| site.has(name)),
        _ => false,
    };
    let differ = site.operand(1).is_some()
        && site.operand(2).is_some()
        && site.operand(1) != site.operand(2);
    match applies && differ {
        true => vec![site.changed(|i| i.operands.swap(1, 2))],
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use super::super::tests::apply;

    #[test]
    fn bounds_move_to_the_other_side() {
        let compare = |code| apply(Operator::Comparison, code);
        assert_eq!(
            compare("setp.lt.s32 %p1, %r1, %r2;"),
            ["setp.le.s32 %p1, %r1, %r2;"]
        );
        assert_eq!(
            compare("setp.ne.and.u32 %p1, %r1, 0, %p2;"),
            ["setp.eq.and.u32 %p1, %r1, 0, %p2;"]
        );
        assert_eq!(compare("setp.num.f32 %p1, %r1, %r2;"), [""; 0]);
    }

    #[test]
    fn numbers_move_by_one_and_addresses_by_an_access() {
        let moved = |code| apply(Operator::Immediate, code);
        assert_eq!(
            moved("add.s32 %r1, %r2, -1;"),
            ["add.s32 %r1, %r2, -2;", "add.s32 %r1, %r2, 0;"]
        );
        assert_eq!(
            moved("mov.u32 %r1, 0;"),
            ["mov.u32 %r1, -1;", "mov.u32 %r1, 1;"]
        );
        assert_eq!(
            moved("mov.u32 %r1, 4294967295;"),
            ["mov.u32 %r1, -2;", "mov.u32 %r1, 0;"]
        );
        assert_eq!(moved("shl.b32 %r1, %r2, 0;"), ["shl.b32 %r1, %r2, 1;"]);
        assert_eq!(
            moved("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"),
            [
                "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+-16];",
                "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];"
            ]
        );
        assert_eq!(moved("st.shared.u32 [%rd1+4], 7;").len(), 4);
        assert_eq!(moved("ld.param.u32 %r1, [p];"), [""; 0]);
        assert_eq!(moved("bar.sync 0;"), [""; 0]);
        assert_eq!(moved("mov.pred %p1, 0;"), [""; 0]);
    }

    #[test]
    fn signs_change_where_they_can_matter() {
        let signs = |code| apply(Operator::Signedness, code);
        assert_eq!(
            signs("setp.lt.s32 %p1, %r1, %r2;"),
            ["setp.lt.u32 %p1, %r1, %r2;"]
        );
        assert_eq!(signs("setp.eq.s32 %p1, %r1, %r2;"), [""; 0]);
        assert_eq!(signs("add.s32 %r1, %r1, %r2;"), [""; 0]);
        assert_eq!(signs("shr.u32 %r1, %r2, 3;"), ["shr.s32 %r1, %r2, 3;"]);
        assert_eq!(signs("cvt.u64.u32 %rd1, %r1;"), ["cvt.s64.s32 %rd1, %r1;"]);
        assert_eq!(signs("cvt.u32.u64 %r1, %rd1;"), [""; 0]);
        assert_eq!(
            signs("cvt.rn.f32.u32 %r1, %r2;"),
            ["cvt.rn.f32.s32 %r1, %r2;"]
        );
        assert_eq!(signs("mul.lo.s32 %r1, %r2, %r3;"), [""; 0]);
        assert_eq!(
            signs("mul.wide.u32 %rd1, %r2, 4;"),
            ["mul.wide.s32 %rd1, %r2, 4;"]
        );
    }

    #[test]
    fn what_is_never_negative_has_no_sign_to_change() {
        let signs = |code: &str| apply(Operator::Signedness, code);
        let thread = "mov.u32 %r1, %tid.x;";
        assert_eq!(signs(&format!("{thread} cvt.u64.u32 %rd1, %r1;")), [""; 0]);
        assert_eq!(
            signs(&format!("{thread} mul.wide.u32 %rd1, %r1, 4;")),
            [""; 0]
        );
        assert_eq!(
            signs(&format!("{thread} setp.lt.u32 %p1, %r1, 32;")),
            [""; 0]
        );
        let below = format!("{thread} add.s32 %r2, %r1, -1; mul.wide.u32 %rd1, %r2, 4;");
        assert_eq!(signs(&below).len(), 1);
        let counted = format!("{thread} M: add.s32 %r1, %r1, 7; bra M; shr.u32 %r2, %r1, 5;");
        assert_eq!(
            signs(&counted).len(),
            1,
            "a counter may grow beyond the sign"
        );
    }

    #[test]
    fn operands_change_places_where_that_matters() {
        let swapped = |code| apply(Operator::SwapOperands, code);
        assert_eq!(swapped("sub.s32 %r1, %r2, 3;"), ["sub.s32 %r1, 3, %r2;"]);
        assert_eq!(swapped("sub.s32 %r1, %r2, %r2;"), [""; 0]);
        assert_eq!(swapped("add.s32 %r1, %r2, 3;"), [""; 0]);
        assert_eq!(
            swapped("selp.b32 %r1, 1, 0, %p1;"),
            ["selp.b32 %r1, 0, 1, %p1;"]
        );
        assert_eq!(swapped("shl.b64 %rd1, %rd2, 3;"), [""; 0]);
        assert_eq!(
            swapped("setp.lt.u32 %p1, %r1, 32;"),
            ["setp.lt.u32 %p1, 32, %r1;"]
        );
        assert_eq!(swapped("setp.eq.u32 %p1, %r1, 32;"), [""; 0]);
    }
}
