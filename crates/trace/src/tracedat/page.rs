//! One sub-buffer ("page") of the kernel's ring buffer: records with time deltas.
//!
//! A page stands alone: its header holds the time of its first record, so pages of a CPU are decoded one after
//! another with only the current page in memory. Layout (kernel, include/linux/ring_buffer.h and
//! kernel/trace/ring_buffer.c), integers in the recording machine's order, `long` being 4 or 8 bytes:
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
/// Bits that an absolute stamp has no room for.
const STAMP_HIGH: u64 = 0xf8 << 56;

/// The largest sub-buffer: 128 pages of 64 KiB.
pub const MAX_PAGE: usize = 8 << 20;

/// How this machine's pages are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// Its byte order.
    pub order: Order,
    /// Bytes of its `long`: 4 or 8.
    pub long: usize,
    /// Where the data begins.
    pub data: usize,
    /// Bytes of a whole page, header included.
    pub size: usize,
}

impl PageLayout {
    /// From the kernel's `events/header_page` and `header_event` texts. `size` is used where the text names none.
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

    /// The same layout with pages of another size.
    pub fn with_size(self, size: usize) -> PageLayout {
        PageLayout { size, ..self }
    }
}

/// Records lost before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The kernel says how many.
    Counted(u64),
    /// At least one.
    Some,
}

/// Where in a page the reader is.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageCursor {
    time: u64,
    at: usize,
    end: usize,
}

/// What a page's header said.
#[derive(Clone, Copy, Debug)]
pub struct PageStart {
    /// The time of the first record.
    pub time: u64,
    /// Records lost before it.
    pub lost: Option<Lost>,
    /// The page claims more bytes of data than there are.
    pub cut: bool,
}

/// One step through a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A record: `page[at..at + len]` at `time`.
    Record {
        /// When, in the clock's own units.
        time: u64,
        /// First byte of the data.
        at: usize,
        /// Bytes of the data.
        len: usize,
    },
    /// The page is done.
    End,
    /// The rest of the page, so many bytes, makes no sense.
    Damaged(usize),
}

impl PageCursor {
    /// Reads the header of `page`, which may be shorter than a whole page. `None`: too short for a header.
    pub fn start(layout: &PageLayout, page: &[u8]) -> Option<(PageCursor, PageStart)> {
        let time = layout.order.u64(page, 0)?;
        let commit = layout.order.uint(page, 8, layout.long)?;
        page.get(layout.data..)?;
        let claimed = layout.data + (commit & COMMIT) as usize;
        let end = claimed.min(page.len());
        let lost = (commit & LOST != 0).then(|| {
            let count = (commit & LOST_COUNTED != 0).then(|| layout.order.uint(page, claimed, layout.long));
            match count.flatten() {
                // More than a 32-bit count of records was never lost between two pages: the word is damaged.
                Some(n) if n > 0 && n <= u32::MAX.into() => Lost::Counted(n),
                _ => Lost::Some,
            }
        });
        Some((PageCursor { time, at: layout.data, end }, PageStart { time, lost, cut: claimed > page.len() }))
    }

    /// The next record of `page`, the one this cursor was started on.
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
                    // A record that was given up after it had been placed. The kernel writes delta 1 where it
                    // was 0, to tell it from the padding at the end (rb_event_discard).
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
