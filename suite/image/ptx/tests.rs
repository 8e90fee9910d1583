use proptest::prelude::*;

use super::*;
use crate::image::{Param, ParamClass, Signature};

const HEADER: &str = ".version 7.8\n.target sm_75, debug\n.address_size 64\n";

const SAMPLE: &str = r#"
// a comment
.version 7.8
.target sm_75
.address_size 64 /* and
another */
.file 1 "a.cu", 123, 456
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .u32 table[2][3] = {{1, 2, -3}, {0x10, 0xffU, 010}};
.global .f32 pi = 0f40490FDB;
.section .debug_str { $L__s: .b8 95,90,0 }
.visible .entry scale(
    .param .u64 .ptr .global .align 4 scale_param_0,
    .param .f32 scale_param_1,
    .param .align 8 .b8 scale_param_2[24]
)
.maxntid 16, 4
.minnctapersm 2
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>, %x;
    .shared .align 8 .b8 tile[20];
    .shared .u64 last;
    .loc 1 7 3, function_name $L__s, inlined_at 1 9 2
    ld.param.u64 %rd1, [scale_param_0+8];
$L__BB0_1:
    @!%p1 bra $L__BB0_1;
    { .reg .b64 t; mov.b64 {%r1, _}, t; }
    setp.lt.and.s32 %p1|%p2, %r1, -0x10, !%p1;
    st.shared.v2.f32 [tile+-4], {0f3F800000, %x};
    mov.u64 %rd2, dynamic+4;
    call.uni (r), f, (a, b);
    ret;
}
.func (.param .b32 r) f(.param .b32 a, .param .b64 b);
"#;

fn line_and_message(text: &str) -> (u32, String) {
    let error = parse(text).unwrap_err();
    (error.line, error.message)
}

#[test]
fn a_module_says_what_it_says() {
    let module = parse(SAMPLE).unwrap();
    assert_eq!(
        (module.version, module.target.as_str(), module.address_size),
        ((7, 8), "sm_75", 64)
    );
    assert_eq!(module.files[&1], "a.cu");
    let names: Vec<_> = module
        .variables
        .iter()
        .map(|v| (v.name.as_str(), v.bytes))
        .collect();
    assert_eq!(names, [("dynamic", 0), ("table", 24), ("pi", 4)]);
    let values: Vec<_> = module.variables[1]
        .init
        .iter()
        .map(|i| match i {
            Initialiser::Value(Immediate::Int(bits)) => *bits as i64,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values, [1, 2, -3, 16, 255, 8]);
    let kernel = module.kernel("scale").unwrap();
    assert_eq!(
        (kernel.max_threads, kernel.min_blocks),
        (Some([16, 4, 1]), Some(2))
    );
    assert_eq!(module.functions[1].returns.len(), 1);
    assert!(module.functions[1].body.is_none());
}

#[test]
fn signatures_hold_what_a_launch_needs() {
    let want = Signature {
        name: "scale".to_owned(),
        params: vec![
            Param {
                size: 8,
                class: ParamClass::Integer,
            },
            Param {
                size: 4,
                class: ParamClass::Float,
            },
            Param {
                size: 24,
                class: ParamClass::Bytes,
            },
        ],
        static_shared_bytes: 32,
        dynamic_shared: true,
        max_threads: Some(64),
    };
    assert_eq!(parse(SAMPLE).unwrap().signatures(), [want]);
}

#[test]
fn instructions_keep_text_line_and_place() {
    let module = parse(SAMPLE).unwrap();
    let body = module.functions[0].body.as_ref().unwrap();
    let all: Vec<&Instruction> = body
        .statements
        .iter()
        .filter_map(|s| match s {
            Statement::Instruction(i) => Some(i),
            _ => None,
        })
        .collect();
    assert_eq!(all[0].text, "ld.param.u64 %rd1, [scale_param_0+8]");
    assert_eq!(
        (all[0].line, all[0].location),
        (25, Some(Location { file: 1, line: 7 }))
    );
    assert_eq!(
        all[1].guard,
        Some(Guard {
            name: "%p1".to_owned(),
            negated: true
        })
    );
    assert_eq!(
        body.statements[1],
        Statement::Label {
            scope: 0,
            name: "$L__BB0_1".to_owned(),
            line: 26
        }
    );
    assert_eq!(all[2].scope, 1);
    assert_eq!(
        all[2].operands[0],
        Operand::Vector(vec![Operand::Name("%r1".to_owned()), Operand::Sink])
    );
    assert_eq!(all[3].modifiers, ["lt", "and", "s32"]);
    assert_eq!(
        all[3].operands[0],
        Operand::Pair("%p1".to_owned(), "%p2".to_owned())
    );
    assert_eq!(
        all[3].operands[2],
        Operand::Immediate(Immediate::Int((-16_i64) as u64))
    );
    assert_eq!(all[3].operands[3], Operand::Not("%p1".to_owned()));
    let base = AddressBase::Name("tile".to_owned());
    assert_eq!(all[4].operands[0], Operand::Address { base, offset: -4 });
    assert_eq!(
        all[5].operands[1],
        Operand::Offset {
            symbol: "dynamic".to_owned(),
            offset: 4
        }
    );
}

#[test]
fn literals() {
    for (text, want) in [
        ("42", Immediate::Int(42)),
        ("42U", Immediate::Int(42)),
        ("0xFFFFFFFFFFFFFFFF", Immediate::Int(u64::MAX)),
        ("017", Immediate::Int(15)),
        ("0b101", Immediate::Int(5)),
        ("0", Immediate::Int(0)),
        ("0f3F800000", Immediate::F32(0x3f80_0000)),
        ("0d3FF0000000000000", Immediate::F64(0x3ff0_0000_0000_0000)),
        ("1.5", Immediate::F64(1.5_f64.to_bits())),
        ("1e-3", Immediate::F64(1e-3_f64.to_bits())),
    ] {
        assert_eq!(number::parse(text), Some(want), "{text}");
    }
    for text in [
        "0x",
        "0f3F80000",
        "0f3F8000000",
        "08",
        "12ab",
        "18446744073709551616",
        "1e",
        "0b2",
    ] {
        assert_eq!(number::parse(text), None, "{text}");
    }
    assert_eq!(
        number::negate(Immediate::F32(0x3f80_0000)),
        Immediate::F32(0xbf80_0000)
    );
}

#[test]
fn errors_name_their_line() {
    let body = |text: &str| format!("{HEADER}.visible .entry k()\n{{\n{text}\n}}");
    for (text, line, word) in [
        (String::new(), 1, "`.version`"),
        ("\n.version seven".to_owned(), 2, "version"),
        (
            format!("{HEADER}.entry k(.param .u128 x) {{ }}"),
            4,
            ".u128",
        ),
        (format!("{HEADER}.entry k() {{ ret;"), 4, "end of the text"),
        (
            format!("{HEADER}.global .u32 a[99999999999999];"),
            4,
            "too large",
        ),
        (
            format!("{HEADER}.global .u32 a[1] = {{1, 2}};"),
            4,
            "more initialisers",
        ),
        (format!("{HEADER}\"open"), 4, "string"),
        (format!("{HEADER}/* open"), 4, "comment"),
        (body("ret"), 7, "`}`"),
        (body("add.s32 %r1, %r2 %r3;"), 6, "`,`"),
        (body("mov.u32 %r1, 0xZZ;"), 6, "0xZZ"),
        (body("add..s32 %r1;"), 6, "no instruction"),
        (body("ld.global.u32 %r1, [%rd1+;"), 6, "offset"),
        (body(".reg .v2 .f32 %v;"), 6, "vector"),
        (body("\u{1F600}"), 6, "unexpected character"),
        (body("L: L: ret;"), 6, "L is there already, in line 6"),
        (
            body("L: ret;\nret;\nL: ret;"),
            8,
            "L is there already, in line 6",
        ),
    ] {
        let (found, message) = line_and_message(&text);
        assert_eq!(found, line, "{text}: {message}");
        assert!(message.contains(word), "{text}: {message}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("{HEADER}.entry k() {}", "{".repeat(100_000));
    assert!(line_and_message(&deep).1.contains("nested too deep"));
    let braces = format!("{HEADER}.global .u32 a[1] = {}", "{".repeat(100_000));
    assert_eq!(line_and_message(&braces).0, 4);
    let wide = format!(
        "{HEADER}.entry k() {{ call f, ({}); }}",
        "a,".repeat(100_000)
    );
    assert!(line_and_message(&wide).1.contains("too many"));
}

#[test]
fn prototypes_are_kept_and_aliases_have_their_functions_body() {
    let text = format!(
        "{HEADER}.func (.param .b32 r) also(.param .b64 a);\n.func (.param .b32 r) f(.param .b64 a) {{
        p0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]) .noreturn;
        p1: .callprototype _; ret; }}\n.alias also, f;\n"
    );
    let module = parse(&text).unwrap();
    let [also, f] = &module.functions[..] else {
        panic!("{:?}", module.functions)
    };
    assert_eq!((&also.body, also.name.as_str()), (&f.body, "also"));
    let prototypes = &f.body.as_ref().unwrap().prototypes;
    let sizes = prototypes.iter().map(|p| {
        let bytes = |all: &[Variable]| all.iter().map(|v| v.bytes).collect::<Vec<_>>();
        (p.name.as_str(), bytes(&p.returns), bytes(&p.params))
    });
    let want = [("p0", vec![4], vec![8, 24]), ("p1", vec![], vec![])];
    assert_eq!(sizes.collect::<Vec<_>>(), want);
    let wrong = parse(&format!("{HEADER}.alias also;\n")).unwrap_err();
    assert_eq!(wrong.line, 4);
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~\n\t]{0,200}") {
        let _ = parse(&text);
        let _ = parse(&format!("{HEADER}{text}"));
    }

    #[test]
    fn no_mutation_makes_the_parser_panic(
        edits in proptest::collection::vec((0..SAMPLE.len(), 0..6_usize, "[ -~]{0,4}"), 1..8),
    ) {
        let mut text = SAMPLE.to_owned();
        for (at, cut, insert) in edits {
            let at = at.min(text.len());
            let end = (at + cut).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, &insert);
            }
        }
        if let Ok(module) = parse(&text) {
            let _ = module.signatures();
        }
    }
}
