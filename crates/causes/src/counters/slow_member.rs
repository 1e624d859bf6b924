//! One disk of several alike takes much longer than the others: `slow-member`. An array is as slow as its slowest member.
//!
//! **Proof**: disks with about the same traffic, of which one has several times the median wait of the others.
//! **Refuted** if the slow disk has more to do than the others.

use super::busy::{in_commands, is_disk, numbers, tables, MORE_REPORTS};
use super::place::In;
use super::say::{judged, quantity, times};
use super::thresholds::evidence::{REPORTS, REQUESTS};
use super::thresholds::slow_member::{ALIKE, LEAST_PEERS, LONG, SLOWER};
use crate::hardware::Hardware;
use crate::proof::proof;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Row, ToolOutput, Unit};

const NAME: &str = "slow-member";

/// A disk that stands out in one report.
struct Slow<'a> {
    place: In<'a>,
    row: &'a Row,
    wait: f64,
    middle: f64,
    peers: usize,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut found: Vec<Slow> = vec![];
    let mut reports = 0;
    for output in outputs {
        for table in tables(output) {
            let rows = table.rows.iter().map(|(row, _)| *row);
            let rows: Vec<&Row> = rows.filter(|r| is_whole_disk(&r.of) && rate(r) >= 1.0).collect();
            reports += usize::from(rows.len() > LEAST_PEERS);
            found.extend(slow(table.place, &rows));
        }
    }
    let worst = found.iter().max_by(|a, b| (a.wait / a.middle).total_cmp(&(b.wait / b.middle)))?;
    let name = &worst.row.of;
    let same = found.iter().filter(|s| s.row.of == *name).count();
    let requests: f64 = found.iter().filter(|s| s.row.of == *name).map(|s| rate(s.row)).sum();
    // The same disk in most reports; else it was chance.
    if 2 * same < reports || requests < REQUESTS {
        return None;
    }
    let at = worst.row.values.iter().next().map_or(String::new(), |(_, n)| worst.place.at(n));
    let enough = same >= REPORTS;
    let v = judged(NAME, enough, Confidence::Medium, MORE_REPORTS).because(proof!(
        "{name} takes {wait} a request ({at}), the median of its {peers} peers with the same traffic {middle}: {ratio} longer, \
         in {same} of {reports} reports",
        name,
        wait = quantity(worst.wait, Unit::Nanoseconds),
        at = Source(at),
        peers = Count(worst.peers as u64),
        middle = quantity(worst.middle, Unit::Nanoseconds),
        ratio = times(worst.wait / worst.middle),
        same = Count(same as u64),
        reports = Count(reports as u64)
    ));
    if !enough {
        return Some(v);
    }
    let (shows, look) = Hardware::check(&in_commands(name));
    Some(
        v.unless("more traffic to it than to its peers, or the same wait on all of them")
            .without("what it waits for: iowhy record with all members; the kernel's log of errors")
            .try_this(shows, look),
    )
    .map(|v| match Hardware::of(&in_commands(name)) {
        // SCT Error Recovery Control, of ATA.
        Hardware::Scsi => v.try_this(
            "a SATA disk that gives up after seconds, not minutes, lets the array answer from the others (drives for servers)",
            format!("smartctl -l scterc,70,70 /dev/{}", in_commands(name)),
        ),
        _ => v,
    })
}

/// Whether it is a whole disk: a partition has its disk's wait and a part of its traffic.
fn is_whole_disk(name: &str) -> bool {
    let partition = name.starts_with("sd") && name.ends_with(|c: char| c.is_ascii_digit())
        || name.starts_with("nvme") && name.contains('p')
        // Each SCSI disk has 16 minor numbers.
        || numbers(name).is_some_and(|(major, minor)| major != 259 && minor % 16 != 0);
    is_disk(name) && !partition
}

fn rate(row: &Row) -> f64 {
    ["r/s", "w/s", "tps"].iter().filter_map(|name| row.value(name)).sum()
}

/// The mean wait of its reads and writes together, in ns.
fn wait(row: &Row) -> Option<f64> {
    if let Some(all) = row.value("await") {
        return Some(all);
    }
    let of = |wait: &str, rate: &str| Some((row.value(wait)?, row.value(rate).unwrap_or(0.0)));
    let (reads, writes) = (of("r_await", "r/s")?, of("w_await", "w/s")?);
    let all = reads.1 + writes.1;
    (all > 0.0).then(|| (reads.0 * reads.1 + writes.0 * writes.1) / all)
}

/// The disk that stands out in one report, if its peers have the same traffic.
fn slow<'a>(place: In<'a>, rows: &[&'a Row]) -> Option<Slow<'a>> {
    let mut by_wait: Vec<(f64, &Row)> = rows.iter().filter_map(|r| Some((wait(r)?, *r))).collect();
    by_wait.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (longest, row) = by_wait.pop()?;
    let peers = by_wait.len();
    let middle = by_wait.get(peers / 2)?.0;
    // The slowest of the peers must not be nearly as slow.
    let next = by_wait.last()?.0;
    let rates: Vec<f64> = by_wait.iter().map(|(_, r)| rate(r)).collect();
    let (least, most) =
        (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
    let alike = peers >= LEAST_PEERS && most <= ALIKE * least && rate(row) <= ALIKE * most;
    let out =
        longest >= LONG.0 as f64 && longest >= SLOWER * middle.max(1.0) && longest >= SLOWER * next / 2.0;
    (alike && out).then_some(Slow { place, row, wait: longest, middle, peers })
}
