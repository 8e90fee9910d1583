//! What happens to a card, or to the files of a run, while its cases run.

use super::*;

/// `THREE`, its gates judging the card's health.
pub fn health(expect: &str) -> String {
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

pub fn findings(ran: &Ran) -> Vec<String> {
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

const SECOND_HANGS: &str = "cuLaunchKernel(copy)#1: xid 13; cuLaunchKernel(mark_nonzero): hang";

/// Runs the suite, and edits a file of its folder while its second case hangs.
fn edited(file: &str, edit: impl Fn(&str) -> String + Sync) -> Ran {
    let place = Place::new(THREE);
    let path = place.folder.path().join("specs").join(file);
    let edit = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, edit(&text)).unwrap();
    };
    meanwhile(&place, edit, || place.run(SECOND_HANGS))
}

/// Does something while the second case of a run hangs.
fn meanwhile<T>(place: &Place, act: impl Fn() + Sync, run: impl FnOnce() -> T) -> T {
    let cards = place.folder.path().join("cards");
    thread::scope(|scope| {
        scope.spawn(|| {
            // Its first launch is told here, its second hangs.
            let deadline = Instant::now() + Duration::from_secs(60);
            while !cards.exists() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(10));
            }
            act();
        });
        run()
    })
}

/// Copies what the suite needs of the kernels; a comment is another version of them.
#[test]
fn kernels_that_are_edited_during_a_run_judge_none_of_its_cases() {
    let place = Place::new(THREE);
    let kernels = place.folder.path().join("kernels");
    fs::create_dir(&kernels).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/compaction.cu");
    let source = fs::read_to_string(source).unwrap();
    let file = kernels.join("compaction.cu");
    fs::write(&file, &source).unwrap();
    let edit = || fs::write(&file, format!("{source}// larger\n")).unwrap();
    let arguments = ["--timeout", "1.5", "--kernels", "kernels"];
    let run = || place.run_on("cuda", SECOND_HANGS, &arguments);
    let ran = meanwhile(&place, edit, run).ends(1);
    assert_eq!(ran.outcomes(), each(["pass", "error", "error"]));
    let reason = ran.reason("after");
    let words = "setup: the kernels, or their PTX, have changed since the run began";
    assert!(reason.starts_with(words), "{reason}");
}

/// As an upgrade at night does: the case after it is run by the build that began.
#[test]
fn a_program_that_is_replaced_during_a_run_stays_the_one_that_began() {
    let place = Place::new(THREE);
    let program = place.folder.path().join("upgraded");
    fs::copy(env!("CARGO_BIN_EXE_cuda-gates"), &program).unwrap();
    let names = std::sync::Mutex::new(Vec::new());
    let replace = || {
        fs::remove_file(&program).unwrap();
        fs::copy("/bin/false", &program).unwrap();
        *names.lock().unwrap() = names_of_workers(&program);
    };
    let run = || {
        let arguments = ["run", "--device", "cuda", "--image", "jit"];
        let mut command = place.command_of(&program, SECOND_HANGS);
        command.args(arguments).args(["--timeout", "1.5"]).output()
    };
    let output = meanwhile(&place, replace, run).unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let [report] = &reports(&place.folder.path().join("reports"))[..] else {
        panic!("{output:?}");
    };
    assert_eq!(outcomes(report), each(["pass", "error", "pass"]));
    // At least the worker and the process that asks NVML.
    let names = names.into_inner().unwrap();
    assert!(names.len() >= 2, "{names:?}");
    for name in names {
        assert_eq!(name, "upgraded");
    }
}

/// The short names of the processes that a program started of itself under its own long name.
fn names_of_workers(program: &Path) -> Vec<String> {
    let start = format!("{}\0__worker\0", program.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let of = |process: fs::DirEntry| {
        let line = fs::read_to_string(process.path().join("cmdline")).ok()?;
        let name = fs::read_to_string(process.path().join("comm")).ok()?;
        line.starts_with(&start).then(|| name.trim_end().to_owned())
    };
    processes.filter_map(of).collect()
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
