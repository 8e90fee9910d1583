//! The JSON Schema of the format, for editors: mirror types whose schema is derived.
//!
//! The decoder does not use these types; a test holds their keys equal to the decoder's tables. The committed copy is
//! `specs/schema/suite.schema.json`.
#![expect(
    dead_code,
    reason = "the types are never built: they exist for the schema derived from them"
)]

mod gates;
mod waivers;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::terms::Scale;
use crate::value::ElementType;
use gates::Gate;

/// The JSON Schema of a suite file, version 1.
pub fn schema() -> Value {
    of::<SuiteFile>("A suite of cuda-gates, version 1")
}

/// The JSON Schema of the file of waivers, version 1.
pub fn waivers() -> Value {
    of::<waivers::WaiversFile>("Waivers of cuda-gates, version 1")
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let settings = schemars::generate::SchemaSettings::draft07();
    let mut value = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(root) = value.as_object_mut() {
        root.insert("title".into(), title.into());
    }
    refuse_null(&mut value);
    value
}

/// A key that may be left out must not be given as nothing: the derived schema allows both.
fn refuse_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(options)) = object.get_mut("anyOf") {
                options.retain(|option| option["type"] != "null");
            }
            object.values_mut().for_each(refuse_null);
        }
        Value::Array(items) => items.iter_mut().for_each(refuse_null),
        _ => {}
    }
}

/// Defines a type that is only a schema.
macro_rules! only_schema {
    ($($(#[doc = $doc:literal])* $name:ident $schema:tt;)*) => {
        $(
            struct $name;

            impl JsonSchema for $name {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    let mut schema = json_schema!($schema);
                    let doc = concat!($($doc),*).trim();
                    schema.insert("description".into(), doc.into());
                    schema
                }
            }
        )*
    };
}

only_schema! {
    /// An expression over axes and lets. One with a comma inside {…} or […] needs quotes.
    Expr {"type": ["string", "number", "boolean"]};
    /// Text that may hold ${axis}.
    Template {"type": "string"};
    /// A buffer or an input, or a part of it: b, b[i], b[i..j].
    Slice {"type": "string"};
    /// The format's version.
    Version {"const": 1};
    /// An axis' values for one profile: a list of integers and texts.
    Values {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1};
    /// A whole number, or `case_id`: a hash of the case's parameters.
    Seed {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "case_id"}]};
    /// Why a case ended in error.
    ErrorKind {"enum": ["setup", "kernel fault", "hang", "environment"]};
    /// The gate passes when its check does.
    Pass {"const": "pass"};
    /// A host reference by name with its predicate or operator: {compact: nonzero},
    /// {exclusive_scan: sum, map: nonzero, of: input}.
    Reference {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}};
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SuiteFile {
    version: Version,
    /// The suite's name, first part of each test's name.
    suite: String,
    title: Option<String>,
    /// The implementation that the gates judge; the title where it is left out.
    subject: Option<String>,
    /// Kernel files inside kernels/: compaction.cu.
    kernels: Vec<String>,
    /// Blocks: the union of their cases is the suite's.
    cases: Option<Vec<Block>>,
    /// The one block's axes, where there is no `cases`.
    axes: Option<BTreeMap<String, Axis>>,
    /// Inputs of every block.
    inputs: Option<BTreeMap<String, Input>>,
    /// Numbers over axes and the lets before them.
    #[schemars(rename = "let")]
    lets: Option<BTreeMap<String, Expr>>,
    /// What must hold; else the case ends in a setup error.
    require: Option<Vec<Requirement>>,
    buffers: Option<BTreeMap<String, Buffer>>,
    /// Steps by name; pipelines compose.
    pipelines: BTreeMap<String, Vec<Step>>,
    gates: BTreeMap<String, Gate>,
    /// Gates of which a case must run in every complete run that takes cases of this suite.
    must_run: Option<MustRun>,
    /// Shown in summaries and plots.
    tables: Option<BTreeMap<String, Table>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum MustRun {
    Everywhere(OneOrMany<String>),
    PerDevice(MustRunPerDevice),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct MustRunPerDevice {
    cuda: Option<OneOrMany<String>>,
    sim: Option<OneOrMany<String>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Block {
    axes: Option<BTreeMap<String, Axis>>,
    inputs: Option<BTreeMap<String, Input>>,
    /// All gates, where it is left out.
    gates: Option<Vec<String>>,
}

/// Values of an axis, in every profile or by profile.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Axis {
    Always(ValuesOrRange),
    PerProfile(Profiles),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum ValuesOrRange {
    Values(Values),
    Range(Range),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Profiles {
    quick: Option<ValuesOrRange>,
    full: Option<ValuesOrRange>,
    perf: Option<ValuesOrRange>,
    huge: Option<ValuesOrRange>,
}

/// Powers of two: {pow2: [8, 24], less: [0, 3]} is 2^8, 2^8 − 3, 2^9, … to 2^24 − 3.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Range {
    /// The first and the last exponent.
    pow2: [u8; 2],
    /// What is subtracted from each power.
    less: Option<Vec<u64>>,
}

/// An array that kernels read; further keys are the generator's parameters.
#[derive(JsonSchema)]
struct Input {
    r#type: ElementType,
    generator: Template,
    seed: Option<Seed>,
    len: Expr,
    #[schemars(flatten)]
    params: BTreeMap<String, Expr>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Requirement {
    that: Expr,
    /// The reason that a refused case gives.
    r#else: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Buffer {
    r#type: ElementType,
    /// Elements.
    len: Expr,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Step {
    Kernel(KernelStep),
    Native(NativeStep),
    Host(HostStep),
    Memset(MemsetStep),
    Copy(CopyStep),
    Pipeline(PipelineStep),
    For(ForStep),
}

/// A launch.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct KernelStep {
    kernel: Template,
    /// Blocks: x, [x, y] or [x, y, z].
    grid: OneOrMany<Expr>,
    /// Threads a block: x, [x, y] or [x, y, z].
    block: OneOrMany<Expr>,
    /// Dynamic shared memory, bytes.
    shared: Option<Expr>,
    /// In the kernel's order: a buffer, an input, a part of one, or an expression.
    args: Vec<Expr>,
    when: Option<Expr>,
}

/// A call of the native library (CUB, Thrust), which works on the device.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct NativeStep {
    /// A function of kernels/native/native.txt.
    native: Template,
    /// In the function's order: a buffer, an input, a part of one, or an expression.
    args: Vec<Expr>,
    when: Option<Expr>,
}

/// A host rung: one thread of the host's processor. Its pipeline holds no device steps.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct HostStep {
    host: Template,
    /// In the function's order: a buffer, an input, a part of one, or an expression.
    args: Vec<Expr>,
    when: Option<Expr>,
}

/// Sets every element of a buffer, or of a part of it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct MemsetStep {
    memset: Slice,
    value: Expr,
    when: Option<Expr>,
}

/// Copies on the device.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct CopyStep {
    copy: Slice,
    to: Slice,
    when: Option<Expr>,
}

/// Runs another pipeline.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PipelineStep {
    pipeline: String,
    when: Option<Expr>,
}

/// A loop, unrolled before the run.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ForStep {
    /// The variable's name.
    r#for: String,
    from: Expr,
    /// Exclusive.
    to: Expr,
    /// Two buffers whose names trade places after each iteration, for the rest of the run.
    swap: Option<[String; 2]>,
    steps: Vec<Step>,
    when: Option<Expr>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Table {
    /// The axes whose values' combinations are the rows.
    over: OneOrMany<String>,
    columns: BTreeMap<String, Expr>,
    plot: Option<Plot>,
}

/// How `report show --plots DIR` draws the table.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Plot {
    /// An axis of `over`, or a column; its cells are numbers.
    x: String,
    /// Columns, a line each; every column but `x` where it is left out.
    y: Option<OneOrMany<String>>,
    /// linear, where it is left out.
    x_scale: Option<Scale>,
    /// linear, where it is left out.
    y_scale: Option<Scale>,
    x_label: Option<String>,
    y_label: Option<String>,
}
