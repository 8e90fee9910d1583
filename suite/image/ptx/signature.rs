//! What a launch must know of a kernel: parameters, shared memory, block limits.

use std::collections::HashSet;

use super::ast::{
    AddressBase, Body, Function, FunctionKind, Module, Operand, Space, Statement, TypeClass,
    Variable,
};
use crate::image::{Param, ParamClass, Signature};

/// Where a kernel's shared variables lie: static ones from 0 in order of declaration, then the dynamic array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    /// Name, scope of the body it is declared in (none at module scope), and offset in bytes.
    pub offsets: Vec<(String, Option<usize>, u64)>,
    pub static_bytes: u64,
    /// Where an `extern .shared` array starts.
    pub dynamic_offset: Option<u64>,
}

impl Module {
    /// Of every kernel, in order.
    pub fn signatures(&self) -> Vec<Signature> {
        let kernels = self
            .functions
            .iter()
            .filter(|f| f.kind == FunctionKind::Entry);
        kernels.map(|kernel| self.signature(kernel)).collect()
    }

    pub fn kernel(&self, name: &str) -> Option<&Function> {
        let mut kernels = self
            .functions
            .iter()
            .filter(|f| f.kind == FunctionKind::Entry);
        kernels.find(|f| f.name == name)
    }

    fn signature(&self, kernel: &Function) -> Signature {
        let layout = self.shared_layout(kernel);
        let limit = kernel.required_threads.or(kernel.max_threads);
        Signature {
            name: kernel.name.clone(),
            params: kernel.params.iter().map(param).collect(),
            static_shared_bytes: layout.static_bytes,
            dynamic_shared: layout.dynamic_offset.is_some(),
            max_threads: limit.map(|d| d.iter().fold(1, |all: u32, &one| all.saturating_mul(one))),
        }
    }

    /// The shared variables of a kernel: its own, and those at module scope that it or any device function names.
    pub fn shared_layout(&self, kernel: &Function) -> SharedLayout {
        let mut used = HashSet::new();
        for function in &self.functions {
            if function.kind == FunctionKind::Device || function.name == kernel.name {
                names(function.body.as_ref(), &mut used);
            }
        }
        let outer = self
            .variables
            .iter()
            .filter(|v| used.contains(v.name.as_str()));
        let inner = kernel.body.iter().flat_map(|b| &b.variables);
        let all = outer
            .map(|v| (v, None))
            .chain(inner.map(|v| (v, Some(v.scope))));
        let mut layout = SharedLayout::default();
        let mut dynamic: Vec<(&Variable, Option<usize>)> = Vec::new();
        for (variable, scope) in all.filter(|(v, _)| v.space == Space::Shared) {
            if variable.is_extern {
                dynamic.push((variable, scope));
                continue;
            }
            let offset = layout
                .static_bytes
                .next_multiple_of(u64::from(variable.align.max(1)));
            layout.offsets.push((variable.name.clone(), scope, offset));
            layout.static_bytes = offset + variable.bytes;
        }
        // Every extern array names the same memory.
        if let Some(align) = dynamic.iter().map(|(v, _)| v.align).max() {
            let start = layout
                .static_bytes
                .next_multiple_of(u64::from(align.max(1)));
            layout.dynamic_offset = Some(start);
            layout.offsets.extend(
                dynamic
                    .iter()
                    .map(|(v, scope)| (v.name.clone(), *scope, start)),
            );
        }
        layout
    }
}

fn param(variable: &Variable) -> Param {
    let class = match variable.ty.class {
        _ if variable.is_array => ParamClass::Bytes,
        TypeClass::Float => ParamClass::Float,
        _ => ParamClass::Integer,
    };
    Param {
        size: u32::try_from(variable.bytes).unwrap_or(u32::MAX),
        class,
    }
}

/// Every name that an operand mentions.
fn names<'a>(body: Option<&'a Body>, into: &mut HashSet<&'a str>) {
    let statements = body.iter().flat_map(|b| &b.statements);
    for statement in statements {
        let Statement::Instruction(instruction) = statement else {
            continue;
        };
        for operand in &instruction.operands {
            match operand {
                Operand::Vector(all) | Operand::List(all) => all.iter().for_each(|o| name(o, into)),
                one => name(one, into),
            }
        }
    }
}

fn name<'a>(operand: &'a Operand, into: &mut HashSet<&'a str>) {
    match operand {
        Operand::Name(name) | Operand::Offset { symbol: name, .. } => {
            into.insert(name);
        }
        Operand::Address {
            base: AddressBase::Name(name),
            ..
        } => {
            into.insert(name);
        }
        _ => {}
    }
}
