//! `lop3.or.b32 d|p, a, b, c, table, q` in two instructions: the word, and whether it is not 0 joined with a predicate.

use super::inline::Expander;
use crate::image::ptx::{Immediate, Instruction, Operand, RegisterDecl, Type, TypeClass};

/// Where the word goes if nobody wants it.
const WORD: &str = "word";

impl Expander<'_> {
    pub(super) fn lookup_and_test(&mut self, from: &Instruction) {
        let ([join, _], [Operand::Pair(d, p), sources @ .., q]) =
            (&from.modifiers[..], &from.operands[..])
        else {
            self.note("wants a word and a predicate as results");
            self.push(from.clone());
            return;
        };
        let (d, scope) = match d.as_str() {
            "_" => (WORD, self.word(from.scope)),
            d => (d, from.scope),
        };
        let word = Operand::Name(d.to_owned());
        self.push(Instruction {
            scope,
            modifiers: vec!["b32".to_owned()],
            operands: std::iter::once(word.clone())
                .chain(sources.to_vec())
                .collect(),
            ..from.clone()
        });
        let zero = Operand::Immediate(Immediate::Int(0));
        self.push(Instruction {
            scope,
            opcode: "setp".to_owned(),
            modifiers: vec!["ne".to_owned(), join.clone(), "b32".to_owned()],
            operands: vec![Operand::Name(p.clone()), word, zero, q.clone()],
            ..from.clone()
        });
    }

    /// A scope with a word of its own.
    fn word(&mut self, parent: usize) -> usize {
        let scope = self.scope(parent);
        self.body_mut().registers.push(RegisterDecl {
            scope,
            name: WORD.to_owned(),
            count: None,
            ty: Type {
                class: TypeClass::Bits,
                bits: 32,
            },
        });
        scope
    }
}
