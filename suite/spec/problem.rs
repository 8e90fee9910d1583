//! What is wrong with a spec: one problem each, with its place, and how they are shown.
//!
//! The only place that names `miette`.

use std::fmt;
use std::io::IsTerminal;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};

use super::model::Place;

/// Columns of a rendered report, the same everywhere so that it can be compared.
const WIDTH: usize = 100;
/// Characters shown of a source line, around the place.
const EXCERPT_CHARS: usize = 96;

/// One thing wrong in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    /// None where the whole file is meant.
    pub place: Option<Place>,
    /// The path of keys to the value: `gates.exact.want`, `pipelines.scan[2].args[0]`. Empty for the whole file.
    pub key: String,
    /// The line at `place`, without its end.
    pub source_line: String,
    pub message: String,
    /// What to write instead, where that can be said.
    pub mend: Option<String>,
}

impl Problem {
    /// A problem of a whole file.
    pub(crate) fn of_file(file: &str, message: impl Into<String>, mend: Option<String>) -> Self {
        Self {
            file: file.to_string(),
            place: None,
            key: String::new(),
            source_line: String::new(),
            message: message.into(),
            mend,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        f.write_str(": ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        match &self.mend {
            Some(mend) => write!(f, " ({mend})"),
            None => Ok(()),
        }
    }
}

/// Every problem of every file that was loaded, by file and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecErrors(pub Vec<Problem>);

impl std::error::Error for SpecErrors {}

impl fmt::Display for SpecErrors {
    /// One line a problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{problem}")?;
        }
        Ok(())
    }
}

impl SpecErrors {
    /// For a person: each problem with its source line, in colour where stderr is a terminal that wants it.
    pub fn render(&self) -> String {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        self.render_with(colour)
    }

    pub fn render_with(&self, colour: bool) -> String {
        let theme = if colour {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(WIDTH)
            .with_links(false)
            .with_context_lines(0);
        let mut text = String::new();
        for problem in &self.0 {
            if handler
                .render_report(&mut text, &Shown::of(problem))
                .is_err()
            {
                text.push_str(&problem.to_string());
                text.push('\n');
            }
        }
        let (count, files) = (self.0.len(), self.files());
        let problems = if count == 1 { "problem" } else { "problems" };
        let in_files = if files == 1 { "file" } else { "files" };
        text.push_str(&format!("{count} {problems} in {files} {in_files}\n"));
        text
    }

    fn files(&self) -> usize {
        let mut files: Vec<&str> = self.0.iter().map(|p| p.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        files.len()
    }
}

/// A problem as a diagnostic over its one source line.
#[derive(Debug)]
struct Shown {
    message: String,
    help: Option<String>,
    label: Option<String>,
    excerpt: Option<Excerpt>,
}

impl Shown {
    fn of(problem: &Problem) -> Self {
        let key = &problem.key;
        let Some(place) = problem.place else {
            return Self {
                message: format!("{}: {}", problem.file, problem.message),
                help: problem.mend.clone(),
                label: None,
                excerpt: None,
            };
        };
        Self {
            message: problem.message.clone(),
            help: problem.mend.clone(),
            label: Some(if key.is_empty() { "here" } else { key }.to_string()),
            excerpt: Some(Excerpt::of(&problem.file, place, &problem.source_line)),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|e| e as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let (at, len) = excerpt.marked;
        let label = LabeledSpan::new(self.label.clone(), at, len);
        Some(Box::new(std::iter::once(label)))
    }
}

/// One line of a file, cut to what can be shown, that knows its line number.
#[derive(Debug)]
struct Excerpt {
    file: String,
    place: Place,
    text: String,
    /// Byte offset and length of what is underlined.
    marked: (usize, usize),
}

impl Excerpt {
    fn of(file: &str, place: Place, line: &str) -> Self {
        let at = place.column.saturating_sub(1);
        let from = at.saturating_sub(EXCERPT_CHARS / 2);
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let cut = line.chars().skip(from).take(EXCERPT_CHARS);
        let mut text: String = cut.map(printable).collect();
        let mut offset = text.char_indices().nth(at - from).map(|(i, _)| i);
        if offset.is_none() {
            offset = Some(text.len());
            text.push(' ');
        }
        let start = offset.unwrap_or(0);
        let len = word_len(&text[start..]);
        Self {
            file: file.to_string(),
            place,
            text,
            marked: (start, len),
        }
    }
}

/// Bytes of the word, or the one character, at the start of `text`.
fn word_len(text: &str) -> usize {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let first = text.chars().next().map_or(1, char::len_utf8);
    end.max(first)
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            self.text.as_bytes(),
            (0, self.text.len()).into(),
            self.place.line.saturating_sub(1),
            self.place.column.saturating_sub(1),
            1,
        )))
    }
}
