//! Raw blktrace records: only as much of them as cutting and repeating needs.
//!
//! Everything that is not changed stays byte for byte as it was recorded. Only version 7 in little-endian byte
//! order is known, which is what the bundled recordings are (`struct blk_io_trace`,
//! include/uapi/linux/blktrace_api.h); `iowhy` itself reads all of it.

use crate::outcome::Outcome;

const MAGIC: u32 = 0x6561_7407;
/// Bytes before the payload.
const HEADER: usize = 48;
/// Category `BLK_TC_NOTIFY`, above the 16 bits of the action.
const NOTIFY: u32 = 1 << (10 + 16);
/// Notes: the name of a task, and the wall clock (`BLK_TN_PROCESS`, `BLK_TN_TIMESTAMP`).
const TASK_NAME: u32 = 0;
const WALL_CLOCK: u32 = 1;

/// Actions that tie places (`__BLK_TA_BACKMERGE` and so on).
const BACK_MERGE: u32 = 2;
const FRONT_MERGE: u32 = 3;
const SPLIT: u32 = 13;
const REMAP: u32 = 15;

/// One record with its payload.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// All its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// The records of a file, in the order in which they stand there. What follows the last whole record is left
    /// out; anything else that is no record is an error.
    pub fn all(mut file: &'a [u8]) -> Outcome<Vec<Record<'a>>> {
        let mut all = Vec::new();
        let whole = file.len();
        while file.len() >= HEADER {
            let at = whole - file.len();
            if word(file, 0) != MAGIC {
                return Err(format!("byte {at}: no version 7 record in little-endian order").into());
            }
            let len = HEADER + usize::from(u16::from_le_bytes([file[46], file[47]]));
            if file.len() < len {
                break;
            }
            all.push(Record { bytes: &file[..len] });
            file = &file[len..];
        }
        Ok(all)
    }

    /// When, in nanoseconds of the trace's clock.
    pub fn time(&self) -> u64 {
        let raw = self.bytes[8..16].try_into().expect("eight bytes");
        u64::from_le_bytes(raw)
    }

    /// The number on its CPU and device.
    pub fn sequence(&self) -> u32 {
        word(self.bytes, 4)
    }

    /// The device, as the kernel packs major and minor.
    pub fn device(&self) -> u32 {
        word(self.bytes, 36)
    }

    /// The CPU that recorded it.
    pub fn cpu(&self) -> u32 {
        word(self.bytes, 40)
    }

    /// A note rather than something that happened to I/O.
    pub fn is_note(&self) -> bool {
        self.action() & NOTIFY != 0
    }

    /// A note that later records need: what a task is called, what time it was. (A message is of its moment only.)
    pub fn is_lasting_note(&self) -> bool {
        self.is_note() && matches!(self.action() & 0xff, TASK_NAME | WALL_CLOCK)
    }

    /// The first sector after it, if it has a place on the device: 0 for notes, plugs and flushes.
    pub fn end(&self) -> u64 {
        let sectors = u64::from(word(self.bytes, 24) / 512);
        if self.is_note() || sectors == 0 {
            return 0;
        }
        self.sector().saturating_add(sectors)
    }

    /// Whether it ties its place to another one: a merge, a split, a remap.
    pub fn ties_places(&self) -> bool {
        !self.is_note() && matches!(self.action() & 0xff, BACK_MERGE | FRONT_MERGE | SPLIT | REMAP)
    }

    /// The same record at another time, with another number and at another sector. Notes have no number, and what
    /// has no place gets none.
    pub fn moved(&self, time: u64, sequence: u32, sector: u64) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        bytes[8..16].copy_from_slice(&time.to_le_bytes());
        if !self.is_note() {
            bytes[4..8].copy_from_slice(&sequence.to_le_bytes());
        }
        if self.end() > 0 {
            bytes[16..24].copy_from_slice(&sector.to_le_bytes());
        }
        bytes
    }

    /// Where on the device.
    pub fn sector(&self) -> u64 {
        u64::from_le_bytes(self.bytes[16..24].try_into().expect("eight bytes"))
    }

    fn action(&self) -> u32 {
        word(self.bytes, 28)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
