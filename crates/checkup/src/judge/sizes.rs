//! Judges sizes of requests: whether larger ones have a higher throughput, and whether they are split.

use super::judged::{finding, named, Judged, NAMES};
use super::stall::stalls;
use crate::result::{Found, Remedy, Scenario};
use std::collections::BTreeMap;
use units::words;

/// The kernel's own default limit of a request's size, in KiB (BLK_DEF_MAX_SECTORS_CAP, include/linux/blkdev.h).
const KERNELS_KIB: u64 = 1280;
/// A limit is low if the possible size is at least this many times as large.
const LOW: u64 = 4;
/// Sizes above a limit gain nothing if their throughput is less than this many times that of smaller ones.
const BRINGS: f64 = 1.5;
/// Large requests must have at least this part of the highest throughput.
const LARGE: f64 = 0.6;

pub(super) fn sizes(s: &mut Scenario, out: &mut Judged) {
    let (mut remarks, mut few) = (Vec::new(), None);
    if let Some(step) = s.steps.iter().find(|s| s.name == "sizes") {
        for order in ["read", "randread"] {
            let sizes = ["4k", "64k", "1m", "4m"];
            let speed = |b: &str| step.job(&format!("{order}-{b}")).map_or(0, |m| m.bytes_per_second);
            let speeds: Vec<u64> = sizes.iter().map(|b| speed(b)).collect();
            let most = speeds.iter().copied().max().unwrap_or(0);
            let words: Vec<String> =
                sizes.iter().zip(&speeds).map(|(b, s)| format!("{b} {}/s", words::bytes(*s))).collect();
            let how = if order == "read" { "in order" } else { "at random" };
            remarks.push(format!("{how}: {}", words.join(", ")));
            if speeds[2] > 0 && (speeds[2].max(speeds[3]) as f64) < LARGE * most as f64 {
                let says = format!(
                    "large reads {how} are slower than smaller ones: {}/s with 1 MiB, {}/s at best",
                    words::bytes(speeds[2]),
                    words::bytes(most)
                );
                few = Some(finding(
                    "large-requests-slow",
                    &step.name,
                    says,
                    1_000_000_000_000_000 / speeds[2].max(1),
                    1_000_000_000_000_000 / most.max(1),
                ));
            }
        }
    }
    s.remarks.extend(remarks);
    out.findings.extend(few);
    if let Some((step, m)) =
        s.steps.iter().find(|s| s.name == "large reads").and_then(|s| Some((s, s.job("reads")?)))
    {
        named(
            step,
            &["request-size"],
            NAMES,
            m.latency.p50_ns,
            "large reads are split into small requests",
            "requests-cut",
            out,
        );
        stalls(step, "reads", "large reads", out);
    }
}

/// Finds a low limit of the requests' size without a recording, too: reads above it are no faster than those near it.
pub(super) fn cut(
    s: &mut Scenario,
    disk: Option<&str>,
    settings: &BTreeMap<String, String>,
    out: &mut Judged,
) {
    let get = |name: &str| settings.get(&format!("queue/{name}"))?.parse::<u64>().ok();
    let (Some(now), Some(most)) = (get("max_sectors_kb"), get("max_hw_sectors_kb")) else { return };
    let most = most.min(KERNELS_KIB);
    let speed = |b: &str| {
        let step = s.steps.iter().find(|s| s.name == "sizes")?;
        step.job(&format!("randread-{b}")).map(|m| m.bytes_per_second)
    };
    let (Some(near), Some(large)) = (speed("64k"), speed("1m")) else { return };
    if now.saturating_mul(LOW) > most || now > 256 || large as f64 >= BRINGS * near as f64 {
        return;
    }
    let Some(step) = s.steps.iter_mut().find(|s| s.name == "large reads") else { return };
    let Some(m) = step.job("reads").map(|m| m.latency.p50_ns) else { return };
    let share = 1.0 - now as f64 / most.max(1) as f64;
    if step.causes.iter().all(|c| c.cause != "request-size") {
        let remedies = disk.map(|d| Remedy {
            what: format!("max_sectors_kb {now} -> {most}: a large request holds the disk longer, so small ones behind it wait longer"),
            ..Remedy::setting(d, "queue/max_sectors_kb", most)
        });
        let found = Found {
            cause: "request-size".into(),
            title: causes::all().iter().find(|c| c.name == "request-size").map_or("", |c| c.title).into(),
            share,
            confidence: "medium".into(),
            evidence: vec![
                format!(
                    "max_sectors_kb is {now}, and {most} is possible: a read of 1 MiB is {} requests",
                    1024 / now.max(1)
                ),
                format!(
                    "reads of 1 MiB bring {}/s, reads of 64 KiB {}/s: larger ones gain nothing",
                    words::bytes(large),
                    words::bytes(near)
                ),
            ],
            remedies: remedies.into_iter().collect(),
        };
        step.causes.insert(0, found);
    }
    if out.findings.iter().all(|f| f.name != "requests-cut") {
        let says = format!("large reads are split into requests of {now} KiB");
        out.push(finding("requests-cut", "large reads", says, m, m * now / most.max(1)));
    }
}
