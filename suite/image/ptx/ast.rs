//! What a PTX module says, name by name. Nothing here is resolved: names stay text, with the scope they stand in.

use std::collections::BTreeMap;
use std::ops::Range;

/// One PTX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The PTX ISA version, major and minor.
    pub version: (u32, u32),
    /// `sm_75`, `sm_90a`.
    pub target: String,
    /// Bits: 32 or 64.
    pub address_size: u32,
    /// `.file` table: what `.loc` lines refer to.
    pub files: BTreeMap<u32, String>,
    pub functions: Vec<Function>,
    /// Module-scope variables, in order.
    pub variables: Vec<Variable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    Device,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub kind: FunctionKind,
    pub line: u32,
    pub params: Vec<Variable>,
    pub returns: Vec<Variable>,
    /// `.maxntid`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks: Option<u32>,
    /// Bytes of the PTX text, from its first directive to its end.
    pub span: Range<usize>,
    /// None for a declaration.
    pub body: Option<Body>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    Bits,
    Unsigned,
    Signed,
    Float,
    Predicate,
}

/// `.u32`, `.f64`, `.pred`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub class: TypeClass,
    /// 1 for a predicate.
    pub bits: u32,
}

impl Type {
    /// From a name without its dot.
    pub fn from_name(name: &str) -> Option<Self> {
        let class = match name.as_bytes().first()? {
            b'b' if !name.starts_with("bf") => TypeClass::Bits,
            b'u' => TypeClass::Unsigned,
            b's' => TypeClass::Signed,
            b'f' => TypeClass::Float,
            b'p' if name == "pred" => {
                return Some(Self {
                    class: TypeClass::Predicate,
                    bits: 1,
                });
            }
            _ => return None,
        };
        let bits = match &name[1..] {
            "8" if class != TypeClass::Float => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            "128" if class == TypeClass::Bits => 128,
            _ => return None,
        };
        Some(Self { class, bits })
    }

    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Param,
    Global,
    Shared,
    Local,
    Const,
}

/// A variable or parameter in some state space.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub ty: Type,
    /// Bytes.
    pub align: u32,
    /// Whole size in bytes; 0 for `[]`.
    pub bytes: u64,
    pub is_array: bool,
    pub is_extern: bool,
    /// As given, at most one an element; the rest is zero. Empty where there is none.
    pub init: Vec<Initialiser>,
    /// Index into [`Body::scopes`]; 0 at module scope and for parameters.
    pub scope: usize,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Initialiser {
    Value(Immediate),
    /// The address of another variable: in its own space, or generic.
    Address {
        symbol: String,
        offset: i64,
        generic: bool,
    },
}

/// A register declaration: `%p`, or with a count `%r<12>`, that is `%r0` … `%r11`.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterDecl {
    pub scope: usize,
    pub name: String,
    pub count: Option<u32>,
    pub ty: Type,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The parent of each `{ }` scope; scope 0 is the body itself.
    pub scopes: Vec<Option<usize>>,
    pub registers: Vec<RegisterDecl>,
    pub variables: Vec<Variable>,
    pub prototypes: Vec<Prototype>,
    pub statements: Vec<Statement>,
}

/// `name: .callprototype (.param .b32 _) _ (.param .b64 _);`: what an indirect call passes and gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    pub scope: usize,
    pub name: String,
    pub returns: Vec<Variable>,
    pub params: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Label {
        scope: usize,
        name: String,
        line: u32,
    },
    /// `name: .branchtargets a, b;`
    Targets {
        scope: usize,
        name: String,
        labels: Vec<String>,
    },
    Instruction(Instruction),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub scope: usize,
    pub guard: Option<Guard>,
    /// Without modifiers: `ld`.
    pub opcode: String,
    /// Without dots, in order: `global`, `u32`.
    pub modifiers: Vec<String>,
    pub operands: Vec<Operand>,
    /// As written, white space collapsed, without the semicolon.
    pub text: String,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Bytes of the PTX text, with guard and semicolon.
    pub span: Range<usize>,
    pub location: Option<Location>,
}

/// `@%p` or `@!%p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub name: String,
    pub negated: bool,
}

/// From `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Key of [`Module::files`].
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a special register, a label, a function or a variable's address.
    Name(String),
    /// `!%p`.
    Not(String),
    Immediate(Immediate),
    /// `sym+8` as a value.
    Offset {
        symbol: String,
        offset: i64,
    },
    /// `[base+offset]`.
    Address {
        base: AddressBase,
        offset: i64,
    },
    /// `{a, b}`; elements are names, immediates or sinks.
    Vector(Vec<Operand>),
    /// `p|q`.
    Pair(String, String),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `_`.
    Sink,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register or a variable.
    Name(String),
    /// `[16]`: the offset alone.
    Absolute,
}

/// A literal, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Two's complement, 64 bits.
    Int(u64),
    F32(u32),
    F64(u64),
}
