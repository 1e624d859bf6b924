//! A system call in progress, and what the events within it say about its file.

use trace::{Call, DevId, Fs, Nanos};

/// Shortest call begun before the recording that is reported, and shortest of its sleeps that shows no progress. Any recording begins in
/// the middle of many shorter calls.
pub(crate) const LONG: Nanos = Nanos(100_000_000);

/// A system call in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenCall {
    pub call: Call,
    pub from: Nanos,
    pub fd: Option<i32>,
    pub fs: Fs,
    pub dev: DevId,
    pub inode: u64,
    pub told: bool,
    /// Flags of an `open`.
    pub flags: u64,
    /// Inode number of the file that an `open` created; 0 if none.
    pub created: u64,
    /// The file that `copy_file_range` writes to, if known: the call is about two files.
    pub writes_to: Option<(DevId, u64)>,
    pub is_storage: bool,
    /// When `io_submit` sent its last bio.
    pub last_sent: Option<Nanos>,
    /// Number of bios sent, and the device of the first; bios that a stacked device sends for them do not count.
    pub sent: u64,
    pub sent_to: DevId,
    /// Of a call of libaio: the context's address, and of `io_getevents` the largest number of operations that it takes.
    pub context: u64,
    pub most: u64,
    /// Whether it began before the recording.
    pub begun_before: bool,
}

impl OpenCall {
    /// A call that begins, of which no more is known.
    pub fn new(call: Call, from: Nanos) -> OpenCall {
        OpenCall {
            call,
            from,
            fd: None,
            fs: Fs::Unknown,
            dev: DevId(0),
            inode: 0,
            told: false,
            flags: 0,
            created: 0,
            writes_to: None,
            is_storage: false,
            last_sent: None,
            sent: 0,
            sent_to: DevId(0),
            context: 0,
            most: 0,
            begun_before: false,
        }
    }

    /// A call about storage that is in progress when the recording begins, at `from`.
    pub fn begun_before(call: Call, from: Nanos) -> OpenCall {
        OpenCall { is_storage: true, begun_before: true, ..OpenCall::new(call, from) }
    }

    /// The file that it wrote to, if known.
    pub fn writes(&self) -> Option<(DevId, u64)> {
        match self.call {
            Call::Write | Call::Fallocate | Call::Sendfile => Some((self.dev, self.inode)),
            Call::CopyFileRange => self.writes_to,
            _ => None,
        }
    }

    /// Number of bytes that it wrote into the page cache, if it is not a direct write. Copied ranges may be shared instead.
    pub fn bytes_cached(&self, result: i64) -> u64 {
        match self.call {
            Call::Write | Call::Sendfile => u64::try_from(result).unwrap_or(0),
            _ => 0,
        }
    }

    /// Something within the call happened on this device.
    pub fn is_on(&mut self, dev: DevId) {
        self.is_storage = true;
        if self.dev == DevId(0) {
            self.dev = dev;
        }
    }

    /// A file system's event within the call names its file, or only the device (`inode` 0).
    pub fn is_about(&mut self, fs: Fs, dev: DevId, inode: u64) {
        self.is_storage = true;
        if inode != 0 {
            // Its descriptor stands for another file than assumed.
            self.told &= self.inode == inode && (self.dev == dev || dev == DevId(0));
            self.inode = inode;
        }
        if fs != Fs::Unknown {
            self.fs = fs;
        }
        if dev != DevId(0) {
            self.dev = dev;
        }
    }

    /// The call dirtied a file. Returns whether that is the file that it writes to. In other calls the data is not the
    /// caller's: reads also change inode times.
    pub fn dirties(&mut self, inode: u64) -> bool {
        self.is_storage = true;
        if self.call == Call::CopyFileRange {
            return self.writes_to.is_some_and(|(_, to)| to == inode);
        }
        if !matches!(self.call, Call::Write | Call::Fallocate) {
            return false;
        }
        // If there are several files in one call, it is the first: it comes before the file system looks for room and
        // may meet others.
        if self.inode == 0 {
            self.inode = inode;
        }
        self.inode == inode
    }
}
