//! Calls: the body of the function called takes the place of the call.
//!
//! A function's registers, labels and variables get scopes of their own, its parameters are the caller's `.param`
//! variables, and what returns branches to its end, where lanes that returned at different places meet. What else is
//! rewritten before instructions are decoded has files of its own: `indirect`, `table` and `assertion`.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::Symbols;
use super::indirect::with_address;
use crate::device::sim::assertion::Note;
use crate::image::ptx::{
    Body, Function, FunctionKind, Guard, Instruction, Module, Operand, Space, Statement,
};

/// Calls within calls.
const MAX_DEPTH: usize = 16;
/// Functions that call functions twice each grow fast.
const MAX_STATEMENTS: usize = 1 << 17;

/// A kernel's body without calls and tables of branches.
#[derive(Default)]
pub(super) struct Expanded {
    /// Scopes of the kernel itself keep their numbers. A call that cannot be replaced is still there.
    pub body: Body,
    /// Parameters of functions by scope and name, with the scope and name of what the caller passes; in an order in
    /// which each comes after what it stands for.
    pub parameters: Vec<((usize, String), (usize, String))>,
    /// By statement: why a call is still there, or what a `trap` put in place of something means.
    pub notes: HashMap<usize, Note>,
}

pub(super) fn expand(module: &Module, body: &Body, symbols: &Symbols) -> Expanded {
    let mut expander = Expander {
        module,
        symbols,
        with_address: OnceCell::new(),
        to: Expanded {
            body: Body {
                statements: Vec::with_capacity(body.statements.len()),
                ..body.clone()
            },
            ..Expanded::default()
        },
    };
    expander.append(&Level {
        body,
        base: 0,
        end: None,
        running: Vec::new(),
    });
    expander.to
}

/// A body whose statements are appended.
pub(super) struct Level<'a> {
    pub body: &'a Body,
    /// What its scopes start at.
    base: usize,
    /// The label to which a function returns.
    end: Option<String>,
    /// The functions whose calls led here, outermost first.
    running: Vec<&'a str>,
}

pub(super) struct Expander<'a> {
    pub module: &'a Module,
    pub symbols: &'a Symbols,
    with_address: OnceCell<Vec<&'a Function>>,
    to: Expanded,
}

/// What a call says.
pub(super) struct Call<'a> {
    pub returned: &'a [Operand],
    /// A function, or the register that holds its address.
    pub target: &'a str,
    pub passed: &'a [Operand],
    /// Of an indirect call.
    pub prototype: Option<&'a str>,
}

impl<'a> Call<'a> {
    fn new(operands: &'a [Operand]) -> Option<Self> {
        let (returned, rest): (&[Operand], _) = match operands {
            [Operand::List(returned), rest @ ..] => (returned, rest),
            rest => (&[], rest),
        };
        let [Operand::Name(target), rest @ ..] = rest else {
            return None;
        };
        let (passed, rest): (&[Operand], _) = match rest {
            [Operand::List(passed), rest @ ..] => (passed, rest),
            rest => (&[], rest),
        };
        let prototype = match rest {
            [] => None,
            [Operand::Name(prototype)] => Some(prototype.as_str()),
            _ => return None,
        };
        Some(Self {
            returned,
            target,
            passed,
            prototype,
        })
    }
}

impl<'a> Expander<'a> {
    fn append(&mut self, level: &Level<'a>) {
        for statement in &level.body.statements {
            let mut statement = statement.clone();
            match &mut statement {
                Statement::Label { scope, .. } | Statement::Targets { scope, .. } => {
                    *scope += level.base;
                }
                Statement::Instruction(instruction) => {
                    instruction.scope += level.base;
                    match (instruction.opcode.as_str(), &level.end) {
                        ("call", _) => {
                            self.call(level, instruction);
                            continue;
                        }
                        ("brx", _) => {
                            self.table(level, instruction);
                            continue;
                        }
                        ("lop3", _) if instruction.modifiers.len() == 2 => {
                            self.lookup_and_test(instruction);
                            continue;
                        }
                        ("ret", Some(end)) => branch(instruction, end),
                        _ => {}
                    }
                }
            }
            self.to.body.statements.push(statement);
        }
    }

    fn call(&mut self, level: &Level<'a>, from: &Instruction) {
        let replaced = match Call::new(&from.operands) {
            Some(call) if call.prototype.is_some() => self.indirect(level, from, &call),
            Some(call) => self.direct(level, from, &call),
            None => Err("is no call as the PTX ISA has it".to_owned()),
        };
        if let Err(why) = replaced {
            self.note(&why);
            self.push(from.clone());
        }
    }

    fn direct(
        &mut self,
        level: &Level<'a>,
        from: &Instruction,
        call: &Call<'_>,
    ) -> Result<(), String> {
        let module = self.module;
        let function = module
            .functions
            .iter()
            .find(|f| f.kind == FunctionKind::Device && f.name == call.target && f.body.is_some());
        let Some(function) = function else {
            return match call.target {
                "__assertfail" => {
                    self.assertion(level, from, call);
                    Ok(())
                }
                "vprintf" => Err("the simulated device has nowhere to print to".to_owned()),
                "malloc" | "free" => Err("the simulated device has no heap".to_owned()),
                name => Err(format!("the module has no body of {name}")),
            };
        };
        self.fits(level, function, call)?;
        let past = self.skip(from);
        self.enter(level, from, function, call);
        self.label(from.scope, past, from.line);
        Ok(())
    }

    /// Whether a function's body can take the place of a call.
    pub(super) fn fits(
        &self,
        level: &Level<'a>,
        function: &Function,
        call: &Call<'_>,
    ) -> Result<(), String> {
        let name = &function.name;
        let lengths = (call.returned.len(), call.passed.len());
        if lengths != (function.returns.len(), function.params.len()) {
            return Err(format!("{name} takes other parameters"));
        }
        let passed = call.returned.iter().chain(call.passed);
        if passed
            .into_iter()
            .any(|one| !matches!(one, Operand::Name(_)))
        {
            return Err("passes what is no .param variable".to_owned());
        }
        if level.running.contains(&name.as_str()) {
            return Err(format!(
                "{name} is running already: the simulated device runs no recursion"
            ));
        }
        let body = function.body.iter();
        if body
            .flat_map(|b| &b.variables)
            .any(|v| v.space == Space::Shared)
        {
            return Err(format!(
                "{name} declares shared memory, which would be there once for each call"
            ));
        }
        let own = function.body.as_ref().map_or(0, |b| b.statements.len());
        if level.running.len() >= MAX_DEPTH {
            return Err(format!("calls are nested more than {MAX_DEPTH} deep"));
        }
        self.room(own)
    }

    /// Whether so many more statements are not too many.
    pub(super) fn room(&self, more: usize) -> Result<(), String> {
        if self.to.body.statements.len() + more <= MAX_STATEMENTS {
            return Ok(());
        }
        Err(format!(
            "with the functions and tables it uses the kernel has more than {MAX_STATEMENTS} instructions"
        ))
    }

    /// Appends the body of a function that `fits`.
    pub(super) fn enter(
        &mut self,
        level: &Level<'a>,
        from: &Instruction,
        function: &'a Function,
        call: &Call<'_>,
    ) {
        let Some(body) = &function.body else { return };
        let base = self.to.body.scopes.len();
        let scopes = body.scopes.iter();
        let scopes = scopes.map(|parent| parent.map(|parent| base + parent));
        self.to.body.scopes.extend(scopes);
        for register in &body.registers {
            let mut register = register.clone();
            register.scope += base;
            self.to.body.registers.push(register);
        }
        for variable in &body.variables {
            let mut variable = variable.clone();
            variable.scope += base;
            self.to.body.variables.push(variable);
        }
        let formals = function.returns.iter().chain(&function.params);
        for (formal, actual) in formals.zip(call.returned.iter().chain(call.passed)) {
            if let Operand::Name(actual) = actual {
                let formal = (base, formal.name.clone());
                self.to
                    .parameters
                    .push((formal, (from.scope, actual.clone())));
            }
        }
        // A space keeps it apart from every label of the function.
        let end = format!("end of {}", function.name);
        let mut running = level.running.clone();
        running.push(&function.name);
        self.append(&Level {
            body,
            base,
            end: Some(end.clone()),
            running,
        });
        self.label(base, end, from.line);
    }

    /// The functions whose address the module takes somewhere.
    pub(super) fn with_address(&self) -> Vec<&'a Function> {
        self.with_address
            .get_or_init(|| with_address(self.module))
            .clone()
    }

    /// A new scope within that of an instruction.
    pub(super) fn scope(&mut self, parent: usize) -> usize {
        self.to.body.scopes.push(Some(parent));
        self.to.body.scopes.len() - 1
    }

    pub(super) fn body_mut(&mut self) -> &mut Body {
        &mut self.to.body
    }

    /// Where the guard does not hold the instruction is passed by; gives the label past it, yet to be placed.
    pub(super) fn skip(&mut self, from: &Instruction) -> String {
        let past = format!("past {}", self.to.body.scopes.len());
        // It needs a number of its own.
        self.scope(from.scope);
        if let Some(guard) = &from.guard {
            let mut skip = from.clone();
            skip.guard = Some(Guard {
                negated: !guard.negated,
                ..guard.clone()
            });
            branch(&mut skip, &past);
            self.push(skip);
        }
        past
    }

    pub(super) fn label(&mut self, scope: usize, name: String, line: u32) {
        let label = Statement::Label { scope, name, line };
        self.to.body.statements.push(label);
    }

    pub(super) fn push(&mut self, instruction: Instruction) {
        let statement = Statement::Instruction(instruction);
        self.to.body.statements.push(statement);
    }

    /// Notes something about the statement that comes next.
    pub(super) fn note(&mut self, what: &str) {
        self.note_as(Note::Words(what.to_owned()));
    }

    fn note_as(&mut self, note: Note) {
        let at = self.to.body.statements.len();
        self.to.notes.insert(at, note);
    }

    /// Ends the kernel with these words where control comes here.
    pub(super) fn trap(&mut self, from: &Instruction, what: &str) {
        self.trap_as(from, Note::Words(what.to_owned()));
    }

    pub(super) fn trap_as(&mut self, from: &Instruction, note: Note) {
        self.note_as(note);
        self.push(Instruction {
            opcode: "trap".to_owned(),
            modifiers: Vec::new(),
            operands: Vec::new(),
            ..from.clone()
        });
    }
}

/// Turns an instruction into a branch; its text stays, for findings.
pub(super) fn branch(instruction: &mut Instruction, label: &str) {
    instruction.opcode = "bra".to_owned();
    instruction.modifiers.clear();
    instruction.operands = vec![Operand::Name(label.to_owned())];
}
