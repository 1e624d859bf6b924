//! D2C as simply as it can be had: records as they lie in the file, put in order of time, each `C` matched with the
//! oldest `D` of the same device, sector, length and kind (a flush, which has no sector: on the same CPU, if there is one). It shares no code with the crates under test, and it knows
//! nothing of bios, splits, merges or flush sequences.

use std::collections::HashMap;
use trace::Nanos;

/// What a request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Read,
    Write,
    Discard,
    Flush,
}

/// Device times: device, kind, time.
#[derive(Default)]
pub struct Naive {
    pub d2c: Vec<(u32, Kind, Nanos)>,
}

struct Record {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    dev: u32,
    cpu: u32,
}

/// Device, sector, bytes, kind: what a `C` has in common with its `D`.
type Key = (u32, u64, u32, Kind);

const FLUSH: u32 = 1 << 18;
const WRITE: u32 = 1 << 17;
const NOTE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

impl Naive {
    /// Of the per-CPU files of one recording; `None` if they are not whole, version 7 and little-endian.
    pub fn of(files: &[Vec<u8>]) -> Option<Naive> {
        let mut records: Vec<Record> = vec![];
        for file in files {
            let mut rest = &file[..];
            while !rest.is_empty() {
                records.extend(record(&mut rest)?);
            }
        }
        records.sort_by_key(|r| r.time);
        let mut naive = Naive::default();
        let mut issued: HashMap<Key, Vec<(u64, u32)>> = HashMap::new();
        for r in records {
            let kind = match r.action {
                a if a & DISCARD != 0 => Kind::Discard,
                a if a & WRITE != 0 => Kind::Write,
                a if a & FLUSH != 0 => Kind::Flush,
                _ => Kind::Read,
            };
            let key =
                if kind == Kind::Flush { (r.dev, 0, 0, kind) } else { (r.dev, r.sector, r.bytes, kind) };
            match r.action & 0xff {
                7 => issued.entry(key).or_default().push((r.time, r.cpu)),
                what @ (6 | 8) => {
                    let there = issued.entry(key).or_default();
                    let here = there.iter().position(|(_, cpu)| kind == Kind::Flush && *cpu == r.cpu);
                    if !there.is_empty() {
                        let (d, _) = there.remove(here.unwrap_or(0));
                        naive.d2c.extend((what == 8).then(|| (r.dev, kind, Nanos(r.time - d))));
                    }
                }
                _ => {}
            }
        }
        Some(naive)
    }
}

/// The next record of a file, or nothing where it is a note; `None` where there is no whole record.
fn record(rest: &mut &[u8]) -> Option<Option<Record>> {
    let head = rest.get(..48)?;
    let u32_at = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
    let record = Record {
        time: u64_at(8),
        sector: u64_at(16),
        bytes: u32_at(24),
        action: u32_at(28),
        dev: u32_at(36),
        cpu: u32_at(40),
    };
    let payload = u16::from_le_bytes([head[46], head[47]]) as usize;
    let is_usual = u32_at(0) == 0x6561_7407;
    *rest = rest.get(48 + payload..)?;
    is_usual.then(|| (record.action & NOTE == 0).then_some(record))
}
