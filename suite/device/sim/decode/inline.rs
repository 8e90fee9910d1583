//! Direct calls: the body of the function called takes the place of the call.
//!
//! A function's registers, labels and variables get scopes of their own, its parameters are the caller's `.param`
//! variables, and what returns branches to its end, where lanes that returned at different places meet.

use crate::image::ptx::{
    Body, Function, FunctionKind, Guard, Instruction, Module, Operand, Space, Statement,
};

/// Calls within calls; recursion has no end.
const MAX_DEPTH: usize = 16;
/// Functions that call functions twice each grow fast.
const MAX_STATEMENTS: usize = 1 << 17;

/// A kernel's body without calls.
pub(super) struct Expanded {
    /// Scopes of the kernel itself keep their numbers. A call that cannot be replaced is still there.
    pub body: Body,
    /// Parameters of functions by scope and name, with the scope and name of what the caller passes; in an order in
    /// which each comes after what it stands for.
    pub parameters: Vec<((usize, String), (usize, String))>,
}

pub(super) fn expand(module: &Module, body: &Body) -> Expanded {
    let mut expanded = Expanded {
        body: Body {
            statements: Vec::with_capacity(body.statements.len()),
            ..body.clone()
        },
        parameters: Vec::new(),
    };
    expanded.append(module, body, 0, None, 0);
    expanded
}

/// What a call says.
struct Call<'a> {
    function: &'a Function,
    body: &'a Body,
    /// Names of parameters and results, and of what the caller passes for them.
    bound: Vec<(&'a str, &'a str)>,
}

impl Expanded {
    /// Appends statements whose scopes start at `base`; `end` is the label to which a function returns.
    fn append(
        &mut self,
        module: &Module,
        body: &Body,
        base: usize,
        end: Option<&str>,
        depth: usize,
    ) {
        for statement in &body.statements {
            let mut statement = statement.clone();
            match &mut statement {
                Statement::Label { scope, .. } | Statement::Targets { scope, .. } => *scope += base,
                Statement::Instruction(instruction) => {
                    instruction.scope += base;
                    let room = depth < MAX_DEPTH && self.body.statements.len() < MAX_STATEMENTS;
                    if room && let Some(call) = call(module, instruction) {
                        self.call(module, instruction, &call, depth);
                        continue;
                    }
                    if let ("ret", Some(end)) = (instruction.opcode.as_str(), end) {
                        branch(instruction, end);
                    }
                }
            }
            self.body.statements.push(statement);
        }
    }

    fn call(&mut self, module: &Module, from: &Instruction, call: &Call<'_>, depth: usize) {
        // Where the guard does not hold the call is passed by.
        let past = format!("past call {}", self.body.scopes.len());
        if let Some(guard) = &from.guard {
            let mut skip = from.clone();
            skip.guard = Some(Guard {
                negated: !guard.negated,
                ..guard.clone()
            });
            branch(&mut skip, &past);
            self.body.statements.push(Statement::Instruction(skip));
        }
        let base = self.body.scopes.len();
        let scopes = call.body.scopes.iter();
        self.body
            .scopes
            .extend(scopes.map(|parent| parent.map(|parent| base + parent)));
        for register in &call.body.registers {
            let mut register = register.clone();
            register.scope += base;
            self.body.registers.push(register);
        }
        for variable in &call.body.variables {
            let mut variable = variable.clone();
            variable.scope += base;
            self.body.variables.push(variable);
        }
        for &(formal, actual) in &call.bound {
            let (formal, actual) = (formal.to_owned(), actual.to_owned());
            self.parameters.push(((base, formal), (from.scope, actual)));
        }
        // A space keeps it apart from every label of the function.
        let end = format!("end of {}", call.function.name);
        self.append(module, call.body, base, Some(&end), depth + 1);
        for (scope, name) in [(base, end), (from.scope, past)] {
            let line = from.line;
            self.body
                .statements
                .push(Statement::Label { scope, name, line });
        }
    }
}

/// A call of a function of the module through `.param` variables; shared memory of the function's own would be there
/// once for each call.
fn call<'a>(module: &'a Module, instruction: &'a Instruction) -> Option<Call<'a>> {
    if instruction.opcode != "call" {
        return None;
    }
    let (returned, name, passed): (&[Operand], _, &[Operand]) = match &instruction.operands[..] {
        [Operand::Name(name)] => (&[], name, &[]),
        [Operand::Name(name), Operand::List(passed)] => (&[], name, passed),
        [Operand::List(returned), Operand::Name(name)] => (returned, name, &[]),
        [
            Operand::List(returned),
            Operand::Name(name),
            Operand::List(passed),
        ] => (returned, name, passed),
        _ => return None,
    };
    let function = module
        .functions
        .iter()
        .find(|f| f.kind == FunctionKind::Device && f.name == *name && f.body.is_some())?;
    let body = function.body.as_ref()?;
    let shared = body.variables.iter().any(|v| v.space == Space::Shared);
    let fits = returned.len() == function.returns.len() && passed.len() == function.params.len();
    if shared || !fits {
        return None;
    }
    let formals = function.returns.iter().chain(&function.params);
    let bound = formals.zip(returned.iter().chain(passed));
    let bound = bound.map(|(formal, actual)| match actual {
        Operand::Name(actual) => Some((formal.name.as_str(), actual.as_str())),
        _ => None,
    });
    Some(Call {
        function,
        body,
        bound: bound.collect::<Option<_>>()?,
    })
}

/// Turns an instruction into a branch; its text stays, for findings.
fn branch(instruction: &mut Instruction, label: &str) {
    instruction.opcode = "bra".to_owned();
    instruction.modifiers.clear();
    instruction.operands = vec![Operand::Name(label.to_owned())];
}
