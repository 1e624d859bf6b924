//! Compares two recordings.

use super::blamed::blamed;
use super::comparison::{Comparison, Difference, Row, Tails};
use super::kinds::{fs_of, kinds, on, Kind};
use super::metrics::{latencies, lost, mean, outliers, slow, time_of, PERCENTILES, SLOW};
use super::moved::Moved;
use super::pair::{pairs, Name};
use crate::explanation::Explanation;
use crate::trust::Trust;
use causes::MIN_SHARE;
use ledger::Reason;
use life::Class;
use operation::Scope;
use stats::{class_words, Group, Phases, TailTime};
use std::collections::BTreeMap;
use trace::{program, Bytes, DevId};
use units::words::{count, ns, size};

/// If at least this part of a side's waits is for a kind that the other side lacks, the common kinds decide nothing.
const MOSTLY: f64 = 0.5;
/// Sizes and depths that differ by more than this factor are another load.
const ANOTHER_LOAD: f64 = 1.25;
/// A kind with a smaller part of the time of all slowest operations, or of all operations, does not count, unless its slowest have
/// [`MIN_SHARE`] of the time of all slowest.
pub(super) const VISIBLE: f64 = 0.02;
/// A kind of operation matters for the comparison of loads from this share of a side's operations or bytes on.
pub(super) const MATTERS: f64 = 0.05;

impl Comparison {
    /// Compares two recordings. Their facts should have latencies in order ([`stats::Analysis::in_order`]).
    pub fn of_recordings(names: [String; 2], before: &Explanation, after: &Explanation) -> Comparison {
        let single = [before, after].iter().all(|e| e.top_devices().len() == 1);
        let [for_before, for_after] = [aliases(before, after), aliases(after, before)];
        let (kinds_before, kinds_after) =
            (kinds(before, single, &for_before), kinds(after, single, &for_after));
        let named = |kinds: &[Kind]| kinds.iter().map(|k| k.name.clone()).collect::<Vec<_>>();
        let (names_before, names_after) = (named(&kinds_before), named(&kinds_after));
        let same = pairs(&names_before, &names_after);
        let mut rows: Vec<Row> = same.iter().map(|(b, a)| row(&kinds_before[*b], &kinds_after[*a])).collect();
        // Beside operations, rows of bios get distinct names.
        if kinds_before.iter().chain(&kinds_after).any(|k| k.is_operation) {
            let is_bio = |(b, _): &(usize, usize)| !kinds_before[*b].is_operation;
            let bios = rows.iter_mut().zip(&same).filter(|(_, pair)| is_bio(pair));
            bios.for_each(|(row, _)| row.what = format!("bios of {}", row.what));
        }
        let mut tails = vec![];
        let partner = |name: &Name| {
            let at = same.iter().position(|(at, _)| names_before[*at] == *name);
            (at, at.map_or_else(|| name.clone(), |at| names_after[same[at].1].clone()))
        };
        let (groups_before, groups_after) =
            (groups(before, single, &for_before), groups(after, single, &for_after));
        for (name, b) in &groups_before {
            let (at, other) = partner(name);
            let of_name = || groups_after.iter().filter(|(name, _)| *name == other);
            let several = groups_before.iter().filter(|(n, _)| n == name).count() > 1;
            // A task with a different name after matches only if there is no other candidate.
            let only = || (!several && of_name().count() == 1).then(|| of_name().next()).flatten();
            let same = || of_name().find(|(_, a)| a.task == b.task);
            let of_program = || of_name().find(|(_, a)| program(&a.task) == program(&b.task));
            let Some((_, a)) = same().or_else(of_program).or_else(only) else { continue };
            if let Some(row) = at.map(|at| &mut rows[at]) {
                row.weight += (b.tail.sum.time.total.0 + a.tail.sum.time.total.0) as f64;
            }
            let whose = if several { format!("{}'s ", b.task) } else { String::new() };
            tails.push(tails_of(format!("{whose}{}", name.better(&other).told()), b, a));
        }
        // If operations were recorded, tasks wait for them and not for the bios below.
        let sum: f64 = rows.iter().map(|r| r.weight).sum();
        let times: Vec<f64> =
            same.iter().map(|(b, a)| kinds_before[*b].waited() + kinds_after[*a].waited()).collect();
        let waited: f64 = times.iter().sum();
        if sum > 0.0 {
            let of_slowest = |r: &Row| r.weight / sum;
            let visible = |r: &Row, time: f64| {
                of_slowest(r) >= VISIBLE && time >= VISIBLE * waited || of_slowest(r) >= MIN_SHARE
            };
            rows.iter_mut().zip(times).for_each(|(r, time)| r.counts = visible(r, time));
        }
        rows.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let notes = notes(&names, [before, after]);
        let mut settings = before.subject.system.differences(&after.subject.system);
        settings.sort_by_key(|c| is_of_another_device(&c.what, [before, after]));
        let mut load = load(before, after, single, [&for_before, &for_after]);
        let blamed = blamed(before, after);
        let OneSided { only, elsewhere, differences } = one_sided([&kinds_before, &kinds_after], &same);
        load.extend(differences);
        Comparison {
            names,
            settings,
            load,
            rows,
            only,
            elsewhere,
            tails,
            blamed,
            levels_differ: false,
            notes,
        }
    }
}

impl Comparison {
    /// A comparison in which only one recording has the selected I/O; `side`: 0 for before, 1 for after.
    pub fn of_one(names: [String; 2], e: &Explanation, side: usize) -> Comparison {
        let rows =
            kinds(e, e.top_devices().len() == 1, &[]).iter().map(|kind| one_side(kind, side)).collect();
        let mut only = [vec![], vec![]];
        only[side] = rows;
        Comparison { names, only, ..Comparison::default() }
    }
}

/// Notes on how far the comparison of two recordings can be trusted.
fn notes(names: &[String; 2], sides: [&Explanation; 2]) -> Vec<String> {
    let mut notes = vec![];
    for (name, e) in names.iter().zip(sides) {
        if let Some(none) = e.subject.scope.as_ref().and_then(Scope::no_such_operation) {
            notes.push(format!("{name}: {}: {}", none.what, none.there));
        }
        if e.trust != Trust::Good {
            notes.push(format!("{name} is {}: see iowhy explain {name}", e.trust.name()));
        }
        let left_out = e.facts.in_order.as_ref().map_or(0, |o| o.left_out);
        if left_out > 0 {
            let left_out = count(left_out);
            notes.push(format!("{name}: {left_out} operations of rare kinds were kept without their order"));
        }
    }
    notes
        .push("ranges cover only chance within a recording; two runs can differ by more: repeat them".into());
    notes
}

/// The kinds of operations that only one side has.
#[derive(Default)]
struct OneSided {
    /// Before and after.
    only: [Vec<Row>; 2],
    /// The kind with most of a side's waits, if its task is on the other side too and does something else there.
    elsewhere: Option<String>,
    /// The kinds that tasks waited for.
    differences: Vec<Difference>,
}

/// `same`: index pairs of the kinds that both have.
fn one_sided(kinds: [&[Kind]; 2], same: &[(usize, usize)]) -> OneSided {
    let mut found = OneSided::default();
    for (side, these) in kinds.into_iter().enumerate() {
        let is_paired = |at: usize| same.iter().any(|pair| [pair.0, pair.1][side] == at);
        let alone = these.iter().enumerate().filter(|(at, _)| !is_paired(*at)).map(|(_, kind)| kind);
        for kind in alone {
            found.only[side].push(one_side(kind, side));
            let Some((part, difference)) = waited_for_there_alone(kind, these, side) else { continue };
            // A neighbour that is gone takes its operations along; a task that is still there now does something else.
            let is_there = kinds[1 - side].iter().any(|other| !other.tasks.is_disjoint(&kind.tasks));
            if part >= MOSTLY && is_there && found.elsewhere.is_none() {
                found.elsewhere = Some(difference.text.clone());
            }
            found.differences.push(difference);
        }
    }
    found
}

/// Whether a setting belongs to a device that is not compared.
fn is_of_another_device(setting: &str, sides: [&Explanation; 2]) -> bool {
    let name = setting.split_once('/').map_or("", |(name, _)| name);
    let is_device = sides.iter().any(|e| e.subject.system.devices.contains_key(name));
    let is_compared = sides.iter().any(|e| e.top_devices().iter().any(|d| e.name(d.id) == name));
    is_device && !is_compared
}

fn row(before: &Kind, after: &Kind) -> Row {
    let mut metrics = vec![];
    for ((name, b, b_order), (_, a, a_order)) in before.phases.iter().zip(&after.phases) {
        if b.is_empty() || a.is_empty() {
            continue;
        }
        let named = |metric: &str| if name.is_empty() { metric.into() } else { format!("{name}.{metric}") };
        metrics.extend(latencies(named, [b, a], b_order.zip(*a_order)));
        let orders = b_order.zip(*a_order);
        if name.is_empty() {
            let least = b.quantile(SLOW).min(a.quantile(SLOW));
            metrics.extend(slow(orders, least));
            metrics.extend(outliers(orders, least));
        }
        let most = [b.max() as f64, a.max() as f64];
        metrics.push(time_of(named("max"), most, "one operation"));
        metrics.push(mean(named("mean"), [b, a], orders));
    }
    metrics.extend(before.lost.zip(after.lost).map(|(b, a)| lost([b, a])));
    Row {
        op: before.op.clone(),
        what: before.name.better(&after.name).told(),
        weight: 0.0,
        counts: before.counts && after.counts,
        moved: before.phases.first().zip(after.phases.first()).map(|(b, a)| Moved::of(&b.1, &a.1)),
        least: before.phases.first().zip(after.phases.first()).map(|(b, a)| b.1.count().min(a.1.count())),
        metrics,
    }
}

/// For a kind that only this side has: its part of the side's waits, and the difference in words. `None` if tasks did not wait for it for at
/// least [`MIN_SHARE`] of their time. On the other side they waited for something else.
fn waited_for_there_alone(kind: &Kind, all: &[Kind], side: usize) -> Option<(f64, Difference)> {
    let sum: f64 = all.iter().filter(|k| k.counts && k.is_operation).map(Kind::waited).sum();
    let part = kind.waited() / sum.max(1.0);
    if !(kind.counts && kind.is_operation && part >= MIN_SHARE) {
        return None;
    }
    let (_, times, _) = kind.phases.first()?;
    let (n, each) = (count(times.count()), ns(times.mean() as u64));
    let text = format!("{} only {}: {n} of {each}", kind.told(), ["before", "after"][side]);
    Some((part, Difference { text, unlike: true }))
}

/// The row of a kind that only one side has; the values of the other side are 0.
fn one_side(kind: &Kind, side: usize) -> Row {
    let both = |value: f64| if side == 0 { [value, 0.0] } else { [0.0, value] };
    let mut metrics = vec![];
    for (name, of, _) in kind.phases.iter().filter(|(_, of, _)| !of.is_empty()) {
        let named = |metric: &str| if name.is_empty() { metric.into() } else { format!("{name}.{metric}") };
        let percentile = |(metric, q): (&str, f64)| time_of(named(metric), both(of.quantile(q) as f64), "");
        metrics.extend(PERCENTILES.into_iter().map(percentile));
        metrics.push(time_of(named("max"), both(of.max() as f64), ""));
        metrics.push(time_of(named("mean"), both(of.mean()), ""));
    }
    metrics.extend(kind.lost.map(|lost| time_of("lost".into(), both(lost.0 as f64), "")));
    Row { op: kind.op.clone(), what: kind.name.told(), metrics, ..Row::default() }
}

/// The groups in focus, with names as in [`kinds`].
fn groups(e: &Explanation, single: bool, aliases: &[(String, String)]) -> Vec<(Name, Group)> {
    let name = |g: &Group| {
        let dev = g.op.map(|key| key.dev).filter(|dev| *dev != DevId(0)).unwrap_or(g.dev);
        Name { what: format!("{}{}", g.words(), on(e, dev, single)), fs: g.op.map(|key| fs_of(e, &key)) }
    };
    e.focus.groups.iter().map(|g| (name(g).on_device(aliases), g.clone())).collect()
}

/// Names in the other recording for devices that this one knows only by number.
fn aliases(e: &Explanation, other: &Explanation) -> Vec<(String, String)> {
    let there = |dev: DevId| other.top_devices().iter().any(|d| d.id == dev);
    let unnamed = e.top_devices().into_iter().map(|d| d.id).filter(|dev| e.name(*dev) == dev.to_string());
    unnamed.filter(|dev| there(*dev)).map(|dev| (on(e, dev, false), on(other, dev, false))).collect()
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

/// The load of the devices by kind: phases and mean depth at issue.
fn asked(e: &Explanation, single: bool, aliases: &[(String, String)]) -> BTreeMap<String, (Phases, f64)> {
    let mut all = BTreeMap::new();
    for device in e.top_devices() {
        for class in Class::ALL {
            let bios = &device.bios[class.index()].phases;
            if bios.count > 0 {
                let what = format!("{}{}", class_words(class), on(e, device.id, single));
                let what = Name { what, fs: None }.on_device(aliases).what;
                all.insert(what, (bios.clone(), device.contention[class.index()].depth.mean()));
            }
        }
    }
    all
}

/// Differences of kernel and device: the loads remain comparable, but it is not the same measurement again.
fn machine(before: &Explanation, after: &Explanation, single: bool) -> Vec<Difference> {
    let sides = [before, after];
    let device = |e: &Explanation| e.top_devices().first().filter(|_| single).map(|d| e.name(d.id));
    let facts = [("kernel", sides.map(|e| e.kernel().map(str::to_string))), ("device", sides.map(device))];
    let others = facts.into_iter().filter_map(|(what, sides)| match sides {
        [Some(one), Some(other)] if one != other => Some(format!("{what}: {one} before, {other} after")),
        _ => None,
    });
    others.map(|text| Difference { text, unlike: false }).collect()
}

fn load(
    before: &Explanation,
    after: &Explanation,
    single: bool,
    aliases: [&[(String, String)]; 2],
) -> Vec<Difference> {
    let (b, a) = (asked(before, single, aliases[0]), asked(after, single, aliases[1]));
    let seconds = [before, after].map(|e| (e.duration().0 as f64 / 1e9).max(1e-9));
    let mut found = machine(before, after, single);
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
                        "{what}: {from} a second before, {to} after (offered load, or the most that it could \
                         do)"
                    );
                    found.push(Difference { text, unlike: false });
                }
                let depth = [depth_one + 1.0, depth_other + 1.0];
                if differ(depth) {
                    let [from, to] = depth.map(|d| format!("{d:.1}"));
                    let text = format!("{what}: {from} requests in the device at issue before, {to} after");
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

/// Whether a kind has a visible part of the operations or the bytes.
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
