//! The file of waivers: what it says, and what is told of a wrong one.

use std::time::Instant;

use super::*;

const GOOD: &str = "version: 1
waivers:
  - cases: compaction::exact::keep=26::*
    cards: [Tesla T4, NVIDIA H*]
    driver: {from: 570.10, below: 580.65.06}
    reason: the driver's compiler
      drops a store
    link: https://example.com/bugs/1
    expires: 2027-01-31
    intermittent: true
  - {cases: lookback::exact::n=1::jit, cards: '*', reason: r, link: 'http://a.b', expires: 2026-01-01}
";

fn waivers() -> Waivers {
    Waivers::parse("specs/waivers.yaml", GOOD.as_bytes()).expect("waivers")
}

fn problems(text: &str) -> String {
    let parsed = Waivers::parse("waivers.yaml", text.as_bytes());
    parsed.expect_err("problems").to_string()
}

fn on<'a>(card: &'a str, driver: &'a str) -> OnDevice<'a> {
    OnDevice {
        card: Some(card),
        driver: Some(driver).filter(|driver| !driver.is_empty()),
    }
}

#[test]
fn a_waiver_is_for_its_cases_cards_drivers_and_days() {
    let waivers = waivers();
    let [first, second] = &waivers.entries[..] else {
        panic!("{waivers:?}")
    };
    assert_eq!(first.reason, "the driver's compiler drops a store");
    assert!(first.intermittent && !second.intermittent);
    assert!(first.names("compaction::exact::keep=26::n=1::jit"));
    assert!(!first.names("compaction::exact::keep=128::n=1::jit"));
    let day = "2027-01-31";
    // 570.10 is no number here: its last digit counts.
    for (card, driver, want) in [
        ("Tesla T4", "570.10", true),
        ("NVIDIA H200", "580.65.05", true),
        ("NVIDIA A100", "580.65.05", false),
        ("Tesla T4", "570.9", false),
        ("Tesla T4", "580.65.06", false),
        ("Tesla T4", "", false),
    ] {
        assert_eq!(first.holds(on(card, driver), day), want, "{card} {driver}");
    }
    assert!(!first.holds(on("Tesla T4", "570.10"), "2027-02-01"));
    assert!(second.holds(on("cuda-gates simulated device", ""), "2026-01-01"));
    assert!(
        !second.holds(OnDevice::default(), "2026-01-01"),
        "no device, no waiver"
    );
}

#[test]
fn expired_and_unmatched_waivers_are_told_at_their_places() {
    let waivers = waivers();
    let ids = ["compaction::exact::keep=26::n=1::jit"];
    let stale = waivers.stale("2026-11-30", ids.iter().copied());
    let told: Vec<String> = stale
        .iter()
        .map(|s| s.problem(&waivers).to_string())
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("specs/waivers.yaml:11:13: the waiver of `lookback::exact::n=1::jit` expired: 2026-01-01"),
        "{told:?}"
    );
    assert!(
        told[1].contains(":11:13: no case is named `lookback::exact::n=1::jit`"),
        "{told:?}"
    );
    let all = [ids[0], "lookback::exact::n=1::jit"];
    assert_eq!(waivers.stale("2026-01-01", all.iter().copied()), []);
}

/// Waivers of one case, of a beginning, and of an end, some of nothing; with the cases.
fn many(count: usize) -> (Waivers, Vec<String>) {
    let one = waivers().entries[0].clone();
    let mut many = Waivers::default();
    let mut ids = Vec::new();
    for number in 0..count {
        let (suite, gate) = (number % 7, number % 5);
        let case = format!("suite_{suite}::gate_{gate}::keep=128::n={number}");
        let mut waiver = one.clone();
        waiver.place.line = number;
        waiver.cases = match number % 9 {
            0 => format!("{case}::jit"),
            1 => format!("{case}::*"),
            2 => format!("suite_{suite}::*::n={number}::jit"),
            3 => format!("{case}::sass"),
            4 => format!("suite_{suite}::gate_{gate}::kept=128::n={number}::*"),
            5 => format!("suite_{suite}::*::n={number}::sass"),
            6 => format!("{case}x::jit"),
            7 => format!("nothing::{number}*"),
            _ => format!("suite_{suite}::*keep=128*n={number}*jit"),
        };
        many.entries.push(waiver);
        ids.push(format!("{case}::jit"));
    }
    (many, ids)
}

/// The waivers without cases, found by asking each of each, and how long that took beside [`Waivers::stale`].
#[track_caller]
fn stale_as_by_asking_each_of_each(count: usize) {
    let (waivers, ids) = many(count);
    let clock = Instant::now();
    let each = waivers.entries.iter();
    let each: Vec<Place> = each
        .filter(|waiver| !ids.iter().any(|id| waiver.names(id)))
        .map(Waiver::place)
        .collect();
    let asked = clock.elapsed();
    assert!(each.len() > count / 3 && each.len() < count);
    let clock = Instant::now();
    let stale = waivers.stale("2026-11-30", ids.iter().map(String::as_str));
    let found = clock.elapsed();
    println!("{count} waivers of {count} cases: {asked:?} by asking each of each, {found:?}");
    let stale: Vec<Place> = stale.iter().map(|stale| stale.waiver.place()).collect();
    assert_eq!(stale, each);
}

#[test]
fn waivers_without_cases_are_found_as_by_asking_each_of_each() {
    stale_as_by_asking_each_of_each(1000);
}

#[test]
#[ignore = "for its figures, by --nocapture"]
fn ten_thousand_waivers_of_ten_thousand_cases() {
    stale_as_by_asking_each_of_each(10_000);
}

#[test]
fn everything_wrong_is_told_at_once() {
    let text = "version: 2
waivers:
  - cases: '*'
    cards: []
    driver: {from: 580, below: 580.0}
    reason: ''
    link: bugs/1
    expires: 2027-02-29
    intermittent: often
    because: none
  - {cases: 's::g::jit', driver: r580}
  - {cases: 's::g::jit', driver: {below: 0.0}}
";
    let told = problems(text);
    for words in [
        ":1:10: version: the version is a whole number from 1 to 1",
        ":3:13: waivers[0].cases: the cases of a waiver begin with the name of their suite",
        ":4:12: waivers[0].cards: no card is named",
        ":5:13: waivers[0].driver: no driver is from 580 and below 580.0",
        "the reason is empty",
        ":7:11: waivers[0].link: this is no link",
        ":8:14: waivers[0].expires: `2027-02-29` is no day",
        "`intermittent` is true or false",
        "unknown key `because` in a waiver",
        "a waiver has no `cards`",
        "a waiver has no `reason`",
        "a waiver has no `link`",
        "a waiver has no `expires`",
        "`r580` is no driver's version",
        ":12:34: waivers[2].driver: no driver is below 0.0",
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    assert!(problems("").contains("start with `version: 1` and `waivers: [...]`"));
    assert!(problems("version: 1\n").contains("has no `waivers`"));
    let returns = problems(&GOOD.replace('\n', "\r"));
    assert!(
        returns.contains("line 1 ends with a carriage return alone"),
        "{returns}"
    );
    assert!(Waivers::parse("waivers.yaml", GOOD.replace('\n', "\r\n").as_bytes()).is_ok());
    assert!(problems("- a\n").contains("is a mapping, not a list"));
}

#[test]
fn a_folder_without_the_file_has_none_and_a_broken_link_is_told() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Waivers::beside(folder.path()), Ok(Waivers::default()));
    std::os::unix::fs::symlink("nowhere", folder.path().join("waivers.yaml")).unwrap();
    let told = Waivers::beside(folder.path()).unwrap_err().to_string();
    assert!(told.contains("cannot be read"), "{told}");
}
