//! Axes: the range that holds all points with room at its ends, where the ticks are, and what they say.

use crate::terms::Scale;

/// Ticks of an axis, at most.
const TICKS_MAX: usize = 10;
/// Room at each end of a logarithmic axis, as a part of its length, and at least so many octaves or decades.
const ROOM: (f64, f64) = (0.03, 0.05);

/// One axis of a picture. Places are numbers after the scale's function: the exponent on a logarithmic axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// First and last place; the first is below the last.
    pub range: (f64, f64),
    /// Places, ascending, inside the range.
    pub ticks: Vec<f64>,
    /// Digits after the point of a linear axis' labels.
    decimals: usize,
}

impl Axis {
    /// Over all of `values`, which the scale has places for. With `from_zero` a linear axis of values that are not
    /// negative starts at zero, as one must from which lengths are read.
    pub fn over(values: impl Iterator<Item = f64>, scale: Scale, from_zero: bool) -> Self {
        let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            let place = place(value, scale);
            ends = (ends.0.min(place), ends.1.max(place));
        }
        if ends.0 > ends.1 {
            ends = (0.0, 1.0);
        }
        match scale {
            Scale::Linear => linear(ends, from_zero),
            Scale::Log2 => log2(ends),
            Scale::Log10 => log10(ends),
        }
    }

    pub fn place(&self, value: f64) -> f64 {
        place(value, self.scale)
    }

    /// What stands at a tick.
    pub fn label(&self, place: f64) -> String {
        match self.scale {
            Scale::Linear => grouped(&format!("{place:.*}", self.decimals)),
            Scale::Log2 => format!("2{}", superscript(place.round() as i64)),
            Scale::Log10 if !(-4.0..=4.01).contains(&place) => {
                let exponent = place.floor() as i64;
                let factor = 10f64.powf(place - place.floor()).round();
                match factor as i64 {
                    1 => format!("10{}", superscript(exponent)),
                    factor => format!("{factor}·10{}", superscript(exponent)),
                }
            }
            Scale::Log10 => {
                let decimals = (-place.floor()).max(0.0) as usize;
                grouped(&format!("{:.decimals$}", 10f64.powf(place)))
            }
        }
    }
}

fn place(value: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log2 => value.log2(),
        Scale::Log10 => value.log10(),
    }
}

/// Steps of 1, 2 or 5 times a power of ten, from a whole number of steps to a whole number of steps.
fn linear((low, high): (f64, f64), from_zero: bool) -> Axis {
    let low = if low >= 0.0 && (from_zero || low <= high / 2.0) {
        0.0
    } else {
        low
    };
    let span = match high - low {
        span if span > 0.0 => span,
        _ if high != 0.0 => high.abs(),
        _ => 1.0,
    };
    let rough = span / 7.0;
    let magnitude = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * magnitude >= rough);
    let step = factor.unwrap_or(10.0) * magnitude;
    let first = (low / step + 1e-9).floor();
    let last = ((low + span) / step - 1e-9).ceil().max(first + 1.0);
    // A handful of steps by construction; a span that is lost in its own magnitude has fewer.
    let steps = (last - first).min(2.0 * TICKS_MAX as f64) as usize;
    Axis {
        scale: Scale::Linear,
        range: (first * step, last * step),
        ticks: (0..=steps)
            .map(|index| (first + index as f64) * step)
            .collect(),
        decimals: (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize,
    }
}

fn log2(ends: (f64, f64)) -> Axis {
    let mut range = with_room(ends);
    if range.1.floor() <= range.0.ceil() {
        range = (range.0.floor(), range.1.ceil());
    }
    Axis {
        scale: Scale::Log2,
        range,
        ticks: whole(range),
        decimals: 0,
    }
}

/// Powers of ten; within few decades also their multiples.
fn log10(ends: (f64, f64)) -> Axis {
    let mut range = with_room(ends);
    const MULTIPLES: [&[f64]; 3] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    ];
    let few = range.1 - range.0 < TICKS_MAX as f64;
    let inside = |multiples: &[f64]| -> Vec<f64> {
        let decades = (range.0.floor() as i64)..=(range.1.floor() as i64);
        decades
            .flat_map(|decade| multiples.iter().map(move |m| decade as f64 + m.log10()))
            .filter(|place| (range.0..=range.1).contains(place))
            .collect()
    };
    let fine = few.then(|| {
        MULTIPLES
            .iter()
            .map(|m| inside(m))
            .find(|ticks| ticks.len() >= 3)
    });
    let ticks = match fine {
        Some(Some(ticks)) => ticks,
        Some(None) => {
            range = (range.0.floor(), range.1.ceil());
            whole(range)
        }
        None => whole(range),
    };
    Axis {
        scale: Scale::Log10,
        range,
        ticks,
        decimals: 0,
    }
}

fn with_room((low, high): (f64, f64)) -> (f64, f64) {
    let room = ((high - low) * ROOM.0).max(ROOM.1);
    (low - room, high + room)
}

/// Whole places, evenly apart, not too many.
fn whole(range: (f64, f64)) -> Vec<f64> {
    let (first, last) = (range.0.ceil() as i64, range.1.floor() as i64);
    let count = usize::try_from(last - first + 1).unwrap_or(0);
    let apart = count.div_ceil(TICKS_MAX).max(1) as i64;
    // On multiples, so that 8, 10, 12 stay when an octave joins.
    let first = first + (apart - first.rem_euclid(apart)) % apart;
    (first..=last)
        .step_by(usize::try_from(apart).unwrap_or(1))
        .map(|place| place as f64)
        .collect()
}

/// `8000000` → `8,000,000`.
fn grouped(number: &str) -> String {
    let (sign, number) = number
        .strip_prefix('-')
        .map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = number
        .split_once('.')
        .map_or((number, None), |(w, f)| (w, Some(f)));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

fn superscript(number: i64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    number.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], scale: Scale) -> String {
        let axis = Axis::over(values.iter().copied(), scale, true);
        let labels: Vec<String> = axis.ticks.iter().map(|tick| axis.label(*tick)).collect();
        for value in values {
            let place = axis.place(*value);
            assert!(
                (axis.range.0..=axis.range.1).contains(&place),
                "{value} in {axis:?}"
            );
        }
        for tick in &axis.ticks {
            let slack = 1e-9 * (axis.range.1 - axis.range.0);
            assert!(
                (axis.range.0 - slack..=axis.range.1 + slack).contains(tick),
                "{axis:?}"
            );
        }
        labels.join(" ")
    }

    #[test]
    fn ticks_of_a_log2_axis_are_powers_of_two() {
        let sweep = [253.0, 256.0, 65536.0, 16_777_216.0];
        assert_eq!(
            labels(&sweep, Scale::Log2),
            "2⁸ 2¹⁰ 2¹² 2¹⁴ 2¹⁶ 2¹⁸ 2²⁰ 2²² 2²⁴"
        );
        assert_eq!(labels(&[256.0, 4096.0], Scale::Log2), "2⁸ 2⁹ 2¹⁰ 2¹¹ 2¹²");
        assert_eq!(labels(&[300.0, 310.0], Scale::Log2), "2⁸ 2⁹");
        assert_eq!(labels(&[1.0], Scale::Log2), "2⁻¹ 2⁰ 2¹");
        assert_eq!(labels(&[0.25], Scale::Log2), "2⁻³ 2⁻² 2⁻¹");
    }

    #[test]
    fn ticks_of_a_log10_axis_are_round() {
        assert_eq!(
            labels(&[0.004, 900.0], Scale::Log10),
            "0.01 0.1 1 10 100 1,000"
        );
        assert_eq!(
            labels(&[0.004, 0.1], Scale::Log10),
            "0.005 0.01 0.02 0.05 0.1"
        );
        assert_eq!(
            labels(&[0.021, 0.052], Scale::Log10),
            "0.02 0.05".replace(' ', " 0.03 0.04 ")
        );
        assert_eq!(
            labels(&[1e-6, 1e8], Scale::Log10),
            "10⁻⁶ 0.0001 0.01 1 100 10,000 10⁶ 10⁸"
        );
        assert_eq!(labels(&[1.0], Scale::Log10), "0.1 1 10");
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round_and_start_at_zero_where_lengths_are_read() {
        assert_eq!(
            labels(&[0.1232, 0.2087], Scale::Linear),
            "0.00 0.05 0.10 0.15 0.20 0.25"
        );
        assert_eq!(labels(&[10.2, 89.9], Scale::Linear), "0 20 40 60 80 100");
        assert_eq!(labels(&[0.0], Scale::Linear), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(
            labels(&[-3.0, 1_000_000.0], Scale::Linear)
                .split(' ')
                .next(),
            Some("−200,000")
        );
        let x = Axis::over([101.0, 109.0].into_iter(), Scale::Linear, false);
        assert_eq!(x.label(x.ticks[0]), "100");
    }

    #[test]
    fn values_at_the_ends_of_what_is_drawn_have_axes_too() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for values in [
                vec![1e-300, 1e18],
                vec![1e18, 1e18],
                vec![1e-300],
                vec![1e17, 1e17 + 16.0],
                vec![],
            ] {
                let axis = Axis::over(values.iter().copied(), scale, false);
                assert!(axis.range.0 < axis.range.1, "{axis:?}");
                assert!(axis.ticks.len() <= 2 * TICKS_MAX + 1, "{axis:?}");
            }
        }
    }
}
