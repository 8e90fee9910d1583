//! The values in steps: sizes, arguments, slices and loops.

use super::Evaluation;
use crate::expr::Value;
use crate::image::{Param, ParamClass};
use crate::spec::model::{Action, Arg, AxisValue, Expr, Range, Slice, Step, Template};
use crate::spec::template;
use crate::spec::validate::calls;

impl Evaluation<'_> {
    pub(super) fn steps(&mut self, steps: &[Step]) {
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
                    let name = self.expanded(kernel);
                    let params = self.params(&name, args.len());
                    self.args(args, &params);
                }
                Action::Call { callee, name, args } => {
                    let name = self.expanded(name);
                    let found = calls::function(*callee, &name, self.decoder).ok().flatten();
                    let params = match &found {
                        Some(function) if function.params.len() == args.len() => {
                            function.params.iter().map(calls::param).collect()
                        }
                        _ => vec![None; args.len()],
                    };
                    self.args(args, &params);
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

    pub(super) fn expanded(&self, name: &Template) -> String {
        let scope = &self.scope;
        template::expand(&name.text, |axis| match scope.get(axis)? {
            Value::Int(v) => Some(AxisValue::Int(*v)),
            Value::Text(v) => Some(AxisValue::Text(v.clone())),
            _ => None,
        })
    }

    fn params(&self, kernel: &str, count: usize) -> Vec<Option<Param>> {
        match self.launchable.signature(kernel) {
            Some(signature) if signature.params.len() == count => {
                signature.params.iter().copied().map(Some).collect()
            }
            _ => vec![None; count],
        }
    }

    fn args(&mut self, args: &[Arg], params: &[Option<Param>]) {
        for (arg, &param) in args.iter().zip(params) {
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
            let mend = Some("widen the parameter, or take a smaller value".to_string());
            let message = format!("{value} does not fit the parameter's {bits}-bit integer");
            self.report(expr, message, mend);
        }
    }

    pub(super) fn slice(&mut self, slice: &Slice) {
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
}
