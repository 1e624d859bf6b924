//! The licences of what others wrote, each text once.
//!
//! A text is printed as its owner wrote it, with the names in it. Where a crate comes without one, its licence and authors are told,
//! and the text of Apache-2.0 or MIT stands elsewhere in the file; of any other licence that would not do, and is refused.

use crate::others::others;
use crate::outcome::Outcome;
use crate::parts::{Part, Program};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// How files with licences are called, whatever follows.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Of these no text of its own is needed.
const KNOWN: &[&str] = &["Apache-2.0", "MIT"];

/// All of them.
pub fn text(program: &Program) -> Outcome<String> {
    let mut out = String::from(
        "iowhy itself is under Apache-2.0 or MIT, at your choice. In its program is work of others, under the licences below.\n",
    );
    // A text, and whose it is.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for part in program.of_others() {
        let files = files(&part.folder)?;
        if files.is_empty() {
            if !KNOWN.iter().any(|known| part.licence.split(' ').any(|word| word == *known)) {
                return Err(format!(
                    "{} {} is under {}, and has no text of it",
                    part.name, part.version, part.licence
                )
                .into());
            }
            without.push(part);
        }
        for text in files {
            texts.entry(text).or_default().push(name(part));
        }
    }
    for other in others(program)? {
        let version = if other.version.is_empty() { String::new() } else { format!(" {}", other.version) };
        let name = format!("{}{version} ({}): {}", other.name, other.licence, other.why);
        texts.entry(other.text.trim_end().to_string()).or_default().push(name);
    }
    if !without.is_empty() {
        out += "\nWithout a text of their own:\n";
    }
    for part in without {
        writeln!(out, "  {} by {}", name(part), part.authors.join(", "))?;
    }
    // Where the first of its owners stands in the alphabet.
    let mut texts: Vec<_> = texts.into_iter().map(|(text, owners)| (owners, text)).collect();
    texts.sort();
    for (owners, text) in texts {
        write!(out, "\n{}\n\n  {}\n\n{text}\n", "-".repeat(80), owners.join("\n  "))?;
    }
    Ok(out)
}

fn name(part: &Part) -> String {
    format!("{} {} ({})", part.name, part.version, part.licence)
}

/// The texts in a crate's folder.
fn files(folder: &Path) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let entry = entry?;
        let upper = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|name| upper.starts_with(name)) && entry.file_type()?.is_file() {
            let bytes = std::fs::read(entry.path())?;
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            found.push(text.trim_end().trim_start_matches('\n').to_string());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_named_and_every_text_is_there() {
        let program = Program::read("x86_64-unknown-linux-gnu").unwrap();
        let text = text(&program).unwrap();
        for part in program.of_others() {
            assert!(text.contains(&name(part)), "{}", part.name);
        }
        for needed in [
            "COMMON DEVELOPMENT AND DISTRIBUTION LICENSE",
            "GNU LESSER GENERAL PUBLIC LICENSE",
            "SIL OPEN FONT LICENSE",
            "Leon Sorokin",
            "Meta Platforms, Inc.",
        ] {
            assert!(text.contains(needed), "{needed}");
        }
    }
}
