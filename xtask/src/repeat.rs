//! `repeat`: a long recording out of a short one, by playing it again and again.
//!
//! Each round is moved behind the one before it, in time and in its records' numbers, so that neither time nor
//! numbers go backwards or leave a gap. Example: numbers 1 to 100 on a CPU become 1 to 100, 101 to 200, ...
//!
//! Each round is at other places of the device, because a long recording hardly ever comes back to the very same
//! ones: the device is cut into blocks of 1 MiB which are shuffled anew. Programs that keep something for each place
//! or each distance (btt does) would have it too easy otherwise. Where records tie places to each other (merges,
//! splits, remaps), places stay as they are.

use crate::files::{copy_settings, per_cpu, Size};
use crate::outcome::Outcome;
use crate::pause::PAUSE_NS;
use crate::record::Record;
use clap::Args;
use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Make a long recording by repeating a short one with times and numbers moved on
#[derive(Args)]
pub struct Repeat {
    /// Folder with NAME.blktrace.N, compressed or not, or with a trace.dat (needs trace-cmd)
    from: PathBuf,
    /// Folder to write the same into
    to: PathBuf,
    /// How often
    #[arg(long, short = 'n')]
    times: u32,
}

impl Repeat {
    /// Repeats.
    pub fn run(&self) -> Outcome {
        let made = match self.from.join("trace.dat").is_file() {
            true => crate::repeat_trace::repeat(&self.from, &self.to, self.times)?,
            false => repeat(&self.from, &self.to, self.times)?,
        };
        println!("{}: {} events, {} MB", self.to.display(), made.events, made.bytes / 1_000_000);
        Ok(())
    }
}

/// Writes the recording in `from` into `to`, `times` times over.
pub fn repeat(from: &Path, to: &Path, times: u32) -> Outcome<Size> {
    let files = per_cpu(from, &[])?;
    let parsed = files.iter().map(|f| Record::all(&f.bytes)).collect::<Outcome<Vec<_>>>()?;
    let times_of = || parsed.iter().flatten().map(Record::time);
    let first = times_of().min().ok_or("there is no record")?;
    let round = times_of().max().unwrap_or(first) - first + PAUSE_NS;
    let all = || parsed.iter().flatten();
    let ties = all().any(Record::ties_places);
    let shuffle = (!ties).then(|| Shuffle::of(all().map(Record::end).max().unwrap_or(0)));
    let numbers = numbers_per_round(parsed.iter().flatten());
    fs::create_dir_all(to)?;
    let mut made = Size::default();
    for (file, records) in files.iter().zip(&parsed) {
        let mut out = BufWriter::new(fs::File::create(to.join(&file.name))?);
        for n in 0..times {
            for record in records {
                let step = numbers.get(&(record.device(), record.cpu())).copied().unwrap_or(0);
                let sequence = record.sequence().wrapping_add(step.wrapping_mul(n));
                let place = shuffle.as_ref().map_or(record.sector(), |s| s.place(record.sector(), n));
                let bytes = record.moved(record.time() + round * u64::from(n), sequence, place);
                out.write_all(&bytes)?;
                made.events += 1;
                made.bytes += bytes.len() as u64;
            }
        }
        out.flush()?;
    }
    copy_settings(from, to)?;
    Ok(made)
}

/// Blocks of 1 MiB in another order for each round; within a block everything stays in place.
struct Shuffle {
    /// The device is taken to have 2^bits blocks.
    bits: u32,
}

impl Shuffle {
    /// 2^11 sectors of 512 bytes.
    const BLOCK_BITS: u32 = 11;
    /// 2^64 divided by the golden ratio, odd (Fibonacci hashing).
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Of a device that ends at this sector.
    fn of(end: u64) -> Shuffle {
        Shuffle { bits: 64 - (end >> Self::BLOCK_BITS).leading_zeros() }
    }

    /// Where a sector is in a round. Exclusive or, and multiplying by an odd number, are one to one modulo a power
    /// of two, so two blocks never fall together; with a key for each round the distances between them change.
    fn place(&self, sector: u64, round: u32) -> u64 {
        if round == 0 {
            return sector;
        }
        let mask = (1u64 << self.bits) - 1;
        let key = u64::from(round).wrapping_mul(Self::ODD);
        let block = (sector >> Self::BLOCK_BITS) ^ (key >> 32);
        let block = (block.wrapping_mul(Self::ODD) ^ key) & mask;
        (block << Self::BLOCK_BITS) | (sector & ((1 << Self::BLOCK_BITS) - 1))
    }
}

/// By how much the numbers of a device and CPU go on from one round to the next, so that there is no gap.
fn numbers_per_round<'a>(records: impl Iterator<Item = &'a Record<'a>>) -> HashMap<(u32, u32), u32> {
    let mut range: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
    for r in records.filter(|r| !r.is_note()) {
        let (low, high) = range.entry((r.device(), r.cpu())).or_insert((r.sequence(), r.sequence()));
        *low = (*low).min(r.sequence());
        *high = (*high).max(r.sequence());
    }
    range.into_iter().map(|(key, (low, high))| (key, high - low + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 7 record: number, time, sector, bytes, action.
    fn record(sequence: u32, time: u64, sector: u64, bytes: u32, action: u32) -> Vec<u8> {
        let mut r = 0x6561_7407u32.to_le_bytes().to_vec();
        r.extend(sequence.to_le_bytes());
        r.extend(time.to_le_bytes());
        r.extend(sector.to_le_bytes());
        r.extend([bytes, action, 1, 8 << 20, 0, 0].into_iter().flat_map(u32::to_le_bytes));
        r
    }

    #[test]
    fn rounds_follow_each_other_in_time_number_and_place() {
        let folder = std::env::temp_dir().join(format!("iowhy-repeat-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(&from).unwrap();
        let queue = record(5, 1000, 8, 4096, 1);
        let complete = record(6, 3000, 8, 4096, 8);
        let flush = record(7, 4000, 0, 0, 7);
        fs::write(from.join("sda.blktrace.0"), [queue, complete, flush].concat()).unwrap();
        let made = repeat(&from, &to, 3).unwrap();
        assert_eq!((made.events, made.bytes), (9, 9 * 48));
        let file = fs::read(to.join("sda.blktrace.0")).unwrap();
        let records = Record::all(&file).unwrap();
        let numbers: Vec<u32> = records.iter().map(Record::sequence).collect();
        assert_eq!(numbers, [5, 6, 7, 8, 9, 10, 11, 12, 13]);
        assert!(records.windows(2).all(|w| w[0].time() < w[1].time()));
        for round in records.chunks(3) {
            assert_eq!(round[0].sector(), round[1].sector(), "the events of an I/O stay together");
            assert_eq!(round[2].sector(), 0, "a flush has no place");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_two_blocks_fall_together() {
        let shuffle = Shuffle::of(1000 << Shuffle::BLOCK_BITS);
        for round in 0..5 {
            let places: std::collections::BTreeSet<u64> =
                (0..1024).map(|block| shuffle.place(block << Shuffle::BLOCK_BITS, round)).collect();
            assert_eq!(places.len(), 1024);
            assert!(places.iter().all(|p| *p < 1024 << Shuffle::BLOCK_BITS));
        }
        assert_eq!(shuffle.place(5000, 0), 5000);
    }
}
