//! Function bodies: declarations, labels and instructions, with nested scopes flattened.

use std::collections::HashMap;

use super::ParseError;
use super::ast::{Body, Guard, Instruction, Location, Prototype, Statement};
use super::lexer::Token;
use super::parser::{Parser, space_of};

/// Inline assembly nests a few deep; compilers emit no more.
const MAX_SCOPE_DEPTH: usize = 256;

impl Parser<'_> {
    /// From `{` to its `}`.
    pub(super) fn body(&mut self) -> Result<Body, ParseError> {
        self.expect('{')?;
        let mut body = Body {
            scopes: vec![None],
            ..Body::default()
        };
        let mut open = vec![0];
        let mut location = None;
        while let Some(&scope) = open.last() {
            match self.lexer.peek()? {
                Token::Punct('{') => {
                    self.lexer.take()?;
                    if open.len() >= MAX_SCOPE_DEPTH {
                        return Err(self.lexer.error("scopes nested too deep"));
                    }
                    open.push(body.scopes.len());
                    body.scopes.push(Some(scope));
                }
                Token::Punct('}') => {
                    self.lexer.take()?;
                    open.pop();
                }
                Token::Punct(';') => {
                    self.lexer.take()?;
                }
                Token::Word(".loc") => location = self.location()?,
                Token::Word(word) if word.starts_with('.') => {
                    self.body_directive(scope, &mut body)?
                }
                Token::Word(_) | Token::Punct('@') => self.statement(scope, location, &mut body)?,
                other => {
                    return Err(self
                        .lexer
                        .error(format!("expected an instruction, found {other}")));
                }
            }
        }
        match repeated(&body) {
            Some((name, line, first)) => Err(ParseError {
                line,
                message: format!("the label {name:.40} is there already, in line {first}"),
            }),
            None => Ok(body),
        }
    }

    fn body_directive(&mut self, scope: usize, body: &mut Body) -> Result<(), ParseError> {
        match self.word()? {
            ".reg" => self.registers(scope, &mut body.registers),
            ".pragma" => self.skip_statement(),
            ".extern" => {
                let word = self.word()?;
                let space = space_of(word)
                    .ok_or_else(|| self.lexer.error(format!("unknown directive {word:.40}")))?;
                self.variables(space, true, scope, &mut body.variables)
            }
            word => match space_of(word) {
                Some(space) => self.variables(space, false, scope, &mut body.variables),
                None => Err(self.lexer.error(format!("unknown directive {word:.40}"))),
            },
        }
    }

    /// `.loc file line column[, function_name label[+n], inlined_at file line column]`; line 0 is no line.
    pub(super) fn location(&mut self) -> Result<Option<Location>, ParseError> {
        self.lexer.take()?;
        let file = self.small()?;
        let line = self.small()?;
        self.small()?;
        while self.accept(',')? {
            match self.word()? {
                "function_name" => {
                    self.word()?;
                    self.offset()?;
                }
                "inlined_at" => {
                    self.small()?;
                    self.small()?;
                    self.small()?;
                }
                word => {
                    return Err(self
                        .lexer
                        .error(format!("unknown attribute {word:.40} of .loc")));
                }
            }
        }
        Ok((line > 0).then_some(Location { file, line }))
    }

    /// A label or an instruction.
    fn statement(
        &mut self,
        scope: usize,
        location: Option<Location>,
        body: &mut Body,
    ) -> Result<(), ParseError> {
        let start = self.lexer.next_start()?;
        let line = self.lexer.line();
        let guard = self.guard()?;
        let word = self.word()?;
        if guard.is_none() && self.accept(':')? {
            return self.labelled(scope, word, line, body);
        }
        let mut parts = word.split('.');
        let opcode = parts.next().unwrap_or_default().to_owned();
        let modifiers: Vec<String> = parts.map(str::to_owned).collect();
        if opcode.is_empty() || modifiers.iter().any(String::is_empty) {
            return Err(self.lexer.error(format!("{word:.40} is no instruction")));
        }
        let operands = self.operands()?;
        let text = self
            .lexer
            .source(start, self.lexer.taken_end.saturating_sub(1));
        body.statements.push(Statement::Instruction(Instruction {
            scope,
            guard,
            opcode,
            modifiers,
            operands,
            text,
            line,
            span: start..self.lexer.taken_end,
            location,
        }));
        Ok(())
    }

    fn guard(&mut self) -> Result<Option<Guard>, ParseError> {
        if !self.accept('@')? {
            return Ok(None);
        }
        let negated = self.accept('!')?;
        Ok(Some(Guard {
            name: self.word()?.to_owned(),
            negated,
        }))
    }

    fn labelled(
        &mut self,
        scope: usize,
        name: &str,
        line: u32,
        body: &mut Body,
    ) -> Result<(), ParseError> {
        let name = name.to_owned();
        match self.lexer.peek()? {
            Token::Word(".branchtargets" | ".calltargets") => {
                self.lexer.take()?;
                let mut labels = vec![self.word()?.to_owned()];
                while self.accept(',')? {
                    labels.push(self.word()?.to_owned());
                }
                self.expect(';')?;
                body.statements.push(Statement::Targets {
                    scope,
                    name,
                    labels,
                });
            }
            Token::Word(".callprototype") => {
                let prototype = self.prototype(scope, name)?;
                body.prototypes.push(prototype);
            }
            _ => body.statements.push(Statement::Label { scope, name, line }),
        }
        Ok(())
    }

    /// `.callprototype (results) _ (parameters) .noreturn;`, where either list may be missing.
    fn prototype(&mut self, scope: usize, name: String) -> Result<Prototype, ParseError> {
        self.lexer.take()?;
        let (mut returns, mut params) = (Vec::new(), Vec::new());
        if self.lexer.peek()? == Token::Punct('(') {
            self.params(&mut returns)?;
        }
        self.word()?;
        if self.lexer.peek()? == Token::Punct('(') {
            self.params(&mut params)?;
        }
        self.skip_statement()?;
        Ok(Prototype {
            scope,
            name,
            returns,
            params,
        })
    }
}

/// A label that its scope has twice, with the lines of the second and the first.
fn repeated(body: &Body) -> Option<(&str, u32, u32)> {
    let mut known = HashMap::new();
    body.statements
        .iter()
        .find_map(|statement| match statement {
            Statement::Label { scope, name, line } => {
                let first = known.insert((*scope, name.as_str()), *line)?;
                Some((name.as_str(), *line, first))
            }
            _ => None,
        })
}
