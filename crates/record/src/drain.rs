//! Moves the kernel's ring buffers, CPU by CPU, to where they are kept, a whole page at a time.
//!
//! To a file the pages go by splice, without passing through this program; to a stream they are read. Threads
//! sleep between two rounds instead of being woken by the kernel: waking up on every page would be felt by
//! what is recorded. Invariant: what a sink holds is always a whole number of sub-buffers, in the order in
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

/// From the begin of a round to that of the next, which begins at once where one takes longer. At a million events of 57
/// bytes per second on one CPU that is 2.9 MB, a fifth of the default buffer.
const ROUND: Duration = Duration::from_millis(50);
/// How many CPUs one thread empties: at 57 MB/s each, a fraction of what one thread can copy.
const CPUS_PER_THREAD: usize = 8;
/// A busy machine is what is recorded, and who empties its buffers must not wait for a processor: with both
/// CPUs kept busy and the usual priority, 4 % of 2.1 million events per second were lost.
const NICENESS: i32 = -20;
/// What is moved at once: the most a pipe may hold by default (/proc/sys/fs/pipe-max-size).
const CHUNK: usize = 1 << 20;

/// Where one CPU's pages go.
#[derive(Debug)]
pub enum Destination {
    /// A file on disk, or one that exists only in memory.
    File(File),
    /// Parts of a stream.
    Parts(Parts),
}

/// What one CPU gave.
#[derive(Debug)]
pub struct Drained {
    /// The processor.
    pub cpu: Cpu,
    /// Where its pages are.
    pub destination: Destination,
    /// How many bytes of them.
    pub bytes: Bytes,
}

/// One CPU's buffer and where it goes.
#[derive(Debug)]
pub struct Job {
    /// The processor.
    pub cpu: Cpu,
    /// Its `trace_pipe_raw`.
    pub pipe: PathBuf,
    /// Where to.
    pub destination: Destination,
}

/// What threads share with who started them.
#[derive(Debug, Default)]
struct Shared {
    /// End after one last round.
    finish: AtomicBool,
    /// More bytes than this are left in the kernel's buffers until that round.
    most: u64,
    bytes: AtomicU64,
    failed: AtomicBool,
    error: Mutex<Option<Error>>,
}

/// The threads at work.
#[derive(Debug)]
pub struct Drain {
    threads: Vec<JoinHandle<Vec<Drained>>>,
    tids: Vec<Pid>,
    page: usize,
    shared: Arc<Shared>,
}

impl Drain {
    /// Opens every buffer and starts to empty them, up to `most` bytes in all if that is given. `page` is the size of a
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

    /// The threads, so that they can be kept out of the recording.
    pub fn tids(&self) -> &[Pid] {
        &self.tids
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.shared.bytes.load(Ordering::Relaxed))
    }

    /// Whether no further page may be moved before the end.
    pub fn is_full(&self) -> bool {
        self.bytes().0.saturating_add(self.page as u64) > self.shared.most
    }

    /// Whether something cannot be kept any more (a full disk, a closed pipe). Recording must end then.
    pub fn failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Empties what is left, part-filled pages too, and closes the buffers. Recording must be off.
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

/// An instance cannot be removed while its buffers are open: threads must not outlive their recording.
impl Drop for Drain {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Keeps the first error: the others follow from it.
    fn fail(&self, e: Error) {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(e);
        self.failed.store(true, Ordering::Relaxed);
    }
}

fn work(mut group: Vec<Emptier>, shared: &Shared, tell: Sender<Pid>) -> Vec<Drained> {
    let _ = tell.send(gettid());
    drop(tell);
    // Where it is refused, recording works as well, only with less room before events are lost.
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
    /// The two ends of the pipe that splice needs between two files.
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
        // A smaller pipe than asked for only means more calls.
        let _ = fcntl_setpipe_size(&pipe.1, CHUNK);
        Ok(Emptier { job, from, pipe, page, buffer: Vec::new(), bytes: 0, broken: false, shared })
    }

    /// Moves all whole pages, and with `last` the part-filled ones.
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

    /// Everything in the pipe goes to the sink.
    fn empty_pipe(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            if let Destination::File(file) = &self.job.destination {
                match splice(&self.pipe.0, None, file, None, left, SpliceFlags::MOVE) {
                    Ok(0) => return Err(Errno::IO).at("writing pages of", &self.job.pipe),
                    Ok(m) => left -= m,
                    Err(Errno::INTR) => {}
                    // Some file systems cannot splice: copy instead.
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

    /// Takes up to `most` bytes out of the pipe and hands them on.
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

    /// Splice gives only whole pages: what is left is read, each page padded with zeros to its size.
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
