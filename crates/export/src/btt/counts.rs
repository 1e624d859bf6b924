//! Histograms: sizes of bios and requests (`out_qhist.dat`, `out_dhist.dat`), requests per unplug (`-u`).

use super::folder::Folder;
use trace::{Bytes, DevId};

/// Largest size in sectors with a count of its own; larger ones share a count.
const SIZES: usize = 1024;

/// Counts by size: `0[i]` is the number of I/Os of `i + 1` sectors.
#[derive(Clone, Debug)]
pub(super) struct Sizes(Vec<u64>);

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes(vec![0; SIZES + 1])
    }
}

impl Sizes {
    pub fn record(&mut self, bytes: Bytes) {
        if let Some(at) = (bytes.sectors() as usize).checked_sub(1) {
            self.0[at.min(SIZES)] += 1;
        }
    }

    pub fn any(&self) -> bool {
        self.0.iter().any(|n| *n > 0)
    }

    pub fn add(&mut self, other: &Sizes) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// Writes `out_qhist.dat` (letter Q) or `out_dhist.dat` (D).
    pub fn write(&self, folder: &mut Folder, letter: char) {
        let file = folder.file(format!("out_{}hist.dat", letter.to_ascii_lowercase()));
        if letter == 'Q' {
            folder.line(file, format_args!("# BTT histogram data"));
        }
        folder.line(file, format_args!("# {letter} buckets"));
        for (i, n) in self.0[..SIZES].iter().enumerate() {
            folder.line(file, format_args!("{:4} {n}", i + 1));
        }
        folder.line(file, format_args!("\n# {letter} bucket for > {SIZES}\n{SIZES:4} {}", self.0[SIZES]));
    }
}

/// Counts of unplugs by the number of requests that they sent: 0 to 4, 5 to 9, ..., 100 and more.
#[derive(Clone, Debug, Default)]
pub(super) struct Unplugs([u64; 21]);

impl Unplugs {
    pub fn record(&mut self, requests: u64) {
        self.0[(requests / 5).min(20) as usize] += 1;
    }

    pub fn write(&self, folder: &mut Folder, dev: DevId) {
        let file = folder.file(format!("unp_{dev}.dat"));
        for (i, n) in self.0.iter().enumerate() {
            folder.line(file, format_args!("{i} {n}"));
        }
    }
}
