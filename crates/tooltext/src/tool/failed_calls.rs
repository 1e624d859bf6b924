//! Reads errors of any program whose file system has no space left, whose quota is used up, or whose data could not be read or written:
//! ENOSPC, EDQUOT and EIO, by the words of the C library (glibc and musl: `strerror`). Only musl calls EIO `I/O error`, as the kernel's log
//! does: that is not read.
//!
//! ```text
//! cp: error writing 'a': No space left on device
//! java.io.IOException: No space left on device
//! tar: a: Cannot write: Disk quota exceeded
//! dd: error reading '/dev/sdb': Input/output error
//! Error number 28 means 'No space left on device'                   InnoDB; also `OS errno 28 - No space left on device`
//! flood stage disk watermark [95%] exceeded on [...]                Elasticsearch, which then accepts no writes
//! ```
//!
//! The words count only where a program's message ends in them: after a colon, or after the number. Each kind has a row with its number.
//!
//! **Versions**: glibc 2.36 run; Java, Go, MySQL and Elasticsearch by published logs.

use super::next_of_log;
use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;

pub struct FailedCalls;

const FULL: &str = "no space left";
const QUOTA: &str = "quota used up";
const FAILED: &str = "input/output error";
/// Limit on words between two: others of the log, a stack of Java.
const MOST_BETWEEN: usize = 400;

impl Tool for FailedCalls {
    fn read(&self, words: &[Word]) -> Option<Found> {
        error(words)?;
        let mut kinds: [(&str, f64, Option<Spot>); 3] = [FULL, QUOTA, FAILED].map(|kind| (kind, 0.0, None));
        let (mut used, mut unknown) = (0, 0);
        while let Some((skip, (kind, length))) = next_of_log(&words[used..], MOST_BETWEEN, error) {
            let of = kinds.iter_mut().find(|(name, ..)| *name == kind)?;
            (of.1, of.2) = (of.1 + 1.0, of.2.or(Some(words[used + skip].spot)));
            unknown += skip;
            used += skip + length;
        }
        let mut reading = Reading { tool: "failed calls", at: words[0].spot, ..Reading::default() };
        for (kind, count, at) in kinds {
            if let Some(at) = at {
                let mut row = Row::of(kind);
                row.values.put("count", count, Unit::Count, at);
                reading.rows.push(row);
            }
        }
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// The kind of an error at the end of a message, and the number of words.
pub(super) fn error(words: &[Word]) -> Option<(&'static str, usize)> {
    if let Some(["flood", "stage", "disk", "watermark", limit, "exceeded"]) = texts(words) {
        return limit.starts_with('[').then_some((FULL, 6));
    }
    let before = words.first()?.text;
    let ends_message = before.ends_with(':') && before.len() > 1;
    if !ends_message && !["-", "means"].contains(&before) {
        return None;
    }
    let second = words.get(1)?.text;
    let second = if before == "means" { second.strip_prefix('\'')? } else { second };
    // What follows belongs to the next message, or is in brackets: `(os error 28)`, `; ...`.
    let ends = |word: &str, last: &str| {
        word.strip_prefix(last).is_some_and(|rest| rest.chars().all(|c| !c.is_alphanumeric()))
    };
    match second {
        "No" => {
            let [_, _, "space", "left", "on", device] = texts(words)? else { return None };
            ends(device, "device").then_some((FULL, 6))
        }
        "no" if ends_message => {
            let [_, _, "space", "left", "on", device] = texts(words)? else { return None };
            ends(device, "device").then_some((FULL, 6))
        }
        "Disk" | "disk" if ends_message => {
            let [_, _, "quota", exceeded] = texts(words)? else { return None };
            ends(exceeded, "exceeded").then_some((QUOTA, 4))
        }
        "Input/output" if ends_message => {
            let [_, _, error] = texts(words)?;
            ends(error, "error").then_some((FAILED, 3))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn errors_of_any_program_are_counted() {
        let text = "broker-1  | 2026-03-08 16:42:33,730 ERROR Error while appending records to a-0 in dir /a: java.io.IOException: No space left on device\n\
            broker-1  |   at java.base/sun.nio.ch.FileDispatcherImpl.write0(FileDispatcherImpl.java)\n\
            write /var/lib/a: no space left on device\n\
            [ERROR] InnoDB: Error number 28 means 'No space left on device'\n\
            tar: a: Cannot write: Disk quota exceeded\n\
            Error: No space left on device (os error 28)\n\
            [2026-06-06T06:23:35,113][WARN ][DiskThresholdMonitor] flood stage disk watermark [95%] exceeded on [a] free: 4.9gb (4.0%)\n\
            dd: error reading '/dev/sdb': Input/output error\n\
            ERROR:  could not read block 7 in file \"base/1/2\": Input/output error\n\
            fio: io_u error on file a: Input/output error: read offset=0, buflen=4096\n";
        let reading = one(text, "failed calls");
        let count = |of: &str| reading.row(of).and_then(|row| row.value("count"));
        assert_eq!((count("no space left"), count("quota used up")), (Some(5.0), Some(1.0)));
        assert_eq!(count("input/output error"), Some(3.0));
    }

    #[test]
    fn prose_about_it_is_no_error() {
        for text in [
            "We saw No space left on device once.\n",
            "It has: no space left on devices of that kind, they say\n",
            "The message means No space left on device\n",
            "Note: No space left for jokes\n",
            "We saw an Input/output error once\n",
            "It knows: Input/output errors of all kinds\n",
        ] {
            assert!(all(text, "failed calls").is_empty(), "{text}");
        }
    }
}
