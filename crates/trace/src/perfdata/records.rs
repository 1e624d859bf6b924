//! Iterates over perf's records, both those in the file and those inside compressed records (`perf record -z`).
//!
//! ```text
//! u32 kind, u16 misc, u16 size | size - 8 bytes
//! ```
//!
//! Compressed records are pieces of one zstd stream; the records in the stream may span pieces.

use crate::error::Error;
use crate::quality::Quality;
use crate::tracedat::DatFile;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Kinds of records (`enum perf_event_type`; from 64 on perf's own, `enum perf_user_event_type`).
pub mod kind {
    pub const MMAP: u32 = 1;
    pub const LOST: u32 = 2;
    pub const COMM: u32 = 3;
    pub const SAMPLE: u32 = 9;
    pub const LOST_SAMPLES: u32 = 13;
    pub const ATTR: u32 = 64;
    pub const TRACING_DATA: u32 = 66;
    pub const FINISHED_ROUND: u32 = 68;
    pub const AUXTRACE: u32 = 71;
    pub const FEATURE: u32 = 80;
    pub const COMPRESSED: u32 = 81;
    pub const COMPRESSED2: u32 = 83;
}

/// Size in bytes of a record's header.
const HEAD: usize = 8;
/// Bytes read from the file at a time.
const BLOCK: usize = 256 << 10;
/// Limit on the unpacked size of one record: perf compresses one CPU's buffer at a time, by default 512 KiB.
const MOST_UNPACKED: usize = 64 << 20;

/// A buffer that is consumed from the front.
#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    at: usize,
}

impl Bytes {
    fn left(&self) -> &[u8] {
        &self.all[self.at..]
    }

    fn drop_used(&mut self) {
        self.all.drain(..self.at);
        self.at = 0;
    }
}

/// Iterates over records.
pub struct Records {
    input: DatFile,
    from: u64,
    /// Offset of the next byte of the file to read.
    next: u64,
    end: u64,
    file: Bytes,
    unpacked: Bytes,
    decoder: Option<Decoder<'static>>,
    body: Vec<u8>,
    /// Bytes after the current record that belong to no record.
    to_skip: u64,
    damaged: u64,
    cut: u64,
    note: Option<String>,
}

impl Records {
    /// The records between two offsets of the file.
    pub fn new(input: DatFile, from: u64, end: u64) -> Records {
        let end = end.min(input.size);
        Records {
            input,
            from,
            next: from,
            end,
            file: Bytes::default(),
            unpacked: Bytes::default(),
            decoder: None,
            body: vec![],
            to_skip: 0,
            damaged: 0,
            cut: 0,
            note: None,
        }
    }

    /// Bytes consumed so far.
    pub fn position(&self) -> u64 {
        self.next - self.from - self.file.left().len() as u64
    }

    /// Total bytes.
    pub fn size(&self) -> u64 {
        self.end.saturating_sub(self.from)
    }

    /// The current record without its header.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The file offset after the current record.
    pub fn behind(&self) -> u64 {
        self.from + self.position()
    }

    fn skip(&mut self, bytes: u64) {
        let left = self.file.left().len() as u64;
        match bytes.checked_sub(left) {
            None => self.file.at += bytes as usize,
            Some(more) => {
                self.file = Bytes::default();
                self.next = self.next.saturating_add(more).min(self.end);
            }
        }
    }

    /// Advances to the next record and returns its kind; `None` at the end. Compressed records are unpacked.
    pub fn next(&mut self) -> Result<Option<u32>, Error> {
        let bytes = std::mem::take(&mut self.to_skip);
        self.skip(bytes);
        loop {
            let kind = match self.take_unpacked() {
                Some(kind) => Some(kind),
                None => self.take_of_file()?,
            };
            let order = self.input.order;
            match kind {
                Some(kind::COMPRESSED) => self.unpack(0, None),
                Some(kind::COMPRESSED2) => {
                    let size = order.u64(&self.body, 0).and_then(|n| usize::try_from(n).ok());
                    self.unpack(8, size);
                }
                Some(kind::AUXTRACE) => self.skip(order.u64(&self.body, 0).unwrap_or(0)),
                Some(kind::TRACING_DATA) => {
                    self.to_skip = u64::from(order.u32(&self.body, 0).unwrap_or(0)).next_multiple_of(8);
                    return Ok(kind);
                }
                kind => return Ok(kind),
            }
        }
    }

    /// The next complete record from unpacked data; `None` if there is none.
    fn take_unpacked(&mut self) -> Option<u32> {
        let (kind, size) = head(self.input.order, self.unpacked.left())?;
        if size < HEAD {
            let lost = self.unpacked.left().len();
            self.unpacked = Bytes::default();
            self.damage(lost as u64, "a compressed record without a size");
            return None;
        }
        let body = self.unpacked.left().get(HEAD..size)?;
        self.body.clear();
        self.body.extend_from_slice(body);
        self.unpacked.at += size;
        Some(kind)
    }

    fn take_of_file(&mut self) -> Result<Option<u32>, Error> {
        self.fill(HEAD)?;
        let left = self.file.left().len() as u64 + (self.end - self.next);
        let Some((kind, size)) = head(self.input.order, self.file.left()) else {
            return Ok(self.stop(left, "cut off within the head of a record"));
        };
        if size < HEAD {
            return Ok(self.stop(left, "a record without a size"));
        }
        self.fill(size)?;
        let Some(body) = self.file.left().get(HEAD..size) else {
            return Ok(self.stop(left, "cut off within a record"));
        };
        self.body.clear();
        self.body.extend_from_slice(body);
        self.file.at += size;
        Ok(Some(kind))
    }

    /// Reads until at least `want` bytes are buffered, or the file ends.
    fn fill(&mut self, want: usize) -> Result<(), Error> {
        if self.file.left().len() >= want || self.next >= self.end {
            return Ok(());
        }
        self.file.drop_used();
        let had = self.file.all.len();
        let more = (self.end - self.next).min(BLOCK as u64) as usize;
        self.file.all.resize(had + more, 0);
        let got = self.input.read_at(self.next, &mut self.file.all[had..])?;
        self.file.all.truncate(had + got);
        self.next += got as u64;
        if got < more {
            self.end = self.next;
        }
        Ok(())
    }

    fn unpack(&mut self, from: usize, size: Option<usize>) {
        self.unpacked.drop_used();
        let body = self.body.get(from..).unwrap_or_default();
        let packed = &body[..size.unwrap_or(body.len()).min(body.len())];
        if self.decoder.is_none() {
            self.decoder = Decoder::new().ok();
        }
        let Some(decoder) = &mut self.decoder else { return };
        let had = self.unpacked.all.len();
        let mut input = InBuffer::around(packed);
        let mut piece = vec![0; 64 << 10];
        let what = loop {
            let mut out = OutBuffer::around(&mut piece[..]);
            let done = decoder.run(&mut input, &mut out);
            let wrote = out.pos();
            self.unpacked.all.extend_from_slice(&piece[..wrote]);
            match done {
                Err(e) => break Some(format!("compressed records: {e}")),
                Ok(_) if self.unpacked.all.len() - had > MOST_UNPACKED => {
                    break Some("compressed records of more than 64 MiB at once".into())
                }
                Ok(_) if input.pos == packed.len() && wrote < piece.len() => break None,
                Ok(_) => {}
            }
        };
        if let Some(what) = what {
            let lost = packed.len() as u64;
            self.damage(lost, &what);
            self.unpacked = Bytes::default();
            self.decoder = None;
        }
    }

    /// Ends the iteration: the position of the next record is unknown.
    fn stop(&mut self, left: u64, what: &str) -> Option<u32> {
        if left > 0 {
            self.cut += 1;
            self.damage(left, what);
        }
        self.file = Bytes::default();
        self.next = self.end;
        None
    }

    #[cold]
    fn damage(&mut self, bytes: u64, what: &str) {
        self.damaged += bytes;
        let place = self.from + self.position();
        let path = self.input.path.display();
        self.note.get_or_insert_with(|| format!("{path}: at byte {place}: {what}"));
    }

    /// Adds the counts of skipped bytes to `q`.
    pub fn damage_to(&self, q: &mut Quality) {
        q.damaged_bytes += self.damaged;
        q.cut_records += self.cut;
        if let Some(note) = &self.note {
            q.note(note.clone());
        }
    }
}

/// Kind and size in bytes of the record at the start of `bytes`.
fn head(order: crate::tracedat::Order, bytes: &[u8]) -> Option<(u32, usize)> {
    Some((order.u32(bytes, 0)?, order.uint(bytes, 6, 2)? as usize))
}
