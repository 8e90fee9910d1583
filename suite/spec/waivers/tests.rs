//! The file of waivers: what it says, and what is told of a wrong one.

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
