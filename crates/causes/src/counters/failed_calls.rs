//! Calls that failed with EIO, by what any program prints: a suspicion of `device-errors`.
//!
//! The call does not say why: the device may have failed, the way to it, the file system that stopped, or a server. The kernel's log tells;
//! where the text has its lines, these are judged instead.

use super::place::{readings, rows, In};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Reading, ToolOutput};

/// Suspected if a program reports an input/output error, or a job of fio ended with one.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let told = printed(outputs).or_else(|| ended(outputs))?;
    let missing = "of which device, and why (the medium, the way to it, a server, a file system that stopped): dmesg -T of that time";
    Some(Verdict::cannot_tell("device-errors", missing).confirmed_by("dmesg -T").because(told).try_this(
        "what the kernel says of it",
        Action::look("dmesg -T | grep -iE 'error|reset|timeout|offline|shut'"),
    ))
}

fn printed(outputs: &[ToolOutput]) -> Option<Proof> {
    let mut all = rows(outputs, "failed calls").filter(|(_, row)| row.of == "input/output error");
    let (place, first) = all.find_map(|(place, row)| Some((place, row.get("count")?)))?;
    let more: f64 = all.filter_map(|(_, row)| row.value("count")).sum();
    Some(proof!(
        "{n} (EIO): programs could not read or write their data ({at})",
        n = Counted((first.value + more) as u64, "input/output error", "input/output errors"),
        at = Source(place.at(first))
    ))
}

fn ended(outputs: &[ToolOutput]) -> Option<Proof> {
    let failed = |(_, job): &(In, &Reading)| job.setting("error") == Some(EIO);
    let (place, job) = readings(outputs, "fio").find(failed)?;
    Some(proof!(
        "{job} ended with an input/output error (EIO): its numbers are of what came before ({at})",
        job = job.called(),
        at = Source(place.output.at(job.at).to_string())
    ))
}

/// include/uapi/asm-generic/errno-base.h
const EIO: &str = "5";

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn judged(text: &str) -> Vec<(&'static str, String)> {
        let all = judge_counters(&[ToolOutput::read("log", text.as_bytes())]);
        all.into_iter().map(|v| (v.cause, v.evidence[0].sentence())).collect()
    }

    #[test]
    fn a_failed_read_makes_the_device_suspect() {
        let dd = "dd: error reading '/dev/sdb': Input/output error\n12582912 bytes (13 MB, 12 MiB) copied, 31.2 s, 403 kB/s\n";
        let said = "1 input/output error (EIO): programs could not read or write their data (log:1)";
        assert_eq!(judged(dd), [("device-errors", said.to_owned())]);
    }

    #[test]
    fn a_job_of_fio_that_failed_is_told() {
        let of = |error: u32| {
            judged(&format!("w: (groupid=0, jobs=1): err= {error}: pid=9: Fri Sep  8 07:53:08 2023\n  write: IOPS=58, BW=132KiB/s (135kB/s)(21.0MiB/170299msec)\n"))
        };
        assert!(of(5)[0].1.starts_with("w ended with an input/output error (EIO)"), "{:?}", of(5));
        assert_eq!((of(0), of(22)), (vec![], vec![]));
    }

    #[test]
    fn the_kernels_own_lines_say_more() {
        let dd = "dd: error reading '/dev/sdb1': Input/output error\n";
        let end = "[ 9.0] attempt to access beyond end of device\n[ 9.0] sdb1: rw=0, want=39, limit=38\n";
        assert_eq!(judged(&format!("{dd}{end}"))[0].0, "file-system-error");
        let medium = "[ 9.0] critical medium error, dev sdb, sector 8 op 0x0:(READ)\n".repeat(2);
        assert!(judged(&format!("{dd}{medium}"))[0].1.starts_with("sdb: 2 medium errors"));
    }
}
