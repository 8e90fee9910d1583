//! The events of `saphyr-parser` → the shape, places and texts of a tree. The only place that names the parser.
//!
//! Shows what is refused: depth, tags, anchors and aliases, several documents.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::log::Log;
use super::model::Place;
use super::tree::{Content, Entry, Scalar, Tree, Typed};

/// Mappings and sequences inside each other.
const DEPTH_MAX: usize = 32;
/// Scalars, mappings and sequences of one file: a spec has hundreds.
const NODES_MAX: usize = 20_000;

/// The tree, its scalars not typed yet.
pub(super) fn read(text: &str, tabs: bool, log: &Log<'_>) -> Option<Tree> {
    match Builder::new(log).run(text) {
        Ok(tree) => tree,
        Err(Stop::Reported) => None,
        // A tab was reported already, and most parsers stumble over it.
        Err(Stop::Syntax(_)) if tabs => None,
        Err(Stop::Syntax(error)) => {
            syntax_error(&error, log);
            None
        }
    }
}

enum Stop {
    Reported,
    Syntax(ScanError),
}

/// A collection whose end has not come yet.
enum Open {
    Sequence(Place, Vec<Tree>),
    Mapping(Place, Vec<Entry>, Option<(String, Place)>),
}

struct Builder<'a> {
    log: &'a Log<'a>,
    open: Vec<Open>,
    flow: Vec<bool>,
    root: Option<Tree>,
    nodes: usize,
}

impl<'a> Builder<'a> {
    fn new(log: &'a Log<'a>) -> Self {
        Self {
            log,
            open: Vec::new(),
            flow: Vec::new(),
            root: None,
            nodes: 0,
        }
    }

    fn run(&mut self, text: &str) -> Result<Option<Tree>, Stop> {
        let mut parser = Parser::new_from_str(text);
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|e| self.stop(e))?;
            if let Event::DocumentStart(_) = event {
                documents += 1;
                if documents > 1 {
                    let mend = "put each suite in a file of its own, without `---`";
                    self.log
                        .mend(place(span.start), "a second document starts here", mend);
                    return Err(Stop::Reported);
                }
            }
            self.event(event, span)?;
        }
        Ok(self.root.take())
    }

    /// The parser has limits of its own, beyond ours.
    fn stop(&self, error: ScanError) -> Stop {
        if error.info().contains("recursion limit") {
            self.too_deep(place(*error.marker()));
            return Stop::Reported;
        }
        Stop::Syntax(error)
    }

    fn too_deep(&self, at: Place) {
        let message = format!("nested more than {DEPTH_MAX} deep");
        self.log.mend(at, message, "no suite needs this depth");
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        let at = place(span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(at, anchor, tag.as_deref().map(ToString::to_string));
                let quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
                let inside = Place {
                    line: at.line,
                    column: at.column + usize::from(quoted),
                };
                let scalar = Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                    in_flow: self.flow.last().copied().unwrap_or(false),
                    typed: Typed::Text,
                };
                self.place_node(inside, Content::Scalar(scalar))
            }
            Event::Alias(_) => {
                self.refuse_alias(at);
                self.place_node(at, Content::Refused)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_marks(at, anchor, tag.as_deref().map(ToString::to_string));
                self.enter(Open::Sequence(at, Vec::new()), at, span)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_marks(at, anchor, tag.as_deref().map(ToString::to_string));
                self.enter(Open::Mapping(at, Vec::new(), None), at, span)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.flow.pop();
                match self.open.pop() {
                    Some(Open::Sequence(at, items)) => {
                        self.place_node(at, Content::Sequence(items))
                    }
                    Some(Open::Mapping(at, entries, _)) => {
                        self.place_node(at, Content::Mapping(entries))
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, open: Open, at: Place, span: Span) -> Result<(), Stop> {
        if self.open.len() >= DEPTH_MAX {
            self.too_deep(at);
            return Err(Stop::Reported);
        }
        self.open.push(open);
        // The brace or bracket of a flow collection has a width; a block collection starts nowhere.
        self.flow.push(!span.is_empty());
        Ok(())
    }

    fn place_node(&mut self, at: Place, content: Content) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let message = format!("the file has more than {NODES_MAX} values");
            self.log.mend(at, message, "split it into several suites");
            return Err(Stop::Reported);
        }
        let node = Tree { place: at, content };
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence(_, items)) => items.push(node),
            Some(Open::Mapping(_, entries, key)) => match key.take() {
                Some((key, place)) => entries.push(Entry {
                    key,
                    place,
                    value: node,
                }),
                None => {
                    let text = match node.content {
                        Content::Scalar(scalar) => scalar.text,
                        Content::Refused => String::new(),
                        _ => {
                            let mend = "write `key: value`; text with [ ] { } in it needs quotes";
                            self.log.mend(at, "this key is not text", mend);
                            String::new()
                        }
                    };
                    *key = Some((text, at));
                }
            },
        }
        Ok(())
    }

    fn refuse_marks(&self, at: Place, anchor: usize, tag: Option<String>) {
        if anchor > 0 {
            let mend = "write the value out, or name it with a `let`";
            self.log.mend(at, "anchors (&name) are refused", mend);
        }
        if let Some(tag) = tag {
            let message = format!("tags ({tag}) are refused");
            let mend = "leave the tag out; quote the value if it is text";
            self.log.mend(at, message, mend);
        }
    }

    fn refuse_alias(&self, at: Place) {
        let mend = "write the value out; an expression that starts with * needs quotes";
        self.log.mend(at, "aliases (*name) are refused", mend);
    }
}

fn place(marker: Marker) -> Place {
    Place {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

/// The parser's words, and what usually mends what it says.
const SYNTAX: &[(&str, &str)] = &[
    (
        "flow mapping",
        "inside {…}: `key: value` pairs with commas between; text with , [ ] { } in it needs quotes, and `}` ends it",
    ),
    (
        "flow sequence",
        "inside […]: values with commas between; text with , [ ] { } in it needs quotes, and `]` ends it",
    ),
    (
        "mapping values are not allowed",
        "text with `: ` in it needs quotes; keys of one mapping stand at one indentation",
    ),
    ("simple key", "write `key: value`"),
    ("quoted scalar", "close the quotes"),
    (
        "misplaced bracket",
        "remove this bracket, or quote the text",
    ),
    (
        "unexpected character",
        "quote text that starts with this character",
    ),
    ("unprintable", "remove this character"),
];

fn syntax_error(error: &ScanError, log: &Log<'_>) {
    let (info, at) = (error.info(), place(*error.marker()));
    if info.contains("unknown anchor") {
        let mend = "write the value out; an expression that starts with * needs quotes";
        log.mend(at, "aliases (*name) are refused", mend);
        return;
    }
    let mend = SYNTAX.iter().find(|(words, _)| info.contains(words));
    let mend = mend.map_or("compare the indentation and the brackets here", |(_, m)| m);
    log.mend(at, format!("not YAML: {info}"), mend);
}
