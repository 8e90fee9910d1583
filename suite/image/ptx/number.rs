//! The values of PTX literals: `42`, `0x2AU`, `052`, `0b101`, `1.5`, `0f3F800000`, `0d3FF0000000000000`.

use super::ast::Immediate;

/// The value of a literal that starts with a digit; none when it is no PTX number.
pub(super) fn parse(text: &str) -> Option<Immediate> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => hex(&text[2..], 8).map(|bits| Immediate::F32(bits as u32)),
        [b'0', b'd' | b'D', ..] => hex(&text[2..], 16).map(Immediate::F64),
        [b'0', b'x' | b'X', ..] => radix(&text[2..], 16).map(Immediate::Int),
        [b'0', b'b' | b'B', ..] => radix(&text[2..], 2).map(Immediate::Int),
        [b'0', b'0'..=b'7', ..] if !text.contains('.') => radix(&text[1..], 8).map(Immediate::Int),
        _ if text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) => text
            .parse::<f64>()
            .ok()
            .map(|value| Immediate::F64(value.to_bits())),
        _ => radix(text, 10).map(Immediate::Int),
    }
}

/// A non-negative whole number.
pub(super) fn whole(text: &str) -> Option<u64> {
    match parse(text) {
        Some(Immediate::Int(value)) => Some(value),
        _ => None,
    }
}

/// Exactly `digits` hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u64> {
    let all_hex = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    if all_hex {
        u64::from_str_radix(text, 16).ok()
    } else {
        None
    }
}

fn radix(text: &str, radix: u32) -> Option<u64> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// `-` in front: two's complement for integers, the sign bit for floats.
pub(super) fn negate(value: Immediate) -> Immediate {
    match value {
        Immediate::Int(bits) => Immediate::Int(bits.wrapping_neg()),
        Immediate::F32(bits) => Immediate::F32(bits ^ 1 << 31),
        Immediate::F64(bits) => Immediate::F64(bits ^ 1 << 63),
    }
}
