//! Each cause on recordings built by hand: found, rejected, cannot tell, and at its thresholds.

mod all_causes;
mod alone;
mod background_remedies;
mod background_task;
mod by_the_clock;
mod completion_cpu;
mod device_busy;
mod device_errors;
mod device_saturated;
mod device_stall;
mod discards;
mod flush_cost;
mod healthy;
mod journal;
mod journal_commit;
mod larger_reads;
mod limits;
mod locks;
mod losses;
mod lost_merging;
mod measure;
mod misaligned;
mod no_limit;
mod operations;
mod pace;
mod paths;
mod power_state;
mod processors;
mod raid;
mod raid_resync;
mod read_ahead;
mod request_size;
mod scheduler_idling;
mod scheduler_starvation;
mod scheduler_throttle;
mod sizes;
mod slow;
mod stacked;
mod tag_exhaustion;
mod worker_cpu;
mod writeback_flood;

use crate::trace_builder::TraceBuilder;
use crate::verdict::{Answer, Confidence, Verdict};
use crate::{all, Cause};
use trace::Nanos;

const MS: u64 = 1000;
const KIB: u64 = 1;
const MIB: u64 = 1024 * KIB;

/// The share of a finding; panics with the reason if nothing was found.
fn found(v: &Verdict) -> f64 {
    assert_eq!(v.verdict, Answer::Found, "{v:?}");
    assert_eq!(v.claims.iter().map(|c| c.time).sum::<Nanos>(), v.explains, "{v:?}");
    assert!(!v.evidence.is_empty() && !v.refutes.is_empty() && v.confidence.is_some(), "{v:?}");
    v.share
}

/// What speaks against a rejected cause, and nothing else: then nothing is proved, nothing is claimed, and there is
/// nothing to do.
fn rejected(v: &Verdict) -> String {
    assert_eq!((v.verdict, v.share, v.refutes.len()), (Answer::Rejected, 0.0, 1), "{v:?}");
    assert!(v.evidence.is_empty() && v.remedies.is_empty() && v.claims.is_empty(), "{v:?}");
    v.refutes[0].sentence()
}

fn cannot_tell(v: &Verdict) -> String {
    assert_eq!((v.verdict, v.share), (Answer::CannotTell, 0.0), "{v:?}");
    assert!(v.evidence.is_empty() && v.remedies.is_empty() && v.claims.is_empty(), "{v:?}");
    v.missing[0].sentence()
}

/// For tables of thresholds: found above, rejected below, and nothing between.
fn is_found(v: &Verdict) -> bool {
    match v.verdict {
        Answer::Found => found(v) > 0.0,
        _ => rejected(v).is_empty(),
    }
}

/// The commands of a verdict, in order; none is proposed twice.
fn commands(v: &Verdict) -> Vec<String> {
    let all: Vec<String> = v.remedies.iter().map(crate::remedy::Remedy::command).collect();
    assert!((1..all.len()).all(|at| !all[..at].contains(&all[at])), "{v:?}");
    all.iter().for_each(|command| harmless(command));
    all
}

/// A load that writes does so in a directory, and tools are proposed only for devices that answer them.
fn harmless(command: &str) {
    let writes = command.contains("write --bs") && command.contains("fio");
    assert!(!writes || !command.contains("--filename=/dev"), "{command}");
    for (tool, of) in [("hdparm ", "/dev/sd"), ("smartctl ", "/dev/sd"), ("nvme smart", "/dev/nvme")] {
        assert!(!command.contains(tool) || command.contains(of), "{command}");
    }
}

/// Whether a sentence of the evidence contains this.
fn says(v: &Verdict, words: &str) -> bool {
    v.evidence.iter().any(|e| e.sentence().contains(words))
}

/// This many reads of 1 ms, one after the other; slow ones stand out against them.
fn quick_reads(recording: &mut TraceBuilder, from_ms: u64, count: u64) {
    for i in 0..count {
        let at = (from_ms + 2 * i) * MS;
        recording.read(at, at, at + MS);
    }
}
