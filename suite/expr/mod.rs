//! The expression language of specs: integers and floats over axes, lets and what a position adds.
//!
//! Owns: evaluation, its limits, its functions and the words of its errors. The only place that names `rhai`.
//! May import `value` only.
//!
//! Integers have 64 bits; whatever would overflow is an error, and so is a shift by less than 0 or more than 63.
//! Functions: `ceil_div`, `ceil_log2` (0 for n ≤ 1), `next_pow2`, `min`, `max`, `pow`, `abs`.
//!
//! ```
//! use cuda_gates::expr::{Engine, Scope, Value};
//! use cuda_gates::spec::model::{Expr, Place};
//! let engine = Engine::new();
//! let mut scope = Scope::new();
//! scope.set("n", Value::Int(257));
//! let tiles = Expr { source: "ceil_div(n, 256)".into(), place: Place { line: 1, column: 1 } };
//! assert_eq!(engine.int(&tiles, &scope).unwrap(), 2);
//! ```

mod error;
mod functions;
mod names;
mod near;
mod script;
mod source;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use indexmap::IndexMap;
use rhai::{AST, Dynamic};

pub use error::ExprError;
pub use names::NameUse;
pub use near::near;
pub use script::ScriptResult;
pub use source::{Expr, Place};

/// An expression longer than this many bytes is refused.
const SOURCE_BYTES_MAX: usize = 4096;
/// Nested parentheses, operators and calls in one expression.
const DEPTH_MAX: usize = 64;
/// Operations one expression may take; an expression has no loops, so this is generous.
const OPERATIONS_MAX: u64 = 100_000;
/// Bytes of a text that an expression may build.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Parsed expressions kept; beyond this the cache starts afresh.
const CACHED_MAX: usize = 4096;

/// A value of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Map(BTreeMap<String, Value>),
    Array(Vec<Value>),
}

impl Value {
    /// The type's name, with its article, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "true or false",
            Value::Text(_) => "text",
            Value::Map(_) => "a map",
            Value::Array(_) => "an array",
        }
    }

    fn to_dynamic(&self) -> Dynamic {
        match self {
            Value::Int(v) => Dynamic::from(*v),
            Value::Float(v) => Dynamic::from(*v),
            Value::Bool(v) => Dynamic::from(*v),
            Value::Text(v) => Dynamic::from(v.clone()),
            Value::Map(map) => Dynamic::from_map(
                map.iter()
                    .map(|(name, value)| (name.as_str().into(), value.to_dynamic()))
                    .collect(),
            ),
            Value::Array(items) => {
                Dynamic::from_array(items.iter().map(Value::to_dynamic).collect())
            }
        }
    }

    /// # Errors
    /// The type's name, where the language has values that this type has not (`()`, a closure, …).
    fn from_dynamic(value: Dynamic) -> Result<Self, String> {
        let name = value.type_name();
        if let Ok(v) = value.as_int() {
            Ok(Value::Int(v))
        } else if let Ok(v) = value.as_float() {
            Ok(Value::Float(v))
        } else if let Ok(v) = value.as_bool() {
            Ok(Value::Bool(v))
        } else if value.is_string() {
            Ok(Value::Text(value.to_string()))
        } else if let Some(v) = value.clone().try_cast::<rhai::Map>() {
            let entries = v
                .into_iter()
                .map(|(key, value)| Ok((key.to_string(), Value::from_dynamic(value)?)));
            Ok(Value::Map(entries.collect::<Result<_, String>>()?))
        } else if let Some(v) = value.try_cast::<rhai::Array>() {
            let items = v.into_iter().map(Value::from_dynamic);
            Ok(Value::Array(items.collect::<Result<_, String>>()?))
        } else {
            Err(if name == "()" { "nothing" } else { name }.to_string())
        }
    }
}

/// Names and their values, in the order they were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope(IndexMap<String, Value>);

impl Scope {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a name, replacing an earlier value of it in place.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.0.insert(name.into(), value);
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Forgets a name (a loop's variable after its loop).
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn to_rhai(&self) -> rhai::Scope<'static> {
        let mut scope = rhai::Scope::new();
        for (name, value) in &self.0 {
            scope.push_constant_dynamic(name.clone(), value.to_dynamic());
        }
        scope
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Evaluates expressions and scripts. Its limits are set once; parsed expressions are kept by their source.
pub struct Engine {
    expressions: rhai::Engine,
    scripts: rhai::Engine,
    parsed: RefCell<HashMap<String, Rc<AST>>>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    pub fn new() -> Self {
        Self::with_script_operations(script::OPERATIONS_MAX)
    }

    /// An engine whose scripts may take this many operations.
    pub fn with_script_operations(operations_max: u64) -> Self {
        Self {
            expressions: expression_engine(),
            scripts: script::engine(operations_max),
            parsed: RefCell::default(),
        }
    }

    /// An integer; a float, a truth value or text is an error.
    pub fn int(&self, expr: &Expr, scope: &Scope) -> Result<i64, ExprError> {
        match self.value(expr, scope)? {
            Value::Int(value) => Ok(value),
            Value::Float(value) => Err(ExprError::new(
                expr.place,
                format!("this is {value:?}, and only a whole number will do here"),
            )
            .mend("divide integers with `/` or ceil_div(a, b), and write no decimal point")),
            other => Err(unwanted(expr, &other, "a whole number")),
        }
    }

    /// An integer or a float, as a finite float.
    pub fn number(&self, expr: &Expr, scope: &Scope) -> Result<f64, ExprError> {
        match self.value(expr, scope)? {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a number that is shown or compared, not an index"
            )]
            Value::Int(value) => Ok(value as f64),
            Value::Float(value) if value.is_finite() => Ok(value),
            Value::Float(value) => Err(ExprError::new(
                expr.place,
                format!("this is {value}, not a finite number"),
            )
            .mend("a float was divided by zero, or grew too large")),
            other => Err(unwanted(expr, &other, "a number")),
        }
    }

    pub fn bool(&self, expr: &Expr, scope: &Scope) -> Result<bool, ExprError> {
        match self.value(expr, scope)? {
            Value::Bool(value) => Ok(value),
            other => {
                Err(unwanted(expr, &other, "a comparison")
                    .mend("write a comparison, such as `n > 0`"))
            }
        }
    }

    pub fn value(&self, expr: &Expr, scope: &Scope) -> Result<Value, ExprError> {
        let ast = self.parse(expr)?;
        let value = self
            .expressions
            .eval_ast_with_scope::<Dynamic>(&mut scope.to_rhai(), &ast)
            .map_err(|e| error::from_eval(expr.place, *e, scope.names()))?;
        Value::from_dynamic(value).map_err(|kind| {
            ExprError::new(expr.place, format!("this gives {kind}, which is no value"))
        })
    }

    /// Parses; the variables it uses, each once, in order (roots: `rows` for `rows.copy.median_ms`).
    pub fn names(&self, expr: &Expr) -> Result<Vec<String>, ExprError> {
        let mut roots: Vec<String> = Vec::new();
        for used in self.uses(expr)? {
            if !roots.contains(&used.path[0]) {
                roots.push(used.path[0].clone());
            }
        }
        Ok(roots)
    }

    /// Parses; every use of a variable with its whole property chain and its place in the file.
    pub fn uses(&self, expr: &Expr) -> Result<Vec<NameUse>, ExprError> {
        self.parse(expr)?;
        let calls = names::calls(expr);
        if let Some((name, place)) = calls.iter().find(|(name, _)| !functions::is_known(name)) {
            return Err(error::unknown_function(*place, name));
        }
        Ok(names::uses(expr))
    }

    fn parse(&self, expr: &Expr) -> Result<Rc<AST>, ExprError> {
        if let Some(ast) = self.parsed.borrow().get(&expr.source) {
            return Ok(Rc::clone(ast));
        }
        if expr.source.trim().is_empty() {
            return Err(ExprError::new(expr.place, "the expression is empty"));
        }
        if expr.source.len() > SOURCE_BYTES_MAX {
            return Err(ExprError::new(
                expr.place,
                format!("the expression is longer than {SOURCE_BYTES_MAX} bytes"),
            )
            .mend("split it over several `let` entries"));
        }
        if let Some(at) = expr.source.chars().position(|c| c == '`') {
            return Err(ExprError::new(
                error::along(expr.place, at),
                "a back-quote has no use here",
            )
            .mend("text takes double quotes: pattern == \"none\""));
        }
        if let Some((text, place)) = names::oversized_integer(expr) {
            return Err(error::oversized(place, &text));
        }
        let ast = self
            .expressions
            .compile_expression(&expr.source)
            .map_err(|e| error::from_parse(expr.place, &e))?;
        let ast = Rc::new(ast);
        let mut parsed = self.parsed.borrow_mut();
        if parsed.len() >= CACHED_MAX {
            parsed.clear();
        }
        parsed.insert(expr.source.clone(), Rc::clone(&ast));
        Ok(ast)
    }
}

/// Whether a name can be a variable of the language: an identifier that is no reserved word.
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().any(|c| c != '_')
        && !names::is_reserved(name)
        && !functions::is_known(name)
}

/// Raw: no function exists but ours, so an unknown one is known as such without evaluating.
fn expression_engine() -> rhai::Engine {
    let mut engine = rhai::Engine::new_raw();
    engine
        .set_max_expr_depths(DEPTH_MAX, DEPTH_MAX)
        .set_max_operations(OPERATIONS_MAX)
        .set_max_call_levels(8)
        .set_max_string_size(TEXT_BYTES_MAX)
        .set_fast_operators(false)
        .set_allow_anonymous_fn(false)
        .set_allow_if_expression(false)
        .set_allow_switch_expression(false)
        .set_allow_looping(false)
        .set_fail_on_invalid_map_property(true)
        .set_optimization_level(rhai::OptimizationLevel::None);
    functions::register(&mut engine);
    engine
}

fn unwanted(expr: &Expr, value: &Value, wanted: &str) -> ExprError {
    ExprError::new(
        expr.place,
        format!("this is {}, and only {wanted} will do here", value.kind()),
    )
}

/// Moves a place to where a parser found something in the text that starts there.
fn locate(start: Place, position: rhai::Position) -> Place {
    let line = position.line().unwrap_or(1);
    let column = position.position().unwrap_or(1).max(1);
    Place {
        line: start.line.max(1) + line - 1,
        column: start.column.max(1) + column - 1,
    }
}
