//! System calls: follows each from beginning to end, with the file that it is about.
//!
//! A call's file is the one that its descriptor stood for when it began, unless a file system's event within the call
//! names another. The descriptor is updated with that file when the call ends.

use crate::begun;
use crate::descriptors::{on_exec_of_open, DescriptorCall};
use crate::files::{Files, OnExec, OnFile};
use crate::history::History;
use crate::known::{Known, KnownSleep};
use crate::observer::Outside;
use crate::open_call::OpenCall;
use crate::operation::{Kind, Operation};
use crate::processes::Processes;
use crate::served::Entry;
use crate::stretch::{State, Stretch};
use life::Names;
use trace::{Call, DevId, Fs, Nanos, TaskEvent, TextId, Tid};

/// Open files of processes, and system calls in progress (the calls are kept in the threads of [`History`]).
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub files: Files,
    pub processes: Processes,
    /// Tasks that slept when recording began.
    asleep: Vec<KnownSleep>,
}

impl Calls {
    pub fn knows(&mut self, known: Known) {
        self.processes.knows(known.processes);
        self.asleep = known.asleep;
        for f in &known.files {
            let file = OnFile { fs: f.fs, dev: f.dev, inode: f.inode, told: true };
            let on_exec = f.closed_on_exec.map_or(OnExec::Unknown, OnExec::closed);
            self.files.opened(f.process, f.fd, Some(file), on_exec, Nanos(0));
        }
    }

    /// Before the first event: puts tasks that slept by then into the calls that their stacks show.
    pub fn begin(&mut self, h: &mut History, names: &Names) {
        let asleep = std::mem::take(&mut self.asleep);
        for slept in &asleep {
            let process = self.processes.of(slept.tid);
            let file = |fd| self.files.get(process, fd).unwrap_or_default();
            begun::slept(h, slept, file);
        }
        begun::writers(h, &asleep, names);
    }

    /// A call begins. Returns the time since the task's last call about storage, if this one is about a known file.
    pub fn enter(&mut self, h: &mut History, e: &TaskEvent, call: Call, args: [u64; 4]) -> Option<Outside> {
        h.sees_calls = true;
        h.sees_all_calls |= matches!(call, Call::Other | Call::Stat | Call::Mkdir | Call::Link);
        let thread = h.thread_mut(e.tid)?;
        (thread.is_outside, thread.is_known) = (false, true);
        let process = self.processes.of(e.tid);
        if call.is_of_descriptors() {
            let begun = DescriptorCall::begin(&mut self.files, process, call, args, e.time);
            let thread = h.thread_mut(e.tid)?;
            (thread.open, thread.left_io) = (None, None);
            thread.descriptor_call = Some(begun);
            return None;
        }
        let fd = call.has_fd().then_some(args[0] as i32);
        let known = fd.and_then(|fd| self.files.get(process, fd));
        if let (Call::Close, Some(fd)) = (call, fd) {
            self.files.closed(process, fd, e.time);
        }
        let writes_to = match call {
            Call::CopyFileRange => self.files.get(process, args[2] as i32).map(|f| (f.dev, f.inode)),
            _ => None,
        };
        let thread = h.thread_mut(e.tid)?;
        let outside = thread.left_io.take().filter(|_| known.is_some()).map(|from| {
            let waiting = |s: &Stretch| matches!(s.state, State::Preempted | State::Woken(_));
            let between = thread.between(from, e.time).filter(|(s, _)| waiting(s));
            let wait_cpu = between.map(|(s, to)| to.min(e.time).since(s.from.max(from))).sum();
            Outside { tid: e.tid, from, to: e.time, wait_cpu }
        });
        let OnFile { fs, dev, inode, told } = known.unwrap_or_default();
        thread.open = (call != Call::Other).then_some(OpenCall {
            fd,
            fs,
            dev,
            inode,
            told,
            flags: args[3],
            context: args[0],
            most: args[2],
            writes_to,
            is_storage: known.is_some() || call.is_sync(),
            ..OpenCall::new(call, e.time)
        });
        outside
    }

    /// A call ends. `None` if it is of no interest, or if its beginning was not seen.
    pub fn exit(
        &mut self,
        h: &mut History,
        e: &TaskEvent,
        call: Call,
        result: i64,
        names: &Names,
    ) -> Option<Operation> {
        h.sees_calls = true;
        let first_event = h.first_event;
        let thread = h.thread_mut(e.tid)?;
        let begun_before = begun::ends(thread, call, first_event);
        thread.is_outside = true;
        if call.is_of_descriptors() {
            let process = self.processes.of(e.tid);
            thread.descriptor_call.take()?.end(&mut self.files, process, call, result, e.time);
            return None;
        }
        // If the call that began was another one, events between the two were lost.
        let mut open = thread.open.take().or(begun_before).filter(|o| o.call == call)?;
        open.is_storage |= thread.slept_uninterruptibly(open.from, e.time);
        thread.left_io = open.is_storage.then_some(e.time);
        if let Some((dev, inode)) = open.writes().filter(|_| result >= 0) {
            h.wrote(dev, inode, names.of(e.tid));
            h.dirtied.wrote(dev, names.of(e.tid), open.bytes_cached(result));
        }
        self.learn(e, &open, result);
        if open.begun_before {
            if !begun::is_long(h, &open, e.tid, e.time) {
                return None;
            }
            placed(h, &mut open, e.tid);
        }
        Some(Operation { result, ..operation(h, &open, e.tid, e.time, names) })
    }

    /// Updates the file of a descriptor from a call. A file opened is on the file system whose events were seen in the
    /// call. The inode is known only for a file that the call created, because the directory has events as well.
    fn learn(&mut self, e: &TaskEvent, open: &OpenCall, result: i64) {
        let process = self.processes.of(e.tid);
        let OpenCall { fs, dev, inode, .. } = *open;
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

    /// A task closes a descriptor, but the event does not say which.
    pub fn closes_any(&mut self, tid: Tid) {
        self.files.forget(self.processes.of(tid));
    }

    /// A task created another one.
    pub fn born(&mut self, h: &mut History, e: &TaskEvent, tid: Tid, is_thread: bool, shares_files: bool) {
        self.processes.born(e.tid, tid, is_thread);
        if !is_thread {
            let parent = self.processes.of(e.tid);
            self.files.forked(parent, tid, shares_files, e.time);
            h.cgroups.born(parent, tid);
            h.process_tree.born(parent, tid);
        }
    }

    /// A task's process moves to a control group.
    pub fn joins_cgroup(&mut self, h: &mut History, tid: Tid, hierarchy: u32, path: TextId) {
        h.cgroups.joins(self.processes.of(tid), hierarchy, path, &h.texts);
    }

    /// A task executes another program.
    pub fn exec(&mut self, e: &TaskEvent) {
        self.files.exec(self.processes.of(e.tid), e.time);
    }

    /// A task has exited.
    pub fn gone(&mut self, h: &mut History, e: &TaskEvent) {
        // The first thread has the number of its process.
        if self.processes.of(e.tid) == e.tid {
            h.process_tree.ends(e.tid);
        }
        self.processes.gone(e.tid);
        self.files.forget(e.tid);
        if let Some(thread) = h.thread_mut(e.tid) {
            thread.open = None;
            thread.writing_back = None;
        }
    }
}

/// A call as an operation that lasts until `to`, without a result.
pub(crate) fn operation(h: &History, open: &OpenCall, tid: Tid, to: Nanos, names: &Names) -> Operation {
    let fs = if open.fs == Fs::Unknown { h.file_systems.kind(open.dev) } else { open.fs };
    Operation {
        fd: open.fd,
        fs,
        dev: open.dev,
        inode: open.inode,
        told: open.told,
        is_storage: open.is_storage,
        begun_before: open.begun_before,
        ..Operation::of(Kind::Call(open.call), tid, names.of(tid), open.from, to)
    }
}

/// A file system's event names its device, and usually a file: the current call is about it.
pub(crate) fn file(h: &mut History, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64) {
    h.file_systems.seen(dev, fs);
    if let Some(open) = h.open_call(e) {
        open.is_about(fs, dev, inode);
    }
}

/// The task wrote to a file on this disk. If the file system is on a partition, its own events name that.
pub(crate) fn dirtied(h: &mut History, e: &TaskEvent, disk: DevId) {
    let dev = h.file_systems.of_disk(disk).unwrap_or_default();
    if let Some(open) = h.open_call(e) {
        open.is_on(dev);
    }
}

/// The task dirtied a file: if its call writes to that file, some of the file's dirty data is the task's.
pub(crate) fn dirtied_file(h: &mut History, e: &TaskEvent, disk: DevId, inode: u64, names: &Names) {
    // A flusher dirties only the file that it writes back.
    let back = h.thread_mut(e.tid).and_then(|t| t.writing_back.as_mut());
    if let Some(back) = back.filter(|back| (back.disk, back.inode) == (disk, 0)) {
        back.inode = inode;
    }
    // Pipes and terminals also have inode times, but no disk.
    if disk == DevId(0) || !h.open_call(e).is_some_and(|open| open.dirties(inode)) {
        return;
    }
    if let Some(dev) = h.file_systems.of_disk(disk) {
        h.open_call(e).into_iter().for_each(|open| open.is_on(dev));
        h.wrote(dev, inode, names.of(e.tid));
    }
}

/// The task created a file. Within an `open`, the new descriptor stands for it.
pub(crate) fn created(h: &mut History, e: &TaskEvent, dev: DevId, inode: u64) {
    file(h, e, Fs::Ext4, dev, 0);
    if let Some(open) = h.open_call(e).filter(|o| o.call == Call::Open) {
        (open.created, open.inode) = (inode, inode);
    }
}

/// Prefixes of function names by file system.
const FILE_SYSTEMS: [(&str, Fs); 3] = [("xfs_", Fs::Xfs), ("ext4_", Fs::Ext4), ("btrfs_", Fs::Btrfs)];

/// Finds the device of a call whose beginning or end was not seen, if no event named one: that of its task's last
/// request; or else the only device with the file system that the task sleeps in.
pub(crate) fn placed(h: &History, open: &mut OpenCall, tid: Tid) {
    // This may look through all requests kept.
    if open.is_storage && open.dev == DevId(0) {
        let sent = |e: &&Entry| e.done.queuer() == tid;
        let last = h.served.between(open.from, Nanos(u64::MAX)).rev().find(sent);
        let disk = last.map_or(DevId(0), |entry| entry.done.dev());
        open.dev = h.file_systems.of_disk(disk).unwrap_or(disk);
    }
    let stack = || h.thread(tid)?.stretches.back()?.stack;
    let Some(stack) = stack().filter(|_| open.fs == Fs::Unknown && open.dev == DevId(0)) else { return };
    let Some(fs) = fs_of(h.texts.text(stack)) else { return };
    (open.fs, open.dev) = (fs, h.file_systems.only(fs).unwrap_or_default());
}

/// The innermost file system on a stack.
fn fs_of(stack: &str) -> Option<Fs> {
    let of = |function: &str| FILE_SYSTEMS.iter().find(|(prefix, _)| function.starts_with(prefix));
    stack.split('\n').find_map(of).map(|(_, fs)| *fs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_tells_the_file_system() {
        let of = |inner: &str| fs_of(&format!("schedule\n{inner}\nvfs_create\npath_openat"));
        assert_eq!(
            (of("xfs_create"), of("ext4_create"), of("down_write")),
            (Some(Fs::Xfs), Some(Fs::Ext4), None)
        );
    }
}
