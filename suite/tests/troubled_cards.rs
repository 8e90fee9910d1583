//! What happens to a card, or to the files of a run, while its cases run.

use super::*;

/// `THREE`, its gates judging the card's health.
fn health(expect: &str) -> String {
    THREE
        .replace(
            "check: exact, got: out, want: {copy: input}",
            "check: health",
        )
        .replace(
            "check: exact, got: rank, want: {map: nonzero}",
            &format!("check: health{expect}"),
        )
        .replace(
            "check: exact, got: rank, want: {map: even}",
            "check: health",
        )
}

fn findings(ran: &Ran) -> Vec<String> {
    let findings = ran.report()["cases"][1]["findings"].as_array().unwrap();
    let message = |finding: &Value| finding["message"].as_str().unwrap().to_owned();
    findings.iter().map(message).collect()
}

#[test]
fn a_health_gate_fails_by_what_its_own_case_did_and_its_neighbours_pass() {
    for (fault, words) in [
        ("xid 79", "Xid 79 while the case ran"),
        (
            "ecc 2",
            "ecc_uncorrected_volatile was 0 before the case and is 2 after it",
        ),
    ] {
        let faults = format!("cuLaunchKernel(mark_nonzero)#1: {fault}");
        let ran = Place::new(&health("")).run(&faults).ends(1);
        assert_eq!(ran.outcomes(), each(["pass", "fail", "pass"]), "{fault}");
        assert_eq!(findings(&ran), [words]);
        let control = Place::new(&health(", expect: {fail: health}"));
        control.run(&faults).ends(0);
    }
}

#[test]
fn a_card_that_is_lost_fails_the_health_gate_it_was_lost_in() {
    let ran = Place::new(&health(""))
        .run("cuLaunchKernel(mark_nonzero)#1: lost")
        .ends(1);
    assert_eq!(ran.outcomes()[1].1, "fail");
    let words = "ecc_uncorrected_volatile was 0 before the case and cannot be read after it: ";
    let found = findings(&ran);
    assert!(
        found.iter().any(|found| found.starts_with(words)),
        "{found:?}"
    );
}

#[test]
fn a_health_gate_that_expects_its_hang_passes() {
    let ran = Place::new(&health(", expect: {error: hang}"))
        .run("cuLaunchKernel(mark_nonzero): hang")
        .ends(0);
    assert_eq!(ran.outcomes(), each(["pass"; 3]));
}

/// `THREE`, its second case with two launches.
fn twice() -> String {
    let launch = "{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n]}";
    THREE.replace(launch, &format!("{launch}, {launch}"))
}

/// The worker dies with its card, and the next one finds the other card by the same number.
#[test]
fn a_card_that_drops_out_is_never_another() {
    let faults =
        "cards=2; cuLaunchKernel(mark_nonzero)@0#1: lost; cuLaunchKernel(mark_nonzero)@0: kill";
    let place = Place::new(&twice());
    let ran = place.run_on("all", faults, &[]).ends(1);
    assert_eq!(outcomes(&ran.reports[0]), each(["pass", "error", "error"]));
    let reason = ran.reports[0]["cases"][2]["reason"]["message"].as_str();
    let reason = reason.unwrap();
    assert!(reason.starts_with("no CUDA device GPU-"), "{reason}");
    assert_eq!(outcomes(&ran.reports[1]), each(["pass"; 3]));

    let place = Place::new(&twice());
    let ran = place.run(faults).ends(1);
    assert_eq!(ran.outcomes(), each(["pass", "error", "error"]));
    let reason = ran.reason("after");
    let words = "environment: the run began on Test card 0 (GPU-";
    assert!(reason.starts_with(words), "{reason}");
    assert!(
        reason.contains("a fresh worker got Test card 1"),
        "{reason}"
    );
}

/// Runs the suite, and edits a file of its folder while its second case hangs.
fn edited(file: &str, edit: impl Fn(&str) -> String + Sync) -> Ran {
    let place = Place::new(THREE);
    let path = place.folder.path().join("specs").join(file);
    let cards = place.folder.path().join("cards");
    thread::scope(|scope| {
        scope.spawn(|| {
            // Its first launch is told here, its second hangs.
            let deadline = Instant::now() + Duration::from_secs(60);
            while !cards.exists() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(10));
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            fs::write(&path, edit(&text)).unwrap();
        });
        place.run("cuLaunchKernel(copy)#1: xid 13; cuLaunchKernel(mark_nonzero): hang")
    })
}

#[test]
fn half_edited_waivers_do_not_end_a_run_and_an_edited_suite_does() {
    let ran = edited("waivers.yaml", |_| "waivers: [{cases:".to_owned()).ends(1);
    assert_eq!(ran.outcomes(), each(["pass", "error", "pass"]));
    let ran = edited("suite.yaml", |text| format!("{text}# larger\n")).ends(1);
    assert_eq!(ran.outcomes(), each(["pass", "error", "error"]));
    let reason = ran.reason("after");
    let words = "setup: the specs have changed since the run began (specs/suite.yaml)";
    assert!(reason.starts_with(words), "{reason}");
}
