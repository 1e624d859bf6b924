//! A file system that could not be mounted, or was mounted without one of its devices: `file-system-error` is suspected.
//!
//! The log says that, and not why: a device may be unplugged, have failed, or come later; options may be wrong.

use super::logged::{logged, Logged};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{LogFact, ToolOutput};

/// Kinds of lines: devices that the file system does not find, and mounts that failed.
const MISSING: &str = "missing devices";
const FAILED: &str = "failed mounts";

const WHERE: &str =
    "where the missing device is: unplugged, failed, or behind a link that did not come up in time";
const WHY: &str = "why it could not be mounted: the lines before that one in dmesg tell of damage, a missing device or wrong options";

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = || outputs.iter().flat_map(|output| logged(output).into_iter().map(move |of| (output, of)));
    let said: Vec<Proof> = [MISSING, FAILED]
        .iter()
        .flat_map(|kind| all().filter_map(move |(output, of)| told(output, &of, kind)))
        .collect();
    let misses = all().any(|(_, of)| of.first(&[MISSING]).is_some());
    (!said.is_empty()).then_some(())?;
    let v = Verdict::cannot_tell("file-system-error", if misses { WHERE } else { WHY });
    let v = said.into_iter().fold(v, Verdict::because);
    Some(v.try_this(
        "which devices each file system has and which it lacks, by the serial numbers of those that are there",
        Action::look("btrfs filesystem show; lsblk -o NAME,FSTYPE,SIZE,UUID,MODEL,SERIAL"),
    ))
}

fn told(output: &ToolOutput, of: &Logged, kind: &str) -> Option<Proof> {
    let at = output.at(of.first(&[kind])?);
    let called = output.log_fact(LogFact::FileSystem, of.device).unwrap_or("the file system");
    Some(match kind {
        MISSING => proof!(
            "{called} on {device} does not find one of its devices ({at})",
            called,
            device = of.device,
            at
        ),
        _ => proof!("{called} on {device} could not be mounted ({at})", called, device = of.device, at),
    })
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn judged(text: &str) -> Vec<Verdict> {
        judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())])
    }

    const LACKS: &str =
        "[ 7.0] BTRFS warning (device sdc2): devid 4 uuid 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e is missing\n";
    const FAILS: &str = "[ 7.2] BTRFS error (device sdc2): open_ctree failed\n";

    #[test]
    fn what_is_missing_is_told_before_what_failed_for_it() {
        let all = judged(&format!("{LACKS}{FAILS}"));
        let said: Vec<String> = all[0].evidence.iter().map(|proof| proof.sentence()).collect();
        assert_eq!(
            said,
            [
                "btrfs on sdc2 does not find one of its devices (dmesg:1)",
                "btrfs on sdc2 could not be mounted (dmesg:2)"
            ]
        );
        assert_eq!((all[0].cause, all[0].verdict), ("file-system-error", Answer::CannotTell));
        assert!(all[0].missing[0].sentence().starts_with("where the missing device is"), "{all:?}");
        let alone = judged(FAILS);
        assert!(alone[0].missing[0].sentence().starts_with("why it could not be mounted"), "{alone:?}");
    }

    /// Damage that the log shows is a better answer.
    #[test]
    fn damage_explains_a_mount_that_fails() {
        let damage = "[ 7.1] BTRFS error (device sdc2): parent transid verify failed on 9 wanted 8 found 7\n"
            .repeat(2);
        let all = judged(&format!("{damage}{FAILS}"));
        assert_eq!((all.len(), all[0].verdict), (1, Answer::Found));
        assert!(all[0].evidence[0].sentence().contains("finds its data damaged"), "{all:?}");
    }
}
