//! A disk that was gone and came back under another name: what its new name is, beside `link-reset`.
//!
//! btrfs goes on with the old name, under which nothing answers any more: all its I/O to the disk fails, although the disk may be well.

use super::logged::{logged, DISCONNECTS};
use crate::proof::{proof, Proof};
use crate::verdict::Verdict;
use tooltext::{LogFact, ToolOutput};

/// Puts the new name before the other proofs.
pub(super) fn told(mut v: Verdict, outputs: &[ToolOutput]) -> Verdict {
    if let Some(said) = outputs.iter().find_map(of) {
        v.evidence.insert(0, said);
    }
    v
}

fn of(output: &ToolOutput) -> Option<Proof> {
    logged(output).into_iter().find_map(|device| {
        let gone = device.first(&[DISCONNECTS])?;
        Some(proof!(
            "{old} was gone and came back as {new} ({at}): btrfs goes on with the old name, so its I/O fails",
            old = device.device,
            new = output.log_fact(LogFact::NewName, device.device)?,
            at = output.at(gone)
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::Answer;
    use tooltext::ToolOutput;

    #[test]
    fn a_disk_that_came_back_is_not_defective() {
        let moved = "[ 31.0] BTRFS warning (device sdc): duplicate device fsid:devid for 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e:1 old:/dev/sdc new:/dev/sdk\n";
        let failed =
            "[ 12.0] BTRFS error (device sdc): bdev /dev/sdc errs: wr 4, rd 7, flush 0, corrupt 0, gen 0\n";
        for text in [format!("{failed}{moved}"), format!("{moved}{failed}")] {
            let all = judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())]);
            let causes: Vec<_> = all.iter().map(|v| (v.cause, v.verdict)).collect();
            assert_eq!(causes, [("link-reset", Answer::Found)], "{text}");
            let said = all[0].evidence[0].sentence();
            assert!(said.starts_with("sdc was gone and came back as sdk (dmesg:"), "{said}");
            assert!(all[0].remedies[0].command().starts_with("lsusb -t"), "{:?}", all[0].remedies);
        }
        assert_eq!(judge_counters(&[ToolOutput::read("dmesg", moved.as_bytes())]), []);
    }
}
