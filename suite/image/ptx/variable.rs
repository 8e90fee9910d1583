//! Declarations of variables, parameters and registers.

use super::ParseError;
use super::ast::{Initialiser, RegisterDecl, Space, Type, Variable};
use super::lexer::Token;
use super::parser::{Parser, space_of};
use super::{ast, number};

/// Larger than any state space of any device.
const MAX_VARIABLE_BYTES: u64 = 1 << 40;

/// What stands between the state space and the name.
struct Attributes {
    ty: Type,
    align: u32,
    /// `.v2`, `.v4`.
    vector: u64,
}

impl Parser<'_> {
    /// `( .param .u64 a, .param .align 8 .b8 b[16] )`
    pub(super) fn params(&mut self, into: &mut Vec<Variable>) -> Result<(), ParseError> {
        self.expect('(')?;
        if self.accept(')')? {
            return Ok(());
        }
        loop {
            let word = self.word()?;
            let param = if word == ".reg" {
                let attributes = self.attributes()?;
                self.variable(Space::Param, &attributes, false, 0)?
            } else {
                let space = space_of(word).ok_or_else(|| {
                    self.lexer
                        .error(format!("expected .param, found {word:.40}"))
                })?;
                let attributes = self.attributes()?;
                self.variable(space, &attributes, false, 0)?
            };
            into.push(param);
            if self.accept(')')? {
                return Ok(());
            }
            self.expect(',')?;
        }
    }

    /// The rest of a variable declaration, after its state space, to the semicolon.
    pub(super) fn variables(
        &mut self,
        space: Space,
        is_extern: bool,
        scope: usize,
        into: &mut Vec<Variable>,
    ) -> Result<(), ParseError> {
        let attributes = self.attributes()?;
        loop {
            let mut variable = self.variable(space, &attributes, is_extern, scope)?;
            if self.accept('=')? {
                variable.init = self.initialisers(&variable)?;
                if variable.is_array && variable.bytes == 0 {
                    variable.bytes = variable.init.len() as u64 * u64::from(variable.ty.bytes());
                }
            }
            into.push(variable);
            if self.accept(';')? {
                return Ok(());
            }
            self.expect(',')?;
        }
    }

    fn attributes(&mut self) -> Result<Attributes, ParseError> {
        let mut align = None;
        let mut vector = 1;
        loop {
            let word = self.word()?;
            match word {
                ".align" => {
                    let value = self.small()?;
                    if !value.is_power_of_two() || value > 1 << 16 {
                        return Err(self.lexer.error(format!("{value} is no alignment")));
                    }
                    align = Some(value);
                }
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                // How a pointer parameter may be used: `.ptr .global .align 4`.
                ".ptr" | ".global" | ".shared" | ".local" | ".const" | ".managed" | ".unified" => {}
                ".attribute" => {
                    self.expect('(')?;
                    while !self.accept(')')? {
                        if self.lexer.take()? == Token::End {
                            return Err(self.lexer.error("an attribute that never ends"));
                        }
                    }
                }
                _ => {
                    let ty = word.strip_prefix('.').and_then(Type::from_name);
                    let ty =
                        ty.ok_or_else(|| self.lexer.error(format!("unknown type {word:.40}")))?;
                    // `.param .u64 .ptr .global .align 8 name` puts attributes after the type.
                    let align = self.pointer_attributes(align)?;
                    let natural = ty.bytes() * if vector == 1 { 1 } else { vector as u32 };
                    return Ok(Attributes {
                        ty,
                        align: align.unwrap_or(natural),
                        vector,
                    });
                }
            }
        }
    }

    /// `.ptr .global .align 8` says how the pointee is aligned: nothing about the parameter itself.
    fn pointer_attributes(&mut self, align: Option<u32>) -> Result<Option<u32>, ParseError> {
        while let Token::Word(word) = self.lexer.peek()? {
            match word {
                ".ptr" | ".global" | ".shared" | ".local" | ".const" => {
                    self.lexer.take()?;
                }
                ".align" => {
                    self.lexer.take()?;
                    self.small()?;
                }
                _ => break,
            }
        }
        Ok(align)
    }

    fn variable(
        &mut self,
        space: Space,
        attributes: &Attributes,
        is_extern: bool,
        scope: usize,
    ) -> Result<Variable, ParseError> {
        let line = self.lexer.line();
        let name = self.word()?.to_owned();
        let mut elements = attributes.vector;
        let mut is_array = false;
        while self.accept('[')? {
            is_array = true;
            let count = if self.lexer.peek()? == Token::Punct(']') {
                0
            } else {
                self.small_or_large()?
            };
            self.expect(']')?;
            elements = elements.saturating_mul(count);
        }
        let bytes = elements.saturating_mul(u64::from(attributes.ty.bytes()));
        if bytes > MAX_VARIABLE_BYTES {
            return Err(self.lexer.error(format!("{name:.80} is too large")));
        }
        Ok(Variable {
            name,
            space,
            ty: attributes.ty,
            align: attributes.align,
            bytes,
            is_array,
            is_extern,
            init: Vec::new(),
            scope,
            line,
        })
    }

    /// One value, or a list; nested braces flatten, as rows of a matrix do (nested rows must be complete).
    fn initialisers(&mut self, variable: &Variable) -> Result<Vec<Initialiser>, ParseError> {
        if !self.accept('{')? {
            return Ok(vec![self.initialiser()?]);
        }
        let limit = variable.bytes / u64::from(variable.ty.bytes().max(1));
        let mut depth = 1;
        let mut all = Vec::new();
        while depth > 0 {
            match self.lexer.peek()? {
                Token::Punct('{') => {
                    self.lexer.take()?;
                    depth += 1;
                }
                Token::Punct('}') => {
                    self.lexer.take()?;
                    depth -= 1;
                }
                Token::Punct(',') => {
                    self.lexer.take()?;
                }
                _ => all.push(self.initialiser()?),
            }
            if variable.bytes > 0 && all.len() as u64 > limit {
                return Err(self
                    .lexer
                    .error(format!("more initialisers than {limit} elements")));
            }
        }
        Ok(all)
    }

    fn initialiser(&mut self) -> Result<Initialiser, ParseError> {
        if let Some(value) = self.literal()? {
            return Ok(Initialiser::Value(value));
        }
        let word = self.word()?;
        let generic = word == "generic" && self.accept('(')?;
        let symbol = if generic {
            self.word()?.to_owned()
        } else {
            word.to_owned()
        };
        let offset = self.offset()?;
        if generic {
            self.expect(')')?;
        }
        let offset = offset.wrapping_add(self.offset()?);
        Ok(Initialiser::Address {
            symbol,
            offset,
            generic,
        })
    }

    /// A literal with its sign, if one stands here.
    pub(super) fn literal(&mut self) -> Result<Option<ast::Immediate>, ParseError> {
        let negative = self.accept('-')?;
        match self.lexer.peek()? {
            Token::Number(text) => {
                let value = number::parse(text);
                let value =
                    value.ok_or_else(|| self.lexer.error(format!("{text:.40} is no number")))?;
                self.lexer.take()?;
                Ok(Some(if negative {
                    number::negate(value)
                } else {
                    value
                }))
            }
            other if negative => Err(self
                .lexer
                .error(format!("expected a number, found {other}"))),
            _ => Ok(None),
        }
    }

    /// `.reg .b32 %r<12>, %x;` after `.reg`.
    pub(super) fn registers(
        &mut self,
        scope: usize,
        into: &mut Vec<RegisterDecl>,
    ) -> Result<(), ParseError> {
        let attributes = self.attributes()?;
        if attributes.vector != 1 {
            return Err(self.lexer.error("vector registers are not supported"));
        }
        loop {
            let name = self.word()?.to_owned();
            let mut count = None;
            if self.accept('<')? {
                count = Some(self.small()?);
                self.expect('>')?;
            }
            into.push(RegisterDecl {
                scope,
                name,
                count,
                ty: attributes.ty,
            });
            if self.accept(';')? {
                return Ok(());
            }
            self.expect(',')?;
        }
    }
}
