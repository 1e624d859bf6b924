//! The load: queue depth (`-Q`), active periods (`-Z`), completions and megabytes per second.

use super::folder::{Dat, Folder};
use super::seconds::seconds;
use trace::{Bytes, Nanos};

/// The queue depth of one device: two rows for each change, with the depth before and after.
#[derive(Debug)]
pub(super) struct Depth {
    file: Dat,
    depth: u64,
}

impl Depth {
    pub fn new(folder: &mut Folder, name: &str) -> Depth {
        Depth { file: folder.file(format!("aqd_{name}_aqd.dat")), depth: 0 }
    }

    /// Sets the depth; returns the depth before.
    pub fn set(&mut self, folder: &mut Folder, at: Nanos, depth: u64) -> u64 {
        let before = std::mem::replace(&mut self.depth, depth);
        if before != depth {
            let at = seconds(at);
            folder.line(self.file, format_args!("{at:.6} {before}\n{at:.6} {depth}"));
        }
        before
    }
}

/// Active periods, with I/O in flight: the line is 0.9 higher during them.
#[derive(Debug)]
pub(super) struct Live {
    file: Dat,
    /// The idle level of the line: 0 for the whole system, then 1, 2, ... as devices become active.
    base: Option<f64>,
    drawn_to: Nanos,
    since: Option<Nanos>,
    last: Option<(Nanos, Nanos)>,
}

impl Live {
    pub fn new(folder: &mut Folder, name: &str, base: Option<f64>) -> Live {
        let file = folder.file(format!("{name}_live.dat"));
        Live { file, base, drawn_to: Nanos(0), since: None, last: None }
    }

    /// From `now` on there is I/O in flight (`busy`), or none. `next_base` is the next free level.
    pub fn set(&mut self, folder: &mut Folder, now: Nanos, busy: bool, next_base: &mut f64) {
        match (self.since, busy) {
            (None, true) => {
                if self.base.is_none() {
                    self.base = Some(*next_base);
                    *next_base += 1.0;
                }
                self.since = match self.last.take() {
                    // A period that begins at the end of the last one continues it.
                    Some((from, to)) if now <= to => Some(from),
                    last => {
                        self.draw(folder, last);
                        Some(now)
                    }
                };
            }
            (Some(from), false) => (self.last, self.since) = (Some((from, now)), None),
            _ => {}
        }
    }

    fn draw(&mut self, folder: &mut Folder, period: Option<(Nanos, Nanos)>) {
        let Some((from, to)) = period else { return };
        let low = self.base.unwrap_or(0.0);
        let high = low + 0.9;
        let points = [(self.drawn_to, low), (from, low), (from, high), (to, high), (to, low)];
        for (at, y) in points {
            folder.line(self.file, format_args!("{:.9} {y:.1}", seconds(at)));
        }
        self.drawn_to = to;
    }

    pub fn finish(mut self, folder: &mut Folder, end: Nanos) {
        if let Some(from) = self.since {
            self.last = Some((from, end));
        }
        let last = self.last;
        self.draw(folder, last);
    }
}

/// Completions and megabytes in each second that has completions.
#[derive(Debug)]
pub(super) struct Rates {
    completions: Dat,
    megabytes: Dat,
    now: Option<(u64, u64, Bytes)>,
}

impl Rates {
    pub fn new(folder: &mut Folder, name: &str) -> Rates {
        let completions = folder.file(format!("{name}_iops_fp.dat"));
        let megabytes = folder.file(format!("{name}_mbps_fp.dat"));
        Rates { completions, megabytes, now: None }
    }

    pub fn record(&mut self, folder: &mut Folder, at: Nanos, bytes: Bytes) {
        let second = at.0 / Nanos::SECOND.0;
        match &mut self.now {
            Some((now, n, sum)) if second <= *now => (*n, *sum) = (*n + 1, *sum + bytes),
            _ => {
                self.emit(folder);
                self.now = Some((second, 1, bytes));
            }
        }
    }

    fn emit(&mut self, folder: &mut Folder) {
        if let Some((second, n, bytes)) = self.now.take() {
            folder.line(self.completions, format_args!("{second} {n}"));
            folder.line(self.megabytes, format_args!("{second} {:.6}", bytes.0 as f64 / 1_048_576.0));
        }
    }

    pub fn finish(mut self, folder: &mut Folder) {
        self.emit(folder);
    }
}
