//! `writeback-flood`: requests that a task waits for queue in the device behind writeback of buffered data.
//!
//! Claims the device time in which the device was flooded ([`life::FLOOD_DEPTH`], [`life::FLOOD_BYTES`]). Proof: the
//! same requests were fast when no writeback was in flight. Refuted if they were as slow then.

use crate::case::{Case, Claimable, MIN_SAMPLES, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::memory::own_writeback;
use crate::memory::writer::held_back;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::writeback_flood::{MIN_SLOWDOWN, MOSTLY};
use crate::thresholds::HALF_A_TURN;
use crate::thresholds::{WBT_DISK, WBT_FLASH};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::{Class, Io, FLOOD_BYTES, FLOOD_DEPTH};
use stats::{Device, Distribution, WrittenBack};
use trace::{Bytes, DevId, Nanos};
use units::words::size;
use waits::{CulpritId, Phase};

/// The proposed target of writeback throttling in us: the kernel's default for rotating or for other devices
/// (`wbt_default_latency_nsec`, block/blk-wbt.c), by measured reads, because virtual disks often report that they rotate.
pub(crate) fn wbt_target(device: &Device) -> u64 {
    let alone = device.contention[Class::Read.index()].by_depth.rows().find(|r| r.from == 0);
    match alone {
        Some(row) if row.mean >= HALF_A_TURN => WBT_DISK.0 / 1000,
        _ => WBT_FLASH.0 / 1000,
    }
}

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "writeback-flood",
    title: "writeback of buffered data fills the device, and everything else waits behind it",
    nature: Nature::Contention,
    page: include_str!("../../pages/writeback-flood.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow with no writeback in flight (compare the two times above)",
        otherwise: Otherwise::Nothing("no slow operation waited in a device"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    // Writeback is no victim of its own flood.
    if slow.class == Class::Background {
        return Said::Nothing;
    }
    let flooded = slow.flooded().min(case.unclaimed(slow, Reason::Device));
    if slow.share(flooded) < MIN_SHARE {
        return Said::Little(match slow.contention().background.max() {
            0 => "no writeback in flight beside slow operations".into(),
            _ => beside_a_flood(slow, flooded),
        });
    }
    let (with, without) = (&slow.contention().flooded, &slow.contention().clear);
    let compared = comparable(with.count().min(without.count()));
    match compared {
        Some((q, words)) => {
            let (beside, clear) = (with.quantile(q), without.quantile(q));
            if (beside as f64) < MIN_SLOWDOWN * clear as f64 {
                return Said::Not(proof!(
                    "{what} were as slow without writeback in flight: {clear} \
                     against {beside} ({words})",
                    what = slow.words(),
                    clear = Nanos(clear),
                    beside = Nanos(beside),
                    words
                ));
            }
        }
        None => {
            let mean = slow.each(|t| t.time.of(Reason::Device).0);
            if slow.share(flooded) < MOSTLY || mean < MIN_SLOWDOWN * usual(without).0 as f64 {
                return Said::Not(proof!(
                    "{said}; too few requests ran with and without it to compare",
                    said = beside_a_flood(slow, flooded)
                ));
            }
        }
    }
    let sure = match compared {
        Some((P99, _)) if !slow.is_below() => Confidence::High,
        _ => Confidence::Medium,
    };
    let claimed = match slow.is_below() {
        true => case.claim(slow, Reason::Device, flooded),
        false => {
            let background = background_writers(case);
            let is_its = |row: &Claimable| row.phase == Phase::Behind && background.contains(&row.culprit);
            case.claim_rows(slow.group_number, flooded, is_its)
        }
    };
    let v = prove(v.plus(claimed, sure), case, slow, flooded, compared);
    Said::Found(remedies(v, case, slow))
}

fn beside_a_flood(slow: &Slow, flooded: Nanos) -> Proof {
    proof!(
        "the slowest {what} spent {flooded} of their time beside a flood of writeback",
        what = slow.words(),
        flooded = Share(slow.share(flooded))
    )
}

/// The culprits of time behind writeback.
fn background_writers(case: &Case) -> Vec<CulpritId> {
    let all = case.facts.waits.culprits();
    all.filter(|(_, c)| c.io == Some(Io::BackgroundWrite)).map(|(id, _)| id).collect()
}

const P99: f64 = 0.99;

/// The quantile at which this many requests can be compared: a p99 needs a hundred, a p90 ten.
fn comparable(samples: u64) -> Option<(f64, &'static str)> {
    match samples {
        MIN_SAMPLES.. => Some((P99, "p99")),
        10.. => Some((0.9, "p90")),
        _ => None,
    }
}

/// The time of requests that were issued with no writeback in flight, and which number that is: the p90, since a few
/// meet a flood that begins just behind them; of fewer than ten requests, the slowest.
fn usual(clear: &Distribution) -> (u64, &'static str) {
    match clear.count() {
        10.. => (clear.quantile(0.9), "the p90"),
        _ => (clear.max(), "the slowest"),
    }
}

fn prove(
    mut v: Verdict,
    case: &Case,
    slow: &Slow,
    flooded: Nanos,
    compared: Option<(f64, &'static str)>,
) -> Verdict {
    let dev = slow.on.id;
    let beside = |v: Verdict| beside_and_without(v, slow, flooded, compared);
    // That it is only probable has to be seen first.
    v = match is_guessed(&case.facts.operations.written_back(dev)) {
        true => beside(whose(v, case, dev)),
        false => whose(beside(v), case, dev),
    };
    background_writes(v, case, slow)
}

/// Whether the owner of most of the data that was written back is only probable.
fn is_guessed(back: &WrittenBack) -> bool {
    2 * back.probably.0 > back.all.0
}

/// Adds who wrote most of the data that was written back to a device.
pub(crate) fn whose(v: Verdict, case: &Case, dev: DevId) -> Verdict {
    let (back, writers) = (case.facts.operations.written_back(dev), case.facts.operations.writers(dev));
    if let Some((who, _)) = writers.first().filter(|_| is_guessed(&back)) {
        return v.because(proof!(
            "{before} of the {all} that was written back had been written before the recording: probably by {who}, which leaves most in the \
             page cache now",
            before = back.probably,
            all = back.all,
            who = who.to_string()
        ));
    }
    if 2 * back.unknown.0 > back.all.0 {
        return v.because(proof!(
            "nobody was seen to write {unknown} of the {all} that was written back: written before the recording, or through a mapping",
            unknown = back.unknown,
            all = back.all
        ));
    }
    let known = writers.iter().filter(|(who, _)| *who != "?");
    let each: Vec<String> = known.take(2).map(|(who, bytes)| format!("{who} ({})", size(*bytes))).collect();
    match each.is_empty() {
        true => v,
        false => v.because(proof!(
            "the data that was written back had been written by {writers}",
            writers = each.join(", ")
        )),
    }
}

/// Adds how long requests took that were issued into a flood, and how long others took.
fn beside_and_without(
    v: Verdict,
    slow: &Slow,
    flooded: Nanos,
    compared: Option<(f64, &'static str)>,
) -> Verdict {
    let (with, without) = (&slow.contention().flooded, &slow.contention().clear);
    let flood = format!("a flood ({FLOOD_DEPTH} writes or {} of writeback in flight)", size(FLOOD_BYTES));
    let what = slow.words();
    if let Some((q, words)) = compared {
        return v.because(proof!(
            "issued into {flood}, {what} took {beside} in the device ({words}); with no writeback in flight, \
             {clear}",
            flood,
            what,
            beside = Nanos(with.quantile(q)),
            words,
            clear = Nanos(without.quantile(q))
        ));
    }
    let v = v.because(proof!(
        "the slowest {what} were in the device beside {flood} for {flooded} of their time",
        what,
        flood,
        flooded = Share(slow.share(flooded))
    ));
    if without.count() == 0 {
        return v;
    }
    let (time, which) = usual(without);
    v.because(proof!(
        "with no writeback in flight, {which} of {without} such requests was {time} in the device",
        which,
        without = Count(without.count()),
        time = Nanos(time)
    ))
}

/// Adds how much writeback there was: how many writes, how large, how many at once, and how long they took.
fn background_writes(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let writes = &slow.on.requests[Class::Background.index()];
    let most = slow.on.contention.iter().map(|c| c.background.max()).max().unwrap_or(0);
    let mean = |d2c: &Distribution| Nanos(d2c.mean() as u64);
    let most = most.max(slow.on.contention[Class::Background.index()].background.max() + 1);
    let all_writes = writes.count + slow.on.requests[Class::SyncWrite.index()].count;
    let every = slow
        .on
        .requests
        .iter()
        .map(|r| (r.d2c.sum(), r.d2c.count()))
        .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    v.because(proof!(
        "{writes} of the {all_writes} writes on {device} were writeback, of {each} on average, up to \
         {most} at once",
        writes = Count(writes.count),
        all_writes = Count(all_writes),
        device = case.name(slow.on.id),
        each = Bytes(writes.bytes.0 / writes.count.max(1)),
        most = Count(most)
    ))
    .because(match slow.requests().d2c.count() {
        0 => proof!("writeback took {writes} in the device (mean D2C)", writes = mean(&writes.d2c)),
        _ => proof!(
            "writeback took {writes} in the device (mean D2C), all requests together {all}, {what} alone \
             {alone}",
            writes = mean(&writes.d2c),
            all = Nanos((every.0 / every.1.max(1) as u128) as u64),
            what = slow.words(),
            alone = mean(&slow.requests().d2c)
        ),
    })
}

fn remedies(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    match own_writeback::told(v.clone(), case, slow) {
        Some(told) => told,
        None => throttled(v, case, slow),
    }
}

fn throttled(mut v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let dev = slow.on.id;
    let name = case.name(dev);
    let settings = case.settings(dev);
    let target = case.facts.device(dev).map_or(WBT_FLASH.0 / 1000, wbt_target);
    let costs = "limits writeback in flight when reads take longer; costs write throughput while others wait";
    let command = |us: u64| Action::set(&name, "queue/wbt_lat_usec", us);
    let bfq = settings.and_then(|s| s.scheduler()).filter(|s| s.value == "bfq");
    match settings.and_then(|s| s.wbt_lat_usec()) {
        _ if bfq.is_some() => {
            let at = bfq.map(|s| s.at.to_string()).unwrap_or_default();
            v = v
                .because(proof!("the scheduler is bfq ({at}), with which writeback throttling is off", at))
                .try_this(
                    format!(
                        "scheduler bfq -> none, so that writeback throttling works; then wbt_lat_usec \
                         {target}: {costs}"
                    ),
                    Action::set(&name, "queue/scheduler", "none"),
                );
        }
        Some(wbt) if wbt.value.0 == 0 => {
            v = v
                .because(proof!("writeback throttling is off: wbt_lat_usec is 0 ({at})", at = wbt.at))
                .try_this(format!("wbt_lat_usec 0 -> {target}: {costs}"), command(target));
        }
        Some(wbt) => {
            let us = wbt.value.0 / 1000;
            v = v.because(proof!(
                "writeback throttling is on: wbt_lat_usec is {us} ({at})",
                us = Text(us.to_string()),
                at = wbt.at
            ));
            if us > target {
                v = v.try_this(format!("wbt_lat_usec {us} -> {target}: {costs}"), command(target));
            }
        }
        None => {
            v = v
                .without(proof!(
                    "whether writeback throttling is on: /sys/block/{name}/queue/wbt_lat_usec was \
                     not recorded",
                    name
                ))
                .try_this(format!("wbt_lat_usec -> {target}: {costs}"), command(target));
        }
    }
    if let Some(stable) = settings.and_then(|s| s.stable_writes()).filter(|s| s.value) {
        v = v.without(proof!("whether tasks waited for pages under writeback: {name} needs stable pages (stable_writes is 1, {at}), and block \
             events do not show that wait; record it with trace-cmd", name, at = stable.at));
    }
    held_back(v, case, slow)
}
