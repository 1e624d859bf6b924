//! The steps of each I/O with their times: `-p` (all steps) and `-P` (Q, D and C only).

use super::folder::{Dat, Folder};
use life::{Bio, Request, Share};
use trace::{Bytes, DevId, Nanos, Sector};

/// The line between the I/Os of different completions.
const RULE: &str = "-----------------------------------------";

/// A point in time as btt prints it here: seconds and nanoseconds, without floating point.
pub(super) struct Stamp(pub Nanos);

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}.{:09}", self.0 .0 / Nanos::SECOND.0, self.0 .0 % Nanos::SECOND.0)
    }
}

/// The file of `-p`, `per_io`.
#[derive(Debug)]
pub(super) struct PerIo(Dat);

impl PerIo {
    pub fn new(folder: &mut Folder) -> PerIo {
        PerIo(folder.file("per_io".into()))
    }

    /// Writes the bios of a completed request. `from` is time zero.
    pub fn request(&self, folder: &mut Folder, r: &Request, shares: &[Share], from: Nanos) {
        let done = r.time.data_completed.unwrap_or(r.time.completed);
        for share in shares {
            let bio = (share.start, share.bytes);
            self.head(folder, r.dev, share.queued.since(from), bio);
            if share.merged {
                self.station(folder, 'M', share.joined, from, bio);
            } else {
                self.station(folder, 'G', share.joined, from, bio);
                self.station(folder, 'I', r.time.inserted, from, bio);
            }
            self.station(folder, 'D', r.time.issued, from, (r.start, r.bytes));
            self.station(folder, 'C', Some(done), from, (r.start, r.bytes));
            folder.line(self.0, format_args!(""));
        }
        folder.line(self.0, format_args!("{RULE}"));
    }

    /// Writes a bio that no request with data served: a bio of a bio-based device, or a flush.
    pub fn bio(&self, folder: &mut Folder, b: &Bio, from: Nanos) {
        let extent = (b.start, b.bytes);
        self.head(folder, b.dev, b.time.start().since(from), extent);
        self.station(folder, 'G', b.time.got, from, extent);
        self.station(folder, 'C', Some(b.time.completed), from, extent);
        folder.line(self.0, format_args!("\n{RULE}"));
    }

    fn head(&self, folder: &mut Folder, dev: DevId, at: Nanos, (start, bytes): (Sector, Bytes)) {
        let (major, minor, at) = (dev.major(), dev.minor(), line('Q', at, start, bytes));
        folder.line(self.0, format_args!("{major:3},{minor:<3}: {at}"));
    }

    fn station(
        &self,
        folder: &mut Folder,
        letter: char,
        at: Option<Nanos>,
        from: Nanos,
        (start, bytes): (Sector, Bytes),
    ) {
        if let Some(at) = at {
            folder.line(self.0, format_args!("         {}", line(letter, at.since(from), start, bytes)));
        }
    }
}

fn line(letter: char, at: Nanos, start: Sector, bytes: Bytes) -> String {
    let (s, ns) = (at.0 / Nanos::SECOND.0, at.0 % Nanos::SECOND.0);
    format!("{s:5}.{ns:09} {letter} {:10}+{:<4}", start.0, bytes.sectors())
}

/// The file of `-P` for one device: `Q Q Q | D | C` for each request.
#[derive(Debug)]
pub(super) struct Trees(Dat);

impl Trees {
    pub fn new(folder: &mut Folder, dev: DevId) -> Trees {
        Trees(folder.file(format!("{dev}_pit.dat")))
    }

    pub fn record(&self, folder: &mut Folder, r: &Request, shares: &[Share], from: Nanos) {
        let queued: String = shares.iter().map(|s| format!("{} ", Stamp(s.queued.since(from)))).collect();
        let done = Stamp(r.time.data_completed.unwrap_or(r.time.completed).since(from));
        if let Some(issued) = r.time.issued {
            folder.line(self.0, format_args!("{queued}| {} | {done}", Stamp(issued.since(from))));
        }
    }
}
