//! The layout of samples: each event's attributes select the fields, which are always in the same order.
//!
//! ```text
//! SAMPLE   [identifier] [ip] [pid, tid] [time] [addr] [id] [stream] [cpu] [period] [read] [callchain] [raw] ...
//! others   ... body ... [pid, tid] [time] [id] [stream] [cpu] [identifier]                     with sample_id_all
//! ```

use crate::tracedat::Order;
use rustc_hash::FxHashMap;

/// Bits of `sample_type` (`enum perf_event_sample_format`).
mod bit {
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const IDENTIFIER: u64 = 1 << 16;
}

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `sample_id_all` in the flags of `struct perf_event_attr`: bit 18, counted from the low end or the high end depending on byte order.
const ID_ALL: u32 = 18;

/// The layout of one event's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    fields: u64,
    read: u64,
    id_all: bool,
    is_tracepoint: bool,
}

/// The fields of a sample that are used.
pub struct Sample<'a> {
    pub time: u64,
    pub cpu: u32,
    pub raw: &'a [u8],
    /// Stack addresses, with markers for the context they belong to.
    pub chain: &'a [u8],
    pub is_tracepoint: bool,
}

impl Layout {
    /// Parses the bytes of a `struct perf_event_attr`.
    pub fn of(order: Order, attr: &[u8]) -> Option<Layout> {
        let flags = order.u64(attr, 40)?;
        let id_all = match order {
            Order::Little => flags >> ID_ALL & 1,
            Order::Big => flags >> (63 - ID_ALL) & 1,
        };
        Some(Layout {
            is_tracepoint: order.u32(attr, 0)? == TRACEPOINT,
            fields: order.u64(attr, 24)?,
            read: order.u64(attr, 32)?,
            id_all: id_all == 1,
        })
    }

    fn has(&self, bit: u64) -> bool {
        self.fields & bit != 0
    }

    /// Offset of the event id in a sample; `None` if there is no id.
    fn id_at(&self) -> Option<usize> {
        if self.has(bit::IDENTIFIER) {
            return Some(0);
        }
        let before = [bit::IP, bit::TID, bit::TIME, bit::ADDR];
        self.has(bit::ID).then(|| 8 * before.iter().filter(|b| self.has(**b)).count())
    }

    fn sample<'a>(&self, order: Order, body: &'a [u8]) -> Option<Sample<'a>> {
        let mut at = 0;
        let mut word = |bit: u64| {
            let there = self.has(bit).then_some(at);
            at += if there.is_some() { 8 } else { 0 };
            there
        };
        let _ = [bit::IDENTIFIER, bit::IP, bit::TID].map(&mut word);
        let time = word(bit::TIME).and_then(|at| order.u64(body, at))?;
        let _ = [bit::ADDR, bit::ID, bit::STREAM].map(&mut word);
        let cpu = word(bit::CPU).map_or(Some(0), |at| order.u32(body, at))?;
        word(bit::PERIOD);
        if self.has(bit::READ) {
            at = at.checked_add(self.read_bytes(order, body.get(at..)?)?)?;
        }
        let mut chain: &[u8] = &[];
        if self.has(bit::CALLCHAIN) {
            let bytes = usize::try_from(order.u64(body, at)?).ok()?.checked_mul(8)?;
            let from = at.checked_add(8)?;
            at = from.checked_add(bytes)?;
            chain = body.get(from..at)?;
        }
        let is_tracepoint = self.is_tracepoint && self.has(bit::RAW);
        let raw = match is_tracepoint {
            true => {
                let from = at.checked_add(4)?;
                body.get(from..from.checked_add(order.u32(body, at)? as usize)?)?
            }
            false => &[],
        };
        Some(Sample { time, cpu, raw, chain, is_tracepoint })
    }

    /// Size in bytes of the counter values (`read_format` in include/uapi/linux/perf_event.h).
    fn read_bytes(&self, order: Order, values: &[u8]) -> Option<usize> {
        const TIMES: u64 = 0b11;
        const ID: u64 = 1 << 2;
        const GROUP: u64 = 1 << 3;
        const LOST: u64 = 1 << 4;
        let times = (self.read & TIMES).count_ones() as usize;
        let each = 1 + (self.read & (ID | LOST)).count_ones() as usize;
        let words = match self.read & GROUP {
            0 => each.checked_add(times)?,
            _ => usize::try_from(order.u64(values, 0)?).ok()?.checked_mul(each)?.checked_add(1 + times)?,
        };
        words.checked_mul(8)
    }

    /// Time and CPU at the end of a record that is not a sample.
    fn trailer(&self, order: Order, body: &[u8]) -> Option<(u64, u32)> {
        const FIELDS: [u64; 6] = [bit::TID, bit::TIME, bit::ID, bit::STREAM, bit::CPU, bit::IDENTIFIER];
        let there = |upto: usize| FIELDS[..upto].iter().filter(|b| self.has(**b)).count() * 8;
        let from = body.len().checked_sub(there(FIELDS.len()))?;
        (self.id_all && self.has(bit::TIME)).then_some(())?;
        let cpu = if self.has(bit::CPU) { order.u32(body, from + there(4))? } else { 0 };
        Some((order.u64(body, from + there(1))?, cpu))
    }
}

/// The layouts of all events.
#[derive(Debug, Default)]
pub struct Layouts {
    all: Vec<Layout>,
    by_id: FxHashMap<u64, usize>,
}

impl Layouts {
    /// Limit on events and on ids: enough for 200 events on a machine with 4096 CPUs.
    pub const MOST: usize = 1 << 20;

    /// Adds an event with its ids, one per CPU.
    pub fn add(&mut self, layout: Layout, ids: impl Iterator<Item = u64>) {
        if self.all.len() < Layouts::MOST {
            let room = Layouts::MOST.saturating_sub(self.by_id.len());
            self.by_id.extend(ids.take(room).map(|id| (id, self.all.len())));
            self.all.push(layout);
        }
    }

    /// Whether any event is a tracepoint.
    pub fn have_tracepoints(&self) -> bool {
        self.all.iter().any(|layout| layout.is_tracepoint)
    }

    /// Whether any tracepoint was recorded without timestamps.
    pub fn lack_times(&self) -> bool {
        self.all.iter().any(|layout| layout.is_tracepoint && !layout.has(bit::TIME))
    }

    /// Whether samples of tracepoints have stacks.
    pub fn have_stacks(&self) -> bool {
        self.all.iter().any(|layout| layout.is_tracepoint && layout.has(bit::CALLCHAIN))
    }

    /// Parses a sample with the layout of its event.
    pub fn sample<'a>(&self, order: Order, body: &'a [u8]) -> Option<Sample<'a>> {
        let first = self.all.first()?;
        // The id is at the same offset in all events, or else all layouts are equal (perf, `evlist__valid_sample_type`).
        let of = first.id_at().and_then(|at| self.by_id.get(&order.u64(body, at)?));
        of.map_or(first, |index| &self.all[*index]).sample(order, body)
    }

    /// Time and CPU of a record that is not a sample.
    pub fn trailer(&self, order: Order, body: &[u8]) -> Option<(u64, u32)> {
        self.all.first()?.trailer(order, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_not_there_take_no_room() {
        let layout = |fields, read| Layout { fields, read, id_all: true, is_tracepoint: true };
        let words = |all: &[u64]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let raw = [4u32.to_le_bytes(), *b"abcd"].concat();
        let small = [words(&[77, 5]), raw.clone()].concat();
        let read = |layout: Layout, body: &[u8]| {
            layout.sample(Order::Little, body).map(|s| (s.time, s.cpu, s.raw.to_vec()))
        };
        assert_eq!(read(layout(bit::TIME | bit::CPU | bit::RAW, 0), &small), Some((77, 5, b"abcd".to_vec())));
        // A group of two counters with their ids, and a stack of three.
        let large = [words(&[9, 77, 5, 2, 1, 9, 2, 9, 3, 1, 2, 3]), raw].concat();
        let all = bit::IDENTIFIER | bit::TIME | bit::CPU | bit::READ | bit::CALLCHAIN | bit::RAW;
        assert_eq!(read(layout(all, 0b1100), &large), Some((77, 5, b"abcd".to_vec())));
        assert_eq!(read(layout(all, 0b1100), &large[..large.len() - 1]), None);
        let mut lying = large.clone();
        lying[64..72].fill(0xff);
        assert_eq!(read(layout(all, 0b1100), &lying), None);
        let trailer = words(&[0, 3, 1 << 32 | 2, 88, 6, 9]);
        let with_id = layout(bit::IDENTIFIER | bit::TID | bit::TIME | bit::CPU, 0);
        assert_eq!(with_id.trailer(Order::Little, &trailer), Some((88, 6)));
    }
}
