//! The quality of a recording in JSON: how far it can be trusted.

use explain::{Explanation, Trust};
use life::Tally;
use serde::Serialize;
use trace::Cpu;

/// What was lost, damaged or out of order.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Quality {
    /// Number of events read.
    pub events: u64,
    /// Number of events lost.
    pub lost: u64,
    /// Number of events without a match that the beginning of the recording does not explain.
    pub unmatched: u64,
    /// Number of steps backwards in time.
    pub clock_steps: u64,
    /// How far the result can be trusted.
    pub verdict: Trust,
    /// Remarks, one sentence each.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub counted: Option<Counted>,
}

/// Further counts of a recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Counted {
    /// Number of events out of order.
    out_of_order: u64,
    /// Number of bytes outside any record.
    damaged_bytes: u64,
    /// Number of records that are cut off.
    cut_records: u64,
    /// Number of events of unknown kinds.
    unknown: u64,
    /// The outcome of all that was queued.
    tally: Tally,
    /// Lost events by device, processor and second.
    lost_at: Vec<Lost>,
}

/// Events lost on one device and processor in one second.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Lost {
    /// The name of the device.
    device: String,
    /// The number of the processor.
    cpu: Cpu,
    /// The second of the recording's clock.
    second: u64,
    /// Number of events lost.
    events: u64,
}

impl Quality {
    pub fn of(e: &Explanation) -> Quality {
        let (q, tally) = (&e.subject.quality, e.facts.tally);
        let lost = q.lost.iter().map(|(at, n)| Lost {
            device: e.name(at.dev),
            cpu: at.cpu,
            second: at.second,
            events: *n,
        });
        Quality {
            events: q.events,
            lost: q.lost_total(),
            unmatched: tally.unmatched(),
            clock_steps: q.clock_steps + tally.backward_steps,
            verdict: e.trust,
            notes: e.notes(),
            counted: Some(Counted {
                out_of_order: q.out_of_order,
                damaged_bytes: q.damaged_bytes,
                cut_records: q.cut_records,
                unknown: q.unknown,
                tally,
                lost_at: lost.collect(),
            }),
        }
    }

    pub fn cut(&mut self, rows: usize) {
        self.notes.truncate(rows);
        self.counted.iter_mut().for_each(|c| c.lost_at.truncate(rows));
    }
}
