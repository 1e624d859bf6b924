//! Lines of a text as their author quoted them.

/// A line without quote marks but with its indent, which is needed to recognise lines of mdstat.
pub(super) fn unquoted(line: &str) -> &str {
    let mut rest = super::words::without_name(line);
    while let Some(after) = rest.trim_start().strip_prefix('>') {
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    rest
}

/// How many quotes a line is in.
pub(super) fn depth(line: &str) -> usize {
    line[..line.len() - unquoted(line).len()].matches('>').count()
}
