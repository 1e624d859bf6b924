//! System calls: from their beginning to their end, with the file that they are about.

use crate::descriptors::on_exec_of_open;
use crate::files::OnFile;
use crate::operation::{Kind, Open, Operation};
use crate::over::{Outside, Over};
use crate::thread::{State, Stretch};
use crate::watch::{Watch, MAX_PENDING};
use life::Names;
use trace::{Call, DevId, Fs, Left, TaskEvent};

impl Watch {
    pub(crate) fn enter(&mut self, e: &TaskEvent, call: Call, args: [u64; 4], over: &mut dyn Over) {
        let fd = call.has_fd().then_some(args[0] as i32);
        let process = self.process_of(e.tid);
        let known = fd.and_then(|fd| self.files.get(process, fd));
        if let (Call::Close, Some(fd)) = (call, fd) {
            self.files.closed(process, fd, e.time);
        }
        let writes_to = match call {
            Call::CopyFileRange => self.files.get(process, args[2] as i32).map(|f| (f.dev, f.inode)),
            _ => None,
        };
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let OnFile { fs, dev, inode, told } = known.unwrap_or_default();
        if let Some(from) = thread.left_io.take().filter(|_| known.is_some()) {
            let waiting = |s: &Stretch| matches!(s.state, State::Preempted | State::Woken(_));
            let between = thread.between(from, e.time).filter(|(s, _)| waiting(s));
            let wait_cpu = between.map(|(s, to)| to.min(e.time).since(s.from.max(from))).sum();
            over.outside(&Outside { tid: e.tid, from, to: e.time, wait_cpu });
        }
        let is_storage = known.is_some() || call.is_sync();
        thread.open = (call != Call::Other).then_some(Open {
            call,
            from: e.time,
            fd,
            fs,
            dev,
            inode,
            told,
            flags: args[3],
            created: 0,
            writes_to,
            is_storage,
            last_sent: None,
        });
    }

    pub(crate) fn exit(
        &mut self,
        e: &TaskEvent,
        call: Call,
        result: i64,
        names: &Names,
        over: &mut dyn Over,
    ) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        // Of another call than the one that began: what lies between was lost.
        let Some(mut open) = thread.open.take().filter(|o| o.call == call) else { return };
        open.is_storage |= thread
            .between(open.from, e.time)
            .any(|(s, _)| s.from >= open.from && s.state == State::Asleep(Left::Uninterruptible));
        thread.left_io = open.is_storage.then_some(e.time);
        if let Some((dev, inode)) = open.writes().filter(|_| result >= 0) {
            self.history.writers.wrote(dev, inode, names.of(e.tid));
        }
        self.learn(e, &open, result);
        if open.fs == Fs::Unknown {
            open.fs = self.kinds.get(&open.dev).copied().unwrap_or_default();
        }
        let operation = Operation {
            kind: Kind::Call(open.call),
            tid: e.tid,
            process: None,
            task: names.of(e.tid),
            from: open.from,
            to: e.time.max(open.from),
            fd: open.fd,
            fs: open.fs,
            dev: open.dev,
            inode: open.inode,
            told: open.told,
            result,
            is_storage: open.is_storage,
        };
        self.end(operation, names, over);
    }

    /// What a call says of a file descriptor. An open's file is on the file system whose events were seen in it; which
    /// file it is, is known of a new one only: there were events of its folder too.
    fn learn(&mut self, e: &TaskEvent, open: &Open, result: i64) {
        let process = self.process_of(e.tid);
        let Open { fs, dev, inode, .. } = *open;
        let file = OnFile { fs, dev, inode, told: false };
        let is_file = open.is_storage && dev != DevId(0);
        match (open.call, i32::try_from(result)) {
            (Call::Close, _) => {}
            (Call::Open, Ok(fd)) if fd >= 0 => {
                let file = OnFile { inode: open.created, ..file };
                let file = Some(file).filter(|_| is_file && fs != Fs::Unknown);
                self.files.opened(process, fd, file, on_exec_of_open(open.flags), e.time);
            }
            _ => {
                if let Some(fd) = open.fd.filter(|_| is_file) {
                    self.files.learned(process, fd, file, open.from);
                }
            }
        }
    }

    /// The task wrote to a file on this disk. Where the file system is on a partition, its own events say so.
    pub(crate) fn dirtied(&mut self, e: &TaskEvent, disk: DevId) {
        if e.context.is_interrupt() {
            return;
        }
        let place = self.history.writers.place(disk).filter(|dev| *dev != DevId(0));
        let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) else { return };
        open.is_storage = true;
        if let (Some(place), DevId(0)) = (place, open.dev) {
            open.dev = place;
        }
    }

    /// The task made a file dirty. Of calls that write it is the file that they write to, and in no other call is it
    /// anybody's data: times are touched by reads too.
    pub(crate) fn dirtied_file(&mut self, e: &TaskEvent, disk: DevId, inode: u64, names: &Names) {
        // Pipes and terminals have times too, and no disk.
        if e.context.is_interrupt() || disk == DevId(0) {
            return;
        }
        let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) else { return };
        open.is_storage = true;
        if !matches!(open.call, Call::Write | Call::Fallocate) {
            return;
        }
        // Of several files in one call it is the first: that is before the file system looks for room and may meet others.
        if open.inode == 0 {
            open.inode = inode;
        }
        if open.inode == inode {
            self.history.writers.wrote_on_disk(disk, inode, names.of(e.tid));
        }
    }

    /// The task made a file: of an `open` it is the one that the new descriptor stands for.
    pub(crate) fn created(&mut self, e: &TaskEvent, dev: DevId, inode: u64) {
        self.file(e, Fs::Ext4, dev, 0);
        let open = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut());
        if let Some(open) = open.filter(|o| o.call == Call::Open && !e.context.is_interrupt()) {
            (open.created, open.inode) = (inode, inode);
        }
    }

    pub(crate) fn file(&mut self, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64) {
        if fs != Fs::Unknown && dev != DevId(0) && self.kinds.len() < MAX_PENDING {
            self.kinds.insert(dev, fs);
        }
        if e.context.is_interrupt() {
            return;
        }
        let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) else { return };
        open.is_storage = true;
        if inode != 0 {
            // Its descriptor stands for another file than was thought.
            open.told &= open.inode == inode && (open.dev == dev || dev == DevId(0));
            open.inode = inode;
        }
        if fs != Fs::Unknown {
            open.fs = fs;
        }
        if dev != DevId(0) {
            open.dev = dev;
        }
    }
}
