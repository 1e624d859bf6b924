//! Iterates over one CPU's records, page by page, with a few pages in memory.
//!
//! Pages are stored uncompressed, or in compressed chunks of some pages each. In both cases the stream holds
//! one block of whole pages; the current record is a slice of that block, nothing is copied.

use super::compress::Codec;
use super::contents::Region;
use super::page::{Lost, Next, PageCursor};
use crate::error::Error;
use units::Cpu;

/// Bytes read at a time: few system calls, but only 8 MB for 256 CPUs.
const BLOCK: usize = 32 << 10;

/// Counts of skipped damage.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    /// Bytes outside any record.
    pub bytes: u64,
    /// Pages truncated by the file's end or by a false length.
    pub cut: u64,
    /// Pages whose start is earlier than the last record of the previous page.
    pub clock_steps: u64,
    /// Description of the first damage.
    pub note: Option<String>,
}

/// The records of one CPU, in the order in which they were written.
#[derive(Clone, Debug)]
pub struct Stream {
    region: Region,
    /// File offset of the next byte to read.
    next: u64,
    /// Number of unread compressed chunks; `None` before that number was read.
    chunks: Option<u32>,
    /// Limit on the unpacked size of a chunk.
    max_chunk: usize,
    block: Vec<u8>,
    packed: Vec<u8>,
    /// The current page is `block[page..page_end]`.
    page: usize,
    page_end: usize,
    cursor: PageCursor,
    /// Offset of the current record in the page.
    at: usize,
    len: usize,
    time: u64,
    lost: u64,
    /// Damage skipped so far.
    pub damage: Damage,
}

impl Stream {
    /// A stream at the start of its region. `max_chunk` limits the unpacked size of a compressed chunk.
    pub fn new(region: Region, max_chunk: usize) -> Stream {
        Stream {
            next: region.offset,
            region,
            chunks: None,
            max_chunk,
            block: Vec::new(),
            packed: Vec::new(),
            page: 0,
            page_end: 0,
            cursor: PageCursor::default(),
            at: 0,
            len: 0,
            time: 0,
            lost: 0,
            damage: Damage::default(),
        }
    }

    /// The CPU that recorded these records.
    pub fn cpu(&self) -> Cpu {
        self.region.cpu
    }

    /// The tracing instance, as an index into [`Facts::buffers`](super::contents::Facts::buffers).
    pub fn buffer(&self) -> u16 {
        self.region.buffer
    }

    /// Bytes of the region read so far.
    pub fn position(&self) -> u64 {
        self.next - self.region.offset
    }

    /// Size of the region in bytes.
    pub fn size(&self) -> u64 {
        self.region.size
    }

    /// The bytes of the current record.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.block[self.page + self.at..self.page + self.at + self.len]
    }

    /// Time of the current record, in the clock's own units.
    #[inline]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Whether the file ends before this CPU's pages do.
    pub fn is_cut(&self) -> bool {
        self.region.cut
    }

    /// Takes (and resets) the number of records lost before the current one. If the kernel did not give
    /// a number, it is 1: at least one.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Advances to the next record; `false` at the end.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        loop {
            match self.cursor.next(self.region.layout.order, &self.block[self.page..self.page_end]) {
                Next::Record { time, at, len } => {
                    (self.time, self.at, self.len) = (time, at, len);
                    return Ok(true);
                }
                Next::Damaged(bytes) => self.damaged(bytes as u64, "the rest of this page is not a record"),
                Next::End => {
                    if !self.next_page()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn next_page(&mut self) -> Result<bool, Error> {
        loop {
            while self.page_end >= self.block.len() {
                if !self.next_block()? {
                    self.len = 0;
                    return Ok(false);
                }
            }
            self.page = self.page_end;
            self.page_end = (self.page + self.region.layout.size).min(self.block.len());
            let page = &self.block[self.page..self.page_end];
            let Some((cursor, start)) = PageCursor::start(&self.region.layout, page) else {
                let bytes = page.len() as u64;
                self.damage.cut += 1;
                self.damaged(bytes, "too short for a page");
                continue;
            };
            self.cursor = cursor;
            if start.cut {
                self.damage.cut += 1;
                self.damaged(0, "this page claims more than is there");
            }
            match start.lost {
                Some(Lost::Counted(n)) => self.lost = self.lost.saturating_add(n),
                Some(Lost::Some) => self.lost = self.lost.saturating_add(1),
                None => {}
            }
            if start.time < self.time {
                self.damage.clock_steps += 1;
            }
            return Ok(true);
        }
    }

    /// Reads the next block of pages; `false` at the end.
    fn next_block(&mut self) -> Result<bool, Error> {
        (self.page, self.page_end) = (0, 0);
        self.cursor = PageCursor::default();
        let end = self.region.offset + self.region.size;
        if self.region.codec != Codec::None {
            let more = self.next_chunk(end)?;
            if !more {
                self.block.clear();
            }
            return Ok(more);
        }
        let size = self.region.layout.size;
        let want = (end - self.next).min((BLOCK / size).max(1) as u64 * size as u64) as usize;
        self.block.resize(want, 0);
        let got = self.region.input.read_at(self.next, &mut self.block)?;
        self.block.truncate(got);
        if got < want {
            // The file has shrunk since it was opened.
            self.damage.cut += 1;
            self.region.size = self.next + got as u64 - self.region.offset;
        }
        self.next += got as u64;
        Ok(got > 0)
    }

    /// Unpacks the next chunk. Format: u32 number of chunks; for each: u32 packed size, u32 size, bytes.
    fn next_chunk(&mut self, end: u64) -> Result<bool, Error> {
        let left = match self.chunks {
            Some(n) => n,
            None => match self.word(end)? {
                Some(n) => n,
                None => return Ok(false),
            },
        };
        if left == 0 {
            self.next = end;
            self.chunks = Some(0);
            return Ok(false);
        }
        self.chunks = Some(left - 1);
        let at = self.next;
        let (Some(packed), Some(size)) = (self.word(end)?, self.word(end)?) else { return Ok(false) };
        if u64::from(packed) > end - self.next || size as usize > self.max_chunk {
            let rest = end - self.next;
            self.next = end;
            self.damage.cut += 1;
            self.damaged(rest, &format!("a chunk of {packed} bytes, {size} unpacked, does not fit"));
            return Ok(false);
        }
        self.packed.resize(packed as usize, 0);
        let got = self.region.input.read_at(self.next, &mut self.packed)?;
        self.next += u64::from(packed);
        let unpacked = self.region.codec.unpack(&self.packed[..got], size as usize, &mut self.block);
        if let Err(what) = unpacked {
            let what = format!("at byte {at}: {what}");
            self.damaged(packed.into(), &what);
        }
        Ok(true)
    }

    /// The next 32-bit integer of the region; `None` (and the rest counted as damage) if fewer bytes remain.
    fn word(&mut self, end: u64) -> Result<Option<u32>, Error> {
        let mut b = [0; 4];
        if end - self.next < 4 || self.region.input.read_at(self.next, &mut b)? < 4 {
            let rest = end - self.next;
            self.next = end;
            self.chunks = Some(0);
            self.damage.cut += 1;
            self.damaged(rest, "cut off within a chunk");
            return Ok(None);
        }
        self.next += 4;
        Ok(self.region.layout.order.u32(&b, 0))
    }

    #[cold]
    fn damaged(&mut self, bytes: u64, what: &str) {
        self.damage.bytes += bytes;
        if self.damage.note.is_none() {
            let (path, cpu) = (self.region.input.path.display(), self.region.cpu.0);
            let place = if self.region.codec == Codec::None {
                format!("byte {}", self.next - self.block.len() as u64 + self.page as u64)
            } else {
                format!("the chunk before byte {}", self.next)
            };
            self.damage.note = Some(format!("{path}: CPU {cpu}, {place}: {what}"));
        }
    }
}
