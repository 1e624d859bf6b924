//! Positions on the device: seek distances (`-s`), seeks per second (`-m`) and block numbers (`-B`).

use super::folder::{Dat, Folder};
use super::seconds::seconds;
use trace::{DevId, Event, Flags, Nanos};

/// The files of one kind for reads, writes, and both.
#[derive(Clone, Copy, Debug)]
struct ByDirection {
    reads: Dat,
    writes: Dat,
    both: Dat,
}

impl ByDirection {
    fn new(folder: &mut Folder, stem: &str) -> ByDirection {
        let mut file = |letter| folder.file(format!("{stem}_{letter}.dat"));
        ByDirection { reads: file('r'), writes: file('w'), both: file('c') }
    }

    fn line(&self, folder: &mut Folder, is_read: bool, text: std::fmt::Arguments) {
        folder.line(if is_read { self.reads } else { self.writes }, text);
        folder.line(self.both, text);
    }
}

/// Seeks between queued bios (`q2q`) or issued requests (`d2d`) on one device.
#[derive(Debug)]
pub(super) struct Seeks {
    distances: ByDirection,
    rates: Dat,
    last: (i128, i128),
    second: Option<(Nanos, Nanos, u64)>,
}

impl Seeks {
    /// `rates` is the file of seeks per second. btt writes those of Q2Q and D2D into the same file, over each other.
    pub fn new(folder: &mut Folder, dev: DevId, kind: &str, rates: String) -> Seeks {
        let distances = ByDirection::new(folder, &format!("seek_{dev}_{kind}"));
        Seeks { distances, rates: folder.file(rates), last: (0, 0), second: None }
    }

    /// Writes the distance to the next I/O; negative is backwards. As in btt, the first one is from sector 0.
    pub fn record(&mut self, folder: &mut Folder, e: &Event, at: Nanos, absolute: bool) {
        let (start, end) = (e.sector.0 as i128, e.sector.after(e.bytes).0 as i128);
        let (last_start, last_end) = self.last;
        let touched = last_start..=last_end;
        let distance = match start {
            _ if absolute => start - last_end,
            _ if touched.contains(&start) || touched.contains(&end) => 0,
            _ if start > last_end => start - last_end,
            _ => start - last_start,
        };
        self.last = (start, end);
        let is_read = e.flags.has(Flags::READ);
        let letter = if is_read { 'r' } else { 'w' };
        self.distances.line(folder, is_read, format_args!("{:15.9} {distance:13} {letter}", seconds(at)));
        match &mut self.second {
            Some((first, last, n)) if seconds(at) - seconds(*first) < 1.0 => (*last, *n) = (at, *n + 1),
            _ => {
                self.emit(folder);
                self.second = Some((at, at, 1));
            }
        }
    }

    fn emit(&mut self, folder: &mut Folder) {
        if let Some((first, last, n)) = self.second.take() {
            let (first, last) = (seconds(first), seconds(last));
            let rate = if n == 1 || (last - first).abs() < f64::EPSILON {
                n as f64
            } else {
                n as f64 / (last - first)
            };
            folder.line(self.rates, format_args!("{first:15.9} {rate:.2}"));
        }
    }

    pub fn finish(mut self, folder: &mut Folder) {
        self.emit(folder);
    }
}

/// The sectors of requests that were issued on one device.
#[derive(Debug)]
pub(super) struct Blocks(ByDirection);

impl Blocks {
    pub fn new(folder: &mut Folder, dev: DevId) -> Blocks {
        Blocks(ByDirection::new(folder, &format!("off_{dev}")))
    }

    pub fn record(&self, folder: &mut Folder, e: &Event, at: Nanos) {
        let (start, end) = (e.sector.0, e.sector.after(e.bytes).0);
        self.0.line(folder, e.flags.has(Flags::READ), format_args!("{:15.9} {start} {end}", seconds(at)));
    }
}
