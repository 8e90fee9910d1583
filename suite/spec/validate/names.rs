//! The names in a block's expressions and templates: axes, lets, loop variables, and what a position adds.

use std::cell::RefCell;
use std::collections::HashSet;

use super::blocks::View;
use super::{dry, reach};
use crate::expr::near;
use crate::spec::fields::Decoder;
use crate::spec::keys;
use crate::spec::model::{
    Action, Arg, Check, Expr, Gate, Place, Range, Slice, Step, Suite, Template, Timings, Want,
};
use crate::spec::template;

pub(super) fn check(suite: &Suite, view: &View<'_>, decoder: &Decoder<'_>) {
    let mut names = Names {
        view,
        decoder,
        visible: view.axes.keys().copied().collect(),
        missing: RefCell::default(),
    };
    for (name, expr) in &suite.lets {
        names.expr(expr, &[]);
        names.visible.push(name);
    }
    for requirement in &suite.require {
        names.expr(&requirement.that, &[]);
    }
    for buffer in suite.buffers.values() {
        names.expr(&buffer.len, &[]);
    }
    for input in view.inputs.values() {
        names.template(&input.generator);
        names.expr(&input.len, &[]);
        for expr in input.params.values() {
            names.expr(expr, &[]);
        }
    }
    for pipeline in reach::pipelines(suite, &view.gates) {
        names.steps(&suite.pipelines[pipeline], &mut Vec::new());
    }
    for gate in view.gates.iter().filter_map(|name| suite.gates.get(name)) {
        names.gate(suite, gate);
    }
}

struct Names<'a> {
    view: &'a View<'a>,
    decoder: &'a Decoder<'a>,
    /// Axes of the block, and the lets so far.
    visible: Vec<&'a str>,
    /// Axes and inputs of other blocks that were missed here: once is enough.
    missing: RefCell<HashSet<String>>,
}

impl Names<'_> {
    fn gate(&self, suite: &Suite, gate: &Gate) {
        for slice in reach::results(suite, gate) {
            self.slice(slice, &[]);
        }
        for want in reach::wants(suite, gate) {
            if let Want::Reference {
                operand, map, of, ..
            } = want
            {
                self.template(operand);
                map.iter().for_each(|map| self.template(map));
                self.input(of, operand.place);
            }
        }
        match &gate.check {
            Check::Assert { that, .. } => {
                self.expr(that, keys::ASSERT_VALUES);
                dry::condition(self.decoder, that, self.view);
            }
            Check::Timings(timings) => self.timings(timings),
            _ => {}
        }
    }

    fn timings(&self, timings: &Timings) {
        for row in timings.rows.values() {
            let exprs = row.bytes.iter().chain(&row.when);
            exprs.for_each(|expr| self.expr(expr, &[]));
        }
        for bound in &timings.assert {
            self.expr(&bound.that, &["rows"]);
            let rows = timings.rows.keys().map(String::as_str);
            rows_used(self.decoder, &bound.that, rows);
            dry::condition(self.decoder, &bound.that, self.view);
        }
    }

    fn steps(&self, steps: &[Step], variables: &mut Vec<String>) {
        for step in steps {
            let known: Vec<&str> = variables.iter().map(String::as_str).collect();
            step.when.iter().for_each(|when| self.expr(when, &known));
            match &step.action {
                Action::Kernel {
                    kernel,
                    grid,
                    block,
                    shared,
                    args,
                } => {
                    self.template(kernel);
                    for expr in grid.iter().chain(block).chain(shared) {
                        self.expr(expr, &known);
                    }
                    self.args(args, &known);
                }
                Action::Call { name, args, .. } => {
                    self.template(name);
                    self.args(args, &known);
                }
                Action::Memset { to, value } => {
                    self.slice(to, &known);
                    self.expr(value, &known);
                }
                Action::Copy { from, to } => {
                    self.slice(from, &known);
                    self.slice(to, &known);
                }
                Action::Pipeline { .. } => {}
                Action::For {
                    variable,
                    from,
                    to,
                    steps,
                    ..
                } => {
                    self.expr(from, &known);
                    self.expr(to, &known);
                    if variables.contains(variable) {
                        let message =
                            format!("the loop's variable `{variable}` hides an outer one");
                        self.decoder
                            .log
                            .mend(step.place, message, "choose another name");
                    }
                    variables.push(variable.clone());
                    self.steps(steps, variables);
                    variables.pop();
                }
            }
        }
    }

    fn args(&self, args: &[Arg], extra: &[&str]) {
        for arg in args {
            match arg {
                Arg::Buffer(slice) => self.slice(slice, extra),
                Arg::Value(expr) => self.argument(expr, extra),
            }
        }
    }

    fn slice(&self, slice: &Slice, extra: &[&str]) {
        if self.decoder.survey.inputs.contains_key(&slice.buffer) {
            self.input(&slice.buffer, slice.place);
        }
        match &slice.range {
            Range::All => {}
            Range::One(at) => self.expr(at, extra),
            Range::Span(from, to) => {
                self.expr(from, extra);
                self.expr(to, extra);
            }
        }
    }

    fn input(&self, name: &str, place: Place) {
        if !self.view.inputs.contains_key(name) && self.first_miss(name) {
            let message = format!("`{name}` is no input of {}", self.view.name());
            let mend = "declare it there, or leave this gate out of the block's `gates`";
            self.decoder.log.mend(place, message, mend);
        }
    }

    fn template(&self, template: &Template) {
        for name in template::names(&template.text).unwrap_or_default() {
            if self.view.axes.contains_key(name) {
                continue;
            }
            let axes = &self.decoder.survey.axes;
            if axes.iter().any(|axis| axis == name) {
                self.missing_axis(template.place, name);
                continue;
            }
            let mend = match near(name, axes.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `${{{near}}}`?"),
                None if axes.is_empty() => "the file declares no axis".to_string(),
                None => format!("the axes are {}", axes.join(", ")),
            };
            let message = format!("`${{{name}}}` names no axis");
            self.decoder.log.mend(template.place, message, mend);
        }
    }

    /// An axis of another block.
    fn missing_axis(&self, place: Place, name: &str) {
        if self.first_miss(name) {
            let message = format!("`{name}` is no axis of {}", self.view.name());
            let mend = "add the axis there, or leave this gate out of the block's `gates`";
            self.decoder.log.mend(place, message, mend);
        }
    }

    fn first_miss(&self, name: &str) -> bool {
        self.missing.borrow_mut().insert(name.to_string())
    }

    /// As `expr`, but a lone name may have been meant as a buffer.
    fn argument(&self, expr: &Expr, extra: &[&str]) {
        let lone = crate::expr::is_name(expr.source.trim());
        let name = expr.source.trim();
        if lone && !self.is_visible(name, extra) && !self.is_declared(name) {
            let arrays = self.decoder.survey.arrays();
            let known = arrays
                .chain(self.visible.iter().copied())
                .chain(extra.iter().copied());
            let mend = match near(name, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("`{name}` is no buffer, input, axis or let");
            self.decoder.log.mend(expr.place, message, mend);
            return;
        }
        self.expr(expr, extra);
    }

    fn is_visible(&self, name: &str, extra: &[&str]) -> bool {
        self.visible.contains(&name) || extra.contains(&name)
    }

    /// An axis of another block, or a let further down.
    fn is_declared(&self, name: &str) -> bool {
        let survey = self.decoder.survey;
        survey.axes.iter().chain(&survey.lets).any(|n| n == name)
    }

    /// An expression with a syntax error has been reported when it was decoded.
    fn expr(&self, expr: &Expr, extra: &[&str]) {
        for used in self.decoder.engine.uses(expr).unwrap_or_default() {
            let root = used.path[0].as_str();
            if self.is_visible(root, extra) {
                if used.path.len() > 1 && root != "rows" {
                    let message = format!("`{root}` is a number or text and has no properties");
                    self.decoder.log.add(used.place, message);
                }
                continue;
            }
            if self.decoder.survey.axes.iter().any(|axis| axis == root) {
                self.missing_axis(used.place, root);
                continue;
            }
            let (message, mend) = self.explain(root, extra);
            self.decoder.log.mend(used.place, message, mend);
        }
    }

    fn explain(&self, name: &str, extra: &[&str]) -> (String, String) {
        let survey = self.decoder.survey;
        if survey.lets.iter().any(|other| other == name) {
            let message = format!("`{name}` is declared further down");
            return (message, "a let may use those before it: move it up".into());
        }
        if survey.is_array(name) {
            let message = format!("`{name}` is a buffer or an input, not a number");
            return (message, "expressions work on axes and lets".into());
        }
        let known: Vec<&str> = self.visible.iter().chain(extra).copied().collect();
        let mend = match near(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "there is no axis and no let".to_string(),
            None => format!("known here: {}", known.join(", ")),
        };
        (format!("`{name}` is unknown here"), mend)
    }
}

/// Checks `rows.ROW.VALUE` chains.
pub(super) fn rows_used<'n>(
    decoder: &Decoder<'_>,
    expr: &Expr,
    rows: impl Iterator<Item = &'n str> + Clone,
) {
    for used in decoder.engine.uses(expr).unwrap_or_default() {
        let path: Vec<&str> = used.path.iter().map(String::as_str).collect();
        let (row, value) = match path[..] {
            ["rows", row, value] => (row, value),
            ["rows", ..] => {
                let mend = "write rows.ROW.median_ms";
                decoder
                    .log
                    .mend(used.place, "`rows` needs a row and a value", mend);
                continue;
            }
            _ => continue,
        };
        if !rows.clone().any(|known| known == row) {
            decoder.unknown(used.place, "row", row, rows.clone());
        }
        if !keys::ROW_VALUES.contains(&value) {
            let known = keys::ROW_VALUES.iter().copied();
            let mend = match near(value, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("a row has {}", keys::ROW_VALUES.join(", ")),
            };
            let message = format!("a row has no `{value}`");
            decoder.log.mend(used.place, message, mend);
        }
    }
}
