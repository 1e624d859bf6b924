//! Rejoins lines of `/proc/mdstat` in a mail: indented, wrapped at column 72, with tabs in place of blanks.
//!
//! ```text
//!      md3 : active raid6 sdr[0] sdp[11] sdx[10]          md3 : active raid6 sdr[0] sdp[11] sdx[10] sds[6]
//! sds[6]
//!        156257474560 blocks super 1.2 level 6,                 156257474560 blocks super 1.2 level 6, 1024k ...
//! 1024k chunk, algorithm 2 [4/4] [UUUU]
//! ```
//!
//! **Versions**: Linux 2.6.32 to 6.1, by mails.

use super::quote::unquoted;
use std::collections::HashSet;
use std::iter::Peekable;

/// Limit on a line of members: 512 members of at most 40 letters each.
const MOST_BYTES: usize = 512 * 40;
/// Most continuation lines of a line of mdstat, apart from its members.
const MOST_LINES: usize = 3;
/// Indent of lines that belong to an array.
const INDENT: &str = "      ";

/// A line of mdstat as the kernel prints it, if `line` is one; the numbers of its continuation lines are added to `taken`.
pub(super) fn whole_line<'a>(
    line: &str,
    lines: &mut Peekable<impl Iterator<Item = (u32, &'a str)>>,
    taken: &mut HashSet<u32>,
) -> Option<String> {
    let text = line.trim();
    let mut words = text.split_whitespace();
    match [words.next()?, words.next().unwrap_or(""), words.next().unwrap_or("")] {
        [name, ":", "active" | "inactive" | "broken"] if name.starts_with("md") => {
            let mut all = text.to_owned();
            while let Some((number, more)) = lines.next_if(|(_, line)| is_members(unquoted(line))) {
                taken.insert(number);
                all.push(' ');
                all.push_str(unquoted(more).trim());
                if all.len() > MOST_BYTES {
                    break;
                }
            }
            Some(all)
        }
        [size, "blocks", _] if size.parse::<u64>().is_ok() => {
            let mut all = format!("{INDENT}{text}");
            for _ in 0..MOST_LINES {
                let goes_on = |(_, line): &(u32, &str)| is_more(unquoted(line));
                if all.ends_with(']') {
                    break;
                }
                let Some((number, more)) = lines.next_if(goes_on) else { break };
                taken.insert(number);
                all.push(' ');
                all.push_str(unquoted(more).trim());
            }
            Some(all)
        }
        ["bitmap:", ..] => Some(format!("{INDENT}{text}")),
        _ => None,
    }
}

/// The array whose first line this is: `md3` of `md3 : active raid6 sdr[0]`.
pub(super) fn head(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" : ")?;
    let state = rest.split_whitespace().next()?;
    (name.starts_with("md") && ["active", "inactive", "broken"].contains(&state)).then_some(name)
}

/// Whether all words are members: `sdd1[3] sdc1[2](F)`.
fn is_members(line: &str) -> bool {
    let member = |word: &str| {
        word.split_once('[').is_some_and(|(name, rest)| {
            !name.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(']')
        })
    };
    !line.trim().is_empty() && line.split_whitespace().all(member)
}

/// Whether a line may continue an array's second line: `1024k chunk, algorithm 2 [12/12] [UUUUUUUUUUUU]`.
fn is_more(line: &str) -> bool {
    let begins = ["level", "chunk", "chunk,", "algorithm", "near-copies", "far-copies"];
    let first = line.split_whitespace().next().unwrap_or("");
    line.trim_end().ends_with(']')
        && (begins.contains(&first) || first.starts_with(|c: char| c == '[' || c.is_ascii_digit()))
}
