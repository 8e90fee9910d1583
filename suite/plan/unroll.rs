//! Pipelines → flat lists of steps: loops, swaps, `when`, slices.

mod call;

use std::collections::HashMap;

use super::bytes::element_bytes;
use super::eval::Eval;
use super::judged::slice_text;
use super::launch::{Linker, ShapeExprs, pointer_argument, shape, value_argument};
use super::{Argument, BufferIndex, Launch, PlanBuffer, Slice, Step, template};
use crate::case::Case;
use crate::expr::{Scope, Value};
use crate::image::Signature;
use crate::outcome::Fault;
use crate::spec::model::{self, Action, Arg, Place, Range};
use crate::value::Scalar;

const LAUNCHES_MAX: u64 = 10_000;
/// Steps and iterations looked at in one run, so that a loop without launches ends as well.
const VISITS_MAX: u64 = 100_000;
/// Pipelines and loops inside each other; a loaded suite has no cycle.
const DEPTH_MAX: usize = 64;

/// What all runs of a plan share.
pub(super) struct Shared<'a> {
    pub eval: Eval<'a>,
    pub case: &'a Case,
    pub buffers: &'a [PlanBuffer],
    /// Axes and lets.
    pub scope: &'a Scope,
}

/// One run: names start at their own buffers, and trade places for the rest of it.
pub(super) struct Unroll<'a, 'l> {
    shared: &'a Shared<'a>,
    linker: &'l mut Linker<'a>,
    scope: Scope,
    names: HashMap<&'a str, BufferIndex>,
    pub launches: u64,
    /// Launches whose grid has a zero.
    pub dropped: u64,
    visits: u64,
    depth: usize,
}

impl<'a, 'l> Unroll<'a, 'l> {
    pub fn new(shared: &'a Shared<'a>, linker: &'l mut Linker<'a>) -> Self {
        let names = shared.buffers.iter().enumerate();
        Self {
            shared,
            linker,
            scope: shared.scope.clone(),
            names: names
                .map(|(i, b)| (b.name.as_str(), BufferIndex(i)))
                .collect(),
            launches: 0,
            dropped: 0,
            visits: 0,
            depth: 0,
        }
    }

    /// A pipeline's steps; `place` is where it is named.
    pub fn pipeline(&mut self, name: &str, place: Place) -> Result<Vec<Step>, Fault> {
        let mut out = Vec::new();
        self.named(name, place, &mut out)?;
        Ok(out)
    }

    /// The part of a buffer that a name means now.
    pub fn slice(&self, slice: &model::Slice) -> Result<Slice, Fault> {
        let eval = self.shared.eval;
        let fault = |message: String| eval.fault(slice.place, message);
        let Some(&buffer) = self.names.get(slice.buffer.as_str()) else {
            return Err(fault(format!(
                "`{}` is neither a buffer nor an input",
                slice.buffer
            )));
        };
        let len = self.shared.buffers[buffer.0].len;
        let outside = |what: String| {
            let text = slice_text(slice);
            let name = &slice.buffer;
            fault(format!("`{text}`: {what}, and `{name}` has {len} elements"))
        };
        let at = |expr: &model::Expr| eval.int(expr, &self.scope);
        let (from, to) = match &slice.range {
            Range::All => (0, len),
            Range::One(index) => {
                let index = at(index)?;
                let inside = u64::try_from(index).ok().filter(|i| *i < len);
                let index = inside.ok_or_else(|| outside(format!("the index is {index}")))?;
                (index, index + 1)
            }
            Range::Span(from, to) => {
                let (from, to) = (at(from)?, at(to)?);
                let inside = match (u64::try_from(from), u64::try_from(to)) {
                    (Ok(from), Ok(to)) if from <= to && to <= len => Some((from, to)),
                    _ => None,
                };
                inside.ok_or_else(|| outside(format!("the range is {from}..{to}")))?
            }
        };
        Ok(Slice {
            buffer,
            from,
            len: to - from,
        })
    }

    fn named(&mut self, name: &str, place: Place, out: &mut Vec<Step>) -> Result<(), Fault> {
        let shared = self.shared;
        let Some(steps) = shared.eval.suite.pipelines.get(name) else {
            return Err(shared.eval.fault(place, format!("`{name}` is no pipeline")));
        };
        self.steps(steps, place, out)
    }

    fn steps(
        &mut self,
        steps: &'a [model::Step],
        place: Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        if self.depth == DEPTH_MAX {
            let message = format!("pipelines and loops lie more than {DEPTH_MAX} deep");
            return Err(self.shared.eval.fault(place, message));
        }
        self.depth += 1;
        for step in steps {
            self.step(step, out)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn step(&mut self, step: &'a model::Step, out: &mut Vec<Step>) -> Result<(), Fault> {
        self.visit(step.place)?;
        let eval = self.shared.eval;
        if let Some(when) = &step.when
            && !eval.bool(when, &self.scope)?
        {
            return Ok(());
        }
        match &step.action {
            Action::Kernel {
                kernel,
                grid,
                block,
                shared,
                args,
            } => {
                let shared = shared.as_ref();
                let exprs = ShapeExprs {
                    grid,
                    block,
                    shared,
                };
                out.extend(self.launch(kernel, &exprs, args, step.place)?);
            }
            Action::Call { callee, name, args } => {
                out.push(self.call(*callee, name, args, step.place)?);
            }
            Action::Memset { to, value } => out.push(self.memset(to, value)?),
            Action::Copy { from, to } => out.push(self.copy(from, to)?),
            Action::Pipeline { name } => self.named(name, step.place, out)?,
            Action::For {
                variable,
                from,
                to,
                swap,
                steps,
            } => {
                let range = eval.int(from, &self.scope)?..eval.int(to, &self.scope)?;
                let before = self.scope.get(variable).cloned();
                for value in range {
                    self.visit(step.place)?;
                    self.scope.set(variable, Value::Int(value));
                    self.steps(steps, step.place, out)?;
                    if let Some((a, b)) = swap {
                        self.swap(a, b, step.place)?;
                    }
                }
                match before {
                    Some(before) => self.scope.set(variable, before),
                    None => drop(self.scope.remove(variable)),
                }
            }
        }
        Ok(())
    }

    fn visit(&mut self, place: Place) -> Result<(), Fault> {
        self.visits += 1;
        if self.visits > VISITS_MAX {
            let message = format!("unrolls to more than {VISITS_MAX} steps and iterations");
            return Err(self.shared.eval.fault(place, message));
        }
        Ok(())
    }

    fn swap(&mut self, a: &str, b: &str, place: Place) -> Result<(), Fault> {
        let (Some(&at_a), Some(&at_b)) = (self.names.get(a), self.names.get(b)) else {
            let message = format!("swap: `{a}` or `{b}` is not a buffer");
            return Err(self.shared.eval.fault(place, message));
        };
        for (name, index) in [(a, at_b), (b, at_a)] {
            if let Some(entry) = self.names.get_mut(name) {
                *entry = index;
            }
        }
        Ok(())
    }

    /// None when the grid has a zero.
    fn launch(
        &mut self,
        kernel: &model::Template,
        exprs: &ShapeExprs<'_>,
        args: &[Arg],
        place: Place,
    ) -> Result<Option<Step>, Fault> {
        let eval = self.shared.eval;
        let name = template::substitute(&kernel.text, &self.shared.case.params)
            .map_err(|message| eval.fault(kernel.place, message))?;
        let found = self.linker.kernel(&name);
        let (candidate, signature) = found.map_err(|fault| eval.placed(kernel.place, fault))?;
        let shape = shape(eval, &self.scope, exprs, &signature, place)?;
        if args.len() != signature.params.len() {
            let (given, takes) = (args.len(), signature.params.len());
            let message = format!("`{name}` takes {takes} arguments, {given} are given");
            return Err(eval.fault(place, message));
        }
        if shape.is_empty() {
            self.dropped += 1;
            return Ok(None);
        }
        self.launches += 1;
        if self.launches > LAUNCHES_MAX {
            let message = format!("unrolls to more than {LAUNCHES_MAX} launches");
            return Err(eval.fault(place, message));
        }
        let args = self.arguments(&signature, args)?;
        Ok(Some(Step::Launch(Launch {
            module: self.linker.module(candidate),
            kernel: name,
            grid: shape.grid,
            block: shape.block,
            shared: shape.shared,
            args,
        })))
    }

    fn arguments(&self, signature: &Signature, args: &[Arg]) -> Result<Vec<Argument>, Fault> {
        let eval = self.shared.eval;
        let mut arguments = Vec::with_capacity(args.len());
        for (arg, &param) in args.iter().zip(&signature.params) {
            arguments.push(match arg {
                Arg::Value(expr) => value_argument(eval, &self.scope, expr, param)?,
                Arg::Buffer(slice) => {
                    let pointer = pointer_argument(self.slice(slice)?, param);
                    pointer.map_err(|message| {
                        let text = slice_text(slice);
                        eval.fault(slice.place, format!("`{text}`: {message}"))
                    })?
                }
            });
        }
        Ok(arguments)
    }

    fn memset(&self, to: &model::Slice, value: &model::Expr) -> Result<Step, Fault> {
        let eval = self.shared.eval;
        let target = self.written(to)?;
        let element = self.buffer(target).element;
        let number = match element.is_float() {
            true => Scalar::Float(eval.number(value, &self.scope)?),
            false => Scalar::Int(i128::from(eval.int(value, &self.scope)?)),
        };
        let pattern = element_bytes(element, number).map_err(|message| {
            eval.fault(value.place, format!("memset of `{}`: {message}", to.buffer))
        })?;
        Ok(Step::Fill {
            to: target,
            pattern,
        })
    }

    fn copy(&self, from: &model::Slice, to: &model::Slice) -> Result<Step, Fault> {
        let (source, target) = (self.slice(from)?, self.written(to)?);
        let (from_element, to_element) = (self.buffer(source).element, self.buffer(target).element);
        let fault = |message: String| {
            let place = from.place;
            let (from, to) = (slice_text(from), slice_text(to));
            let message = format!("copy of `{from}` to `{to}`: {message}");
            Err(self.shared.eval.fault(place, message))
        };
        if source.len != target.len {
            return fault(format!("{} elements to {}", source.len, target.len));
        }
        if from_element.size() != to_element.size() {
            let (from, to) = (from_element.name(), to_element.name());
            return fault(format!("elements of {from} to {to}"));
        }
        let overlaps =
            source.from < target.from + target.len && target.from < source.from + source.len;
        if source.buffer == target.buffer && overlaps {
            return fault("the two overlap".into());
        }
        Ok(Step::Copy {
            from: source,
            to: target,
        })
    }

    /// A slice that a step writes: not of an input.
    fn written(&self, slice: &model::Slice) -> Result<Slice, Fault> {
        let target = self.slice(slice)?;
        if self.buffer(target).is_input {
            let message = format!("`{}` is an input, which is read-only", slice.buffer);
            return Err(self.shared.eval.fault(slice.place, message));
        }
        Ok(target)
    }

    fn buffer(&self, slice: Slice) -> &PlanBuffer {
        &self.shared.buffers[slice.buffer.0]
    }
}
