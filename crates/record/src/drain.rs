//! Moves the data in the kernel's ring buffers, per CPU, to its destination, in whole pages.
//!
//! For files the pages are spliced, without a copy through this program; for a stream they are read. Threads
//! sleep between two rounds instead of being woken by the kernel: a wakeup for every page would disturb
//! the recorded workload. Invariant: a destination always has a whole number of sub-buffers, in the order in
//! which the kernel filled them.

use crate::rights;
use capture::Parts;
use capture::{At, Error, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::{fcntl_setpipe_size, pipe_with, splice, PipeFlags, SpliceFlags};
use rustix::process::{setpriority_process, Pid};
use rustix::thread::gettid;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use trace::{Bytes, Cpu};

/// Time from the start of a round to the start of the next; the next starts at once if a round takes longer. At a million events of 57
/// bytes per second on one CPU, a round moves 2.9 MB, 1/5 of the default buffer.
const ROUND: Duration = Duration::from_millis(50);
/// CPUs per thread: at 57 MB/s each, a fraction of what one thread can copy.
const CPUS_PER_THREAD: usize = 8;
/// Priority of the threads. The recorded machine may be busy, and these threads must not wait for a processor: with both
/// CPUs busy and the default priority, 4 % of 2.1 million events per second were lost.
const NICENESS: i32 = -20;
/// Bytes moved at a time: the default maximum size of a pipe (/proc/sys/fs/pipe-max-size).
const CHUNK: usize = 1 << 20;

/// The destination of one CPU's pages.
#[derive(Debug)]
pub enum Destination {
    /// A file on disk, or one that exists only in memory.
    File(File),
    /// Parts of a stream.
    Parts(Parts),
}

/// The result for one CPU.
#[derive(Debug)]
pub struct Drained {
    /// The recorded processor.
    pub cpu: Cpu,
    /// The destination with its pages.
    pub destination: Destination,
    /// Size of the pages in bytes.
    pub bytes: Bytes,
}

/// One CPU's buffer and its destination.
#[derive(Debug)]
pub struct Job {
    /// The recorded processor.
    pub cpu: Cpu,
    /// Path of its `trace_pipe_raw`.
    pub pipe: PathBuf,
    /// The destination of the pages.
    pub destination: Destination,
}

/// State shared by the threads and their owner.
#[derive(Debug, Default)]
struct Shared {
    /// Set to end the threads after one last round.
    finish: AtomicBool,
    /// Limit on moved bytes before the last round; the rest stays in the kernel's buffers.
    most: u64,
    bytes: AtomicU64,
    failed: AtomicBool,
    error: Mutex<Option<Error>>,
}

/// The running threads.
#[derive(Debug)]
pub struct Drain {
    threads: Vec<JoinHandle<Vec<Drained>>>,
    tids: Vec<Pid>,
    page: usize,
    shared: Arc<Shared>,
}

impl Drain {
    /// Opens all buffers and starts the threads that empty them, up to `most` bytes in total before the end. `page` is the size of a
    /// sub-buffer in bytes.
    pub fn start(jobs: Vec<Job>, page: usize, most: Option<Bytes>) -> Result<Drain> {
        let most = most.map_or(u64::MAX, |m| m.0);
        let shared = Arc::new(Shared { most, ..Shared::default() });
        let mut opened = Vec::new();
        for job in jobs {
            opened.push(Emptier::open(job, page, shared.clone())?);
        }
        let (send, receive) = mpsc::channel();
        let mut threads = Vec::new();
        while !opened.is_empty() {
            let rest = opened.split_off(opened.len().min(CPUS_PER_THREAD));
            let group = std::mem::replace(&mut opened, rest);
            let (shared, send) = (shared.clone(), send.clone());
            threads.push(thread::spawn(move || work(group, &shared, send)));
        }
        drop(send);
        let tids = receive.iter().collect();
        Ok(Drain { threads, tids, page, shared })
    }

    /// Ids of the threads, to exclude them from the recording.
    pub fn tids(&self) -> &[Pid] {
        &self.tids
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.shared.bytes.load(Ordering::Relaxed))
    }

    /// Whether the limit allows no further page before the end.
    pub fn is_full(&self) -> bool {
        self.bytes().0.saturating_add(self.page as u64) > self.shared.most
    }

    /// Whether a destination failed (a full disk, a closed pipe). Recording must then end.
    pub fn failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Moves the remaining data, including partly filled pages, and closes the buffers. Recording must be off.
    pub fn finish(mut self) -> (Vec<Drained>, Option<Error>) {
        let mut all = self.end();
        all.sort_by_key(|d| d.cpu);
        let error = self.shared.error.lock().unwrap_or_else(|e| e.into_inner()).take();
        (all, error)
    }

    fn end(&mut self) -> Vec<Drained> {
        self.shared.finish.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for t in self.threads.drain(..) {
            t.thread().unpark();
            match t.join() {
                Ok(drained) => all.extend(drained),
                Err(_) => self.shared.fail(Error::refused("a recording thread ended early", "this is a bug")),
            }
        }
        all
    }
}

/// An instance cannot be removed while its buffers are open, so the threads must not outlive the recording.
impl Drop for Drain {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Keeps only the first error; later ones are its consequences.
    fn fail(&self, e: Error) {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(e);
        self.failed.store(true, Ordering::Relaxed);
    }
}

fn work(mut group: Vec<Emptier>, shared: &Shared, tell: Sender<Pid>) -> Vec<Drained> {
    let _ = tell.send(gettid());
    drop(tell);
    // If this is refused, recording works too, but events may be lost sooner.
    let _ = setpriority_process(Some(gettid()), NICENESS);
    rights::keep_none();
    loop {
        let begun = Instant::now();
        let last = shared.finish.load(Ordering::Relaxed);
        for e in &mut group {
            if let Err(error) = e.round(last) {
                shared.fail(error);
                e.broken = true;
            }
        }
        if last {
            return group.into_iter().map(Emptier::close).collect();
        }
        thread::park_timeout(ROUND.saturating_sub(begun.elapsed()));
    }
}

/// Empties the buffer of one CPU.
struct Emptier {
    job: Job,
    from: File,
    /// The pipe that splice needs between two files: read end, write end.
    pipe: (OwnedFd, OwnedFd),
    page: usize,
    buffer: Vec<u8>,
    bytes: u64,
    broken: bool,
    shared: Arc<Shared>,
}

impl Emptier {
    fn open(job: Job, page: usize, shared: Arc<Shared>) -> Result<Emptier> {
        let nonblock = OFlags::NONBLOCK.bits() as i32;
        let from =
            OpenOptions::new().read(true).custom_flags(nonblock).open(&job.pipe).at("opening", &job.pipe)?;
        let pipe = pipe_with(PipeFlags::CLOEXEC).at("making a pipe for", &job.pipe)?;
        // If the pipe stays smaller, more calls are needed.
        let _ = fcntl_setpipe_size(&pipe.1, CHUNK);
        Ok(Emptier { job, from, pipe, page, buffer: Vec::new(), bytes: 0, broken: false, shared })
    }

    /// Moves all whole pages; with `last`, also the partly filled ones.
    fn round(&mut self, last: bool) -> Result<()> {
        if self.broken {
            return Ok(());
        }
        self.splice_pages(last)?;
        if last {
            self.read_rest()?;
        }
        Ok(())
    }

    fn splice_pages(&mut self, last: bool) -> Result<()> {
        loop {
            let taken = self.shared.bytes.load(Ordering::Relaxed);
            let room = self.shared.most.saturating_sub(taken) as usize / self.page * self.page;
            let chunk = if last { CHUNK } else { room.min(CHUNK) };
            if chunk == 0 {
                return Ok(());
            }
            let flags = SpliceFlags::NONBLOCK;
            match splice(&self.from, None, &self.pipe.1, None, chunk, flags) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Ok(n) => self.empty_pipe(n)?,
                Err(e) => return Err(e).at("reading", &self.job.pipe),
            }
        }
    }

    /// Moves `n` bytes from the pipe to the destination.
    fn empty_pipe(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            if let Destination::File(file) = &self.job.destination {
                match splice(&self.pipe.0, None, file, None, left, SpliceFlags::MOVE) {
                    Ok(0) => return Err(Errno::IO).at("writing pages of", &self.job.pipe),
                    Ok(m) => left -= m,
                    Err(Errno::INTR) => {}
                    // Some file systems do not support splice: copy instead.
                    Err(Errno::INVAL) => left -= self.copy(left)?,
                    Err(e) => return Err(e).at("writing pages of", &self.job.pipe),
                }
            } else {
                left -= self.copy(left)?;
            }
        }
        self.count(n);
        Ok(())
    }

    /// Copies up to `most` bytes from the pipe to the destination.
    fn copy(&mut self, most: usize) -> Result<usize> {
        self.buffer.resize(most, 0);
        let mut filled = 0;
        while filled < most {
            match rustix::io::read(&self.pipe.0, &mut self.buffer[filled..]) {
                Ok(0) => return Err(Errno::IO).at("reading", &self.job.pipe),
                Ok(n) => filled += n,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e).at("reading", &self.job.pipe),
            }
        }
        self.keep(filled)?;
        Ok(filled)
    }

    /// Reads what splice leaves, because it moves only whole pages; each page is padded with zeros to its size.
    fn read_rest(&mut self) -> Result<()> {
        loop {
            self.buffer.resize(self.page, 0);
            match self.from.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    self.buffer[n..].fill(0);
                    self.keep(self.page)?;
                    self.count(self.page);
                }
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e).at("reading", &self.job.pipe),
            }
        }
    }

    fn keep(&mut self, filled: usize) -> Result<()> {
        let data = &self.buffer[..filled];
        match &mut self.job.destination {
            Destination::File(f) => f.write_all(data).at("writing pages of", &self.job.pipe),
            Destination::Parts(p) => p.write(data),
        }
    }

    fn count(&mut self, n: usize) {
        self.bytes += n as u64;
        self.shared.bytes.fetch_add(n as u64, Ordering::Relaxed);
    }

    fn close(self) -> Drained {
        Drained { cpu: self.job.cpu, destination: self.job.destination, bytes: Bytes(self.bytes) }
    }
}
