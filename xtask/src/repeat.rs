//! `repeat`: a long recording out of a short one, by playing it again and again.
//!
//! Each round is moved behind the one before it, in time and in its records' numbers, so that neither time nor
//! numbers go backwards or leave a gap. Example: numbers 1 to 100 on a CPU become 1 to 100, 101 to 200, ...

use crate::files::{copy_settings, per_cpu, Size};
use crate::record::Record;
use crate::Outcome;
use clap::Args;
use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Time between the end of one round and the start of the next: what is in flight at an end is over, and the
/// rounds can be told apart.
const PAUSE_NS: u64 = 1_000_000;

/// Make a long recording by repeating a short one with times and numbers moved on
#[derive(Args)]
pub struct Repeat {
    /// Folder with NAME.blktrace.N, compressed or not
    from: PathBuf,
    /// Folder to write NAME.blktrace.N into
    to: PathBuf,
    /// How often
    #[arg(long, short = 'n')]
    times: u32,
}

impl Repeat {
    /// Repeats.
    pub fn run(&self) -> Outcome {
        let made = repeat(&self.from, &self.to, self.times)?;
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
    let numbers = numbers_per_round(parsed.iter().flatten());
    fs::create_dir_all(to)?;
    let mut made = Size::default();
    for (file, records) in files.iter().zip(&parsed) {
        let mut out = BufWriter::new(fs::File::create(to.join(&file.name))?);
        for n in 0..times {
            for record in records {
                let step = numbers.get(&(record.device(), record.cpu())).copied().unwrap_or(0);
                let sequence = record.sequence().wrapping_add(step.wrapping_mul(n));
                let bytes = record.moved(record.time() + round * u64::from(n), sequence);
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
