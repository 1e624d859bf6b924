//! How far a recording can be trusted, in JSON.

use explain::{Explanation, Trust};
use life::Tally;
use serde::Serialize;
use trace::Cpu;

/// What was lost, damaged or out of order.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Quality {
    /// Events read.
    pub events: u64,
    /// Events lost.
    pub lost: u64,
    /// Unmatched events.
    pub unmatched: u64,
    /// Backward clock steps.
    pub clock_steps: u64,
    /// How far the result can be trusted.
    pub verdict: Trust,
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub counted: Option<Counted>,
}

/// What was counted of a recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Counted {
    /// Events out of order.
    out_of_order: u64,
    /// Bytes outside any record.
    damaged_bytes: u64,
    /// Records cut off.
    cut_records: u64,
    /// Events of unknown kinds.
    unknown: u64,
    /// The outcome of all that was queued.
    tally: Tally,
    /// Where events were lost.
    lost_at: Vec<Lost>,
}

/// Events lost in a second.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Lost {
    /// The device.
    device: String,
    /// The processor.
    cpu: Cpu,
    /// The second of the recording's clock.
    second: u64,
    /// The number of events.
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
