//! How far the samples can be trusted.

use crate::fact::At;

/// Counts of oddities in the samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleQuality {
    /// Number of samples that were read.
    pub samples: u64,
    /// Number of lines that are no sample.
    pub unknown: u64,
    /// Location of the first of these lines.
    pub first_unknown: Option<At>,
    /// Whether the last line is truncated, for example because the recorder was killed.
    pub cut: bool,
    /// Samples that are not later than the previous one: skipped.
    pub backwards: u64,
    /// Seconds without a sample; the interval is then longer.
    pub missing_seconds: u64,
    /// Devices that appeared; they are counted from their second sample on.
    pub appeared: u64,
    /// Devices that vanished.
    pub vanished: u64,
    /// Intervals of a device in which its counters restarted: left out.
    pub began_anew: u64,
    /// Counters that wrapped at 32 bits: corrected.
    pub wrapped: u64,
    /// Intervals of a device with fewer values than any kernel prints: left out.
    pub too_short: u64,
    /// Devices and processors above the limit per sample: left out.
    pub left_out: u64,
    /// Number of intervals joined into one to bound the memory; 1 if none were.
    pub joined: u64,
}

impl SampleQuality {
    /// Remarks for a reader of the numbers, in words.
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
