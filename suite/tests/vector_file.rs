//! The text form of vectors: a family's instructions, each with what it gave.
//!
//! ```text
//! source: simulated
//! threads: 64
//!
//! shl.b32 %r0, %r1, %r2 // %r2 shift
//!   inputs 4be0a1c2
//!   %r0 00000000 00000002 …
//! ```
//!
//! An entry is one or more instructions. Registers numbered 1 to 4 are its inputs, 0 and 9 its results; the letter is
//! the type: `h` 16 bits, `r` 32, `f` single precision, `d` 64 bits, `g` double precision, `p` a predicate. After `//`
//! stand the inputs that want another generator than their type's. One value a thread.

use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register {
    pub number: u32,
    pub letter: char,
}

impl Register {
    /// Of its value in hexadecimal digits.
    fn digits(self) -> usize {
        match self.letter {
            'p' => 1,
            'h' => 4,
            'r' | 'f' => 8,
            _ => 16,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// As PTX, without the last semicolon.
    pub op: String,
    /// Input registers, each with the name of its generator.
    pub inputs: Vec<(Register, String)>,
    pub outputs: Vec<Register>,
    /// Of the inputs the results were recorded for; 0 where there are none yet.
    pub checksum: u32,
    /// For each output a value a thread; empty where nothing is recorded yet.
    pub results: Vec<Vec<u64>>,
    /// In the file, from 1.
    pub line: usize,
}

#[derive(Clone, Debug)]
pub struct Family {
    pub name: String,
    /// `simulated`, or the card and its driver.
    pub source: String,
    pub threads: usize,
    pub entries: Vec<Entry>,
}

/// # Errors
/// What is wrong, with its line.
pub fn parse(name: &str, text: &str) -> Result<Family, String> {
    let mut family = Family {
        name: name.to_owned(),
        source: String::new(),
        threads: 0,
        entries: Vec::new(),
    };
    for (line, words) in (1..).zip(text.lines()) {
        let wrong = |what: &str| format!("{name}.txt:{line}: {what}");
        if let Some(source) = words.strip_prefix("source: ") {
            family.source = source.to_owned();
        } else if let Some(threads) = words.strip_prefix("threads: ") {
            family.threads = threads.parse().map_err(|_| wrong("no number of threads"))?;
        } else if let Some(result) = words.strip_prefix("  ") {
            let entry = family.entries.last_mut();
            let entry = entry.ok_or_else(|| wrong("a result before any instruction"))?;
            values(entry, result).ok_or_else(|| wrong("no result that can be read"))?;
        } else if !words.is_empty() && !words.starts_with('#') {
            family.entries.push(entry(words, line));
        }
    }
    Ok(family)
}

fn entry(text: &str, line: usize) -> Entry {
    let (op, notes) = text.split_once(" // ").unwrap_or((text, ""));
    let notes: Vec<&str> = notes.split_whitespace().collect();
    let all = registers(op);
    let generator = |register: Register| {
        let name = format!("%{}{}", register.letter, register.number);
        let noted = notes.chunks(2).find(|note| note[0] == name);
        noted.and_then(|note| note.get(1)).map_or_else(
            || default_generator(register.letter).to_owned(),
            |&generator| generator.to_owned(),
        )
    };
    let inputs = all.iter().filter(|r| (1..=4).contains(&r.number));
    Entry {
        op: op.to_owned(),
        inputs: inputs.map(|&r| (r, generator(r))).collect(),
        outputs: all
            .iter()
            .copied()
            .filter(|r| r.number == 0 || r.number == 9)
            .collect(),
        checksum: 0,
        results: Vec::new(),
        line,
    }
}

fn default_generator(letter: char) -> &'static str {
    match letter {
        'f' | 'g' => "float",
        'p' => "bit",
        _ => "int",
    }
}

/// The registers that a text names, in order, none twice.
fn registers(op: &str) -> Vec<Register> {
    let named = op.split('%').skip(1).filter_map(|rest| {
        let letter = rest.chars().next()?;
        let digits = rest[1..].chars().take_while(char::is_ascii_digit).count();
        let number = rest[1..1 + digits].parse().ok()?;
        Some(Register { number, letter })
    });
    let mut all: Vec<Register> = named.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Adds a line of results to an entry.
fn values(entry: &mut Entry, line: &str) -> Option<()> {
    let (name, rest) = line.split_once(' ')?;
    if name == "inputs" {
        entry.checksum = u32::from_str_radix(rest, 16).ok()?;
        return Some(());
    }
    let register = registers(name).first().copied()?;
    let at = entry.outputs.iter().position(|&r| r == register)?;
    entry.results.resize(entry.outputs.len(), Vec::new());
    let digits: String = rest.split_whitespace().collect();
    for word in digits.as_bytes().chunks(register.digits()) {
        let word = std::str::from_utf8(word).ok()?;
        entry.results[at].push(u64::from_str_radix(word, 16).ok()?);
    }
    Some(())
}

/// As `parse` reads it.
pub fn print(family: &Family, about: &str) -> String {
    let mut text = String::new();
    for line in about.lines() {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(
        text,
        "source: {}\nthreads: {}",
        family.source, family.threads
    );
    for entry in &family.entries {
        let _ = write!(text, "\n{}", entry.op);
        let special = entry.inputs.iter();
        let special = special.filter(|(r, generator)| generator != default_generator(r.letter));
        for (at, (register, generator)) in special.enumerate() {
            let Register { number, letter } = register;
            let before = if at == 0 { " //" } else { "" };
            let _ = write!(text, "{before} %{letter}{number} {generator}");
        }
        let _ = writeln!(text, "\n  inputs {:08x}", entry.checksum);
        for (register, values) in entry.outputs.iter().zip(&entry.results) {
            rows(&mut text, *register, values);
        }
    }
    text
}

fn rows(text: &mut String, register: Register, values: &[u64]) {
    let Register { number, letter } = register;
    let digits = register.digits();
    // About 90 columns.
    for row in values.chunks(if letter == 'p' { 64 } else { 80 / (digits + 1) }) {
        let _ = write!(text, "  %{letter}{number}");
        for (at, value) in row.iter().enumerate() {
            let space = if letter == 'p' && at > 0 { "" } else { " " };
            let _ = write!(text, "{space}{value:0digits$x}");
        }
        text.push('\n');
    }
}

/// The comment lines at the top of a file.
pub fn about(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("# "));
    lines.collect::<Vec<_>>().join("\n")
}
