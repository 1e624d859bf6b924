//! When what was found did its harm: a finding has the groups and the reasons whose time it claims; its
//! moments are those in which the slowest of such a group spent most of its time for such a reason.

use crate::explanation::Explanation;
use crate::pictured::Pictured;
use causes::{Answer, Claim, Verdict};
use ledger::Reason;
use stats::{heat_lower, Moment};
use trace::Nanos;

/// A moment is marked if so much of what ended in it belongs to the slowest 1 %: ten times what would be by
/// chance.
const MARKED: f64 = 0.1;

/// A finding and what it explains.
pub struct Finding {
    /// The cause's name.
    pub cause: &'static str,
    /// How much of the tail's time it explains.
    pub share: f64,
    /// Places in what is drawn, and reasons: what several explain parts of belongs to the one with the
    /// largest part.
    pub explains: Vec<(usize, Reason)>,
}

/// The findings of a recording, of which this is drawn.
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

/// Why the slowest that ended in a moment waited, if it belongs to the tail.
pub fn why_slow(moment: &Moment, tail: Nanos) -> Option<Reason> {
    moment.slowest.filter(|(slowest, _)| *slowest >= tail).map(|(_, reason)| reason)
}

/// Whether much of what ended in a moment belongs to the tail; why its slowest waited. Where the tail begins
/// within a bucket, all of that bucket are counted: of the slowest alone it is known exactly.
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
