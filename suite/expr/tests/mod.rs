mod scripts;

use std::collections::BTreeMap;

use super::*;

const AT: Place = Place {
    line: 7,
    column: 20,
};

fn expr(source: &str) -> Expr {
    Expr {
        source: source.to_string(),
        place: AT,
    }
}

fn scope() -> Scope {
    let stats = BTreeMap::from([
        ("median_ms".to_string(), Value::Float(1.5)),
        ("launches".to_string(), Value::Int(7)),
    ]);
    let rows = BTreeMap::from([("compaction".to_string(), Value::Map(stats))]);
    let mut scope = Scope::new();
    scope.set("n", Value::Int(257));
    scope.set("keep", Value::Int(128));
    scope.set("pattern", Value::Text("none".into()));
    scope.set("rows", Value::Map(rows));
    scope
}

#[test]
fn integers_by_table() {
    let table: &[(&str, i64)] = &[
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-n", -257),
        ("- -n", 257),
        ("0x10", 16),
        ("1_000", 1000),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 % 4", 3),
        ("2 ** 10", 1024),
        ("1 << 0", 1),
        ("1 << 62", 1 << 62),
        ("-1 << 63", i64::MIN),
        ("n >> 8", 1),
        ("-1 >> 63", -1),
        ("1 >> 63", 0),
        ("6 & 3 | 8 ^ 1", (6 & 3) | (8 ^ 1)),
        ("ceil_div(n, 256)", 2),
        ("ceil_div(256, 256)", 1),
        ("ceil_div(0, 256)", 0),
        ("ceil_div(-7, 2)", -3),
        ("ceil_div(7, -2)", -3),
        ("ceil_div(-7, -2)", 4),
        ("ceil_div(9223372036854775807, 2)", 1 << 62),
        ("ceil_log2(-5)", 0),
        ("ceil_log2(0)", 0),
        ("ceil_log2(1)", 0),
        ("ceil_log2(2)", 1),
        ("ceil_log2(3)", 2),
        ("ceil_log2(4)", 2),
        ("ceil_log2(9223372036854775807)", 63),
        ("next_pow2(0)", 1),
        ("next_pow2(1)", 1),
        ("next_pow2(5)", 8),
        ("next_pow2(1 << 62)", 1 << 62),
        ("min(3, -4)", -4),
        ("choose(n == 257, 3, 4)", 3),
        ("choose(pattern == \"all\", 3, 4)", 4),
        ("max(3, -4)", 3),
        ("pow(3, 4)", 81),
        ("pow(-2, 63)", i64::MIN),
        ("pow(0, 0)", 1),
        ("pow(1, 1 << 40)", 1),
        ("abs(-5)", 5),
        ("rows.compaction.launches", 7),
        ("max(1, min(n, 300)) /* a comment */", 257),
    ];
    let (engine, scope) = (Engine::new(), scope());
    for (source, want) in table {
        assert_eq!(engine.int(&expr(source), &scope), Ok(*want), "{source}");
    }
}

#[test]
fn floats_truth_and_text_by_table() {
    let table: &[(&str, Value)] = &[
        ("1.5", Value::Float(1.5)),
        ("100.0 * n / 2", Value::Float(12850.0)),
        ("1e3", Value::Float(1000.0)),
        ("max(1, 2.5)", Value::Float(2.5)),
        ("choose(n > 1, 1, 0.5)", Value::Float(1.0)),
        ("choose(n < 1, 0.25, 0.5)", Value::Float(0.5)),
        ("choose(n < 1, 0.25, 2)", Value::Float(2.0)),
        ("pow(2.0, 3)", Value::Float(8.0)),
        ("pow(2, 0.5)", Value::Float(2f64.sqrt())),
        ("abs(-2.5)", Value::Float(2.5)),
        ("-1.5", Value::Float(-1.5)),
        ("rows.compaction.median_ms * 2", Value::Float(3.0)),
        ("n == 257", Value::Bool(true)),
        ("n < 6.0 * rows.compaction.median_ms", Value::Bool(false)),
        ("n > 1 && !(keep == 3) || false", Value::Bool(true)),
        ("pattern == \"none\"", Value::Bool(true)),
        ("pattern != \"all\"", Value::Bool(true)),
        ("pattern + \"!\"", Value::Text("none!".into())),
    ];
    let (engine, scope) = (Engine::new(), scope());
    for (source, want) in table {
        assert_eq!(
            engine.value(&expr(source), &scope).as_ref(),
            Ok(want),
            "{source}"
        );
    }
}

/// Source, part of the message, part of the mend (empty: none wanted), column offset inside the expression.
const REFUSED: &[(&str, &str, &str, usize)] = &[
    ("n / 0", "division by zero", "max(x, 1)", 2),
    ("1 + n % 0", "by zero", "max(x, 1)", 6),
    ("ceil_div(n, 0)", "division by zero", "max(x, 1)", 0),
    ("1 << 70", "shifts go from 0 to 63", "", 2),
    ("1 << 64", "shifts go from 0 to 63", "", 2),
    ("1 << -1", "shifts go from 0 to 63", "", 2),
    ("1 >> 64", "shifts go from 0 to 63", "", 2),
    ("1 << 63", "overflow", "64 bits", 2),
    ("n << 60", "overflow", "64 bits", 2),
    ("9223372036854775807 + 1", "overflow", "64 bits", 20),
    ("-9223372036854775807 - 2", "overflow", "64 bits", 21),
    ("9223372036854775807 * n", "overflow", "64 bits", 20),
    ("9223372036854775808", "no 64-bit number", "integers go", 0),
    (
        "99999999999999999999999",
        "no 64-bit number",
        "integers go",
        0,
    ),
    ("3 ** 100", "overflow", "64 bits", 2),
    ("pow(10, 19)", "overflow", "64 bits", 0),
    ("pow(2, -1)", "negative", "", 0),
    ("next_pow2((1 << 62) + 1)", "overflow", "64 bits", 0),
    ("1 + m", "`m` is unknown", "", 4),
    ("1 + kep", "`kep` is unknown", "`keep`", 4),
    ("rows.compaction.mean", "no `mean`", "", 16),
    (
        "ceil_div(n)",
        "does not take (integer)",
        "ceil_div(a, b)",
        0,
    ),
    ("min(n, 1, 2)", "does not take", "min(a, b)", 0),
    ("abs()", "does not take nothing", "abs(x)", 0),
    ("ceil_dif(n, 2)", "no function `ceil_dif`", "`ceil_div`", 0),
    ("sqrt(n)", "no function `sqrt`", "next_pow2", 0),
    ("n + true", "`+` does not take", "", 2),
    ("pattern", "this is text", "", 0),
    ("n == 1", "true or false", "", 0),
    ("2.5", "2.5", "ceil_div", 0),
    ("", "empty", "", 0),
    ("  ", "empty", "", 0),
    ("(n + 1", "", "", 6),
    ("n +", "", "", 3),
    ("n n", "syntax error", "", 2),
    ("let x = 3", "syntax error", "", 0),
    ("{ 3 }", "syntax error", "", 0),
    ("if n > 1 { 2 } else { 3 }", "syntax error", "", 0),
    ("while true { }", "syntax error", "", 0),
    ("|x| x", "syntax error", "", 0),
    ("pattern == 'none'", "", "double quotes", 11),
    ("`text`", "back-quote", "double quotes", 0),
    ("@", "syntax error", "", 0),
    ("()", "", "", 0),
];

#[test]
fn what_is_refused_says_where_and_how_to_mend_it() {
    let (engine, scope) = (Engine::new(), scope());
    let mut wrong = Vec::new();
    for (source, message, mend, offset) in REFUSED {
        let error = engine.int(&expr(source), &scope).expect_err(source);
        let mended = error.mend.as_deref().unwrap_or("");
        let (line, column) = (AT.line, AT.column + offset);
        if !error.message.contains(message)
            || !mended.contains(mend)
            || error.place != (Place { line, column })
        {
            wrong.push(format!("{source}: {error:?}, offset {offset} wanted"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deep_or_long_expressions_are_errors_and_leave_the_stack_alone() {
    let (engine, scope) = (Engine::new(), scope());
    for source in [
        format!("{}1{}", "(".repeat(52), ")".repeat(52)),
        format!("{}1{}", "(".repeat(2000), ")".repeat(2000)),
        format!("1{}", " + 1".repeat(100)),
        format!("1{}", " + 1".repeat(1000)),
        format!("{}n", "-".repeat(3000)),
        format!("{}1{}", "max(1, ".repeat(500), ")".repeat(500)),
        "n ".repeat(100_000),
        "(".repeat(1_000_000),
    ] {
        // Either it is within the limits, or the error says so; nothing aborts.
        if let Err(error) = engine.int(&expr(&source), &scope) {
            assert!(!error.message.is_empty());
        }
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    let error = engine.int(&expr(&deep), &scope).unwrap_err();
    assert!(error.message.contains("nested too deeply"), "{error}");
}

#[test]
fn numbers_are_finite() {
    let (engine, scope) = (Engine::new(), scope());
    assert_eq!(engine.number(&expr("n"), &scope), Ok(257.0));
    assert_eq!(engine.number(&expr("n / 2.0"), &scope), Ok(128.5));
    let error = engine.number(&expr("1.0 / 0.0"), &scope).unwrap_err();
    assert!(error.message.contains("finite"), "{error}");
    assert!(engine.number(&expr("n == 1"), &scope).is_err());
}

#[test]
fn truth_is_wanted_of_a_condition() {
    let (engine, scope) = (Engine::new(), scope());
    assert_eq!(engine.bool(&expr("n > 3"), &scope), Ok(true));
    let error = engine.bool(&expr("n"), &scope).unwrap_err();
    assert!(error.message.contains("an integer"), "{error}");
    assert!(error.mend.unwrap().contains("n > 0"));
}

#[test]
fn names_are_the_variables_and_not_calls_text_or_properties() {
    let engine = Engine::new();
    let names = |source| engine.names(&expr(source)).unwrap();
    assert_eq!(names("ceil_div(n, tile) + n"), ["n", "tile"]);
    assert_eq!(
        names("rows.copy.median_ms < 6.0 * rows.scan.min_ms"),
        ["rows"]
    );
    assert_eq!(names("pattern == \"n . m\" && true"), ["pattern"]);
    assert_eq!(names("0x1F + 1e-5 + 1.5e+3 /* k */"), [""; 0]);
    assert_eq!(names("a . b . c + d"), ["a", "d"]);
    assert!(engine.names(&expr("n +")).is_err());
    let error = engine.names(&expr("2 * ceil_dvi(n, 2)")).unwrap_err();
    assert_eq!(error.place.column, AT.column + 4);
    let uses = engine.uses(&expr("2 * rows.copy.median_ms")).unwrap();
    assert_eq!(uses[0].path, ["rows", "copy", "median_ms"]);
    assert_eq!(uses[0].place.column, AT.column + 4);
}

#[test]
fn names_that_the_language_keeps_are_no_names() {
    for good in ["n", "tiles0", "_x", "block", "count", "keep"] {
        assert!(is_name(good), "{good}");
        let mut scope = Scope::new();
        scope.set(good, Value::Int(3));
        assert_eq!(Engine::new().int(&expr(good), &scope), Ok(3), "{good}");
    }
    for bad in [
        "", "_", "1n", "a-b", "a b", "for", "true", "min", "let", "é", "this",
    ] {
        assert!(!is_name(bad), "{bad}");
    }
}
