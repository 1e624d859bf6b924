//! The columns over time of each kind of operations and requests.

use super::input::Data;
use crate::html::pack::Pack;
use crate::json::operations::Level;
use explain::findings::why_slow;
use explain::pictured::{pictured, Of, Pictured};
use life::{Class, Op};
use serde::Serialize;
use stats::{class_op, Behind, Columns, Moment};
use trace::Nanos;

/// One kind of operations or requests over time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    #[serde(flatten)]
    columns: Drawn,
    /// Packed: for each column, the main reason of its slowest operation, a number in `reasons`; 0 if it is not in the tail.
    why: String,
    /// Whether these are operations of tasks or requests.
    level: Level,
    /// For operations: their kind, such as `fsync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// For operations: whether an application waits for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_for: Option<bool>,
    /// For requests: the name of their device.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    /// The name of this kind on the page.
    name: String,
    /// The operation of its class, such as a read or a write.
    op: Op,
    /// The class of requests with which it competes.
    class: Class,
    /// The latency threshold of the slowest 1 %, in nanoseconds; null if there are none.
    tail_ns: Option<Nanos>,
    /// Whether it has a visible part of the time.
    matters: bool,
}

/// I/O that the kernel did on its own with a device, over time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    #[serde(flatten)]
    columns: Drawn,
    /// The kind of that I/O: `writeback` or `journal`.
    what: &'static str,
    /// The name of this row on the page.
    name: String,
    /// Always `behind`: it is I/O of the kernel behind operations and requests.
    level: &'static str,
}

/// Columns of a time axis.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Drawn {
    /// The start of the first column; may be negative.
    first_ns: i64,
    /// Number of columns.
    columns: usize,
    /// Packed: for each column the number of latency buckets; then for each bucket the difference of its number from that of the one
    /// before, and its count.
    heat: String,
    /// Packed: bytes in each column.
    bytes: String,
    /// Packed: the mean number in flight in each column, in thousandths.
    depth: String,
}

impl Data<'_> {
    /// The common width of all columns, as a power of two: that of the coarsest row, or coarser if there are too many columns.
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

    pub(super) fn groups(&self, shift: u32) -> Vec<Group> {
        self.pictured().iter().map(|p| self.group(p, shift)).collect()
    }

    pub(super) fn pictured(&self) -> Vec<Pictured<'_>> {
        let (kinds, devices) = (self.kinds(), self.devices());
        pictured(&self.shown.explanation, &self.shown.pictures, self.at, &kinds, &devices)
    }

    fn group(&self, p: &Pictured, shift: u32) -> Group {
        let (columns, why) = self.columns(p.columns, p.tail(), shift);
        let (key, dev, class) = match p.of {
            Of::Operations(key) => (Some(key), None, key.kind.class()),
            Of::Requests(dev, class) => (None, Some(dev), class),
        };
        Group {
            columns,
            why,
            level: if key.is_some() { Level::Operation } else { Level::Request },
            kind: key.map(|key| key.kind.name()),
            waited_for: key.map(|key| key.kind.is_foreground()),
            device: dev.map(|dev| self.shown.explanation.name(dev)),
            name: p.name.clone(),
            op: class_op(class),
            class,
            tail_ns: p.tail(),
            matters: p.matters,
        }
    }

    /// The kernel's own I/O with the uppermost devices.
    pub(super) fn behind(&self, shift: u32) -> Vec<Kernel> {
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
                    Behind::Writeback => ("writeback", "writeback"),
                    Behind::Journal => ("journal", "journal"),
                };
                let (columns, _) = self.columns(columns, None, shift);
                let name = format!("{what} to {}", e.name(dev));
                all.push(Kernel { columns, what: word, name, level: "behind" });
            }
        }
        all
    }

    /// The columns of one kind, and packed the main reason of each column's slowest operation.
    fn columns(&self, columns: &Columns<Moment>, tail: Option<Nanos>, shift: u32) -> (Drawn, String) {
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
        let first_ns = columns.iter().next().map_or(0, |(t, _)| self.since(t));
        let [heat, bytes, depth, why] = [heat, bytes, depth, why].map(|packed| packed.text());
        (Drawn { first_ns, columns: columns.len(), heat, bytes, depth }, why)
    }
}
