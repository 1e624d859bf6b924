//! `cpu-wait`: not I/O. The operation, or somebody it waited for, could have run and had no processor.

use crate::case::Case;
use crate::paths;
use crate::verdict::{Answer, Verdict};
use crate::words::time;
use crate::Cause;
use ledger::Reason;
use std::collections::BTreeMap;
use trace::Nanos;

/// The cause.
pub struct CpuWait;

impl Cause for CpuWait {
    fn name(&self) -> &'static str {
        "cpu-wait"
    }

    fn title(&self) -> &'static str {
        "not I/O: it waited for a processor"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/cpu-wait.md")
    }

    fn judge(&self, case: &mut Case) -> Verdict {
        let what = "waiting for a processor, not for storage";
        let pick = |_, reason| reason == Reason::WaitCpu;
        let (mut v, found) = paths::judge(case, self.name(), what, pick);
        if v.verdict != Answer::Found {
            return v;
        }
        let who = runners(case, &found);
        if !who.is_empty() {
            v = v.because(format!("while the slowest of them waited, the processors ran {}", who.join(", ")));
        }
        if let Some(cpus) = &case.system.cpus {
            v = v.because(format!("the host has {} processors ({})", cpus.value, cpus.at));
        }
        v.try_this(
            "who uses the processors: sort by %CPU; pressure says how many wait",
            "top -b -n1 | head -20; cat /proc/pressure/cpu",
        )
        .try_this(
            "give the slow task more weight than the busy ones",
            "systemctl set-property SLOW.service CPUWeight=500",
        )
        .try_this("let it preempt: costs the busy ones little, if it mostly sleeps", "chrt -f -p 1 PID")
        .unless("operations as slow on idle processors")
    }
}

/// Who ran meanwhile, over the operations that were kept, the longest first.
fn runners(case: &Case, groups: &[usize]) -> Vec<String> {
    let mut all = BTreeMap::<&str, Nanos>::new();
    let stats = |g: &usize| case.facts.operations.groups.get(&case.focus.groups[*g].op?);
    for ran in
        groups.iter().filter_map(stats).flat_map(|s| s.slowest.all()).flat_map(|k| k.ran.values().flatten())
    {
        *all.entry(&ran.task).or_default() += ran.time;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
    all.into_iter().take(3).map(|(who, t)| format!("{who} ({})", time(t))).collect()
}
