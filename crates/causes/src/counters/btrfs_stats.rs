//! Errors that btrfs counted for a device over the life of the file system: `device-errors` or `file-system-error` is suspected if nothing
//! tells more of it.
//!
//! Nobody knows of which time such a count is: it may be of a cable that was replaced years ago. Of a device that is not there, it says
//! only that.

use super::advice;
use super::place::rows;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use evidence::is_device_name;
use std::collections::HashSet;
use tooltext::{Number, Row, ToolOutput};
use units::words::counted;

/// Errors of reading and writing; data that was wrong though it was read: of another content, or of an earlier write.
const OF_IO: [(&str, &str); 3] =
    [("write error", "write errors"), ("read error", "read errors"), ("flush error", "flush errors")];
const OF_DATA: [(&str, &str); 2] =
    [("corruption error", "corruption errors"), ("generation error", "generation errors")];
/// How the reader calls devices that are not there.
const ABSENT: &str = "a missing device";
/// The most devices that are reported.
const MOST: usize = 4;

const MISSING: &str = "of which time they are: btrfs counts over the life of the file system; see whether the counts grow, and dmesg -T";

/// `device-errors`
pub(super) fn errors(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (v, first) = judge(outputs, "device-errors", &OF_IO)?;
    let disk = Some(first).filter(|name| is_device_name(name)).map_or(advice::DISK, evidence::whole_disk);
    let (shows, look) = advice::health(disk);
    Some(again(v.try_this(shows, look)))
}

/// `file-system-error`
pub(super) fn damage(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (v, _) = judge(outputs, "file-system-error", &OF_DATA)?;
    Some(again(v).try_this(
        "if the disks report no errors, test the memory: the errors that ECC counted are here",
        advice::memory(),
    ))
}

fn again(v: Verdict) -> Verdict {
    v.try_this(
        "whether the counts grow, and what the last scrub found",
        Action::look("btrfs device stats /MOUNTPOINT; btrfs scrub status /MOUNTPOINT"),
    )
}

/// The verdict on devices with such errors, those with the most first, and the first of them.
fn judge<'a>(
    outputs: &'a [ToolOutput],
    cause: &'static str,
    kinds: &[(&'static str, &'static str)],
) -> Option<(Verdict, &'a str)> {
    let of = |row: &Row| -> Vec<(Number, &'static str, &'static str)> {
        let all = kinds.iter().filter_map(|(one, many)| Some((row.get(many)?, *one, *many)));
        all.filter(|(n, ..)| n.value > 0.0).collect()
    };
    let all = rows(outputs, "btrfs stats")
        .filter(|(_, row)| row.of != ABSENT)
        .map(|(place, row)| (place, row, of(row)));
    let mut all: Vec<_> = all.filter(|(.., counts)| !counts.is_empty()).collect();
    let sum = |counts: &[(Number, &str, &str)]| counts.iter().map(|(n, ..)| n.value).sum::<f64>();
    all.sort_by(|(.., a), (.., b)| sum(b).total_cmp(&sum(a)));
    // A later report of a device repeats an earlier one.
    let mut known: HashSet<&str> = HashSet::new();
    all.retain(|(_, row, _)| known.insert(&row.of));
    let first = all.first()?.1.of.as_str();
    let v = Verdict::cannot_tell(cause, MISSING).confirmed_by("dmesg -T");
    let more = match all.len() as u64 - 1 {
        0 => String::new(),
        1 => ", and some of another device".to_owned(),
        n => format!(", and some of {}", counted(n, "other device", "other devices")),
    };
    let said = all.iter().take(MOST).map(|(place, row, counts)| {
        let each: Vec<String> =
            counts.iter().map(|(n, one, many)| counted(n.value as u64, one, many)).collect();
        proof!(
            "btrfs counted {errors} of {device} at some time ({at}){more}",
            errors = each.join(" and "),
            device = row.of.as_str(),
            more = if row.of == first { more.as_str() } else { "" },
            at = Source(place.at(counts[0].0))
        )
    });
    Some((said.fold(v, Verdict::because), first))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn judged(text: &str) -> Vec<Verdict> {
        judge_counters(&[ToolOutput::read("stats", text.as_bytes())])
    }

    fn stats(device: &str, counts: [u32; 5]) -> String {
        let names = ["write_io", "read_io", "flush_io", "corruption", "generation"];
        names.iter().zip(counts).map(|(name, n)| format!("[{device}].{name}_errs  {n}\n")).collect()
    }

    #[test]
    fn counts_of_a_life_are_a_suspicion() {
        let text = stats("/dev/sdq", [0; 5])
            + &stats("/dev/sdr1", [0, 12, 0, 1, 0])
            + &stats("/dev/sds", [9, 8, 0, 0, 0]);
        let all = judged(&text);
        let told: Vec<_> = all.iter().map(|v| (v.cause, v.verdict, v.evidence[0].sentence())).collect();
        assert_eq!(
            told,
            [
                (
                    "device-errors",
                    Answer::CannotTell,
                    "btrfs counted 9 write errors and 8 read errors of sds at some time (stats:11), and some of another device"
                        .to_owned()
                ),
                (
                    "file-system-error",
                    Answer::CannotTell,
                    "btrfs counted 1 corruption error of sdr1 at some time (stats:9)".to_owned()
                ),
            ]
        );
        assert_eq!(all[0].remedies[0].command(), "smartctl -a /dev/sds");
        assert_eq!(judged(&stats("/dev/sdq", [0; 5])), []);
    }

    #[test]
    fn a_device_that_is_not_there_has_no_errors_of_its_own() {
        assert_eq!(
            judged(
                "[ 1.0] BTRFS info (device sdq): bdev (efault) errs: wr 7, rd 9, flush 0, corrupt 0, gen 0\n"
            ),
            []
        );
    }

    /// Lines of now say more.
    #[test]
    fn the_kernels_log_is_told_instead() {
        let info =
            "[ 1.0] BTRFS info (device sdq): bdev /dev/sdq errs: wr 0, rd 9, flush 0, corrupt 3, gen 0\n";
        let error =
            "[ 9.0] I/O error, dev sdq, sector 8472 op 0x0:(READ) flags 0x3000 phys_seg 1 prio class 2\n"
                .repeat(3);
        let all = judged(&format!("{info}{error}"));
        let causes: Vec<_> = all.iter().map(|v| (v.cause, v.verdict)).collect();
        assert_eq!(causes, [("device-errors", Answer::Found), ("file-system-error", Answer::CannotTell)]);
        assert!(all[0].evidence[0].sentence().contains("in the kernel's log"), "{all:?}");
    }
}
