//! `writeback-throttle`: writes wait in wbt, which holds them back so that reads stay fast.

use crate::case::Case;
use crate::paths;
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::WBT_DISK;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "writeback-throttle",
    title: "writeback throttling (wbt) holds writes back",
    page: include_str!("../../pages/writeback-throttle.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "held back by writeback throttling (wbt_wait)";
    let pick = |_, reason| reason == Reason::WritebackThrottle;
    let (mut v, found) = paths::judge(case, CAUSE.name, what, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    for number in found {
        let dev = case.focus.groups[number].dev;
        let name = case.name(dev);
        let now = case.settings(dev).and_then(|s| s.wbt_lat_usec());
        if let Some(wbt) = &now {
            v = v.because(proof!(
                "wbt_lat_usec of {name} aims at reads of {wbt} ({at})",
                name = Text(name.to_string()),
                wbt = Time(wbt.value),
                at = Source(wbt.at.to_string())
            ));
        }
        let target = now.map_or(WBT_DISK.0 / 1000, |w| (w.value.0 / 1000).max(1) * 4);
        v = v
            .try_this(
                "let it aim at slower reads: more writes are let in at a time, reads wait longer",
                Action::set(&name, "queue/wbt_lat_usec", target),
            )
            .try_this(
                "turn it off, if nobody reads while it writes",
                Action::set(&name, "queue/wbt_lat_usec", 0),
            );
    }
    v.unless("writes as slow with wbt_lat_usec 0")
}
