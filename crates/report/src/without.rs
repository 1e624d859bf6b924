//! Predicts each victim's latencies without an interfering task, beside the measured ones.

use crate::answer::words::those;
use crate::what_if::grouped;
use crate::wrap::wrap_into;
use explain::answer::{Predicted, Without, CONCERNED};
use explain::Explanation;
use std::fmt::Write;
use trace::Nanos;
use units::words::{count, time};
use waits::Absent;

/// Maximal number of victims on the screen.
const SHOWN: usize = 8;

/// If the upper end of a range is more than this many times its lower end, the order of magnitude is unknown and no value is shown.
const WIDEST: u64 = 10;

/// A prediction as text.
pub(crate) enum Bounds {
    /// The range is narrow enough to show a value.
    Known {
        /// The most probable value.
        value: String,
        /// The lower end of the range.
        from: String,
        /// The upper end of the range.
        to: String,
    },
    /// The range is too wide: only its upper end.
    AtMost(String),
}

/// A prediction as text: if the range is wider than [`WIDEST`], only its upper end.
pub(crate) fn bounds(p: Predicted) -> Bounds {
    match p.high.0 > p.low.0.saturating_mul(WIDEST) {
        true => Bounds::AtMost(time(p.high)),
        false => Bounds::Known { value: time(p.value), from: time(p.low), to: time(p.high) },
    }
}

/// Victims of an explanation's focus: the index of each group with its latencies without a task.
pub type Victims = [(usize, Without)];

/// Draws the latencies now and without that task, for each victim whose mean would fall by [`CONCERNED`] or is not predictable.
pub fn without(e: &Explanation, who: &Absent, victims: &Victims, width: usize) -> String {
    let mut concerned: Vec<&(usize, Without)> = victims.iter().filter(|v| is_concerned(e, v)).collect();
    concerned.sort_by_key(|(number, w)| std::cmp::Reverse(saved(e, *number, w)));
    if concerned.is_empty() {
        return format!("Without {} no mean would be lower by 1 % or more.\n", words(who));
    }
    let mut out = format!("Without {}:\n\n", words(who));
    let mut predicted: Vec<_> =
        concerned.iter().filter_map(|(number, w)| Some((number, w.then.ok()?))).collect();
    predicted.truncate(SHOWN);
    if !predicted.is_empty() {
        let _ = writeln!(out, "{:<30} {:>10} {:>10}  90 % interval", "", "now", "without");
    }
    for (number, then) in &predicted {
        let _ = writeln!(out, "{}", name(e, **number));
        let now = now(e, **number);
        let rows =
            [("mean", now[0], Some(then.mean)), ("p50", now[1], Some(then.p50)), ("p99", now[2], then.p99)];
        for (what, now, then) in rows {
            let (value, within) = match then.map(bounds) {
                None => ("?".into(), "fewer than 100 operations".into()),
                Some(Bounds::Known { value, from, to }) => (value, format!("{from} to {to}")),
                Some(Bounds::AtMost(most)) => ("?".into(), format!("at most {most}")),
            };
            let _ = writeln!(out, "  {what:<28} {:>10} {value:>10}  {within}", time(now));
        }
    }
    let refused = concerned.iter().filter_map(|(number, w)| {
        let mean = time(now(e, *number)[0]);
        Some((w.then.err()?.words(), format!("{}, mean now {mean}", name(e, *number))))
    });
    let refused: Vec<_> = refused.collect();
    let left = victims.len() - predicted.len() - refused.len();
    for (reason, of) in grouped(refused.into_iter()) {
        wrap_into(&mut out, &format!("not predicted: {}: {reason}", of.join("; ")), width, "", "  ");
    }
    let more = match left {
        0 => String::new(),
        _ => format!("{} more would change little. ", count(left as u64)),
    };
    out.push('\n');
    if predicted.is_empty() {
        wrap_into(&mut out, &more, width, "", "");
        return out.trim_end().to_string() + "\n";
    }
    let said = format!(
        "{more}Predicted from operations that were not delayed by what is removed; where these are too few, its part is \
             subtracted from each. How others would use the freed capacity is not known: the interval says how far \
             off such predictions were (docs/what-if.md). Where it is wider than a factor of {WIDEST}, only its \
             upper end is given (?)."
    );
    wrap_into(&mut out, &said, width, "", "");
    out
}

fn words(who: &Absent) -> String {
    match who {
        Absent::Everybody => "all others".into(),
        Absent::Flushes => "the cost of flushes".into(),
        Absent::Task(name) => format!("{name} (all it sends, and what others write of its data)"),
        Absent::Those(them) => those(them),
    }
}

fn name(e: &Explanation, number: usize) -> String {
    let group = &e.focus.groups[number];
    format!(
        "{} {} on {} ({} operations)",
        group.task,
        group.words(),
        e.name(group.dev),
        count(group.operations)
    )
}

/// Measured mean, median and p99; 0 if the victim has no rows in the table of waits.
pub(crate) fn now(e: &Explanation, number: usize) -> [Nanos; 3] {
    let group = &e.focus.groups[number];
    let sums = group.victims.iter().map(|v| e.facts.waits.of(*v).1).max_by_key(|s| s.ops);
    sums.map_or([Nanos(0); 3], |s| [Nanos(s.ns / s.ops.max(1)), s.quantile(0.5), s.quantile(0.99)])
}

fn is_concerned(e: &Explanation, (number, w): &(usize, Without)) -> bool {
    let mean = now(e, *number)[0];
    w.then.is_err() || saved_each(e, *number, w).0 as f64 >= CONCERNED * mean.0 as f64
}

/// The mean time that an operation of a victim would save; 0 if it cannot be predicted.
fn saved_each(e: &Explanation, number: usize, w: &Without) -> Nanos {
    w.then.map_or(Nanos(0), |then| now(e, number)[0].since(then.mean.value))
}

/// The time that all operations of a victim would save, in ns.
fn saved(e: &Explanation, number: usize, w: &Without) -> u64 {
    saved_each(e, number, w).0.saturating_mul(e.focus.groups[number].operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_wider_than_a_factor_of_ten_has_only_an_upper_end() {
        let p =
            |low, value, high| bounds(Predicted { value: Nanos(value), low: Nanos(low), high: Nanos(high) });
        assert!(matches!(p(1000, 3000, 10_000), Bounds::Known { to, .. } if to == "10 us"));
        assert!(matches!(p(1000, 3000, 10_001), Bounds::AtMost(most) if most == "10 us"));
        assert!(matches!(p(0, 0, 70), Bounds::AtMost(_)), "nothing is no end");
        assert!(matches!(p(0, 0, 0), Bounds::Known { .. }));
    }
}
