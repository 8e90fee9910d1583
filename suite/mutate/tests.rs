//! Mutation of whole suites, small ones.

use std::fs;
use std::path::Path;

use super::record::{MutantOutcome, MutationReport};
use super::{Choices, Ended, Operator, Refused, mutants, run};
use crate::image::{Catalog, Code, ptx};
use crate::runner::Options;
use crate::terms::ImageKind;

/// `zero_count` and `compact_atomic` on few elements, judged by gates on other lengths.
fn suite(lengths: &str, want: &str) -> String {
    format!(
        "version: 1\nsuite: small\ntitle: Small\nkernels: [compaction.cu]\naxes: {{n: {lengths}}}\n\
         inputs: {{input: {{type: i32, generator: survivors, seed: 1, keep: 128, len: n}}}}\n\
         buffers:\n  count: {{type: i32, len: 1}}\n  out: {{type: i32, len: n}}\n\
         pipelines:\n  atomic:\n    - {{kernel: zero_count, grid: 1, block: 1, args: [count]}}\n    \
         - {{kernel: compact_atomic, grid: 2, block: 64, args: [input, out, count, n]}}\n\
         gates:\n  counted: {{run: atomic, check: count, got: \"count[0]\", want: {{count: {want}}}}}\n  \
         kept: {{run: atomic, check: multiset, got: out, want: {{compact: {want}}}}}\n"
    )
}

fn choices() -> Choices {
    Choices {
        suites: Vec::new(),
        schedules: 1,
        seed: 0,
        operators: Vec::new(),
        limit: None,
        kernel: None,
        mutants: Vec::new(),
        listed: false,
        least_score: 60.0,
    }
}

fn mutated(folder: &Path, text: &str, choices: &Choices) -> Result<Ended, Refused> {
    let specs = folder.join("specs");
    fs::create_dir_all(&specs).expect("a folder");
    fs::write(specs.join("small.yaml"), text).expect("a spec");
    let options = Options {
        specs: Some(specs),
        reports: folder.join("reports"),
        quiet: true,
        ..Options::default()
    };
    run(&options, choices)
}

fn ended(folder: &Path, text: &str, choices: &Choices) -> Ended {
    mutated(folder, text, choices).unwrap_or_else(|refused| panic!("{refused:?}"))
}

fn outcomes(report: &MutationReport, operator: Operator) -> Vec<MutantOutcome> {
    let mutants = report.suites[0].mutants.iter();
    mutants
        .filter(|mutant| mutant.operator == operator)
        .map(|mutant| mutant.outcome)
        .collect()
}

#[test]
fn gates_notice_most_changes_and_the_run_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let choices = choices();
    let first = ended(folder.path(), &suite("[0, 1, 300]", "nonzero"), &choices);
    let suite_record = &first.report.suites[0];
    assert!(first.passed, "{}", first.text);
    assert_eq!(suite_record.totals.invalid, 0, "{}", first.text);
    assert_eq!(suite_record.totals.mutants, suite_record.made);
    let sum: usize = suite_record.by_kernel.values().map(|t| t.mutants).sum();
    assert_eq!(sum, suite_record.made);
    let dropped = outcomes(&first.report, Operator::DropStore);
    assert!(!dropped.is_empty() && dropped.iter().all(|o| *o == MutantOutcome::Gate));
    // A lost update needs no luck here: all lanes of a warp load before any stores.
    assert_eq!(
        outcomes(&first.report, Operator::SplitAtomic)[0],
        MutantOutcome::Gate
    );
    // `zero_count` has one block; `compact_atomic` is right on any grid.
    assert_eq!(outcomes(&first.report, Operator::Grid).len(), 2);
    assert!(
        suite_record.notes[0].contains("compact_atomic"),
        "{:?}",
        suite_record.notes
    );

    let kept = first.folder.clone().expect("a folder");
    let json = fs::read_to_string(kept.join("mutation.json")).expect("a report");
    let read: MutationReport = serde_json::from_str(&json).expect("a report");
    assert_eq!(read, first.report);
    assert!(kept.starts_with(folder.path().join("reports/sim")));

    let second = ended(folder.path(), &suite("[0, 1, 300]", "nonzero"), &choices);
    assert_eq!(
        second.report.suites[0].mutants, suite_record.mutants,
        "runs are alike"
    );
}

#[test]
fn a_suite_that_looks_at_nothing_fails_and_names_what_it_missed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ended = ended(folder.path(), &suite("[0]", "nonzero"), &choices());
    assert!(!ended.passed);
    let survived = ended.report.suites[0].totals.survived;
    assert!(survived > 10, "{}", ended.text);
    assert!(
        ended.text.contains("all memory is the same"),
        "{}",
        ended.text
    );
}

#[test]
fn only_what_is_asked_for_is_changed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let some = Choices {
        operators: vec![Operator::DropStore, Operator::Comparison],
        kernel: Some("compact".to_owned()),
        limit: Some(2),
        ..choices()
    };
    let ended = ended(folder.path(), &suite("[65]", "nonzero"), &some);
    let mutants = &ended.report.suites[0].mutants;
    assert_eq!(mutants.len(), 2);
    for mutant in mutants {
        assert_eq!(mutant.kernel, "compact_atomic");
        assert!(some.operators.contains(&mutant.operator));
    }
}

#[test]
fn a_mutant_is_run_alone_by_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = suite("[0, 1, 65]", "nonzero");
    let of = |ids: &[&str]| Choices {
        mutants: ids.iter().map(|id| (*id).to_owned()).collect(),
        schedules: 3,
        ..choices()
    };
    let all = ended(
        folder.path(),
        &text,
        &Choices {
            kernel: Some("zero".to_owned()),
            ..choices()
        },
    );
    let mutants = &all.report.suites[0].mutants;
    let grid = mutants
        .iter()
        .find(|mutant| mutant.operator == Operator::Grid && mutant.after.contains('+'))
        .expect("one block more");
    let alone = ended(folder.path(), &text, &of(&[&grid.id]));
    let found = &alone.report.suites[0].mutants;
    assert_eq!(found.len(), 1, "{}", alone.text);
    assert_eq!(found[0].id, grid.id);
    match mutated(folder.path(), &text, &of(&["zero_count:1:nothing"])) {
        Err(Refused::Usage(message)) => {
            assert!(
                message.contains("no mutant `zero_count:1:nothing`"),
                "{message}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_choice_that_leaves_nothing_is_told_as_such() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = suite("[300]", "nonzero");
    let words = |text: &str, choices: &Choices| match mutated(folder.path(), text, choices) {
        Err(Refused::Nothing(words)) => words,
        other => panic!("{other:?}"),
    };
    let kernel = Choices {
        kernel: Some("nosuch".to_owned()),
        ..choices()
    };
    let told = words(&text, &kernel);
    assert!(
        told.contains("small, --kernel nosuch leaves none"),
        "{told}"
    );
    let listed = Choices {
        listed: true,
        ..choices()
    };
    let told = words(&text, &listed);
    assert!(told.contains("--listed leaves none"), "{told}");
    let elsewhere = suite("{perf: [300]}", "nonzero");
    let told = words(&elsewhere, &choices());
    assert!(
        told.contains("small has no case of profile quick"),
        "{told}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("reports"), "a file").expect("a file");
    // A suite that would fail as it is.
    match mutated(folder.path(), &suite("[65]", "even"), &choices()) {
        Err(Refused::Folder(words)) => assert!(words.contains("reports"), "{words}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_measured_with_a_suite_that_fails_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    match mutated(folder.path(), &suite("[65]", "even"), &choices()) {
        Err(Refused::Baseline(message)) => {
            assert!(message.contains("small::counted::n=65::jit"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    let unknown = Choices {
        suites: vec!["smal".to_owned()],
        ..choices()
    };
    match mutated(folder.path(), &suite("[65]", "nonzero"), &unknown) {
        Err(Refused::Usage(message)) => assert!(message.contains("no suite `smal`"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_list_of_equivalents_is_held_to_what_runs_show() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = suite("[0, 1, 300]", "nonzero");
    let first = ended(folder.path(), &text, &choices());
    let of = |outcome| {
        let mutants = first.report.suites[0].mutants.iter();
        let same = |m: &&super::MutantRecord| m.outcome == outcome && m.identical != Some(false);
        mutants.filter(same).map(|m| m.id.clone()).next()
    };
    let survivor = of(MutantOutcome::Survived).expect("a survivor");
    let killed = of(MutantOutcome::Gate).expect("a mutant that was noticed");
    let list = folder.path().join("specs/mutants");
    fs::create_dir_all(&list).expect("a folder");
    let write = |ids: &[&str]| {
        let text = format!(
            "version: 1\nsuite: small\nequivalent: [{{mutants: {ids:?}, reason: a test}}]\n"
        );
        fs::write(list.join("small.yaml"), text).expect("a list");
    };

    write(&[&survivor]);
    let right = ended(folder.path(), &text, &choices());
    assert!(right.passed, "{}", right.text);
    assert_eq!(right.report.suites[0].totals.equivalent, 1);
    assert!(right.report.suites[0].score > first.report.suites[0].score);
    let listed = Choices {
        listed: true,
        schedules: 5,
        ..choices()
    };
    let only = ended(folder.path(), &text, &listed);
    assert!(only.passed, "{}", only.text);
    assert_eq!(only.report.suites[0].totals.mutants, 1);

    write(&[&killed, "k:1:guard"]);
    let wrong = ended(folder.path(), &text, &choices());
    assert!(!wrong.passed);
    let problems = &wrong.report.suites[0].problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("is not equivalent"), "{problems:?}");
    assert!(
        problems[1].contains("`k:1:guard` is no mutant"),
        "{problems:?}"
    );
}

/// Every mutant is PTX, and at most one instruction away from what it was made of.
#[test]
fn mutants_of_a_module_are_ptx_with_one_change() {
    let image = Catalog::embedded().image("compaction", ImageKind::Jit, (7, 5));
    let Code::Ptx(text) = image.expect("committed PTX").code else {
        panic!("no PTX");
    };
    let all = mutants(
        "compaction",
        &text,
        &["scan_tiles", "scatter"],
        Operator::ALL,
    )
    .expect("PTX");
    assert!(all.len() > 200);
    let mut ids: Vec<&str> = all.iter().map(|mutant| mutant.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "names are unique");
    let original = ptx::parse(&text).expect("PTX");
    for mutant in &all {
        let super::mutant::Change::Text(changed) = &mutant.change else {
            continue;
        };
        let parsed = ptx::parse(changed).unwrap_or_else(|e| panic!("{}: {e}", mutant.id));
        assert_eq!(parsed.functions.len(), 1, "the kernel alone");
        let texts = |module: &ptx::Module| -> Vec<String> {
            let found = module.functions.iter().find(|f| *f.name == *mutant.kernel);
            let body = found.and_then(|f| f.body.as_ref()).expect("a body");
            super::facts::instructions(body)
                .map(|i| i.text.clone())
                .collect()
        };
        let (before, after) = (texts(&original), texts(&parsed));
        let same = before
            .iter()
            .zip(&after)
            .take_while(|(a, b)| a == b)
            .count();
        let behind = before[same..].iter().rev().zip(after[same..].iter().rev());
        let same_behind = behind.take_while(|(a, b)| a == b).count();
        assert!(
            before.len() - same - same_behind <= 1,
            "{}: {before:?} {after:?}",
            mutant.id
        );
    }
}

#[test]
fn the_committed_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/mutation.schema.json");
    if std::env::var_os("CUDA_GATES_BLESS").is_some_and(|v| v == "1") {
        fs::write(&path, super::schema()).expect("a schema");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == super::schema(),
        "docs/schema/mutation.schema.json is stale: run `CUDA_GATES_BLESS=1 cargo test --lib mutate::`"
    );
}

/// Running them is for a release; a name that is no mutant any more is told here.
#[test]
fn committed_lists_name_mutants_of_the_committed_kernels() {
    let sources = crate::worker::sources::load(None, None).expect("suites");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/mutants");
    let mut lists = 0;
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("a list").path();
        let name = path.file_stem().and_then(|n| n.to_str()).expect("a name");
        let suite = sources.suites.iter().find(|suite| suite.name == name);
        let suite = suite.unwrap_or_else(|| panic!("no suite `{name}`"));
        let list = crate::spec::equivalents::Equivalents::load(&path, name);
        let list = list
            .unwrap_or_else(|errors| panic!("{errors}"))
            .expect("a list");
        let mut ids = std::collections::HashSet::new();
        for module in &suite.kernels {
            let module = module.trim_end_matches(".cu");
            let image = sources.catalog.image(module, ImageKind::Jit, (7, 5));
            let Ok(Code::Ptx(text)) = image.map(|image| image.code) else {
                panic!("{module}: no PTX");
            };
            let parsed = ptx::parse(&text).expect("PTX");
            let kernels: Vec<&str> = parsed.functions.iter().map(|f| f.name.as_str()).collect();
            let made = mutants(module, &text, &kernels, Operator::ALL).expect("PTX");
            ids.extend(made.into_iter().map(|mutant| mutant.id));
        }
        for entry in &list.entries {
            assert!(
                ids.contains(&entry.mutant),
                "{}: {}",
                list.path,
                entry.mutant
            );
        }
        lists += 1;
    }
    assert!(lists > 0);
}
