//! Raw blktrace records: only as much of them as cutting and repeating needs.
//!
//! Everything that is not changed stays byte for byte as it was recorded. Only version 7 in little-endian byte
//! order is known, which is what the bundled recordings are (`struct blk_io_trace`,
//! include/uapi/linux/blktrace_api.h); `iowhy` itself reads all of it.

use crate::Outcome;

const MAGIC: u32 = 0x6561_7407;
/// Bytes before the payload.
const HEADER: usize = 48;
/// Category `BLK_TC_NOTIFY`, above the 16 bits of the action.
const NOTIFY: u32 = 1 << (10 + 16);
/// Notes: the name of a task, and the wall clock (`BLK_TN_PROCESS`, `BLK_TN_TIMESTAMP`).
const TASK_NAME: u32 = 0;
const WALL_CLOCK: u32 = 1;

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

    /// The same record at another time and with another number. Notes have no number.
    pub fn moved(&self, time: u64, sequence: u32) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        bytes[8..16].copy_from_slice(&time.to_le_bytes());
        if !self.is_note() {
            bytes[4..8].copy_from_slice(&sequence.to_le_bytes());
        }
        bytes
    }

    fn action(&self) -> u32 {
        word(self.bytes, 28)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
