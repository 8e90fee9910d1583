//! One text for the loader of waivers. `suite/tests/corpus.rs` replays the kept ones.

use cuda_gates::spec::waivers::{Drivers, OnDevice, Version, Waiver, Waivers};

use super::problems;

/// Waivers that are asked about each other's cases, and versions that are compared: the square of them is work.
const ASKED_MAX: usize = 12;
/// After every day that a waiver may name.
const NEVER: &str = "9999-12-32";

/// The loader ends with waivers or with problems at places of the text; what it read answers as it is written.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    versions(&text);
    match Waivers::parse("specs/waivers.yaml", data) {
        Ok(waivers) => {
            for waiver in &waivers.entries {
                alone(waiver);
            }
            patterns(&waivers.entries);
            stale(&waivers, &text);
        }
        Err(errors) => problems::are_told(&errors, data),
    }
}

/// Any words that are versions are in one order.
fn versions(text: &str) {
    let read = |word: &str| word.parse::<Version>().ok();
    let words = text.split(|c: char| c != '.' && !c.is_ascii_digit());
    let found: Vec<Version> = words.filter_map(read).take(ASKED_MAX).collect();
    for (i, a) in found.iter().enumerate() {
        assert_eq!(read(&a.to_string()).as_ref(), Some(a), "what was written");
        for b in &found[i..] {
            assert_eq!(a.cmp(b), b.cmp(a).reverse(), "{a} and {b}");
            for c in found.iter().filter(|c| a <= b && b <= *c) {
                let chain = a.cmp(b).then(b.cmp(c));
                assert_eq!(a.cmp(c), chain, "{a}, {b} and {c}");
            }
        }
    }
}

/// A waiver is for what it names, until its day.
fn alone(waiver: &Waiver) {
    let Waiver { cases, expires, .. } = waiver;
    assert!(!waiver.reason.is_empty() && !waiver.reason.contains('\n'));
    assert!(waiver.link.starts_with("http"), "{}", waiver.link);
    assert!(expires.len() == NEVER.len() && expires.as_str() < NEVER);
    assert!(!waiver.is_expired(expires) && waiver.is_expired(NEVER));
    assert!(
        cases
            .split_once("::")
            .is_some_and(|(suite, _)| !suite.contains('*'))
    );
    let inside = drivers(&waiver.drivers);
    for pattern in &waiver.cards {
        let card = pattern.replace('*', " 4");
        let on = |driver| OnDevice {
            card: Some(&card),
            driver,
        };
        assert!(waiver.holds(on(inside.as_deref()), expires), "{waiver:?}");
        assert!(!waiver.holds(on(inside.as_deref()), NEVER), "{waiver:?}");
        let any = waiver.drivers == Drivers::Any;
        assert_eq!(waiver.holds(on(None), expires), any, "{waiver:?}");
        assert_eq!(waiver.holds(on(Some("r1")), expires), any, "{waiver:?}");
    }
    assert!(!waiver.cards.is_empty() && !waiver.holds(OnDevice::default(), expires));
}

/// A range has its ends where they are written. Gives a driver inside.
fn drivers(drivers: &Drivers) -> Option<String> {
    assert!(!drivers.to_string().is_empty());
    let inside = match drivers {
        Drivers::Any => None,
        Drivers::Exactly(version) => Some(version.to_string()),
        Drivers::Range { from, below } => {
            assert!(from.is_some() || below.is_some(), "a range without ends");
            if let Some(end) = below {
                assert!(!drivers.contain(Some(&end.to_string())), "{drivers}");
            }
            let from = from.as_ref().map(Version::to_string);
            Some(from.unwrap_or_else(|| "0".to_owned()))
        }
    };
    assert!(drivers.contain(inside.as_deref()), "{drivers}");
    inside
}

/// Each pattern on names made of all of them.
fn patterns(waivers: &[Waiver]) {
    let asked = &waivers[..waivers.len().min(ASKED_MAX)];
    for waiver in asked {
        for filling in ["", "::n=1", "*"] {
            let id = waiver.cases.replace('*', filling);
            assert!(waiver.names(&id), "{} is {id}", waiver.cases);
            for waiver in asked {
                for id in [&id, &format!("{id}x")] {
                    let is = names(&waiver.cases, id);
                    assert_eq!(waiver.names(id), is, "`{}` on `{id}`", waiver.cases);
                }
            }
        }
    }
}

/// The same question in other words: the pieces between stars, each as early as it comes, the last one at the end.
fn names(pattern: &str, id: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == id;
    };
    let Some(mut id) = id.strip_prefix(first) else {
        return false;
    };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in between.split('*') {
        let Some(at) = id.find(piece) else {
            return false;
        };
        id = &id[at + piece.len()..];
    }
    id.ends_with(last)
}

/// Waivers are unmatched without their cases and past their days, and told at their lines.
fn stale(waivers: &Waivers, text: &str) {
    let count = waivers.entries.len();
    let named: Vec<String> = (waivers.entries.iter())
        .map(|w| w.cases.replace('*', "1"))
        .collect();
    let named = || named.iter().map(String::as_str);
    assert_eq!(waivers.stale("0000-00-00", named()), []);
    let expired = waivers.stale(NEVER, named());
    assert!(expired.len() == count && expired.iter().all(|stale| stale.expired));
    let both = waivers.stale(NEVER, std::iter::empty());
    assert_eq!(both.len(), 2 * count);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    for stale in both {
        let problem = stale.problem(waivers);
        let place = problem.place.expect("a waiver has a place");
        let line = place.line.checked_sub(1).and_then(|at| lines.get(at));
        assert_eq!(line, Some(&problem.source_line.as_str()), "{problem}");
        assert!(place.column >= 1 && stale.waiver.place() == place);
    }
    if let Some(first) = waivers.entries.first() {
        let day = first.expires.as_str();
        let past = waivers.entries.iter().filter(|w| w.expires.as_str() < day);
        assert_eq!(waivers.stale(day, named()).len(), past.count());
    }
}
