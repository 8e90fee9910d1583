//! The values of expressions, over samples of each block's axes: what divides by zero, overflows or has the wrong type
//! for a case of the smallest profile is an error of the file.

use std::collections::HashSet;

use super::blocks::{View, first_profile, pick, product};
use super::reach;
use super::signatures::Launchable;
use crate::expr::{ExprError, Scope, Value};
use crate::image::{Param, ParamClass};
use crate::outcome::ReasonKind;
use crate::spec::fields::Decoder;
use crate::spec::model::{
    Action, Arg, AxisValue, Check, Expect, Expr, Gate, Place, Range, Slice, Step, Suite,
};
use crate::spec::template;

/// Combinations of one block.
const COMBINATIONS_MAX: usize = 1000;
/// Evaluations of one block, so that a file loads in a moment.
const EVALUATIONS_MAX: usize = 20_000;

/// `failed` holds the expressions reported already, by this block or another.
pub(super) fn check(
    suite: &Suite,
    view: &View<'_>,
    decoder: &Decoder<'_>,
    failed: &mut HashSet<Place>,
) {
    let Some(axes) = view.block.and_then(first_profile) else {
        return;
    };
    let total = product(axes.iter().map(|(_, values)| values.len()));
    let mut evaluation = Evaluation {
        suite,
        view,
        decoder,
        launchable: Launchable::of(suite, decoder),
        failed,
        count: 0,
        scope: Scope::new(),
        shown: String::new(),
    };
    let mut samples = total.min(COMBINATIONS_MAX);
    let mut sample = 0;
    while sample < samples {
        // Spread over the whole product, the first included.
        let index = (sample as u128 * total as u128 / samples as u128) as usize;
        evaluation.combination(&pick(&axes, index));
        if sample == 0 {
            samples = samples.min((EVALUATIONS_MAX / evaluation.count.max(1)).max(1));
        }
        sample += 1;
    }
}

struct Evaluation<'a> {
    suite: &'a Suite,
    view: &'a View<'a>,
    decoder: &'a Decoder<'a>,
    launchable: Launchable,
    /// Expressions reported already: one combination that shows the mistake is enough.
    failed: &'a mut HashSet<Place>,
    count: usize,
    scope: Scope,
    /// `n = 0, keep = 26`
    shown: String,
}

impl Evaluation<'_> {
    fn combination(&mut self, values: &[(&str, &AxisValue)]) {
        self.scope = Scope::new();
        let mut shown = Vec::new();
        for (name, value) in values {
            let (value, text) = match value {
                AxisValue::Int(v) => (Value::Int(*v), v.to_string()),
                AxisValue::Text(v) => (Value::Text(v.clone()), v.clone()),
            };
            shown.push(format!("{name} = {text}"));
            self.scope.set(*name, value);
        }
        self.shown = shown.join(", ");
        self.lets();
        // A requirement that does not hold ends the case as a setup error; nothing after it is evaluated.
        if !self.required() {
            return;
        }
        self.arrays();
        for pipeline in reach::pipelines(self.suite, &self.judged_gates()) {
            self.steps(&self.suite.pipelines[pipeline]);
        }
        for name in self.judged_gates() {
            if let Some(gate) = self.suite.gates.get(&name) {
                self.gate(gate);
            }
        }
    }

    /// Gates that do not expect a setup error anyway.
    fn judged_gates(&self) -> Vec<String> {
        let refused = Expect::Error {
            kind: ReasonKind::Setup,
        };
        let gates = self.view.gates.iter().filter(|name| {
            let gate = self.suite.gates.get(*name);
            gate.is_some_and(|gate| gate.expect != refused)
        });
        gates.cloned().collect()
    }

    /// A let that fails stays unset: what uses it is then passed over, and everything else is looked at.
    fn lets(&mut self) {
        let suite = self.suite;
        for (name, expr) in &suite.lets {
            match self.value(expr) {
                Some(value @ (Value::Int(_) | Value::Float(_))) => self.scope.set(name, value),
                Some(other) => {
                    let message = format!("a let is a number, not {}", other.kind());
                    self.report(expr, message, None);
                }
                None => {}
            }
        }
    }

    fn required(&mut self) -> bool {
        let suite = self.suite;
        let mut holds = true;
        for requirement in &suite.require {
            holds &= self.condition(&requirement.that).unwrap_or(true);
        }
        holds
    }

    fn arrays(&mut self) {
        for buffer in self.suite.buffers.values() {
            self.length(&buffer.len);
        }
        let inputs: Vec<_> = self.view.inputs.values().copied().collect();
        for input in inputs {
            self.length(&input.len);
            for expr in input.params.values() {
                self.int(expr);
            }
        }
    }

    fn length(&mut self, expr: &Expr) -> Option<i64> {
        let len = self.int(expr)?;
        if len < 0 {
            let mend = Some("keep it at 0 or above: max(x, 0)".to_string());
            self.report(expr, format!("the length is {len}"), mend);
            return None;
        }
        Some(len)
    }

    fn gate(&mut self, gate: &Gate) {
        for slice in reach::results(self.suite, gate) {
            self.slice(slice);
        }
        if let Check::Timings(timings) = &gate.check {
            for row in timings.rows.values() {
                row.when.as_ref().map(|when| self.condition(when));
                if let Some(bytes) = &row.bytes {
                    self.length(bytes);
                }
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            let runs = step.when.as_ref().map(|when| self.condition(when));
            if runs.is_some_and(|runs| runs != Some(true)) {
                continue;
            }
            match &step.action {
                Action::Kernel {
                    kernel,
                    grid,
                    block,
                    shared,
                    args,
                } => {
                    for expr in grid.iter().chain(block).chain(shared) {
                        self.size(expr);
                    }
                    let scope = &self.scope;
                    let name = template::expand(&kernel.text, |axis| match scope.get(axis)? {
                        Value::Int(v) => Some(AxisValue::Int(*v)),
                        Value::Text(v) => Some(AxisValue::Text(v.clone())),
                        _ => None,
                    });
                    self.args(&name, args);
                }
                Action::Memset { to, value } => {
                    self.slice(to);
                    self.number(value);
                }
                Action::Copy { from, to } => {
                    self.slice(from);
                    self.slice(to);
                }
                Action::Pipeline { .. } => {}
                Action::For {
                    variable,
                    from,
                    to,
                    steps,
                    ..
                } => {
                    let (from, to) = (self.int(from), self.int(to));
                    if let (Some(from), Some(to)) = (from, to)
                        && from < to
                    {
                        // The first and the last iteration show nearly every mistake of a loop.
                        let last = if to - 1 > from { Some(to - 1) } else { None };
                        for value in [Some(from), last].into_iter().flatten() {
                            self.scope.set(variable, Value::Int(value));
                            self.steps(steps);
                        }
                        self.scope.remove(variable);
                    }
                }
            }
        }
    }

    /// A grid, a block or a number of bytes.
    fn size(&mut self, expr: &Expr) {
        if let Some(value) = self.int(expr)
            && u32::try_from(value).is_err()
        {
            let mend = Some(format!("from 0 to {}", u32::MAX));
            self.report(expr, format!("this is {value}"), mend);
        }
    }

    fn args(&mut self, kernel: &str, args: &[Arg]) {
        let signature = self.launchable.signature(kernel);
        let params: Vec<Option<Param>> = match signature {
            Some(signature) if signature.params.len() == args.len() => {
                signature.params.iter().copied().map(Some).collect()
            }
            _ => vec![None; args.len()],
        };
        for (arg, param) in args.iter().zip(params) {
            match (arg, param) {
                (Arg::Buffer(slice), _) => {
                    self.slice(slice);
                }
                (Arg::Value(expr), Some(param)) if param.class == ParamClass::Integer => {
                    self.integer_arg(expr, param);
                }
                (Arg::Value(expr), _) => {
                    self.number(expr);
                }
            }
        }
    }

    /// PTX does not tell signed from unsigned, so either range will do.
    fn integer_arg(&mut self, expr: &Expr, param: Param) {
        let Some(value) = self.int(expr).map(i128::from) else {
            return;
        };
        let bits = param.size.min(8) * 8;
        if value < -(1i128 << (bits - 1)) || value >= 1i128 << bits {
            let mend = Some("widen the kernel's parameter, or take a smaller value".to_string());
            let message = format!("{value} does not fit the kernel's {bits}-bit integer");
            self.report(expr, message, mend);
        }
    }

    fn slice(&mut self, slice: &Slice) {
        let buffer = self.suite.buffers.get(&slice.buffer).map(|b| &b.len);
        let input = self.view.inputs.get(slice.buffer.as_str());
        let Some(len) = buffer.or(input.map(|input| &input.len)) else {
            return;
        };
        let (from, to) = match &slice.range {
            Range::All => return,
            Range::One(at) => match self.int(at) {
                Some(at) => (at, at.saturating_add(1)),
                None => return,
            },
            Range::Span(from, to) => match (self.int(from), self.int(to)) {
                (Some(from), Some(to)) => (from, to),
                _ => return,
            },
        };
        let Some(len) = self.int(len) else { return };
        if from < 0 || to < from || to > len {
            let message = format!(
                "{from}..{to} does not lie in `{}` of {len} elements",
                slice.buffer
            );
            self.report_at(slice.place, message, None);
        }
    }

    fn int(&mut self, expr: &Expr) -> Option<i64> {
        let result = self.decoder.engine.int(expr, &self.scope);
        self.evaluated(expr, result)
    }

    fn number(&mut self, expr: &Expr) -> Option<f64> {
        let result = self.decoder.engine.number(expr, &self.scope);
        self.evaluated(expr, result)
    }

    fn condition(&mut self, expr: &Expr) -> Option<bool> {
        let result = self.decoder.engine.bool(expr, &self.scope);
        self.evaluated(expr, result)
    }

    fn value(&mut self, expr: &Expr) -> Option<Value> {
        let result = self.decoder.engine.value(expr, &self.scope);
        self.evaluated(expr, result)
    }

    /// Unknown names and syntax errors were reported where each expression was checked for them.
    fn evaluated<T>(&mut self, expr: &Expr, result: Result<T, ExprError>) -> Option<T> {
        self.count += 1;
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.names_known(expr) {
                    let first = self.failed.insert(expr.place);
                    if first {
                        let message = self.with_values(error.message);
                        self.decoder.log.maybe(error.place, message, error.mend);
                    }
                }
                None
            }
        }
    }

    fn names_known(&self, expr: &Expr) -> bool {
        let uses = self.decoder.engine.uses(expr);
        uses.is_ok_and(|uses| {
            let mut roots = uses.iter().map(|used| (&used.path[0], used.path.len()));
            roots.all(|(root, len)| len == 1 && self.scope.get(root).is_some())
        })
    }

    fn report(&mut self, expr: &Expr, message: String, mend: Option<String>) {
        self.report_at(expr.place, message, mend);
    }

    fn report_at(&mut self, place: Place, message: String, mend: Option<String>) {
        if self.failed.insert(place) {
            let message = self.with_values(message);
            self.decoder.log.maybe(place, message, mend);
        }
    }

    fn with_values(&self, message: String) -> String {
        if self.shown.is_empty() {
            message
        } else {
            format!("{message} (for {})", self.shown)
        }
    }
}
