//! `writeback-flood`: what somebody waits for waits in the device behind buffered data that is written back.
//!
//! Claims the device time in which the device was flooded. Proof: the same requests were fast when no background
//! write was in flight. Refuted if they were as slow then.

use crate::case::Case;
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, ns, percent, size};
use crate::Cause;
use ledger::Reason;
use life::FLOOD_DEPTH;
use trace::{Bytes, Nanos};

/// The cause.
pub struct WritebackFlood;

/// A flood that has a smaller part of a group's tail than this is company, not the cause.
const MIN_SHARE_OF_GROUP: f64 = 0.1;

/// Percentiles of fewer requests than this say little: a p99 needs a hundred.
const MIN_SAMPLES: u64 = 100;

/// Under a flood requests must be at least this much slower (p99) than without, else the flood is not why.
const MIN_SLOWDOWN: f64 = 2.0;

impl Cause for WritebackFlood {
    fn name(&self) -> &'static str {
        "writeback-flood"
    }

    fn title(&self) -> &'static str {
        "buffered data being written back fills the device and everything else waits behind it"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/writeback-flood.md")
    }

    fn judge(&self, case: &mut Case) -> Verdict {
        let name = self.name();
        let mut explains = Nanos(0);
        let mut verdict: Option<Verdict> = None;
        let mut against = String::from("no background write was in flight beside what was slow");
        for (i, group) in case.focus.groups.iter().enumerate() {
            let device = case.device(group);
            let tail = &group.tail.sum;
            let flooded_share = tail.flooded.0 as f64 / tail.time.total.0.max(1) as f64;
            let company = &device.company[group.class.index()];
            let deepest = company.background.max();
            if flooded_share < MIN_SHARE_OF_GROUP {
                if deepest > 0 && explains.0 == 0 {
                    against = format!(
                        "the slowest {} were beside {FLOOD_DEPTH} or more background writes for {} of their time only",
                        group.words(),
                        percent(flooded_share)
                    );
                }
                continue;
            }
            let (with, without) = (&company.flooded, &company.clear);
            let compared = with.count() >= MIN_SAMPLES && without.count() >= MIN_SAMPLES;
            let (slow, clear) = (with.quantile(0.99), without.quantile(0.99));
            if compared && (slow as f64) < MIN_SLOWDOWN * clear as f64 {
                against = format!(
                    "{} were as slow without a background write in flight: p99 {} against {}",
                    group.words(),
                    ns(clear),
                    ns(slow)
                );
                continue;
            }
            let claimed = case.claim(i, Reason::Device, tail.flooded);
            explains += claimed;
            let background = case.background(device);
            let mut v = verdict.take().unwrap_or_else(|| Verdict::found(name, Nanos(0), Confidence::Medium));
            if compared {
                v.confidence = Some(Confidence::High);
                v = v.because(format!(
                    "while {FLOOD_DEPTH} or more background writes were in flight, {} took {} in the device (p99); with none, {}",
                    group.words(),
                    ns(slow),
                    ns(clear)
                ));
            } else {
                v = v.because(format!(
                    "the slowest {} spent {} of their time in the device beside {FLOOD_DEPTH} or more background writes",
                    group.words(),
                    percent(flooded_share)
                ));
            }
            let mean = Bytes(background.bytes.0 / background.count.max(1));
            v = v.because(format!(
                "{} background writes of {} on average went to {}, up to {} at once",
                count(background.count),
                size(mean),
                case.name(device.id),
                count(device.company.iter().map(|c| c.background.max()).max().unwrap_or(0) + 1)
            ));
            verdict = Some(v);
        }
        let Some(mut v) = verdict else { return Verdict::rejected(name, against) };
        v.explains = explains;
        v.evidence.dedup();
        remedies(v, case)
            .unless("reads as slow with no background write in flight (compare the two percentiles above)")
    }
}

fn remedies(mut v: Verdict, case: &Case) -> Verdict {
    let flooded = case.focus.groups.iter().find(|g| g.tail.sum.flooded.0 > 0).map(|g| g.dev);
    let Some(dev) = flooded else { return v };
    let name = case.name(dev);
    let settings = case.settings(dev);
    match settings.and_then(|s| s.wbt_lat_usec()) {
        Some(wbt) if wbt.value.0 > 0 => {
            v = v.unless(format!("writeback throttling is on already ({wbt})", wbt = wbt.at));
        }
        Some(off) => {
            v = v.because(format!("writeback throttling is off: wbt_lat_usec is 0 ({})", off.at)).try_this(
                "bounds writeback in flight (writeback throttling); costs write throughput while others wait",
                format!("echo 2000 > /sys/block/{name}/queue/wbt_lat_usec"),
            );
        }
        None => {
            v = v
                .without(format!("whether writeback throttling is on: /sys/block/{name}/queue/wbt_lat_usec was not recorded"))
                .try_this(
                    "bounds writeback in flight (writeback throttling), if it is off; costs write throughput",
                    format!("echo 2000 > /sys/block/{name}/queue/wbt_lat_usec"),
                );
        }
    }
    v.try_this(
        "smaller, earlier floods; applies to the whole host",
        "sysctl vm.dirty_background_bytes=33554432",
    )
}
