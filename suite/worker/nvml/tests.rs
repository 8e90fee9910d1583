//! What becomes of a process that ends, hangs or lies, played by shell scripts.

use serde_json::json;

use super::*;

/// Answers who the card is, and begins to watch it.
const WELL: &str = r#"
exec 3>&0
answer() { read -r question; printf '%s\n' "$1" >&3; }
answer '{"identity":{"driver_version":"1.2","fields":{"name":{"value":"A"}},"live":{},"fault":null}}'
answer '{"watching":{"unavailable":null}}'
"#;

fn script(text: &str, limit: Duration) -> NvmlProcess {
    NvmlProcess::start(NvmlLaunch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), text.into()],
        limit,
    })
}

const LONG: Duration = Duration::from_secs(60);

/// The reason that every part of an identity and a reading gives.
#[track_caller]
fn reason_of_all(nvml: &mut NvmlProcess) -> String {
    let identity = nvml.identity(Some("GPU-1"));
    let reason = identity.fault.unwrap().message;
    let fields = identity
        .fields
        .into_values()
        .chain(identity.live.into_values());
    let fields: Vec<Field> = fields.chain(nvml.read().into_values()).collect();
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        assert_eq!(field, Field::Unavailable(reason.clone()));
    }
    nvml.watch(None);
    assert_eq!(nvml.unavailable(), Some(reason.as_str()));
    assert_eq!(nvml.xid_events(0), Err(reason.clone()));
    reason
}

#[test]
fn an_end_is_every_fields_reason() {
    for (text, words) in [
        (
            "kill -SEGV $$",
            "NVML ended its process: signal 11 (SIGSEGV)",
        ),
        (
            "kill -ABRT $$",
            "NVML ended its process: signal 6 (SIGABRT)",
        ),
        ("exit 3", "NVML ended its process: exit code 3"),
        (
            "read -r question; echo 'free(): invalid pointer' >&2; exit 1",
            "NVML ended its process: exit code 1; its last words: free(): invalid pointer",
        ),
        (
            "read -r question; echo '\"bye\"' >&0; read -r never",
            "the process that asks NVML sent what is no answer: `\\\"bye\\\"`: ",
        ),
        (
            "read -r question; echo '{\"reading\":{}}' >&0; read -r never",
            "the process that asks NVML sent what is no answer: out of turn: Reading({})",
        ),
    ] {
        let reason = reason_of_all(&mut script(text, LONG));
        assert!(
            reason.starts_with(&format!("environment: {words}")),
            "{reason}"
        );
    }
    let mut launch = NvmlLaunch::this_executable();
    launch.program = "/no/such/program".into();
    let reason = reason_of_all(&mut NvmlProcess::start(launch));
    let words = "environment: cannot start a process to ask NVML (/no/such/program): ";
    assert!(reason.starts_with(words), "{reason}");
}

#[test]
fn a_process_without_an_answer_is_killed_and_none_follows() {
    let clock = Instant::now();
    let mut nvml = script("exec sleep 1000", Duration::from_millis(300));
    let reason = reason_of_all(&mut nvml);
    let words = "environment: NVML gave no answer within 0.3 s; its process was killed";
    assert!(reason.starts_with(words), "{reason}");
    // It has never worked, so that the end of the run does not wait for it again.
    let (identity, xid) = nvml.finish(None);
    assert_eq!(identity.fault.unwrap().message, reason);
    assert_eq!(xid, Field::Unavailable(reason));
    assert!(clock.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_was_read_before_a_hang_stays_and_the_end_is_read_by_another_process() {
    let hangs = r#"
answer '{"reading":{"temperature_c":{"value":41}}}'
answer '{"xid":{"Ok":[79]}}'
exec sleep 1000
"#;
    let mut nvml = script(&format!("{WELL}{hangs}"), Duration::from_secs(1));
    let identity = nvml.identity(Some("GPU-1"));
    assert_eq!(identity.fields["name"], Field::Value(json!("A")));
    nvml.watch(Some("GPU-1"));
    assert_eq!(nvml.unavailable(), None);
    let reading = nvml.read();
    assert_eq!(reading["temperature_c"], Field::Value(json!(41)));
    assert_eq!(nvml.xid_events(0), Ok(vec![json!(79)]));
    let clock = Instant::now();
    let lost = nvml.read();
    let Field::Unavailable(reason) = &lost["temperature_c"] else {
        panic!("{lost:?}");
    };
    let words = "environment: NVML gave no answer within 1 s; its process was killed";
    assert!(reason.starts_with(words), "{reason}");
    assert_eq!(lost, identity::unread(reason));
    // None is started while cases run.
    for _ in 0..100 {
        assert_eq!(nvml.read(), lost);
    }
    assert!(clock.elapsed() < Duration::from_secs(30));
    let (now, xid) = nvml.finish(Some("GPU-1"));
    assert_eq!(now, identity);
    assert_eq!(xid, Field::Value(json!([79, reason])));
}

#[test]
fn messages_come_back_equal() {
    let uuid = Some("GPU-1".to_owned());
    let failed = Err("the card needs a reset".to_owned());
    let identity = identity::unavailable(Reason::new(ReasonKind::Environment, "no NVML"));
    for answer in [
        Answer::Identity(identity),
        Answer::Watching { unavailable: uuid },
        Answer::Reading(identity::unread("no NVML")),
        Answer::Xid(Ok(vec![json!(79), json!("unknown")])),
        Answer::Xid(failed),
    ] {
        let line = serde_json::to_string(&answer).unwrap();
        assert_eq!(serde_json::from_str::<Answer>(&line).unwrap(), answer);
    }
}
