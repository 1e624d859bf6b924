//! What is drawn over time: of each kind its columns.

use super::Data;
use crate::html::pack::Pack;
use explain::findings::why_slow;
use explain::pictured::{pictured, Of, Pictured};
use serde_json::{Map, Value};
use stats::{class_op, Behind, Columns, Moment};
use trace::Nanos;

impl Data<'_> {
    /// The step of all columns, as a power of two: of the coarsest row, and coarser if there are too many columns.
    pub(super) fn shift(&self) -> u32 {
        let p = &self.shown.pictures;
        let rows =
            p.devices.values().flat_map(|d| d.classes.iter().chain(&d.behind)).chain(p.operations.values());
        let used: Vec<_> = rows.filter(|c| !c.is_empty()).collect();
        let mut shift = used.iter().map(|c| c.shift()).max().unwrap_or(stats::FINEST);
        let span = self.shown.explanation.duration().0;
        while shift < 63 && span >> shift > self.detail.columns as u64 {
            shift += 1;
        }
        while shift < 63 && used.iter().any(|c| c.len() >> (shift - c.shift()) > self.detail.columns) {
            shift += 1;
        }
        shift
    }

    pub(super) fn groups(&self, shift: u32) -> Vec<Value> {
        self.pictured().iter().map(|p| self.group(p, shift)).collect()
    }

    pub(super) fn pictured(&self) -> Vec<Pictured<'_>> {
        let (kinds, devices) = (self.kinds(), self.devices());
        pictured(&self.shown.explanation, &self.shown.pictures, &self.at, &kinds, &devices)
    }

    fn group(&self, p: &Pictured, shift: u32) -> Value {
        let mut group = self.columns(p.columns, p.tail(), shift);
        let class = match p.of {
            Of::Operations(key) => {
                group.insert("level".into(), "operation".into());
                group.insert("kind".into(), key.kind.name().into());
                group.insert("waited_for".into(), key.kind.is_foreground().into());
                key.kind.class()
            }
            Of::Requests(dev, class) => {
                group.insert("level".into(), "request".into());
                group.insert("device".into(), self.shown.explanation.name(dev).into());
                class
            }
        };
        group.insert("name".into(), p.name.as_str().into());
        group.insert("op".into(), class_op(class).name().into());
        group.insert("class".into(), crate::json::serde_name(class).into());
        group.insert("tail_ns".into(), p.tail().map(|t| t.0).into());
        group.insert("matters".into(), p.matters.into());
        Value::Object(group)
    }

    /// What the kernel did on its own with the uppermost devices.
    pub(super) fn behind(&self, shift: u32) -> Vec<Value> {
        let e = &self.shown.explanation;
        let mut all = vec![];
        for dev in self.devices() {
            let is_upper = e.facts.device(dev).is_some_and(|d| d.upper.is_none());
            let Some(device) = self.shown.pictures.devices.get(&dev).filter(|_| is_upper) else { continue };
            for behind in Behind::ALL {
                let columns = &device.behind[behind as usize];
                if columns.is_empty() {
                    continue;
                }
                let (word, what) = match behind {
                    Behind::Writeback => ("writeback", "write-back"),
                    Behind::Journal => ("journal", "journal"),
                };
                let mut row = self.columns(columns, None, shift);
                row.remove("why");
                row.insert("what".into(), word.into());
                row.insert("name".into(), format!("{what} to {}", e.name(dev)).into());
                row.insert("level".into(), "behind".into());
                all.push(Value::Object(row));
            }
        }
        all
    }

    /// Columns of one kind: heat is, per column, how many buckets, then of each by how much its number exceeds the one
    /// before, and its count; depth is the mean in thousandths; why is where most of the slowest one's time went: the reason's
    /// place in all, counted from 1, 0 where nothing ended that belongs to the tail.
    fn columns(&self, columns: &Columns<Moment>, tail: Option<Nanos>, shift: u32) -> Map<String, Value> {
        let columns = columns.with_shift(shift);
        let [mut heat, mut bytes, mut depth, mut why]: [Pack; 4] = Default::default();
        for (_, moment) in columns.iter() {
            heat.put(moment.heat.counts().len() as u64);
            let mut before = 0;
            for (bucket, count) in moment.heat.counts() {
                heat.put(u64::from(bucket - before));
                heat.put(u64::from(*count));
                before = *bucket;
            }
            bytes.put(moment.bytes);
            let reason = tail.and_then(|tail| why_slow(moment, tail));
            why.put(reason.map_or(0, |reason| reason.index() as u64 + 1));
            depth
                .put(((u128::from(moment.depth_ns) * 1000) >> columns.shift()).min(u128::from(u32::MAX))
                    as u64);
        }
        let first = columns.iter().next().map_or(0, |(t, _)| self.since(t));
        let mut group = Map::new();
        group.insert("first_ns".into(), first.into());
        group.insert("columns".into(), columns.len().into());
        group.insert("heat".into(), heat.text().into());
        group.insert("bytes".into(), bytes.text().into());
        group.insert("depth".into(), depth.text().into());
        group.insert("why".into(), why.text().into());
        group
    }
}
