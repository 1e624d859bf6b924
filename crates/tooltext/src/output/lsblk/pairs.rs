//! Reads `lsblk -P`: a line per device with its columns as pairs; `-y` of util-linux 2.38 uses names that are valid in a shell: `RQ_SIZE`.
//!
//! ```text
//! NAME="sda" ROTA="1" SCHED="mq-deadline" RQ-SIZE="64" RA="128" MODEL="Disk of 4 TB" TYPE="disk"
//! ```
//!
//! A mailer may break a line at any blank, also within quotes: the following lines belong to it until a name repeats.

use super::{told_of, SettingPairs, MOST_LINES, SETTINGS};

/// The settings of a disk in a line and its number of continuation lines. Partitions have their disk's settings, and get none.
pub(in crate::output) fn line<'t>(
    first: &str,
    ahead: impl Iterator<Item = &'t str>,
) -> Option<(SettingPairs, usize)> {
    let (name, _) = first.trim_start().split_once("=\"")?;
    is_name(name).then_some(())?;
    let mut text = first.trim().to_owned();
    let (mut pairs, mut lines) = (read(&text), 0);
    for (number, line) in (1..).zip(ahead.take(MOST_LINES)) {
        text = format!("{text} {}", line.trim());
        match read(&text) {
            Some(both) if !repeats(&both) => (pairs, lines) = (Some(both), number),
            // The line ends within quotes.
            None if text.matches('"').count() % 2 == 1 => {}
            _ => break,
        }
    }
    let pairs = pairs?;
    let of = |column: &str| {
        let found = pairs.iter().find(|(name, _)| name.replace('_', "-") == column);
        found.map(|(_, value)| value.clone())
    };
    (SETTINGS.iter().filter(|(column, ..)| of(column).is_some()).count() > 1).then_some(())?;
    Some((told_of(&of)?, lines))
}

/// All pairs of a text that consists only of pairs.
fn read(text: &str) -> Option<Vec<(String, String)>> {
    let (mut all, mut rest) = (vec![], text);
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"")?;
        let (value, behind) = value.split_once('"')?;
        is_name(name).then_some(())?;
        all.push((name.to_owned(), value.to_owned()));
        (behind.is_empty() || behind.starts_with(' ')).then_some(())?;
        rest = behind.trim_start();
    }
    Some(all)
}

fn repeats(pairs: &[(String, String)]) -> bool {
    pairs.iter().enumerate().any(|(i, (name, _))| pairs[..i].iter().any(|(n, _)| n == name))
}

fn is_name(text: &str) -> bool {
    (2..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b"-_:%".contains(&b))
}
