//! The quota of processor time of a task's control group: once it is used up in a period, its processes stop until the next period.
//!
//! Not a cause of its own: it says why a task waited for a processor that no other task needed (kernel/sched/fair.c, `throttle_cfs_rq`).

use crate::case::{Case, MIN_SHARE};
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::Verdict;
use evidence::{Limit, Limited};
use trace::Nanos;
use units::words::shell;

/// The quota that stopped these tasks for longest, if that is a visible part of the time that they waited for a processor.
pub(crate) fn met<'c, 't>(
    case: &Case<'c>,
    tasks: impl Iterator<Item = &'t str>,
    waited: Nanos,
) -> Option<&'c Limited> {
    let processes = tasks.flat_map(|task| case.facts.operations.processes_of(task));
    case.system.quota_met(processes, Nanos((MIN_SHARE * waited.0 as f64) as u64))
}

/// Adds which quota that is, and a remedy that doubles it.
pub(crate) fn raise(v: Verdict, limited: &Limited) -> Verdict {
    let Limited { file, limit: Limit::Cpu { quota, period, periods, stopped }, .. } = limited else {
        return v;
    };
    let percent = quota.saturating_mul(200) / (*period).max(1);
    let value = match file.ends_with("cpu.max") {
        true => format!("\"{} {period}\"", quota.saturating_mul(2)),
        false => quota.saturating_mul(2).to_string(),
    };
    v.because(proof!(
        "its control group may run {part:.2} processors ({file}) and had used that up {periods}: its threads were stopped for {stopped} in all",
        part = Ratio(*quota as f64 / (*period).max(1) as f64),
        file = Text(file.clone()),
        periods = Counted(*periods, "time", "times"),
        stopped = *stopped
    ))
    .try_on(
        Acts::Victim,
        format!("a larger quota of processor time for its control group (of a service: systemctl set-property SERVICE CPUQuota={percent}%), before it for \
         the groups above it that allow less: it may take more from others"),
        format!("echo {value} > {}", shell(file)),
    )
}
