//! "Did you mean …": the known name that a mistyped one is nearest to.

/// The nearest of `known` by edits (optimal string alignment: insert, delete, substitute, swap neighbours), where it
/// is near enough to be meant.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    if letters > 64 {
        return None;
    }
    // One letter is near to every other.
    let most = if letters < 2 {
        0
    } else {
        (letters / 3).clamp(1, 3)
    };
    known
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let substituted = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut edits = substituted.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(before[j - 2] + 1);
            }
            next.push(edits);
        }
        before = std::mem::replace(&mut row, next);
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
        assert_eq!(nearest("gird"), Some("grid"), "two letters swapped");
        assert_eq!(nearest("blok"), Some("block"));
        assert_eq!(nearest("arg"), Some("args"));
        assert_eq!(nearest("Grid"), Some("grid"));
        assert_eq!(nearest("shared"), None);
        assert_eq!(near("x", ["n", "X"].into_iter()), Some("X"));
        assert_eq!(near("x", ["n"].into_iter()), None);
    }
}
