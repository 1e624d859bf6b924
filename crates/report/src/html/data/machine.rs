//! The machine and the recording: settings, the kernel's counters, lost events, and the quality of the data.

use super::input::Data;
use life::Unfinished;
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos};
use units::words::size;

/// Settings of a device, of the kernel's memory management, or of mounts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// The device or object that they belong to.
    name: String,
    /// Each setting as name, value and source.
    rows: Vec<(String, String, String)>,
}

/// The kernel's counters over time; null if a value was not recorded.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// The end of each interval.
    at_ns: Vec<i64>,
    /// Bytes of dirty data, which waits to be written back.
    dirty: Vec<Option<Bytes>>,
    /// Bytes under writeback.
    writeback: Vec<Option<Bytes>>,
    /// The part of each interval in which some task was stalled on I/O, in thousandths.
    io_stalled: Vec<Option<u64>>,
}

impl Data<'_> {
    /// Settings of the devices that are shown, and of the machine.
    pub(super) fn settings(&self) -> Vec<Settings> {
        let e = &self.shown.explanation;
        let system = &e.subject.system;
        let row = |(name, fact): (&String, &evidence::Fact<String>)| {
            (name.clone(), fact.value.clone(), fact.at.to_string())
        };
        let one = |dev: DevId| {
            let name = e.name(dev);
            let device = system.device_at(dev).or_else(|| system.device(&name))?;
            let rows = device.attributes.iter().take(self.detail.rows).map(row).collect();
            Some(Settings { name, rows })
        };
        let mut all: Vec<Settings> = self.devices().into_iter().filter_map(one).collect();
        let vm: Vec<_> = system.vm.iter().take(self.detail.rows).map(row).collect();
        let mounts = system.mounts.iter().take(self.detail.rows);
        let mounts: Vec<_> = mounts
            .map(|m| (m.target.clone(), format!("{} on {}", m.fstype, m.source), String::new()))
            .collect();
        let beside =
            [("/proc/sys/vm", vm), ("mounts", mounts)].into_iter().filter(|(_, rows)| !rows.is_empty());
        all.extend(beside.map(|(name, rows)| Settings { name: name.into(), rows }));
        all
    }

    /// Seconds in which events were lost, as start, end, number of events and device.
    pub(super) fn losses(&self) -> Vec<(i64, i64, u64, String)> {
        let e = &self.shown.explanation;
        let mut sum: BTreeMap<(u64, DevId), u64> = BTreeMap::new();
        e.subject.quality.lost.iter().for_each(|(at, n)| *sum.entry((at.second, at.dev)).or_default() += n);
        let one = |((second, dev), n): (&(u64, DevId), &u64)| {
            let from = Nanos(second.saturating_mul(Nanos::SECOND.0));
            (self.since(from), self.since(from + Nanos::SECOND), *n, e.name(*dev))
        };
        sum.iter().take(self.detail.rows).map(one).collect()
    }

    /// The kernel's counters; with too many intervals, every n-th one.
    pub(super) fn memory(&self) -> Memory {
        let all = &self.shown.explanation.subject.samples.intervals;
        let every = all.len().div_ceil(self.detail.rows.max(1)).max(1);
        let shown: Vec<_> = all.iter().step_by(every).collect();
        let stalled = |i: &evidence::Interval| {
            let some = i.stalled.io_some?;
            Some((u128::from(some.0) * 1000 / u128::from(i.to.since(i.from).0.max(1))).min(1000) as u64)
        };
        Memory {
            at_ns: shown.iter().map(|i| self.since(i.to)).collect(),
            dirty: shown.iter().map(|i| i.dirty).collect(),
            writeback: shown.iter().map(|i| i.writeback).collect(),
            io_stalled: shown.iter().map(|i| stalled(i)).collect(),
        }
    }

    /// The quality of the data, each row as name, count and meaning.
    pub(super) fn quality(&self) -> Vec<(&'static str, Option<u64>, String)> {
        let e = &self.shown.explanation;
        let (q, tally) = (&e.subject.quality, &e.facts.tally);
        // Like the trust on the screen: requests, and bios that have no request.
        let flight = tally.requests_in_flight + tally.bios_in_flight;
        let counts = [
            ("events read", q.events, "of the block layer and of tasks"),
            ("events lost", q.lost_total(), "the recorder was too slow for them; shaded in the pictures"),
            ("clock steps", q.clock_steps + tally.backward_steps, "times that go backwards"),
            ("begun before", tally.began_before, "I/O whose beginning was not recorded"),
            ("in flight at the end", flight, "I/O that had not ended when the recording did"),
            ("without a match", tally.unmatched(), "events of I/O of which the rest is missing"),
            ("damaged", q.damaged_bytes, "bytes of the recording that could not be read"),
        ];
        let counts = counts.into_iter().map(|(what, n, means)| (what, Some(n), means.to_string()));
        let mut open = Unfinished::default();
        e.facts.devices.iter().flat_map(|d| d.unfinished).for_each(|one| open.add(one));
        let parts = format!(
            "bios of {} not over at the end, of which {} were served: their requests are drawn, they are not",
            size(open.bytes),
            size(open.served)
        );
        let counts = counts.chain((open.bios > 0).then_some(("served in part", Some(open.bios), parts)));
        let notes = e.notes().into_iter().take(self.detail.rows).map(|note| ("remark", None, note));
        counts.chain(notes).collect()
    }
}
