//! Kernels, generators and references by name, and kernels' arguments against their signatures.

use indexmap::IndexMap;

use super::blocks::View;
use super::{calls, reach};
use crate::expr::near;
use crate::image::{Param, ParamClass, Signature};
use crate::spec::Known;
use crate::spec::fields::Decoder;
use crate::spec::model::{Action, Arg, Expr, Place, Step, Suite, Template, Want};

/// Bytes of a device address.
const POINTER_BYTES: u32 = 8;

/// Kernels by name, each with the modules that have it.
pub(super) struct Launchable {
    kernels: IndexMap<String, Vec<(String, Signature)>>,
    /// Some module's kernels are not known, so a kernel that is not found may be there.
    unknown: bool,
}

impl Launchable {
    pub fn of(suite: &Suite, decoder: &Decoder<'_>) -> Self {
        let mut kernels: IndexMap<String, Vec<_>> = IndexMap::new();
        let mut unknown = suite.kernels.is_empty();
        for module in &suite.kernels {
            match decoder.loader.kernels.signatures(module) {
                Known::Signatures(signatures) => {
                    for signature in signatures {
                        let name = signature.name.clone();
                        let known = kernels.entry(name).or_default();
                        known.push((module.clone(), signature));
                    }
                }
                Known::Unknown | Known::NoSuchFile { .. } => unknown = true,
            }
        }
        Self { kernels, unknown }
    }

    pub fn signature(&self, kernel: &str) -> Option<&Signature> {
        let (_, signature) = self.kernels.get(kernel)?.first()?;
        Some(signature)
    }
}

pub(super) fn check(suite: &Suite, view: &View<'_>, decoder: &Decoder<'_>) {
    let launchable = Launchable::of(suite, decoder);
    for pipeline in reach::pipelines(suite, &view.gates) {
        steps(&suite.pipelines[pipeline], &launchable, view, decoder);
    }
    for input in view.inputs.values() {
        let params: Vec<&str> = input.params.keys().map(String::as_str).collect();
        for name in view.expand(&input.generator) {
            if let Err(words) = (decoder.loader.names.generator)(&name, &params) {
                decoder.log.add(input.generator.place, words);
            }
        }
    }
    for gate in view.gates.iter().filter_map(|name| suite.gates.get(name)) {
        for want in reach::wants(suite, gate) {
            reference(want, view, decoder);
        }
    }
}

fn reference(want: &Want, view: &View<'_>, decoder: &Decoder<'_>) {
    let Want::Reference {
        name, operand, map, ..
    } = want
    else {
        return;
    };
    let maps: Vec<Option<String>> = match map {
        Some(map) => view.expand(map).into_iter().map(Some).collect(),
        None => vec![None],
    };
    for operand_name in view.expand(operand) {
        for map in &maps {
            let checked = decoder.loader.names.reference;
            if let Err(words) = checked(name, &operand_name, map.as_deref()) {
                decoder.log.add(operand.place, words);
            }
        }
    }
}

fn steps(steps_: &[Step], launchable: &Launchable, view: &View<'_>, decoder: &Decoder<'_>) {
    for step in steps_ {
        match &step.action {
            Action::Kernel {
                kernel,
                shared,
                args,
                ..
            } => {
                for name in view.expand(kernel) {
                    launch(&name, kernel, shared.as_ref(), args, launchable, decoder);
                }
            }
            Action::Call { callee, name, args } => {
                for expanded in view.expand(name) {
                    calls::check(*callee, &expanded, name, args, decoder);
                }
            }
            Action::For { steps: inner, .. } => steps(inner, launchable, view, decoder),
            _ => {}
        }
    }
}

fn launch(
    name: &str,
    template: &Template,
    shared: Option<&Expr>,
    args: &[Arg],
    launchable: &Launchable,
    decoder: &Decoder<'_>,
) {
    let log = decoder.log;
    let Some(found) = launchable.kernels.get(name) else {
        // An axis that is missing was reported with the template.
        if !launchable.unknown && !name.contains("${") {
            let known = launchable.kernels.keys().map(String::as_str);
            let mend = match near(name, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the kernels are {}", known.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("no kernel `{name}` in this suite's kernel files");
            log.mend(template.place, message, mend);
        }
        return;
    };
    if let [(first, _), (second, _), ..] = found.as_slice() {
        let message = format!("kernel `{name}` is in `{first}.cu` and in `{second}.cu`");
        log.mend(template.place, message, "rename one of them");
        return;
    }
    let signature = &found[0].1;
    if args.len() != signature.params.len() {
        let (wants, given) = (signature.params.len(), args.len());
        let message = format!("kernel `{name}` takes {wants} arguments, {given} are given");
        let kinds: Vec<String> = signature.params.iter().map(describe).collect();
        log.mend(
            template.place,
            message,
            format!("it takes ({})", kinds.join(", ")),
        );
        return;
    }
    for (i, (arg, param)) in args.iter().zip(&signature.params).enumerate() {
        if let Some((place, words)) = mismatch(arg, *param) {
            let message = format!("argument {i} of `{name}`: {words}");
            let mend = format!("the kernel's PTX declares {}", describe(param));
            log.mend(place, message, mend);
        }
    }
    dynamic_shared(signature, template, shared, decoder);
}

fn dynamic_shared(
    signature: &Signature,
    template: &Template,
    shared: Option<&Expr>,
    decoder: &Decoder<'_>,
) {
    let name = &signature.name;
    match shared {
        Some(shared) if !signature.dynamic_shared => {
            let message = format!("kernel `{name}` declares no dynamic shared memory");
            let mend = "remove `shared`, or declare an `extern __shared__` array";
            decoder.log.mend(shared.place, message, mend);
        }
        None if signature.dynamic_shared => {
            let message = format!("kernel `{name}` needs dynamic shared memory");
            let mend = "add `shared: BYTES`";
            decoder.log.mend(template.place, message, mend);
        }
        _ => {}
    }
}

fn mismatch(arg: &Arg, param: Param) -> Option<(Place, String)> {
    match arg {
        Arg::Buffer(slice) => {
            let pointer = param.size == POINTER_BYTES && param.class == ParamClass::Integer;
            let words = format!("`{}` is a buffer, and no pointer is wanted", slice.buffer);
            (!pointer).then_some((slice.place, words))
        }
        Arg::Value(expr) => {
            let by_value = param.class != ParamClass::Bytes && param.size <= POINTER_BYTES;
            let words = "a structure cannot be given by value".to_string();
            (!by_value).then_some((expr.place, words))
        }
    }
}

fn describe(param: &Param) -> String {
    match (param.class, param.size) {
        (ParamClass::Integer, POINTER_BYTES) => "a buffer or a 64-bit integer".to_string(),
        (ParamClass::Integer, size) => format!("a {}-bit integer", size * 8),
        (ParamClass::Float, size) => format!("a {}-bit float", size * 8),
        (ParamClass::Bytes, size) => format!("a structure of {size} bytes"),
    }
}
