//! Log writes complete at once, and fsync becomes slower: `log-force`. The time is not in the device but in the log's
//! own code: a force passes from the task to the push, the completion and the log's worker, which contend when no time
//! in the device lies between them. Processors are not scarce (that would be `journal-cpu`).
//!
//! A table has the throughput by number of threads, before and after the device's part was taken away (completion made
//! instant, a RAM disk, a null device), with many processors and with few. **Proof**: with many processors it is slower
//! without the device, with few it is faster; so the time gained in the device is lost between processors. **Refuted**
//! if it is faster in both, or slower in both.

use super::place::{readings, In};
use super::say::plain;
use super::thresholds::evidence::POINTS;
use crate::proof::{proof, Proof, Quantity};
use crate::thresholds::counters_log_force::NOTABLE;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Reading, ToolOutput, Unit};
use trace::Nanos;

const NAME: &str = "log-force";
/// Words that authors use if they took the device's part away.
const WITHOUT_DEVICE: [&str; 6] = ["fake", "instant", "null", "ramdisk", "brd", "nodevice"];

/// One curve: change of throughput by number of threads.
struct Curve {
    points: Vec<(f64, f64)>,
    name: String,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    for (place, table) in readings(outputs, "table") {
        let Some((before, after)) = columns(table) else { continue };
        let curves = curves(place, table, &before, &after);
        let [many, few] = &curves[..] else { continue };
        if many.points.len().min(few.points.len()) < POINTS {
            continue;
        }
        let (slower, faster) = (least(many), greatest(few));
        if slower.1 > -NOTABLE || faster.1 < NOTABLE {
            let text =
                format!("{}: no loss with one number of processors and gain with the other", place.name());
            against.get_or_insert(Verdict::rejected(NAME, text));
            continue;
        }
        let v = verdict.take().unwrap_or_else(|| Verdict::found(NAME, Nanos(0), Confidence::Medium));
        let at =
            |n: f64| table.row(&plain(n)).and_then(|r| r.get(&after)).map_or(String::new(), |n| place.at(n));
        verdict = Some(
            v.because(proof!(
                "{device}, {after} against {before}: {slower} at {slower2} ({slower3}) \
                 with {many}, {faster} at {faster2} ({faster3}) with {few}",
                device = place.name(),
                after,
                before,
                slower = signed(slower.1),
                slower2 = threads(slower.0),
                slower3 = at(slower.0),
                many = many.name,
                faster = signed(faster.1),
                faster2 = threads(faster.0),
                faster3 = at(faster.0),
                few = few.name
            ))
            .because(proof!(
                "{device}: {many}; {few}",
                device = place.name(),
                many = crossing(many),
                few = crossing(few)
            ))
            .because_some(check(place, table, &before, &after)),
        );
    }
    verdict
        .map(|v| {
            v.because(
                "without the device's part it became slower, so the time is not in the device; with fewer processors the same change helps, so it is in the log itself, whose steps run on several processors and contend",
            )
            .unless("the same slowdown with few processors")
            .without(
                "which lock or cache line it is: perf c2c record, perf lock contention; and how long \
                     fsync waits in the log: iowhy record",
            )
            .try_proven(
                "confines the workload to few processors, which keeps the log's data in their \
                     cache; it may then lack processors",
                "taskset -c 0-3 COMMAND",
            )
        })
        .or(against)
}

impl Verdict {
    fn because_some(self, text: Option<String>) -> Verdict {
        text.into_iter().fold(self, Verdict::because)
    }
}

/// The names of the columns before and after; the name of the latter says that the device was taken away.
fn columns(table: &Reading) -> Option<(String, String)> {
    let row = table.rows.first()?;
    let names: Vec<&str> =
        row.values.iter().filter(|(_, n)| n.unit == Unit::Unstated).map(|(name, _)| name).collect();
    let without = |name: &&&str| WITHOUT_DEVICE.iter().any(|w| name.to_lowercase().contains(w));
    let after = names.iter().find(without)?;
    let before = names.iter().find(|n| *n != after && !n.starts_with(*after))?;
    Some((before.to_string(), after.to_string()))
}

/// The curves of the variants in the table's cells, named by the run's label: `(nr_cpus = 48 vs nr_cpus=16)`.
fn curves(place: In, table: &Reading, before: &str, after: &str) -> Vec<Curve> {
    let inside = place.run.label.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    let names: Vec<String> =
        inside.split(" vs ").map(|n| n.split_whitespace().collect::<String>().replace('=', " = ")).collect();
    let variant = |i: usize| {
        let suffix = if i == 0 { String::new() } else { format!(".{}", i + 1) };
        let points = table.rows.iter().filter_map(|row| {
            let (b, a) = (row.value(&format!("{before}{suffix}"))?, row.value(&format!("{after}{suffix}"))?);
            Some((row.of.parse().ok()?, a / b - 1.0)).filter(|_| b > 0.0)
        });
        let name =
            names.get(i).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("variant {}", i + 1));
        Curve { points: points.collect(), name }
    };
    (0..2).map(variant).filter(|c| !c.points.is_empty()).collect()
}

fn least(curve: &Curve) -> (f64, f64) {
    curve.points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, 0.0))
}

fn greatest(curve: &Curve) -> (f64, f64) {
    curve.points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, 0.0))
}

fn signed(change: f64) -> String {
    format!("{:+.1} %", change * 100.0)
}

/// `1 thread`, `16 threads`
fn threads(n: f64) -> String {
    format!("{} thread{}", plain(n), if n == 1.0 { "" } else { "s" })
}

/// Where the change turns from loss to gain, interpolated between two points linearly in the logarithm of the number of threads.
fn crossing(curve: &Curve) -> Proof {
    let turn = curve.points.windows(2).find(|w| w[0].1 < 0.0 && w[1].1 >= 0.0);
    let name = Quantity::Text(curve.name.clone());
    match turn {
        Some(&[(n0, c0), (n1, c1)]) => {
            let part = -c0 / (c1 - c0);
            let about = (n0.ln() + part * (n1.ln() - n0.ln())).exp();
            proof!(
                "with {name} the curves cross between {from} and {to} threads, at about {about:.1}",
                name = name,
                from = plain(n0),
                to = plain(n1),
                about = Ratio(about)
            )
        }
        _ if curve.points.iter().all(|p| p.1 >= 0.0) => {
            proof!("with {name} it is faster at all of them", name = name)
        }
        _ => {
            let (n, c) = greatest(curve);
            proof!(
                "with {name} the curves do not cross; they come nearest at {threads} ({change})",
                name = name,
                threads = threads(n),
                change = signed(c)
            )
        }
    }
}

/// What is wrong in the author's column of differences; `None` if nothing is.
fn check(place: In, table: &Reading, before: &str, after: &str) -> Option<String> {
    let column = table.rows.first()?.values.iter().find(|(_, n)| n.unit == Unit::Share)?.0.to_owned();
    let mut wrong = vec![];
    let mut n = 0;
    for row in &table.rows {
        for suffix in ["", ".2"] {
            let value = |name: &str| row.value(&format!("{name}{suffix}"));
            let (Some(b), Some(a), Some(said)) =
                (value(before), value(after), row.get(&format!("{column}{suffix}")))
            else {
                continue;
            };
            n += 1;
            // Half a unit of the last printed digit, and as much again for rounding both ways.
            if (a / b - 1.0 - said.value).abs() > 0.0011 {
                wrong.push(format!(
                    "{} threads {} (it is {})",
                    row.of,
                    signed(said.value),
                    signed(a / b - 1.0)
                ));
            }
        }
    }
    (!wrong.is_empty()).then(|| {
        format!(
            "{} of the {n} differences that {} gives do not follow from its numbers: {}",
            wrong.len(),
            place.name(),
            wrong.join(", ")
        )
    })
}
