//! Operands of instructions.

use super::ParseError;
use super::ast::{AddressBase, Immediate, Operand};
use super::lexer::Token;
use super::parser::Parser;

/// A call passes at most this many; vectors hold eight at most.
const MAX_LIST: usize = 1024;

impl Parser<'_> {
    /// All operands to the semicolon.
    pub(super) fn operands(&mut self) -> Result<Vec<Operand>, ParseError> {
        let mut all = Vec::new();
        if self.accept(';')? {
            return Ok(all);
        }
        loop {
            all.push(self.operand()?);
            if self.accept(';')? {
                return Ok(all);
            }
            self.expect(',')?;
            if all.len() > MAX_LIST {
                return Err(self.lexer.error("too many operands"));
            }
        }
    }

    fn operand(&mut self) -> Result<Operand, ParseError> {
        match self.lexer.peek()? {
            Token::Punct('[') => self.address(),
            Token::Punct('{') => {
                self.lexer.take()?;
                Ok(Operand::Vector(self.list('}')?))
            }
            Token::Punct('(') => {
                self.lexer.take()?;
                Ok(Operand::List(self.list(')')?))
            }
            _ => self.simple(),
        }
    }

    /// Simple operands up to `close`.
    fn list(&mut self, close: char) -> Result<Vec<Operand>, ParseError> {
        let mut all = Vec::new();
        if self.accept(close)? {
            return Ok(all);
        }
        loop {
            all.push(self.simple()?);
            if self.accept(close)? {
                return Ok(all);
            }
            self.expect(',')?;
            if all.len() > MAX_LIST {
                return Err(self.lexer.error("too many operands"));
            }
        }
    }

    fn simple(&mut self) -> Result<Operand, ParseError> {
        if let Some(value) = self.literal()? {
            return Ok(Operand::Immediate(value));
        }
        if self.accept('!')? {
            return Ok(Operand::Not(self.word()?.to_owned()));
        }
        let name = self.word()?;
        if self.accept('|')? {
            return Ok(Operand::Pair(name.to_owned(), self.word()?.to_owned()));
        }
        if name == "_" {
            return Ok(Operand::Sink);
        }
        if matches!(self.lexer.peek()?, Token::Punct('+' | '-')) {
            return Ok(Operand::Offset {
                symbol: name.to_owned(),
                offset: self.offset()?,
            });
        }
        Ok(Operand::Name(name.to_owned()))
    }

    /// `[base+offset]`
    fn address(&mut self) -> Result<Operand, ParseError> {
        self.expect('[')?;
        let (base, first) = match self.literal()? {
            Some(value) => (AddressBase::Absolute, self.whole(value)?),
            None => (AddressBase::Name(self.word()?.to_owned()), 0),
        };
        let offset = first.wrapping_add(self.offset()?);
        self.expect(']')?;
        Ok(Operand::Address { base, offset })
    }

    /// `+8`, `+-8`, `-8`, or nothing.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        let minus = match self.lexer.peek()? {
            Token::Punct('+') => {
                self.lexer.take()?;
                false
            }
            Token::Punct('-') => {
                self.lexer.take()?;
                true
            }
            _ => return Ok(0),
        };
        let value = self
            .literal()?
            .ok_or_else(|| self.lexer.error("expected an offset"))?;
        let value = self.whole(value)?;
        Ok(if minus { value.wrapping_neg() } else { value })
    }

    fn whole(&self, value: Immediate) -> Result<i64, ParseError> {
        match value {
            Immediate::Int(bits) => Ok(bits.cast_signed()),
            _ => Err(self.lexer.error("an address offset is a whole number")),
        }
    }
}
