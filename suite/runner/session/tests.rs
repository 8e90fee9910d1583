//! Sessions over a worker that is a shell script: it answers what the test gave it, by the case's gate.

mod joined;
mod resumed;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use indexmap::IndexMap;

use super::*;
use crate::archive::State;
use crate::identity::Field;
use crate::report::record::WaiverState;
use crate::report::{case_from_line, case_to_line};
use crate::runner::direct;
use crate::spec::model::{Block, Check, Expr, Gate, Place};
use crate::terms::ImageKind;
use crate::worker::{Address, Launch, WorkerConfig};

/// `$1`: the answer to hello, `$2`: the record of a case, with `ID` for its id.
const WORKER: &str = r#"
exec 3>&0
read -r hello
printf '%s\n' "$1" >&3
while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    case "$line" in
    *die*) echo "out of memory" >&2; kill -9 $$ ;;
    *hang_expected_late*) printf '"launches"\n' >&3; exec sleep 100 ;;
    *hang*) exec sleep 100 ;;
    *stuck*) printf '{"begins":{"schedule":"%s"}}\n' fair random:7 >&3; exec sleep 100 ;;
    *'"bye"'*) [ -n "$at_bye" ] && kill -6 $$; printf '{"closed":{"failed":[]}}\n' >&3; exit 0 ;;
    *ends_badly*) at_bye=die ;;
    *print*) printf 'from a kernel' ;;
    esac
    case "$line" in
    *fail*) outcome=fail ;;
    *) outcome=pass ;;
    esac
    printf '%s\n' "$2" | sed "s/ID/$id/; s/OUTCOME/$outcome/" >&3
done
"#;

const READY: &str = r#"{"ready":{"version":1,"device":{"kind":"sim","name":"script","uuid":null,
"compute_capability":[7,5],"cuda_driver_version":null,"total_memory_bytes":0,"l2_bytes":0}}}"#;
const REFUSED: &str = r#"{"refused":{"reason":{"kind":"environment","message":"no card"}}}"#;

fn case(gate: &str) -> Case {
    Case {
        id: format!("s::{gate}::jit"),
        suite: "s".into(),
        block: 0,
        gate: gate.into(),
        subject: String::new(),
        check: "assert".into(),
        image: ImageKind::Jit,
        params: IndexMap::new(),
    }
}

/// A suite whose gates `hang_expected_late` and `hang_expected_early` expect to hang.
fn suite() -> Suite {
    let that = Expr {
        source: "true".into(),
        place: Place::default(),
    };
    let gate = Gate {
        subject: None,
        check: Check::Assert {
            run: "run".into(),
            that,
        },
        expect: Expect::Error {
            kind: ReasonKind::Hang,
        },
        devices: Vec::new(),
        report: IndexMap::new(),
        place: Place::default(),
    };
    Suite {
        name: "s".into(),
        title: String::new(),
        subject: String::new(),
        path: "specs/s.yaml".into(),
        sha256: "00".into(),
        kernels: Vec::new(),
        blocks: Vec::new(),
        lets: IndexMap::new(),
        require: Vec::new(),
        buffers: IndexMap::new(),
        pipelines: IndexMap::new(),
        gates: ["late", "early"]
            .map(|when| (format!("hang_expected_{when}"), gate.clone()))
            .into(),
        must_run: Default::default(),
        tables: IndexMap::new(),
    }
}

fn answer() -> String {
    let mut record = unjudged(
        &case("ID"),
        Outcome::Pass,
        Reason::new(ReasonKind::Setup, ""),
    );
    record.id = "ID".into();
    record.reason = None;
    let line = case_to_line(&record).unwrap();
    let line = line.replace(r#""outcome":"pass""#, r#""outcome":"OUTCOME""#);
    format!(r#"{{"result":{{"record":{},"lost":false}}}}"#, line.trim())
}

fn session(reports: &Path, hello: &str, gates: &[&str]) -> Session {
    session_under(Schedules::default(), reports, hello, gates)
}

fn session_under(schedules: Schedules, reports: &Path, hello: &str, gates: &[&str]) -> Session {
    let hello = hello.replace('\n', "");
    let words = ["-c", WORKER, "worker", &hello, &answer()];
    let launch = Launch {
        program: "sh".into(),
        arguments: words.iter().map(OsString::from).collect(),
        config: WorkerConfig::new(Address::Sim),
        startup_deadline: Duration::from_secs(20),
        case_deadline: Duration::from_secs(2),
    };
    Session::new(Parts {
        chosen: Chosen {
            address: Address::Sim,
            found: None,
        },
        profile: Profile::Quick,
        images: vec![ImageKind::Jit],
        suites: vec![suite()],
        waivers: Waivers::default(),
        cases: gates
            .iter()
            .map(|gate| PlannedCase {
                case: case(gate),
                decided: gate
                    .starts_with("skip")
                    .then(|| Reason::new(ReasonKind::Unsupported, "not here")),
            })
            .collect(),
        filtered: false,
        store: Store::open(reports),
        joined: None,
        redact: false,
        pool: Pool::new(launch, 2),
        nvml: NvmlLaunch {
            program: "/bin/sh".into(),
            arguments: ["-c", "exit 3"].map(Into::into).to_vec(),
            limit: Duration::from_secs(60),
        },
        schedules,
        choices: None,
        repro: Box::new(|id, schedule| match schedule {
            None => format!("again {id}"),
            Some(schedule) => format!("again {id} under {schedule}"),
        }),
    })
}

#[test]
fn a_case_that_hangs_under_a_schedule_is_run_again_under_it() {
    let reports = tempfile::tempdir().unwrap();
    let explored = Schedules::explore(3, 9);
    let session = session_under(explored, reports.path(), READY, &["stuck", "a", "hang"]);
    direct::run(&session, 1, false);
    let report = session.finish().report.unwrap();
    assert_eq!(report.run.schedules, explored.record());
    let [stuck, fine, hang] = &report.cases[..] else {
        panic!("{report:?}")
    };
    assert_eq!(stuck.outcome, Outcome::Error);
    let scheduled = stuck.scheduled.expect("it told its schedules");
    assert_eq!(scheduled.schedule.to_string(), "random:7");
    assert_eq!((scheduled.ran, scheduled.of), (2, 9));
    assert_eq!(stuck.repro, "again s::stuck::jit under random:7");
    assert_eq!(fine.repro, "again s::a::jit");
    // It hung before its first schedule.
    assert_eq!(hang.scheduled, None);
    assert_eq!(hang.repro, "again s::hang::jit");
}

fn ended(reports: &Path, hello: &str, gates: &[&str]) -> Ended {
    let session = session(reports, hello, gates);
    direct::run(&session, 2, false);
    session.finish()
}

#[test]
fn a_run_is_archived_in_the_order_of_selection_with_its_skips() {
    let reports = tempfile::tempdir().unwrap();
    let ended = ended(reports.path(), READY, &["c", "skip_b", "print_a", "d"]);
    assert_eq!(ended.verdict, Verdict::Passed);
    let report = ended.report.unwrap();
    let ids: Vec<&str> = report.cases.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "s::c::jit",
            "s::skip_b::jit",
            "s::print_a::jit",
            "s::d::jit"
        ]
    );
    assert_eq!(report.cases[1].outcome, Outcome::Skip);
    assert_eq!(report.cases[2].reported["stdout"], "from a kernel");
    assert_eq!(report.cases[0].repro, "again s::c::jit");
    assert_eq!((report.totals.pass, report.totals.skip), (3, 1));
    assert!(report.run.complete);
    let folder = ended.folder.unwrap();
    assert!(folder.starts_with(reports.path().join("sim")), "{folder:?}");
    let listed = Store::open(reports.path()).list().unwrap();
    assert_eq!(listed[0].state, State::Complete);
}

#[test]
fn xid_errors_are_a_cards_and_never_stop_its_run() {
    let reports = tempfile::tempdir().unwrap();
    for (address, kind) in [(Address::Sim, "sim"), (Address::Ordinal(0), "cuda")] {
        let ready = READY.replace(r#""kind":"sim""#, &format!(r#""kind":"{kind}""#));
        let mut session = session(reports.path(), &ready, &["a"]);
        session.parts.chosen.address = address;
        direct::run(&session, 1, false);
        let ended = session.finish();
        assert_eq!(ended.verdict, Verdict::Passed, "{kind}");
        let after = ended.report.unwrap().device.after;
        let dead = "environment: NVML ended its process: exit code 3";
        let dead = (kind == "cuda").then(|| Field::Unavailable(dead.into()));
        assert_eq!(after.get("xid_events"), dead.as_ref(), "{kind}");
    }
}

#[test]
fn a_case_that_kills_its_worker_leaves_the_others() {
    let reports = tempfile::tempdir().unwrap();
    let gates = ["a", "die", "fail", "b"];
    let ended = ended(reports.path(), READY, &gates);
    assert_eq!(ended.verdict, Verdict::Failed);
    let cases = ended.report.unwrap().cases;
    let outcomes: Vec<Outcome> = cases.iter().map(|c| c.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Pass, Outcome::Error, Outcome::Fail, Outcome::Pass]
    );
    let reason = cases[1].reason.as_ref().unwrap();
    assert_eq!(reason.kind, ReasonKind::KernelFault);
    assert!(reason.message.contains("SIGKILL"), "{reason}");
    assert_eq!(cases[1].reported["stderr"], "out of memory\n");
}

#[test]
fn a_hang_that_was_expected_passes_and_another_does_not() {
    let reports = tempfile::tempdir().unwrap();
    let gates = ["hang_expected_late", "hang", "hang_expected_early"];
    let ended = ended(reports.path(), READY, &gates);
    let cases = ended.report.unwrap().cases;
    assert_eq!(cases[0].outcome, Outcome::Pass);
    // The last hung before it had launched anything.
    for case in &cases[1..] {
        assert_eq!(case.outcome, Outcome::Error);
        assert_eq!(case.reason.as_ref().unwrap().kind, ReasonKind::Hang);
        assert!(case.duration_ms >= 2000.0);
    }
}

#[test]
fn without_a_device_every_case_tells_why_and_the_report_says_no_driver() {
    let reports = tempfile::tempdir().unwrap();
    let ended = ended(reports.path(), REFUSED, &["a", "b"]);
    assert_eq!(ended.verdict, Verdict::Environment);
    let report = ended.report.unwrap();
    assert_eq!(report.totals.error, 2);
    let reason = report.device.unavailable.unwrap();
    assert_eq!(reason.to_string(), "environment: no card");
    assert_eq!(report.cases[1].reason.as_ref(), Some(&reason));
    let folder = ended.folder.unwrap();
    assert!(
        folder.starts_with(reports.path().join("no-driver")),
        "{folder:?}"
    );
}

#[test]
fn each_result_is_on_disk_before_the_next_starts() {
    let reports = tempfile::tempdir().unwrap();
    let session = session(reports.path(), READY, &["a", "b"]);
    assert!(
        !reports.path().join("sim").exists(),
        "nothing is written before the first case"
    );
    session.judge(&case("a"));
    // The run is not over, and somebody reads it.
    let listed = Store::open(reports.path()).list().unwrap();
    assert_eq!(listed[0].state, State::Incomplete);
    let text = fs::read_to_string(listed[0].path.join("results.jsonl")).unwrap();
    assert_eq!(case_from_line(text.trim()).unwrap().id, "s::a::jit");
}

#[test]
fn nothing_run_writes_nothing() {
    let reports = tempfile::tempdir().unwrap();
    let ended = ended(reports.path(), READY, &["skip_a"]);
    assert_eq!(ended.verdict, Verdict::Nothing);
    assert!(ended.report.is_none());
    assert_eq!(fs::read_dir(reports.path()).unwrap().count(), 0);
}

#[test]
fn an_archive_that_cannot_be_written_stops_the_run() {
    let reports = tempfile::NamedTempFile::new().unwrap();
    let ended = ended(reports.path(), READY, &["a"]);
    assert_eq!(ended.verdict, Verdict::Usage);
    let trouble = ended.trouble.unwrap();
    assert!(trouble.contains("--reports DIR"), "{trouble}");
}

#[test]
fn processes_that_share_a_key_share_one_incomplete_run() {
    let reports = tempfile::tempdir().unwrap();
    for gate in ["a", "fail"] {
        let mut session = session(reports.path(), READY, &[gate]);
        session.parts.joined = Some("9e1f".into());
        session.judge(&case(gate));
        let ended = session.finish();
        assert!(ended.report.is_none());
        let verdict = match gate {
            "a" => Verdict::Passed,
            _ => Verdict::Failed,
        };
        assert_eq!(ended.verdict, verdict);
    }
    let listed = Store::open(reports.path()).list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].state, State::Incomplete);
    assert_eq!((listed[0].totals.pass, listed[0].totals.fail), (1, 1));
}

#[test]
fn a_worker_that_dies_when_it_is_ended_is_told_by_the_run_or_by_its_one_case() {
    let words = "the worker died while it closed the device: signal 6 (SIGABRT)";
    for filtered in [true, false] {
        let reports = tempfile::tempdir().unwrap();
        let mut session = session(reports.path(), READY, &["ends_badly", "a"]);
        session.parts.filtered = filtered;
        direct::run(&session, 1, false);
        let ended = session.finish();
        assert_eq!(ended.verdict, Verdict::Failed);
        let report = ended.report.unwrap();
        assert_eq!(report.totals.pass, 2);
        let problems: Vec<String> = report.run.problems.iter().map(|p| p.to_string()).collect();
        assert_eq!(problems, [format!("driver: {words}")]);
    }
    let reports = tempfile::tempdir().unwrap();
    for (gate, outcome) in [("ends_badly", Outcome::Error), ("a", Outcome::Pass)] {
        let mut session = session(reports.path(), READY, &[gate]);
        session.parts.joined = Some("9e1f".into());
        let record = session.judge(&case(gate));
        assert_eq!(record.outcome, outcome);
        let reason = record.reason.map(|reason| reason.to_string());
        let told = format!("kernel fault: {words}");
        assert_eq!(reason, (gate == "ends_badly").then_some(told));
        assert_eq!(session.finish().verdict == Verdict::Passed, gate == "a");
    }
}

#[test]
fn what_goes_wrong_behind_an_error_is_told_with_it() {
    let mut record = unjudged(
        &case("a"),
        Outcome::Error,
        Reason::new(ReasonKind::Setup, "one"),
    );
    ended_badly(&mut record, &[]);
    ended_badly(&mut record, &["two".into(), "three".into()]);
    assert_eq!(
        record.reason.unwrap().to_string(),
        "setup: one; then two; three"
    );
}

const WAIVERS: &str = "version: 1
waivers:
  - {cases: 's::fail*', cards: script, reason: known, link: 'https://a.b/1', expires: 9999-12-31}
  - {cases: 's::hang*', cards: script, driver: {from: 1}, reason: no driver here, link: 'https://a.b/2',
     expires: 9999-12-31}
";

fn waived(reports: &Path, filtered: bool, gates: &[&str]) -> Ended {
    let mut session = session(reports, READY, gates);
    session.parts.waivers = Waivers::parse("waivers.yaml", WAIVERS.as_bytes()).unwrap();
    session.parts.filtered = filtered;
    direct::run(&session, 1, false);
    session.finish()
}

#[test]
fn a_known_failure_is_waived_and_another_is_not() {
    let reports = tempfile::tempdir().unwrap();
    let ended = waived(reports.path(), true, &["a", "fail", "hang"]);
    assert_eq!(ended.verdict, Verdict::Failed, "the hang is of no driver");
    let report = ended.report.unwrap();
    let outcomes: Vec<Outcome> = report.cases.iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Waived, Outcome::Error]);
    let waiver = report.cases[1].waiver.as_ref().unwrap();
    assert_eq!(
        (waiver.waives, waiver.reason.as_str()),
        (Outcome::Fail, "known")
    );
    assert_eq!(report.run.waivers.len(), 1);
    assert_eq!(report.run.waivers[0].waived, 1);
    assert_eq!(report.suite.specs[1].path, "waivers.yaml");
    let reports = tempfile::tempdir().unwrap();
    let ended = waived(reports.path(), true, &["a", "fail"]);
    assert_eq!(ended.verdict, Verdict::Passed);
}

#[test]
fn a_whole_run_is_held_to_its_rules_and_a_filtered_one_is_not() {
    // The suite has no cases, so that no waiver's pattern is the name of one.
    for (filtered, verdict) in [(true, Verdict::Passed), (false, Verdict::Failed)] {
        let reports = tempfile::tempdir().unwrap();
        let ended = waived(reports.path(), filtered, &["a"]);
        assert_eq!(ended.verdict, verdict);
        let problems = ended.report.unwrap().run.problems;
        assert_eq!(problems.is_empty(), filtered, "{problems:?}");
    }
}
