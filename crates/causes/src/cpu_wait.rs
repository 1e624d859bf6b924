//! `cpu-wait`: not I/O. The operation, or somebody it waited for, could have run and had no processor.

use crate::case::Case;
use crate::paths;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;

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
        let (mut v, _) = paths::judge(case, self.name(), what, pick);
        if v.verdict != Answer::Found {
            return v;
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
