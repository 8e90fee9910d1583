//! `explain CASE`: what a case does, in numbers, without a device.

use super::table::columns;
use crate::case::{Case, axis_text};
use crate::expr::Value;
use crate::image::{ParamClass, Signature};
use crate::plan::{Argument, Call, Launch, Plan, Prepared, Row, Signatures, Slice, Step, Work};
use crate::spec::model::Suite;
use crate::spec::waivers::Waivers;

/// The whole text: axes, lets, inputs, buffers, launches and reads.
pub(super) fn explain(
    suite: &Suite,
    case: &Case,
    prepared: &Prepared,
    signatures: &dyn Signatures,
) -> String {
    let mut text = format!("{}\n{}: {}\n", case.id, suite.path, suite.title);
    section(&mut text, "subject", std::slice::from_ref(&case.subject));
    section(&mut text, "check", std::slice::from_ref(&case.check));
    section(&mut text, "axes", &axes(case));
    section(&mut text, "lets", &lets(suite, prepared));
    section(&mut text, "inputs", &inputs(prepared));
    let shown = Shown {
        plan: &prepared.plan,
        signatures,
    };
    section(&mut text, "buffers", &buffers(shown.plan));
    shown.work(&mut text);
    for wanted in &shown.plan.wanted {
        let title = format!("wanted value: {}", wanted.key);
        section(&mut text, &title, &shown.steps(&wanted.steps));
        section(&mut text, "then reads", &shown.reads(&[wanted.read]));
    }
    text.push_str(&format!("\n{}\n", launches(prepared)));
    text
}

/// What is known to fail of the case, and where; empty where nothing is.
pub(super) fn waived(waivers: &Waivers, case: &Case) -> String {
    let mut text = String::new();
    let entries = waivers
        .entries
        .iter()
        .filter(|waiver| waiver.names(&case.id));
    let lines: Vec<String> = entries
        .map(|waiver| {
            let often = if waiver.intermittent {
                ", intermittent"
            } else {
                ""
            };
            format!(
                "{} ({}, until {}): kinds {}, cards {}, drivers {}{often}",
                waiver.reason,
                waiver.link,
                waiver.expires,
                waiver
                    .kind_names()
                    .map_or_else(|| "any finding".to_owned(), |names| names.join(", ")),
                waiver.cards.join(", "),
                waiver.drivers
            )
        })
        .collect();
    section(&mut text, "waived", &lines);
    text
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    for line in lines {
        text.push_str(&format!("  {line}\n"));
    }
}

fn axes(case: &Case) -> Vec<String> {
    let axes = case.params.iter();
    axes.map(|(axis, value)| format!("{axis} = {}", axis_text(value)))
        .collect()
}

/// Those that are no inputs.
fn buffers(plan: &Plan) -> Vec<String> {
    let buffers = plan.buffers.iter().filter(|buffer| !buffer.is_input);
    buffers
        .map(|buffer| {
            let element = buffer.element.name();
            format!("{}: {element} × {}", buffer.name, buffer.len)
        })
        .collect()
}

fn launches(prepared: &Prepared) -> String {
    let launches = format!("launches: {}", prepared.launches);
    match prepared.dropped_launches {
        0 => launches,
        dropped => format!("{launches}, and {dropped} left out because their grid is empty"),
    }
}

fn lets(suite: &Suite, prepared: &Prepared) -> Vec<String> {
    suite
        .lets
        .iter()
        .filter_map(|(name, expr)| {
            let value = match prepared.scope.get(name)? {
                Value::Int(value) => value.to_string(),
                other => format!("{other:?}"),
            };
            Some(format!("{name} = {value}  ({})", expr.source))
        })
        .collect()
}

fn inputs(prepared: &Prepared) -> Vec<String> {
    let names = prepared.plan.buffers.iter().filter(|b| b.is_input);
    names
        .zip(&prepared.inputs)
        .map(|(buffer, request)| {
            let params: Vec<String> = request
                .params
                .iter()
                .map(|(name, value)| format!(", {name} = {value}"))
                .collect();
            format!(
                "{}: {} × {}, generator {}, seed {}{}",
                buffer.name,
                request.element.name(),
                request.len,
                request.generator,
                request.seed,
                params.concat()
            )
        })
        .collect()
}

/// A plan, with what it takes to read its arguments.
struct Shown<'a> {
    plan: &'a Plan,
    signatures: &'a dyn Signatures,
}

impl Shown<'_> {
    fn work(&self, text: &mut String) {
        match &self.plan.work {
            Work::Once { steps, reads } => {
                section(text, "steps", &self.steps(steps));
                section(text, "reads", &self.reads(reads));
            }
            Work::Repeat { runs, steps, reads } => {
                let title = format!("steps, {runs} times on fresh buffers");
                section(text, &title, &self.steps(steps));
                section(text, "reads", &self.reads(reads));
            }
            Work::Rows {
                warmups,
                runs,
                rows,
            } => {
                for row in rows {
                    let title = format!("row {}: {warmups} warm-ups, {runs} runs", row.name);
                    self.timing_row(text, &title, row);
                }
            }
        }
    }

    fn timing_row(&self, text: &mut String, title: &str, row: &Row) {
        let bytes = row
            .bytes
            .map_or_else(String::new, |bytes| format!(", {bytes} bytes a run"));
        section(text, &format!("{title}{bytes}"), &self.steps(&row.steps));
        section(text, "prepared once by", &self.steps(&row.prepare));
        let each = self.steps(&row.prepare_each);
        section(text, "prepared before each run by", &each);
        section(text, "reads", &self.reads(&row.reads));
    }

    /// One line a step, numbered.
    fn steps(&self, steps: &[Step]) -> Vec<String> {
        let rows = steps.iter().enumerate().map(|(index, step)| {
            let (what, module) = match step {
                Step::Launch(launch) => (self.launch(launch), self.module(launch).join("")),
                Step::Native(call) => (format!("native {}", self.call(call)), String::new()),
                Step::Host(call) => (format!("host {}", self.call(call)), String::new()),
                Step::Copy { from, to } => {
                    let what = format!("copy {} to {}", self.slice(*from), self.slice(*to));
                    (what, String::new())
                }
                Step::Fill { to, pattern } => {
                    let bytes: String = pattern.iter().rev().map(|b| format!("{b:02x}")).collect();
                    let what = format!("fill {} with 0x{bytes}", self.slice(*to));
                    (what, String::new())
                }
            };
            vec![format!("{}.", index + 1), what, module]
        });
        let table = columns(&["", "", ""], rows);
        table.lines().skip(1).map(str::to_owned).collect()
    }

    /// The name of its module, as a list of one.
    fn module(&self, launch: &Launch) -> &[String] {
        let modules = &self.plan.modules;
        modules.get(launch.module..=launch.module).unwrap_or(&[])
    }

    fn launch(&self, launch: &Launch) -> String {
        let shared = match launch.shared {
            0 => String::new(),
            bytes => format!(", {bytes} B"),
        };
        let signature = self
            .signatures
            .kernel(self.module(launch), &launch.kernel)
            .ok()
            .map(|(_, signature)| signature);
        let args: Vec<String> = launch
            .args
            .iter()
            .enumerate()
            .map(|(index, arg)| self.argument(*arg, is_float(signature.as_ref(), index)))
            .collect();
        format!(
            "{}<<<{}, {}{shared}>>>({})",
            launch.kernel,
            extent(launch.grid),
            extent(launch.block),
            args.join(", ")
        )
    }

    fn call(&self, call: &Call) -> String {
        let args = call.args.iter();
        let args: Vec<String> = args.map(|arg| self.argument(*arg, false)).collect();
        format!("{}({})", call.name, args.join(", "))
    }

    fn argument(&self, argument: Argument, float: bool) -> String {
        match argument {
            Argument::Pointer { buffer, element } => {
                let name = self.plan.buffers.get(buffer.0);
                let name = name.map_or("?", |buffer| buffer.name.as_str());
                match element {
                    0 => name.to_owned(),
                    element => format!("{name}+{element}"),
                }
            }
            Argument::Scalar { bytes, size } => scalar(bytes, size, float),
        }
    }

    fn reads(&self, slices: &[Slice]) -> Vec<String> {
        slices.iter().map(|read| self.slice(*read)).collect()
    }

    /// `rank`, `sums2[0]` or `tree[0..253]`.
    fn slice(&self, slice: Slice) -> String {
        let Some(buffer) = self.plan.buffers.get(slice.buffer.0) else {
            return "?".to_owned();
        };
        match (slice.from, slice.len) {
            (0, len) if len == buffer.len && len != 1 => buffer.name.clone(),
            (from, 1) => format!("{}[{from}]", buffer.name),
            (from, len) => format!("{}[{from}..{}]", buffer.name, from + len),
        }
    }
}

fn is_float(signature: Option<&Signature>, index: usize) -> bool {
    signature
        .and_then(|signature| signature.params.get(index))
        .is_some_and(|param| param.class == ParamClass::Float)
}

/// `256`, `16×16` or `8×8×4`.
fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (y, 1) => format!("{x}×{y}"),
        (y, z) => format!("{x}×{y}×{z}"),
    }
}

/// PTX does not tell signed from unsigned: integers are shown as signed.
fn scalar(bytes: [u8; 8], size: u32, float: bool) -> String {
    let [a, b, c, d, ..] = bytes;
    match (size, float) {
        (4, true) => format!("{:?}", f32::from_le_bytes([a, b, c, d])),
        (8, true) => format!("{:?}", f64::from_le_bytes(bytes)),
        (1, _) => i8::from_le_bytes([a]).to_string(),
        (2, _) => i16::from_le_bytes([a, b]).to_string(),
        (4, _) => i32::from_le_bytes([a, b, c, d]).to_string(),
        _ => i64::from_le_bytes(bytes).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{explain, extent, scalar};
    use crate::expr::Engine;
    use crate::plan::build;
    use crate::plan::fixture::{
        Kernels, exact, gate, kernel, memset, pipeline, reference, row, shared_kernel, suite,
    };
    use crate::spec::model::{Check, Timings, Verify};
    use crate::value::ElementType;

    #[test]
    fn every_number_of_a_case_is_shown() {
        let kernels = Kernels(vec![("mark", "ppi"), ("other", "pl")]);
        let mut suite = suite(1000)
            .with_let("tiles", "ceil_div(n, 256)")
            .with_buffer("out", ElementType::I32, "n")
            .with_buffer("sum", ElementType::I64, "1")
            .with_pipeline(
                "run",
                vec![
                    memset("sum", "-1"),
                    kernel("mark", "tiles", "256", &["&input", "&out", "n"]),
                    shared_kernel("other", "2", "64", Some("512"), &["&out[8]", "0 - 5"]),
                    kernel("mark", "0", "256", &["&input", "&out", "n"]),
                ],
            )
            .with_pipeline("again", vec![pipeline("run")])
            .with_gate(
                "exact",
                gate(exact("run", "out[0..4]", reference("copy", ""))),
            );
        let timings = Timings {
            warmups: 3,
            runs: 10,
            baseline: None,
            rows: [(
                "whole".to_owned(),
                row("again", vec![Verify::Gate("exact".to_owned())]),
            )]
            .into(),
            assert: Vec::new(),
        };
        suite = suite.with_gate("times", gate(Check::Timings(timings)));
        let shown = |name: &str| {
            let case = suite.case(name);
            let prepared = build(&suite, &case, &kernels, &Engine::new()).unwrap();
            explain(&suite, &case, &prepared, &kernels)
        };
        insta::assert_snapshot!("once", shown("exact"));
        insta::assert_snapshot!("rows", shown("times"));
    }

    #[test]
    fn scalars_and_extents() {
        let bytes = |value: f64| value.to_le_bytes();
        assert_eq!(scalar(bytes(0.5), 8, true), "0.5");
        assert_eq!(scalar([0, 0, 128, 63, 0, 0, 0, 0], 4, true), "1.0");
        assert_eq!(scalar([255; 8], 1, false), "-1");
        assert_eq!(scalar([255; 8], 8, false), "-1");
        assert_eq!(scalar([0, 1, 0, 0, 0, 0, 0, 0], 2, false), "256");
        assert_eq!(scalar([0, 0, 1, 0, 0, 0, 0, 0], 4, false), "65536");
        assert_eq!(
            [extent([7, 1, 1]), extent([7, 2, 1]), extent([1, 1, 3])],
            ["7", "7×2", "1×1×3"]
        );
    }
}
