//! `writeback-throttle`: writes wait in wbt, which throttles them so that reads stay fast.

use crate::case::{Case, Claimable};
use crate::cause::{Cause, Judge, Nature};
use crate::growth::does_no_more;
use crate::interfering::mostly_behind;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::target::pause_writer;
use crate::thresholds::WBT_DISK;
use crate::verdict::Verdict;
use ledger::Reason;
use life::Io;
use operation::Wait;
use trace::works_for_others;
use waits::CulpritKind;

/// Name, title, page and judgement of this cause.
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

/// Whether a group is mostly throttled behind its own writes, or behind writeback that it waits for as well, on a
/// device that does no more with more in it: admitted sooner, these writes would queue in the device. Measured: 1,500
/// writes of one fsync take 3.02 s with the target at 2 ms and at 8 ms, and 3.01 s without; 150 MiB at 120 MB/s take
/// 1.34 s with and without.
pub(crate) fn stands_in_its_own_line(case: &Case, group: usize) -> bool {
    let is_own_write = |row: &Claimable| {
        let by = case.facts.waits.culprit_of(row.culprit);
        // A sync that was going on when the recording began had sent writes before.
        let is_before = by.name.as_deref() == Some("?") && by.io == Some(Io::SyncWrite);
        let is_waited_for = by.kind == CulpritKind::Own || row.waits.has(Wait::OwnData) || is_before;
        is_waited_for && by.io.is_some_and(|io| io != Io::Read)
    };
    let (mut own, mut all) = (0, 0);
    for row in case.rows(group).iter().filter(|row| row.reason == Reason::WritebackThrottle) {
        own += if is_own_write(row) { row.time.0 } else { 0 };
        all += row.time.0;
    }
    own > all / 2 && Slow::of(case.facts, group, &case.focus.groups[group]).iter().any(does_no_more)
}

/// The other task behind whose writeback a group is mostly throttled, if there is one: admitted sooner, the group would
/// wait for the same writes in the device. Measured, an fdatasync beside a copy: 161 to 189 ms with the target at 2 ms,
/// 156 and 160 ms at 8 ms, 230 and 275 ms without; 7 to 11 ms without the copy.
pub(crate) fn behind_writeback_of(case: &Case, group: usize) -> Option<String> {
    mostly_behind(case, group, Reason::WritebackThrottle, |io| io == Io::BackgroundWrite)
}

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let dev = case.focus.groups[number].dev;
        let name = case.name(dev);
        let behind = behind_writeback_of(case, number);
        let victim = &case.focus.groups[number].task;
        let holds_back = |v: Verdict, who: &str| match works_for_others(who) {
            true => v,
            false => pause_writer(v, case, victim, who),
        };
        if stands_in_its_own_line(case, number) {
            v = v.because(proof!(
                "{what} were throttled behind writes that they wait for anyway, and {name} does no more with more \
                     in it: admitted sooner, they would wait there",
                what = case.focus.groups[number].words(),
                name
            ));
            // What a sync waits for is often another task's data.
            v = behind.iter().fold(v, |v, who| holds_back(v, who));
            continue;
        }
        if let Some(who) = behind {
            v = v.because(proof!(
                "{what} were throttled behind writeback for {who}: admitted sooner, they would wait for it in {name}",
                what = case.focus.groups[number].words(),
                who = who.clone(),
                name
            ));
            v = holds_back(v, &who);
            continue;
        }
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
