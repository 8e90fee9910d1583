//! Names in which `*` stands for any text.

/// Whether the whole of `text` is as `pattern` says. Linear for one `*`; at worst the product of both lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    // What most texts fail by, at no cost.
    if let Some((_, end)) = pattern.rsplit_once('*')
        && !text.ends_with(end)
    {
        return false;
    }
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // After the last `*` seen: where the pattern goes on, and where in the text it was tried.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((after, tried)) = retry else {
                    return false;
                };
                retry = Some((after, tried + 1));
                (p, t) = (after, tried + 1);
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

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
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            // The first place where the rest could begin is not the one where it does.
            ("a*aab", "aaaaab", true),
            ("é*ü", "éaü", true),
        ];
        for (pattern, text, want) in table {
            assert_eq!(matches(pattern, text), want, "`{pattern}` on `{text}`");
        }
    }
}
