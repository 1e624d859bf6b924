//! Problems that drives report about themselves: smartctl's verdict, NVMe's critical warning, a self-test that failed, sectors that cannot be
//! read.
//!
//! Counts over a drive's life are of another time and prove nothing: many errors that it could not correct are a suspicion, replaced sectors are
//! not even that. A drive that reports its own failure need not be what takes long: so confidence is never more than medium.

use super::place::{readings, In};
use super::thresholds::drive::ONE_IN;
use crate::proof::{proof, Proof};
use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Reading, Row, ToolOutput};

/// Bits that say nothing of the data: the temperature, and the power backup of the cache.
const NOT_OF_DATA: u8 = 1 << 1 | 1 << 4;
/// Set for errors of the medium or inside the drive; drives also set it when their rated endurance is used up.
const UNRELIABLE: u8 = 1 << 2;
/// Bits of NVMe's critical warning (NVM Express, SMART / Health Information log).
const WARNINGS: [(u8, &str); 6] = [
    (1 << 0, "its spare blocks are nearly used up"),
    (1 << 1, "it is too hot or too cold, and drives throttle themselves then"),
    (UNRELIABLE, "errors have made it unreliable"),
    (1 << 3, "it accepts no more writes"),
    (1 << 4, "the power backup of its cache has failed"),
    (1 << 5, "its persistent memory is unreliable or read-only"),
];
/// Sectors that could not be read and wait to be replaced: each attempt takes seconds.
const PENDING: &str = "Current_Pending_Sector";

/// What a drive reports.
pub(super) struct Report<'a> {
    /// Its name, if the text has it.
    pub disk: Option<&'a str>,
    pub sure: Confidence,
    pub said: Proof,
    /// Whether its data may be lost.
    pub loses: bool,
}

/// What drives report, the most certain first.
pub(super) fn told(outputs: &[ToolOutput]) -> Vec<Report<'_>> {
    let mut all: Vec<Report> = vec![];
    for (place, reading) in readings(outputs, "smart") {
        all.extend(reading.rows.iter().flat_map(|row| said(place, reading, row)));
    }
    all.sort_by_key(|report| std::cmp::Reverse(report.sure));
    all
}

/// Counts of errors that a drive could not correct, over its life: two attributes of ATA, NVMe's log.
const UNCORRECTED: [&str; 3] = ["Reported_Uncorrect", "Offline_Uncorrectable", "media errors"];
/// What is missing if only such a count is known.
const WHETHER_NOW: &str =
    "whether it grows while something is slow: look at the count again then, and at the kernel's log of that time (dmesg -T)";

/// Suspected if a drive had more errors that it could not correct than it ran days: some are probably of these days. Told of the one with the
/// most.
pub(super) fn of_its_life(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = readings(outputs, "smart").flat_map(|(place, reading)| {
        let hours = reading.rows.iter().find_map(|row| row.value("Power_On_Hours"));
        let counts = reading.rows.iter().flat_map(|row| UNCORRECTED.iter().filter_map(|name| row.get(name)));
        let often =
            counts.filter(move |n| hours.is_some_and(|hours| n.value > hours / ONE_IN && n.value > 1.0));
        often.map(move |n| (place, reading.name.as_str(), n))
    });
    let (place, name, n) = all.max_by(|a, b| a.2.value.total_cmp(&b.2.value))?;
    let said = proof!(
        "{name} had {errors} that it could not correct over its life, more than one a day ({at})",
        name = if name.is_empty() { "the drive" } else { name }.to_owned(),
        errors = Counted(n.value as u64, "error", "errors"),
        at = Source(place.at(n))
    );
    Some(Verdict::cannot_tell("device-errors", WHETHER_NOW).because(said))
}

/// Whether a drive's rated endurance is used up, and it reports no errors of its medium; parts of its report may be several readings.
fn is_worn(output: &ToolOutput, drive: &str) -> bool {
    let readings = || output.runs.iter().flat_map(|run| run.of("smart")).filter(|r| r.name == drive);
    let values = |name| readings().flat_map(|r| &r.rows).filter_map(move |row| row.value(name));
    values("used").any(|part| part >= 1.0) && values("media errors").all(|n| n == 0.0)
}

fn said<'a>(place: In, reading: &'a Reading, row: &Row) -> Vec<Report<'a>> {
    let name = if reading.name.is_empty() { "the drive" } else { &reading.name };
    let at = |n: Number| place.at(n);
    let above_0 = |what: &str| row.get(what).filter(|n| n.value > 0.0);
    let disk = Some(reading.name.as_str()).filter(|name| evidence::is_device_name(name));
    let mut all = vec![];
    if let Some(n) = above_0("failing") {
        let said = proof!("{name} reports that it is failing ({at})", name, at = Source(at(n)));
        all.push(Report { disk, sure: Confidence::Medium, said, loses: true });
    }
    if let Some(n) = above_0("critical warning") {
        let bits = n.value as u8;
        let wear = bits == UNRELIABLE && is_worn(place.output, &reading.name);
        let what: Vec<&str> =
            WARNINGS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, what)| *what).collect();
        let what = match what.is_empty() {
            _ if wear => "it has been written as much as it was made for, without an error so far".to_owned(),
            true => "of an unknown kind".to_owned(),
            false => what.join("; "),
        };
        let said = proof!("{name} warns: {what} ({at})", name, what, at = Source(at(n)));
        let sure = if wear { Confidence::Low } else { Confidence::Medium };
        all.push(Report { disk, sure, said, loses: !wear && bits & !NOT_OF_DATA != 0 });
    }
    if let Some(n) = above_0("self-test failed") {
        let said = proof!("the last self-test of {name} failed ({at})", name, at = Source(at(n)));
        all.push(Report { disk, sure: Confidence::Low, said, loses: true });
    }
    if let Some(n) = above_0(PENDING) {
        let said = proof!(
            "{name} has {n} that it could not read; each attempt takes seconds ({at})",
            name,
            n = Counted(n.value as u64, "sector", "sectors"),
            at = Source(at(n))
        );
        all.push(Report { disk, sure: Confidence::Low, said, loses: true });
    }
    all
}
