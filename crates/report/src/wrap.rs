//! Text in lines. They are broken between words, never within one: paths and names have hyphens, and who copies half of
//! one copies a name that does not exist.

use textwrap::{Options, WordSplitter};

/// A text in lines of so many columns, the first and the others behind what they begin with. A word that is longer than a
/// line stands out.
pub fn wrap(text: &str, width: usize, first: &str, other: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(other)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn names_with_hyphens_stay_whole() {
        let path = "/var/lib/a-name-with-hyphens/b-c";
        assert_eq!(
            wrap(&format!("fsyncs of {path} waited"), 24, "", "  "),
            ["fsyncs of", &format!("  {path}"), "  waited"]
        );
        assert_eq!(wrap("", 24, "  ", ""), [""]);
    }
}
