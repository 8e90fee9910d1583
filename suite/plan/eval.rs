//! Expressions of one suite, with faults that say where.

use crate::expr::{Engine, ExprError, Scope};
use crate::outcome::Fault;
use crate::spec::model::{Expr, Place, Suite};

/// Evaluates a suite's expressions; every fault opens with `path:line:column`.
#[derive(Clone, Copy)]
pub(super) struct Eval<'a> {
    pub suite: &'a Suite,
    pub engine: &'a Engine,
}

impl Eval<'_> {
    pub fn fault(&self, place: Place, message: impl std::fmt::Display) -> Fault {
        fault_at(&self.suite.path, place, message)
    }

    /// Another module's fault, with the place that led to it.
    pub fn placed(&self, place: Place, fault: Fault) -> Fault {
        placed(&self.suite.path, place, fault)
    }

    pub fn int(&self, expr: &Expr, scope: &Scope) -> Result<i64, Fault> {
        let value = self.engine.int(expr, scope);
        value.map_err(|e| self.expression(e))
    }

    pub fn number(&self, expr: &Expr, scope: &Scope) -> Result<f64, Fault> {
        let value = self.engine.number(expr, scope);
        value.map_err(|e| self.expression(e))
    }

    pub fn bool(&self, expr: &Expr, scope: &Scope) -> Result<bool, Fault> {
        let value = self.engine.bool(expr, scope);
        value.map_err(|e| self.expression(e))
    }

    /// An integer that is not negative; `what` names it in the fault.
    pub fn natural(&self, expr: &Expr, scope: &Scope, what: &str) -> Result<u64, Fault> {
        let value = self.int(expr, scope)?;
        u64::try_from(value).map_err(|_| {
            let source = &expr.source;
            self.fault(
                expr.place,
                format!("{what} is {value}: `{source}` is negative"),
            )
        })
    }

    fn expression(&self, error: ExprError) -> Fault {
        expression_fault(&self.suite.path, &error)
    }
}

pub(crate) fn fault_at(path: &str, place: Place, message: impl std::fmt::Display) -> Fault {
    Fault::setup(format!("{path}:{}:{}: {message}", place.line, place.column))
}

pub(crate) fn placed(path: &str, place: Place, mut fault: Fault) -> Fault {
    let message = &fault.reason.message;
    fault.reason.message = format!("{path}:{}:{}: {message}", place.line, place.column);
    fault
}

pub(crate) fn expression_fault(path: &str, error: &ExprError) -> Fault {
    match &error.mend {
        Some(mend) => fault_at(path, error.place, format!("{} ({mend})", error.message)),
        None => fault_at(path, error.place, &error.message),
    }
}
