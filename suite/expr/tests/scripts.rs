use super::{AT, scope};
use crate::expr::{Engine, Scope, ScriptResult};
use crate::value::{ArrayRef, Scalar};

#[test]
fn a_script_returns_a_number_or_an_array() {
    let engine = Engine::new();
    let input = [3i32, 0, -1, 0];
    let arrays = [("input".to_string(), ArrayRef::I32(&input))];
    let run = |text: &str| engine.script(text, AT, &arrays, &scope());
    let kept =
        run("let out = [];\nfor x in input { if x != 0 { out.push(x * n); } }\nout").unwrap();
    assert_eq!(
        kept,
        ScriptResult::Numbers(vec![Scalar::Int(771), Scalar::Int(-257)])
    );
    assert_eq!(
        run("input.len"),
        Ok(ScriptResult::Number(Scalar::Int(4))),
        "a property"
    );
    assert_eq!(run("0.5"), Ok(ScriptResult::Number(Scalar::Float(0.5))));
    assert_eq!(
        run("fn twice(x) { 2 * x } twice(ceil_div(n, 256))"),
        Ok(ScriptResult::Number(Scalar::Int(4)))
    );
    assert_eq!(
        run("[1, 2.5]"),
        Ok(ScriptResult::Numbers(vec![
            Scalar::Int(1),
            Scalar::Float(2.5)
        ]))
    );
}

#[test]
fn a_scripts_errors_have_their_place_inside_it() {
    let engine = Engine::with_script_operations(10_000);
    let arrays = [("input".to_string(), ArrayRef::U64(&[1, 2]))];
    let at = |text: &str| {
        let error = engine.script(text, AT, &arrays, &scope()).expect_err(text);
        (
            error.place.line - AT.line,
            error.place.column - AT.column,
            error.message,
        )
    };
    let table: &[(&str, usize, usize, &str)] = &[
        ("let x = 1;\n  x / 0", 1, 4, "division by zero"),
        ("let x = ;", 0, 8, "syntax error"),
        ("1;\n\nfoo(2)", 2, 0, "no function `foo`"),
        ("input[5]", 0, 6, "out of bounds"),
        ("1;\nx", 1, 0, "`x` is unknown"),
        ("loop { }", 0, 5, "too many operations"),
        ("1 << 70", 0, 2, "shifts go from 0 to 63"),
        ("let x = 1; x <<= 70; x", 0, 13, "shifts go from 0 to 63"),
        ("fn f(x) { f(x + 1) } f(1)", 0, 21, "nest too deeply"),
        ("fn f(x) {\n x / 0 } f(1)", 1, 3, "division by zero"),
        ("let a = []; a.pad(1000000000000, 0); a", 0, 14, "at most"),
        ("\"text\"", 0, 0, "neither a number nor an array"),
        ("let x = 1;", 0, 0, "gives nothing"),
        ("[1, true]", 0, 0, "element 1"),
        ("eval(\"1\")", 0, 0, ""),
    ];
    let mut wrong = Vec::new();
    for (text, line, column, words) in table {
        let (got_line, got_column, message) = at(text);
        if !message.contains(words) || (got_line, got_column) != (*line, *column) {
            wrong.push(format!("{text}: {got_line}:{got_column} {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_script_input_beyond_i64_is_an_error() {
    let engine = Engine::new();
    let arrays = [("keys".to_string(), ArrayRef::U64(&[1, u64::MAX]))];
    let error = engine
        .script("keys[0]", AT, &arrays, &Scope::new())
        .unwrap_err();
    assert!(error.message.contains("element 1"), "{error}");
}

#[test]
fn a_script_over_a_million_elements_is_linear() {
    let engine = Engine::new();
    let input: Vec<i32> = (0..1_000_000).collect();
    let arrays = [("input".to_string(), ArrayRef::I32(&input))];
    let text = "let out = []; for x in input { if x % 2 == 0 { out.push(x); } } out";
    let started = std::time::Instant::now();
    let ScriptResult::Numbers(got) = engine.script(text, AT, &arrays, &Scope::new()).unwrap()
    else {
        panic!("an array is wanted");
    };
    assert_eq!(got.len(), 500_000);
    assert_eq!(got[499_999], Scalar::Int(999_998));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    eprintln!("1 M elements: {:?}", started.elapsed());
}

#[test]
fn a_sort_of_mixed_types_is_no_unknown_function() {
    let engine = Engine::new();
    let error = engine
        .script("let a = [1, \"x\"];\na.sort();\na", AT, &[], &Scope::new())
        .unwrap_err();
    assert_eq!(
        error.message,
        "elements of different types cannot be sorted"
    );
    assert_eq!(error.place.line, AT.line + 1);
}

#[test]
fn a_script_cannot_sleep_its_deadline_away() {
    for script in ["sleep(100)", "sleep(0.1)"] {
        let error = Engine::new().script(script, AT, &[], &Scope::new());
        assert_eq!(error.unwrap_err().message, "a script cannot sleep");
    }
}
