//! The file: accepts operations immediately, and answers each when the model says that it is done.
//!
//! FUSE's thread accepts operations and puts them into a heap ordered by the time of their answer; another thread answers
//! them. Data is read or written at the time of the answer, so an unanswered operation has had no effect.

use crate::model::{Model, Nanos, Op, Queue};
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};
use rustix::fs::{fallocate, seek, FallocateFlags, SeekFrom};
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

/// Name of the file.
const NAME: &str = "disk";
/// Inode number of the file; 1 is the folder.
const DISK: u64 = 2;
/// Cache lifetime for the kernel: entries and attributes never change.
const FOREVER: Duration = Duration::from_secs(3600);
/// Largest operation in bytes: the maximum of FUSE.
const LARGEST: u32 = 1 << 20;

/// Options of a mounted disk.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Size in bytes.
    pub size: u64,
    /// Most operations that the kernel has in flight.
    pub queue: u16,
    /// Service times.
    pub model: Model,
    /// One in this many reads and writes fails (EIO) after its service time; 0: none.
    pub error_every: u64,
}

/// Mounts `backing` as a slow disk `point/disk`, and serves it until it is unmounted.
pub fn mount(point: &Path, backing: File, options: Options) -> io::Result<()> {
    backing.set_len(options.size)?;
    let mut queue = Queue::new(options.model);
    hold_data(&backing, &mut queue)?;
    let shared = Arc::new(Shared {
        began: Instant::now(),
        state: Mutex::new(State { queue, waiting: BinaryHeap::new(), taken: 0 }),
        more: Condvar::new(),
        backing,
        error_every: options.error_every,
    });
    let answering = shared.clone();
    std::thread::spawn(move || answering.answer());
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("slowdisk".into()), MountOption::NoAtime];
    fuser::mount(SlowDisk { shared, options }, point, &config)
}

/// Tells the model which parts of the file have data.
fn hold_data(backing: &File, queue: &mut Queue) -> io::Result<()> {
    let mut at = 0;
    loop {
        // ENXIO: only a hole is left.
        let data = match seek(backing, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        at = seek(backing, SeekFrom::Hole(data))?;
        queue.holds(data, at - data);
    }
}

struct SlowDisk {
    shared: Arc<Shared>,
    options: Options,
}

struct Shared {
    began: Instant,
    state: Mutex<State>,
    more: Condvar,
    backing: File,
    error_every: u64,
}

struct State {
    queue: Queue,
    waiting: BinaryHeap<Waiting>,
    taken: u64,
}

/// An operation that waits for its answer. The order is reversed, because the heap returns the greatest first.
struct Waiting {
    done: Nanos,
    number: u64,
    fails: bool,
    work: Work,
}

enum Work {
    Read {
        offset: u64,
        len: u32,
        reply: ReplyData,
    },
    Write {
        offset: u64,
        data: Vec<u8>,
        reply: ReplyWrite,
    },
    /// A flush or a discard: no data is moved.
    Done(ReplyEmpty),
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.number == other.number
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        (other.done, other.number).cmp(&(self.done, self.number))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn take(&self, op: Op, offset: u64, len: u64, work: Work) {
        let now = self.began.elapsed().as_nanos() as Nanos;
        let mut state = self.lock();
        let done = state.queue.arrive(now, op, offset, len);
        state.taken += 1;
        let number = state.taken;
        let moves = matches!(op, Op::Read | Op::Write);
        let fails = moves && self.error_every > 0 && state.queue.count() % self.error_every == 0;
        state.waiting.push(Waiting { done, number, fails, work });
        self.more.notify_one();
    }

    fn answer(&self) {
        let mut buffer = Vec::new();
        let mut state = self.lock();
        loop {
            let now = self.began.elapsed().as_nanos() as Nanos;
            state = match state.waiting.peek().map(|w| w.done) {
                None => self.more.wait(state).unwrap_or_else(|e| e.into_inner()),
                Some(done) if done > now => {
                    let pause = Duration::from_nanos(done - now);
                    self.more.wait_timeout(state, pause).unwrap_or_else(|e| e.into_inner()).0
                }
                Some(_) => {
                    let next = state.waiting.pop();
                    drop(state);
                    if let Some(w) = next {
                        self.work(w.work, w.fails, &mut buffer);
                    }
                    self.lock()
                }
            }
        }
    }

    fn work(&self, work: Work, fails: bool, buffer: &mut Vec<u8>) {
        match work {
            Work::Read { reply, .. } if fails => reply.error(Errno::EIO),
            Work::Write { reply, .. } if fails => reply.error(Errno::EIO),
            Work::Read { offset, len, reply } => {
                buffer.clear();
                buffer.resize(len as usize, 0);
                match self.backing.read_at(buffer, offset) {
                    // Reads beyond the end of the file return zeros.
                    Ok(n) => {
                        buffer[n..].fill(0);
                        reply.data(buffer);
                    }
                    Err(e) => reply.error(e.into()),
                }
            }
            Work::Write { offset, data, reply } => match self.backing.write_all_at(&data, offset) {
                Ok(()) => reply.written(data.len() as u32),
                Err(e) => reply.error(e.into()),
            },
            Work::Done(reply) => reply.ok(),
        }
    }
}

impl SlowDisk {
    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match u64::from(ino) {
            1 => (FileType::Directory, 0o755, 0),
            DISK => (FileType::RegularFile, 0o600, self.options.size),
            _ => return None,
        };
        let then = SystemTime::UNIX_EPOCH;
        Some(FileAttr {
            ino,
            size,
            blocks: size / 512,
            atime: then,
            mtime: then,
            ctime: then,
            crtime: then,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for SlowDisk {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // If a kernel refuses some of these, the disk still works.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_write(LARGEST);
        let _ = config.set_max_background(self.options.queue);
        let _ = config.set_congestion_threshold(self.options.queue);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(INodeNo(DISK)) {
            Some(a) if u64::from(parent) == 1 && name == NAME => reply.entry(&FOREVER, &a, Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, ino: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(a) => reply.attr(&FOREVER, &a),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _request: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        offset: u64,
        len: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.shared.take(Op::Read, offset, len.into(), Work::Read { offset, len, reply });
    }

    fn write(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let work = Work::Write { offset, data: data.to_vec(), reply };
        self.shared.take(Op::Write, offset, data.len() as u64, work);
    }

    /// A loop device uses this to discard and to write zeros.
    fn fallocate(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        if !mode.intersects(FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE) {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.shared.backing, hole, offset, length) {
            Ok(()) => self.shared.take(Op::Discard, offset, length, Work::Done(reply)),
            Err(e) => reply.error(io::Error::from(e).into()),
        }
    }

    fn fsync(&self, _request: &Request, _ino: INodeNo, _handle: FileHandle, _data: bool, reply: ReplyEmpty) {
        self.shared.take(Op::Flush, 0, 0, Work::Done(reply));
    }
}
