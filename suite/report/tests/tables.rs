//! Joining the cases of one input and image, and what an absent value does.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::super::record::{CaseRecord, Timing};
use super::super::tables::{Evaluate, Names, evaluate, why_empty};
use super::{case, passing};
use crate::outcome::Reason;
use crate::spec::model::{Expr, Place, Plot, Suite, Table};
use crate::terms::{ImageKind, Outcome, ReasonKind, Scale};

/// Paths and quotients of paths: enough to see what a column is given.
struct Paths;

impl Evaluate for Paths {
    fn evaluate(&self, expr: &Expr, names: &Names) -> Result<Value, String> {
        let path = |text: &str| {
            text.trim()
                .split('.')
                .try_fold(None, |at: Option<&Value>, key| match at {
                    None => names.get(key).map(Some),
                    Some(value) => value.get(key).map(Some),
                })
        };
        match expr.source.split_once('/') {
            None => path(&expr.source)
                .flatten()
                .cloned()
                .ok_or_else(|| "unknown".to_owned()),
            Some((a, b)) => {
                let number = |text| {
                    path(text)
                        .flatten()
                        .and_then(Value::as_f64)
                        .ok_or("not a number")
                };
                let divisor = number(b)?;
                if divisor == 0.0 {
                    Err("division by zero".to_owned())
                } else {
                    Ok(json!(number(a)? / divisor))
                }
            }
        }
    }
}

fn suite(over: &str, columns: &[(&str, &str)]) -> Suite {
    let columns = columns
        .iter()
        .map(|(name, source)| {
            let expr = Expr {
                source: (*source).to_owned(),
                place: Place::default(),
            };
            ((*name).to_owned(), expr)
        })
        .collect();
    Suite {
        name: "compaction".to_owned(),
        title: String::new(),
        subject: String::new(),
        path: String::new(),
        sha256: String::new(),
        kernels: Vec::new(),
        blocks: Vec::new(),
        lets: IndexMap::new(),
        require: Vec::new(),
        buffers: IndexMap::new(),
        pipelines: IndexMap::new(),
        gates: IndexMap::new(),
        must_run: Default::default(),
        tables: IndexMap::from([(
            "sweep".to_owned(),
            Table {
                over: over.split(' ').map(str::to_owned).collect(),
                columns,
                plot: None,
            },
        )]),
    }
}

fn rows(columns: &[(&str, &str)], cases: &[CaseRecord]) -> Vec<Vec<Value>> {
    let tables = evaluate(&[suite("keep", columns)], cases, &Paths);
    tables.into_iter().flat_map(|t| t.rows).collect()
}

#[test]
fn a_row_sees_every_gate_of_its_input() {
    let columns = [
        ("survivors", "exact_compaction.want_len"),
        ("scan_ms", "rows.compaction.batch_mean_ms"),
        ("out_of_order", "multiset.reported.out_of_order"),
        ("launches", "multiset.launches"),
        ("outcome", "multiset.outcome"),
        ("of_n", "exact_compaction.want_len / n"),
    ];
    let tables = evaluate(&[suite("keep", &columns)], &passing().cases, &Paths);
    assert_eq!(tables.len(), 1);
    assert_eq!(
        tables[0].columns,
        [
            "keep",
            "survivors",
            "scan_ms",
            "out_of_order",
            "launches",
            "outcome",
            "of_n"
        ]
    );
    assert_eq!(tables[0].fixed, super::params(&[("n", json!(8_387_997))]));
    assert_eq!(
        tables[0].rows[1],
        [
            json!(128),
            json!(4_194_345),
            json!(0.11875),
            json!(4_190_001),
            json!(7),
            json!("pass"),
            json!(4_194_345.0 / 8_387_997.0)
        ]
    );
}

#[test]
fn lets_are_in_scope_where_they_can_be_computed() {
    let mut suite = suite("keep", &[("half", "half"), ("none", "none")]);
    suite.lets = [("half", "n / keep"), ("none", "n / missing")]
        .map(|(name, source)| {
            (
                name.to_owned(),
                Expr {
                    source: source.to_owned(),
                    place: Place::default(),
                },
            )
        })
        .into();
    let mut record = case("g", 26, Outcome::Pass);
    record.params.insert("n".to_owned(), json!(52));
    let tables = evaluate(&[suite], &[record], &Paths);
    assert_eq!(tables[0].rows, [[json!(26), json!(2.0), Value::Null]]);
    assert!(tables[0].notes.is_empty());
}

#[test]
fn a_row_left_out_or_a_time_without_a_clock_is_an_empty_cell() {
    let columns = [
        ("scatter", "rows.scatter.median_ms"),
        ("ratio", "rows.scatter.median_ms / rows.copy.median_ms"),
        ("keep2", "keep"),
    ];
    let rows_of = rows(&columns, &passing().cases);
    assert_eq!(rows_of[0], [json!(26), Value::Null, Value::Null, json!(26)]);
    assert_eq!(rows_of[1][1], json!(0.035));

    let mut sim = case("positive_timings", 26, Outcome::Skip);
    sim.timings.insert(
        "copy".to_owned(),
        Timing {
            simulated_instructions: Some(5),
            ..Timing::default()
        },
    );
    let columns = [
        ("ms", "rows.copy.median_ms"),
        ("instructions", "rows.copy.simulated_instructions"),
    ];
    assert_eq!(rows(&columns, &[sim]), [[json!(26), Value::Null, json!(5)]]);
}

#[test]
fn a_value_that_exists_but_cannot_be_computed_is_noted() {
    let mut zero = case("exact_compaction", 26, Outcome::Pass);
    zero.params.insert("n".to_owned(), json!(0));
    let columns = [("share", "exact_compaction.launches / n"), ("n2", "n")];
    let tables = evaluate(&[suite("keep", &columns)], &[zero], &Paths);
    assert_eq!(tables[0].rows, [[json!(26), Value::Null, json!(0)]]);
    assert_eq!(tables[0].notes, ["share: division by zero"]);
}

#[test]
fn a_line_whose_cell_cannot_be_computed_stays() {
    let case = |n: u64| {
        let mut case = case("exact_compaction", 26, Outcome::Pass);
        case.params.insert("n".to_owned(), json!(n));
        case
    };
    let suites = [suite("n", &[("share", "exact_compaction.launches / n")])];
    let tables = evaluate(&suites, &[case(0), case(7), case(0)], &Paths);
    assert_eq!(
        tables[0].rows,
        [[json!(0), Value::Null], [json!(7), json!(1.0)]]
    );
    assert_eq!(tables[0].notes, ["share: division by zero"]);
    let always = evaluate(&suites, &[case(0)], &Paths);
    assert_eq!(always[0].rows, [[json!(0), Value::Null]]);
    let mut report = passing();
    report.tables = always;
    let summary = crate::report::summary_markdown(&report);
    assert!(summary.contains("| 0 | – |"), "{summary}");
    assert!(summary.contains("share: division by zero"), "{summary}");
}

#[test]
fn a_skipped_row_is_noted_where_no_line_has_a_value() {
    let mut times = case("times", 26, Outcome::Pass);
    let reason = Reason::new(ReasonKind::BuiltWithout, "the library");
    times.skipped_rows = [("cub".to_owned(), reason)].into();
    let columns = [("a", "rows.cub.launches"), ("a: b", "rows.cub.median_ms")];
    let tables = evaluate(&[plotted(&[], &columns)], &[times], &Paths);
    let why = "row cub is skipped (built without: the library)";
    assert_eq!(
        tables[0].notes,
        [format!("a: {why}"), format!("a: b: {why}")]
    );
    assert_eq!(why_empty(&tables[0], "a"), [why]);
    assert_eq!(why_empty(&tables[0], "a: b"), [why]);
    assert_eq!(tables[0].timed, ["a: b"]);
}

#[test]
fn images_are_apart_and_axes_that_vary_are_columns() {
    let mut cases = vec![
        case("g", 26, Outcome::Pass),
        case("g", 26, Outcome::Pass),
        case("g", 128, Outcome::Pass),
    ];
    cases[1].params.insert("n".to_owned(), json!(5));
    cases[2].image = ImageKind::Sass;
    let tables = evaluate(
        &[suite("keep", &[("launches", "g.launches")])],
        &cases,
        &Paths,
    );
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[0].columns, ["keep", "n", "launches"]);
    assert_eq!(
        tables[0].rows,
        [
            [json!(26), json!(8_387_997), json!(7)],
            [json!(26), json!(5), json!(7)]
        ]
    );
    assert_eq!(tables[1].image, ImageKind::Sass);
    assert_eq!(tables[1].columns, ["keep", "launches"]);
}

#[test]
fn a_table_over_several_axes_leads_with_them_even_where_one_is_fixed() {
    let mut cases = [case("g", 26, Outcome::Pass), case("g", 128, Outcome::Pass)];
    cases[0].params.insert("m".to_owned(), json!("a"));
    cases[1].params.insert("m".to_owned(), json!("b"));
    let tables = evaluate(
        &[suite("n keep", &[("launches", "g.launches")])],
        &cases,
        &Paths,
    );
    assert_eq!(tables[0].axes, ["n", "keep", "m"]);
    assert_eq!(tables[0].columns, ["n", "keep", "m", "launches"]);
    assert_eq!(
        tables[0].rows[1],
        [json!(8_387_997), json!(128), json!("b"), json!(7)]
    );
    assert!(tables[0].fixed.is_empty());
    let none = evaluate(
        &[suite("keep pattern", &[("launches", "g.launches")])],
        &cases,
        &Paths,
    );
    assert!(none.is_empty(), "no case has both axes");
}

fn plotted(y: &[&str], columns: &[(&str, &str)]) -> Suite {
    let mut suite = suite("keep", columns);
    suite.tables["sweep"].plot = Some(Plot {
        x: "keep".to_owned(),
        y: y.iter().map(|y| (*y).to_owned()).collect(),
        x_scale: Scale::Log2,
        y_scale: Scale::Linear,
        x_label: None,
        y_label: None,
        place: Place::default(),
    });
    suite
}

#[test]
fn a_plots_defaults_are_filled_in() {
    let columns = [("a_ms", "n"), ("b_ms", "n"), ("b", "n")];
    let plot = |y: &[&str]| {
        let tables = evaluate(
            &[plotted(y, &columns)],
            &[case("g", 26, Outcome::Pass)],
            &Paths,
        );
        tables[0].plot.clone().unwrap()
    };
    let all = plot(&[]);
    assert_eq!(all.y, ["a_ms", "b_ms", "b"]);
    assert_eq!((all.x_label.as_str(), all.y_label.as_str()), ("keep", ""));
    assert_eq!((all.x_scale, all.y_scale), (Scale::Log2, Scale::Linear));
    assert_eq!(plot(&["a_ms", "b_ms"]).y_label, "ms");
    assert_eq!(plot(&["b"]).y_label, "b");
}

#[test]
fn a_table_with_a_plot_is_recorded_without_a_row() {
    let cases = [case("g", 26, Outcome::Pass)];
    let tables = evaluate(
        &[plotted(&[], &[("ms", "rows.copy.median_ms")])],
        &cases,
        &Paths,
    );
    assert_eq!(tables[0].rows, Vec::<Vec<Value>>::new());
    assert_eq!(tables[0].columns, ["keep", "ms"]);
    assert_eq!(evaluate(&[plotted(&[], &[("ms", "n")])], &[], &Paths), []);
}

#[test]
fn columns_of_the_hosts_clock_are_told_apart() {
    let mut times = case("times", 26, Outcome::Pass);
    for (row, clock) in [("cpu", "host"), ("gpu", "device")] {
        let timing = Timing {
            median_ms: Some(2.0),
            clock: clock.to_owned(),
            ..Timing::default()
        };
        times.timings.insert(row.to_owned(), timing);
    }
    let columns = [
        ("cpu", "rows.cpu.median_ms"),
        ("gpu", "rows.gpu.median_ms"),
        ("ratio", "rows.gpu.median_ms / rows.cpu.median_ms"),
    ];
    let tables = evaluate(&[suite("keep", &columns)], &[times], &Paths);
    assert_eq!(tables[0].host_clock, ["cpu", "ratio"]);
}

#[test]
fn tables_without_values_are_left_out() {
    let cases = [case("g", 26, Outcome::Pass)];
    assert!(rows(&[("x", "other_gate.got")], &cases).is_empty());
    let other = evaluate(&[suite("pattern", &[("x", "g.launches")])], &cases, &Paths);
    assert!(other.is_empty(), "no case has that axis");
}

#[test]
fn a_column_tells_of_the_hosts_clock_and_of_rows_that_were_skipped() {
    let mut cases = passing().cases;
    let mut timed = cases.iter_mut().filter(|c| !c.timings.is_empty());
    let case = timed.next().expect("a case with times");
    case.timings["compaction"].clock = "host".to_owned();
    let reason = Reason::new(ReasonKind::BuiltWithout, "the library");
    case.skipped_rows = [("cub".to_owned(), reason)].into();
    let columns = [
        ("cpu", "rows.compaction.median_ms"),
        ("library", "rows.cub.median_ms"),
        ("copied", "rows.copy.median_ms"),
    ];
    let tables = evaluate(&[suite("keep", &columns)], &cases, &Paths);
    assert_eq!(
        tables[0].notes,
        [
            "cpu: row compaction is by the host's clock",
            "library: row cub is skipped (built without: the library)"
        ]
    );
}
