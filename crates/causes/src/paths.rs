//! What the slowest operations waited for, by the waits around each part of their time.
//!
//! A reason says where a nanosecond passed (in the device); a path says within which waits (a stable page). Causes that
//! are about a wait claim the time of its paths, reason by reason, so that nothing is claimed twice.

use crate::case::{Case, Claimable, MIN_SHARE};
use crate::proof::{proof, Proof};
pub(crate) use crate::thresholds::paths::WORTH_NAMING;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use operation::{Node, Part, Waits};
use stats::{Group, Kept, OpStats};
use std::collections::BTreeMap;
use trace::Nanos;
use waits::Phase;

/// The verdict of a cause about operations where none were recorded.
pub(crate) fn unrecorded(cause: &'static str) -> Verdict {
    let missing = "only the block layer was recorded; what waits above it shows in: sudo iowhy record";
    Verdict { minor: true, ..Verdict::cannot_tell(cause, missing) }
}

/// The slowest operations of one group.
pub(crate) struct Paths<'a> {
    pub group: &'a Group,
    pub number: usize,
    stats: &'a OpStats,
    time: BTreeMap<(Waits, Reason), Nanos>,
}

impl<'a> Paths<'a> {
    /// Of all groups that matter and are slow.
    pub fn of(case: &Case<'a>) -> Vec<Paths<'a>> {
        let of = |(number, group): (usize, &'a Group)| {
            let stats = case.facts.operations.groups.get(&group.op?)?;
            let mut time = BTreeMap::<(Waits, Reason), Nanos>::new();
            for row in case.rows(number) {
                *time.entry((row.waits, row.reason)).or_default() += row.time;
            }
            Some(Paths { group, number, stats, time })
        };
        case.slow_groups().filter_map(of).collect()
    }

    /// The time of some paths.
    pub fn time(&self, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        self.time.iter().filter(|((w, r), _)| pick(*w, *r)).map(|(_, t)| *t).sum()
    }

    /// A time as a part of the group's tail, 0 to 1.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// Claims the time of some paths; what others claimed before is not given again. A path is a place: that the device completed
    /// nothing meanwhile is not its doing, and is left for the causes in the device.
    pub fn claim(&self, case: &mut Case, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        self.claim_but(case, pick, |_| false)
    }

    /// The same, but for rows that are left to who is behind them.
    fn claim_but(
        &self,
        case: &mut Case,
        pick: impl Fn(Waits, Reason) -> bool,
        leave: impl Fn(&Claimable) -> bool,
    ) -> Nanos {
        let is_its =
            |row: &Claimable| row.phase != Phase::Paused && pick(row.waits, row.reason) && !leave(row);
        case.claim_rows(self.number, Nanos(u64::MAX), is_its)
    }

    /// The same, up to a time.
    pub fn claim_up_to(&self, case: &mut Case, most: Nanos, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        case.claim_rows(self.number, most, |row| row.phase != Phase::Paused && pick(row.waits, row.reason))
    }

    /// The part of the kept operations' time within sleeps on whose stack one of these functions is.
    pub fn kept_share(&self, functions: &[&str]) -> f64 {
        let (mut within, mut all) = (Nanos(0), Nanos(0));
        for kept in self.stats.slowest.all() {
            all += kept.operation.total();
            let mut inside: Option<u8> = None;
            for node in &kept.account.nodes {
                if inside.is_some_and(|depth| node.depth > depth) {
                    continue;
                }
                inside = None;
                let Part::Wait { stack: Some(id), .. } = &node.part else { continue };
                let stack = kept.texts.get(id).map_or("", String::as_str);
                if stack.split('\n').any(|f| functions.contains(&f)) {
                    within += node.length();
                    inside = Some(node.depth);
                }
            }
        }
        within.0 as f64 / all.0.max(1) as f64
    }

    /// Whether it is known where any of the kept operations slept.
    pub fn has_stacks(&self) -> bool {
        let known = |node: &Node| matches!(node.part, Part::Wait { stack: Some(_), .. });
        self.stats.slowest.all().iter().any(|kept| kept.account.nodes.iter().any(known))
    }

    /// The part of the kept operations that were on this file.
    pub fn inode_share(&self, inode: u64) -> f64 {
        let all = self.stats.slowest.all();
        all.iter().filter(|k| k.operation.inode == inode).count() as f64 / all.len().max(1) as f64
    }

    /// The kept operation with the most time of some paths, and that time.
    pub fn worst(&self, pick: impl Fn(Waits, Reason) -> bool) -> Option<(&'a Kept, Nanos)> {
        let of = |kept: &'a Kept| {
            let mut sum = Nanos(0);
            kept.account.each(|node, reason, waits, _| {
                if pick(waits, reason) {
                    sum += node.length();
                }
            });
            (kept, sum)
        };
        self.stats.slowest.all().iter().map(of).max_by_key(|(_, t)| *t)
    }

    /// Adds to a verdict what they `spent` in some paths, `what` says how, and how much of it was claimed.
    fn told(
        &self,
        verdict: Verdict,
        what: &'static str,
        spent: Nanos,
        claimed: Nanos,
        pick: impl Fn(Waits, Reason) -> bool,
    ) -> Verdict {
        let mut said = proof!(
            "the slowest {words} (from {from} on) spent {share} of their {total} {doing}",
            words = Text(self.group.words().into()),
            from = Time(self.group.tail.threshold),
            share = Share(self.share(spent)),
            total = Time(self.group.tail.sum.time.total),
            doing = Text(what.into())
        );
        if claimed < spent {
            said = proof!(
                "{said}; the causes above explain all but {left} of that",
                said = said,
                left = Time(claimed)
            );
        }
        let mut verdict = verdict.about(self.number).plus(claimed, Confidence::High).because(said);
        if let Some((kept, spent)) = self.worst(pick) {
            verdict = verdict.because(proof!(
                "the worst: {device} by {task} (tid {tid}), {total}, of which {spent} {what}",
                device = Text(kept.operation.kind.name().to_string()),
                task = Text(kept.task.to_string()),
                tid = Text(kept.operation.tid.0.to_string()),
                total = Time(kept.operation.total()),
                spent = Time(spent),
                what = Text(what.to_string())
            ));
        }
        verdict
    }
}

/// The judgement that all causes about a path share: it is found in each group in which the path has a tenth of the
/// slowest operations' time. `what` ends the sentence "they spent 12 % of their time ...".
pub(crate) fn judge(
    case: &mut Case,
    name: &'static str,
    what: &'static str,
    pick: impl Fn(Waits, Reason) -> bool + Copy,
) -> (Verdict, Vec<usize>) {
    judge_kinds(case, name, what, |_| true, pick)
}

/// The same, but time in the device behind another task's requests is left: the path is where it waited, the other one is why.
pub(crate) fn judge_own(
    case: &mut Case,
    name: &'static str,
    what: &'static str,
    pick: impl Fn(Waits, Reason) -> bool + Copy,
) -> (Verdict, Vec<usize>) {
    let table = &case.facts.waits;
    let behind_another = |group: &Group, row: &Claimable| {
        let culprit = table.culprit_of(row.culprit);
        row.phase == Phase::Behind && culprit.is_somebody() && culprit.name.as_deref() != Some(&*group.task)
    };
    judge_rows(case, name, what, |_| true, pick, behind_another)
}

/// The same of some groups only: `of` says which.
pub(crate) fn judge_kinds(
    case: &mut Case,
    name: &'static str,
    what: &'static str,
    of: impl Fn(&Group) -> bool,
    pick: impl Fn(Waits, Reason) -> bool + Copy,
) -> (Verdict, Vec<usize>) {
    judge_rows(case, name, what, of, pick, |_, _| false)
}

fn judge_rows(
    case: &mut Case,
    name: &'static str,
    what: &'static str,
    of: impl Fn(&Group) -> bool,
    pick: impl Fn(Waits, Reason) -> bool + Copy,
    leave: impl Fn(&Group, &Claimable) -> bool,
) -> (Verdict, Vec<usize>) {
    if case.facts.operations.is_empty() {
        return (unrecorded(name), vec![]);
    }
    let all = Paths::of(case);
    let all = all.into_iter().filter(|p| of(p.group));
    let mut verdict = Verdict::begin(name);
    let (mut found, mut best) = (vec![], (0.0, Proof::from("nothing that was slow waited so")));
    for paths in all {
        let spent = paths.time(pick);
        let share = paths.share(spent);
        let words = paths.group.words();
        if share < MIN_SHARE {
            if share > best.0 {
                best = (
                    share,
                    proof!(
                        "the slowest {words} spent {share} of their time {doing}",
                        words = Text(words.into()),
                        share = Share(share),
                        doing = Text(what.into())
                    ),
                );
            }
            continue;
        }
        let before = case.unclaimed_now();
        let claimed = paths.claim_but(case, pick, |row| leave(paths.group, row));
        if paths.share(claimed) < WORTH_NAMING {
            case.give_back(before);
            best = (
                share,
                proof!(
                    "other causes explain what the slowest {words} spent {doing}",
                    words = Text(words.into()),
                    doing = Text(what.into())
                ),
            );
            continue;
        }
        verdict = paths.told(verdict, what, spent, claimed, pick);
        found.push(paths.number);
    }
    if found.is_empty() {
        let mut v = Verdict::rejected(name, best.1);
        v.minor = best.0 < WORTH_NAMING;
        return (v, found);
    }
    (verdict.about_all(), found)
}
