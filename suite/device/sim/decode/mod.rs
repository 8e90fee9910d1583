//! From a parsed kernel to a [`Kernel`] that runs.
//!
//! Everything is looked up here: names become rows, labels become instruction numbers, opcodes become functions. What
//! is not known is an error that names the instruction and its line.

mod access;
mod assertion;
mod atomic;
mod control;
mod data;
mod indirect;
mod inline;
mod lookup;
mod rows;
mod table;
mod warp;

use std::collections::HashMap;

use super::assertion::Note;
use super::decisive;
use super::flow::{Blocks, Choice, Usage};
use super::lanes::{FULL, TRUE};
use super::memory::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use super::program::{Instruction, Kernel, Kind, Origin, ParamSlot, Pc, Space};
use super::taint;
use crate::image::ptx;
use crate::outcome::Fault;
use inline::Expanded;
use rows::Rows;

/// Variables by name: their space and the address in it.
pub type Symbols = HashMap<String, (Space, u64)>;

/// As [`Symbols`], with the scope of the body where a variable is declared inside.
pub(super) type Places = HashMap<(Option<usize>, String), (Space, u64)>;

/// What every card takes with a launch.
const MAX_PARAM_BYTES: u64 = 4096;
/// Of one thread, on every card.
const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// What is wrong with one instruction.
type Wrong = String;

pub(super) struct Decoder<'a> {
    rows: Rows<'a>,
    labels: HashMap<(usize, &'a str), Pc>,
    scopes: &'a [Option<usize>],
}

/// Decodes one kernel of a module whose variables have their addresses.
///
/// # Errors
/// `setup` for the first instruction that is not known.
pub fn decode(
    module: &ptx::Module,
    kernel: &ptx::Function,
    outer: &Symbols,
) -> Result<Kernel, Fault> {
    let Some(body) = &kernel.body else {
        return Err(Fault::setup(format!("kernel {} has no body", kernel.name)));
    };
    let (params, param_bytes) = params(kernel);
    within(kernel, "parameters", param_bytes, MAX_PARAM_BYTES)?;
    let layout = module.shared_layout(kernel);
    let expanded = inline::expand(module, body, outer);
    let body = &expanded.body;
    let (symbols, local_bytes) = symbols(kernel, &expanded, &layout, &params, outer);
    within(
        kernel,
        "local memory a thread",
        local_bytes,
        MAX_LOCAL_BYTES,
    )?;
    let mut decoder = Decoder {
        rows: Rows::new(body, symbols),
        labels: labels(body),
        scopes: &body.scopes,
    };
    let (mut code, mut usage, mut origin) = (Vec::new(), Vec::new(), Vec::new());
    for (instruction, note) in instructions(&expanded) {
        let decoded = within_table(instruction)
            .and_then(|()| decoder.instruction(instruction))
            .and_then(|i| within_params(i, param_bytes));
        let decoded = decoded.map_err(|why| {
            let why = note.map_or(why, ToString::to_string);
            let (name, line, text) = (&kernel.name, instruction.line, &instruction.text);
            Fault::setup(format!("kernel {name}, PTX line {line}: `{text}`: {why}"))
        })?;
        code.push(decoded);
        usage.push(Usage {
            choice: Choice::of(&instruction.opcode, &instruction.modifiers),
            carries: matches!(instruction.opcode.as_str(), "addc" | "subc" | "madc"),
            ..decoder.rows.take_usage()
        });
        origin.push(Origin {
            note: note.cloned(),
            ..from(instruction, module)
        });
    }
    // Control that runs off the end leaves the kernel.
    code.push(plain(Kind::Exit));
    usage.push(Usage::default());
    origin.push(Origin {
        text: "}".to_owned(),
        ptx_line: origin.last().map_or(kernel.line, |o| o.ptx_line),
        source: None,
        note: None,
    });
    leave_at_once(&mut code);
    let counts = decoder.rows.counts();
    let blocks = Blocks::new(&code);
    let meets = blocks.reconvergence();
    for pc in 0..code.len() {
        if let Kind::Branch { reconverge, .. } = &mut code[pc].kind {
            *reconverge = meets[blocks.of(pc as Pc)];
        }
    }
    let polls = code.iter().any(|instruction| {
        matches!(instruction.kind, Kind::Poll(access)
            if matches!(access.address.space, Space::Global | Space::Generic))
    });
    let rows = decoder.rows;
    let zeroed = blocks.live_at_entry(&code, &usage, counts);
    Ok(Kernel {
        name: kernel.name.clone(),
        zeroed: zeroed
            .into_iter()
            .filter(|&row| !rows.is_preset(row))
            .collect(),
        decisive: decisive::rows(&code, &usage),
        flows: taint::flows(&code, &usage, counts),
        code,
        origin,
        rows: counts,
        narrow_constants: rows.narrow_constants(),
        wide_constants: rows.wide_constants(),
        specials: rows.specials(),
        params,
        param_bytes,
        static_shared_bytes: layout.static_bytes,
        dynamic_offset: layout.dynamic_offset,
        local_bytes,
        polls,
        max_threads: kernel.max_threads,
        required_threads: kernel.required_threads,
    })
}

fn within(kernel: &ptx::Function, what: &str, bytes: u64, most: u64) -> Result<(), Fault> {
    if bytes <= most {
        return Ok(());
    }
    let name = &kernel.name;
    Err(Fault::setup(format!(
        "kernel {name}: {bytes} bytes of {what}; at most {most}"
    )))
}

/// A branch to an exit is an exit: lanes that return early do not wait at the closing `ret` for the others, who may
/// be at a barrier.
fn leave_at_once(code: &mut [Instruction]) {
    // From the end, so that a chain of forward branches is followed.
    for pc in (0..code.len()).rev() {
        let Kind::Branch { target, .. } = code[pc].kind else {
            continue;
        };
        let there = &code[target as usize];
        if matches!(there.kind, Kind::Exit) && there.guard == TRUE && there.flip == 0 {
            code[pc].kind = Kind::Exit;
        }
    }
}

fn within_params(instruction: Instruction, param_bytes: u64) -> Result<Instruction, Wrong> {
    if let Kind::Param { access, offset } = &instruction.kind {
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if u64::from(*offset) + bytes > param_bytes {
            return Err(format!("reads past the {param_bytes} bytes of parameters"));
        }
    }
    Ok(instruction)
}

/// `lop3` looks its bits up in a table of eight.
fn within_table(instruction: &ptx::Instruction) -> Result<(), Wrong> {
    match (instruction.opcode.as_str(), instruction.operands.get(4)) {
        ("lop3", Some(ptx::Operand::Immediate(ptx::Immediate::Int(256..)))) => {
            Err("the table is a number from 0 to 255".to_owned())
        }
        _ => Ok(()),
    }
}

fn plain(kind: Kind) -> Instruction {
    Instruction {
        guard: TRUE,
        flip: 0,
        kind,
    }
}

/// Every instruction, with what is noted about it.
fn instructions(expanded: &Expanded) -> impl Iterator<Item = (&ptx::Instruction, Option<&Note>)> {
    let statements = expanded.body.statements.iter().enumerate();
    statements.filter_map(|(at, statement)| match statement {
        ptx::Statement::Instruction(instruction) => Some((instruction, expanded.notes.get(&at))),
        _ => None,
    })
}

fn from(instruction: &ptx::Instruction, module: &ptx::Module) -> Origin {
    let source = instruction.location.and_then(|at| {
        let file = module.files.get(&at.file)?;
        Some(format!("{file}:{}", at.line))
    });
    Origin {
        text: instruction.text.clone(),
        ptx_line: instruction.line,
        source,
        note: None,
    }
}

fn params(kernel: &ptx::Function) -> (Vec<ParamSlot>, u64) {
    let mut end = 0_u64;
    let slot = |param: &ptx::Variable| {
        let offset = end.next_multiple_of(u64::from(param.align.max(1)));
        end = offset + param.bytes;
        ParamSlot {
            offset,
            bytes: param.bytes,
        }
    };
    let slots = kernel.params.iter().map(slot).collect();
    (slots, end)
}

/// Every variable the kernel may name, by scope where it is declared inside; and the bytes of local memory. What a
/// call passes lies in local memory.
fn symbols(
    kernel: &ptx::Function,
    expanded: &Expanded,
    layout: &ptx::SharedLayout,
    params: &[ParamSlot],
    outer: &Symbols,
) -> (Places, u64) {
    let mut all: HashMap<_, _> = outer
        .iter()
        .map(|(name, &at)| ((None, name.clone()), at))
        .collect();
    for (variable, slot) in kernel.params.iter().zip(params) {
        all.insert((None, variable.name.clone()), (Space::Param, slot.offset));
    }
    for (name, scope, offset) in &layout.offsets {
        all.insert((*scope, name.clone()), (Space::Shared, *offset));
    }
    let mut local_bytes = 0_u64;
    for variable in expanded
        .body
        .variables
        .iter()
        .filter(|v| matches!(v.space, ptx::Space::Local | ptx::Space::Param))
    {
        let offset = local_bytes.next_multiple_of(u64::from(variable.align.max(1)));
        all.insert(
            (Some(variable.scope), variable.name.clone()),
            (Space::Local, offset),
        );
        local_bytes = offset + variable.bytes;
    }
    for ((scope, formal), (from, actual)) in &expanded.parameters {
        let mut at = Some(*from);
        while let Some(scope) = at
            && !all.contains_key(&(at, actual.clone()))
        {
            at = expanded.body.scopes[scope];
        }
        if let Some(&found) = all.get(&(at, actual.clone())) {
            all.insert((Some(*scope), formal.clone()), found);
        }
    }
    // The next thread's piece must be aligned like the first.
    (all, local_bytes.next_multiple_of(16))
}

fn labels(body: &ptx::Body) -> HashMap<(usize, &str), Pc> {
    let mut labels = HashMap::new();
    let mut pc = 0;
    for statement in &body.statements {
        match statement {
            ptx::Statement::Label { scope, name, .. } => {
                labels.insert((*scope, name.as_str()), pc);
            }
            ptx::Statement::Instruction(_) => pc += 1,
            ptx::Statement::Targets { .. } => {}
        }
    }
    labels
}

/// The start of the window through which generic addresses reach a space.
pub(super) fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Const => CONST_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Global | Space::Generic => 0,
    }
}

impl Decoder<'_> {
    fn instruction(&mut self, instruction: &ptx::Instruction) -> Result<Instruction, Wrong> {
        self.rows.enter(instruction.scope);
        let (guard, flip) = match &instruction.guard {
            Some(guard) => (
                self.rows.predicate(&guard.name)?,
                if guard.negated { FULL } else { 0 },
            ),
            None => (TRUE, 0),
        };
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let operands = &instruction.operands[..];
        let kind = match instruction.opcode.as_str() {
            "ld" | "ldu" => self.load(&modifiers, operands),
            "st" => self.store(&modifiers, operands),
            "atom" | "red" => self.atomic(&instruction.opcode, &modifiers, operands),
            "cvta" => self.convert_address(&modifiers, operands),
            "isspacep" => self.is_space(&modifiers, operands),
            "bra" | "exit" | "ret" | "trap" | "nanosleep" | "membar" | "fence" | "prefetch"
            | "prefetchu" => self.control(&instruction.opcode, &modifiers, operands),
            "bar" | "barrier" => self.barrier(&instruction.opcode, &modifiers, operands),
            "shfl" | "vote" | "match" | "activemask" => {
                self.warp(&instruction.opcode, &modifiers, operands)
            }
            "setp" => self.compare(&modifiers, operands),
            "testp" => self.test(&modifiers, operands),
            "set" => self.set(&modifiers, operands),
            opcode => self.data(opcode, &modifiers, operands),
        }?;
        Ok(Instruction { guard, flip, kind })
    }
}

/// The one sentence for what the simulated device does not have.
fn unknown() -> Wrong {
    "the simulated device does not know this instruction".to_owned()
}

/// Exactly `N` operands.
fn exactly<const N: usize>(operands: &[ptx::Operand]) -> Result<&[ptx::Operand; N], Wrong> {
    operands
        .try_into()
        .map_err(|_| format!("has {} operands, wants {N}", operands.len()))
}
