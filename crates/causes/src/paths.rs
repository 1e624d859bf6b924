//! What the slowest operations waited for, by the waits around each part of their time.
//!
//! A reason says where a nanosecond passed (in the device); a path says within which waits (a stable page). Causes that
//! are about a wait claim the time of its paths, reason by reason, so that nothing is claimed twice.

use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::proof::{proof, Proof};
use crate::thresholds::alone::MOSTLY;
pub(crate) use crate::thresholds::paths::WORTH_NAMING;
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, percent};
use ledger::Reason;
use operation::{Node, Part, Waits, Wakeup};
use stats::{Group, SampledOperation, TailRow};
use std::collections::BTreeMap;
use trace::{works_for_others, Nanos};
use waits::{Phase, Selection};

/// The verdict of a cause about operations where none were recorded.
pub(crate) fn unrecorded(cause: &'static str) -> Verdict {
    let missing = "only the block layer was recorded; for waits above it: sudo iowhy record";
    Verdict { minor: true, ..Verdict::cannot_tell(cause, missing) }
}

/// The task of which most of the wanted wake-ups of kept operations came, and how many. A kernel thread wakes for another task, and is
/// not named.
pub(crate) fn awakener(
    case: &Case,
    groups: &[usize],
    wanted: impl Fn(&SampledOperation, &Wakeup) -> bool,
) -> Option<(String, u64)> {
    let mut all = BTreeMap::<&str, u64>::new();
    for sampled in groups.iter().flat_map(|g| case.sampled(&case.focus.groups[*g])) {
        let woke = sampled.account.hops.iter().filter(|h| !h.interrupt && wanted(sampled, h));
        for name in woke.filter_map(|h| sampled.names.get(&h.by)).filter(|n| !works_for_others(n)) {
            *all.entry(name).or_default() += 1;
        }
    }
    let (who, times) = all.into_iter().max_by_key(|(_, n)| *n)?;
    Some((who.to_string(), times))
}

/// The slowest operations of one group.
pub(crate) struct Paths<'a> {
    pub group: &'a Group,
    pub number: usize,
    /// Those that were kept.
    sampled: Vec<&'a SampledOperation>,
    time: BTreeMap<(Waits, Reason), Nanos>,
}

impl<'a> Paths<'a> {
    /// Of all groups that matter and are slow.
    pub fn of(case: &Case<'a>) -> Vec<Paths<'a>> {
        let of = |(number, group): (usize, &'a Group)| {
            case.facts.operations.groups.get(&group.op?)?;
            let sampled = case.sampled(group);
            let mut time = BTreeMap::<(Waits, Reason), Nanos>::new();
            for row in case.rows(number) {
                *time.entry((row.waits, row.reason)).or_default() += row.time;
            }
            Some(Paths { group, number, sampled, time })
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
        self.claim_up_to(case, Nanos(u64::MAX), pick)
    }

    /// The same, up to a time.
    pub fn claim_up_to(&self, case: &mut Case, most: Nanos, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        case.claim_rows(self.number, most, |row| row.phase != Phase::Paused && pick(row.waits, row.reason))
    }

    /// The part of the kept operations' time within sleeps on whose stack one of these functions is.
    pub fn kept_share(&self, functions: &[&str]) -> f64 {
        let (mut within, mut all) = (Nanos(0), Nanos(0));
        for sampled in &self.sampled {
            all += sampled.operation.total();
            let mut inside: Option<u8> = None;
            for node in &sampled.account.nodes {
                if inside.is_some_and(|depth| node.depth > depth) {
                    continue;
                }
                inside = None;
                let Part::Wait { stack: Some(id), .. } = &node.part else { continue };
                let stack = sampled.texts.get(id).map_or("", String::as_str);
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
        self.sampled.iter().any(|sampled| sampled.account.nodes.iter().any(known))
    }

    /// The part of the kept operations that were on this file.
    pub fn inode_share(&self, inode: u64) -> f64 {
        let on_it = self.sampled.iter().filter(|k| k.operation.inode == inode);
        on_it.count() as f64 / self.sampled.len().max(1) as f64
    }

    /// The kept operation with the most time of some paths, and that time.
    pub fn worst(&self, pick: impl Fn(Waits, Reason) -> bool) -> Option<(&'a SampledOperation, Nanos)> {
        let of = |sampled: &'a SampledOperation| {
            let mut sum = Nanos(0);
            sampled.account.each(|node, reason, waits, _| {
                if pick(waits, reason) {
                    sum += node.length();
                }
            });
            (sampled, sum)
        };
        self.sampled.iter().copied().map(of).max_by_key(|(_, t)| *t)
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
            "the slowest {words} ({from} or more) spent {share} of their {total} {doing}",
            words = self.group.words(),
            from = self.group.tail.threshold,
            share = Share(self.share(spent)),
            total = self.group.tail.sum.time.total,
            doing = what
        );
        // What would read as nothing is not told.
        if percent(self.share(claimed)) != percent(self.share(spent)) {
            said = proof!(
                "{said}; other causes explain {rest} of that",
                said = said,
                rest = spent.since(claimed)
            );
        }
        let mut verdict = verdict.about(self.number).plus(claimed, Confidence::High).because(said);
        if let Some((sampled, spent)) = self.worst(pick) {
            verdict = verdict.because(proof!(
                "the worst: {device} by {task} (tid {tid}), {total}, of which {spent} {what}",
                device = sampled.operation.kind.name(),
                task = sampled.task,
                tid = Text(sampled.operation.tid.0.to_string()),
                total = sampled.operation.total(),
                spent,
                what
            ));
        }
        verdict
    }
}

/// What operations of some groups may wait in: found in each group in which that has a tenth of the slowest operations' time.
#[derive(Clone, Copy)]
pub(crate) struct Waited {
    /// Ends the sentence "they spent 12 % of their time ...".
    doing: &'static str,
    /// The waits.
    pick: fn(Waits, Reason) -> bool,
    /// Of which groups.
    of: fn(&Case, &Group) -> bool,
    /// Whether time in the device behind another task's requests is left: the wait is where it waited, the other one is why.
    own: bool,
    /// Time in the device that is the same wait.
    also: Option<Phase>,
}

impl Waited {
    pub(crate) const fn new(doing: &'static str, pick: fn(Waits, Reason) -> bool) -> Waited {
        Waited { doing, pick, of: |_, _| true, own: false, also: None }
    }

    /// Of some groups only.
    pub(crate) const fn of(self, of: fn(&Case, &Group) -> bool) -> Waited {
        Waited { of, ..self }
    }

    /// Except for time behind others.
    pub(crate) const fn own(self) -> Waited {
        Waited { own: true, ..self }
    }

    /// And a phase of the device's time, where the wait is found.
    pub(crate) const fn also(self, phase: Phase) -> Waited {
        Waited { also: Some(phase), ..self }
    }

    /// The verdict of a cause that is such a wait, and the groups in which it was found.
    pub(crate) fn ask(&self, case: &mut Case, name: &'static str) -> (Verdict, Vec<usize>) {
        if case.facts.operations.is_empty() {
            return (unrecorded(name), vec![]);
        }
        let all: Vec<Paths> = Paths::of(case).into_iter().filter(|p| (self.of)(case, p.group)).collect();
        let mut verdict = Verdict::begin(name);
        let (mut found, mut best) = (vec![], (0.0, Proof::from("no slow operation waited for this")));
        for paths in all {
            let spent = paths.time(self.pick);
            let share = paths.share(spent);
            let words = paths.group.words();
            if share < MIN_SHARE {
                if let Some((of_all, share)) = self.of_all(case, &paths) {
                    verdict = verdict.about(paths.number).plus(Nanos(0), Confidence::High).because(proof!(
                        "all {words} ({operations}) spent {share} of their {total} {doing}",
                        words,
                        operations = Text(count(paths.group.operations)),
                        share = Share(share),
                        total = paths.group.all.time.total,
                        doing = self.doing
                    ));
                    verdict.throughout.push((paths.number, share));
                    verdict.of_all.extend(of_all.iter().map(|row| (paths.number, row.chain, row.culprit)));
                    found.push(paths.number);
                } else if share > best.0 {
                    let said = proof!(
                        "the slowest {words} spent {share} of their time {doing}",
                        words,
                        share = Share(share),
                        doing = self.doing
                    );
                    best = (share, said);
                }
                continue;
            }
            let before = case.unclaimed_now();
            let its: Vec<bool> =
                case.rows(paths.number).iter().map(|row| self.is_its(case, paths.group, row)).collect();
            let claimed = case.claim_numbered(paths.number, Nanos(u64::MAX), |number| its[number]);
            if paths.share(claimed) < WORTH_NAMING {
                case.rollback(before);
                let said = proof!(
                    "other causes explain what the slowest {words} spent {doing}",
                    words,
                    doing = self.doing
                );
                best = (share, said);
                continue;
            }
            verdict = paths.told(verdict, self.doing, spent, claimed, self.pick);
            found.push(paths.number);
        }
        if found.is_empty() {
            let mut v = Verdict::rejected(name, best.1);
            v.minor = best.0 < WORTH_NAMING;
            return (v, found);
        }
        (verdict.about_all(), found)
    }

    /// What all operations of a group waited in this way, where that is most of their time and long enough to matter, though the slowest
    /// waited for something else; and which part of their time it is.
    fn of_all(&self, case: &Case, paths: &Paths) -> Option<(Vec<TailRow>, f64)> {
        let group = paths.group;
        let rows = group.rows(&case.facts.waits, Selection::default()).into_iter();
        let its: Vec<TailRow> = rows.filter(|row| self.is_its(case, group, row)).collect();
        let time: f64 = its.iter().map(|row| case.part_left(paths.number, row) * row.time.0 as f64).sum();
        let part = time / group.all.time.total.0.max(1) as f64;
        let matters = time >= MIN_SHARE * case.facts.duration().0 as f64;
        (part >= MOSTLY && matters && group.operations >= MIN_SAMPLES).then_some((its, part))
    }

    /// Whether a row is claimed. A wait is a place: that the device completed nothing meanwhile, or a processor saw it late, is not its
    /// doing, and is left for the causes in the device and of processors.
    fn is_its(&self, case: &Case, group: &Group, row: &TailRow) -> bool {
        let leaves = self.own && is_behind_another(case, group, row);
        let of_others = matches!(row.phase, Phase::Paused | Phase::Late);
        !leaves && (self.also == Some(row.phase) || !of_others && (self.pick)(row.waits, row.reason))
    }
}

/// Whether it is time in the device behind another task's requests.
pub(crate) fn is_behind_another(case: &Case, group: &Group, row: &TailRow) -> bool {
    let culprit = case.facts.waits.culprit_of(row.culprit);
    let another = culprit.is_somebody() && culprit.name.as_deref() != Some(&*group.task);
    row.phase == Phase::Behind && another
}
