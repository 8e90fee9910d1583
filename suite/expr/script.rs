//! Scripts whose value is wanted: several statements over whole input arrays.
//!
//! A script may take many operations (their number is limited) and hold arrays of any size: a size limit would make
//! each push look at the whole array again.

use rhai::{Dynamic, OptimizationLevel, Position};

use super::{Engine, ExprError, Scope, error, functions, locate};
use crate::expr::Place;
use crate::value::{ArrayRef, Scalar};

/// Some tens of seconds of looping; the case's deadline is usually shorter.
pub(super) const OPERATIONS_MAX: u64 = 2_000_000_000;
/// Elements that `pad` may ask for at once: beyond this an allocation could take the process down.
const PAD_MAX: i64 = 1 << 28;

/// What a script's last expression gave.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptResult {
    Number(Scalar),
    Numbers(Vec<Scalar>),
}

pub(super) fn engine(operations_max: u64) -> rhai::Engine {
    let mut engine = rhai::Engine::new();
    engine
        .set_max_expr_depths(128, 64)
        .set_max_operations(operations_max)
        .set_max_call_levels(32)
        .set_fast_operators(false)
        .set_fail_on_invalid_map_property(true)
        .set_optimization_level(OptimizationLevel::Simple)
        .on_print(|_| {})
        .on_debug(|_, _, _| {})
        .disable_symbol("eval");
    functions::register(&mut engine);
    // Sleeping takes no operation, so nothing but the case's deadline would end it.
    engine
        .register_fn("sleep", |_: i64| no_sleep())
        .register_fn("sleep", |_: f64| no_sleep());
    engine.register_fn("pad", |array: &mut rhai::Array, len: i64, item: Dynamic| {
        if len > PAD_MAX {
            return Err(Box::new(rhai::EvalAltResult::ErrorRuntime(
                format!("pad to {len} elements: at most {PAD_MAX}").into(),
                Position::NONE,
            )));
        }
        let len = usize::try_from(len).unwrap_or(0);
        if len > array.len() {
            array.resize(len, item);
        }
        Ok(())
    });
    engine
}

fn no_sleep() -> Result<(), Box<rhai::EvalAltResult>> {
    let words = "a script cannot sleep";
    Err(Box::new(rhai::EvalAltResult::ErrorRuntime(
        words.into(),
        Position::NONE,
    )))
}

impl Engine {
    /// Parses a script without running it.
    ///
    /// # Errors
    /// Its first syntax error, placed as if the script started at `place`.
    pub fn check_script(&self, text: &str, place: Place) -> Result<(), ExprError> {
        match self.scripts.compile(text) {
            Ok(_) => Ok(()),
            Err(e) => Err(error::from_parse(place, &e)),
        }
    }

    /// A `want` script: inputs by name as arrays, the scope's names (axes and lets) as constants.
    ///
    /// # Errors
    /// A syntax or run-time error with its place inside the script, counted from `place`; a value that is neither a
    /// number nor an array of numbers; an input element above `i64::MAX`.
    pub fn script(
        &self,
        text: &str,
        place: Place,
        arrays: &[(String, ArrayRef<'_>)],
        scope: &Scope,
    ) -> Result<ScriptResult, ExprError> {
        let ast = self
            .scripts
            .compile(text)
            .map_err(|e| error::from_parse(place, &e))?;
        let mut variables = scope.to_rhai();
        for (name, array) in arrays {
            let items = to_items(*array)
                .map_err(|words| ExprError::new(place, format!("input `{name}`: {words}")))?;
            variables.push_dynamic(name.clone(), Dynamic::from_array(items));
        }
        let known: Vec<&str> = scope
            .names()
            .chain(arrays.iter().map(|(name, _)| name.as_str()))
            .collect();
        let value = self
            .scripts
            .eval_ast_with_scope::<Dynamic>(&mut variables, &ast)
            .map_err(|e| error::from_eval(place, *e, known.iter().copied()))?;
        drop(variables);
        to_result(value).map_err(|words| {
            ExprError::new(locate(place, Position::NONE), words)
                .mend("let the script end with a number or an array of numbers, without `;`")
        })
    }
}

macro_rules! widen {
    ($items:expr, $wide:ty) => {
        $items
            .iter()
            .map(|&v| Dynamic::from(<$wide>::from(v)))
            .collect()
    };
}

fn to_items(array: ArrayRef<'_>) -> Result<rhai::Array, String> {
    Ok(match array {
        ArrayRef::I8(v) => widen!(v, i64),
        ArrayRef::U8(v) => widen!(v, i64),
        ArrayRef::I16(v) => widen!(v, i64),
        ArrayRef::U16(v) => widen!(v, i64),
        ArrayRef::I32(v) => widen!(v, i64),
        ArrayRef::U32(v) => widen!(v, i64),
        ArrayRef::I64(v) => widen!(v, i64),
        ArrayRef::F32(v) => widen!(v, f64),
        ArrayRef::F64(v) => widen!(v, f64),
        ArrayRef::U64(v) => v
            .iter()
            .enumerate()
            .map(|(i, &v)| {
                i64::try_from(v)
                    .map(Dynamic::from)
                    .map_err(|_| format!("element {i} is {v}, and scripts count in i64"))
            })
            .collect::<Result<_, _>>()?,
    })
}

fn to_result(value: Dynamic) -> Result<ScriptResult, String> {
    if let Some(number) = to_scalar(&value) {
        return Ok(ScriptResult::Number(number));
    }
    let kind = value.type_name();
    if kind == "blob" {
        let bytes = value.into_blob().map_err(str::to_string)?;
        let numbers = bytes.into_iter().map(Scalar::from).collect();
        return Ok(ScriptResult::Numbers(numbers));
    }
    let items = value.into_array().map_err(|_| {
        let kind = if kind == "()" { "nothing" } else { kind };
        format!("the script gives {kind}, neither a number nor an array")
    })?;
    let numbers = items.iter().enumerate().map(|(i, item)| {
        to_scalar(item)
            .ok_or_else(|| format!("element {i} of the script's array is {}", item.type_name()))
    });
    Ok(ScriptResult::Numbers(
        numbers.collect::<Result<_, String>>()?,
    ))
}

fn to_scalar(value: &Dynamic) -> Option<Scalar> {
    let int = value.as_int().ok().map(Scalar::from);
    int.or_else(|| value.as_float().ok().map(Scalar::from))
}
