//! An NVML that ends or holds up the process it is asked in: cases run and pass, and the report says why it knows
//! nothing.

use std::collections::BTreeSet;

use cuda_gates::identity;
use cuda_gates::worker::{NvmlLaunch, NvmlProcess};

use super::troubled_cards::{findings, health};
use super::*;

/// Each field's reason in a part of the report's device; the fields with a value have none.
fn reasons(ran: &Ran, part: &str) -> Vec<(String, Option<String>)> {
    let fields = ran.report()["device"][part].as_object().unwrap();
    let reason = |field: &Value| field["unavailable"].as_str().map(str::to_owned);
    fields
        .iter()
        .map(|(name, field)| (name.clone(), reason(field)))
        .collect()
}

#[track_caller]
fn says_everywhere(ran: &Ran, part: &str, words: &str) {
    let fields = reasons(ran, part);
    assert!(fields.len() > 15, "{part}: {fields:?}");
    for (name, reason) in fields {
        let reason = reason.unwrap_or_default();
        assert!(reason.starts_with(words), "{part}, {name}: {reason}");
    }
}

/// All but `but` are known.
#[track_caller]
fn is_known(ran: &Ran, part: &str, but: &[&str]) {
    for (name, reason) in reasons(ran, part) {
        let unknown = but.contains(&name.as_str()) || name == "mig_uuid";
        assert_eq!(reason.is_some(), unknown, "{part}, {name}: {reason:?}");
    }
}

#[test]
fn an_nvml_that_never_works_is_every_fields_reason() {
    for (orders, words) in [
        ("nvmlInit_v2: abort", "signal 6 (SIGABRT)"),
        ("nvmlInit_v2: kill", "signal 9 (SIGKILL)"),
        ("nvmlDeviceGetHandleByUUID: exit 3", "exit code 3"),
        // One field of many.
        ("nvmlDeviceGetTemperature: abort", "signal 6 (SIGABRT)"),
    ] {
        let ran = Place::new(THREE).run(orders).ends(0);
        assert_eq!(ran.outcomes(), each(["pass"; 3]), "{orders}");
        assert_eq!(ran.report()["run"]["complete"], true);
        let words = format!("environment: NVML ended its process: {words}");
        for part in ["identity", "before", "after"] {
            says_everywhere(&ran, part, &words);
        }
        assert!(ran.report()["cases"][0]["health"].is_null());
        let driver = format!("({words}");
        assert!(ran.stdout.contains(&driver), "{}", ran.stdout);
    }
}

/// The first reading is the run's beginning, the second the first case's.
#[test]
fn an_nvml_that_dies_in_a_run_is_asked_once_more_at_its_end() {
    for (deed, words) in [
        ("abort", "signal 6 (SIGABRT)"),
        ("kill", "signal 9 (SIGKILL)"),
        ("exit 3", "exit code 3"),
    ] {
        let orders = format!("nvmlDeviceGetTemperature#2: {deed}");
        let ran = Place::new(THREE).run(&orders).ends(0);
        assert_eq!(ran.outcomes(), each(["pass"; 3]), "{deed}");
        let report = ran.report();
        assert_eq!(report["run"]["complete"], true);
        assert_eq!(report["run"]["problems"], Value::Null, "{deed}");
        is_known(&ran, "identity", &[]);
        is_known(&ran, "before", &[]);
        is_known(&ran, "after", &["xid_events"]);
        let xid = &report["device"]["after"]["xid_events"]["unavailable"];
        let words = format!("environment: NVML ended its process: {words}");
        assert_eq!(*xid, words.as_str());
    }
}

#[test]
fn xid_errors_from_before_the_end_stay() {
    // Each case asks for them before and after.
    let orders = "cuLaunchKernel(copy)#1: xid 13; nvmlEventSetWait_v2#5: kill";
    let ran = Place::new(THREE).run(orders).ends(0);
    assert_eq!(ran.outcomes(), each(["pass"; 3]));
    let xid = &ran.report()["device"]["after"]["xid_events"]["value"];
    let words = "environment: NVML ended its process: signal 9 (SIGKILL)";
    assert_eq!(*xid, serde_json::json!([13, words]));
}

#[test]
fn a_health_gate_in_which_nvml_dies_fails_and_the_next_is_skipped() {
    // A health gate reads before and after its case: the fifth time is after the second case.
    let place = Place::new(&health(""));
    let ran = place.run("nvmlDeviceGetTemperature#5: kill").ends(1);
    assert_eq!(ran.outcomes(), each(["pass", "fail", "skip"]));
    let words = "ecc_uncorrected_volatile was 0 before the case and cannot be read after it: \
                 environment: NVML ended its process: signal 9 (SIGKILL)";
    let found = findings(&ran);
    assert!(found.iter().any(|found| found == words), "{found:?}");
    let reason = ran.reason("after");
    let words = "the card's health cannot be read: environment: NVML ended its process: signal 9";
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn each_card_of_two_has_its_own() {
    let orders = "cards=2; nvmlDeviceGetTemperature#2: kill";
    let place = Place::new(THREE);
    let ran = place.run_on("all", orders, &[]).ends(0);
    assert_eq!(ran.reports.len(), 2, "{}", ran.stdout);
    for (index, report) in ran.reports.iter().enumerate() {
        assert_eq!(outcomes(report), each(["pass"; 3]));
        let after = &report["device"]["after"];
        assert!(after["xid_events"]["unavailable"].is_string(), "{after}");
        let serial = &report["device"]["identity"]["serial"]["value"];
        assert_eq!(*serial, format!("TEST-{index}"));
    }
}

/// Processes that ask NVML for this one.
fn asking_for(owner: u32) -> BTreeSet<u32> {
    let parent = format!("\nPPid:\t{owner}\n");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        if read("cmdline").contains("--nvml") && read("status").contains(&parent) {
            found.extend(entry.file_name().to_string_lossy().parse::<u32>());
        }
    }
    found
}

#[test]
fn it_does_not_outlive_the_run() {
    for orders in ["cuLaunchKernel(copy): hang", "nvmlInit_v2: hang"] {
        let place = Place::new(THREE);
        let mut run = place
            .command(orders)
            .args(["run", "--device", "cuda", "--image", "jit"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let until = |what: &str, is: &dyn Fn() -> bool| {
            while !is() {
                assert!(Instant::now() < deadline, "{orders}: {what}");
                thread::sleep(Duration::from_millis(10));
            }
        };
        until("none is started", &|| !asking_for(run.id()).is_empty());
        // Inside NVML, or past its first answers.
        thread::sleep(Duration::from_millis(300));
        let asking = asking_for(run.id());
        run.kill().unwrap();
        run.wait().unwrap();
        let is_gone = |pid: &u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.is_empty() || status.contains("\nState:\tZ")
        };
        until("it outlives the run", &|| asking.iter().all(is_gone));
    }
}

/// What an answer costs beside NVML's own time: here there is none, or it is asked for a card that is not there.
#[test]
fn an_answer_comes_within_a_millisecond() {
    let mut launch = NvmlLaunch::this_executable();
    launch.program = env!("CARGO_BIN_EXE_cuda-gates").into();
    let mut nvml = NvmlProcess::start(launch);
    nvml.watch(Some("GPU-00000000-0000-0000-0000-000000000000"));
    let reason = nvml.unavailable().unwrap_or_default().to_owned();
    assert!(!reason.contains("its process"), "{reason}");
    let mut took: Vec<Duration> = (0..1000)
        .map(|_| {
            let clock = Instant::now();
            let reading = nvml.read();
            let took = clock.elapsed();
            assert_eq!(reading, identity::unread(&reason));
            took
        })
        .collect();
    took.sort_unstable();
    let (median, late) = (took[500], took[990]);
    println!("a reading: median {median:?}, 99 of 100 within {late:?}");
    assert!(median < Duration::from_millis(1), "{median:?}");
}

#[test]
#[ignore = "takes two minutes: NVML is given one for each answer"]
fn an_nvml_that_hangs_in_a_run_costs_it_a_minute() {
    let clock = Instant::now();
    let ran = Place::new(THREE)
        .run("nvmlDeviceGetTemperature#2: hang")
        .ends(0);
    assert_eq!(ran.outcomes(), each(["pass"; 3]));
    assert_eq!(ran.report()["run"]["complete"], true);
    is_known(&ran, "after", &["xid_events"]);
    let xid = &ran.report()["device"]["after"]["xid_events"]["unavailable"];
    let words = "environment: NVML gave no answer within 60 s; its process was killed";
    assert!(xid.as_str().unwrap().starts_with(words), "{xid}");
    assert!(clock.elapsed() < Duration::from_secs(75));
}
