//! `cut`: a short recording out of a long one, by time.
//!
//! Records between two moments are kept byte for byte, and before them the notes that say what tasks are called and
//! what time it was. What was in flight at the first moment loses its beginning, as in any recording that is
//! started while the disk is busy; `iowhy` counts and says so.

use crate::files::{copy_settings, per_cpu};
use crate::outcome::Outcome;
use crate::record::Record;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// zstd's strongest level that needs no more memory to unpack than the others.
const LEVEL: i32 = 19;

/// Cut a recording down by time, with what lies beside it, and compress it
#[derive(Args)]
pub struct Cut {
    /// Folder with NAME.blktrace.N
    from: PathBuf,
    /// Folder to write NAME.blktrace.N.zst into
    to: PathBuf,
    /// First moment, in seconds since the first event
    #[arg(long, default_value_t = 0.0)]
    begin: f64,
    /// Last moment, in seconds since the first event; the end if not given
    #[arg(long, default_value_t = f64::INFINITY)]
    end: f64,
    /// Only these devices
    #[arg(long)]
    device: Vec<String>,
}

impl Cut {
    /// Cuts.
    pub fn run(&self) -> Outcome {
        let files = per_cpu(&self.from, &self.device)?;
        let parsed = files.iter().map(|f| Record::all(&f.bytes)).collect::<Outcome<Vec<_>>>()?;
        let events = parsed.iter().flatten().filter(|r| !r.is_note());
        let first = events.map(Record::time).min().ok_or("there is no event")?;
        let seconds = |r: &Record| (r.time() as f64 - first as f64) / 1e9;
        fs::create_dir_all(&self.to)?;
        for (file, records) in files.iter().zip(&parsed) {
            let kept = records.iter().filter(|r| {
                let t = seconds(r);
                (self.begin..self.end).contains(&t) || (t < self.begin && r.is_lasting_note())
            });
            let bytes: Vec<u8> = kept.flat_map(|r| r.bytes).copied().collect();
            let packed = zstd::encode_all(&bytes[..], LEVEL)?;
            println!("{}: {} of {} bytes, {} packed", file.name, bytes.len(), file.bytes.len(), packed.len());
            fs::write(self.to.join(format!("{}.zst", file.name)), packed)?;
        }
        copy_settings(&self.from, &self.to)
    }
}
