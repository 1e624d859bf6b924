//! How far the samples can be trusted.

use crate::fact::At;

/// What was odd, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleQuality {
    /// Samples understood.
    pub samples: u64,
    /// Lines that are no sample.
    pub unknown: u64,
    /// The first of them.
    pub first_unknown: Option<At>,
    /// Whether the last line is cut off, as when the recorder was killed.
    pub cut: bool,
    /// Samples whose time is not later than that of the one before: skipped.
    pub backwards: u64,
    /// Seconds without a sample of their own; the interval is longer then.
    pub missing_seconds: u64,
    /// Devices that came; they count from their second sample on.
    pub appeared: u64,
    /// Devices that went.
    pub vanished: u64,
    /// Intervals of a device in which its counters restarted: left out.
    pub began_anew: u64,
    /// Counters that went around 32 bits: reckoned with.
    pub wrapped: u64,
    /// Intervals of a device with fewer numbers than any kernel prints: left out.
    pub too_short: u64,
    /// Devices and processors of a sample beyond what a machine has: left out.
    pub left_out: u64,
    /// How many intervals were joined to one, to bound the memory; 1: none.
    pub joined: u64,
}

impl SampleQuality {
    /// What a reader of the numbers must know, in words.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(at) = &self.first_unknown {
            notes.push(format!("lines that are not samples: {}, the first at {at}", self.unknown));
        }
        if self.cut {
            notes.push("the last sample is cut off".into());
        }
        if self.joined > 1 {
            notes.push(format!("{} samples each are shown together, because there are so many", self.joined));
        }
        for (n, what) in [
            (
                self.missing_seconds,
                "seconds without a sample, so that numbers beside them are over a longer time",
            ),
            (self.backwards, "samples that are not later than the one before, left out"),
            (self.appeared, "devices that appeared during the recording; their first second is not known"),
            (self.vanished, "devices that disappeared during the recording"),
            (self.began_anew, "intervals left out because a device's counters restarted"),
            (self.too_short, "intervals left out because a device has fewer numbers than any kernel prints"),
            (self.left_out, "devices and processors left out because no machine has so many"),
        ] {
            if n > 0 {
                notes.push(format!("{what}: {n}"));
            }
        }
        notes
    }
}
