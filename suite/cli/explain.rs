//! `explain CASE`: what a case does, in numbers, without a device.

use super::table::columns;
use crate::case::{Case, axis_text};
use crate::expr::Value;
use crate::plan::{Argument, Launch, Plan, Prepared, Row, Slice, Step, Work};
use crate::spec::model::Suite;

/// The whole text: axes, lets, inputs, buffers, launches and reads.
pub(super) fn explain(suite: &Suite, case: &Case, prepared: &Prepared) -> String {
    let mut text = format!("{}\n{}: {}\n", case.id, suite.path, suite.title);
    section(&mut text, "check", &[case.check.clone()]);
    let axes: Vec<String> = case
        .params
        .iter()
        .map(|(axis, value)| format!("{axis} = {}", axis_text(value)))
        .collect();
    section(&mut text, "axes", &axes);
    section(&mut text, "lets", &lets(suite, prepared));
    let plan = &prepared.plan;
    section(&mut text, "inputs", &inputs(prepared));
    let buffers: Vec<String> = plan
        .buffers
        .iter()
        .filter(|buffer| !buffer.is_input)
        .map(|buffer| {
            format!(
                "{}: {} × {}",
                buffer.name,
                buffer.element.name(),
                buffer.len
            )
        })
        .collect();
    section(&mut text, "buffers", &buffers);
    work(&mut text, plan);
    for wanted in &plan.wanted {
        let title = format!("wanted value: {}", wanted.key);
        section(&mut text, &title, &steps(plan, &wanted.steps));
        section(&mut text, "then reads", &reads(plan, &[wanted.read]));
    }
    let mut launches = format!("launches: {}", prepared.launches);
    if prepared.dropped_launches > 0 {
        launches.push_str(&format!(
            ", and {} left out because their grid is empty",
            prepared.dropped_launches
        ));
    }
    text.push_str(&format!("\n{launches}\n"));
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

fn work(text: &mut String, plan: &Plan) {
    match &plan.work {
        Work::Once {
            steps: run,
            reads: read,
        } => {
            section(text, "steps", &steps(plan, run));
            section(text, "reads", &reads(plan, read));
        }
        Work::Repeat {
            runs,
            steps: run,
            reads: read,
        } => {
            section(
                text,
                &format!("steps, {runs} times on fresh buffers"),
                &steps(plan, run),
            );
            section(text, "reads", &reads(plan, read));
        }
        Work::Rows {
            warmups,
            runs,
            rows,
        } => {
            for row in rows {
                timing_row(text, plan, row, *warmups, *runs);
            }
        }
    }
}

fn timing_row(text: &mut String, plan: &Plan, row: &Row, warmups: u32, runs: u32) {
    let bytes = row
        .bytes
        .map_or_else(String::new, |bytes| format!(", {bytes} bytes a run"));
    let title = format!("row {}: {warmups} warm-ups, {runs} runs{bytes}", row.name);
    section(text, &title, &steps(plan, &row.steps));
    section(text, "prepared once by", &steps(plan, &row.prepare));
    section(
        text,
        "prepared before each run by",
        &steps(plan, &row.prepare_each),
    );
    section(text, "reads", &reads(plan, &row.reads));
}

/// One line a step, numbered.
fn steps(plan: &Plan, steps: &[Step]) -> Vec<String> {
    let rows = steps.iter().enumerate().map(|(index, step)| {
        let what = match step {
            Step::Launch(launch) => launch_text(plan, launch),
            Step::Copy { from, to } => {
                format!("copy {} to {}", slice(plan, *from), slice(plan, *to))
            }
            Step::Fill { to, pattern } => {
                let bytes: String = pattern.iter().rev().map(|b| format!("{b:02x}")).collect();
                format!("fill {} with 0x{bytes}", slice(plan, *to))
            }
        };
        let module = match step {
            Step::Launch(launch) => plan.modules.get(launch.module).cloned().unwrap_or_default(),
            Step::Copy { .. } | Step::Fill { .. } => String::new(),
        };
        vec![format!("{}.", index + 1), what, module]
    });
    let table = columns(&["", "", ""], rows);
    table.lines().skip(1).map(str::to_owned).collect()
}

fn launch_text(plan: &Plan, launch: &Launch) -> String {
    let shared = match launch.shared {
        0 => String::new(),
        bytes => format!(", {bytes} B"),
    };
    let args: Vec<String> = launch.args.iter().map(|arg| argument(plan, *arg)).collect();
    format!(
        "{}<<<{}, {}{shared}>>>({})",
        launch.kernel,
        extent(launch.grid),
        extent(launch.block),
        args.join(", ")
    )
}

/// `256`, `16×16` or `8×8×4`.
fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (y, 1) => format!("{x}×{y}"),
        (y, z) => format!("{x}×{y}×{z}"),
    }
}

fn argument(plan: &Plan, argument: Argument) -> String {
    match argument {
        Argument::Pointer { buffer, element } => {
            let name = plan.buffers.get(buffer.0).map_or("?", |b| b.name.as_str());
            match element {
                0 => name.to_owned(),
                element => format!("{name}+{element}"),
            }
        }
        // A plan keeps a scalar's bytes, not whether the kernel reads them as a float: bytes are shown as they are.
        Argument::Scalar { bytes, size } => match size {
            1 => i8::from_le_bytes([bytes[0]]).to_string(),
            2 => i16::from_le_bytes([bytes[0], bytes[1]]).to_string(),
            4 => i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).to_string(),
            _ => i64::from_le_bytes(bytes).to_string(),
        },
    }
}

fn reads(plan: &Plan, slices: &[Slice]) -> Vec<String> {
    slices.iter().map(|read| slice(plan, *read)).collect()
}

/// `rank`, `sums2[0]` or `tree[0..253]`.
fn slice(plan: &Plan, slice: Slice) -> String {
    let Some(buffer) = plan.buffers.get(slice.buffer.0) else {
        return "?".to_owned();
    };
    match (slice.from, slice.len) {
        (0, len) if len == buffer.len && len != 1 => buffer.name.clone(),
        (from, 1) => format!("{}[{from}]", buffer.name),
        (from, len) => format!("{}[{from}..{}]", buffer.name, from + len),
    }
}

#[cfg(test)]
mod tests {
    use super::explain;
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
            explain(&suite, &case, &prepared)
        };
        insta::assert_snapshot!("once", shown("exact"));
        insta::assert_snapshot!("rows", shown("times"));
    }
}
