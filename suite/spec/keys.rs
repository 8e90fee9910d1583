//! Every key of the format, by the mapping it stands in. The decoder refuses all others, and the JSON Schema is
//! checked against these tables.

pub(super) const SUITE: &[&str] = &[
    "version",
    "suite",
    "title",
    "subject",
    "kernels",
    "cases",
    "axes",
    "inputs",
    "let",
    "require",
    "buffers",
    "pipelines",
    "gates",
    "must_run",
    "tables",
];
pub(super) const BLOCK: &[&str] = &["axes", "inputs", "gates"];
/// Further keys of an input are its generator's parameters.
pub(super) const INPUT: &[&str] = &["type", "generator", "seed", "len"];
pub(super) const PROFILES: &[&str] = &["quick", "full", "perf", "huge"];
pub(super) const RANGE: &[&str] = &["pow2", "less"];
pub(super) const REQUIRE: &[&str] = &["that", "else"];
pub(super) const BUFFER: &[&str] = &["type", "len"];

pub(super) const KERNEL: &[&str] = &["kernel", "grid", "block", "shared", "args", "when"];
pub(super) const NATIVE: &[&str] = &["native", "args", "when"];
pub(super) const HOST: &[&str] = &["host", "args", "when"];
pub(super) const MEMSET: &[&str] = &["memset", "value", "when"];
pub(super) const COPY: &[&str] = &["copy", "to", "when"];
pub(super) const PIPELINE: &[&str] = &["pipeline", "when"];
pub(super) const FOR: &[&str] = &["for", "from", "to", "swap", "steps", "when"];
/// The key that says what a step does, and the step's keys.
pub(super) const STEPS: &[(&str, &[&str])] = &[
    ("kernel", KERNEL),
    ("native", NATIVE),
    ("host", HOST),
    ("memset", MEMSET),
    ("copy", COPY),
    ("pipeline", PIPELINE),
    ("for", FOR),
];

/// Keys of every gate.
pub(super) const GATE: &[&str] = &["check", "subject", "run", "expect", "devices", "report"];
/// Each check, with the keys it adds; timings have no `run`.
pub(super) const CHECKS: &[(&str, &[&str])] = &[
    ("scan_total", &["got", "want"]),
    ("count", &["got", "want"]),
    ("exact", &["got", "want"]),
    ("multiset", &["got", "want"]),
    ("partition", &["got", "want", "split"]),
    ("sorted", &["got", "order"]),
    ("permutation", &["got", "want"]),
    ("near", &["got", "want", "tolerance"]),
    ("repeatable", &["got", "runs"]),
    ("assert", &["that"]),
    ("health", &[]),
    (
        "timings",
        &["warmups", "runs", "baseline", "rows", "assert"],
    ),
];
pub(super) const TOLERANCE: &[&str] = &["ulps", "relative"];
pub(super) const EXPECT: &[&str] = &["fail", "error"];
pub(super) const FAIL: &[&str] = &["cuda", "sim"];
pub(super) const MEASURE: &[&str] = &["against"];
pub(super) const ROW: &[&str] = &[
    "subject",
    "prepare",
    "prepare_each",
    "run",
    "bytes",
    "when",
    "verify",
];
pub(super) const BOUND: &[&str] = &["that", "cards"];
pub(super) const MUST_RUN: &[&str] = &["cuda", "sim"];
pub(super) const TABLE: &[&str] = &["over", "columns", "plot"];
pub(super) const PLOT: &[&str] = &["x", "y", "x_scale", "y_scale", "x_label", "y_label"];

/// Beside the reference's own name.
pub(super) const WANT_REFERENCE: &[&str] = &["map", "of"];
pub(super) const WANT_RUN: &[&str] = &["run", "buffer"];
pub(super) const WANT_FILE: &[&str] = &["file"];
pub(super) const WANT_SCRIPT: &[&str] = &["script"];

/// What a timing row offers to `assert` and tables, as `rows.ROW.…`.
pub(super) const ROW_VALUES: &[&str] = &[
    "warmups",
    "runs",
    "min_ms",
    "median_ms",
    "max_ms",
    "batch_mean_ms",
    "times_baseline",
    "gb_per_s",
    "launches",
    "simulated_instructions",
];
/// What a gate offers to tables, as `GATE.…`; beside these, `GATE.reported.…`.
pub(super) const GATE_VALUES: &[&str] = &[
    "want_len",
    "got_len",
    "got",
    "want",
    "launches",
    "dropped_launches",
];
/// What an `assert` gate's expression may use beside axes and lets.
pub(super) const ASSERT_VALUES: &[&str] = &["launches", "dropped_launches"];

/// Of the file of waivers, which stands beside the suites.
pub(super) const WAIVERS: &[&str] = &["version", "waivers"];
pub(super) const WAIVER: &[&str] = &[
    "cases",
    "cards",
    "kinds",
    "driver",
    "reason",
    "link",
    "expires",
    "intermittent",
];
pub(super) const DRIVERS: &[&str] = &["from", "below"];
