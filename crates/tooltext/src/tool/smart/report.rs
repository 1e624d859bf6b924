//! Reads a whole report of one drive, with its name: all parts in one row, up to the next report.
//!
//! ```text
//! # smartctl -a /dev/sda                                          the device is that of the command
//! smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-13-amd64] (local build)
//! Smart Log for NVME device:nvme0n1 namespace-id:ffffffff         nvme smart-log
//! critical_warning                    : 0x4
//! ```

use super::part;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use crate::tool::reader::{texts, Found};

/// Limit on words of a report: its logs of errors and self-tests have thousands.
const LONGEST: usize = 6000;
/// Limit on words of a command, and on those between the command and its report.
const MOST_OF_COMMAND: usize = 16;
/// Words before the device in the first line of `nvme smart-log`.
const NVME: [&str; 4] = ["Smart", "Log", "for", "NVME"];

/// Where a report begins, and whose it is.
struct Header<'a> {
    /// Number of words.
    used: usize,
    device: &'a str,
    /// Whether each of its lines is a name, a colon and a value: another line ends the report.
    of_fields: bool,
}

/// Reads a report from its command or first line on.
pub(super) fn read(words: &[Word]) -> Option<Found> {
    let header = header(words)?;
    let mut all = Row::of(if header.device.is_empty() { "drive" } else { header.device });
    let (mut at, mut used, mut unknown) = (header.used, 0, 0);
    while at < words.len().min(LONGEST) {
        let rest = &words[at..];
        if begins(rest) || header.of_fields && rest[0].first && !is_field(rest) {
            break;
        }
        let Some(found) = part(rest, true) else {
            at += 1;
            continue;
        };
        for row in found.reading.iter().flat_map(|r| &r.rows) {
            row.values.iter().for_each(|(name, n)| all.values.put(name, n.value, n.unit, n.at));
        }
        (at, unknown) = (at + found.used.max(1), unknown + found.unknown);
        used = at;
    }
    let reading = Reading {
        tool: "smart",
        name: header.device.to_owned(),
        rows: vec![all],
        at: words[0].spot,
        ..Reading::default()
    };
    (used > 0).then_some(Found { reading: Some(reading), used, unknown })
}

fn header<'a>(words: &[Word<'a>]) -> Option<Header<'a>> {
    if let Some([.., device]) = nvme(words) {
        let device = match device.strip_prefix("device:")? {
            "" => words.get(NVME.len() + 1)?.text,
            device => device,
        };
        return Some(Header { used: NVME.len() + 1, device: name(device), of_fields: true });
    }
    let at = match words.first()?.text {
        "smartctl" => is_version(words).then_some(0)?,
        _ if is_command(words) => (1..MOST_OF_COMMAND).find(|i| words.get(*i..).is_some_and(is_version))?,
        _ => return None,
    };
    let device = words[..at].iter().find(|w| w.text.starts_with("/dev/")).map_or("", |w| name(w.text));
    Some(Header { used: at + 2, device, of_fields: false })
}

/// The words of the first line of `nvme smart-log`.
fn nvme<'a>(words: &[Word<'a>]) -> Option<[&'a str; NVME.len() + 1]> {
    texts(words).filter(|line: &[&str; NVME.len() + 1]| line.starts_with(&NVME))
}

/// Whether the next report begins here.
fn begins(words: &[Word]) -> bool {
    is_version(words) || is_command(words) || nvme(words).is_some()
}

fn is_version(words: &[Word]) -> bool {
    texts(words).is_some_and(|[name, number]| {
        name == "smartctl" && number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')
    })
}

fn is_command(words: &[Word]) -> bool {
    let prompt = words.first().is_some_and(|w| w.text.ends_with(['#', '$']));
    prompt && words[1..].iter().take(2).any(|w| w.text.ends_with("smartctl") && !w.first)
}

/// Whether a line has a name before a colon.
fn is_field(line: &[Word]) -> bool {
    let words = line.iter().enumerate().take_while(|(i, w)| *i == 0 || !w.first);
    words.take(MOST_OF_COMMAND).any(|(_, w)| w.text.ends_with(':'))
}

/// The device's name without its path; empty if it is none.
fn name(device: &str) -> &str {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    if evidence::is_device_name(name) {
        name
    } else {
        ""
    }
}
