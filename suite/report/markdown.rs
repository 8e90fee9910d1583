//! The summary in GitHub's Markdown: `summary.md`, and a workflow's step summary.

use super::record::Report;
use super::summary::{Grid, Summary, Trouble};
use crate::terms::Outcome;

/// GitHub drops a step summary above 1024 KiB whole.
pub const BYTES_MAX: usize = 900 * 1024;
/// Failures may take this much, so that the tables always have room.
const TROUBLE_BYTES_MAX: usize = 600 * 1024;
/// One failure's excerpt.
const EXCERPT_BYTES_MAX: usize = 8 * 1024;
/// Names told of an error that many cases share.
const NAMES_MAX: usize = 50;

/// The same content as the terminal's summary; less than [`BYTES_MAX`] bytes whatever the report holds.
pub fn summary_markdown(report: &Report) -> String {
    let summary = Summary::of(report);
    let mut out = Bounded::new(BYTES_MAX - 256);
    out.push(&format!("## {}\n\n", inline(&summary.totals)));
    let mut header = String::new();
    for (label, text) in &summary.header {
        header.push_str(&format!("- {label}: {}\n", inline(text)));
    }
    out.push(&header);
    if !summary.problems.is_empty() {
        out.push("\n### The run as a whole\n\n");
    }
    for problem in &summary.problems {
        out.push(&format!("- {}\n", inline(problem)));
    }
    out.push(&troubles(&summary.troubles));
    for gates in &summary.gates {
        let (columns, labels) = gates.columns();
        out.push(&format!(
            "\n### {}\n\n{}",
            inline(&gates.suite),
            table(&columns, labels, &gates.cells(""))
        ));
    }
    for grid in &summary.grids {
        out.push(&show_grid(grid));
    }
    if !summary.waived.is_empty() {
        let mut waived = String::from("\n");
        for (why, count) in &summary.waived {
            waived.push_str(&format!("- {count} waived: {}\n", inline(why)));
        }
        out.push(&waived);
    }
    if !summary.skips.is_empty() {
        let mut skips = String::from("\n");
        for (reason, count) in &summary.skips {
            skips.push_str(&format!("- {count} skipped: {}\n", inline(reason)));
        }
        out.push(&skips);
    }
    out.finish()
}

/// Text that grows by whole parts up to a limit; what does not fit is counted.
struct Bounded {
    text: String,
    limit: usize,
    left_out: usize,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            left_out: 0,
        }
    }

    fn push(&mut self, part: &str) -> bool {
        let fits = self.text.len() + part.len() <= self.limit;
        if fits {
            self.text.push_str(part);
        } else {
            self.left_out += 1;
        }
        fits
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            self.text.push_str(&format!(
                "\n{} more parts do not fit here; `report.json` has everything.\n",
                self.left_out
            ));
        }
        self.text
    }
}

fn troubles(troubles: &[Trouble]) -> String {
    if troubles.is_empty() {
        return String::new();
    }
    let mut out = Bounded::new(TROUBLE_BYTES_MAX);
    out.push("\n### Failures and errors\n\n");
    for trouble in troubles {
        out.push(&one_trouble(trouble));
    }
    out.finish()
}

fn one_trouble(trouble: &Trouble) -> String {
    let word = if trouble.outcome == Outcome::Fail {
        "FAIL"
    } else {
        "ERROR"
    };
    let title = match trouble.ids.as_slice() {
        [id] => format!("<code>{}</code>", html(id)),
        ids => format!("{} cases", ids.len()),
    };
    let mut text = String::new();
    if trouble.ids.len() > 1 {
        for id in trouble.ids.iter().take(NAMES_MAX) {
            text.push_str(&format!("{id}\n"));
        }
        if trouble.ids.len() > NAMES_MAX {
            text.push_str(&format!("… {} more\n", trouble.ids.len() - NAMES_MAX));
        }
        text.push('\n');
    }
    for line in &trouble.lines {
        if text.len() + line.len() > EXCERPT_BYTES_MAX {
            text.push_str("… more in report.json\n");
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!(
        "again: {}\n",
        cut(&trouble.repro, EXCERPT_BYTES_MAX)
    ));
    format!(
        "<details><summary>{word} {}</summary>\n\n<pre>{}</pre>\n\n</details>\n\n",
        cut(&title, EXCERPT_BYTES_MAX),
        // A blank line would end the HTML block.
        html(&text).replace("\n\n", "\n&#8203;\n")
    )
}

fn show_grid(grid: &Grid) -> String {
    let mut text = format!(
        "\n#### {}\n\n{}",
        inline(&grid.title),
        table(&grid.columns, grid.labels, &grid.rows)
    );
    for note in &grid.notes {
        text.push_str(&format!("\n{}\n", inline(note)));
    }
    text
}

fn table(columns: &[String], labels: usize, rows: &[Vec<String>]) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| inline(c)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = row(columns);
    for index in 0..columns.len() {
        text.push_str(if index < labels { "| --- " } else { "| ---: " });
    }
    text.push_str("|\n");
    text.extend(rows.iter().map(|cells| row(cells)));
    text
}

/// Text within a line or a table cell: nothing in it is markup.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn html(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// At most `bytes` bytes of `text`, whole characters.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
