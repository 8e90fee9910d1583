//! Known failures, gates that must run, and what fails a run as a whole.

use super::*;

/// One waiver beside the suite.
fn waive(place: &Place, cases: &str, cards: &str, more: &str, expires: &str) {
    let text = format!(
        "version: 1\nwaivers:\n  - {{cases: '{cases}', cards: '{cards}', reason: the tail is not marked, \
         link: 'https://example.com/1', expires: {expires}{more}}}\n"
    );
    fs::write(place.folder.path().join("specs/waivers.yaml"), text).unwrap();
}

const SIM: &str = "cuda-gates simulated device";
const LONG: &str = "9999-12-31";

/// `MINE`, its wrong gate mended.
fn mended() -> String {
    MINE.replace("args: [input, rank, n - 1]", "args: [input, rank, n]")
}

/// The one rule that a run broke, as its report, its summary and its JUnit tell it.
#[track_caller]
fn told(place: &Place, ran: &Ran, rule: &str, words: &str) {
    let report = place.report("sim");
    let problems = report["run"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0]["rule"], rule);
    let message = problems[0]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    let line = format!("RUN   {rule}: ");
    assert!(ran.stdout.contains(&line), "{}", ran.stdout);
    let junit = fs::read_to_string(&files(&place.reports(), "junit.xml")[0]).unwrap();
    assert!(junit.contains(&format!("run::{rule}::1")), "{junit}");
}

#[test]
fn a_known_failure_is_waived_and_told_everywhere() {
    let place = Place::new(MINE);
    waive(&place, "mine::wrong::*", SIM, "", LONG);
    place.run(&["check"]).ends(0);
    let ran = place.run(&[]).ends(0);
    let why = "2 waived: the tail is not marked (https://example.com/1, until 9999-12-31)";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    let report = place.report("sim");
    let totals = &report["totals"];
    assert_eq!((&totals["waived"], &totals["fail"]), (&2.into(), &0.into()));
    let cases = report["cases"].as_array().unwrap();
    let wrong = cases.iter().find(|case| case["outcome"] == "waived");
    let wrong = wrong.unwrap();
    assert_eq!(wrong["waiver"]["waives"], "fail");
    let found = wrong["findings"].as_array().unwrap();
    assert!(!found.is_empty(), "what was found is kept");
    assert_eq!(report["run"]["waivers"][0]["state"], "waived");
    let listed = place.run(&["list", "--format", "json", "mine::wrong"]);
    let listed: Value = serde_json::from_str(&listed.ends(0).stdout).unwrap();
    let waiver = &listed["cases"][0]["waivers"][0];
    assert_eq!(waiver["reason"], "the tail is not marked");
    let explained = place.run(&["explain", "mine::wrong::n=7::jit"]).ends(0);
    let section = "waived\n  the tail is not marked (https://example.com/1";
    assert!(explained.stdout.contains(section), "{}", explained.stdout);
}

#[test]
fn a_waiver_of_another_card_or_driver_waives_nothing() {
    for (cards, more) in [("NVIDIA *", ""), (SIM, ", driver: {from: 1}")] {
        let place = Place::new(MINE);
        waive(&place, "mine::wrong::*", cards, more, LONG);
        place.run(&[]).ends(1);
        let waivers = &place.report("sim")["run"]["waivers"];
        assert_eq!(waivers[0]["state"], "not for this device");
    }
}

#[test]
fn a_waiver_past_its_day_fails_check_and_the_run() {
    let place = Place::new(MINE);
    waive(&place, "mine::wrong::*", SIM, "", "2020-02-29");
    let checked = place.run(&["check"]).ends(2);
    let words = "expired: 2020-02-29 was its last day";
    assert!(checked.stderr.contains(words), "{}", checked.stderr);
    // By the waiver alone, too; but a filtered run judges its cases.
    let ran = place.run(&["--skip", "mine::wrong"]).ends(0);
    assert!(!ran.stdout.contains("RUN "), "{}", ran.stdout);
    fs::remove_dir_all(place.reports()).unwrap();
    let ran = place.run(&[]).ends(1);
    told(&place, &ran, "waiver", words);
    assert_eq!(place.report("sim")["totals"]["fail"], 2);
}

#[test]
fn a_waiver_without_cases_fails_check_and_the_run() {
    let place = Place::new(&mended());
    waive(&place, "mine::wrnog::*", SIM, "", LONG);
    let words = "no case is named `mine::wrnog::*`";
    for arguments in [
        &["check"][..],
        &["check", "specs"],
        &["check", "specs/waivers.yaml"],
    ] {
        let checked = place.run(arguments).ends(2);
        assert!(checked.stderr.contains(words), "{}", checked.stderr);
        let at = "waivers.yaml:3:";
        assert!(checked.stderr.contains(at), "{}", checked.stderr);
    }
    place.run(&["check", "specs/mine.yaml"]).ends(0);
    let ran = place.run(&[]).ends(1);
    told(&place, &ran, "waiver", words);
}

#[test]
fn a_waiver_that_is_no_longer_needed_fails_the_run_unless_it_is_intermittent() {
    let place = Place::new(&mended());
    waive(&place, "mine::wrong::*", SIM, "", LONG);
    place.run(&["check"]).ends(0);
    let ran = place.run(&[]).ends(1);
    let words =
        "no longer needed: all of its cases passed (2 here, in the default profile and images)";
    told(&place, &ran, "waiver", words);
    let place = Place::new(&mended());
    let more = ", intermittent: true";
    waive(&place, "mine::wrong::*", SIM, more, LONG);
    place.run(&[]).ends(0);
    let waivers = &place.report("sim")["run"]["waivers"];
    assert_eq!(waivers[0]["state"], "intermittent, passed");
}

#[test]
fn a_file_of_waivers_that_cannot_be_read_stops_the_run_with_its_place() {
    let place = Place::new(MINE);
    waive(&place, "*", SIM, "", "tomorrow");
    for arguments in [&[][..], &["check"], &["list"]] {
        let ran = place.run(arguments).ends(2);
        for words in [
            "waivers.yaml:3:",
            "begin with the name of their suite",
            "`tomorrow` is no day",
        ] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
    }
    assert!(!place.reports().exists());
}

#[test]
fn a_gate_that_must_run_and_is_skipped_fails_the_whole_run() {
    // What never runs on a device is told when the spec is loaded.
    let never = format!("{}must_run: {{sim: [on_a_card]}}\n", mended());
    let ran = Place::new(&never).run(&[]).ends(2);
    let words = "gate `on_a_card` never runs on sim";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    // The simulated device calls no native code.
    let library = mended().replace(
        "pipelines:\n",
        "pipelines:\n  scanned: [{native: cub_exclusive_scan_i32, args: [input, out, n]}]\n",
    );
    let library = format!(
        "{library}  library: {{run: scanned, check: exact, got: out, want: {{exclusive_scan: sum}}}}\n"
    );
    let place = Place::new(&format!("{library}must_run: [by_reference]\n"));
    place.run(&[]).ends(0);
    let place = Place::new(&format!("{library}must_run: [by_reference, library]\n"));
    let ran = place.run(&[]).ends(1);
    let words = "mine::library must run on sim (specs/mine.yaml): 2 cases, none of which ran: built without";
    told(&place, &ran, "must_run", words);
    let skips = &place.report("sim")["totals"]["skips"];
    assert_eq!(
        (&skips["built_without"], &skips["unsupported"]),
        (&2.into(), &2.into())
    );
}

#[test]
fn a_health_gate_wants_a_card() {
    let place = Place::new(&format!("{MINE}  well: {{run: copied, check: health}}\n"));
    let ran = place.run(&["mine::well"]).ends(4);
    let words = "needs hardware: the simulated device has no error counts";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}
