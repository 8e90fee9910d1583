//! Calls of the native library and of host rungs: their arguments, and pipelines that mix host and device.

use std::collections::HashMap;

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

/// Reports each pipeline that works on both sides, where none of its own callees does.
pub(super) fn mixtures(suite: &Suite, log: &Log<'_>) {
    let mut known = HashMap::new();
    for (name, steps) in &suite.pipelines {
        let sides = sides(suite, name, &mut known);
        let mixed = |callee: &&str| known.get(callee).is_some_and(Sides::is_mixed);
        if reach::callees(steps).iter().any(mixed) {
            continue;
        }
        if let Sides {
            host: Some(place),
            device: Some(_),
        } = sides
        {
            let message = format!("pipeline `{name}` mixes host and device steps");
            let mend = "a host pipeline holds host steps only; what must run before a timing row's goes into its \
                        `prepare` or `prepare_each`";
            log.mend(place, message, mend);
        }
    }
}

/// Where a pipeline first works on either side.
#[derive(Clone, Copy, Default)]
struct Sides {
    host: Option<Place>,
    device: Option<Place>,
}

impl Sides {
    fn is_mixed(&self) -> bool {
        self.host.is_some() && self.device.is_some()
    }
}

/// Each pipeline is looked at once, however often others run it. They do not run themselves: that has been looked at.
fn sides<'s>(suite: &'s Suite, pipeline: &'s str, known: &mut HashMap<&'s str, Sides>) -> Sides {
    if let Some(sides) = known.get(pipeline) {
        return *sides;
    }
    let mut sides = Sides::default();
    if let Some(steps) = suite.pipelines.get(pipeline) {
        of_steps(suite, steps, known, &mut sides);
    }
    known.insert(pipeline, sides);
    sides
}

fn of_steps<'s>(
    suite: &'s Suite,
    steps: &'s [Step],
    known: &mut HashMap<&'s str, Sides>,
    all: &mut Sides,
) {
    for step in steps {
        let here = |side: Option<Place>| side.map(|_| step.place);
        match &step.action {
            Action::Call {
                callee: Callee::Host,
                ..
            } => all.host = all.host.or(Some(step.place)),
            Action::Pipeline { name } => {
                let callee = sides(suite, name, known);
                all.host = all.host.or(here(callee.host));
                all.device = all.device.or(here(callee.device));
            }
            Action::For { steps, .. } => of_steps(suite, steps, known, all),
            Action::Kernel { .. }
            | Action::Call { .. }
            | Action::Memset { .. }
            | Action::Copy { .. } => all.device = all.device.or(Some(step.place)),
        }
    }
}
