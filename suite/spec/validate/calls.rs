//! Calls of the native library and of host rungs: their arguments, and pipelines that mix host and device.

use super::reach;
use crate::call::{Function, Parameter, ParameterKind};
use crate::image::{Param, ParamClass};
use crate::spec::fields::Decoder;
use crate::spec::log::Log;
use crate::spec::model::{Action, Arg, Callee, Place, Step, Suite, Template};

/// What a called function takes; none where nothing is known of it.
pub(super) fn function(
    callee: Callee,
    name: &str,
    decoder: &Decoder<'_>,
) -> Result<Option<Function>, String> {
    match callee {
        Callee::Native => decoder.loader.kernels.native(name).map(Some),
        Callee::Host => (decoder.loader.names.host)(name),
    }
}

/// A parameter as a kernel would declare it.
pub(super) fn param(parameter: &Parameter) -> Option<Param> {
    Some(match parameter.kind {
        ParameterKind::Array { .. } => Param {
            size: 8,
            class: ParamClass::Integer,
        },
        ParameterKind::Number(element) => Param {
            size: element.size() as u32,
            class: match element.is_float() {
                true => ParamClass::Float,
                false => ParamClass::Integer,
            },
        },
    })
}

pub(super) fn check(
    callee: Callee,
    name: &str,
    template: &Template,
    args: &[Arg],
    decoder: &Decoder<'_>,
) {
    let log = decoder.log;
    // An axis that is missing was reported with the template.
    if name.contains("${") {
        return;
    }
    let function = match function(callee, name, decoder) {
        Ok(Some(function)) => function,
        Ok(None) => return,
        Err(words) => return log.add(template.place, words),
    };
    if args.len() != function.params.len() {
        let (wants, given) = (function.params.len(), args.len());
        let message = format!("`{name}` takes {wants} arguments, {given} are given");
        return log.mend(template.place, message, format!("it is {function}"));
    }
    for (index, (arg, parameter)) in args.iter().zip(&function.params).enumerate() {
        if let Some((place, words)) = mismatch(arg, parameter, decoder) {
            let message = format!("argument {index} of `{name}`: {words}");
            log.mend(place, message, format!("it is {function}"));
        }
    }
    if callee == Callee::Host {
        named_twice(name, args, log);
    }
}

fn mismatch(arg: &Arg, parameter: &Parameter, decoder: &Decoder<'_>) -> Option<(Place, String)> {
    match (arg, parameter.kind) {
        (Arg::Buffer(slice), ParameterKind::Array { element, written }) => {
            let name = &slice.buffer;
            if written && decoder.survey.inputs.contains_key(name) {
                let words = format!("`{name}` is an input, which is read-only");
                return Some((slice.place, words));
            }
            let own = decoder.survey.element(name)?;
            let words = format!(
                "`{name}` holds {}, and {} is wanted",
                own.name(),
                element.name()
            );
            (own != element).then_some((slice.place, words))
        }
        (Arg::Buffer(slice), ParameterKind::Number(_)) => {
            let words = format!("`{}` is a buffer, and a number is wanted", slice.buffer);
            Some((slice.place, words))
        }
        (Arg::Value(expr), ParameterKind::Array { .. }) => {
            let words = format!("`{}` is a number, and a buffer is wanted", expr.source);
            Some((expr.place, words))
        }
        (Arg::Value(_), ParameterKind::Number(_)) => None,
    }
}

/// A host rung has each of its arrays for itself.
fn named_twice(name: &str, args: &[Arg], log: &Log<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for arg in args {
        let Arg::Buffer(slice) = arg else { continue };
        if seen.contains(&slice.buffer.as_str()) {
            let message = format!("`{}` is given to `{name}` twice", slice.buffer);
            log.mend(slice.place, message, "a host rung takes each buffer once");
        }
        seen.push(&slice.buffer);
    }
}

/// Reports each pipeline that works on both sides, where neither its own callees do.
pub(super) fn mixtures(suite: &Suite, log: &Log<'_>) {
    for (name, steps) in &suite.pipelines {
        let mixed = |callee: &&str| sides(suite, callee).is_mixed();
        if reach::callees(steps).iter().any(mixed) {
            continue;
        }
        if let Sides {
            host: Some(place),
            device: Some(_),
        } = of_steps(suite, steps)
        {
            let message = format!("pipeline `{name}` mixes host and device steps");
            let mend = "a host pipeline holds host steps only; what must run before a timing row's goes into its \
                        `prepare` or `prepare_each`";
            log.mend(place, message, mend);
        }
    }
}

/// Where a pipeline first works on either side.
#[derive(Default)]
struct Sides {
    host: Option<Place>,
    device: Option<Place>,
}

impl Sides {
    fn is_mixed(&self) -> bool {
        self.host.is_some() && self.device.is_some()
    }

    fn add(&mut self, other: &Self, place: impl Fn(Place) -> Place) {
        self.host = self.host.or(other.host.map(&place));
        self.device = self.device.or(other.device.map(&place));
    }
}

fn sides(suite: &Suite, pipeline: &str) -> Sides {
    let steps = suite.pipelines.get(pipeline);
    steps.map_or_else(Sides::default, |steps| of_steps(suite, steps))
}

/// Pipelines do not run themselves: that has been looked at.
fn of_steps(suite: &Suite, steps: &[Step]) -> Sides {
    let mut all = Sides::default();
    for step in steps {
        match &step.action {
            Action::Call {
                callee: Callee::Host,
                ..
            } => all.host = all.host.or(Some(step.place)),
            Action::Pipeline { name } => all.add(&sides(suite, name), |_| step.place),
            Action::For { steps, .. } => all.add(&of_steps(suite, steps), |place| place),
            Action::Kernel { .. }
            | Action::Call { .. }
            | Action::Memset { .. }
            | Action::Copy { .. } => all.device = all.device.or(Some(step.place)),
        }
    }
    all
}
