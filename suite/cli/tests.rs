//! Command lines: what they mean, what they print, how they end.

mod archive;

use std::time::Duration;

use clap::{CommandFactory, Parser};

use super::args::{Cli, Command};
use super::output::{Answer, Failure};
use crate::archive::Store;
use crate::report::tests::{UUID, case, on_h200};
use crate::runner::{DeviceChoice, Options, ScheduleChoice};
use crate::terms::{ImageKind, Outcome, Profile};
use crate::worker::Address;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    let words = std::iter::once("cuda-gates").chain(line.split_whitespace());
    Cli::try_parse_from(words)
}

/// The choices of a line that runs.
fn run(line: &str, environment: Options) -> Options {
    match parse(line).unwrap() {
        Cli {
            command: Some(Command::Run(run)),
            ..
        }
        | Cli { command: None, run } => run.resolve(environment),
        other => panic!("{line}: {other:?}"),
    }
}

fn answer(line: &str) -> Result<Answer, Failure> {
    super::answer(parse(line).unwrap().command.unwrap(), Options::default())
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn run_is_what_happens_without_a_command() {
    for line in ["", "run"] {
        assert_eq!(
            run(line, Options::default()),
            Options::default(),
            "{line:?}"
        );
    }
    let options = run(
        "scan_total keep=128 --exact --skip jit --skip n=0",
        Options::default(),
    );
    assert_eq!(
        options,
        run(
            "run scan_total keep=128 --exact --skip jit --skip n=0",
            Options::default()
        )
    );
    assert_eq!(options.selection.filters, ["scan_total", "keep=128"]);
    assert_eq!(options.selection.skip, ["jit", "n=0"]);
    assert!(options.selection.exact);
    // A filter that is a command's name goes after `run`.
    assert_eq!(
        run("run list", Options::default()).selection.filters,
        ["list"]
    );
}

#[test]
fn schedules_on_the_line_win_over_the_environment() {
    let schedules = |line: &str, environment: ScheduleChoice| {
        let environment = Options {
            schedules: environment,
            ..Options::default()
        };
        run(line, environment).schedules
    };
    let explored = ScheduleChoice {
        count: Some(20),
        seed: Some(3),
        only: None,
    };
    let line = "--schedules 20 --seed 3";
    assert_eq!(schedules(line, ScheduleChoice::default()), explored);
    let replay = schedules("--schedule random:7,switches=13", explored);
    assert_eq!((replay.count, replay.seed), (None, None));
    assert_eq!(replay.only.unwrap().to_string(), "random:7,switches=13");
    assert_eq!(schedules("", explored), explored);
    for (line, words) in [
        ("--schedules 0", "1 to 4294967295"),
        ("--seed x", "0 to 18446744073709551615"),
        (
            "--schedule fair,backwards",
            "`backwards` is no part of a schedule",
        ),
        ("--schedule fair --seed 1", "cannot be used with"),
        ("--schedule fair --schedules 2", "cannot be used with"),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(words), "{line}: {error}");
    }
}

/// A variable that cannot be read is no obstacle where an argument wins over it.
#[test]
fn a_wrong_variable_matters_only_where_it_has_a_say() {
    let read = |line: &str, wrong: &str| {
        let get = |name: &str| (name == wrong).then(|| "bogus".into());
        parse(line)
            .unwrap()
            .environment(get)
            .map(|options| options.schedules)
    };
    let (count, seed, only) = (
        "CUDA_GATES_SCHEDULES",
        "CUDA_GATES_SEED",
        "CUDA_GATES_SCHEDULE",
    );
    for (line, wrong) in [
        ("run --schedule fair", only),
        ("--schedule fair", seed),
        ("run --schedule fair", count),
        ("run --schedules 3", only),
        ("run --schedules 3", count),
        ("--seed 3", seed),
        ("--seed 3", only),
    ] {
        assert_eq!(
            read(line, wrong),
            Ok(ScheduleChoice::default()),
            "{line} {wrong}"
        );
    }
    for (line, wrong) in [
        ("run", only),
        ("--schedules 3", seed),
        ("--seed 3", count),
        ("list", only),
    ] {
        assert_eq!(read(line, wrong).unwrap_err().place, wrong, "{line}");
    }
}

#[test]
fn every_choice_is_taken() {
    let line = "--device cuda:1 --profile perf --image jit,sass --reports r --specs s --kernels k --timeout 2.5 \
                --redact -q";
    let expected = Options {
        device: DeviceChoice::One(Address::Ordinal(1)),
        profile: Some(Profile::Perf),
        images: Some(vec![ImageKind::Jit, ImageKind::Sass]),
        reports: "r".into(),
        specs: Some("s".into()),
        kernels: Some("k".into()),
        timeout: Duration::from_millis(2500),
        redact: true,
        quiet: true,
        ..Options::default()
    };
    assert_eq!(run(line, Options::default()), expected);
}

#[test]
fn arguments_win_over_the_environment() {
    let environment = Options {
        device: DeviceChoice::One(Address::Ordinal(0)),
        profile: Some(Profile::Huge),
        images: Some(vec![ImageKind::Sass]),
        reports: "from-environment".into(),
        specs: Some("s".into()),
        timeout: Duration::from_secs(9),
        ..Options::default()
    };
    assert_eq!(run("", environment.clone()), environment);
    let options = run(
        "--device sim --profile quick --image jit --reports r --timeout 1",
        environment,
    );
    assert_eq!(options.device, DeviceChoice::One(Address::Sim));
    assert_eq!(options.profile, Some(Profile::Quick));
    assert_eq!(options.images, Some(vec![ImageKind::Jit]));
    assert_eq!(options.reports.to_str(), Some("r"));
    assert_eq!(options.specs.unwrap().to_str(), Some("s"));
    assert_eq!(options.timeout, Duration::from_secs(1));
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_there_is() {
    for (line, words) in [
        ("--device gpu", "auto, sim, cuda"),
        ("--profile fast", "quick, full, perf, huge"),
        ("--image ptx", "sass, jit, nvrtc"),
        ("--timeout 0", "positive"),
        ("--no-such-flag", "--no-such-flag"),
        ("report", "list"),
        ("list --format yaml", "json"),
        ("explain", "<CASE>"),
    ] {
        let error = parse(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(error.to_string().contains(words), "{line}: {error}");
    }
    assert_eq!(parse("--help").unwrap_err().exit_code(), 0);
    assert_eq!(parse("--version").unwrap_err().exit_code(), 0);
}

#[test]
fn a_command_after_choices_is_not_taken_for_a_filter() {
    let refused = parse("--device sim list")
        .unwrap()
        .no_command_among_filters()
        .unwrap_err();
    assert!(refused.contains("cuda-gates run list"), "{refused}");
    for line in ["--device sim scan", "run list", "list run", ""] {
        assert_eq!(
            parse(line).unwrap().no_command_among_filters(),
            Ok(()),
            "{line}"
        );
    }
}

#[test]
fn help_names_the_exit_codes() {
    let help = parse("--help").unwrap_err().to_string();
    for code in [
        "2  usage",
        "3  environment",
        "4  nothing",
        "1  a gate",
        "0  passed",
    ] {
        assert!(help.contains(code), "{help}");
    }
}

#[test]
fn schemas_are_printed_whole() {
    for document in ["report", "suite"] {
        let schema = answer(&format!("schema {document}")).unwrap().text;
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        assert!(schema["$schema"].is_string(), "{document}");
    }
}

#[test]
fn a_native_library_wants_a_table_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let native = folder.path().join("native");
    std::fs::create_dir(&native).unwrap();
    std::fs::write(native.join("native.txt"), "scan: int* x\n").unwrap();
    let command = format!("kernels native --kernels {}", folder.path().display());
    let failure = answer(&command).unwrap_err();
    assert_eq!(failure.code, 3);
    let words = "kernels/native/native.txt: line 1: `int* x` is no parameter";
    assert!(failure.text.contains(words), "{}", failure.text);
}

#[test]
fn kernels_want_a_folder_that_is_there() {
    let failure = answer("kernels verify --kernels /nowhere/kernels").unwrap_err();
    assert_eq!(failure.code, 2);
    assert!(
        failure.text.contains("/nowhere/kernels"),
        "{}",
        failure.text
    );
}

#[test]
fn a_cases_plan_is_explained_and_an_unknown_case_is_wrong_usage() {
    let text = answer("explain compaction::exact_compaction::keep=128::n=65537::jit")
        .unwrap()
        .text;
    for words in [
        "keep = 128",
        "tiles0 = 257",
        "scan_tiles<<<257, 256>>>(rank, rank, sums0, 65537)",
        "launches: 7",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let failure = answer("explain compaction::nope::jit").unwrap_err();
    assert_eq!(failure.code, 2);
    assert!(failure.text.contains("cuda-gates list"), "{}", failure.text);
}

#[test]
fn a_list_is_ids_or_one_document() {
    let text = answer("list --device sim compaction::scan_total --skip n=0")
        .unwrap()
        .text;
    assert!(text.lines().count() > 10);
    assert!(
        text.lines()
            .all(|id| id.starts_with("compaction::scan_total::") && id.ends_with("::jit")),
        "{text}"
    );
    let json = answer("list --device sim compaction::scan_total --skip n=0 --format json")
        .unwrap()
        .text;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let ids: Vec<&str> = json["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c["id"].as_str())
        .collect();
    assert_eq!(ids, text.lines().collect::<Vec<_>>());
    assert_eq!(json["run"]["device"], "sim");
    let none = answer("list --device sim no-such-case").unwrap();
    assert_eq!((none.code, none.text.as_str()), (4, ""));
}

#[test]
fn specs_are_checked_with_every_problem_at_once() {
    let good = answer("check").unwrap();
    assert!(good.text.contains("specs/compaction.yaml"), "{}", good.text);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.yaml");
    std::fs::write(
        &file,
        "version: 1\nsuite: bad\nnonsense: 3\nkernels: [nowhere.cu]\n",
    )
    .unwrap();
    let failure = answer(&format!("check {}", file.display())).unwrap_err();
    assert_eq!(failure.code, 2);
    for words in ["bad.yaml", "nonsense", "nowhere"] {
        assert!(failure.text.contains(words), "{words}: {}", failure.text);
    }
    assert_eq!(answer("check /nowhere.yaml").unwrap_err().code, 2);
}

/// What a generator refuses is told with its place, in whatever profile it stands.
#[test]
fn inputs_that_no_generator_makes_are_told_by_check() {
    let cases = [
        (
            "i32, generator: stripes, width: 0",
            "width: ",
            "generator `stripes`: width 0 is not at least 1",
        ),
        (
            "i32, generator: stripes, width: n - 7",
            "width: ",
            "generator `stripes`: width 0 is not at least 1",
        ),
        (
            "i32, generator: survivors, keep: 300",
            "keep: ",
            "generator `survivors`: keep 300 lies outside 0 to 256",
        ),
        (
            "i32, generator: uniform, min: 5, max: 1",
            "min: ",
            "generator `uniform`: min 5 is above max 1",
        ),
        (
            "i32, generator: constant, value: 99999999999",
            "value: ",
            "generator `constant`: value 99999999999 lies outside i32: -2147483648 to 2147483647",
        ),
        (
            "i8, generator: iota, start: n % 2 * 140",
            "start: ",
            "generator `iota`: start 140 lies outside i8: -128 to 127",
        ),
        (
            "u8, generator: reverse",
            "generator: ",
            "generator `reverse`: the first element, 299 lies outside u8: 0 to 255",
        ),
    ];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("values.yaml");
    for profile in ["quick", "full"] {
        for (input, before, words) in cases {
            let n = if input.contains("reverse") { 300 } else { 7 };
            // The other profile's value is one that every generator takes.
            let axis = match profile {
                "quick" => format!("{{quick: [{n}], full: [8]}}"),
                _ if input.contains('n') => format!("{{quick: [8], full: [{n}]}}"),
                _ => unreachable!("every input holds the letter"),
            };
            let text = format!(
                "version: 1\nsuite: values\ntitle: Values\nkernels: [compaction.cu]\naxes: {{n: {axis}}}\n\
                 inputs: {{input: {{type: {input}, len: n}}}}\nbuffers: {{out: {{type: i32, len: 1}}}}\n\
                 pipelines: {{p: [{{memset: out, value: 0}}]}}\n\
                 gates: {{g: {{run: p, check: repeatable, got: out, runs: 2}}}}\n"
            );
            let line = text.lines().nth(5).unwrap();
            let column = line.find(before).unwrap() + before.len() + 1;
            std::fs::write(&file, &text).unwrap();
            let failure = answer(&format!("check {}", file.display())).unwrap_err();
            assert_eq!(failure.code, 2);
            let told = &failure.text;
            assert!(
                told.contains(&format!(":6:{column}")) && told.contains(words),
                "{input}: {told}"
            );
            assert_eq!(told.matches("generator `").count(), 1, "{told}");
        }
    }
}

#[test]
fn a_mutation_run_takes_its_choices_and_refuses_what_is_not_there() {
    for (line, words) in [
        (
            "mutate --operators guard,nothing",
            "`nothing` is no kind of change: drop_barrier, ",
        ),
        ("mutate --least 101", "no percentage from 0 to 100"),
        ("mutate --limit 0", "0 is not in 1.."),
        ("mutate --schedules 0", "no number of schedules"),
    ] {
        let error = parse(line).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(words), "{line}: {error}");
    }
    let failure = answer("mutate no_such_suite").unwrap_err();
    assert_eq!(failure.code, 2);
    assert!(
        failure.text.contains("there are aggregated, compaction"),
        "{}",
        failure.text
    );
}
