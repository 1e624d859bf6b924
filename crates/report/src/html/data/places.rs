//! I/O by place on the device and time.

use super::input::Data;
use crate::html::pack::Pack;
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{DevId, Nanos};

/// I/O on one device by place, time and task.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// The name of the device.
    device: String,
    /// The width of a cell: two to the power of this, in nanoseconds.
    time_shift: u32,
    /// The start of the first cell.
    first_ns: i64,
    /// The height of a cell in bytes, as a number in text: it may exceed 2^53.
    row_bytes: String,
    /// The number of the lowest row that is used.
    first_row: u64,
    /// Number of rows, from the lowest to the highest that is used.
    rows: u64,
    /// The tasks with their I/O, most requests first.
    who: Vec<Whose>,
    /// Packed: for each cell the difference of its column from the one before, its row, an index in `who`, and the number of requests.
    cells: String,
}

/// The reads or the writes of one task.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Whose {
    /// The name of the task.
    task: String,
    /// Whether these are writes.
    writes: bool,
    /// Number of requests.
    requests: u64,
}

impl Data<'_> {
    /// The I/O of each device that is drawn; cells are made coarser until the detail allows their number.
    pub(super) fn places(&self) -> Vec<Device> {
        let one = |dev: DevId| {
            let full = &self.shown.pictures.devices.get(&dev)?.extents;
            let mut extents = full.clone();
            for round in 1u32.. {
                if extents.len() <= self.detail.cells || round > 64 {
                    break;
                }
                extents = full.coarser(round.div_ceil(2), round / 2);
            }
            let (time, place) = extents.axes();
            let ((first_column, _), (first_row, last_row)) = (time.span?, place.span?);
            let cells = extents.cells();
            let mut counts: BTreeMap<stats::Who, u64> = BTreeMap::new();
            cells.iter().for_each(|(.., who, n)| *counts.entry(*who).or_default() += u64::from(*n));
            let mut who: Vec<(stats::Who, u64)> = counts.into_iter().collect();
            who.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            let number: BTreeMap<stats::Who, u64> =
                who.iter().enumerate().map(|(i, (w, _))| (*w, i as u64)).collect();
            let mut packed = Pack::default();
            let mut before = first_column;
            for (column, row, whose, n) in &cells {
                packed.put(column - before);
                packed.put(row - first_row);
                packed.put(number[whose]);
                packed.put(u64::from(*n));
                before = *column;
            }
            let whose = |(w, n): &(stats::Who, u64)| Whose {
                task: self.shown.pictures.tasks.name(w.task).into(),
                writes: w.writes,
                requests: *n,
            };
            Some(Device {
                device: self.shown.explanation.name(dev),
                time_shift: time.shift,
                first_ns: self.since(Nanos(first_column.checked_shl(time.shift).unwrap_or(0))),
                row_bytes: (512u128 << place.shift.min(63)).to_string(),
                first_row,
                rows: last_row - first_row + 1,
                who: who.iter().map(whose).collect(),
                cells: packed.text(),
            })
        };
        self.devices().into_iter().filter_map(one).collect()
    }
}
