//! The file's decoder: every key, every rule, each problem at its place.

use super::version::{Drivers, Version};
use super::{FailureKind, Place, Waiver};
use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::tree::{Content, Tree, Typed};

const WHAT: &str = "a waiver";
/// Bytes of a pattern: longer than any case's id need be.
const PATTERN_BYTES_MAX: usize = 1024;

impl Decoder<'_> {
    pub(super) fn waivers(&self, tree: &Tree, lines: &[&str]) -> Option<Vec<Waiver>> {
        let what = "the file of waivers";
        let fields = self.fields(tree, what, keys::WAIVERS)?;
        if let Some(version) = self.required(&fields, what, "version") {
            self.whole(version, "the version", 1, 1);
        }
        let list = self.list(self.required(&fields, what, "waivers")?, "`waivers`")?;
        let waivers = list.iter().filter_map(|item| self.waiver(item, lines));
        Some(waivers.collect())
    }

    fn waiver(&self, tree: &Tree, lines: &[&str]) -> Option<Waiver> {
        let fields = self.fields(tree, WHAT, keys::WAIVER)?;
        let required = |key: &str| self.required(&fields, WHAT, key);
        let cases = required("cases").and_then(|tree| self.pattern(tree));
        let cards = required("cards").map(|tree| self.cards(tree));
        let kinds = match fields.get("kinds") {
            Some(tree) => self.kinds(tree).map(Some),
            None => Some(None),
        };
        let reason = required("reason").and_then(|tree| self.text(tree, "the reason"));
        let link = required("link").and_then(|tree| self.link(tree));
        let expires = required("expires").and_then(|tree| self.day(tree));
        let drivers = match fields.get("driver") {
            Some(tree) => self.drivers(tree),
            None => Some(Drivers::Any),
        };
        let intermittent = match fields.get("intermittent") {
            Some(tree) => self.yes_or_no(tree, "`intermittent`"),
            None => Some(false),
        };
        let place = self.place_of(&fields, "cases");
        let line = place.line.saturating_sub(1);
        Some(Waiver {
            cases: cases?,
            cards: cards?,
            kinds: kinds?,
            drivers: drivers?,
            reason: reason?.split_whitespace().collect::<Vec<_>>().join(" "),
            link: link?,
            expires: expires?,
            intermittent: intermittent?,
            place,
            source_line: lines.get(line).copied().unwrap_or_default().to_owned(),
        })
    }

    fn place_of(&self, fields: &Fields<'_>, key: &str) -> Place {
        fields.get(key).map_or(fields.place, |tree| tree.place)
    }

    /// One that named no suite could waive everything.
    fn pattern(&self, tree: &Tree) -> Option<String> {
        let text = self.text(tree, "a case's name")?;
        if text.len() > PATTERN_BYTES_MAX {
            let message = format!("a case's name has at most {PATTERN_BYTES_MAX} bytes");
            self.log.add(tree.place, message);
            return None;
        }
        match text.split_once("::") {
            Some((suite, rest))
                if !suite.is_empty() && !suite.contains('*') && !rest.is_empty() =>
            {
                Some(text)
            }
            _ => {
                let mend = "write SUITE::GATE::*, or a case's whole name; `*` stands for any text after the suite";
                let message = "the cases of a waiver begin with the name of their suite";
                self.log.mend(tree.place, message, mend);
                None
            }
        }
    }

    fn cards(&self, tree: &Tree) -> Vec<String> {
        let items = self.one_or_list(tree);
        if items.is_empty() && !matches!(tree.content, Content::Refused) {
            let mend = "name a card, as `cuda-gates devices` prints it; '*' is any";
            self.log.mend(tree.place, "no card is named", mend);
        }
        let names = items
            .iter()
            .filter_map(|item| self.text(item, "a card's name"));
        names.collect()
    }

    /// None where one is wrong: a waiver must not waive more than it says.
    fn kinds(&self, tree: &Tree) -> Option<Vec<FailureKind>> {
        let items = self.one_or_list(tree);
        if items.is_empty() && !matches!(tree.content, Content::Refused) {
            let mend = "name what is found, as mismatch or hang, or leave `kinds` out";
            self.log.mend(tree.place, "no kind is named", mend);
        }
        let names: Vec<&str> = FailureKind::all().map(FailureKind::name).collect();
        let kind = |item: &Tree| {
            let parse = |text: &str| FailureKind::all().find(|kind| kind.name() == text);
            self.word(item, "kind", &names, parse)
        };
        let kinds: Option<Vec<FailureKind>> = items.iter().map(kind).collect();
        kinds.filter(|kinds| !kinds.is_empty())
    }

    fn link(&self, tree: &Tree) -> Option<String> {
        let link = self.text(tree, "the link")?;
        let rest = link
            .strip_prefix("https://")
            .or_else(|| link.strip_prefix("http://"));
        if rest.is_some_and(|rest| !rest.is_empty()) && !link.contains(char::is_whitespace) {
            return Some(link);
        }
        let mend = "write https://…, where the failure is followed up";
        self.log.mend(tree.place, "this is no link", mend);
        None
    }

    fn day(&self, tree: &Tree) -> Option<String> {
        let text = self.text(tree, "a day")?;
        if is_day(&text) {
            return Some(text);
        }
        let mend = "write the last day it holds, as 2027-01-31";
        let shown: String = text.chars().take(40).collect();
        self.log
            .mend(tree.place, format!("`{shown}` is no day"), mend);
        None
    }

    fn drivers(&self, tree: &Tree) -> Option<Drivers> {
        if matches!(tree.content, Content::Scalar(_)) {
            return self.driver(tree).map(Drivers::Exactly);
        }
        let fields = self.fields(tree, "`driver`", keys::DRIVERS)?;
        let version = |key: &str| match fields.get(key) {
            Some(tree) => self.driver(tree).map(Some),
            None => Some(None),
        };
        let (from, below) = (version("from"), version("below"));
        let (from, below) = (from?, below?);
        let mend = "write {from: 570.26, below: 580.65.06}, one of both, or one version";
        match (&from, &below) {
            (None, None) => {
                self.log.mend(tree.place, "`driver` names no version", mend);
                None
            }
            (Some(first), Some(end)) if first >= end => {
                let message = format!("no driver is from {first} and below {end}");
                self.log.mend(tree.place, message, mend);
                None
            }
            (None, Some(end)) if *end <= Version::lowest() => {
                let message = format!("no driver is below {end}");
                self.log.mend(tree.place, message, mend);
                None
            }
            _ => Some(Drivers::Range { from, below }),
        }
    }

    fn driver(&self, tree: &Tree) -> Option<Version> {
        let text = self.text(tree, "a driver's version")?;
        let version = text.parse().ok();
        if version.is_none() {
            let mend = "write it as the report has it: 580.159.04";
            let shown: String = text.chars().take(40).collect();
            self.log.mend(
                tree.place,
                format!("`{shown}` is no driver's version"),
                mend,
            );
        }
        version
    }

    fn yes_or_no(&self, tree: &Tree, what: &str) -> Option<bool> {
        let scalar = self.scalar(tree, what)?;
        if scalar.typed == Typed::Bool {
            return Some(scalar.text.eq_ignore_ascii_case("true"));
        }
        self.log
            .mend(tree.place, format!("{what} is true or false"), "write true");
        None
    }
}

/// A day of the calendar, `YYYY-MM-DD`: such texts sort as days do.
fn is_day(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    if text.len() != 10 || !text.bytes().enumerate().all(shape) {
        return false;
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for day in ["2026-11-30", "2024-02-29", "2000-02-29", "9999-12-31"] {
            assert!(is_day(day), "{day}");
        }
        for wrong in [
            "2026-11-31",
            "2025-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-1-1",
            "26-01-01",
            "2026/01/01",
            "",
            "2026-01-0é",
        ] {
            assert!(!is_day(wrong), "{wrong}");
        }
    }
}
