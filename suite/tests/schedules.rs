//! Runs under chosen schedules of the simulated device.

use std::fs;

use super::{MINE, Place, files, two_runs_are_equal};

#[test]
fn schedules_are_for_the_simulated_device_and_ask_for_one_thing() {
    let place = Place::new(MINE);
    let ran = place.run(&["--schedule", "random:7,backwards"]).ends(2);
    assert!(ran.stderr.contains("`backwards`"), "{}", ran.stderr);
    place.run(&["--schedules", "0"]).ends(2);
    place.run(&["--schedule", "fair", "--seed", "1"]).ends(2);
    for arguments in [
        ["--schedules", "2"],
        ["--seed", "1"],
        ["--schedule", "fair"],
    ] {
        let card = [("CUDA_GATES_DEVICE", "cuda")];
        let ran = place.run_with(&card, &arguments).ends(2);
        let words = format!("error: {} (CUDA_GATES_", arguments[0]);
        assert!(ran.stderr.starts_with(&words), "{}", ran.stderr);
        assert!(ran.stderr.contains("simulated device"), "{}", ran.stderr);
    }
    let sim = ("CUDA_GATES_DEVICE", "sim");
    let both = [
        sim,
        ("CUDA_GATES_SCHEDULES", "2"),
        ("CUDA_GATES_SCHEDULE", "fair"),
    ];
    let ran = place.run_with(&both, &[]).ends(2);
    assert!(ran.stderr.contains("cannot go together"), "{}", ran.stderr);
    let wrong = [sim, ("CUDA_GATES_SEED", "-1")];
    let ran = place.run_with(&wrong, &[]).ends(2);
    assert!(ran.stderr.contains("CUDA_GATES_SEED"), "{}", ran.stderr);
    assert!(!place.reports().exists());
}

#[test]
fn an_exploration_says_what_ran_in_every_view() {
    let place = Place::new(MINE);
    let variables = [
        ("CUDA_GATES_DEVICE", "sim"),
        ("CUDA_GATES_SCHEDULES", "20"),
        ("CUDA_GATES_SEED", "5"),
    ];
    // The argument wins over its variable, the other variable stays.
    let ran = place.run_with(&variables, &["by_reference::n=7", "--schedules", "3"]);
    let ran = ran.ends(0);
    assert!(
        ran.stdout.contains("schedule  3 of seed 5\n"),
        "{}",
        ran.stdout
    );
    let report = place.report("sim");
    let asked = &report["run"]["schedules"];
    assert_eq!((&asked["count"], &asked["seed"]), (&3.into(), &5.into()));
    let scheduled = &report["cases"][0]["scheduled"];
    assert_eq!(scheduled["schedule"], "fair");
    assert_eq!(
        (&scheduled["ran"], &scheduled["of"]),
        (&3.into(), &3.into())
    );
    let run = files(&place.reports(), "report.json").remove(0);
    let read = |name| fs::read_to_string(run.with_file_name(name)).unwrap();
    assert!(read("summary.md").contains("- schedule: 3 of seed 5\n"));
    assert!(read("junit.xml").contains(r#"name="schedules" value="3 of seed 5""#));
    let again = report["cases"][0]["repro"].as_str().unwrap();
    assert!(again.ends_with(" --schedules 3 --seed 5"), "{again}");
}

#[test]
fn a_failure_under_a_schedule_is_replayed_by_the_command_it_prints() {
    let place = Place::new(MINE);
    let ran = place.run(&["wrong::n=7", "--schedules", "3", "--image", "jit"]);
    let ran = ran.ends(1);
    let report = place.report("sim");
    let case = &report["cases"][0];
    // It fails whatever the schedule: the first decides.
    assert_eq!(case["scheduled"]["ran"], 1);
    let again =
        "cuda-gates run --device sim --image jit --exact mine::wrong::n=7::jit --schedule fair";
    assert_eq!(case["repro"], again);
    let run = files(&place.reports(), "report.json").remove(0);
    let read = |name| fs::read_to_string(run.with_file_name(name)).unwrap();
    for text in [ran.stdout, read("summary.md"), read("junit.xml")] {
        assert!(text.contains(&format!("again: {again}\n")), "{text}");
        let under = "under schedule fair, after 1 of 3 of seed 0\n";
        assert!(text.contains(under), "{text}");
    }
    fs::remove_dir_all(place.reports()).unwrap();
    let words: Vec<&str> = again.split(' ').skip(1).collect();
    // A shell that explores otherwise is no obstacle.
    let explores = [("CUDA_GATES_SCHEDULES", "20"), ("CUDA_GATES_SEED", "5")];
    place.run_with(&explores, &words).ends(1);
    let replayed = place.report("sim");
    assert_eq!(replayed["run"]["schedules"]["only"], "fair");
    assert_eq!(replayed["cases"][0]["findings"], case["findings"]);
}

#[test]
fn two_explorations_of_one_seed_are_equal_apart_from_times_ids_and_folders() {
    let small = [
        "compaction::atomic_count",
        "lookback_scan::",
        "aggregated::count",
    ];
    two_runs_are_equal(&[&small[..], &["--schedules", "3", "--seed", "5"]].concat());
}
