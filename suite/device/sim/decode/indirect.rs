//! Indirect calls: comparisons of the address with that of each function it can be, and that function's body.

use super::inline::{Call, Expander, Level, branch};
use crate::image::ptx::{
    Function, FunctionKind, Guard, Immediate, Initialiser, Instruction, Module, Operand, Prototype,
    RegisterDecl, Statement, Type, TypeClass, Variable,
};

/// The predicate of a choice, in a scope of its own.
pub(super) const CHOSEN: &str = "chosen";

impl<'a> Expander<'a> {
    pub(super) fn indirect(
        &mut self,
        level: &Level<'a>,
        from: &Instruction,
        call: &Call<'_>,
    ) -> Result<(), String> {
        let name = call.prototype.unwrap_or_default();
        let candidates = self.candidates(level, name)?;
        self.room(6 * candidates.len())?;
        let past = self.skip(from);
        let scope = self.choice(from.scope);
        for (number, function) in candidates.into_iter().enumerate() {
            let Some(&(_, address)) = self.symbols.get(&function.name) else {
                continue;
            };
            let next = format!("next {number}");
            let target = Operand::Name(call.target.to_owned());
            self.choose(from, scope, "ne.u64", target, address);
            self.jump(from, scope, Some(false), &next);
            match self.fits(level, function, call) {
                Ok(()) => {
                    self.enter(level, from, function, call);
                    self.jump(from, scope, None, &past);
                }
                Err(why) => self.trap(&unguarded(from), &why),
            }
            self.label(scope, next, from.line);
        }
        self.trap(&unguarded(from), "calls what is no function of this kind");
        self.label(from.scope, past, from.line);
        Ok(())
    }

    /// The functions that an indirect call can reach: those its list of targets names, or those that are as its
    /// prototype says and whose address is taken.
    fn candidates(&self, level: &Level<'a>, name: &str) -> Result<Vec<&'a Function>, String> {
        let targets = level.body.statements.iter().find_map(|s| match s {
            Statement::Targets {
                name: found,
                labels,
                ..
            } if found == name => Some(labels),
            _ => None,
        });
        let all = self.with_address().into_iter();
        if let Some(targets) = targets {
            return Ok(all.filter(|f| targets.contains(&f.name)).collect());
        }
        let prototype = level.body.prototypes.iter().find(|p| p.name == name);
        let prototype = prototype.ok_or_else(|| format!("there is no prototype {name}"))?;
        Ok(all.filter(|f| is_like(f, prototype)).collect())
    }

    /// A scope with a predicate for choices.
    pub(super) fn choice(&mut self, parent: usize) -> usize {
        let scope = self.scope(parent);
        self.body_mut().registers.push(RegisterDecl {
            scope,
            name: CHOSEN.to_owned(),
            count: None,
            ty: Type {
                class: TypeClass::Predicate,
                bits: 1,
            },
        });
        scope
    }

    /// `setp.HOW chosen, what, than`
    pub(super) fn choose(
        &mut self,
        from: &Instruction,
        scope: usize,
        how: &str,
        what: Operand,
        than: u64,
    ) {
        let chosen = Operand::Name(CHOSEN.to_owned());
        self.push(Instruction {
            scope,
            guard: None,
            opcode: "setp".to_owned(),
            modifiers: how.split('.').map(str::to_owned).collect(),
            operands: vec![chosen, what, Operand::Immediate(Immediate::Int(than))],
            ..from.clone()
        });
    }

    /// Always, or where the choice holds (is `negated`).
    pub(super) fn jump(
        &mut self,
        from: &Instruction,
        scope: usize,
        negated: Option<bool>,
        to: &str,
    ) {
        let mut jump = from.clone();
        jump.scope = scope;
        jump.guard = negated.map(|negated| Guard {
            name: CHOSEN.to_owned(),
            negated,
        });
        branch(&mut jump, to);
        self.push(jump);
    }
}

pub(super) fn unguarded(from: &Instruction) -> Instruction {
    Instruction {
        guard: None,
        ..from.clone()
    }
}

fn is_like(function: &Function, prototype: &Prototype) -> bool {
    let sizes = |all: &[Variable]| all.iter().map(|v| v.bytes).collect::<Vec<_>>();
    sizes(&function.returns) == sizes(&prototype.returns)
        && sizes(&function.params) == sizes(&prototype.params)
}

/// The device functions that a variable is initialised with or an instruction other than a call names.
pub(super) fn with_address(module: &Module) -> Vec<&Function> {
    let in_variables = module.variables.iter().flat_map(|v| &v.init);
    let in_variables = in_variables.filter_map(|value| match value {
        Initialiser::Address { symbol, .. } => Some(symbol.as_str()),
        Initialiser::Value(_) => None,
    });
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    let instructions = bodies.flat_map(|b| &b.statements).filter_map(|s| match s {
        Statement::Instruction(i) if i.opcode != "call" => Some(i),
        _ => None,
    });
    let in_code = instructions
        .flat_map(|i| &i.operands)
        .filter_map(|o| match o {
            Operand::Name(name) => Some(name.as_str()),
            _ => None,
        });
    let named: std::collections::HashSet<&str> = in_variables.chain(in_code).collect();
    let device = module
        .functions
        .iter()
        .filter(|f| f.kind == FunctionKind::Device && f.body.is_some());
    device.filter(|f| named.contains(f.name.as_str())).collect()
}
