//! Functions that a pipeline calls on the host's side, the native library's and the host rungs: what each takes.
//!
//! Owns: the notation of their tables (`kernels/native/native.txt`, `host::TABLE`). May import `value` only.
//!
//! ```
//! use cuda_gates::call::Function;
//! let table = Function::table("scan: const i32* input, i32* output, u64 n  # sums").unwrap();
//! assert_eq!(table[0].name, "scan");
//! assert_eq!(table[0].to_string(), "scan(const i32* input, i32* output, u64 n)");
//! ```

use std::fmt;

use crate::value::ElementType;

/// A function by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub params: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What it is called, for people; may be empty.
    pub name: String,
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A pointer to elements, which the function only reads or also writes.
    Array { element: ElementType, written: bool },
    /// A number by value.
    Number(ElementType),
}

impl Function {
    /// A table: `NAME: parameter, parameter` a line, a parameter as C writes it; `#` starts a comment.
    ///
    /// # Errors
    /// The first line that is none, by its number from 1; a name that stands twice.
    pub fn table(text: &str) -> Result<Vec<Self>, String> {
        let mut functions: Vec<Self> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let function = Self::parse(line).map_err(|why| format!("line {}: {why}", index + 1))?;
            if functions.iter().any(|known| known.name == function.name) {
                let name = &function.name;
                return Err(format!("line {}: `{name}` stands twice", index + 1));
            }
            functions.push(function);
        }
        Ok(functions)
    }

    fn parse(line: &str) -> Result<Self, String> {
        let (name, params) = line
            .split_once(':')
            .ok_or_else(|| format!("`{line}` is not NAME: parameters"))?;
        let name = name.trim();
        if !is_identifier(name) {
            return Err(format!("`{name}` cannot name a function"));
        }
        let params = params.split(',').map(Parameter::parse);
        Ok(Self {
            name: name.to_owned(),
            params: params.collect::<Result<_, _>>()?,
        })
    }

    /// The function of this name.
    ///
    /// # Errors
    /// Words that say what there is instead; `what` names the table.
    pub fn find<'t>(table: &'t [Self], name: &str, what: &str) -> Result<&'t Self, String> {
        table
            .iter()
            .find(|function| function.name == name)
            .ok_or_else(|| {
                let known: Vec<&str> = table.iter().map(|f| f.name.as_str()).collect();
                format!("no {what} `{name}`: there are {}", known.join(", "))
            })
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Parameter {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{}` is no parameter, as `const i32* input` is",
                text.trim()
            )
        };
        // A star may touch the type, the name, or neither.
        let spaced = text.replace('*', " * ");
        let mut words: Vec<&str> = spaced.split_whitespace().collect();
        let constant = words.first() == Some(&"const");
        if constant {
            words.remove(0);
        }
        let (element, rest) = words.split_first().ok_or_else(wrong)?;
        let element = ElementType::from_name(element).ok_or_else(wrong)?;
        let (pointer, rest) = match rest.split_first() {
            Some((&"*", rest)) => (true, rest),
            _ => (false, rest),
        };
        let name = match rest {
            [] => "",
            [name] if is_identifier(name) => name,
            _ => return Err(wrong()),
        };
        let kind = match (pointer, constant) {
            (true, constant) => ParameterKind::Array {
                element,
                written: !constant,
            },
            (false, false) => ParameterKind::Number(element),
            (false, true) => return Err(wrong()),
        };
        Ok(Self {
            name: name.to_owned(),
            kind,
        })
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array {
                element,
                written: true,
            } => write!(f, "{}*", element.name()),
            Self::Array { element, .. } => write!(f, "const {}*", element.name()),
            Self::Number(element) => f.write_str(element.name()),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" => self.kind.fmt(f),
            name => write!(f, "{} {name}", self.kind),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<String> = self.params.iter().map(Parameter::to_string).collect();
        write!(f, "{}({})", self.name, params.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_written_as_in_c() {
        let table = Function::table("# a comment\n\nf: const f64 *x, u8*y, i64 z, i32*\n").unwrap();
        let kinds: Vec<ParameterKind> = table[0].params.iter().map(|p| p.kind).collect();
        let array = |element, written| ParameterKind::Array { element, written };
        assert_eq!(
            kinds,
            [
                array(ElementType::F64, false),
                array(ElementType::U8, true),
                ParameterKind::Number(ElementType::I64),
                array(ElementType::I32, true),
            ]
        );
        assert_eq!(table[0].to_string(), "f(const f64* x, u8* y, i64 z, i32*)");
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, words) in [
            ("f", "line 1: `f` is not NAME: parameters"),
            ("f: i32\n\nf: i32", "line 3: `f` stands twice"),
            ("1f: i32", "line 1: `1f` cannot name a function"),
            (
                "f: int x",
                "line 1: `int x` is no parameter, as `const i32* input` is",
            ),
            (
                "f: const i32 x",
                "line 1: `const i32 x` is no parameter, as `const i32* input` is",
            ),
            (
                "f: i32** x",
                "line 1: `i32** x` is no parameter, as `const i32* input` is",
            ),
            ("f:", "line 1: `` is no parameter, as `const i32* input` is"),
        ] {
            assert_eq!(Function::table(text).unwrap_err(), words);
        }
    }

    #[test]
    fn a_name_that_is_not_there_is_told_what_is() {
        let table = Function::table("f: i32\ng: i32").unwrap();
        assert_eq!(Function::find(&table, "g", "rung").unwrap().name, "g");
        assert_eq!(
            Function::find(&table, "h", "rung").unwrap_err(),
            "no rung `h`: there are f, g"
        );
    }
}
