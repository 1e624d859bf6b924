//! Breaks text into lines between words only: paths and names contain hyphens, and a broken name cannot be copied.
//! A number and its unit stay together.

use std::borrow::Cow;
use textwrap::{Options, WordSplitter};

/// Columns that a text takes on a terminal: a character takes 2, 1 or 0.
pub(crate) use textwrap::core::display_width as columns_of;

/// A text padded with spaces on its right to this number of columns.
pub(crate) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(columns_of(text))))
}

/// A text padded with spaces on its left to this number of columns.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(columns_of(text))))
}

/// Replaces a space at which a line must not be broken.
const TIED: char = '\u{a0}';

/// Units that stay on the same line as the number before them.
const UNITS: [&str; 9] = ["%", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB"];

/// Breaks a text into lines of at most `width` columns; `first` precedes the first line, `other` all further lines. A word that
/// is longer than a line exceeds the width.
pub fn wrap(text: &str, width: usize, first: &str, other: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(other)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    let tied = tied(text);
    let lines = textwrap::wrap(&tied, options);
    lines.into_iter().map(|line| line.replace(TIED, " ")).collect()
}

/// Appends the lines of [`wrap`] to `out`, each with a line break and without trailing spaces.
pub fn wrap_into(out: &mut String, text: &str, width: usize, first: &str, other: &str) {
    for line in wrap(text, width, first, other) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The text with [`TIED`] between each number and its unit.
fn tied(text: &str) -> Cow<'_, str> {
    let bare = |word: &str| word.trim_end_matches([',', '.', ';', ':', ')']).to_string();
    let is_unit = |word: &str| UNITS.contains(&bare(word).as_str());
    let is_number = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        if is_unit(word.trim_end()) && is_number(out.trim_end()) && out.ends_with(' ') {
            out.pop();
            out.push(TIED);
        }
        out.push_str(word);
    }
    match out == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(out),
    }
}

/// Breaks a command into lines that can be copied as they are: all but the last end in a backslash. A line is broken only at a
/// space outside quotes and brackets. A longer word, and a remark (`# ...`) with the word before it, exceed the width.
pub fn wrap_command(command: &str, width: usize, first: &str, other: &str) -> Vec<String> {
    let mut lines = Vec::<String>::new();
    let mut line = first.to_string();
    let mut is_begun = false;
    let words = shell_words(command);
    for (at, word) in words.iter().enumerate() {
        // The last word needs no room for a backslash.
        let room = if at + 1 == words.len() { width } else { width.saturating_sub(2) };
        if is_begun && columns_of(&line) + 1 + columns_of(word) > room {
            lines.push(format!("{line} \\"));
            line = other.to_string();
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
    lines
}

/// The parts of a command that stay together: shell words with their quotes and brackets; a remark belongs to the word before it.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::<String>::new();
    let mut word = String::new();
    let mut quote = None::<char>;
    let mut escaped = false;
    let mut remark = false;
    let mut within = 0;
    for c in command.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != Some('\'') => escaped = true,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            '(' if quote.is_none() => within += 1,
            ')' if quote.is_none() && within > 0 => within -= 1,
            '#' if quote.is_none() && word.is_empty() && !words.is_empty() => {
                remark = true;
                word = words.pop().unwrap_or_default() + " ";
            }
            ' ' if quote.is_none() && within == 0 && !remark => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{wrap, wrap_command};

    #[test]
    fn names_with_hyphens_stay_whole() {
        let path = "/var/lib/a-name-with-hyphens/b-c";
        assert_eq!(
            wrap(&format!("fsyncs of {path} waited"), 24, "", "  "),
            ["fsyncs of", &format!("  {path}"), "  waited"]
        );
        assert_eq!(wrap("", 24, "  ", ""), [""]);
    }

    #[test]
    fn a_number_stays_beside_its_unit() {
        assert_eq!(wrap("the device took 5.91 s", 20, "", ""), ["the device took", "5.91 s"]);
        assert_eq!(wrap("lost 32 %, or 1 way", 9, "", ""), ["lost", "32 %, or", "1 way"]);
        // Without a unit the number is not tied.
        assert_eq!(wrap("it s", 3, "", ""), ["it", "s"]);
    }

    #[test]
    fn a_command_is_broken_where_a_shell_reads_on() {
        let lines = wrap_command("echo \"a b c\" > /sys/x; cat 'y z'", 20, "1  ", "   ");
        assert_eq!(lines, ["1  echo \"a b c\" > \\", "   /sys/x; cat 'y z'"]);
        assert_eq!(wrap_command("true", 3, "", ""), ["true"]);
        assert_eq!(wrap_command("a b # c d e f", 4, "", ""), ["a \\", "b # c d e f"]);
    }

    /// If a shell joins the lines, the result is the command.
    #[test]
    fn a_broken_command_is_the_command() {
        let command = "systemctl set-property --runtime S IOReadIOPSMax=\"/dev/loop0  82\" && kill -STOP $(pgrep -x 'd d')";
        for width in 5..120 {
            let lines = wrap_command(command, width, "", "");
            let joined: Vec<&str> = lines.iter().map(|l| l.strip_suffix(" \\").unwrap_or(l)).collect();
            assert_eq!(joined.join(" "), command);
        }
    }
}
