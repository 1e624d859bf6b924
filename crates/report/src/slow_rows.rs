//! The rows of the SLOW table: operations of tasks first, then the I/O of devices.

use crate::style::{Detail, GROUPS};
use explain::Explanation;
use life::Class;
use stats::{class_words, Device, Distribution, OpStats, Phases};
use trace::{Bytes, DevId, Fs};
use units::words::size;

/// Maximal number of groups of operations that have a row.
const OPERATIONS: usize = 5;

/// A row of the SLOW table.
pub(crate) enum Row<'a> {
    /// Operations of one kind: kind, device and file system in words, and their statistics.
    Operations(String, &'a OpStats),
    /// A device's I/O of one class, with its phases.
    Device(String, Class, Box<Phases>),
}

impl Row<'_> {
    pub(crate) fn latency(&self) -> &Distribution {
        match self {
            Row::Operations(_, stats) => &stats.latency,
            Row::Device(_, _, phases) => explain::latency(phases),
        }
    }

    pub(crate) fn mean_size(&self) -> String {
        let bytes = match self {
            Row::Operations(_, stats) => stats.bytes,
            Row::Device(_, _, phases) => phases.bytes.0,
        };
        match bytes / self.latency().count().max(1) {
            0 => String::new(),
            mean => size(Bytes(mean)),
        }
    }

    pub(crate) fn words(&self, with_device: bool) -> String {
        let (device, class) = match self {
            Row::Operations(words, _) => return words.clone(),
            Row::Device(device, class, _) => (device, class),
        };
        let what = match class {
            Class::SyncWrite => "sync writes",
            Class::Background => "writeback",
            other => class_words(*other),
        };
        if with_device {
            format!("{device} {what}")
        } else {
            what.to_string()
        }
    }
}

/// Operations first, if they were recorded; then the devices they waited for. Without operations, all top devices.
pub(crate) fn slow_rows(e: &Explanation, detail: Detail) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for group in e.focus.groups.iter().filter(|g| e.matters(g)).take(detail.most(OPERATIONS)) {
        let Some((key, stats)) = group.op.and_then(|op| e.facts.operations.groups.get_key_value(&op)) else {
            continue;
        };
        // Groups are per task, rows cover all tasks.
        if rows.iter().any(|row| matches!(row, Row::Operations(_, known) if std::ptr::eq(*known, stats))) {
            continue;
        }
        let fs = Some(e.filesystem(key)).filter(|fs| fs != Fs::Unknown.name());
        let fs = fs.map_or(String::new(), |fs| format!(" ({fs})"));
        let dev = if key.dev == DevId(0) { group.dev } else { key.dev };
        rows.push(Row::Operations(format!("{} on {}{fs}", group.words(), e.name(dev)), stats));
    }
    let waited_for =
        |d: &&Device| rows.is_empty() || e.focus.groups.iter().any(|g| g.dev == d.id && e.matters(g));
    let top = if e.asks_about_devices() { e.top_devices() } else { vec![] };
    let devices: Vec<&Device> = top.into_iter().filter(waited_for).take(detail.most(GROUPS)).collect();
    for device in devices {
        for class in Class::ALL {
            let bios = &device.bios[class.index()].phases;
            let phases = if class == Class::Flush && bios.count > 0 { bios } else { device.phases(class) };
            if phases.count > 0 {
                rows.push(Row::Device(e.name(device.id), class, Box::new(phases.clone())));
            }
        }
    }
    rows
}
