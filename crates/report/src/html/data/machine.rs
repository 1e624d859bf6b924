//! The machine and the recording: settings, what the kernel counted, what was lost, how far the numbers are good.

use super::Data;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use trace::{DevId, Nanos};

impl Data<'_> {
    /// Settings of the devices that are shown: name, value, where that is said.
    pub(super) fn settings(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let system = &e.subject.system;
        let one = |dev: DevId| {
            let name = e.name(dev);
            let device = system.device_at(dev).or_else(|| system.device(&name))?;
            let row = |(path, fact): (&String, &evidence::Fact<String>)| json!([path, fact.value, fact.at]);
            let rows: Vec<_> = device.attributes.iter().take(self.detail.rows).map(row).collect();
            Some(json!({ "name": name, "rows": rows }))
        };
        let mut all: Vec<Value> = self.devices().into_iter().filter_map(one).collect();
        let vm: Vec<_> =
            system.vm.iter().take(self.detail.rows).map(|(k, f)| json!([k, f.value, f.at])).collect();
        if !vm.is_empty() {
            all.push(json!({ "name": "/proc/sys/vm", "rows": vm }));
        }
        let mounts = system.mounts.iter().take(self.detail.rows);
        let mounts: Vec<_> =
            mounts.map(|m| json!([m.target, format!("{} on {}", m.fstype, m.source), ""])).collect();
        if !mounts.is_empty() {
            all.push(json!({ "name": "mounts", "rows": mounts }));
        }
        all
    }

    /// Seconds in which events were lost: from, to, how many, on which device.
    pub(super) fn losses(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let mut sum: BTreeMap<(u64, DevId), u64> = BTreeMap::new();
        e.subject.quality.lost.iter().for_each(|(at, n)| *sum.entry((at.second, at.dev)).or_default() += n);
        let one = |((second, dev), n): (&(u64, DevId), &u64)| {
            let from = Nanos(second.saturating_mul(Nanos::SECOND.0));
            json!([self.since(from), self.since(from + Nanos::SECOND), n, e.name(*dev)])
        };
        sum.iter().take(self.detail.rows).map(one).collect()
    }

    /// What the kernel counted each second: until when, bytes dirty, bytes under write-back, the part of the time in
    /// which tasks stood still for I/O, in thousandths.
    pub(super) fn memory(&self) -> Value {
        let all = &self.shown.explanation.subject.samples.intervals;
        let every = all.len().div_ceil(self.detail.rows.max(1)).max(1);
        let shown: Vec<_> = all.iter().step_by(every).collect();
        let stalled = |i: &evidence::Interval| {
            let some = i.stalled.io_some?;
            Some((u128::from(some.0) * 1000 / u128::from(i.to.since(i.from).0.max(1))).min(1000) as u64)
        };
        json!({
            "at_ns": shown.iter().map(|i| self.since(i.to)).collect::<Vec<_>>(),
            "dirty": shown.iter().map(|i| i.dirty).collect::<Vec<_>>(),
            "writeback": shown.iter().map(|i| i.writeback).collect::<Vec<_>>(),
            "io_stalled": shown.iter().map(|i| stalled(i)).collect::<Vec<_>>(),
        })
    }

    /// How good the data is: what, how many, what that means.
    pub(super) fn quality(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let (q, tally) = (&e.subject.quality, &e.facts.tally);
        // As the trust of the screen: a request and the bios in it were both not over.
        let flight = tally.requests_in_flight + tally.bios_in_flight;
        let mut rows = vec![
            json!(["events read", q.events, "of the block layer and of tasks"]),
            json!([
                "events lost",
                q.lost_total(),
                "the recorder was too slow for them; shaded in the pictures"
            ]),
            json!(["clock steps", q.clock_steps + tally.backward_steps, "times that go backwards"]),
            json!(["begun before", tally.began_before, "I/O whose beginning was not recorded"]),
            json!(["in flight at the end", flight, "I/O that was not over when the recording ended"]),
            json!(["without a match", tally.unmatched(), "events of I/O of which the rest is missing"]),
            json!(["damaged", q.damaged_bytes, "bytes of the recording that could not be read"]),
        ];
        rows.extend(e.notes().into_iter().take(self.detail.rows).map(|note| json!(["remark", null, note])));
        rows
    }
}
