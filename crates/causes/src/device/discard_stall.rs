//! `discard-stall`: the device is told that blocks are no longer needed, and other requests wait meanwhile.
//!
//! A discard (TRIM, UNMAP) of many blocks can take a device tens of milliseconds, and many devices do nothing else
//! meanwhile. Proof: reads and writes beside a discard took many times as long as others. Refuted if they did not.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::proof;
use crate::remedy::Action;
use crate::shares::part_of_slow;
use crate::slow::Slow;
use crate::target::pause;
use crate::thresholds::discard_stall::{ENOUGH, SLOWER};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::{Class, Io};
use operation::{Kind, Purpose};
use stats::Group;
use trace::{works_for_others, Bytes, Call, Nanos};
use units::words::{shell, size};
use waits::{CulpritId, Phase};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "discard-stall",
    title: "the device is busy with discards (TRIM), and others wait meanwhile",
    nature: Nature::Contention,
    page: include_str!("../../pages/discard-stall.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow without discards beside them",
        otherwise: Otherwise::Never("no slow operation had a discard beside it"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    let discards = &slow.on.requests[Class::Other.index()];
    if slow.share(left) < MIN_SHARE || discards.count == 0 {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let (beside, clear) = (&slow.on.pace.beside_discards, &slow.on.pace.clear_of_discards);
    let (with, without) = (beside.quantile(0.5), clear.quantile(0.5));
    let told = proof!(
        "beside a discard requests took {with} in {name} (p50; {beside} of them), otherwise {without}",
        with = Nanos(with),
        name,
        beside = Count(beside.count()),
        without = Nanos(without)
    );
    if beside.count() < ENOUGH || clear.count() < ENOUGH || (with as f64) < SLOWER * without as f64 {
        return Said::Not(told);
    }
    let of_slow = part_of_slow(beside, clear, Nanos(slow.requests().d2c.quantile(0.99)));
    let excess = 1.0 - without as f64 / with.max(1) as f64;
    let wanted = Nanos((left.0 as f64 * of_slow * excess) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Not(proof!(
            "{told}; but those are only {of_slow} of the slowest",
            told,
            of_slow = Share(of_slow)
        ));
    }
    let before = case.unclaimed_now();
    let claimed = claim(case, slow, wanted);
    if slow.share(claimed) < MIN_SHARE {
        case.rollback(before);
        return Said::Not(proof!(
            "{told}; but the slowest {what} were behind discards for {claimed} of their time only",
            told,
            what = slow.words(),
            claimed = Share(slow.share(claimed))
        ));
    }
    let by = match (deleter(case, slow), case.main_task(slow.on, &[Class::Other])) {
        (Some(who), _) => format!(", most for files that {who} deleted"),
        (None, Some((task, _))) => format!(", most by {task}"),
        (None, None) => String::new(),
    };
    let mean = Bytes(discards.bytes.0 / discards.count.max(1));
    let v = v
        .plus(claimed, Confidence::Medium)
        .because(told)
        .because(proof!(
            "{name} was given {discards} discards of {mean} on average{by}; each took {p50} (p50)",
            name,
            discards = Count(discards.count),
            mean,
            by,
            p50 = Nanos(discards.d2c.quantile(0.5))
        ))
        .because(proof!(
            "{of_slow} of the slowest requests had a discard beside them",
            of_slow = Share(of_slow)
        ));
    Said::Found(remedies(v, case, slow, &name))
}

/// Claims time behind discards, and time in which the device was slower than alone; time behind anything else is not due to discards.
fn claim(case: &mut Case, slow: &Slow, wanted: Nanos) -> Nanos {
    if slow.is_below() {
        return case.claim(slow, Reason::Device, wanted);
    }
    let all = case.facts.waits.culprits();
    let discards: Vec<CulpritId> = all.filter(|(_, c)| c.io == Some(Io::Discard)).map(|(id, _)| id).collect();
    case.claim_rows(slow.group_number, wanted, |row| match row.phase {
        Phase::Behind => discards.contains(&row.culprit),
        Phase::Service | Phase::Varies => false,
        _ => row.reason == Reason::Device,
    })
}

/// The task that deleted most of the files whose blocks the file system discards. XFS discards from workers that serve all transactions:
/// there it is the task that deleted most files.
fn deleter<'a>(case: &Case<'a>, slow: &Slow) -> Option<&'a str> {
    let owner = case.facts.operations.owners(slow.on.id, Purpose::Discard).first().map(|(who, _)| *who);
    let deletes = |group: &&Group| {
        group.op.is_some_and(|op| op.kind == Kind::Call(Call::Unlink)) && group.dev == slow.group.dev
    };
    let most = || case.focus.groups.iter().filter(deletes).max_by_key(|group| group.operations);
    let is_sent_by_workers =
        || case.main_task(slow.on, &[Class::Other]).is_some_and(|(task, _)| works_for_others(task));
    owner.or_else(|| most().filter(|_| is_sent_by_workers()).map(|group| &*group.task))
}

fn remedies(mut v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    if let Some(m) = case.mount(slow.on.id).filter(|m| m.options.iter().any(|o| o == "discard")) {
        v = v.try_this(
            "do not discard as files are removed; trim once a week instead (fstrim.timer)",
            Action::Remount { mount: shell(&m.target), options: "nodiscard".into() },
        );
    }
    let sender = case.main_task_of(slow.on, &[Class::Other], |task| !works_for_others(task));
    let who = deleter(case, slow).or(sender.map(|(task, _)| task));
    if let Some(who) = who.filter(|who| *who != slow.group.task) {
        v = pause(v, case, &slow.group.task, who);
    }
    if let Some(now) = case.settings(slow.on.id).and_then(|s| s.number("queue/discard_max_bytes")) {
        let less = (now.value / 8).clamp(1 << 20, 64 << 20);
        // Smaller discards are not cut.
        let discards = &slow.on.requests[Class::Other.index()];
        v = v.when(
            discards.bytes.0 / discards.count.max(1) > less,
            format!(
                "smaller discards ({} -> {}): each holds the device for less time, if that depends on its size; else \
                 all together hold it so much longer: compare one fstrim",
                size(Bytes(now.value)),
                size(Bytes(less))
            ),
            Action::set(name, "queue/discard_max_bytes", less),
        );
    }
    v.try_this(
        "see when trims run; choose an hour of low load (systemctl edit fstrim.timer)",
        Action::look("systemctl list-timers fstrim.timer"),
    )
}
