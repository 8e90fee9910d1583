//! "Did you mean …": the known name that a mistyped one is nearest to.

/// The nearest of `known` by edits (Levenshtein's distance), where it is near enough to be meant.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    if letters > 64 {
        return None;
    }
    let most = (letters / 3).clamp(1, 3);
    known
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn the_nearest_name_wins_and_a_far_one_is_not_offered() {
        let known = ["kernel", "grid", "block", "args", "when"];
        let nearest = |name| near(name, known.into_iter());
        assert_eq!(nearest("kernal"), Some("kernel"));
        assert_eq!(nearest("gird"), None, "two edits in four letters");
        assert_eq!(nearest("blok"), Some("block"));
        assert_eq!(nearest("arg"), Some("args"));
        assert_eq!(nearest("Grid"), Some("grid"));
        assert_eq!(nearest("shared"), None);
    }
}
