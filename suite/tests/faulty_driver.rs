//! Each fault of a driver or a card: what its case says, that the next case passes, and what the run ends with.

use super::*;

/// A fault that one case meets.
struct Fault {
    faults: &'static str,
    /// The start of the case's reason, and words further on: what happened, and what to do.
    reason: &'static str,
    words: &'static [&'static str],
}

/// Injected into the second case alone. The third one runs after it, in the same worker or a fresh one.
const FAULTS: &[Fault] = &[
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 700",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero: cuStreamSynchronize gave \
                 CUDA_ERROR_ILLEGAL_ADDRESS",
        words: &["--device sim", "compute-sanitizer"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 716",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero",
        words: &["CUDA_ERROR_MISALIGNED_ADDRESS", "--device sim"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 719",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero",
        words: &["CUDA_ERROR_LAUNCH_FAILED", "--device sim"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 710",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero",
        words: &["CUDA_ERROR_ASSERT", "`assert`"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 702",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero",
        words: &["CUDA_ERROR_LAUNCH_TIMEOUT", "watchdog"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 4242",
        reason: "kernel fault: waiting for the device, after launching mark_nonzero",
        words: &["code 4242, which this driver does not name"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): sticky 214",
        reason: "environment: waiting for the device",
        words: &["CUDA_ERROR_ECC_UNCORRECTABLE", "reset or replace"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): error 2",
        reason: "setup: launching: cuLaunchKernel gave CUDA_ERROR_OUT_OF_MEMORY",
        words: &["free memory on the card or choose a smaller size"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): error 701",
        reason: "setup: launching: cuLaunchKernel gave CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        words: &["more registers, threads or shared memory"],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): hang",
        reason: "hang: no answer within 1.5 s; the worker was killed",
        words: &[],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): abort",
        reason: "kernel fault: worker died: signal 6 (SIGABRT)",
        words: &[],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): kill",
        reason: "kernel fault: worker died: signal 9 (SIGKILL)",
        words: &[],
    },
    Fault {
        faults: "cuLaunchKernel(mark_nonzero): exit 3",
        reason: "kernel fault: worker died: exit code 3",
        words: &[],
    },
];

#[test]
fn a_fault_is_its_cases_alone() {
    let place = |fault: &Fault| {
        let clock = Instant::now();
        let ran = Place::new(THREE).run(fault.faults).ends(1);
        let faults = fault.faults;
        assert_eq!(ran.outcomes(), each(["pass", "error", "pass"]), "{faults}");
        let reason = ran.reason("faulty");
        assert!(reason.starts_with(fault.reason), "{faults}: {reason}");
        for words in fault.words {
            assert!(reason.contains(words), "{faults}: {reason}");
        }
        assert!(ran.report()["run"]["complete"] == true, "{faults}");
        // A hang costs its deadline, anything else next to nothing.
        assert!(clock.elapsed() < Duration::from_secs(30), "{faults}");
    };
    FAULTS.iter().for_each(place);
}

/// What no case can run with: its words with what to do, for every case, and exit code 3.
const ENVIRONMENTS: &[(&str, &[&str])] = &[
    (
        "stub=on",
        &["starting CUDA", "the toolkit's stub libcuda", "lib64/stubs"],
    ),
    (
        "cuInit: error 803",
        &[
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "reboot after the driver update",
        ],
    ),
    (
        "cuInit: error 100",
        &["CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES"],
    ),
    (
        "cuInit: error 802",
        &["CUDA_ERROR_SYSTEM_NOT_READY", "nvidia-fabricmanager"],
    ),
    ("cuInit: error 999", &["CUDA_ERROR_UNKNOWN", "nvidia_uvm"]),
    ("cards=0", &["CUDA sees no device", "nvidia-smi"]),
    (
        "cuDevicePrimaryCtxRetain: error 46",
        &["CUDA_ERROR_DEVICE_UNAVAILABLE", "compute mode"],
    ),
    (
        "memory=0",
        &[
            "opening Test card 0",
            "CUDA_ERROR_OUT_OF_MEMORY",
            "free memory",
        ],
    ),
    (
        "cuInit: abort",
        &["the worker did not start: worker died: signal 6 (SIGABRT)"],
    ),
    (
        "cuda=11.4",
        &[
            "the PTX is newer than this driver",
            "install a newer driver",
            "current version is '7.4'",
        ],
    ),
    (
        "cuModuleLoadDataEx: error 209",
        &["for another architecture", "CUDA_GATES_ARCHS"],
    ),
    (
        "cuModuleLoadDataEx: error 221",
        &["libnvidia-ptxjitcompiler", "`compute` capability"],
    ),
];

#[test]
fn a_machine_that_can_run_nothing_says_what_to_do() {
    for (faults, words) in ENVIRONMENTS {
        let ran = Place::new(THREE).run(faults).ends(3);
        assert_eq!(ran.outcomes(), each(["error"; 3]), "{faults}");
        for gate in ["before", "faulty", "after"] {
            let reason = ran.reason(gate);
            assert!(reason.starts_with("environment: "), "{faults}: {reason}");
            for words in *words {
                assert!(reason.contains(words), "{faults}: {reason}");
            }
        }
    }
}

/// The library without one of its functions: its name in the table of names is spoilt.
fn without(place: &Place, file: &str, function: &str) {
    let mut bytes = fs::read(library()).unwrap();
    let name = format!("\0{function}\0").into_bytes();
    let at: Vec<usize> = bytes
        .windows(name.len())
        .enumerate()
        .filter_map(|(at, window)| (window == name).then_some(at))
        .collect();
    assert!(!at.is_empty(), "no {function}");
    for at in at {
        bytes[at + 1] = b'X';
    }
    let path = place.lib(file);
    fs::remove_file(&path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn an_old_driver_that_lacks_a_function_is_named_by_it() {
    let place = Place::new(THREE);
    without(&place, "libcuda.so.1", "cuMemHostAlloc");
    let ran = place.run("").ends(3);
    let reason = ran.reason("before");
    assert_eq!(
        reason,
        "environment: libcuda lacks cuMemHostAlloc: this driver is too old (520 or newer is needed) or is not NVIDIA's"
    );
}

#[test]
fn a_driver_before_12_4_cannot_tell_parameters_and_need_not() {
    let place = Place::new(THREE);
    without(&place, "libcuda.so.1", "cuFuncGetParamInfo");
    assert_eq!(place.run("cuda=12.2").ends(0).outcomes(), each(["pass"; 3]));
}

#[test]
fn without_libcuda_the_mend_is_told() {
    let place = Place::new(THREE);
    fs::remove_file(place.lib("libcuda.so.1")).unwrap();
    fs::write(place.lib("libcuda.so.1"), "no library").unwrap();
    let ran = place.run("").ends(3);
    assert!(
        ran.reason("before").contains("no CUDA driver"),
        "{}",
        ran.reason("before")
    );
}

#[test]
fn without_nvml_cases_run_and_every_field_says_why() {
    let absent = Place::new(THREE);
    fs::remove_file(absent.lib("libnvidia-ml.so.1")).unwrap();
    fs::write(absent.lib("libnvidia-ml.so.1"), "no library").unwrap();
    for (place, faults, words) in [
        (absent, "", "libnvidia-ml.so.1 cannot be loaded"),
        (
            Place::new(THREE),
            "nvmlInit_v2: error 18",
            "reboot after the driver update",
        ),
        (Place::new(THREE), "nvmlInit_v2: error 9", "modprobe nvidia"),
    ] {
        let ran = place.run(faults).ends(0);
        assert_eq!(ran.outcomes(), each(["pass"; 3]));
        let device = &ran.report()["device"];
        for (name, field) in device["identity"].as_object().unwrap() {
            let why = field["unavailable"].as_str().unwrap_or_default();
            assert!(why.contains(words), "{name}: {field}");
        }
        let driver = ran
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with("driver"));
        assert!(
            driver.is_some_and(|line| line.contains(words)),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn a_partial_nvml_gives_what_it_has() {
    let place = Place::new(THREE);
    without(&place, "libnvidia-ml.so.1", "nvmlDeviceGetRemappedRows");
    let faults = "nvmlDeviceGetSerial: error 3; nvmlDeviceGetTemperature: value 91; \
                  nvmlDeviceGetPowerUsage: error 999; nvmlDeviceGetComputeMode: value 77";
    let ran = place.run(faults).ends(0);
    let device = &ran.report()["device"];
    assert_eq!(
        device["identity"]["serial"]["unavailable"],
        "not supported by this card or driver"
    );
    assert_eq!(
        device["identity"]["compute_mode"]["unavailable"],
        "a value newer than this program: 77"
    );
    assert_eq!(device["before"]["temperature_c"]["value"], 91);
    assert_eq!(
        device["before"]["remapped_rows"]["unavailable"],
        "this driver's NVML has no such call"
    );
    assert!(device["before"]["power_draw_mw"]["unavailable"].is_string());
    assert_eq!(device["identity"]["name"]["value"], "Test card 0");
}

#[test]
fn an_xid_during_the_run_is_in_its_report() {
    let ran = Place::new(THREE)
        .run("cuLaunchKernel(mark_nonzero)#1: xid 43")
        .ends(0);
    let report = ran.report();
    let xid = serde_json::json!([43]);
    assert_eq!(report["device"]["after"]["xid_events"]["value"], xid);
    assert_eq!(report["cases"][1]["health"]["xid_events"], xid);
    for other in [0, 2] {
        assert!(report["cases"][other]["health"]["xid_events"].is_null());
    }
}

/// Kernels that really do it, through the driver's calls, instead of an injected fault.
#[test]
fn kernels_that_fault_by_themselves_are_told_like_ordered_faults() {
    const OWN: &str = r#"
version: 1
suite: own
title: A kernel that reads where no word starts
kernels: [compaction.cu, faulty/memory.cu]
axes: {n: [300]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
  misaligned: [{kernel: copy_misaligned, grid: 4, block: 64, args: [input, out, n]}]
  past: [{kernel: copy_past_end, grid: 4, block: 64, args: [input, out, n]}]
gates:
  before: {run: past, check: exact, got: out, want: {copy: input}}
  faulty: {run: misaligned, check: exact, got: out, want: {copy: input}}
  after: {run: copied, check: exact, got: out, want: {copy: input}}
"#;
    let ran = Place::new(OWN).run("").ends(1);
    // The first writes into a guard band: wrong, but no fault.
    assert_eq!(ran.outcomes(), each(["fail", "error", "pass"]));
    let reason = ran.reason("faulty");
    assert!(reason.contains("CUDA_ERROR_MISALIGNED_ADDRESS"), "{reason}");
}

#[test]
fn a_case_that_does_not_fit_says_how_much_there_is() {
    const SIZES: &str = r#"
version: 1
suite: sizes
title: One size too large for what others leave
kernels: [compaction.cu]
axes: {n: [300, 4194304, 301]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
gates:
  copies: {run: copied, check: exact, got: out, want: {copy: input}}
"#;
    let ran = Place::new(SIZES).run("memory=64; taken=40").ends(1);
    let outcomes: Vec<String> = ran
        .outcomes()
        .into_iter()
        .map(|(_, outcome)| outcome)
        .collect();
    assert_eq!(outcomes, ["pass", "error", "pass"]);
    let reason = ran.report()["cases"][1]["reason"]["message"].to_string();
    assert!(
        reason.contains("a buffer of 16 MiB does not fit: Test card 0 has ")
            && reason.contains("free of 64 MiB"),
        "{reason}"
    );
}

#[test]
#[ignore = "takes four minutes: each driver is given one to start"]
fn a_driver_that_hangs_at_its_start_ends_the_run_in_a_minute() {
    for (device, faults, code, words) in [
        (
            "cuda",
            "cuInit: hang",
            3,
            "the worker did not start: no answer within 60 s",
        ),
        (
            "all",
            "cuInit: hang",
            3,
            "cannot list the CUDA devices: no answer within 60 s",
        ),
        (
            "cuda",
            "nvmlInit_v2: hang",
            0,
            "unknown (environment: NVML gave no answer within 60 s",
        ),
    ] {
        let clock = Instant::now();
        let ran = Place::new(THREE).run_on(device, faults, &[]).ends(code);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(words), "{faults}: {said}");
        assert!(clock.elapsed() < Duration::from_secs(75), "{faults}");
    }
    let told = listed_devices("cuInit: hang");
    let words = "no CUDA device: cannot list the CUDA devices: no answer within 60 s; the process was killed";
    assert!(told.contains(words), "{told}");
}

/// What `cuda-gates devices` says; it never fails.
fn listed_devices(faults: &str) -> String {
    let output = Place::new(THREE).command(faults).arg("devices").output();
    let output = output.unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    stdout
}

#[test]
fn devices_are_listed_whatever_the_driver_does() {
    let told = listed_devices("cards=2");
    assert!(told.contains("cuda:1  Test card 1"), "{told}");
    let told = listed_devices("cuInit: abort");
    let words = "no CUDA device: cannot list the CUDA devices: the process that asked the driver ended: signal: 6";
    assert!(told.contains(words) && told.contains("\nsim "), "{told}");
}
