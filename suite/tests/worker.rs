//! The supervisor against workers that hang, crash, lie and flood.
//!
//! The target owns its `main`, because a worker is the same executable started again: with the worker's argument
//! it plays the part that the case's id names.

mod pools;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{self, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cuda_gates::device::DeviceInfo;
use cuda_gates::device::sim::Schedule;
use cuda_gates::outcome::Fault;
use cuda_gates::report::record::CaseRecord;
use cuda_gates::runner::harness;
use cuda_gates::terms::DeviceKind;
use cuda_gates::terms::ImageKind;
use cuda_gates::terms::{Outcome, ReasonKind};
use cuda_gates::worker::execute::{Progress, Tell};
use cuda_gates::worker::{
    self, Address, Answer, Execute, Launch, Pool, Reached, Supervisor, WORKER_ARGUMENT,
    WorkerConfig,
};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(WORKER_ARGUMENT) => worker::serve(Actor::cast),
        Some(ORPHANAGE) => leave_an_orphan(),
        _ => harness::run_tests(&[
            ("a_case_that_passes_keeps_its_worker", passes),
            ("what_a_kernel_prints_goes_with_its_case", prints),
            ("a_flood_of_output_neither_blocks_nor_grows", flood),
            ("a_hang_is_killed_at_its_deadline", hangs),
            ("a_hang_that_floods_is_killed_too", floods_forever),
            ("an_abort_ends_one_case_only", aborts),
            (
                "a_failed_allocation_is_setup_and_ends_one_case_only",
                runs_out_of_memory,
            ),
            ("an_exit_tells_its_code_and_last_lines", exits),
            ("a_panic_ends_one_case_only", panics),
            ("garbage_on_the_socket_ends_one_case_only", garbage),
            ("an_endless_line_is_cut_off", endless_line),
            ("a_closed_socket_with_a_live_process", closes),
            ("a_lost_device_gets_a_fresh_worker", loses_device),
            ("a_death_between_cases_costs_no_case", dies_idle),
            ("no_device_is_remembered", no_device),
            (
                "a_fresh_worker_with_another_device_ends_the_run",
                another_device,
            ),
            ("a_worker_that_never_starts_is_remembered", never_starts),
            ("a_program_that_is_missing_is_environment", missing_program),
            ("an_unknown_case_is_setup", unknown_case),
            ("variables_that_change_the_driver_are_cleared", environment),
            (
                "each_schedule_of_a_case_has_the_deadline_for_itself",
                each_schedule_has_its_deadline,
            ),
            (
                "a_run_that_hangs_names_its_schedule",
                names_the_schedule_that_hangs,
            ),
            (
                "a_failure_outlives_the_search_for_a_simpler_schedule",
                failure_outlives_the_search,
            ),
            (
                "what_goes_wrong_at_no_case_is_the_pools_to_tell",
                pools::told_by_the_pool,
            ),
            ("a_pool_runs_cases_side_by_side", pools::side_by_side),
            (
                "a_pool_remembers_for_all_its_workers",
                pools::pool_remembers,
            ),
            ("a_worker_does_not_outlive_its_supervisor", orphan),
        ]),
    }
}

/// Makes this executable a supervisor that dies while its worker is at a case.
const ORPHANAGE: &str = "__orphanage";

struct Actor {
    lost: bool,
    /// What it does when it is to close its device.
    at_close: String,
    /// The device that it says it has.
    uuid: Option<String>,
}

impl Actor {
    fn cast(config: WorkerConfig) -> Result<Self, Fault> {
        match config.device {
            Address::Ordinal(7) => {
                print!("looked for a device");
                Err(Fault::environment("no such device"))
            }
            Address::Ordinal(8) => {
                eprintln!("driver initialisation failed");
                process::exit(9)
            }
            Address::Ordinal(9) => sleep_forever(),
            _ => {
                // What stands in the file that a test wrote.
                let file = config.specs.map(std::fs::read_to_string);
                let uuid = file.map(|text| text.unwrap());
                Ok(Self {
                    lost: false,
                    at_close: String::new(),
                    uuid,
                })
            }
        }
    }

    fn play(&mut self, id: &str) -> Result<(), Fault> {
        let (act, rest) = id.split_once(':').unwrap_or((id, ""));
        match act {
            "pass" => {}
            "sleep" => thread::sleep(Duration::from_millis(rest.parse().unwrap())),
            "print" => {
                print!("out {rest}");
                eprint!("err {rest}");
            }
            "flood" => (0..100_000).for_each(|i| println!("line {i} of a long tale told twice")),
            "flood forever" => loop {
                println!("again");
            },
            "hang" => sleep_forever(),
            "abort" => process::abort(),
            "allocate" => {
                let layout = std::alloc::Layout::new::<[u8; 4096]>();
                std::alloc::handle_alloc_error(layout)
            }
            "exit" => {
                eprintln!("first\n\nthe last words");
                process::exit(3)
            }
            "panic" => panic!("the executor broke"),
            "garbage" => write_to_socket(b"0x7f3a garbage\n"),
            "endless" => loop {
                write_to_socket(&[b'x'; 65536]);
            },
            "close" => {
                socket().shutdown(std::net::Shutdown::Both).unwrap();
                sleep_forever()
            }
            "lose" => self.lost = true,
            "at close" => rest.clone_into(&mut self.at_close),
            "die later" => {
                thread::spawn(|| {
                    thread::sleep(Duration::from_millis(50));
                    process::exit(0)
                });
            }
            _ => return Err(Fault::setup(format!("no case {id}"))),
        }
        Ok(())
    }
}

impl Execute for Actor {
    fn hello(&mut self) -> Result<DeviceInfo, Fault> {
        Ok(DeviceInfo {
            kind: DeviceKind::Sim,
            name: "actor".into(),
            uuid: self.uuid.clone(),
            compute_capability: (7, 5),
            cuda_driver_version: None,
            total_memory_bytes: 0,
            l2_bytes: 0,
        })
    }

    fn run(&mut self, id: &str, tell: &mut Tell<'_>) -> Result<CaseRecord, Fault> {
        if let Some(rest) = id.strip_prefix("schedules:") {
            return explore(rest, tell);
        }
        self.play(id)?;
        Ok(record(id))
    }

    fn lost(&self) -> bool {
        self.lost
    }

    fn close(self) -> Vec<String> {
        match self.at_close.as_str() {
            "" => return Vec::new(),
            "abort" => {
                eprintln!("double free");
                process::abort()
            }
            "exit" => process::exit(0),
            "hang" => sleep_forever(),
            "garbage" => write_to_socket(b"0x7f3a garbage\n"),
            words => return vec![words.to_owned()],
        }
        Vec::new()
    }
}

/// A case of several runs, each of 300 ms; `stuck` in one, or once it has failed.
fn explore(act: &str, tell: &mut Tell<'_>) -> Result<CaseRecord, Fault> {
    let mut failed = record("schedules");
    failed.outcome = Outcome::Fail;
    for number in 0..4 {
        tell(Progress::Begins(Schedule::nth(7, number)));
        thread::sleep(Duration::from_millis(300));
        match (act, number) {
            ("stuck", 2) => sleep_forever(),
            ("failed and stuck", 2) => tell(Progress::Failed(&failed)),
            ("failed and stuck", 3) => sleep_forever(),
            _ => {}
        }
    }
    Ok(record("schedules"))
}

/// Its `values` tell the process and its environment.
fn record(id: &str) -> CaseRecord {
    let mut values = std::collections::BTreeMap::new();
    values.insert("process".to_owned(), process::id().into());
    for name in ["CUDA_FORCE_PTX_JIT", "CUDA_CACHE_DISABLE"] {
        values.insert(name.to_owned(), std::env::var(name).ok().into());
    }
    CaseRecord {
        id: id.to_owned(),
        suite: "worker".into(),
        gate: "act".into(),
        subject: String::new(),
        check: "exact".into(),
        image: ImageKind::Jit,
        params: Default::default(),
        outcome: Outcome::Pass,
        expected: None,
        reason: None,
        findings: Vec::new(),
        waiver: None,
        health: None,
        reported: Default::default(),
        values,
        timings: Default::default(),
        skipped_rows: Default::default(),
        not_judged: Default::default(),
        duration_ms: 0.0,
        scheduled: None,
        kernels: Vec::new(),
        repro: String::new(),
    }
}

fn sleep_forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(60));
    }
}

fn socket() -> UnixStream {
    UnixStream::from(io::stdin().as_fd().try_clone_to_owned().unwrap())
}

fn write_to_socket(bytes: &[u8]) {
    socket().write_all(bytes).unwrap();
}

// The tests.

fn launch(device: Address, case_deadline_ms: u64) -> Launch {
    let mut launch = Launch::this_executable(WorkerConfig::new(device)).unwrap();
    launch.startup_deadline = Duration::from_secs(20);
    launch.case_deadline = Duration::from_millis(case_deadline_ms);
    launch
}

fn supervisor() -> Supervisor {
    Supervisor::new(launch(Address::Sim, 20_000))
}

fn each_schedule_has_its_deadline() {
    let mut supervisor = Supervisor::new(launch(Address::Sim, 1_000));
    let answer = supervisor.run("schedules:pass");
    assert_eq!(answer.result.unwrap().outcome, Outcome::Pass);
    assert_eq!(answer.reached, None);
}

fn names_the_schedule_that_hangs() {
    let mut supervisor = Supervisor::new(launch(Address::Sim, 1_000));
    let answer = supervisor.run("schedules:stuck");
    assert_eq!(answer.result.unwrap_err().reason.kind, ReasonKind::Hang);
    let schedule = Schedule::nth(7, 2);
    assert_eq!(answer.reached, Some(Reached { schedule, runs: 3 }));
    // The next case is not told of it.
    let answer = supervisor.run("hang");
    assert_eq!(answer.reached, None);
}

fn failure_outlives_the_search() {
    let mut supervisor = Supervisor::new(launch(Address::Sim, 1_000));
    let answer = supervisor.run("schedules:failed and stuck");
    assert_eq!(answer.result.unwrap().outcome, Outcome::Fail);
    assert!(supervisor.run("pass").result.is_ok());
}

/// The process that answered.
fn process_of(answer: &Answer) -> u64 {
    let record = answer.result.as_ref().expect("an answer");
    assert_eq!(record.outcome, Outcome::Pass);
    record.values["process"].as_u64().unwrap()
}

fn fault_of(answer: Answer) -> Fault {
    answer.result.expect_err("no record")
}

/// A case ends with this kind and these words, soon, and the next case runs as if nothing had been.
fn breaks(supervisor: &mut Supervisor, id: &str, kind: ReasonKind, words: &[&str]) -> Answer {
    let before = process_of(&supervisor.run("pass"));
    let answer = supervisor.run(id);
    let fault = answer.result.as_ref().expect_err("no record");
    assert_eq!(fault.reason.kind, kind, "{fault}");
    for word in words {
        assert!(fault.reason.message.contains(word), "{fault}");
    }
    assert_ne!(process_of(&supervisor.run("pass")), before);
    answer
}

fn passes() {
    let mut supervisor = supervisor();
    let first = process_of(&supervisor.run("pass"));
    assert_eq!(process_of(&supervisor.run("pass")), first);
    assert_ne!(first, u64::from(process::id()));
    assert_eq!(supervisor.device().unwrap().name, "actor");
    supervisor.open().unwrap();
    assert_eq!(process_of(&supervisor.run("pass")), first);
}

fn prints() {
    let mut supervisor = supervisor();
    for turn in ["one", "two"] {
        let answer = supervisor.run(&format!("print:{turn}"));
        assert_eq!(answer.output.stdout, format!("out {turn}"));
        assert_eq!(answer.output.stderr, format!("err {turn}"));
    }
    assert_eq!(supervisor.run("pass").output, worker::Output::default());
}

fn flood() {
    let answer = supervisor().run("flood");
    process_of(&answer);
    let text = &answer.output.stdout;
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.starts_with("line 0 of"), "{}", &text[..40]);
    assert!(text.ends_with("line 99999 of a long tale told twice\n"));
    assert!(text.contains("bytes left out"));
}

fn hangs() {
    let mut supervisor = Supervisor::new(launch(Address::Sim, 300));
    let start = Instant::now();
    breaks(
        &mut supervisor,
        "hang",
        ReasonKind::Hang,
        &["0.3 s", "killed"],
    );
    assert!(start.elapsed() < Duration::from_secs(10));
}

fn floods_forever() {
    let mut supervisor = Supervisor::new(launch(Address::Sim, 300));
    let answer = breaks(
        &mut supervisor,
        "flood forever",
        ReasonKind::Hang,
        &["0.3 s"],
    );
    assert!(answer.output.stdout.starts_with("again\nagain\n"));
}

fn aborts() {
    let words = ["worker died", "signal 6 (SIGABRT)"];
    breaks(&mut supervisor(), "abort", ReasonKind::KernelFault, &words);
}

fn runs_out_of_memory() {
    let words = ["out of memory", "4096 bytes"];
    breaks(&mut supervisor(), "allocate", ReasonKind::Setup, &words);
}

fn exits() {
    let words = ["worker died", "exit code 3", "first | the last words"];
    breaks(&mut supervisor(), "exit", ReasonKind::KernelFault, &words);
}

fn panics() {
    let words = ["worker died", "exit code 101", "the executor broke"];
    breaks(&mut supervisor(), "panic", ReasonKind::KernelFault, &words);
}

fn garbage() {
    let words = ["no answer", "0x7f3a garbage"];
    breaks(
        &mut supervisor(),
        "garbage",
        ReasonKind::KernelFault,
        &words,
    );
}

fn endless_line() {
    let words = ["no answer", "a line of more than"];
    breaks(
        &mut supervisor(),
        "endless",
        ReasonKind::KernelFault,
        &words,
    );
}

fn closes() {
    // The worker sees the end of its own socket and ends itself, or is killed for going on.
    breaks(
        &mut supervisor(),
        "close",
        ReasonKind::KernelFault,
        &["worker"],
    );
}

fn loses_device() {
    let mut supervisor = supervisor();
    let first = process_of(&supervisor.run("pass"));
    assert_eq!(process_of(&supervisor.run("lose")), first);
    let second = process_of(&supervisor.run("pass"));
    assert_ne!(second, first);
    assert_eq!(process_of(&supervisor.run("pass")), second);
}

fn dies_idle() {
    let mut supervisor = supervisor();
    let first = process_of(&supervisor.run("die later"));
    thread::sleep(Duration::from_millis(500));
    assert_ne!(process_of(&supervisor.run("pass")), first);
}

fn no_device() {
    let mut supervisor = Supervisor::new(launch(Address::Ordinal(7), 20_000));
    let first = supervisor.run("pass");
    assert_eq!(first.output.stdout, "looked for a device");
    let first = fault_of(first);
    assert_eq!(first.to_string(), "environment: no such device");
    let start = Instant::now();
    for _ in 0..1000 {
        let next = supervisor.run("pass");
        assert_eq!(next.output.stdout, "");
        assert_eq!(fault_of(next), first);
    }
    assert!(start.elapsed() < Duration::from_secs(1));
}

fn another_device() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let write = |uuid: &str| std::fs::write(file.path(), uuid).unwrap();
    let mut launch = launch(Address::Ordinal(0), 20_000);
    launch.config.specs = Some(file.path().to_owned());
    let mut supervisor = Supervisor::new(launch);
    write("GPU-1");
    process_of(&supervisor.run("lose"));
    process_of(&supervisor.run("lose"));
    write("GPU-2");
    let fault = fault_of(supervisor.run("pass"));
    assert_eq!(fault.reason.kind, ReasonKind::Environment);
    let words = "the run began on actor (GPU-1), and a fresh worker got actor (GPU-2)";
    assert!(fault.reason.message.starts_with(words), "{fault}");
    // Whatever card comes then, results of two would be mixed by chance.
    write("GPU-1");
    assert_eq!(fault_of(supervisor.run("pass")), fault);
    assert_eq!(supervisor.device().unwrap().uuid.as_deref(), Some("GPU-1"));
}

fn never_starts() {
    let mut supervisor = Supervisor::new(launch(Address::Ordinal(8), 20_000));
    let fault = fault_of(supervisor.run("pass"));
    assert_eq!(fault.reason.kind, ReasonKind::Environment);
    for word in [
        "did not start",
        "exit code 9",
        "driver initialisation failed",
    ] {
        assert!(fault.reason.message.contains(word), "{fault}");
    }
    assert_eq!(fault_of(supervisor.run("pass")), fault);

    let mut silent = launch(Address::Ordinal(9), 20_000);
    silent.startup_deadline = Duration::from_millis(300);
    let mut supervisor = Supervisor::new(silent);
    let fault = fault_of(supervisor.run("pass"));
    assert_eq!(fault.reason.kind, ReasonKind::Environment);
    assert!(fault.reason.message.contains("0.3 s"), "{fault}");
    let start = Instant::now();
    assert_eq!(fault_of(supervisor.run("pass")), fault);
    assert!(start.elapsed() < Duration::from_millis(100));
}

fn missing_program() {
    let mut launch = launch(Address::Sim, 20_000);
    launch.program = "/no/such/program".into();
    let fault = fault_of(Supervisor::new(launch).run("pass"));
    assert_eq!(fault.reason.kind, ReasonKind::Environment);
    assert!(fault.reason.message.contains("/no/such/program"), "{fault}");
}

fn unknown_case() {
    let mut supervisor = supervisor();
    let first = process_of(&supervisor.run("pass"));
    let fault = fault_of(supervisor.run("never heard of"));
    assert_eq!(fault.to_string(), "setup: no case never heard of");
    assert_eq!(process_of(&supervisor.run("pass")), first);
}

fn environment() {
    // A process of its own, since this one's environment is every test's.
    if std::env::var_os("CUDA_FORCE_PTX_JIT").is_some() {
        assert_eq!(worker::cleared()["CUDA_FORCE_PTX_JIT"], "1");
        let record = supervisor().run("pass").result.unwrap();
        assert!(record.values["CUDA_FORCE_PTX_JIT"].is_null());
        assert_eq!(record.values["CUDA_CACHE_DISABLE"], "1");
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "variables_that_change_the_driver_are_cleared"])
        .env("CUDA_FORCE_PTX_JIT", "1")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

fn orphan() {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg(ORPHANAGE)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let process: u32 = text.trim().parse().expect("the worker's process id");
    let deadline = Instant::now() + Duration::from_secs(10);
    while runs(process) {
        assert!(Instant::now() < deadline, "worker {process} still runs");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process runs (a zombie that nobody reaps has ended).
fn runs(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("").starts_with('Z'))
}

fn leave_an_orphan() -> ExitCode {
    let mut supervisor = supervisor();
    println!("{}", process_of(&supervisor.run("pass")));
    thread::spawn(move || supervisor.run("hang"));
    thread::sleep(Duration::from_millis(200));
    // No destructor runs, as when it is killed.
    process::abort()
}
