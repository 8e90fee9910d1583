//! The loader against good files, bad files and hostile ones.

mod bad;
mod good;
mod hostile;
mod schema;

use super::{Kernels, Known, Loader, Names, Problem};
use crate::call::Function;
use crate::image::{Param, ParamClass, Signature};
use crate::spec::model::Suite;

/// The signatures that the example suites need: `p` a pointer (or 64-bit integer), `4` a 32-bit integer, `f` a float.
const KERNELS: &[(&str, &[(&str, &str)])] = &[
    (
        "compaction",
        &[
            ("mark_nonzero", "pp4"),
            ("mark_even", "pp4"),
            ("scan_tiles", "ppp4"),
            ("add_carry", "pp4"),
            ("scatter", "ppp4"),
            ("scatter_partition", "pppp4"),
            ("zero_count", "p"),
            ("compact_atomic", "ppp4"),
            ("copy", "pp4"),
        ],
    ),
    ("naive", &[("scan_pass", "pp44"), ("shift_right", "pp4")]),
    ("efficient", &[("up_sweep", "p44"), ("down_sweep", "p44")]),
    (
        "radix_split",
        &[("mark_bit_clear", "pp44"), ("scatter_split", "pppp44")],
    ),
    (
        "lookback",
        &[
            ("compact_odd_128", "ppppp44s"),
            ("compact_odd_256", "ppppp44s"),
            ("compact_odd_512", "ppppp44s"),
            ("compact_nonzero_128", "ppppp44s"),
            ("compact_nonzero_256", "ppppp44s"),
            ("compact_nonzero_512", "ppppp44s"),
        ],
    ),
    (
        "odd_shapes",
        &[
            ("scale", "pf4"),
            ("bytes", "pb"),
            ("narrow", "p1"),
            ("shared", "p4s"),
        ],
    ),
];

struct Fake;

impl Kernels for Fake {
    fn signatures(&self, module: &str) -> Known {
        if module == "stale" {
            return Known::Unknown;
        }
        let Some((_, kernels)) = KERNELS.iter().find(|(name, _)| *name == module) else {
            let names = KERNELS.iter().map(|(name, _)| *name);
            let near = crate::expr::near(module, names).map(str::to_string);
            return Known::NoSuchFile {
                near: near.into_iter().collect(),
            };
        };
        Known::Signatures(kernels.iter().map(|(n, p)| signature(n, p)).collect())
    }

    fn native(&self, name: &str) -> Result<Function, String> {
        let table = Function::table(
            "scan: const i32* input, i32* output, u64 n\nscale: f32* data, f32 by, u32 n",
        )?;
        Function::find(&table, name, "function of the native library").cloned()
    }
}

fn signature(name: &str, params: &str) -> Signature {
    let param = |letter| {
        let (size, class) = match letter {
            'p' => (8, ParamClass::Integer),
            '4' => (4, ParamClass::Integer),
            '1' => (1, ParamClass::Integer),
            'f' => (4, ParamClass::Float),
            _ => (12, ParamClass::Bytes),
        };
        Param { size, class }
    };
    Signature {
        name: name.to_string(),
        params: params.chars().filter(|c| *c != 's').map(param).collect(),
        static_shared_bytes: 0,
        dynamic_shared: params.ends_with('s'),
        max_threads: None,
    }
}

fn names() -> Names {
    Names {
        generator: |name, params| {
            let known = [
                "survivors",
                "uniform",
                "none",
                "all",
                "first",
                "last",
                "alternating",
            ];
            if !known.contains(&name) {
                return Err(format!("no generator `{name}`"));
            }
            match params.iter().find(|p| !["keep", "min", "max"].contains(p)) {
                Some(param) => Err(format!("generator `{name}` has no parameter `{param}`")),
                None => Ok(()),
            }
        },
        values: |wanted| match wanted.params.get("keep") {
            Some(keep) if *keep > 256 => Err(format!("`{}`: keep {keep}", wanted.generator)),
            _ => Ok(()),
        },
        reference: |name, operand, _| {
            let known = [
                "compact",
                "partition",
                "count",
                "map",
                "copy",
                "exclusive_scan",
                "inclusive_scan",
                "sort",
                "reduce",
            ];
            if !known.contains(&name) {
                return Err(format!("no reference `{name}`"));
            }
            match operand {
                "negative" => Err("no predicate `negative`".to_string()),
                _ => Ok(()),
            }
        },
        host: |name| {
            let table = Function::table("copy_on_host: const i32* input, i32* output, u64 n")?;
            Function::find(&table, name, "host rung").cloned().map(Some)
        },
    }
}

fn load(text: &str) -> Result<Suite, Vec<Problem>> {
    load_bytes(text.as_bytes())
}

fn load_bytes(bytes: &[u8]) -> Result<Suite, Vec<Problem>> {
    Loader::new(&Fake, names())
        .text("specs/test.yaml", bytes)
        .map_err(|errors| errors.0)
}

/// `line:column key: message (mend)` of each problem.
fn problems(text: &str) -> Vec<String> {
    let found = load(text).expect_err("the text is wrong");
    found.iter().map(Problem::to_string).collect()
}
