//! Words for findings: single elements, counts and excerpts.

use super::bytes::Places;
use crate::outcome::Finding;
use crate::terms::FindingKind;
use crate::value::ArrayRef;

/// Element `index` as a person reads it. A NaN shows its bits, since two NaNs may differ.
pub(super) fn element(array: ArrayRef<'_>, index: usize) -> String {
    match array {
        ArrayRef::F32(v) if v[index].is_nan() => format!("NaN ({:#010x})", v[index].to_bits()),
        ArrayRef::F64(v) if v[index].is_nan() => format!("NaN ({:#018x})", v[index].to_bits()),
        ArrayRef::F32(v) => format!("{:?}", v[index]),
        _ => array.get(index).to_string(),
    }
}

/// `1 element` or `5 elements`.
pub(super) fn elements(count: usize) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

/// `3 of 65537 elements differ (0.0046 %), first at 7: got 5, want 6`.
pub(super) fn differing(
    places: Places,
    verb: [&str; 2],
    got: ArrayRef<'_>,
    want: ArrayRef<'_>,
) -> String {
    let Places { count, first, .. } = places;
    format!(
        "{count} of {} {} ({}), {} {first}: got {}, want {}",
        elements(want.len()),
        verb[usize::from(count != 1)],
        percent(count, want.len()),
        if count == 1 { "at" } else { "first at" },
        element(got, first),
        element(want, first),
    )
}

/// Two significant digits, and never 0 % or 100 % for what is neither.
pub(super) fn percent(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole as f64;
    match percent {
        100.0 => "100 %".to_owned(),
        1.0..99.0 => format!("{percent:.0} %"),
        99.0.. => format!("{percent:.4} %"),
        _ => format!("{percent:.2} %").replacen("0.00 %", "below 0.01 %", 1),
    }
}

/// Elements shown before and after the first difference.
const BEFORE: usize = 2;
const AFTER: usize = 5;

/// The neighbourhood of the first place, and the last place.
pub(super) fn excerpt(places: Places, got: ArrayRef<'_>, want: ArrayRef<'_>) -> Vec<String> {
    let end = (places.first + AFTER + 1).min(want.len());
    let mut indices: Vec<usize> = (places.first.saturating_sub(BEFORE)..end).collect();
    if places.last >= end {
        indices.push(places.last);
    }
    let rows = indices.iter().map(|&i| {
        let differs = got.slice(i, i + 1).as_bytes() != want.slice(i, i + 1).as_bytes();
        let mark = if differs { "<" } else { "" };
        [
            i.to_string(),
            element(got, i),
            element(want, i),
            mark.to_owned(),
        ]
    });
    let head = ["index", "got", "want", ""].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|[index, got, want, mark]| {
        let [a, b, c] = widths;
        format!("{index:>a$}  {got:>b$}  {want:>c$} {mark}")
            .trim_end()
            .to_owned()
    });
    lines.collect()
}

/// An `unwritten` finding for these places of `of` wanted elements; none for no places.
pub(super) fn unwritten(places: Places, of: usize) -> Option<Finding> {
    let Places { count, first, last } = places;
    let at = match count {
        0 => return None,
        1 => format!("at {first}"),
        _ => format!("first at {first}, last at {last}"),
    };
    let verb = if count == 1 { "was" } else { "were" };
    let message = format!("{count} of {} {verb} never written, {at}", elements(of));
    Some(Finding::new(FindingKind::Unwritten, message))
}
