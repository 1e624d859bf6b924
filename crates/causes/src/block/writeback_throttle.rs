//! `writeback-throttle`: writes wait in wbt, which holds them back so that reads stay fast.

use crate::case::Case;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::WBT_DISK;
use crate::verdict::Verdict;
use crate::{Cause, Judge, Nature};
use ledger::Reason;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "writeback-throttle",
    title: "writeback throttling (wbt) delays writes",
    nature: Nature::Everyday,
    page: include_str!("../../pages/writeback-throttle.md"),
    judge: Judge::Waited(
        Waited::new("throttled by wbt (wbt_wait)", |_, reason| reason == Reason::WritebackThrottle),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let dev = case.focus.groups[number].dev;
        let name = case.name(dev);
        let now = case.settings(dev).and_then(|s| s.wbt_lat_usec());
        if let Some(wbt) = &now {
            v = v.because(proof!(
                "wbt_lat_usec of {name} targets a read latency of {wbt} ({at})",
                name,
                wbt = wbt.value,
                at = wbt.at
            ));
        }
        let target = now.map_or(WBT_DISK.0 / 1000, |w| (w.value.0 / 1000).max(1) * 4);
        v = v
            .try_this(
                "raise its target read latency: admits more writes at a time, reads wait longer",
                Action::set(&name, "queue/wbt_lat_usec", target),
            )
            .try_this(
                "turn it off, if nothing reads while it writes",
                Action::set(&name, "queue/wbt_lat_usec", 0),
            );
    }
    v.unless("writes just as slow with wbt_lat_usec 0")
}
