//! A disk that is always busy, from iostat's rows: `device-saturated` if it goes on completing requests, `device-stall` if it does
//! not. With a queue of 200, a disk that takes 350 ms a request is saturated; a disk that completes nothing for six reports hangs.
//!
//! Stacked devices (md, dm, loop, drbd) are as busy as the devices below them, so only disks are judged. **Refuted** by
//! short waits: an SSD at 100 % with a short queue serves one request at a time as fast as it can. **Suspected** are a queue in which
//! requests wait for longer than Linux expects of flash, since the disk may rotate, and a disk that is busy for very long with each of a
//! few requests, since it may be a burst.

use super::place::In;
use super::say::{judged, number, plain};
use super::thresholds::busy::{BUSY, LEAST_BEHIND, LEAST_QUEUE, LONG_WAIT};
use super::thresholds::evidence::REPORTS;
use crate::hardware::Hardware;
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::WBT_FLASH;
use crate::verdict::{Confidence, Verdict};
use std::ops::RangeInclusive;
use tooltext::{Number, Reading, Row, Run, SinceBoot, ToolOutput};
use trace::Nanos;

/// One disk in one report.
pub(super) struct Report<'a> {
    pub place: In<'a>,
    pub row: &'a Row,
    /// Whether it is the mean since the machine was started.
    pub since_boot: bool,
}

impl Report<'_> {
    fn value(&self, name: &str) -> f64 {
        self.row.value(name).unwrap_or(0.0)
    }

    /// Completed requests a second; `None` if the text does not say.
    fn completed(&self) -> Option<f64> {
        let all = ["r/s", "w/s", "d/s", "f/s", "tps"];
        all.iter()
            .any(|name| self.row.get(name).is_some())
            .then(|| all.iter().map(|name| self.value(name)).sum())
    }

    fn is_full(&self) -> bool {
        self.is_full_with(LEAST_QUEUE)
    }

    /// Whether it is busy all the time with at least so many requests in flight.
    fn is_full_with(&self, queue: f64) -> bool {
        self.value("util") >= BUSY && self.value("queue") >= queue
    }

    fn hangs(&self) -> bool {
        let nothing = self.completed().is_some_and(|n| n < 1.0)
            && self.wait().is_none_or(|(_, wait)| wait.value == 0.0);
        nothing && self.value("util") >= BUSY
    }

    /// For how long the disk is busy for each request; on average each takes at least as long, and longer if several are served together.
    fn busy_with_each(&self) -> Option<Nanos> {
        let rate = self.completed().filter(|rate| *rate > 0.0)?;
        Some(Nanos((self.value("util") / rate * 1e9) as u64))
    }

    /// Whether the text says that there are requests. Linux counts the time of requests when they are completed (from 5.0 on), so the queue
    /// of a disk that completes nothing is 0.
    fn has_queue(&self) -> bool {
        self.value("queue") >= 1.0
    }

    /// The mean time of the reads or of the writes, whichever took more time in all; of all requests, if the text does not tell them apart;
    /// `None` if it has no times.
    fn wait(&self) -> Option<(&'static str, Number)> {
        let of = |(rate, wait, kind)| Some((self.value(rate), (kind, self.row.get(wait)?)));
        let each = [("r/s", "r_await", "reads"), ("w/s", "w_await", "writes"), ("", "await", "requests")];
        let all = each.into_iter().filter_map(of);
        let took = |(rate, (_, wait)): &(f64, (&str, Number))| [rate * wait.value, wait.value];
        all.max_by(|a, b| {
            f64::total_cmp(&took(a)[0], &took(b)[0]).then(f64::total_cmp(&took(a)[1], &took(b)[1]))
        })
        .map(|(_, wait)| wait)
    }
}

/// Whether a device is a disk and not stacked on others.
pub(super) fn is_disk(name: &str) -> bool {
    let by_name =
        ["sd", "nvme", "vd", "xvd", "hd", "mmcblk", "dasd"].iter().any(|kind| name.starts_with(kind));
    by_name || numbers(name).is_some_and(|(major, _)| MAJORS.iter().any(|range| range.contains(&major)))
}

/// Major numbers of disks' drivers (Linux, Documentation/admin-guide/devices.txt): SCSI's, MMC's, `blkext` of NVMe.
/// Other numbers are assigned as drivers are loaded, to device mapper as well as to virtio's disks.
const MAJORS: [RangeInclusive<u32>; 5] = [8..=8, 65..=71, 128..=135, 179..=179, 259..=259];

/// Major and minor number in sar's default names: `dev8-96`.
pub(super) fn numbers(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("dev")?.split_once('-')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// How commands name a disk: by its numbers, `8,96`, if its name is not known.
pub(super) fn in_commands(name: &str) -> String {
    numbers(name).map_or_else(|| name.to_owned(), |(major, minor)| format!("{major},{minor}"))
}

/// One table of disks, with each row whether it is the mean since the machine was started.
pub(super) struct Table<'a> {
    pub place: In<'a>,
    pub rows: Vec<(&'a Row, bool)>,
}

/// The tables of disks. sar's means over all intervals count only if there are no intervals: they say nothing new.
pub(super) fn tables(output: &ToolOutput) -> impl Iterator<Item = Table<'_>> {
    let only_means = output.runs.iter().flat_map(|run| run.of("sar")).all(|r| r.name == "average");
    let of = |tool: &'static str| output.runs.iter().flat_map(move |run| of_run(run, tool));
    of("iostat").chain(of("sar").filter(move |(_, r, _)| only_means || r.name != "average")).map(
        move |(run, reading, since)| Table {
            place: In { output, run },
            rows: reading.rows.iter().zip(since).collect(),
        },
    )
}

/// A tool's readings of a run, each with its rows that are means since the machine was started, by the command or by the banner before
/// them. Of many reports without both any may be the first; a median does not mind one.
fn of_run<'a>(run: &'a Run, tool: &'static str) -> impl Iterator<Item = (&'a Run, &'a Reading, Vec<bool>)> {
    let is = |since: SinceBoot| match since {
        SinceBoot::Yes => true,
        SinceBoot::Likely => run.follows_banner(),
        SinceBoot::No => false,
    };
    let since = if run.of(tool).next().is_some() { run.since_boot() } else { vec![] };
    let all = run.readings.iter().zip(since).filter(move |(reading, _)| reading.tool == tool);
    all.map(move |(reading, since)| (run, reading, since.into_iter().map(is).collect()))
}

/// The reports of each disk in their order, by the disk's name.
pub(super) fn by_disk(outputs: &[ToolOutput]) -> Vec<(&str, Vec<Report<'_>>)> {
    let mut all: Vec<(&str, Vec<Report>)> = vec![];
    for table in outputs.iter().flat_map(tables) {
        for (row, since_boot) in table.rows.into_iter().filter(|(row, _)| is_disk(&row.of)) {
            let report = Report { place: table.place, row, since_boot };
            match all.iter().position(|(name, _)| *name == row.of) {
                Some(at) => all[at].1.push(report),
                None if all.len() < MOST_DISKS => all.push((&row.of, vec![report])),
                None => {}
            }
        }
    }
    all
}

/// The most disks that are judged.
const MOST_DISKS: usize = 256;

/// The longest run of consecutive reports in which a disk hangs, if there are enough; with `queue`, only reports that show one.
fn longest<'a>(
    disks: &'a [(&'a str, Vec<Report<'a>>)],
    queue: bool,
    enough: usize,
) -> Option<(&'a str, &'a [Report<'a>])> {
    let is = move |r: &Report| r.hangs() && (r.has_queue() || !queue);
    let runs = move |(name, reports): &'a (&'a str, Vec<Report<'a>>)| {
        reports.chunk_by(move |a, b| is(a) == is(b)).filter(move |run| is(&run[0])).map(|run| (*name, run))
    };
    disks.iter().flat_map(runs).filter(|(_, run)| run.len() >= enough).max_by_key(|(_, run)| run.len())
}

/// `device-stall`: consecutive reports in which a disk is busy and completes nothing.
pub(super) fn stalled(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "device-stall";
    let disks = by_disk(outputs);
    let of = |queue, enough| longest(&disks, queue, enough).map(|(name, reports)| (name, reports, queue));
    let hangs = of(true, REPORTS).or_else(|| of(false, REPORTS));
    // A single report in which nothing completes says less than others with long requests.
    if let Some(v) = hangs.is_none().then(|| few_and_long(&disks)).flatten() {
        return Some(v);
    }
    let (name, reports, has_queue) = hangs.or_else(|| of(true, 1)).or_else(|| of(false, 1))?;
    let first = &reports[0];
    let queue = first.row.get("queue")?;
    if !has_queue {
        return Some(Verdict::cannot_tell(NAME, WHETHER_ANY).because(proof!(
            "{name} is busy in {n} but completes nothing (first: {at})",
            name,
            n = Counted(reports.len() as u64, "report", "consecutive reports"),
            at = Source(first.place.at(queue))
        )));
    }
    let v = judged(NAME, reports.len() >= REPORTS, Confidence::Medium, MORE_REPORTS).because(proof!(
        "{name} is busy in {n} but completes nothing, with {queue} requests in flight (first: {at})",
        name,
        n = Counted(reports.len() as u64, "report", "consecutive reports"),
        queue = plain(queue.value),
        at = Source(first.place.at(queue))
    ));
    if reports.len() < REPORTS {
        return Some(v);
    }
    let (shows, look) = Hardware::check(&in_commands(name));
    Some(
        v.unless("completions in these reports, however slow")
            .without("what it hangs on: the kernel's log of these seconds (dmesg -T), and iowhy record")
            .try_this(shows, look)
            .try_this(
                "the kernel logs resets and timeouts",
                Action::look("dmesg -T | grep -iE 'reset|timeout|error|hung'"),
            ),
    )
}

/// A disk that is busy all the time with a few requests, each of which takes longer than Linux expects of any disk: suspected, the one
/// that is busy longest with each.
fn few_and_long(disks: &[(&str, Vec<Report>)]) -> Option<Verdict> {
    let of = |report: &Report| report.busy_with_each().filter(|each| *each >= LONG_WAIT);
    let is_busy = |report: &&Report| report.value("util") >= BUSY && !report.is_full();
    let all = disks.iter().flat_map(|(name, reports)| {
        reports.iter().filter(is_busy).filter_map(move |report| Some((*name, report, of(report)?)))
    });
    let all: Vec<_> = all.collect();
    let (name, report, each) = all.iter().max_by_key(|(_, _, each)| *each)?;
    let util = report.row.get("util")?;
    let said = proof!(
        "{name} is busy {util} of the time and completes only {rate} requests a second ({at}): {each} for each",
        name = (*name).to_owned(),
        util = number(util),
        rate = plain(report.completed().unwrap_or(0.0)),
        at = Source(report.place.at(util)),
        each = *each
    );
    let (_, reports) = disks.iter().find(|(disk, _)| disk == name)?;
    let alike = all.iter().filter(|(other, _, _)| other == name).count() as u64;
    let often = proof!(
        "so it is in {alike} of {of_all} reports",
        alike = Count(alike),
        of_all = Count(reports.len() as u64)
    );
    let nothing = reports.iter().filter(|r| r.hangs()).count() as u64;
    let often = match nothing {
        0 => often,
        _ => proof!("{often}, and in {nothing} it completes nothing", often, nothing = Count(nothing)),
    };
    let (shows, look) = Hardware::check(&in_commands(name));
    let v = Verdict::cannot_tell("device-stall", WHAT_TAKES_LONG).because(said);
    let v = if reports.len() > 1 { v.because(often) } else { v };
    Some(v.try_this(shows, look))
}

/// `device-saturated`: a disk that is always busy, with a queue, and takes long for each request.
pub(super) fn saturated(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "device-saturated";
    let mut told = vec![];
    let mut enough = false;
    for (name, reports) in by_disk(outputs).iter().take(MOST_DISKS) {
        let full: Vec<&Report> =
            reports.iter().filter(|r| r.is_full() && r.completed().is_some_and(|n| n >= 1.0)).collect();
        let slow = |r: &&&Report| r.wait().is_some_and(|(_, wait)| wait.value >= LONG_WAIT.0 as f64);
        // In fewer than half of the reports it is a burst.
        if 2 * full.len() < reports.len() || full.is_empty() {
            continue;
        }
        let Some(worst) =
            full.iter().filter(slow).max_by(|a, b| a.value("queue").total_cmp(&b.value("queue")))
        else {
            continue;
        };
        let (Some((kind, wait)), Some(util)) = (worst.wait(), worst.row.get("util")) else { continue };
        enough |= full.iter().filter(|r| !r.since_boot).count() >= REPORTS;
        told.push(proof!(
            "{name} is busy {util} of the time with {queue} requests in flight; its {kind} take {wait} on average ({at}); it \
                 completes only {rate} requests a second",
            kind = Text(kind.to_owned()),
            name = Text((*name).to_owned()),
            util = number(util),
            queue = plain(worst.value("queue")),
            wait = number(wait),
            at = Source(worst.place.at(wait)),
            rate = plain(worst.completed().unwrap_or(0.0))
        ));
    }
    if told.is_empty() {
        return crowded(outputs);
    }
    let v = judged(NAME, enough, Confidence::Medium, MORE_REPORTS);
    let v = told.into_iter().fold(v, Verdict::because);
    if !enough {
        return Some(v);
    }
    Some(
        v.unless("requests just as slow with few others in the device")
            .without("who sends them and who waits: iowhy record")
            .try_this("which task loads it", Action::look("pidstat -d 1 10; iotop -oa")),
    )
}

/// A queue in which requests wait for longer than Linux expects of flash: suspected, since the disk may be one that rotates.
fn crowded(outputs: &[ToolOutput]) -> Option<Verdict> {
    let slow = |r: &&Report| r.wait().is_some_and(|(_, wait)| wait.value >= WBT_FLASH.0 as f64);
    let disks = by_disk(outputs);
    let all = disks.iter().flat_map(|(name, reports)| {
        let of = |least: f64| reports.iter().filter(move |r| r.is_full_with(least)).filter(slow);
        // A short queue in a single report may be a burst.
        let short = of(LEAST_BEHIND).filter(|r| !r.since_boot).count() >= REPORTS;
        let full: Vec<&Report> = of(if short { LEAST_BEHIND } else { LEAST_QUEUE }).collect();
        let most = 2 * full.len() >= reports.len();
        full.into_iter().filter(move |_| most).map(move |report| (*name, report))
    });
    let (name, report) = all.max_by(|(_, a), (_, b)| a.value("queue").total_cmp(&b.value("queue")))?;
    let ((kind, wait), util) = (report.wait()?, report.row.get("util")?);
    let said = proof!(
        "{name} is busy {util}: {queue} requests in flight at {rate} a second, so {kind} take {wait} ({at})",
        name,
        util = number(util),
        queue = plain(report.value("queue")),
        rate = plain(report.completed().unwrap_or(0.0)),
        kind = Text(kind.to_owned()),
        wait = number(wait),
        at = Source(report.place.at(wait))
    );
    Some(
        Verdict::cannot_tell("device-saturated", ALONE)
            .because(said)
            .try_this("which task loads it", Action::look("pidstat -d 1 10; iotop -oa")),
    )
}

/// What is missing to call a queue too long.
const ALONE: &str =
    "what a request takes with few others in the device, who sends them and who waits: iowhy record";

/// What is missing if a disk is busy with a few long requests.
const WHAT_TAKES_LONG: &str = "whether it stays so (iostat -x 1 30), what the kernel's log says of that time (dmesg -T), and which requests take long: \
                               iowhy record";

/// What is missing if a disk is busy, completes nothing, and shows no queue.
const WHETHER_ANY: &str = "whether it has requests and what it hangs on: grep -H . /sys/block/*/inflight; dmesg -T | tail; sudo iowhy record -o slow";

/// What is missing if a disk was seen in too few reports.
pub(super) const MORE_REPORTS: &str =
    "whether it stays so: one report may be the mean since the start of the machine, or one second of many; iostat -x 1 30 while it is slow";
