//! The list of mutants held to be equivalent, which stands beside a suite: `specs/mutants/SUITE.yaml`.
//!
//! ```yaml
//! version: 1
//! suite: compaction
//! equivalent:
//!   - mutants: [scatter:602:comparison]
//!     reason: an index is never equal to its bound here
//! ```

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::beside;
use super::fields::Decoder;
use super::model::Place;
use super::problem::{Problem, SpecErrors};
use super::tree::Tree;

/// A list as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Equivalents {
    pub path: String,
    pub entries: Vec<Equivalent>,
}

/// One mutant of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Equivalent {
    /// `kernel:line:operator[:n]`
    pub mutant: String,
    pub reason: String,
    place: Place,
    source_line: String,
}

impl Equivalents {
    /// Where the list of a suite stands, given the suite's own path.
    pub fn path_beside(suite_path: &str, suite: &str) -> PathBuf {
        let folder = Path::new(suite_path).parent().unwrap_or(Path::new(""));
        folder.join("mutants").join(format!("{suite}.yaml"))
    }

    /// Reads the list of a suite; none where there is no such file.
    ///
    /// # Errors
    /// Every problem of the file.
    pub fn load(path: &Path, suite: &str) -> Result<Option<Self>, SpecErrors> {
        if !path.exists() {
            return Ok(None);
        }
        let (shown, bytes) = super::read(path)?;
        Self::parse(&shown, &bytes, suite).map(Some)
    }

    /// # Errors
    /// Every problem of the text.
    pub fn parse(path: &str, bytes: &[u8], suite: &str) -> Result<Self, SpecErrors> {
        let start = "`version: 1` and `suite: NAME`";
        let entries = beside::decode(path, bytes, start, |decoder, tree, lines| {
            decoder.equivalents(tree, suite, lines)
        })?;
        Ok(Self {
            path: path.to_owned(),
            entries,
        })
    }

    /// What is wrong with an entry, at its place in the file.
    pub fn problem(&self, entry: &Equivalent, message: impl Into<String>, mend: &str) -> Problem {
        Problem {
            place: Some(entry.place),
            source_line: entry.source_line.clone(),
            ..Problem::of_file(&self.path, message, Some(mend.to_owned()))
        }
    }
}

impl Decoder<'_> {
    fn equivalents(&self, tree: &Tree, suite: &str, lines: &[&str]) -> Option<Vec<Equivalent>> {
        let what = "a list of mutants";
        let fields = self.fields(tree, what, &["version", "suite", "equivalent"])?;
        if let Some(version) = self.required(&fields, what, "version") {
            self.whole(version, "the version", 1, 1);
        }
        if let Some(named) = self.required(&fields, what, "suite") {
            let name = self.text(named, "the suite's name");
            if name.is_some_and(|name| name != suite) {
                let message = format!("the suite beside this list is `{suite}`");
                self.log
                    .mend(named.place, message, format!("write `suite: {suite}`"));
            }
        }
        let list = self.list(self.required(&fields, what, "equivalent")?, "`equivalent`")?;
        let mut all = Vec::new();
        for item in list {
            self.equivalent(item, lines, &mut all);
        }
        self.refuse_twice(&all);
        Some(all)
    }

    fn equivalent(&self, tree: &Tree, lines: &[&str], all: &mut Vec<Equivalent>) -> Option<()> {
        let what = "an entry";
        let fields = self.fields(tree, what, &["mutants", "reason"])?;
        let reason = self.required(&fields, what, "reason");
        let mutants = self.required(&fields, what, "mutants");
        let reason = self.text(reason?, "the reason")?;
        for mutant in self.one_or_list(mutants?) {
            let Some(id) = self.text(mutant, "a mutant's id") else {
                continue;
            };
            let line = mutant.place.line.saturating_sub(1);
            all.push(Equivalent {
                mutant: id,
                reason: reason.clone(),
                place: mutant.place,
                source_line: lines.get(line).copied().unwrap_or_default().to_owned(),
            });
        }
        Some(())
    }

    fn refuse_twice(&self, all: &[Equivalent]) {
        let mut seen = HashSet::new();
        for entry in all {
            if !seen.insert(&entry.mutant) {
                let message = format!("`{}` is listed twice", entry.mutant);
                self.log.mend(entry.place, message, "give it one reason");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Equivalents;

    fn problems(text: &str) -> String {
        let parsed = Equivalents::parse("mutants/s.yaml", text.as_bytes(), "s");
        parsed.expect_err("problems").to_string()
    }

    #[test]
    fn a_list_gives_each_mutant_its_reason() {
        let text = "version: 1\nsuite: s\nequivalent:\n  - {mutants: ['k:1:grid:0', 'k:2:guard'], reason: both}\n  \
                    - {mutants: 'k:3:guard', reason: one}\n";
        let list = Equivalents::parse("mutants/s.yaml", text.as_bytes(), "s").expect("a list");
        let all: Vec<(&str, &str)> = list
            .entries
            .iter()
            .map(|entry| (entry.mutant.as_str(), entry.reason.as_str()))
            .collect();
        let wanted = [
            ("k:1:grid:0", "both"),
            ("k:2:guard", "both"),
            ("k:3:guard", "one"),
        ];
        assert_eq!(all, wanted);
        let problem = list
            .problem(&list.entries[2], "gone", "take it out")
            .to_string();
        assert_eq!(problem, "mutants/s.yaml:5:16: gone (take it out)");
    }

    #[test]
    fn what_is_wrong_with_a_list_is_told_at_its_place() {
        let twice = "version: 1\nsuite: s\nequivalent: [{mutants: ['a', 'a'], reason: r}]\n";
        assert!(
            problems(twice).contains(":3:31: equivalent[0].mutants[1]: `a` is listed twice"),
            "{}",
            problems(twice)
        );
        let other = "version: 2\nsuite: t\nequivalent: [{mutants: ['a'], raison: r}]\n";
        let told = problems(other);
        for words in [
            "whole number from 1 to 1",
            "suite beside this list is `s`",
            "did you mean `reason`?",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert!(problems("").contains("the file is empty"));
        assert!(problems("version: 1\nsuite: s\n").contains("has no `equivalent`"));
    }
}
