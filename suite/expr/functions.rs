//! The functions and the checked operators of the language.

use rhai::{Engine, EvalAltResult, Position};

type Checked<T> = Result<T, Box<EvalAltResult>>;

/// Every function an expression may call, and how it is written.
pub(super) const KNOWN: &[(&str, &str)] = &[
    ("ceil_div", "ceil_div(a, b)"),
    ("ceil_log2", "ceil_log2(n)"),
    ("next_pow2", "next_pow2(n)"),
    ("min", "min(a, b)"),
    ("max", "max(a, b)"),
    ("pow", "pow(base, exponent)"),
    ("abs", "abs(x)"),
    ("choose", "choose(condition, a, b)"),
];

pub(super) fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|(known, _)| *known == name)
}

pub(super) fn register(engine: &mut Engine) {
    engine
        .register_fn("<<", shift_left)
        .register_fn(">>", shift_right)
        .register_fn("<<=", |a: &mut i64, b: i64| {
            shift_left(*a, b).map(|v| *a = v)
        })
        .register_fn(">>=", |a: &mut i64, b: i64| {
            shift_right(*a, b).map(|v| *a = v)
        })
        .register_fn("-", |a: i64| {
            a.checked_neg()
                .ok_or_else(|| arithmetic(format!("overflow in -({a})")))
        })
        .register_fn("-", |a: f64| -a)
        .register_fn("+", |a: i64| a)
        .register_fn("+", |a: f64| a)
        .register_fn("!", |a: bool| !a)
        .register_fn("choose", |c: bool, a: i64, b: i64| if c { a } else { b })
        .register_fn("choose", |c: bool, a: f64, b: f64| if c { a } else { b })
        .register_fn(
            "choose",
            |c: bool, a: i64, b: f64| if c { float(a) } else { b },
        )
        .register_fn(
            "choose",
            |c: bool, a: f64, b: i64| if c { a } else { float(b) },
        )
        .register_fn("ceil_div", ceil_div)
        .register_fn("ceil_log2", ceil_log2)
        .register_fn("next_pow2", next_pow2)
        .register_fn("abs", |a: i64| {
            a.checked_abs()
                .ok_or_else(|| arithmetic(format!("overflow in abs({a})")))
        })
        .register_fn("abs", f64::abs)
        .register_fn("pow", pow)
        .register_fn("pow", f64::powf)
        .register_fn("pow", |a: f64, b: i64| a.powf(float(b)))
        .register_fn("pow", |a: i64, b: f64| float(a).powf(b))
        .register_fn("min", |a: i64, b: i64| a.min(b))
        .register_fn("min", f64::min)
        .register_fn("min", |a: i64, b: f64| float(a).min(b))
        .register_fn("min", |a: f64, b: i64| a.min(float(b)))
        .register_fn("max", |a: i64, b: i64| a.max(b))
        .register_fn("max", f64::max)
        .register_fn("max", |a: i64, b: f64| float(a).max(b))
        .register_fn("max", |a: f64, b: i64| a.max(float(b)));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an integer beside a float becomes the nearest float, as in the language itself"
)]
fn float(value: i64) -> f64 {
    value as f64
}

fn arithmetic(words: String) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorArithmetic(words, Position::NONE))
}

/// The count as `u32`, where it is a legal one for 64 bits.
fn shift_count(operator: &str, value: i64, count: i64) -> Checked<u32> {
    u32::try_from(count)
        .ok()
        .filter(|&c| c < 64)
        .ok_or_else(|| {
            arithmetic(format!(
                "{value} {operator} {count}: shifts go from 0 to 63"
            ))
        })
}

fn shift_left(value: i64, count: i64) -> Checked<i64> {
    let shifted = value << shift_count("<<", value, count)?;
    if shifted >> count == value {
        Ok(shifted)
    } else {
        Err(arithmetic(format!("overflow: {value} << {count}")))
    }
}

fn shift_right(value: i64, count: i64) -> Checked<i64> {
    Ok(value >> shift_count(">>", value, count)?)
}

/// `a / b` rounded towards +∞.
fn ceil_div(a: i64, b: i64) -> Checked<i64> {
    if b == 0 {
        return Err(arithmetic(format!("division by zero: ceil_div({a}, 0)")));
    }
    let (wide_a, wide_b) = (i128::from(a), i128::from(b));
    let (truncated, rest) = (wide_a / wide_b, wide_a % wide_b);
    // Truncation rounds down where the exact quotient is positive: the rest then has the divisor's sign.
    let rounds_down = rest != 0 && (rest < 0) == (wide_b < 0);
    let quotient = truncated + i128::from(rounds_down);
    i64::try_from(quotient).map_err(|_| arithmetic(format!("overflow: ceil_div({a}, {b})")))
}

/// The least `k` with `2^k ≥ n`; 0 for n ≤ 1.
fn ceil_log2(n: i64) -> i64 {
    if n <= 1 {
        0
    } else {
        i64::from(64 - (n - 1).leading_zeros())
    }
}

/// The least power of two that is at least `n`; 1 for n ≤ 1.
fn next_pow2(n: i64) -> Checked<i64> {
    shift_left(1, ceil_log2(n)).map_err(|_| arithmetic(format!("overflow: next_pow2({n})")))
}

fn pow(base: i64, exponent: i64) -> Checked<i64> {
    if exponent < 0 {
        return Err(arithmetic(format!(
            "pow({base}, {exponent}): the exponent is negative"
        )));
    }
    let small = match base {
        0 if exponent > 0 => Some(0),
        0 | 1 => Some(1),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => u32::try_from(exponent)
            .ok()
            .and_then(|e| base.checked_pow(e)),
    };
    small.ok_or_else(|| arithmetic(format!("overflow: pow({base}, {exponent})")))
}
