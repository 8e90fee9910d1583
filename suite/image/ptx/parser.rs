//! The module scope: header, variables, function headers; and the small helpers every part of the grammar uses.

use super::ParseError;
use super::ast::{Function, FunctionKind, Module, Space};
use super::lexer::{Lexer, Token};
use super::number;

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            lexer: Lexer::new(text),
        }
    }

    pub(super) fn module(mut self) -> Result<Module, ParseError> {
        let mut module = Module {
            address_size: 32,
            ..Module::default()
        };
        self.header(&mut module)?;
        let mut aliases = Vec::new();
        loop {
            match self.lexer.peek()? {
                Token::End => {
                    resolve(&aliases, &mut module.functions);
                    return Ok(module);
                }
                Token::Punct(';') => {
                    self.lexer.take()?;
                }
                Token::Word(".address_size") => {
                    self.lexer.take()?;
                    module.address_size = self.small()?;
                    if !matches!(module.address_size, 32 | 64) {
                        return Err(self.lexer.error("an address size is 32 or 64"));
                    }
                }
                Token::Word(".file") => self.file(&mut module)?,
                Token::Word(".section") => self.section()?,
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Word(".alias") => aliases.push(self.alias()?),
                Token::Word(".loc") => {
                    self.location()?;
                }
                Token::Word(word) if word.starts_with('.') => self.declaration(&mut module)?,
                other => {
                    return Err(self
                        .lexer
                        .error(format!("expected a directive, found {other}")));
                }
            }
        }
    }

    /// `.alias name, function;`
    fn alias(&mut self) -> Result<(String, String), ParseError> {
        self.lexer.take()?;
        let name = self.word()?.to_owned();
        self.expect(',')?;
        let function = self.word()?.to_owned();
        self.expect(';')?;
        Ok((name, function))
    }

    fn header(&mut self, module: &mut Module) -> Result<(), ParseError> {
        self.expect_word(".version")?;
        let Token::Number(version) = self.lexer.take()? else {
            return Err(self.lexer.error("expected a version such as 7.8"));
        };
        let parts = version.split_once('.');
        module.version = parts
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
            .ok_or_else(|| self.lexer.error(format!("{version:.40} is no PTX version")))?;
        self.expect_word(".target")?;
        module.target = self.word()?.to_owned();
        while self.accept(',')? {
            self.word()?;
        }
        Ok(())
    }

    fn file(&mut self, module: &mut Module) -> Result<(), ParseError> {
        self.lexer.take()?;
        let index = self.small()?;
        let Token::Text(name) = self.lexer.take()? else {
            return Err(self.lexer.error("expected the file's name in quotes"));
        };
        module.files.insert(index, name.to_owned());
        while self.accept(',')? {
            self.small_or_large()?;
        }
        Ok(())
    }

    /// Debug sections hold nothing that is run.
    fn section(&mut self) -> Result<(), ParseError> {
        self.lexer.take()?;
        self.word()?;
        self.expect('{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.lexer.take()? {
                Token::Punct('{') => depth += 1,
                Token::Punct('}') => depth -= 1,
                Token::End => return Err(self.lexer.error("a section that never ends")),
                _ => {}
            }
        }
        Ok(())
    }

    /// A function or a variable, after any linking directives.
    fn declaration(&mut self, module: &mut Module) -> Result<(), ParseError> {
        let mut is_extern = false;
        let start = self.lexer.next_start()?;
        loop {
            let line = self.lexer.line();
            match self.lexer.take()? {
                Token::Word(".extern") => is_extern = true,
                Token::Word(".visible" | ".weak" | ".common") => {}
                Token::Word(".entry") => {
                    let mut function = self.function(FunctionKind::Entry, line)?;
                    function.span = start..self.lexer.taken_end;
                    module.functions.push(function);
                    return Ok(());
                }
                Token::Word(".func") => {
                    let mut function = self.function(FunctionKind::Device, line)?;
                    function.span = start..self.lexer.taken_end;
                    module.functions.push(function);
                    return Ok(());
                }
                Token::Word(word) => {
                    let Some(space) = space_of(word) else {
                        return Err(self.lexer.error(format!("unknown directive {word:.40}")));
                    };
                    return self.variables(space, is_extern, 0, &mut module.variables);
                }
                other => {
                    return Err(self
                        .lexer
                        .error(format!("expected a directive, found {other}")));
                }
            }
        }
    }

    fn function(&mut self, kind: FunctionKind, line: u32) -> Result<Function, ParseError> {
        let mut returns = Vec::new();
        if self.lexer.peek()? == Token::Punct('(') {
            self.params(&mut returns)?;
        }
        let mut function = Function {
            name: self.word()?.to_owned(),
            kind,
            line,
            params: Vec::new(),
            returns,
            max_threads: None,
            required_threads: None,
            min_blocks: None,
            span: 0..0,
            body: None,
        };
        if self.lexer.peek()? == Token::Punct('(') {
            self.params(&mut function.params)?;
        }
        loop {
            match self.lexer.peek()? {
                Token::Word(".maxntid") => function.max_threads = Some(self.dimensions()?),
                Token::Word(".reqntid") => function.required_threads = Some(self.dimensions()?),
                Token::Word(".minnctapersm") => {
                    self.lexer.take()?;
                    function.min_blocks = Some(self.small()?);
                }
                Token::Word(".maxnctapersm" | ".maxnreg") => {
                    self.lexer.take()?;
                    self.small()?;
                }
                Token::Word(".noreturn") => {
                    self.lexer.take()?;
                }
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Punct('{') => {
                    function.body = Some(self.body()?);
                    return Ok(function);
                }
                Token::Punct(';') => {
                    self.lexer.take()?;
                    return Ok(function);
                }
                other => {
                    return Err(self
                        .lexer
                        .error(format!("expected a function body, found {other}")));
                }
            }
        }
    }

    /// `.maxntid x, y, z`: missing dimensions are 1.
    fn dimensions(&mut self) -> Result<[u32; 3], ParseError> {
        self.lexer.take()?;
        let mut all = [1; 3];
        for (index, dimension) in all.iter_mut().enumerate() {
            if index > 0 && !self.accept(',')? {
                break;
            }
            *dimension = self.small()?;
        }
        Ok(all)
    }

    /// Up to and including `;`.
    pub(super) fn skip_statement(&mut self) -> Result<(), ParseError> {
        loop {
            match self.lexer.take()? {
                Token::Punct(';') => return Ok(()),
                Token::End => {
                    return Err(self.lexer.error("expected `;`, found the end of the text"));
                }
                _ => {}
            }
        }
    }

    pub(super) fn accept(&mut self, punct: char) -> Result<bool, ParseError> {
        let found = self.lexer.peek()? == Token::Punct(punct);
        if found {
            self.lexer.take()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, punct: char) -> Result<(), ParseError> {
        match self.lexer.peek()? {
            Token::Punct(found) if found == punct => {
                self.lexer.take()?;
                Ok(())
            }
            other => Err(self
                .lexer
                .error(format!("expected `{punct}`, found {other}"))),
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        match self.lexer.peek()? {
            Token::Word(found) if found == word => {
                self.lexer.take()?;
                Ok(())
            }
            other => Err(self
                .lexer
                .error(format!("expected `{word}`, found {other}"))),
        }
    }

    pub(super) fn word(&mut self) -> Result<&'a str, ParseError> {
        match self.lexer.peek()? {
            Token::Word(word) => {
                self.lexer.take()?;
                Ok(word)
            }
            other => Err(self.lexer.error(format!("expected a name, found {other}"))),
        }
    }

    pub(super) fn small(&mut self) -> Result<u32, ParseError> {
        let value = self.small_or_large()?;
        u32::try_from(value).map_err(|_| self.lexer.error(format!("{value} is too large here")))
    }

    pub(super) fn small_or_large(&mut self) -> Result<u64, ParseError> {
        match self.lexer.peek()? {
            Token::Number(text) => {
                let value = number::whole(text);
                let value = value
                    .ok_or_else(|| self.lexer.error(format!("{text:.40} is no whole number")))?;
                self.lexer.take()?;
                Ok(value)
            }
            other => Err(self
                .lexer
                .error(format!("expected a number, found {other}"))),
        }
    }
}

/// Gives each alias, a declaration so far, the body of its function.
fn resolve(aliases: &[(String, String)], functions: &mut [Function]) {
    for (name, function) in aliases {
        let of = functions
            .iter()
            .find(|f| f.name == *function && f.body.is_some());
        let Some(of) = of.cloned() else { continue };
        for alias in functions.iter_mut().filter(|f| f.name == *name) {
            *alias = Function {
                name: name.clone(),
                ..of.clone()
            };
        }
    }
}

/// A state space directive.
pub(super) fn space_of(word: &str) -> Option<Space> {
    Some(match word {
        ".param" => Space::Param,
        ".global" => Space::Global,
        ".shared" => Space::Shared,
        ".local" => Space::Local,
        ".const" => Space::Const,
        _ => return None,
    })
}
