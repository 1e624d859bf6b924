//! System calls: from their beginning to their end, with the file that they are about.

use crate::operation::{Kind, Open, Operation};
use crate::over::{Outside, Over};
use crate::thread::{State, Stretch};
use crate::watch::{Watch, MAX_PENDING};
use life::Names;
use trace::{Call, DevId, Fs, Left, TaskEvent, Tid};

impl Watch {
    pub(crate) fn enter(&mut self, e: &TaskEvent, call: Call, args: [u64; 4], over: &mut impl Over) {
        let fd = call.has_fd().then_some(args[0] as i32);
        let process = self.process_of(e.tid);
        let known = fd.and_then(|fd| self.files.get(process, fd));
        if let (Call::Close, Some(fd)) = (call, fd) {
            self.files.remove(process, fd);
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let (fs, dev, inode) = known.unwrap_or_default();
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
        over: &mut impl Over,
    ) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        // Of another call than the one that began: what lies between was lost.
        let Some(mut open) = thread.open.take().filter(|o| o.call == call) else { return };
        open.is_storage |= thread
            .between(open.from, e.time)
            .any(|(s, _)| s.from >= open.from && s.state == State::Asleep(Left::Uninterruptible));
        thread.left_io = open.is_storage.then_some(e.time);
        if matches!(
            open.call,
            Call::Write | Call::Fallocate | Call::Truncate | Call::CopyFileRange | Call::Sendfile
        ) {
            self.history.wrote(open.inode, names.of(e.tid));
        }
        self.learn(e.tid, &open, result);
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
            result,
            is_storage: open.is_storage,
        };
        self.end(operation, names, over);
    }

    /// What a call says of a file descriptor. An open's file is on the file system whose events were seen in it; which
    /// file it is, no event tells: there were some of its folder too.
    fn learn(&mut self, tid: Tid, open: &Open, result: i64) {
        let process = self.process_of(tid);
        let (fd, inode) = match (open.call, i32::try_from(result)) {
            (Call::Close, _) => return,
            (Call::Open, Ok(fd)) if fd >= 0 => {
                self.files.remove(process, fd);
                (Some(fd).filter(|_| open.fs != Fs::Unknown), 0)
            }
            _ => (open.fd, open.inode),
        };
        if let Some(fd) = fd.filter(|_| open.is_storage && open.dev != DevId(0)) {
            self.files.insert(process, fd, (open.fs, open.dev, inode));
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
        if fs != Fs::Unknown {
            open.fs = fs;
        }
        if dev != DevId(0) {
            open.dev = dev;
        }
        if inode != 0 {
            open.inode = inode;
        }
    }
}
