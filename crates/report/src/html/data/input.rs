//! A recording with the detail in which the page draws it: what every part of the data reads.

use crate::html::detail::Detail;
use crate::html::shown::Shown;
use explain::{pictured, Places};
use stats::OpKey;
use trace::{DevId, Nanos};

/// A recording as the page draws it.
pub(super) struct Data<'a> {
    pub(super) shown: &'a Shown,
    pub(super) detail: Detail,
    pub(super) from: Nanos,
    pub(super) at: &'a Places,
}

impl Data<'_> {
    /// The time since the first event, in nanoseconds; negative before it, as the start of a column may be.
    pub(super) fn since(&self, t: Nanos) -> i64 {
        (i128::from(t.0) - i128::from(self.from.0)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The devices that are drawn, within the limit of the detail.
    pub(super) fn devices(&self) -> Vec<DevId> {
        let mut all = pictured::devices(&self.shown.explanation);
        all.truncate(self.detail.devices);
        all
    }

    /// The kinds of operations that are drawn, within the limit of the detail.
    pub(super) fn kinds(&self) -> Vec<OpKey> {
        let mut all = pictured::kinds(&self.shown.explanation);
        all.truncate(self.detail.kinds);
        all
    }

    /// What the page leaves out, one sentence each.
    pub(super) fn left_out(&self) -> Vec<String> {
        let mut words = vec![];
        let facts = &self.shown.explanation.facts;
        let devices = facts.devices.iter().filter(|d| d.has_io()).count();
        if devices > self.detail.devices {
            words.push(format!(
                "{} of {devices} devices are drawn, those with the most I/O",
                self.detail.devices
            ));
        }
        if self.shown.pictures.left_out > 0 {
            let n = units::words::count(self.shown.pictures.left_out);
            words.push(format!("{n} requests or operations of further devices and kinds are in no picture"));
        }
        if self.detail != Detail::FULL {
            words.push("times are drawn more coarsely than they were kept, to keep this page small".into());
        }
        words
    }
}
