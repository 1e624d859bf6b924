//! One sub-buffer ("page") of the kernel's ring buffer: records with time deltas.
//!
//! A page is self-contained: its header has the time of its first record, so the pages of a CPU are decoded one after
//! another with only the current page in memory. Layout (kernel, include/linux/ring_buffer.h and
//! kernel/trace/ring_buffer.c), integers in the recording machine's byte order, `long` is 4 or 8 bytes:
//!
//! ```text
//! u64  time       of the first record
//! long commit     bits 0-26: bytes of data; bit 31: records were lost before this page;
//!                 bit 30: their number follows the data as a long
//! ...  data       records, each 4-byte aligned:
//!   u32 header    type_len (5 bits) and delta (27 bits): low bits first in little endian, high bits first in big
//!     type_len 1..28   data of type_len * 4 bytes follows; time += delta
//!     type_len 0       u32 length, itself included; data of length - 4 follows; time += delta
//!     29 padding       delta 0: nothing more on this page; else u32 length: a dropped record of that size
//!     30 time extend   u32 follows: time += delta + (u32 << 27)
//!     31 time stamp    u32 follows: time = delta + (u32 << 27), upper 5 bits as they were
//! ```
//!
//! Invariant: a cursor never leaves `page[..end]`, and every step moves it forward.

use super::bytes::Order;

const LOST: u64 = 1 << 31;
const LOST_COUNTED: u64 = 1 << 30;
const COMMIT: u64 = (1 << 27) - 1;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// The upper bits of a time, which an absolute time stamp lacks.
const STAMP_HIGH: u64 = 0xf8 << 56;

/// Size in bytes of the largest sub-buffer: 128 pages of 64 KiB.
pub const MAX_PAGE: usize = 8 << 20;

/// The layout of the recording machine's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// Byte order.
    pub order: Order,
    /// Size in bytes of `long`: 4 or 8.
    pub long: usize,
    /// Offset of the data.
    pub data: usize,
    /// Size in bytes of a page, including the header.
    pub size: usize,
}

impl PageLayout {
    /// Parses the kernel's texts `events/header_page` and `header_event`; an error describes the problem.
    ///
    /// ```text
    /// field: u64 timestamp;  offset:0;   size:8;
    /// field: local_t commit; offset:8;   size:8;
    /// field: char data;      offset:16;  size:4080;
    /// ```
    pub fn parse(order: Order, header_page: &[u8], header_event: &[u8]) -> Result<PageLayout, String> {
        let text = String::from_utf8_lossy(header_page);
        let of = |name: &str| {
            let line = text
                .lines()
                .find(|l| l.split(';').next().is_some_and(|d| d.split_whitespace().last() == Some(name)))?;
            let value = |key: &str| {
                let (_, rest) = line.split_once(key)?;
                rest.split(';').next()?.trim().parse::<usize>().ok()
            };
            Some((value("offset:")?, value("size:")?))
        };
        let (Some((0, 8)), Some((8, long @ (4 | 8))), Some((data, room))) =
            (of("timestamp"), of("commit"), of("data"))
        else {
            return Err("header_page does not describe a ring-buffer page that is known".into());
        };
        if data < 8 + long || data > 64 || room > MAX_PAGE {
            return Err(format!("header_page puts {room} bytes of data at {data}"));
        }
        let text = String::from_utf8_lossy(header_event);
        for (key, value) in
            [("type_len", "5"), ("time_delta", "27"), ("time_extend", "30"), ("padding", "29")]
        {
            let known = text
                .lines()
                .find(|l| l.trim_start().starts_with(key))
                .is_some_and(|l| l.split(|c: char| !c.is_ascii_digit()).any(|n| n == value));
            if !known {
                return Err(format!(
                    "header_event does not say {key} {value}: a ring buffer that is not known"
                ));
            }
        }
        Ok(PageLayout { order, long, data, size: data + room })
    }

    /// The same layout with pages of `size` bytes.
    pub fn with_size(self, size: usize) -> PageLayout {
        PageLayout { size, ..self }
    }
}

/// Records lost before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The kernel gives the number.
    Counted(u64),
    /// At least one; the number is unknown.
    Some,
}

/// The read position in a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageCursor {
    time: u64,
    at: usize,
    end: usize,
}

/// The parsed header of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageStart {
    /// The time of the first record.
    pub time: u64,
    /// Records lost before the page; `None` if there are none.
    pub lost: Option<Lost>,
    /// Whether the page declares more data than is available.
    pub cut: bool,
}

/// The next item of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A record: `page[at..at + len]` at `time`.
    Record {
        /// Timestamp in the clock's own units.
        time: u64,
        /// Offset of the data in the page.
        at: usize,
        /// Size of the data in bytes.
        len: usize,
    },
    /// The page has no further records.
    End,
    /// The rest of the page, this many bytes, is invalid.
    Damaged(usize),
}

impl PageCursor {
    /// Parses the header of `page`, which may be shorter than a whole page. `None`: too short for a header.
    pub fn start(layout: &PageLayout, page: &[u8]) -> Option<(PageCursor, PageStart)> {
        let time = layout.order.u64(page, 0)?;
        let commit = layout.order.uint(page, 8, layout.long)?;
        page.get(layout.data..)?;
        let claimed = layout.data + (commit & COMMIT) as usize;
        let end = claimed.min(page.len());
        let lost = (commit & LOST != 0).then(|| {
            let count = (commit & LOST_COUNTED != 0).then(|| layout.order.uint(page, claimed, layout.long));
            match count.flatten() {
                // More than a 32-bit count of records is never lost between two pages: the word is damaged.
                Some(n) if n > 0 && n <= u32::MAX.into() => Lost::Counted(n),
                _ => Lost::Some,
            }
        });
        Some((PageCursor { time, at: layout.data, end }, PageStart { time, lost, cut: claimed > page.len() }))
    }

    /// The next record of `page`, which must be the page that this cursor was started on.
    #[inline]
    pub fn next(&mut self, order: Order, page: &[u8]) -> Next {
        let page = &page[..self.end.min(page.len())];
        loop {
            if self.at >= page.len() {
                return Next::End;
            }
            let Some(header) = order.u32(page, self.at) else { return self.damaged(page) };
            let (kind, delta) = match order {
                Order::Little => (header & 31, header >> 5),
                Order::Big => (header >> 27, header & ((1 << 27) - 1)),
            };
            let delta = u64::from(delta);
            let body = self.at + 4;
            if (1..PADDING).contains(&kind) {
                let len = kind as usize * 4;
                if body + len > page.len() {
                    return self.damaged(page);
                }
                self.at = body + len;
                self.time = self.time.wrapping_add(delta);
                return Next::Record { time: self.time, at: body, len };
            }
            if kind == PADDING && delta == 0 {
                self.at = page.len();
                return Next::End;
            }
            let Some(word) = order.u32(page, body) else { return self.damaged(page) };
            match kind {
                0 => {
                    let len = word as usize;
                    if len < 4 || body + len > page.len() {
                        return self.damaged(page);
                    }
                    self.at = body + len.next_multiple_of(4);
                    self.time = self.time.wrapping_add(delta);
                    return Next::Record { time: self.time, at: body + 4, len: len - 4 };
                }
                TIME_EXTEND => {
                    self.time = self.time.wrapping_add(delta | u64::from(word) << 27);
                    self.at = body + 4;
                }
                TIME_STAMP => {
                    let mut stamp = delta | u64::from(word) << 27;
                    if self.time & STAMP_HIGH != 0 {
                        stamp |= self.time & STAMP_HIGH;
                        if stamp < self.time {
                            stamp = stamp.wrapping_add(1 << 59);
                        }
                    }
                    self.time = stamp;
                    self.at = body + 4;
                }
                _ => {
                    // A discarded record. The kernel writes delta 1 in place of 0,
                    // to distinguish it from the padding at the end (rb_event_discard).
                    if delta > 1 {
                        self.time = self.time.wrapping_add(delta);
                    }
                    let len = word as usize;
                    if len < 4 {
                        return self.damaged(page);
                    }
                    self.at = body.saturating_add(len);
                }
            }
        }
    }

    fn damaged(&mut self, page: &[u8]) -> Next {
        let rest = page.len() - self.at;
        self.at = page.len();
        Next::Damaged(rest)
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
