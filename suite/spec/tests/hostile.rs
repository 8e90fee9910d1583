//! Files made to break a parser: each ends in a problem, in less than a second, with the process alive.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::good::{EXAMPLES, example};
use super::*;

/// What this thread has used of a processor: the machine may be busy with other tests.
fn used() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Loads in less than a second, and gives the problems.
fn quickly(bytes: &[u8]) -> Vec<String> {
    let started = used();
    let found = load_bytes(bytes).expect_err("it is wrong");
    let elapsed = used() - started;
    let shown: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
    assert!(elapsed < Duration::from_secs(1), "{shown}: {elapsed:?}");
    let rendered = super::super::SpecErrors(found.clone()).render_with(false);
    assert!(rendered.len() < 200_000, "{shown}: {}", rendered.len());
    let elapsed = used() - started;
    assert!(
        elapsed < Duration::from_secs(2),
        "{shown}: {elapsed:?} with rendering"
    );
    found.iter().map(Problem::to_string).collect()
}

fn only(text: &str, words: &str) {
    let found = quickly(text.as_bytes());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(words), "{found:?}");
}

#[test]
fn deep_nesting_is_refused_where_it_gets_too_deep() {
    only(&"[".repeat(100_000), "nested more than 32 deep");
    only(&"- ".repeat(50_000), "1:65: nested more than 32 deep");
    only(&"{a: ".repeat(50_000), "nested more than 32 deep");
    only(&"? ".repeat(50_000), "nested more than 32 deep");
    let steps: String = (0..1000).map(|i| " ".repeat(i) + "-\n").collect();
    only(&steps, "33:33: nested more than 32 deep");
    let shallow = format!("a: {}{}\n", "[".repeat(31), "]".repeat(31));
    assert!(!quickly(shallow.as_bytes()).concat().contains("deep"));
    let deeper = format!("a: {}{}\n", "[".repeat(32), "]".repeat(32));
    assert!(quickly(deeper.as_bytes()).concat().contains("deep"));
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    let large = "# a comment\n".repeat(2 << 20).into_bytes();
    let found = quickly(&large[..2 << 20]);
    assert!(found[0].contains("2097152 bytes"), "{found:?}");
    assert!(found[0].contains("1 MiB"), "{found:?}");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("large.yaml");
    std::fs::write(&path, &large[..2 << 20]).expect("a file");
    let errors = Loader::new(&Fake, names()).file(&path).unwrap_err();
    assert!(errors.to_string().contains("2097152 bytes"), "{errors}");
}

#[test]
fn a_mebibyte_of_anything_is_judged_in_a_second() {
    let size = 1 << 20;
    for unit in [
        "- x\n",
        "x,",
        "x ",
        "x: ",
        "*a ",
        "&a ",
        "!t ",
        "\"",
        "'",
        "\n",
        "# c\n",
        "\t\n",
        "[],",
        "{},",
        "a: {b: c}\n",
        "|\n",
        "> ",
        "é",
        "%",
        "@",
        "---\n",
        "a: f(x\n",
        "${",
        "\u{feff}",
        ": ",
        ", ",
        "- [\n",
        "a: 'b\n",
        "\\",
        "<<: ",
        "? a\n",
    ] {
        let text = unit.repeat(size / unit.len());
        quickly(text.as_bytes());
        quickly(format!("[{text}").as_bytes().get(..size).unwrap_or(b"["));
        quickly(format!("{{{text}").as_bytes().get(..size).unwrap_or(b"{"));
        quickly(format!("a: {text}").as_bytes().get(..size).unwrap_or(b"a"));
    }
    let keys: String = (0..9_000).map(|i| format!("k{i}: {i}\n")).collect();
    let found = quickly(keys.as_bytes());
    assert_eq!(found.len(), 201, "two hundred, and how many more there are");
    let axes: String = (0..4_000).map(|i| format!("  k{i}: [{i}]\n")).collect();
    quickly(format!("axes:\n{axes}").as_bytes());
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut bytes = example("naive").as_bytes().to_vec();
    bytes[200] = 0xff;
    let found = quickly(&bytes);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("line 6 is not UTF-8"), "{found:?}");
    only("a: 1\0", "unprintable");
    quickly(&[0xfe, 0xff, 0, b'a']);
    assert!(load(&format!("\u{feff}{}", example("naive"))).is_ok());
    assert!(load(&example("naive").replace('\n', "\r\n")).is_ok());
}

/// Readers of YAML and editors would count its lines differently.
#[test]
fn odd_line_breaks_are_refused() {
    for (odd, words) in [
        ("\r", "line 3 ends with a carriage return alone"),
        ("\u{85}", "line 3 has U+0085"),
        ("\u{2028}", "line 3 has U+2028"),
        ("\u{2029}", "write it as \\u2029 in double quotes"),
    ] {
        let found = quickly(format!("version: 1\n\r\n# a{odd}b: 2\n").as_bytes());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(words), "{found:?}");
    }
}

#[test]
fn a_huge_product_of_axes_is_refused() {
    let list: Vec<String> = (0..400).map(|i| i.to_string()).collect();
    let list = format!("[{}]", list.join(", "));
    let axes = format!("axes: {{n: {list}, a: {list}, b: {list}, c: {list}, d: {list}}}");
    let naive = example("naive");
    let old = naive.lines().nth(4).expect("the line of axes");
    let found = quickly(naive.replace(old, &axes).as_bytes());
    let text = found.join("\n");
    assert!(
        text.contains("more than 100000 cases in profile quick"),
        "{text}"
    );
    assert!(text.contains("take values out of the axes"), "{text}");
}

/// Every case has a copy of what names it: long names times many cases would fill the memory.
#[test]
fn names_that_every_case_repeats_are_short() {
    let naive = example("naive");
    let axes = naive.lines().nth(4).expect("the line of axes");
    let long = "x".repeat(400_000);
    let values = |line: &str| quickly(naive.replace(axes, line).as_bytes()).join("\n");
    let told = values(&format!("axes: {{n: [1], a: [{long}]}}"));
    assert!(told.contains("5:20: "), "{told}");
    assert!(
        told.contains("too long to be part of a test's name"),
        "{told}"
    );
    assert!(told.contains("at most 64 characters"), "{told}");
    let many: String = (0..4000).map(|i| format!(", a{i}: [1]")).collect();
    let told = values(&format!("axes: {{n: [1]{many}}}"));
    assert!(told.contains("a block has at most 16 axes"), "{told}");
    for key in ["title", "subject"] {
        let text = format!("{naive}{key}: {long}\n");
        let text = match key {
            "title" => text.replacen("title:", "# title:", 1),
            _ => text,
        };
        let told = quickly(text.as_bytes()).join("\n");
        let words = format!("a {key} has more than 200 characters");
        assert!(told.contains(&words), "{told}");
    }
}

#[test]
fn pipelines_that_double_are_followed_once() {
    let mut text = "version: 1\nsuite: doubling\nkernels: [compaction.cu]\naxes: {n: [1]}\n\
                    buffers: {out: {type: i32, len: n}}\npipelines:\n  p0: [{memset: out, value: 0}]\n"
        .to_string();
    for i in 1..60 {
        let below = i - 1;
        text += &format!("  p{i}: [{{pipeline: p{below}}}, {{pipeline: p{below}}}]\n");
    }
    text += "gates:\n  r: {run: p59, check: repeatable, got: out, runs: 2}\n";
    let started = used();
    assert!(load(&text).is_ok(), "{:?}", problems(&text));
    assert!(used() - started < Duration::from_secs(1));
}

#[test]
fn deep_expressions_are_problems() {
    let deep = format!("{}n{}", "(".repeat(2000), ")".repeat(2000));
    let text = example("naive").replace("ceil_log2(n)", &deep);
    let found = quickly(text.as_bytes());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("7:47: let.passes: the expression is nested too deeply"),
        "{found:?}"
    );
}

/// One change of a text at a character: remove, double, replace, cut, swap lines.
fn mutate(text: &str, changes: &[(u8, usize, char)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (kind, at, with) in changes {
        if chars.is_empty() {
            break;
        }
        let at = at % chars.len();
        match kind % 6 {
            0 => {
                chars.remove(at);
            }
            1 => chars.insert(at, *with),
            2 => chars[at] = *with,
            3 => chars.truncate(at),
            4 => {
                let end = (at + 20).min(chars.len());
                let copied = chars[at..end].to_vec();
                chars.splice(at..at, copied);
            }
            _ => {
                let end = (at + 7).min(chars.len());
                chars.drain(at..end);
            }
        }
    }
    chars.into_iter().collect()
}

fn interesting() -> impl Strategy<Value = char> {
    prop::sample::select(
        "{}[](),:-#&*!|>'\"%@`\t\n ?<~$.\\0129nxé\u{0}\u{feff}"
            .chars()
            .collect::<Vec<_>>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_examples_never_panic(
        which in 0..EXAMPLES.len(),
        changes in prop::collection::vec((any::<u8>(), any::<usize>(), interesting()), 1..6),
    ) {
        let text = mutate(EXAMPLES[which].1, &changes);
        if let Err(found) = load(&text) {
            prop_assert!(!found.is_empty());
            let lines = text.lines().count();
            for problem in &found {
                prop_assert!(!problem.message.is_empty());
                if let Some(place) = problem.place {
                    prop_assert!(place.line >= 1 && place.line <= lines.max(1), "{problem}");
                    prop_assert!(place.column >= 1, "{problem}");
                }
            }
            super::super::SpecErrors(found).render_with(true);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = load_bytes(&bytes);
    }
}

/// A folder whose `good.yaml` loads, and a loader for it.
fn beside_a_good_suite(check: impl Fn(&Path, &dyn Fn() -> String)) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("good.yaml"), example("naive")).expect("a file");
    check(
        dir.path(),
        &|| match Loader::new(&Fake, names()).dir(dir.path()) {
            Ok(suites) => format!("{} suites", suites.len()),
            Err(errors) => errors.to_string(),
        },
    );
}

#[test]
fn a_suite_that_cannot_be_read_is_a_problem_and_not_a_suite_less() {
    beside_a_good_suite(|dir, load| {
        let bad = dir.join("bad.yaml");
        std::os::unix::fs::symlink("nowhere.yaml", &bad).expect("a link");
        assert!(
            load().contains("bad.yaml: the file cannot be read"),
            "{}",
            load()
        );
        std::fs::remove_file(&bad).expect("a link");
        std::os::unix::fs::symlink("bad.yaml", &bad).expect("a link");
        assert!(
            load().contains("bad.yaml: the file cannot be read"),
            "{}",
            load()
        );
    });
}

#[test]
fn a_suite_with_a_near_ending_is_a_problem_and_a_hidden_file_is_none() {
    beside_a_good_suite(|dir, load| {
        std::os::unix::fs::symlink("user@host.1", dir.join(".#good.yaml")).expect("a link");
        assert_eq!(load(), "1 suites");
        for name in ["more.yml", "MORE.YAML"] {
            std::fs::write(dir.join(name), "version: 1\n").expect("a file");
            let told = load();
            assert!(
                told.contains(name) && told.contains("ends in .yaml"),
                "{told}"
            );
            std::fs::remove_file(dir.join(name)).expect("a file");
        }
    });
}

#[test]
fn a_pipe_or_a_device_is_refused_unopened() {
    beside_a_good_suite(|dir, load| {
        let bad = dir.join("bad.yaml");
        let made = std::process::Command::new("mkfifo").arg(&bad).status();
        assert!(made.expect("mkfifo").success());
        assert!(load().contains("not a regular file"), "{}", load());
        std::fs::remove_file(&bad).expect("a pipe");
        std::os::unix::fs::symlink("/dev/zero", &bad).expect("a link");
        assert!(load().contains("not a regular file"), "{}", load());
        // A file that a spec names is read by the same rule.
        let named = super::super::files::read_beside(&bad).unwrap_err();
        assert!(named.to_string().contains("not a regular file"), "{named}");
    });
}
