//! What the slowest operations waited for: the waits around each part of their time.
//!
//! A reason says where a nanosecond passed (in the device); a path says inside which waits (for a stable page). Causes
//! that are about a wait claim the time of its paths, reason by reason, so that nothing is claimed twice.

use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::proof::{proof, Proof};
use crate::thresholds::alone::MOSTLY;
pub(crate) use crate::thresholds::paths::WORTH_NAMING;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use operation::{Node, Part, Waits, Wakeup};
use stats::{Group, SampledOperation, TailRow};
use std::collections::BTreeMap;
use trace::{works_for_others, Nanos};
use units::words::{count, percent};
use waits::{Phase, Selection};

/// The verdict of a cause about operations if only the block layer was recorded.
pub(crate) fn unrecorded(cause: &'static str) -> Verdict {
    let missing = "only the block layer was recorded; for waits above it: sudo iowhy record";
    Verdict { minor: true, ..Verdict::cannot_tell(cause, missing) }
}

/// The task that sent most of the wanted wake-ups to sampled operations, and how many. Kernel threads are left out
/// because they wake for other tasks; so are interrupts.
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

/// The slowest operations of one group, with their time by path.
pub(crate) struct Paths<'a> {
    pub group: &'a Group,
    pub number: usize,
    /// The sampled operations of the group's task.
    sampled: Vec<&'a SampledOperation>,
    time: BTreeMap<(Waits, Reason), Nanos>,
}

impl<'a> Paths<'a> {
    /// The paths of each group of operations that matters and is slow.
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

    /// The tail's time of the picked paths.
    pub fn time(&self, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        self.time.iter().filter(|((w, r), _)| pick(*w, *r)).map(|(_, t)| *t).sum()
    }

    /// A time as a part of the group's tail, 0 to 1.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// Claims the unclaimed time of the picked paths, and returns how much was claimed. Time in which the device
    /// completed nothing is left for the causes in the device: a path is a place, not the reason for such a pause.
    pub fn claim(&self, case: &mut Case, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        self.claim_up_to(case, Nanos(u64::MAX), pick)
    }

    /// Like [`claim`](Paths::claim), up to a limit.
    pub fn claim_up_to(&self, case: &mut Case, most: Nanos, pick: impl Fn(Waits, Reason) -> bool) -> Nanos {
        case.claim_rows(self.number, most, |row| row.phase != Phase::Paused && pick(row.waits, row.reason))
    }

    /// The part of the sampled operations' time, 0 to 1, in sleeps with one of these functions on the stack.
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

    /// Whether a stack is known for any sleep of the sampled operations.
    pub fn has_stacks(&self) -> bool {
        let known = |node: &Node| matches!(node.part, Part::Wait { stack: Some(_), .. });
        self.sampled.iter().any(|sampled| sampled.account.nodes.iter().any(known))
    }

    /// The part of the sampled operations that were on this inode, 0 to 1.
    pub fn inode_share(&self, inode: u64) -> f64 {
        let on_it = self.sampled.iter().filter(|k| k.operation.inode == inode);
        on_it.count() as f64 / self.sampled.len().max(1) as f64
    }

    /// The sampled operation with the most time in the picked paths, and that time.
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

    /// Adds evidence to a verdict: the time `spent` in some paths, and whether others have claimed some of it; `what` ends the sentence.
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
        // A difference that does not show in print is left out.
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

/// A wait that is a cause: found in each group in which it has at least a tenth of the slowest operations' time.
#[derive(Clone, Copy)]
pub(crate) struct Waited {
    /// Ends the sentence "they spent 12 % of their time ...".
    doing: &'static str,
    /// Which paths count as the wait.
    pick: fn(Waits, Reason) -> bool,
    /// In which groups it counts.
    of: fn(&Case, &Group) -> bool,
    /// Whether time in the device behind another task's requests is left unclaimed: the wait is where it passed, the other task is why.
    own: bool,
    /// A phase in the device that counts as the same wait.
    also: Option<Phase>,
}

impl Waited {
    pub(crate) const fn new(doing: &'static str, pick: fn(Waits, Reason) -> bool) -> Waited {
        Waited { doing, pick, of: |_, _| true, own: false, also: None }
    }

    /// Restricts it to some groups.
    pub(crate) const fn of(self, of: fn(&Case, &Group) -> bool) -> Waited {
        Waited { of, ..self }
    }

    /// Leaves out time in the device behind another task's requests.
    pub(crate) const fn own(self) -> Waited {
        Waited { own: true, ..self }
    }

    /// Adds a phase in the device to what is claimed.
    pub(crate) const fn also(self, phase: Phase) -> Waited {
        Waited { also: Some(phase), ..self }
    }

    /// The verdict of the cause that is this wait, and the groups in which it was found.
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

    /// The rows of all operations of a group that are this wait, and their part of the time; `None` unless that is most of the
    /// time, long enough to matter, and of enough operations. For groups whose slowest operations waited for something else.
    fn of_all(&self, case: &Case, paths: &Paths) -> Option<(Vec<TailRow>, f64)> {
        let group = paths.group;
        let rows = group.rows(&case.facts.waits, Selection::default()).into_iter();
        let its: Vec<TailRow> = rows.filter(|row| self.is_its(case, group, row)).collect();
        let time: f64 = its.iter().map(|row| case.part_left(paths.number, row) * row.time.0 as f64).sum();
        let part = time / group.all.time.total.0.max(1) as f64;
        let matters = time >= MIN_SHARE * case.facts.duration().0 as f64;
        (part >= MOSTLY && matters && group.operations >= MIN_SAMPLES).then_some((its, part))
    }

    /// Whether a row is claimed. A wait is a place, not the reason why the device completed nothing meanwhile or a
    /// processor handled the completion late: such time is left for the causes in the device and of processors.
    fn is_its(&self, case: &Case, group: &Group, row: &TailRow) -> bool {
        let leaves = self.own && is_behind_another(case, group, row);
        let of_others = matches!(row.phase, Phase::Paused | Phase::Late);
        !leaves && (self.also == Some(row.phase) || !of_others && (self.pick)(row.waits, row.reason))
    }
}

/// Whether a row is time in the device behind another task's requests.
pub(crate) fn is_behind_another(case: &Case, group: &Group, row: &TailRow) -> bool {
    let culprit = case.facts.waits.culprit_of(row.culprit);
    let another = culprit.is_somebody() && culprit.name.as_deref() != Some(&*group.task);
    row.phase == Phase::Behind && another
}
