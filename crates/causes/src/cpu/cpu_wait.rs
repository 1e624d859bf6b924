//! `cpu-wait`: not I/O. The operation, or a task that it waited for, could have run but had no processor. In such
//! groups, requests that the device had finished waited for the same processors.

use crate::case::{is_named, Case};
use crate::cause::{Cause, Judge, Nature};
use crate::cpu::quota;
use crate::device::expected::EXPECTED_FLASH;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::target::{is_over, pattern};
use crate::thresholds::cpu_wait::MOSTLY;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Node, Part};
use stats::Group;
use std::collections::BTreeMap;
use trace::Nanos;
use units::words::{shell, time};
use waits::{Phase, Selection};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "cpu-wait",
    title: "not I/O: it waited for a processor",
    nature: Nature::General,
    page: include_str!("../../pages/cpu-wait.md"),
    judge: Judge::Waited(
        Waited::new("waiting for a processor, not for storage", |_, reason| reason == Reason::WaitCpu)
            .of(matters)
            .also(Phase::Late),
        found,
    ),
};

/// Every task waits for a processor now and then. In a group that is fast even for flash, that matters if it is most of the time.
fn matters(_: &Case, g: &Group) -> bool {
    g.tail.p99 > EXPECTED_FLASH || g.tail.sum.time.share(Reason::WaitCpu) >= MOSTLY
}

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    let who = runners(case, groups);
    if !who.is_empty() {
        v = v.because(proof!(
            "while the slowest of them waited, the processors ran {who}",
            who = who.join(", ")
        ));
    }
    if let Some(cpus) = &case.system.cpus {
        v = v.because(proof!(
            "the host has {cpus} processors ({at})",
            cpus = Text(cpus.value.to_string()),
            at = cpus.at
        ));
    }
    let its = || groups.iter().map(|number| &case.focus.groups[*number]);
    let rows = its().flat_map(|group| group.rows(&case.facts.waits, Selection::default()));
    let waited = rows.filter(|row| row.reason == Reason::WaitCpu).map(|row| row.time).sum();
    if let Some(limited) = quota::met(case, its().map(|group| &*group.task), waited) {
        v = quota::raise(v, limited);
    }
    v = v.try_this(
        "see who uses the processors (%CPU), and how many tasks wait (pressure)",
        Action::look("top -b -n1 | head -20; cat /proc/pressure/cpu"),
    );
    // Weights and nice values count only among the tasks of one cgroup or session (sched(7), "The autogroup feature").
    if let Some(task) = slow_task(case, groups) {
        v = v.try_on(
            Acts::Victim,
            format!(
                "let {task} preempt ordinary tasks: costs the others little if it mostly sleeps; if it never \
                     sleeps it takes a processor for itself (chrt -o -p 0 undoes it)"
            ),
            match is_over(case, &task) {
                true => format!("chrt -f 1 COMMAND  # {}, which had ended", shell(&task)),
                false => format!("for t in $(pgrep -w -x {}); do chrt -f -p 1 $t; done", pattern(&task)),
            },
        );
    }
    v.try_on(
        Acts::Victim,
        "give the slow task more weight than the busy ones",
        "systemctl set-property SLOW.service CPUWeight=500",
    )
    .unless("operations just as slow on idle processors")
}

/// The tasks that ran while sampled operations waited for a processor, with their times; at most three, the longest first.
fn runners(case: &Case, groups: &[usize]) -> Vec<String> {
    let mut all = BTreeMap::<&str, Nanos>::new();
    let kept = groups.iter().flat_map(|g| case.sampled(&case.focus.groups[*g]));
    for ran in kept.flat_map(|k| k.ran.values().flatten()) {
        *all.entry(&ran.task).or_default() += ran.time;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
    all.into_iter().take(3).map(|(who, t)| format!("{who} ({})", time(t))).collect()
}

/// The task whose sampled operations waited longest for a processor, among those whose name is known.
fn slow_task(case: &Case, groups: &[usize]) -> Option<String> {
    let mut all = BTreeMap::<&str, Nanos>::new();
    let kept = groups.iter().flat_map(|g| case.sampled(&case.focus.groups[*g]));
    for kept in kept.filter(|k| is_named(&k.task)) {
        let waited = kept.account.nodes.iter().filter(|n| n.part == Part::Leaf(Reason::WaitCpu));
        *all.entry(&kept.task).or_default() += waited.map(Node::length).sum();
    }
    all.into_iter().max_by_key(|(_, time)| *time).map(|(task, _)| task.to_string())
}
