//! Finds the moments in which a cause did harm. A finding has the groups and the reasons whose time it claims; its moments are those
//! in which the slowest operation of such a group spent most of its time for such a reason.

use crate::explanation::Explanation;
use crate::pictured::Pictured;
use causes::{Answer, Claim, Verdict};
use ledger::Reason;
use stats::{heat_lower, Moment};
use trace::Nanos;

/// A moment is marked if at least this part of the operations that ended in it belongs to the slowest 1 %: ten times the part that
/// is expected by chance.
const MARKED: f64 = 0.1;

/// A cause that was found and what it explains.
pub struct Finding {
    /// The cause's name. Example: `writeback-flood`.
    pub cause: &'static str,
    /// The share of the tail's time that it explains, 0 to 1.
    pub share: f64,
    /// Indexes of what is drawn, each with a reason. If several findings claim the same pair, it belongs to the one with the largest
    /// claim.
    pub explains: Vec<(usize, Reason)>,
}

/// The findings of a recording. `drawn`: the kinds that are drawn, to which the findings refer by index.
pub fn findings(e: &Explanation, drawn: &[Pictured]) -> Vec<Finding> {
    let found: Vec<&Verdict> = e.verdicts.iter().filter(|v| v.verdict == Answer::Found).collect();
    let most = |claim: &Claim| {
        let same = |c: &&Claim| (c.group, c.reason) == (claim.group, claim.reason);
        let all = found.iter().flat_map(|v| v.claims.iter().filter(same));
        all.map(|c| c.time).max().unwrap_or_default()
    };
    let place = |claim: &Claim| {
        let group = e.focus.groups.get(claim.group)?;
        drawn.iter().position(|p| p.group.is_some_and(|g| std::ptr::eq(g, group)))
    };
    let finding = |v: &&Verdict| {
        let own = v.claims.iter().filter(|c| c.time == most(c));
        let explains = own.filter_map(|c| Some((place(c)?, c.reason))).collect();
        Finding { cause: v.cause, share: v.share, explains }
    };
    found.iter().map(finding).collect()
}

/// The reason for which the slowest operation that ended in a moment waited; `None` if it does not belong to the tail.
pub fn why_slow(moment: &Moment, tail: Nanos) -> Option<Reason> {
    moment.slowest.filter(|(slowest, _)| *slowest >= tail).map(|(_, reason)| reason)
}

/// Like [`why_slow`], but `None` unless at least a tenth of what ended in the moment belongs to the tail. If the tail begins within
/// a bucket, the whole bucket counts; only the slowest operation is known exactly.
pub fn marked(moment: &Moment, tail: Nanos) -> Option<Reason> {
    let above = moment.heat.counts().iter().filter(|(bucket, _)| heat_lower(bucket + 1) > tail);
    let slow: u64 = above.map(|(_, n)| u64::from(*n)).sum();
    why_slow(moment, tail).filter(|_| slow as f64 >= MARKED * moment.completed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_without_one_of_the_slowest_is_not_marked() {
        let of = |latencies: &[u64]| {
            let mut moment = Moment::default();
            latencies.iter().for_each(|ns| {
                moment.heat.record(Nanos(*ns));
                moment.completed += 1;
                moment.slowest = moment.slowest.max(Some((Nanos(*ns), Reason::Device)));
            });
            moment
        };
        let tail = Nanos(19_700_000);
        assert_eq!(marked(&of(&[19_500_000; 9]), tail), None, "in the tail's bucket, below the tail");
        assert_eq!(marked(&of(&[1000, 19_800_000]), tail), Some(Reason::Device));
        let mut many = vec![1000; 20];
        many.push(19_800_000);
        assert_eq!(marked(&of(&many), tail), None, "one of 21");
        assert_eq!(why_slow(&of(&many), tail), Some(Reason::Device));
    }
}
