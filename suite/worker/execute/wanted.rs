//! `want` → the value itself, or which run of the plan gives it.

use std::sync::Arc;

use super::cache::Cache;
use crate::case::Case;
use crate::expr::{Engine, ScriptResult};
use crate::input;
use crate::outcome::Fault;
use crate::plan::{self, Prepared, expression_fault, fault_at};
use crate::reference::{self, Wanted};
use crate::spec::model::{Place, Suite, Template, Want};
use crate::value::{Array, ArrayRef, ElementType, Scalar};

/// Reference results by what they are of.
pub(super) type References = Cache<(reference::Request, input::Request), Wanted>;

/// A wanted value, or where it will come from.
#[derive(Clone)]
pub(super) enum Held {
    Value(Arc<Wanted>),
    /// The input itself: no copy is made of what is wanted unchanged.
    Input(Arc<Array>),
    /// An index into the plan's wanted runs.
    Run(usize),
}

/// A wanted value as a check sees it.
#[derive(Clone, Copy)]
pub(super) enum WantedRef<'a> {
    Array(ArrayRef<'a>),
    Partition { array: ArrayRef<'a>, split: u64 },
    Number(Scalar),
}

impl Held {
    /// None for a run, whose result is not there yet.
    pub fn view(&self) -> Option<WantedRef<'_>> {
        match self {
            Held::Value(wanted) => Some(match wanted.as_ref() {
                Wanted::Array(array) => WantedRef::Array(array.view()),
                Wanted::Partition { array, split } => WantedRef::Partition {
                    array: array.view(),
                    split: *split,
                },
                Wanted::Number(number) => WantedRef::Number(*number),
            }),
            Held::Input(array) => Some(WantedRef::Array(array.view())),
            Held::Run(_) => None,
        }
    }
}

/// What wants are resolved with: one case's names and inputs.
pub(super) struct Resolver<'a, 'c> {
    pub suite: &'a Suite,
    pub case: &'c Case,
    pub prepared: &'a Prepared,
    pub inputs: &'c [Arc<Array>],
    pub engine: &'c Engine,
    pub references: &'c mut References,
}

impl Resolver<'_, '_> {
    /// The value of a want. Numbers of files and scripts become elements of `element`; `place` is the gate's.
    pub fn resolve(
        &mut self,
        want: &Want,
        element: ElementType,
        place: Place,
    ) -> Result<Held, Fault> {
        let path = &self.suite.path;
        match want {
            Want::Reference {
                name,
                operand,
                map,
                of,
            } => self.reference(name, operand, map.as_ref(), of, place),
            Want::Run { pipeline, buffer } => {
                let key = plan::wanted_key(pipeline, buffer);
                let index = self.prepared.plan.wanted.iter().position(|w| w.key == key);
                let missing = || fault_at(path, place, format!("the plan has no run `{key}`"));
                index.map(Held::Run).ok_or_else(missing)
            }
            Want::File { path: file, text } => {
                let numbers = from_json(text)
                    .map_err(|what| fault_at(path, place, format!("{file}: {what}")))?;
                self.given(numbers, element, place)
            }
            Want::Script { text, place } => {
                let arrays = self.named_inputs();
                let result = self
                    .engine
                    .script(text, *place, &arrays, &self.prepared.scope);
                let result = result.map_err(|e| expression_fault(path, &e))?;
                self.given(result, element, *place)
            }
        }
    }

    fn reference(
        &mut self,
        name: &str,
        operand: &Template,
        map: Option<&Template>,
        of: &str,
        place: Place,
    ) -> Result<Held, Fault> {
        let path = &self.suite.path;
        let text = |template: &Template| {
            plan::substitute(&template.text, &self.case.params)
                .map_err(|message| fault_at(path, template.place, message))
        };
        let operand = text(operand)?;
        let map = map.map(text).transpose()?;
        let named = |name: &str| {
            let buffers = self.prepared.plan.buffers.iter();
            buffers.filter(|b| b.is_input).position(|b| b.name == name)
        };
        // `copy` and `reverse` name their input as the operand.
        let own = match name {
            "copy" | "reverse" => named(&operand),
            _ => None,
        };
        let index = own.or_else(|| named(of));
        let index = index.ok_or_else(|| fault_at(path, place, format!("`{of}` is no input")))?;
        let array = &self.inputs[index];
        if name == "copy" && map.is_none() {
            return Ok(Held::Input(Arc::clone(array)));
        }
        let request = reference::Request {
            name: name.to_owned(),
            operand,
            map,
        };
        let key = (request, self.prepared.inputs[index].clone());
        let made = self
            .references
            .get_or_make(&key, bytes_of, || reference::evaluate(&key.0, array.view()));
        made.map(Held::Value)
            .map_err(|fault| plan::placed(path, place, fault))
    }

    fn given(
        &self,
        result: ScriptResult,
        element: ElementType,
        place: Place,
    ) -> Result<Held, Fault> {
        let wanted = match result {
            ScriptResult::Number(number) => Wanted::Number(number),
            ScriptResult::Numbers(numbers) => {
                let array = reference::array_of(element, &numbers);
                let placed = |fault| plan::placed(&self.suite.path, place, fault);
                Wanted::Array(array.map_err(placed)?)
            }
        };
        Ok(Held::Value(Arc::new(wanted)))
    }

    fn named_inputs(&self) -> Vec<(String, ArrayRef<'_>)> {
        let buffers = self.prepared.plan.buffers.iter().filter(|b| b.is_input);
        let arrays = self.inputs.iter();
        buffers
            .zip(arrays)
            .map(|(buffer, array)| (buffer.name.clone(), array.view()))
            .collect()
    }
}

fn bytes_of(wanted: &Wanted) -> u64 {
    match wanted {
        Wanted::Array(array) | Wanted::Partition { array, .. } => array.as_bytes().len() as u64,
        Wanted::Number(_) => size_of::<Wanted>() as u64,
    }
}

/// A JSON array of numbers, or one number.
fn from_json(text: &str) -> Result<ScriptResult, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    match &value {
        serde_json::Value::Number(number) => Ok(ScriptResult::Number(scalar(number)?)),
        serde_json::Value::Array(items) => {
            let numbers = items.iter().enumerate().map(|(index, item)| match item {
                serde_json::Value::Number(number) => scalar(number),
                other => Err(format!("element {index} is {other}, not a number")),
            });
            Ok(ScriptResult::Numbers(numbers.collect::<Result<_, _>>()?))
        }
        _ => Err("neither a JSON array of numbers nor one number".into()),
    }
}

fn scalar(number: &serde_json::Number) -> Result<Scalar, String> {
    if let Some(value) = number.as_i64() {
        return Ok(Scalar::Int(value.into()));
    }
    if let Some(value) = number.as_u64() {
        return Ok(Scalar::Int(value.into()));
    }
    let value = number.as_f64();
    value
        .map(Scalar::Float)
        .ok_or_else(|| format!("{number} is not representable"))
}
