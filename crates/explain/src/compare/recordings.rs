//! Two recordings side by side.

use super::blamed::blamed;
use super::pair::{pairs, Name};
use super::{Comparison, Difference, Metric, Ranges, Row, Tails};
use crate::explanation::latency;
use crate::explanation::{Explanation, Trust};
use ledger::Reason;
use life::Class;
use stats::{class_words, Blocks, Distribution, Estimate, Group, Phases, TailTime, PHASES_IN_ORDER};
use std::collections::BTreeMap;
use tooltext::Unit;
use trace::{Bytes, DevId, Fs};
use units::words::{count, size};

/// Percentiles that are compared.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// The percentile of the better side from which on operations are `slow`.
pub(super) const SLOW: f64 = 0.99;
/// Why there is no range.
const TOO_FEW: &str = "too few, or in too few places";
/// Sizes and depths that differ by more than this are another load.
const ANOTHER_LOAD: f64 = 1.25;
/// A kind whose slowest took a smaller part of the time of all slowest is not judged.
const VISIBLE: f64 = 0.02;
/// A kind of operation matters for the likeness of loads from this share of the operations or bytes of a side
/// on.
pub(super) const MATTERS: f64 = 0.05;
/// Seeds, so that the same recordings always give the same ranges; the two sides must not draw alike.
const SEEDS: [u64; 2] = [0x6265_666f_7265, 0x0061_6674_6572];

/// Latencies of one kind on one side.
pub(super) struct Kind<'a> {
    pub op: String,
    name: Name,
    counts: bool,
    /// Whether these are what tasks waited for, not bios.
    pub is_operation: bool,
    /// Of all of them; of operations that move no data 0.
    bytes: u64,
    /// Name (empty for the whole), distribution and order of each phase.
    pub phases: Vec<(&'static str, Distribution, Option<&'a Blocks>)>,
}

impl Kind<'_> {
    /// What it is in the recording: `reads (ext4)`, `bios of reads on vda`.
    pub fn told(&self) -> String {
        match self.is_operation {
            true => self.name.told(),
            false => format!("bios of {}", self.name.what),
        }
    }

    /// Bytes of one.
    pub fn mean_size(&self) -> Option<f64> {
        let count = self.phases.first()?.1.count();
        (count > 0 && self.bytes > 0).then(|| self.bytes as f64 / count as f64)
    }
}

impl Comparison {
    /// Compares two recordings; their facts should have latencies in order ([`stats::Analysis::in_order`]).
    pub fn of_recordings(names: [String; 2], before: &Explanation, after: &Explanation) -> Comparison {
        let single = [before, after].iter().all(|e| e.top_devices().len() == 1);
        let (kinds_before, kinds_after) = (kinds(before, single), kinds(after, single));
        let named = |kinds: &[Kind]| kinds.iter().map(|k| k.name.clone()).collect::<Vec<_>>();
        let (names_before, names_after) = (named(&kinds_before), named(&kinds_after));
        let same = pairs(&names_before, &names_after);
        let mut rows: Vec<Row> = same.iter().map(|(b, a)| row(&kinds_before[*b], &kinds_after[*a])).collect();
        let groups_after = groups(after, single);
        let mut tails = vec![];
        for (name, b) in groups(before, single) {
            let at = same.iter().position(|(at, _)| names_before[*at] == name);
            let partner = at.map_or(&name, |at| &names_after[same[at].1]);
            if let Some((_, a)) = groups_after.iter().find(|(other, _)| other == partner) {
                if let Some(row) = at.map(|at| &mut rows[at]) {
                    row.weight = (b.tail.sum.time.total.0 + a.tail.sum.time.total.0) as f64;
                }
                tails.push(tails_of(name.better(partner).told(), &b, a));
            }
        }
        // Where operations were recorded they are what somebody waits for, not the bios below.
        let sum: f64 = rows.iter().map(|r| r.weight).sum();
        if sum > 0.0 {
            rows.iter_mut().for_each(|r| r.counts = r.weight >= VISIBLE * sum);
        }
        rows.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut notes: Vec<String> = vec![];
        for (name, e) in names.iter().zip([before, after]) {
            if e.trust != Trust::Good {
                notes.push(format!("{name} is {}: see iowhy explain {name}", e.trust.name()));
            }
            let left_out = e.facts.in_order.as_ref().map_or(0, |o| o.left_out);
            if left_out > 0 {
                notes.push(format!(
                    "{name}: the order of {} operations of rare kinds was not kept",
                    count(left_out)
                ));
            }
        }
        notes.push(
            "a range holds what chance does within a recording; two runs can differ by more: repeat them"
                .into(),
        );
        let settings = before.subject.system.differences(&after.subject.system);
        let load = load(before, after, single);
        let blamed = blamed(before, after);
        Comparison { names, settings, load, rows, tails, blamed, notes }
    }
}

/// What a device is called in names of kinds: nothing if there is only one.
fn on(e: &Explanation, dev: DevId, single: bool) -> String {
    if single {
        String::new()
    } else {
        format!(" on {}", e.name(dev))
    }
}

/// The file system of a kind of operation: what its events say, else what is mounted there.
fn fs_of(e: &Explanation, key: &stats::OpKey) -> Fs {
    match key.fs {
        Fs::Unknown => Fs::by_name(&e.filesystem(key)),
        known => known,
    }
}

fn op_of(class: Class) -> &'static str {
    match class {
        Class::Read => "read",
        Class::SyncWrite => "write",
        Class::Background => "background-write",
        Class::Flush => "flush",
        Class::Other => "discard",
    }
}

pub(super) fn kinds(e: &Explanation, single: bool) -> Vec<Kind<'_>> {
    let order = e.facts.in_order.as_ref();
    let mut all = vec![];
    for (key, stats) in &e.facts.operations.groups {
        let dev = if key.dev == DevId(0) { stats.main_device() } else { Some(key.dev) };
        let place = dev.map_or(String::new(), |dev| on(e, dev, single));
        all.push(Kind {
            op: key.kind.name().into(),
            name: Name { what: format!("{}{place}", key.kind.plural()), fs: Some(fs_of(e, key)) },
            counts: key.kind.is_foreground(),
            is_operation: true,
            bytes: stats.bytes,
            phases: vec![("", stats.latency.clone(), order.and_then(|o| o.operations.get(key)))],
        });
    }
    let devices = if e.asks_about_devices() { e.top_devices() } else { vec![] };
    for device in devices {
        for class in Class::ALL {
            let bios = &device.bios[class.index()].phases;
            if latency(bios).is_empty() {
                continue;
            }
            let rows = order.and_then(|o| o.bios.get(&(device.id, class)));
            let phase = |(i, name): (usize, &'static str)| {
                let distribution = match i {
                    0 => latency(bios),
                    _ => bios.each().into_iter().find(|(n, _)| *n == name)?.1,
                };
                let name = if i == 0 { "" } else { name };
                Some((name, distribution.clone(), rows.map(|r| &r[i])))
            };
            all.push(Kind {
                op: op_of(class).into(),
                name: Name { what: format!("{}{}", class_words(class), on(e, device.id, single)), fs: None },
                counts: class != Class::Background,
                is_operation: false,
                bytes: bios.bytes.0,
                phases: PHASES_IN_ORDER.into_iter().enumerate().filter_map(phase).collect(),
            });
        }
    }
    all
}

fn row(before: &Kind, after: &Kind) -> Row {
    let mut metrics = vec![];
    for ((name, b, b_order), (_, a, a_order)) in before.phases.iter().zip(&after.phases) {
        if b.is_empty() || a.is_empty() {
            continue;
        }
        let named = |metric: &str| if name.is_empty() { metric.into() } else { format!("{name}.{metric}") };
        metrics.extend(latencies(named, [b, a], b_order.zip(*a_order)));
        if name.is_empty() {
            metrics.extend(slow(b_order.zip(*a_order), b.quantile(SLOW).min(a.quantile(SLOW))));
        }
        let most = [b.max() as f64, a.max() as f64];
        metrics.push(Metric {
            name: named("max"),
            threshold: None,
            unit: Unit::Nanoseconds,
            values: most,
            ranges: None,
            no_range: "one operation",
        });
    }
    Row {
        op: before.op.clone(),
        what: before.name.better(&after.name).told(),
        weight: 0.0,
        counts: before.counts && after.counts,
        least: before.phases.first().zip(after.phases.first()).map(|(b, a)| b.1.count().min(a.1.count())),
        metrics,
    }
}

/// The percentiles of both sides, with ranges where their order is known.
pub(super) fn latencies(
    named: impl Fn(&str) -> String,
    [before, after]: [&Distribution; 2],
    orders: Option<(&Blocks, &Blocks)>,
) -> Vec<Metric> {
    let one = |(metric, q): (&str, f64)| Metric {
        name: named(metric),
        threshold: None,
        unit: Unit::Nanoseconds,
        values: [before.quantile(q) as f64, after.quantile(q) as f64],
        ranges: orders.and_then(|(b, a)| {
            let of = |order: &Blocks, side: usize| Estimate::percentile(order, q, SEEDS[side]).ok();
            of(b, 0).zip(of(a, 1)).map(ranges)
        }),
        no_range: TOO_FEW,
    };
    PERCENTILES.into_iter().map(one).collect()
}

fn ranges((before, after): (Estimate, Estimate)) -> Ranges {
    Ranges {
        before: before.range(),
        after: after.range(),
        ratio: after.ratio_to(&before),
        blocks: [(before.blocks, before.block_length), (after.blocks, after.block_length)],
    }
}

/// How many are as slow as the slowest 1 % of the better side. Where these came in a few stalls, a percentile
/// scatters over all of the distance between stall and none, and this share much less.
pub(super) fn slow(orders: Option<(&Blocks, &Blocks)>, threshold: u64) -> Option<Metric> {
    let (before, after) = orders?;
    let of = |order: &Blocks, side: usize| Estimate::share_from(order, threshold, SEEDS[side]).ok();
    let (b, a) = of(before, 0).zip(of(after, 1))?;
    Some(Metric {
        name: "slow".into(),
        threshold: Some(threshold),
        unit: Unit::Share,
        values: [b.value, a.value],
        ranges: Some(ranges((b, a))),
        no_range: TOO_FEW,
    })
}

/// The groups in focus, by the names that [`kinds`] has.
fn groups(e: &Explanation, single: bool) -> Vec<(Name, Group)> {
    let name = |g: &Group| {
        let dev = g.op.map(|key| key.dev).filter(|dev| *dev != DevId(0)).unwrap_or(g.dev);
        Name { what: format!("{}{}", g.words(), on(e, dev, single)), fs: g.op.map(|key| fs_of(e, &key)) }
    };
    e.focus.groups.iter().map(|g| (name(g), g.clone())).collect()
}

fn tails_of(what: String, before: &Group, after: &Group) -> Tails {
    let of = |t: &TailTime| {
        let n = t.time.operations.max(1) as f64;
        t.time.by_size().into_iter().map(|(reason, ns)| (reason, ns.0 as f64 / n)).collect::<BTreeMap<_, _>>()
    };
    let (b, a) = (of(&before.tail.sum), of(&after.tail.sum));
    let mut reasons: Vec<Reason> = b.keys().chain(a.keys()).copied().collect();
    reasons.sort();
    reasons.dedup();
    let mean = |of: &BTreeMap<Reason, f64>, r: &Reason| of.get(r).copied().unwrap_or(0.0);
    let mut reasons: Vec<_> =
        reasons.iter().map(|r| (r.name(), r.words(), [mean(&b, r), mean(&a, r)])).collect();
    reasons.sort_by(|x, y| y.2[0].max(y.2[1]).total_cmp(&x.2[0].max(x.2[1])));
    Tails { what, operations: [before.tail.sum.time.operations, after.tail.sum.time.operations], reasons }
}

/// What was asked of the devices, by kind: phases and mean depth at issue.
fn asked(e: &Explanation, single: bool) -> BTreeMap<String, (Phases, f64)> {
    let mut all = BTreeMap::new();
    for device in e.top_devices() {
        for class in Class::ALL {
            let bios = &device.bios[class.index()].phases;
            if bios.count > 0 {
                let what = format!("{}{}", class_words(class), on(e, device.id, single));
                all.insert(what, (bios.clone(), device.company[class.index()].depth.mean()));
            }
        }
    }
    all
}

fn load(before: &Explanation, after: &Explanation, single: bool) -> Vec<Difference> {
    let (b, a) = (asked(before, single), asked(after, single));
    let seconds = [before, after].map(|e| (e.duration().0 as f64 / 1e9).max(1e-9));
    let mut found = vec![];
    let names: std::collections::BTreeSet<&String> = b.keys().chain(a.keys()).collect();
    for what in names {
        match (b.get(what), a.get(what)) {
            (Some((one, depth_one)), Some((other, depth_other))) => {
                if !matters(one, &b) && !matters(other, &a) {
                    continue;
                }
                let mean = [one, other].map(|p| p.bytes.0 as f64 / p.count.max(1) as f64);
                if differ(mean) {
                    let [from, to] = mean.map(|m| size(Bytes(m as u64)));
                    let text = format!("{what}: {from} each before, {to} after");
                    found.push(Difference { text, unlike: true });
                }
                let rate = [one.count as f64 / seconds[0], other.count as f64 / seconds[1]];
                if differ(rate) {
                    let [from, to] = rate.map(per_second);
                    let text = format!(
                        "{what}: {from} a second before, {to} after (asked for, or all that it could do)"
                    );
                    found.push(Difference { text, unlike: false });
                }
                let depth = [depth_one + 1.0, depth_other + 1.0];
                if differ(depth) {
                    let [from, to] = depth.map(|d| format!("{d:.1}"));
                    let text =
                        format!("{what}: with {from} requests in the device at issue before, {to} after");
                    found.push(Difference { text, unlike: false });
                }
            }
            (one, other) => {
                let (side, all) = if one.is_some() { ("before", &b) } else { ("after", &a) };
                let Some((phases, _)) = one.or(other) else { continue };
                let unlike = matters(phases, all);
                let mean = size(Bytes(phases.bytes.0 / phases.count.max(1)));
                let text = format!("{what} only {side}: {} of {mean}", count(phases.count));
                found.push(Difference { text, unlike });
            }
        }
    }
    found
}

/// Whether a kind is a visible part of the operations or of the bytes.
fn matters(phases: &Phases, all: &BTreeMap<String, (Phases, f64)>) -> bool {
    let part = |of: fn(&Phases) -> u64| {
        let sum: u64 = all.values().map(|(p, _)| of(p)).sum();
        of(phases) as f64 / sum.max(1) as f64
    };
    part(|p| p.count) >= MATTERS || part(|p| p.bytes.0) >= MATTERS
}

pub(super) fn differ([a, b]: [f64; 2]) -> bool {
    a.max(b) > ANOTHER_LOAD * a.min(b)
}

pub(super) fn per_second(rate: f64) -> String {
    if rate >= 10.0 {
        count(rate.round() as u64)
    } else {
        format!("{rate:.1}")
    }
}
