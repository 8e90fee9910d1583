//! Pictures of a real report's table, and of tables made to be awkward.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use super::*;
use crate::report::from_json;
use crate::terms::{ImageKind, Scale};

/// A run on an H200, recorded before tables had plots.
fn h200() -> Report {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/evidence/h200-580.159.04/report.json"
    );
    from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The survival sweep's table in both images, with a plot.
fn swept() -> Report {
    let mut report = h200();
    report.tables.retain(|table| table.name == "survival_sweep");
    assert_eq!(report.tables.len(), 2, "sass and jit");
    for table in &mut report.tables {
        table.plot = Some(record("kept_percent", "keep", &["scan_ms", "atomic_ms"]));
    }
    report
}

fn record(x: &str, along: &str, y: &[&str]) -> PlotRecord {
    PlotRecord {
        x: x.to_owned(),
        along: along.to_owned(),
        y: y.iter().map(|y| (*y).to_owned()).collect(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        x_label: "elements kept, %".to_owned(),
        y_label: "mean time of a run, ms".to_owned(),
    }
}

/// A ladder of `rungs` over `n`, the last by the host's clock.
fn ladder(rungs: usize) -> Report {
    let mut report = h200();
    let names: Vec<String> = (0..rungs).map(|rung| format!("rung_{rung}_ms")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows = Vec::new();
    for exponent in 8..=24 {
        for less in [0, 3] {
            let n = (1u64 << exponent) - less;
            let mut row = vec![json!(n)];
            row.extend((0..rungs).map(|rung| json!(0.004 + n as f64 * 1e-8 * (rung + 1) as f64)));
            rows.push(row);
        }
    }
    let mut plot = record("n", "n", &names);
    (plot.x_scale, plot.y_scale) = (Scale::Log2, Scale::Log10);
    (plot.x_label, plot.y_label) = ("elements".to_owned(), "median time of a run, ms".to_owned());
    report.tables = vec![TableRecord {
        suite: "ladder_scan".to_owned(),
        name: "crossover".to_owned(),
        over: "n".to_owned(),
        axes: vec!["n".to_owned()],
        image: ImageKind::Sass,
        fixed: Default::default(),
        columns: ["n"]
            .iter()
            .chain(&names)
            .map(|&name| name.to_owned())
            .collect(),
        rows,
        notes: Vec::new(),
        host_clock: names
            .last()
            .map(|&name| name.to_owned())
            .into_iter()
            .collect(),
        timed: names.iter().map(|&name| name.to_owned()).collect(),
        plot: Some(plot),
    }];
    report
}

/// An SVG's elements with their attributes, and its texts; refuses what is no XML.
struct Svg {
    elements: Vec<(String, Vec<(String, String)>)>,
    texts: Vec<String>,
}

impl Svg {
    fn read(svg: &str) -> Self {
        let mut reader = Reader::from_str(svg);
        let (mut elements, mut texts) = (Vec::new(), Vec::new());
        let mut text = String::new();
        let mut open = 0;
        loop {
            match reader.read_event().expect("XML") {
                Event::Start(element) => {
                    open += 1;
                    elements.push(parts(&element));
                    text.clear();
                }
                Event::Empty(element) => elements.push(parts(&element)),
                Event::Text(piece) => text.push_str(&piece.decode().unwrap()),
                Event::GeneralRef(name) => {
                    let entity =
                        quick_xml::escape::resolve_predefined_entity(&name.decode().unwrap());
                    text.push_str(entity.expect("a predefined entity"));
                }
                Event::End(_) => {
                    open -= 1;
                    texts.push(text.trim().to_owned());
                    text.clear();
                }
                Event::Eof => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(open, 0, "every element ends");
        assert!(
            svg.chars().all(|c| c == '\n' || !c.is_control()),
            "XML holds no control characters"
        );
        Self { elements, texts }
    }

    /// Of every `name` with this attribute, another attribute.
    fn find(&self, name: &str, (key, value): (&str, &str), wanted: &str) -> Vec<&str> {
        let get = |attributes: &'_ [(String, String)], key: &str| {
            attributes.iter().position(|(name, _)| name == key)
        };
        self.elements
            .iter()
            .filter(|(element, _)| element == name)
            .filter(|(_, own)| get(own, key).is_some_and(|at| own[at].1 == value))
            .filter_map(|(_, own)| get(own, wanted).map(|at| own[at].1.as_str()))
            .collect()
    }

    /// The points of each line of a colour, the legend's piece of it last.
    fn lines(&self, colour: &str) -> Vec<usize> {
        let lines = self.find("polyline", ("stroke", colour), "points");
        lines
            .iter()
            .map(|points| points.split_whitespace().count())
            .collect()
    }

    fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|own| own == text)
    }
}

fn parts(element: &quick_xml::events::BytesStart<'_>) -> (String, Vec<(String, String)>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let attributes = element.attributes().map(|attribute| {
        let attribute = attribute.expect("an attribute");
        (text(attribute.key.as_ref()), text(&attribute.value))
    });
    (text(element.name().as_ref()), attributes.collect())
}

fn drawn(plot: &Plot) -> &Drawn {
    plot.drawn
        .as_ref()
        .unwrap_or_else(|why| panic!("{}: {why}", plot.file))
}

const BLUE: &str = "#0072B2";
const VERMILION: &str = "#D55E00";

#[test]
fn a_real_reports_sweep_is_a_picture_an_image() {
    let report = swept();
    let plots = plots(&report);
    let files: Vec<&str> = plots.iter().map(|plot| plot.file.as_str()).collect();
    assert_eq!(
        files,
        [
            "compaction.survival_sweep.sass.svg",
            "compaction.survival_sweep.jit.svg"
        ]
    );
    let svg = Svg::read(&drawn(&plots[0]).svg);
    assert_eq!(drawn(&plots[0]).without, Vec::<String>::new());
    for text in [
        "compaction: survival_sweep",
        "NVIDIA H200 · driver 580.159.04 · sass · n = 8387997",
        "elements kept, %",
        "mean time of a run, ms",
        "scan_ms",
        "atomic_ms",
        "0.25",
        "100",
    ] {
        assert!(svg.says(text), "{text}: {:?}", svg.texts);
    }
    // One line of the table's three rows each, and the legend's.
    assert_eq!(report.tables[0].rows.len(), 3);
    assert_eq!(svg.lines(BLUE), [3, 2]);
    assert_eq!(svg.lines(VERMILION), [3, 2]);
    assert_eq!(svg.find("circle", ("fill", BLUE), "r").len(), 3 + 1);
    assert_eq!(
        svg.find("polygon", ("fill", VERMILION), "points").len(),
        3 + 1
    );
    assert_eq!(plots, super::plots(&report), "the same bytes again");
}

#[test]
fn a_ladders_lines_have_a_point_a_row_and_the_hosts_is_dashed() {
    let report = ladder(7);
    let rows = report.tables[0].rows.len();
    let plots = plots(&report);
    assert_eq!(plots[0].file, "ladder_scan.crossover.sass.svg");
    let svg = Svg::read(&drawn(&plots[0]).svg);
    assert_eq!(svg.lines(BLUE), [rows, 2]);
    assert_eq!(svg.find("circle", ("fill", BLUE), "r").len(), rows + 1);
    // The seventh line is black, with circles again.
    assert!(svg.lines("#000000").len() > rows, "dashes");
    assert_eq!(svg.find("circle", ("fill", "#000000"), "r").len(), rows + 1);
    for text in [
        "2⁸",
        "2¹⁶",
        "2²⁴",
        "0.01",
        "0.1",
        "rung_6_ms (host clock)",
        "rung_5_ms",
    ] {
        assert!(svg.says(text), "{text}: {:?}", svg.texts);
    }
    // The legend is beside the lines.
    let xs: Vec<i32> = svg
        .find("circle", ("fill", BLUE), "cx")
        .iter()
        .map(|x| x.parse().unwrap())
        .collect();
    let (legend, points) = xs.split_last().unwrap();
    assert!(points.iter().all(|x| x < legend), "{xs:?}");
    let widths: Vec<i32> = svg
        .find("svg", ("xmlns", "http://www.w3.org/2000/svg"), "width")
        .iter()
        .map(|width| width.parse().unwrap())
        .collect();
    assert!(widths[0] > legend + 8 * "rung_6_ms (host clock)".len() as i32);
}

#[test]
fn every_line_of_a_long_ladder_looks_different() {
    let svg = Svg::read(&drawn(&plots(&ladder(42))[0]).svg);
    let shapes = svg
        .elements
        .iter()
        .filter(|(name, _)| name == "circle" || name == "polygon");
    let looks: BTreeSet<String> = shapes
        .map(|(name, own)| {
            let of = |key: &str| own.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
            // A polygon's shape, wherever it stands.
            let points: Vec<(i32, i32)> = of("points")
                .unwrap_or_default()
                .split_whitespace()
                .map(|point| point.split_once(',').unwrap())
                .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
                .collect();
            let shape: Vec<_> = points
                .iter()
                .map(|(x, y)| (x - points[0].0, y - points[0].1))
                .collect();
            format!("{name} {:?} {:?} {shape:?}", of("fill"), of("stroke"))
        })
        .collect();
    // And the white below hollow circles.
    assert_eq!(looks.len(), 42 + 1, "{looks:#?}");
    let height = svg.find("svg", ("xmlns", "http://www.w3.org/2000/svg"), "height")[0];
    let lowest = svg.find("text", ("text-anchor", "start"), "y");
    let lowest = lowest
        .iter()
        .map(|y| y.parse::<i32>().unwrap())
        .max()
        .unwrap();
    assert!(lowest + 13 < height.parse().unwrap(), "the legend is cut");
}

#[test]
fn whatever_a_report_holds_a_picture_is_xml_and_its_file_inside_the_folder() {
    let mut report = swept();
    report.tables.truncate(1);
    let table = &mut report.tables[0];
    table.suite = "../../etc/<b>&\"'\u{0}\u{ffff}".to_owned();
    table.fixed.insert("kind".to_owned(), json!("a\nb<\u{1b}"));
    let plot = table.plot.as_mut().unwrap();
    plot.x_label = "<script>&amp;".to_owned();
    plot.y_label = "\u{7}".repeat(1000);
    let plots = plots(&report);
    assert_eq!(plots[0].file, "_._.._etc__b______.survival_sweep.sass.svg");
    let svg = Svg::read(&drawn(&plots[0]).svg);
    assert!(svg.says("<script>&amp;"), "{:?}", svg.texts);
    assert!(
        svg.texts
            .iter()
            .any(|text| text.contains("kind = a b<\u{fffd}")),
        "{:?}",
        svg.texts
    );
}

#[test]
fn an_axis_that_varies_beside_x_gives_a_picture_a_value() {
    let mut report = ladder(1);
    let table = &mut report.tables[0];
    table.axes = vec!["n".to_owned(), "kind".to_owned()];
    table.columns.insert(1, "kind".to_owned());
    for (index, row) in table.rows.iter_mut().enumerate() {
        row.insert(1, json!(["a/b", "a:b"][index % 2]));
    }
    let rows = table.rows.len();
    let plots = plots(&report);
    let files: Vec<&str> = plots.iter().map(|plot| plot.file.as_str()).collect();
    let file = "ladder_scan.crossover.sass.kind=a_b";
    assert_eq!(files, [format!("{file}.svg"), format!("{file}-2.svg")]);
    for (plot, kind) in plots.iter().zip(["a/b", "a:b"]) {
        let svg = Svg::read(&drawn(plot).svg);
        let subtitle = format!("NVIDIA H200 · driver 580.159.04 · sass · kind = {kind}");
        assert!(svg.says(&subtitle), "{:?}", svg.texts);
        let circles = svg.find("circle", ("fill", BLUE), "r");
        assert_eq!(circles.len(), rows / 2 + 1);
    }
}

#[test]
fn what_is_not_in_a_picture_is_told() {
    let mut report = ladder(3);
    let rows = &mut report.tables[0].rows;
    rows[0][0] = json!(0);
    rows[1][1] = Value::Null;
    rows[2][1] = json!("text");
    rows[3][1] = json!(-1.0);
    rows.iter_mut().for_each(|row| row[3] = Value::Null);
    let points = rows.len() - 4;
    let plots = plots(&report);
    let off = "which a logarithmic axis has no place for";
    assert_eq!(
        drawn(&plots[0]).without,
        [
            format!("rung_2_ms: no value in {} rows", points + 4),
            "rung_0_ms: 1 point whose value is no number".to_owned(),
            format!("rung_0_ms: 2 points at or below zero, {off}"),
            format!("rung_1_ms: 1 point at or below zero, {off}"),
        ]
    );
    let svg = Svg::read(&drawn(&plots[0]).svg);
    assert_eq!(svg.lines(BLUE), [points, 2]);
    assert!(!svg.says("rung_2_ms (host clock)"));
}

#[test]
fn a_table_that_cannot_be_drawn_says_why() {
    let why = |report: &Report| plots(report)[0].drawn.clone().unwrap_err().to_string();
    let mut report = ladder(2);
    report.tables[0].rows.clear();
    assert_eq!(why(&report), "rung_0_ms, rung_1_ms: no row has a value");
    let simulated = crate::report::tests::on_sim().device;
    report.device = simulated.clone();
    assert_eq!(
        why(&report),
        "the simulated device has no clock, so rung_0_ms, rung_1_ms need hardware"
    );
    let mut report = ladder(1);
    report.tables[0].rows.clear();
    report.device = simulated;
    assert_eq!(
        why(&report),
        "the simulated device has no clock, so rung_0_ms needs hardware"
    );
    let mut report = ladder(2);
    report.tables[0].columns[2] = "other".to_owned();
    assert_eq!(why(&report), "the table has no column `rung_1_ms`");
    let mut report = ladder(1);
    report.tables[0].plot.as_mut().unwrap().y.clear();
    assert_eq!(why(&report), "the plot names no line");
}

/// A column that uses no time is missing for reasons of its own, whatever the device.
#[test]
fn without_a_clock_only_times_lack_one() {
    let off = "at or below zero, which a logarithmic axis has no place for";
    let cases = [
        (json!(0), format!("l: 2 points {off}")),
        (json!(-1.5), format!("l: 2 points {off}")),
        (
            json!("text"),
            "l: 2 points whose value is no number".to_owned(),
        ),
        (
            json!(true),
            "l: 2 points whose value is no number".to_owned(),
        ),
        (
            json!(2e18),
            "l: 2 points whose value is beyond ±1e18".to_owned(),
        ),
        (
            json!(null),
            "l: no value in 2 rows (division by zero)".to_owned(),
        ),
    ];
    for device in [h200().device, crate::report::tests::on_sim().device] {
        for (cell, reason) in &cases {
            let mut report = ladder(2);
            report.device = device.clone();
            let table = &mut report.tables[0];
            table.columns = ["n", "l", "time"].map(str::to_owned).to_vec();
            table.timed = vec!["time".to_owned()];
            table.rows = [1, 2]
                .map(|n| vec![json!(n), cell.clone(), Value::Null])
                .to_vec();
            table.notes = vec!["l: division by zero".to_owned()];
            let lines = &mut table.plot.as_mut().unwrap().y;
            *lines = vec!["l".to_owned()];
            let why = |report: &Report| plots(report)[0].drawn.clone().unwrap_err().to_string();
            let words = |reason: &str| match cell {
                Value::Null => reason.to_owned(),
                _ => reason.replace(" (division by zero)", ""),
            };
            assert_eq!(why(&report), words(reason));
            report.tables[0]
                .plot
                .as_mut()
                .unwrap()
                .y
                .push("time".to_owned());
            let both = match report.device.is_simulated() {
                true => {
                    format!("the simulated device has no clock, so time needs hardware; {reason}")
                }
                false => format!("{reason}; time: no value in 2 rows"),
            };
            assert_eq!(why(&report), words(&both));
            // The same lines beside one that is drawn.
            report.tables[0].rows[0][2] = json!(0.5);
            let without = drawn(&plots(&report)[0]).without.clone();
            assert_eq!(without, [words(reason)]);
        }
    }
}

#[test]
fn an_x_without_values_is_told_by_its_name() {
    let mut report = ladder(1);
    let table = &mut report.tables[0];
    table.columns = ["n", "time", "l"].map(str::to_owned).to_vec();
    table.timed = vec!["time".to_owned()];
    table.rows = vec![vec![json!(1), Value::Null, json!(7)]];
    let plot = table.plot.as_mut().unwrap();
    (plot.x, plot.y) = ("time".to_owned(), vec!["l".to_owned()]);
    let why = |report: &Report| plots(report)[0].drawn.clone().unwrap_err().to_string();
    assert_eq!(why(&report), "l: no time in 1 row");
    report.device = crate::report::tests::on_sim().device;
    assert_eq!(
        why(&report),
        "the simulated device has no clock, so time needs hardware"
    );
    report.tables[0].rows[0][1] = json!("text");
    report.tables[0].timed.clear();
    assert_eq!(why(&report), "l: 1 point whose time is no number");
}

#[test]
fn a_files_name_is_one_that_file_systems_take() {
    let mut report = swept();
    report.tables[0].suite = "s".repeat(400);
    report.tables[1].suite = "s".repeat(401);
    let mut again = report.tables[1].clone();
    again.name.push('?');
    report.tables.push(again);
    let plots = plots(&report);
    let files: BTreeSet<&str> = plots.iter().map(|plot| plot.file.as_str()).collect();
    assert_eq!(files.len(), 3, "{files:#?}");
    for file in files {
        assert!(file.len() <= 255 && file.ends_with(".svg"), "{file}");
        assert!(!file.ends_with("-2.svg"), "each by its own hash: {file}");
    }
}

#[test]
fn a_report_from_before_there_were_plots_has_none() {
    let report = h200();
    assert!(!report.tables.is_empty());
    assert_eq!(plots(&report), []);
    assert!(report.cases.iter().all(|case| case.subject.is_empty()));
}
