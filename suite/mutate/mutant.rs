//! From a module's PTX to its mutants, each with a stable name.
//!
//! Imports `image` and the operators.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::Facts;
use super::operators::{Operator, Site};
use crate::image::ptx::{self, Function, FunctionKind, Instruction};

/// A kernel with one change.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// `kernel:line:operator`, and `:n` where the operator changes that line in several ways.
    pub id: String,
    pub operator: Operator,
    pub module: Arc<str>,
    pub kernel: Arc<str>,
    /// Line in the module's PTX text, from 1.
    pub line: u32,
    /// `file:line` of the CUDA source, where the PTX has line information.
    pub source: Option<String>,
    /// The instruction, white space collapsed.
    pub before: String,
    /// What stands in its place; empty where it is gone.
    pub after: String,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A text that is PTX as the module's is, and holds the kernel with its change.
    Text(Arc<str>),
    /// Blocks more (or less) in the grid's first dimension.
    Grid(i32),
}

/// The mutants of some of a module's kernels, in the order of the text.
///
/// # Errors
/// When the text is no PTX.
pub fn mutants(
    module: &str,
    text: &str,
    kernels: &[&str],
    operators: &[Operator],
) -> Result<Vec<Mutant>, ptx::ParseError> {
    let parsed = ptx::parse(text)?;
    let module: Arc<str> = module.into();
    let mut all = Vec::new();
    for function in &parsed.functions {
        let is_kernel = function.kind == FunctionKind::Entry;
        if !is_kernel || !kernels.contains(&function.name.as_str()) {
            continue;
        }
        let Some(facts) = Facts::of(function) else {
            continue;
        };
        let maker = Maker {
            module: Arc::clone(&module),
            kernel: function.name.as_str().into(),
            text,
            parsed: &parsed,
            function,
        };
        let mut made = Vec::new();
        for &operator in operators {
            maker.apply(operator, &facts, &mut made);
        }
        made.sort_by_key(|mutant| mutant.line);
        all.extend(made);
    }
    Ok(all)
}

struct Maker<'a> {
    module: Arc<str>,
    kernel: Arc<str>,
    text: &'a str,
    parsed: &'a ptx::Module,
    function: &'a Function,
}

impl Maker<'_> {
    /// The mutants of one operator, named.
    fn apply(&self, operator: Operator, facts: &Facts<'_>, into: &mut Vec<Mutant>) {
        let mut made: Vec<Mutant> = match operator {
            Operator::Grid if facts.is_grid_stride() => Vec::new(),
            Operator::Grid => vec![self.grid(-1), self.grid(1)],
            _ => facts
                .instructions()
                .filter(|instruction| !facts.is_hint(instruction))
                .flat_map(|instruction| {
                    let texts = operator.apply(&Site { instruction, facts });
                    let one = |after| self.instruction(operator, instruction, after);
                    texts.into_iter().map(one).collect::<Vec<_>>()
                })
                .collect(),
        };
        let mut of_line: HashMap<u32, usize> = HashMap::new();
        for mutant in &made {
            *of_line.entry(mutant.line).or_default() += 1;
        }
        let mut number: HashMap<u32, usize> = HashMap::new();
        for mutant in &mut made {
            mutant.id = format!("{}:{}:{operator}", self.kernel, mutant.line);
            if of_line[&mutant.line] > 1 {
                let number = number.entry(mutant.line).or_default();
                mutant.id.push_str(&format!(":{number}"));
                *number += 1;
            }
        }
        into.extend(made);
    }

    fn grid(&self, by: i32) -> Mutant {
        Mutant {
            id: String::new(),
            operator: Operator::Grid,
            module: Arc::clone(&self.module),
            kernel: Arc::clone(&self.kernel),
            line: self.function.line,
            source: None,
            before: "grid".to_owned(),
            after: format!("grid {} 1", if by < 0 { '-' } else { '+' }),
            change: Change::Grid(by),
        }
    }

    fn instruction(&self, operator: Operator, at: &Instruction, after: String) -> Mutant {
        let source = at.location.and_then(|place| {
            let file = self.parsed.files.get(&place.file)?;
            Some(format!("{file}:{}", place.line))
        });
        Mutant {
            id: String::new(),
            operator,
            module: Arc::clone(&self.module),
            kernel: Arc::clone(&self.kernel),
            line: at.line,
            source,
            before: at.text.clone(),
            change: Change::Text(self.mutated(at, &after).into()),
            after: after.trim_end_matches(';').to_owned(),
        }
    }

    /// A module with this kernel alone is enough where kernels share no variables and call no functions: it takes a
    /// fraction of the time to read.
    fn mutated(&self, at: &Instruction, after: &str) -> String {
        let functions = &self.parsed.functions;
        let alone = self.parsed.variables.is_empty()
            && functions.iter().all(|f| f.kind == FunctionKind::Entry);
        let first = functions.iter().map(|f| f.span.start).min().unwrap_or(0);
        let (head, own) = match alone {
            true => (0..first, self.function.span.clone()),
            false => (0..0, 0..self.text.len()),
        };
        [
            &self.text[head],
            &self.text[own.start..at.span.start],
            after,
            &self.text[at.span.end..own.end],
        ]
        .concat()
    }
}
