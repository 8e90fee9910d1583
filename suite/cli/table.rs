//! Plain columns for listings: words that `awk` and `grep` can take apart.

/// A line of headings and one a row; columns as wide as their widest cell.
pub(super) fn columns(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let headings = headings.iter().map(|&h| h.to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let mut widths: Vec<usize> = Vec::new();
    for line in &lines {
        for (column, cell) in line.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, &width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn cells_stand_under_their_headings() {
        let rows = [vec!["a".to_owned(), "×××".to_owned(), "1".to_owned()]];
        assert_eq!(
            columns(&["name", "x", ""], rows.into_iter()),
            "name  x\na     ×××  1\n"
        );
    }
}
