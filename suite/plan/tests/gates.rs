//! What each kind of gate makes of its pipelines.

use super::*;

#[test]
fn a_partition_reads_its_split_first() {
    let check = Check::Partition {
        run: "p".into(),
        got: slice("ping"),
        split: Some(slice("pong[0]")),
        want: reference("partition", "even"),
    };
    let prepared =
        prepare(&running(8, vec![memset("ping", "0")]).with_gate("g", gate(check))).unwrap();
    assert_eq!(once(&prepared).1, [part(PONG, 0, 1), part(PING, 0, 8)]);
}

#[test]
fn repeatable_runs_k_times() {
    let check = Check::Repeatable {
        run: "p".into(),
        got: slice("ping"),
        runs: 5,
    };
    let prepared =
        prepare(&running(8, vec![memset("ping", "0")]).with_gate("g", gate(check))).unwrap();
    let Work::Repeat { runs, steps, reads } = &prepared.plan.work else {
        panic!()
    };
    assert_eq!(
        (*runs, steps.len(), &reads[..]),
        (5, 1, &[part(PING, 0, 8)][..])
    );
}

fn timed() -> Suite {
    let want = Want::Run {
        pipeline: "naive".into(),
        buffer: slice("pong"),
    };
    let mut swapped = row(
        "p",
        vec![
            Verify::Gate("named".into()),
            Verify::Inline(Box::new(exact("p", "pong[0..2]", want.clone()))),
        ],
    );
    swapped.prepare = vec!["turn".into()];
    swapped.prepare_each = vec!["naive".into()];
    swapped.bytes = Some(expr("8 * n"));
    let mut absent = row("p", vec![Verify::Gate("named".into())]);
    absent.when = Some(expr("n == 0"));
    let rows = [("swapped", swapped), ("absent", absent)];
    let rows = rows.map(|(name, row)| (name.to_owned(), row));
    let timings = Timings {
        warmups: 3,
        runs: 10,
        baseline: None,
        rows: rows.into(),
        assert: Vec::new(),
    };
    let turn = each(
        "d",
        "0",
        "1",
        Some(("ping", "pong")),
        vec![kernel("none", "1", "1", &[])],
    );
    running(
        8,
        vec![
            kernel("one", "1", "1", &["&ping"]),
            kernel("one", "n - 8", "1", &["&ping"]),
        ],
    )
    .with_pipeline("turn", vec![turn])
    .with_pipeline("naive", vec![memset("pong", "0")])
    .with_gate("named", gate(exact("naive", "ping", want)))
    .with_gate("g", gate(Check::Timings(timings)))
}

#[test]
fn a_row_prepares_runs_and_reads_in_one_naming() {
    let prepared = prepare(&timed()).unwrap();
    let Work::Rows {
        warmups: 3,
        runs: 10,
        rows,
    } = &prepared.plan.work
    else {
        panic!()
    };
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.name.as_str(), row.bytes), ("swapped", Some(64)));
    assert_eq!((row.prepare.len(), row.steps.len()), (1, 1));
    let zeros = |buffer| Step::Fill {
        to: part(buffer, 0, 8),
        pattern: vec![0; 4],
    };
    // `prepare` traded the names, so `pong` is the first buffer from there on.
    assert_eq!(row.prepare_each, [zeros(PING)]);
    assert_eq!(row.reads, [part(PONG, 0, 8), part(PING, 0, 2)]);
    assert_eq!((prepared.launches, prepared.dropped_launches), (1, 1));
}

#[test]
fn a_wanted_run_is_there_once_and_starts_with_fresh_names() {
    let prepared = prepare(&timed()).unwrap();
    let [wanted] = &prepared.plan.wanted[..] else {
        panic!("{:?}", prepared.plan.wanted)
    };
    assert_eq!(wanted.key, wanted_key("naive", &slice("pong")));
    assert_eq!(wanted.key, "naive/pong");
    assert_eq!(wanted.read, part(PONG, 0, 8));
    assert_eq!(wanted.steps.len(), 1);
    let two = wanted_key(
        "naive",
        &crate::spec::model::Slice {
            range: Range::Span(expr("0"), expr("n")),
            ..slice("pong")
        },
    );
    assert_eq!(two, "naive/pong[0..n]");
}

#[test]
fn a_reports_other_run_is_wanted_as_well() {
    let mut suite = running(8, vec![memset("ping", "0")]);
    let want = Want::Run {
        pipeline: "p".into(),
        buffer: slice("ping[1..n]"),
    };
    let measure = crate::spec::model::Measure::Against(want);
    suite.gates["g"]
        .report
        .insert("out_of_order".into(), measure);
    let prepared = prepare(&suite).unwrap();
    assert_eq!(prepared.plan.wanted[0].read, part(PING, 1, 7));
}
