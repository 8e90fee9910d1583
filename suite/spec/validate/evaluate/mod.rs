//! The values of expressions, over samples of each block's axes: what divides by zero, overflows or has the wrong type
//! for a case of the smallest profile is an error of the file.

mod steps;

use std::collections::{BTreeMap, HashSet};

use super::blocks::{View, first_profile, pick, product};
use super::reach;
use super::signatures::Launchable;
use crate::expr::{ExprError, Scope, Value};
use crate::spec::Wanted;
use crate::spec::fields::Decoder;
use crate::spec::model::{AxisValue, Check, Expect, Expr, Gate, Input, Place, Suite};
use crate::terms::ReasonKind;

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
            let len = self.length(&input.len);
            let params = input.params.iter();
            let params: Vec<_> = params.map(|(name, expr)| (name, self.int(expr))).collect();
            let known = params
                .into_iter()
                .map(|(name, value)| Some((name.clone(), value?)));
            if let (Some(len), Some(params)) = (len, known.collect()) {
                self.values(input, len as u64, params);
            }
        }
    }

    /// Whether the generator can make this array, unless every gate expects that something cannot be set up.
    fn values(&mut self, input: &Input, len: u64, params: BTreeMap<String, i64>) {
        if self.judged_gates().is_empty() {
            return;
        }
        let generator = self.expanded(&input.generator);
        let names: Vec<&str> = params.keys().map(String::as_str).collect();
        let checks = self.decoder.loader.names;
        // Reported where the name is checked.
        if (checks.generator)(&generator, &names).is_err() {
            return;
        }
        let wanted = Wanted {
            element: input.element,
            generator: &generator,
            params,
            len,
        };
        if let Err(message) = (checks.values)(&wanted) {
            let first = input.params.values().next();
            let place = first.map_or(input.generator.place, |expr| expr.place);
            self.report_at(place, message, None);
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
