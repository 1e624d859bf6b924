//! Bytes of a record that no field has. The kernel does not clear them, and what lay there before may be a name.

use std::ops::Range;
use trace::tracedat::{EventFormat, Kind, Order, Slot};

/// The byte order of this machine.
pub(super) const HERE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };

/// What no field has: between fields, where the next one is aligned, and after the last. `u32` at 0, `u8` at 4, `u64` at 8: 5..8.
pub(super) fn holes(format: &EventFormat) -> Vec<Range<usize>> {
    let mut slots: Vec<Slot> = format.fields().unwrap_or_default().iter().map(|f| f.slot).collect();
    slots.sort_by_key(|s| s.offset);
    let (mut holes, mut done) = (Vec::new(), 0);
    for slot in &slots {
        let start = slot.offset as usize;
        if start > done {
            holes.push(done..start);
        }
        done = done.max(start + slot.size as usize);
    }
    // What lies elsewhere lies there; and a stack may be longer than its format says.
    let open = |s: &Slot| matches!(s.kind, Kind::Elsewhere { .. }) || s.size == 0;
    if !slots.iter().any(open) && &*format.system != "ftrace" {
        holes.push(done..usize::MAX);
    }
    holes
}

/// The fields that lie behind those with a place of their own, if an event has some and none that goes on to the record's end.
pub(super) fn elsewhere(format: &EventFormat) -> Option<(Vec<Slot>, usize)> {
    let slots: Vec<Slot> = format.fields().unwrap_or_default().iter().map(|f| f.slot).collect();
    let end = slots.iter().map(|s| (s.offset + s.size) as usize).max()?;
    let is_open = slots.iter().any(|s| s.size == 0);
    let all: Vec<Slot> = slots.into_iter().filter(|s| matches!(s.kind, Kind::Elsewhere { .. })).collect();
    (!all.is_empty() && !is_open).then_some((all, end))
}

/// Clears what none of these fields has, from `begin` to the record's end.
pub(super) fn clear_behind(record: &mut [u8], slots: &[Slot], begin: usize) {
    let mut places: Vec<_> = slots.iter().map(|slot| place(record, slot)).collect();
    places.sort_by_key(|range| range.start);
    let mut done = begin.min(record.len());
    for range in places.into_iter().filter(|range| !range.is_empty()) {
        if range.start > done {
            record[done..range.start].fill(0);
        }
        done = done.max(range.end);
    }
    record[done..].fill(0);
}

/// Where in a record a field lies.
pub(super) fn place(record: &[u8], slot: &Slot) -> Range<usize> {
    let bytes = slot.bytes(HERE, record);
    let start = (bytes.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
    // What is not there lies nowhere.
    if bytes.is_empty() {
        0..0
    } else {
        start..start + bytes.len()
    }
}
