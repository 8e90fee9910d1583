//! Names in which `*` stands for any text.

/// A pattern taken apart at its stars.
pub(super) struct Pattern<'p> {
    /// Up to the first star, or all of it.
    pub beginning: &'p str,
    /// Between two stars each.
    middle: Vec<&'p str>,
    /// After the last star; none where there is no star.
    end: Option<&'p str>,
}

impl<'p> Pattern<'p> {
    pub(super) fn new(pattern: &'p str) -> Self {
        let mut parts = pattern.split('*');
        let beginning = parts.next().unwrap_or_default();
        let mut middle: Vec<&str> = parts.collect();
        let end = middle.pop();
        middle.retain(|part| !part.is_empty());
        Self {
            beginning,
            middle,
            end,
        }
    }

    /// Whether the whole of `text` is as the pattern says: each part in its first place after the one before it, which
    /// leaves most room for those that follow.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix(self.beginning) else {
            return false;
        };
        let Some(end) = self.end else {
            return rest.is_empty();
        };
        let Some(mut rest) = rest.strip_suffix(end) else {
            return false;
        };
        for part in &self.middle {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_is_any_text_and_the_rest_stands_for_itself() {
        let table = [
            ("a::b::jit", "a::b::jit", true),
            ("a::b::jit", "a::b::sass", false),
            ("a::b::jit", "a::b::jit2", false),
            ("a::*", "a::b::n=1::jit", true),
            ("a::*", "a::", true),
            ("a::*", "ab::c", false),
            ("a::*::jit", "a::b::n=1::jit", true),
            ("a::*::jit", "a::b::jit::sass", false),
            ("a::*b*c", "a::xbxbxc", true),
            ("a::*b*c", "a::xcxb", false),
            ("a::**", "a::b", true),
            ("a::*b**c*", "a::bxc", true),
            ("a::*b**c*", "a::cxb", false),
            // Parts do not share what they stand for.
            ("ab*ba", "aba", false),
            ("a*b*b", "ab", false),
            ("a*bb*b", "abb", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            // The first place where the rest could begin is not the one where it does.
            ("a*aab", "aaaaab", true),
            ("é*ü", "éaü", true),
        ];
        for (pattern, text, want) in table {
            let is = Pattern::new(pattern).matches(text);
            assert_eq!(is, want, "`{pattern}` on `{text}`");
        }
    }
}
