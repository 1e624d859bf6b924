//! Memory that is read back from swap all the time: `swap`, from vmstat's columns `si` and `so`.
//!
//! **Proof**: in most intervals pages come back from swap while tasks are blocked (`b`), and they are more than a few.
//! **Refuted** if nothing comes back: swapped pages that nobody needs cost nothing. These sums cannot say who waits.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::evidence::INTERVALS;
use super::thresholds::swap::{LEAST_RATE, MOSTLY};
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Row, ToolOutput};
use trace::Nanos;

const NAME: &str = "swap";

/// The intervals that one call of vmstat shows.
struct Intervals<'a> {
    place: In<'a>,
    rows: &'a [Row],
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = readings(outputs, "vmstat").filter_map(|(place, r)| intervals(place, &r.rows));
    let most = all.max_by(|a, b| a.rate("swapped in").total_cmp(&b.rate("swapped in")))?;
    let (read, written) = (most.told("swapped in")?, most.told("swapped out")?);
    let n = most.rows.len() as u64;
    let blocked = most.part(|row| value(row, "swapped in") > 0.0 && value(row, "blocked") > 0.0);
    let told = proof!(
        "{read} came back from swap and {written} went there on average over {n} ({at}); tasks were blocked in {blocked} of these \
         while pages came back",
        read = number(read),
        written = number(written),
        n = Counted(n, "interval", "intervals"),
        at = Source(most.place.at(read)),
        blocked = Share(blocked)
    );
    if read.value < LEAST_RATE || blocked < MOSTLY {
        return Some(Verdict::rejected(NAME, told));
    }
    Some(
        Verdict::found(NAME, Nanos(0), Confidence::Medium)
            .because(told)
            .unless("programs just as slow with nothing in swap")
            .without("who waits for it, and how long each time: iowhy record while it swaps")
            .try_this(
                "see who has most in swap",
                Action::look("grep -H VmSwap /proc/[0-9]*/status | sort -k2 -n | tail -5; swapon --show"),
            )
            .try_this(
                "keep swapped pages compressed in memory: costs processor time, and memory for the pool",
                "echo 1 > /sys/module/zswap/parameters/enabled",
            ),
    )
}

/// All rows but vmstat's first, which is the mean since the machine was started and says nothing about now.
fn intervals<'a>(place: In<'a>, rows: &'a [Row]) -> Option<Intervals<'a>> {
    let rows = rows.get(1..).filter(|rows| rows.len() >= INTERVALS)?;
    rows.first()?.get("swapped in")?;
    Some(Intervals { place, rows })
}

fn value(row: &Row, name: &str) -> f64 {
    row.value(name).unwrap_or(0.0)
}

impl Intervals<'_> {
    fn rate(&self, name: &str) -> f64 {
        self.rows.iter().map(|row| value(row, name)).sum::<f64>() / self.rows.len().max(1) as f64
    }

    /// The mean of a column, with the place of its first value.
    fn told(&self, name: &str) -> Option<Number> {
        Some(Number { value: self.rate(name), ..self.rows.first()?.get(name)? })
    }

    fn part(&self, is: impl Fn(&Row) -> bool) -> f64 {
        self.rows.iter().filter(|row| is(row)).count() as f64 / self.rows.len().max(1) as f64
    }
}
