//! What launches did to the cards, where every process of a run sees it: the worker launches, and another process asks
//! NVML.
//!
//! Owns: the file that `state=PATH` names, a line for each thing that happened. Imports the plan.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::injection::Plan;

/// Something that happened to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The kernel driver reported this Xid error.
    Xid(u64),
    /// So many more uncorrected memory errors.
    Ecc(u64),
    /// It fell off the bus.
    Lost,
}

/// All that has happened, and to which card, oldest first.
pub(crate) fn events() -> Vec<(usize, Event)> {
    let path = Plan::get().state.as_ref();
    // Before anything has happened there is no file.
    let text = path.and_then(|path| fs::read_to_string(path).ok());
    text.map_or_else(Vec::new, |text| text.lines().filter_map(event).collect())
}

pub(crate) fn is_lost(card: usize) -> bool {
    events().contains(&(card, Event::Lost))
}

/// Uncorrected memory errors of a card.
pub(crate) fn memory_errors(card: usize) -> u64 {
    let counts = events().into_iter().filter_map(|happened| match happened {
        (of, Event::Ecc(count)) if of == card => Some(count),
        _ => None,
    });
    counts.sum()
}

/// Ends the process where it cannot be told: a fault that does not come must not look like one that was borne.
pub(crate) fn happens(card: usize, event: Event) {
    let line = match event {
        Event::Xid(number) => format!("{card} xid {number}\n"),
        Event::Ecc(count) => format!("{card} ecc {count}\n"),
        Event::Lost => format!("{card} lost 0\n"),
    };
    let told = Plan::get().state.as_ref().and_then(|path| {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .ok()?;
        file.write_all(line.as_bytes()).ok()
    });
    if told.is_none() {
        eprintln!("no file for the cards' state: state=PATH");
        std::process::abort();
    }
}

fn event(line: &str) -> Option<(usize, Event)> {
    let mut words = line.split(' ');
    let (card, what, number) = (words.next()?, words.next()?, words.next()?);
    let number = number.parse().ok()?;
    let event = match what {
        "xid" => Event::Xid(number),
        "ecc" => Event::Ecc(number),
        "lost" => Event::Lost,
        _ => return None,
    };
    Some((card.parse().ok()?, event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_happened_to_a_card() {
        assert_eq!(event("0 xid 79"), Some((0, Event::Xid(79))));
        assert_eq!(event("1 ecc 2"), Some((1, Event::Ecc(2))));
        assert_eq!(event("1 lost 0"), Some((1, Event::Lost)));
        for half in ["", "0 xid", "0 xid ", "x xid 1", "0 burns 1"] {
            assert_eq!(event(half), None, "{half}");
        }
    }
}
