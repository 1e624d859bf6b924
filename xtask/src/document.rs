//! Documents of several parts, each written by its own command: one is renewed, the others stay.
//!
//! A part begins with the line `<!-- part NAME -->` and ends before the next such line. What stands before the first is
//! kept too.

use crate::outcome::Outcome;
use std::fs;
use std::path::Path;

/// Measures with what is made in the folder `scratch`, which is removed at the end; prints the text and writes it as the part `name` of a
/// document.
pub fn measured(
    (file, name): (&Path, &str),
    scratch: &Path,
    measure: impl FnOnce(&Path) -> Outcome<String>,
) -> Outcome {
    fs::create_dir_all(scratch)?;
    let scratch = fs::canonicalize(scratch)?;
    let text = measure(&scratch);
    fs::remove_dir_all(&scratch)?;
    let text = text?;
    print!("{text}");
    renew(file, name, &text)
}

/// Writes `text` as the part `name` of a document; a new part goes to the end.
fn renew(file: &Path, name: &str, text: &str) -> Outcome {
    let old = fs::read_to_string(file).unwrap_or_default();
    fs::write(file, renewed(&old, name, text))?;
    Ok(())
}

fn renewed(old: &str, name: &str, text: &str) -> String {
    let begin = format!("<!-- part {name} -->\n");
    let part = format!("{begin}{}\n", text.trim_end());
    match old.split_once(&begin) {
        None if old.is_empty() => part,
        None => format!("{}\n\n{part}", old.trim_end()),
        Some((before, rest)) => match rest.find("<!-- part ") {
            Some(at) => format!("{before}{part}\n{}", &rest[at..]),
            None => format!("{before}{part}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::renewed;

    #[test]
    fn one_part_is_renewed_the_others_stay() {
        let one = renewed("", "a", "first\n");
        assert_eq!(one, "<!-- part a -->\nfirst\n");
        let two = renewed(&one, "b", "second");
        assert_eq!(two, "<!-- part a -->\nfirst\n\n<!-- part b -->\nsecond\n");
        assert_eq!(renewed(&two, "b", "new"), two.replace("second", "new"));
        assert_eq!(renewed(&two, "a", "new"), two.replace("first", "new"));
    }
}
