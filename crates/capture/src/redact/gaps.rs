//! Finds the bytes of a record that belong to no field. The kernel does not clear them, so they may hold a name from old memory.

use std::ops::Range;
use trace::tracedat::{EventFormat, Kind, Order, Slot};

/// Byte order of this machine.
pub(super) const HERE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };

/// Bytes of no field: alignment gaps between fields, and bytes after the last. Example: `u32` at 0, `u8` at 4, `u64` at 8 has the gap 5..8.
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
    // Texts placed elsewhere follow the fields, and a stack may be longer than its format says.
    let open = |s: &Slot| matches!(s.kind, Kind::Elsewhere { .. }) || s.size == 0;
    if !slots.iter().any(open) && &*format.system != "ftrace" {
        holes.push(done..usize::MAX);
    }
    holes
}

/// The fields with data after the fixed fields, and the end of the fixed ones; `None` without such a field or if one is open-ended.
pub(super) fn elsewhere(format: &EventFormat) -> Option<(Vec<Slot>, usize)> {
    let slots: Vec<Slot> = format.fields().unwrap_or_default().iter().map(|f| f.slot).collect();
    let end = slots.iter().map(|s| (s.offset + s.size) as usize).max()?;
    let is_open = slots.iter().any(|s| s.size == 0);
    let all: Vec<Slot> = slots.into_iter().filter(|s| matches!(s.kind, Kind::Elsewhere { .. })).collect();
    (!all.is_empty() && !is_open).then_some((all, end))
}

/// Clears the bytes from `begin` to the end of the record that belong to none of these fields.
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

/// The byte range of a field in a record; empty if the field is missing.
pub(super) fn place(record: &[u8], slot: &Slot) -> Range<usize> {
    let bytes = slot.bytes(HERE, record);
    let start = (bytes.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
    // A missing field has no position.
    if bytes.is_empty() {
        0..0
    } else {
        start..start + bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event with `u32` at 0, `u8` at 4, followed by these fields.
    fn event(system: &str, more: &str) -> EventFormat {
        let text = format!(
            "name: e\nID: 7\nformat:\n\tfield:u32 a;\toffset:0;\tsize:4;\tsigned:0;\n\
             \tfield:u8 b;\toffset:4;\tsize:1;\tsigned:0;\n{more}\nprint fmt: \"\"\n"
        );
        EventFormat::parse(system, text.as_bytes()).unwrap()
    }

    const WHOLE: &str = "\tfield:u64 c;\toffset:8;\tsize:8;\tsigned:0;\n";
    const ELSEWHERE: &str = "\tfield:__data_loc char[] c;\toffset:8;\tsize:4;\tsigned:0;\n";
    const OPEN: &str = "\tfield:u64 d[];\toffset:16;\tsize:0;\tsigned:0;\n";

    #[test]
    fn what_no_field_has_lies_between_and_behind() {
        let holes =
            |event: &EventFormat| -> Vec<_> { holes(event).into_iter().map(|h| (h.start, h.end)).collect() };
        assert_eq!(holes(&event("sched", WHOLE)), [(5, 8), (16, usize::MAX)]);
        // Adjacent fields leave no gap, and a field inside another leaves none either.
        let close =
            "\tfield:u8 c[3];\toffset:5;\tsize:3;\tsigned:0;\n\tfield:u8 d;\toffset:6;\tsize:1;\tsigned:0;\n";
        assert_eq!(holes(&event("sched", close)), [(8, usize::MAX)]);
        // The length of these fields is unknown.
        assert_eq!(holes(&event("ftrace", WHOLE)), [(5, 8)]);
        assert_eq!(holes(&event("sched", ELSEWHERE)), [(5, 8)]);
        assert_eq!(holes(&event("sched", &(WHOLE.to_owned() + OPEN))), [(5, 8)]);
    }

    #[test]
    fn fields_that_lie_elsewhere_are_told_unless_one_goes_on_to_the_end() {
        let (slots, end) = elsewhere(&event("sched", ELSEWHERE)).unwrap();
        assert_eq!((slots.len(), slots[0].offset, end), (1, 8, 12));
        assert!(elsewhere(&event("sched", WHOLE)).is_none());
        assert!(elsewhere(&event("sched", &(WHOLE.to_owned() + OPEN))).is_none());
        assert!(elsewhere(&event("sched", &(ELSEWHERE.to_owned() + OPEN))).is_none());
    }

    #[test]
    fn what_lies_before_between_and_behind_texts_is_cleared() {
        let slot = |offset| Slot {
            offset,
            size: 4,
            kind: Kind::Elsewhere { relative: false },
            present: true,
            ..Slot::default()
        };
        let mut record = (10u32 | 3 << 16).to_ne_bytes().to_vec();
        record.extend((15u32 | 3 << 16).to_ne_bytes());
        record.extend(b"xxonexxtwoxx");
        let words = record[..8].to_vec();
        clear_behind(&mut record, &[slot(4), slot(0)], 8);
        assert_eq!(record[..8], words);
        assert_eq!(&record[8..], b"\0\0one\0\0two\0\0");
    }
}
