//! What the page's pictures are drawn from: schema `iowhy.page/1`, read by `page/src/data.ts` and by nothing else.
//!
//! Times are in nanoseconds since the first event. Numbers that `explain --json` has are that object itself; rows of
//! numbers are [packed](super::pack).

mod findings;
mod groups;
mod machine;
mod places;
mod slow;
mod spread;

use super::detail::Detail;
use super::Shown;
use crate::json::to_json;
use explain::pictured;
use explain::Places;
use serde_json::{json, Value};
use stats::OpKey;
use trace::{DevId, Nanos};

/// A capture as the page reads it.
pub fn data(shown: &Shown, detail: Detail) -> Value {
    let at = pictured::places(&shown.explanation);
    let data = Data { shown, detail, from: at.began, at };
    let shift = data.shift();
    json!({
        "label": shown.label,
        "explain": data.explain(),
        "span_ns": shown.explanation.duration().0,
        "step_shift": shift,
        "groups": data.groups(shift),
        "behind": data.behind(shift),
        "findings": data.findings(),
        "places": data.places(),
        "slow": data.slow(),
        "operations": data.operations(),
        "latency": data.latency(),
        "sizes": data.sizes(),
        "settings": data.settings(),
        "losses": data.losses(),
        "memory": data.memory(),
        "quality": data.quality(),
        "left_out": data.left_out(),
    })
}

struct Data<'a> {
    shown: &'a Shown,
    detail: Detail,
    from: Nanos,
    at: Places,
}

impl Data<'_> {
    /// Since the first event; a column may begin before it.
    fn since(&self, t: Nanos) -> i64 {
        (i128::from(t.0) - i128::from(self.from.0)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    fn explain(&self) -> Value {
        let mut all = to_json(&self.shown.explanation);
        let rows = self.detail.rows;
        for path in ["/operations", "/quality/lost_at", "/tail/groups", "/capture/devices", "/quality/notes"]
        {
            if let Some(Value::Array(list)) = all.pointer_mut(path) {
                list.truncate(rows);
            }
        }
        all
    }

    /// The devices that are shown.
    fn devices(&self) -> Vec<DevId> {
        let mut all = pictured::devices(&self.shown.explanation);
        all.truncate(self.detail.devices);
        all
    }

    /// Kinds of operations that are shown.
    fn kinds(&self) -> Vec<OpKey> {
        let mut all = pictured::kinds(&self.shown.explanation);
        all.truncate(self.detail.kinds);
        all
    }

    /// What is not in the page, in words.
    fn left_out(&self) -> Vec<String> {
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
