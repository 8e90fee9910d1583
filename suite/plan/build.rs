//! A case → its plan: scope, requirements, buffers, inputs, runs.

use std::collections::BTreeMap;

use super::eval::Eval;
use super::judged::{wanted_key, wants};
use super::launch::{Linker, Signatures};
use super::unroll::{Shared, Unroll};
use super::{Plan, PlanBuffer, Row, Slice, Step, WantedRun, Work, template};
use crate::case::{self, Case};
use crate::expr::{Engine, Scope, Value};
use crate::input;
use crate::outcome::Fault;
use crate::spec::model::{AxisValue, Block, Check, Gate, Input, Seed, Suite, Timings, Want};

/// A plan, and what judging it needs.
#[derive(Debug)]
pub struct Prepared {
    pub plan: Plan,
    /// In buffer order.
    pub inputs: Vec<input::Request>,
    /// Axes and lets.
    pub scope: Scope,
    /// Of one run; over the rows of a timing gate, of one run of each.
    pub launches: u64,
    /// Launches left out because their grid has a zero.
    pub dropped_launches: u64,
}

/// The bytes all buffers of a plan may take.
const BYTES_MAX: u64 = 1 << 40;

/// Builds the plan of a case of `suite`.
///
/// # Errors
/// `setup`, opening with `path:line:column`: an unmet `require`, an expression that fails, a slice outside its buffer,
/// a value that does not fit its type, a launch beyond CUDA's limits, more than 10,000 launches, a kernel that is
/// missing.
pub fn build(
    suite: &Suite,
    case: &Case,
    signatures: &dyn Signatures,
    engine: &Engine,
) -> Result<Prepared, Fault> {
    let eval = Eval { suite, engine };
    let (Some(block), Some(gate)) = (suite.blocks.get(case.block), suite.gates.get(&case.gate))
    else {
        let message = format!("{}: no case `{}` is there", suite.path, case.id);
        return Err(Fault::setup(message));
    };
    let scope = scope(eval, case)?;
    require(eval, case, &scope)?;
    let (buffers, inputs) = buffers(eval, case, block, &scope)?;
    let mut linker = Linker::new(signatures, &suite.kernels);
    let shared = Shared {
        eval,
        case,
        buffers: &buffers,
        scope: &scope,
    };
    let mut runs = Runs {
        shared: &shared,
        linker: &mut linker,
        launches: 0,
        dropped: 0,
    };
    let (work, wanted) = runs.gate(gate)?;
    let (launches, dropped_launches) = (runs.launches, runs.dropped);
    let modules = linker.modules;
    Ok(Prepared {
        plan: Plan {
            buffers,
            modules,
            work,
            wanted,
        },
        inputs,
        scope,
        launches,
        dropped_launches,
    })
}

/// Axes, then lets in their order.
fn scope(eval: Eval<'_>, case: &Case) -> Result<Scope, Fault> {
    let mut scope = Scope::new();
    for (axis, value) in &case.params {
        let value = match value {
            AxisValue::Int(v) => Value::Int(*v),
            AxisValue::Text(v) => Value::Text(v.clone()),
        };
        scope.set(axis, value);
    }
    for (name, expr) in &eval.suite.lets {
        let value = eval.int(expr, &scope)?;
        scope.set(name, Value::Int(value));
    }
    Ok(scope)
}

fn require(eval: Eval<'_>, case: &Case, scope: &Scope) -> Result<(), Fault> {
    for requirement in &eval.suite.require {
        let that = &requirement.that;
        if !eval.bool(that, scope)? {
            let params = match case.params.is_empty() {
                true => String::new(),
                false => format!(" for {}", case.params_text()),
            };
            let message = format!(
                "{} ({} is false{params})",
                requirement.otherwise, that.source
            );
            return Err(eval.fault(that.place, message));
        }
    }
    Ok(())
}

fn buffers(
    eval: Eval<'_>,
    case: &Case,
    block: &Block,
    scope: &Scope,
) -> Result<(Vec<PlanBuffer>, Vec<input::Request>), Fault> {
    let mut buffers = Vec::new();
    let mut requests = Vec::new();
    let mut bytes = 0u64;
    let inputs = block
        .inputs
        .iter()
        .map(|(n, i)| (n, i.element, &i.len, true));
    let outputs = eval
        .suite
        .buffers
        .iter()
        .map(|(n, b)| (n, b.element, &b.len, false));
    for (name, element, expr, is_input) in inputs.chain(outputs) {
        let len = eval.natural(expr, scope, &format!("the length of `{name}`"))?;
        bytes = bytes.saturating_add(len.saturating_mul(element.size() as u64));
        if bytes > BYTES_MAX {
            let (source, size) = (&expr.source, element.size());
            let message = format!(
                "`{name}` has `{source}` = {len} elements of {size} bytes: with it the buffers take more than \
                 {BYTES_MAX} bytes"
            );
            return Err(eval.fault(expr.place, message));
        }
        let name = name.clone();
        buffers.push(PlanBuffer {
            name,
            element,
            len,
            is_input,
        });
    }
    for ((name, input), buffer) in block.inputs.iter().zip(&buffers) {
        requests.push(request(eval, case, scope, (name, input), buffer.len)?);
    }
    Ok((buffers, requests))
}

fn request(
    eval: Eval<'_>,
    case: &Case,
    scope: &Scope,
    (name, input): (&str, &Input),
    len: u64,
) -> Result<input::Request, Fault> {
    let generator = template::substitute(&input.generator.text, &case.params)
        .map_err(|message| eval.fault(input.generator.place, message))?;
    let mut params = BTreeMap::new();
    for (param, expr) in &input.params {
        params.insert(param.clone(), eval.int(expr, scope)?);
    }
    Ok(input::Request {
        element: input.element,
        generator,
        params,
        seed: match input.seed {
            Seed::Fixed(seed) => seed,
            Seed::CaseId => case::seed(case, name),
        },
        len,
    })
}

/// The runs of a gate, each with fresh names.
struct Runs<'a, 'l> {
    shared: &'a Shared<'a>,
    linker: &'l mut Linker<'a>,
    launches: u64,
    dropped: u64,
}

impl<'a> Runs<'a, '_> {
    fn gate(&mut self, gate: &'a Gate) -> Result<(Work, Vec<WantedRun>), Fault> {
        let work = match &gate.check {
            Check::ScanTotal { run, .. }
            | Check::Count { run, .. }
            | Check::Exact { run, .. }
            | Check::Multiset { run, .. }
            | Check::Partition { run, .. }
            | Check::Sorted { run, .. }
            | Check::Permutation { run, .. }
            | Check::Near { run, .. }
            | Check::Assert { run, .. }
            | Check::Health { run } => {
                let (steps, reads) = self.checked(run, gate)?;
                Work::Once { steps, reads }
            }
            Check::Repeatable { run, runs, .. } => {
                let (steps, reads) = self.checked(run, gate)?;
                let runs = *runs;
                Work::Repeat { runs, steps, reads }
            }
            Check::Timings(timings) => return self.timings(gate, timings),
        };
        let wanted = self.wanted(gate, &[])?;
        Ok((work, wanted))
    }

    fn checked(&mut self, run: &str, gate: &'a Gate) -> Result<(Vec<Step>, Vec<Slice>), Fault> {
        let mut unroll = Unroll::new(self.shared, self.linker);
        let steps = unroll.pipeline(run, gate.place)?;
        let reads = reads(&unroll, &gate.check)?;
        self.launches += unroll.launches;
        self.dropped += unroll.dropped;
        Ok((steps, reads))
    }

    fn timings(
        &mut self,
        gate: &'a Gate,
        timings: &'a Timings,
    ) -> Result<(Work, Vec<WantedRun>), Fault> {
        let Shared { eval, scope, .. } = *self.shared;
        let mut rows = Vec::new();
        let mut taken = Vec::new();
        for (name, row) in &timings.rows {
            if let Some(when) = &row.when
                && !eval.bool(when, scope)?
            {
                continue;
            }
            rows.push(self.row(name, row)?);
            taken.push(row);
        }
        let wanted = self.wanted(gate, &taken)?;
        let (warmups, runs) = (timings.warmups, timings.runs);
        let work = Work::Rows {
            warmups,
            runs,
            rows,
        };
        Ok((work, wanted))
    }

    fn row(&mut self, name: &str, row: &'a crate::spec::model::Row) -> Result<Row, Fault> {
        let Shared { eval, scope, .. } = *self.shared;
        let mut unroll = Unroll::new(self.shared, self.linker);
        let mut list = |names: &[String]| {
            let mut steps = Vec::new();
            for name in names {
                steps.extend(unroll.pipeline(name, row.place)?);
            }
            Ok::<_, Fault>((steps, unroll.launches, unroll.dropped))
        };
        let (prepare, ..) = list(&row.prepare)?;
        let (prepare_each, launches_before, dropped_before) = list(&row.prepare_each)?;
        let (steps, launches, dropped) = list(std::slice::from_ref(&row.run))?;
        let mut row_reads = Vec::new();
        for check in eval.suite.verifying(row) {
            row_reads.extend(reads(&unroll, check)?);
        }
        self.launches += launches - launches_before;
        self.dropped += dropped - dropped_before;
        let bytes = row.bytes.as_ref();
        let bytes = bytes.map(|expr| eval.natural(expr, scope, "bytes"));
        Ok(Row {
            name: name.to_owned(),
            prepare,
            prepare_each,
            steps,
            bytes: bytes.transpose()?,
            reads: row_reads,
        })
    }

    /// The runs whose buffers are wanted values, each once.
    fn wanted(
        &mut self,
        gate: &'a Gate,
        rows: &[&'a crate::spec::model::Row],
    ) -> Result<Vec<WantedRun>, Fault> {
        let mut runs: Vec<WantedRun> = Vec::new();
        for want in wants(self.shared.eval.suite, gate, rows) {
            let Want::Run { pipeline, buffer } = want else {
                continue;
            };
            let key = wanted_key(pipeline, buffer);
            if runs.iter().any(|run| run.key == key) {
                continue;
            }
            let mut unroll = Unroll::new(self.shared, self.linker);
            let steps = unroll.pipeline(pipeline, buffer.place)?;
            let read = unroll.slice(buffer)?;
            runs.push(WantedRun { key, steps, read });
        }
        Ok(runs)
    }
}

fn reads(unroll: &Unroll<'_, '_>, check: &Check) -> Result<Vec<Slice>, Fault> {
    let slices = check.slices().into_iter();
    slices.map(|slice| unroll.slice(slice)).collect()
}
