//! Defines how each tracepoint about tasks becomes a task event, with fields located by name.

use super::format::{EventFormat, Slot};
use crate::task_event::{is_of_completion, CommitPhase, Completions, Fs};

/// How one tracepoint becomes a task event: the fields to read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plan {
    Enter { id: Slot, args: Slot },
    Exit { id: Slot, result: Slot },
    Switch { state: Slot, next: Slot },
    Wake { tid: Slot, first: bool },
    WorkQueued { work: Slot, function: Slot },
    WorkStart { work: Slot, function: Slot },
    WorkEnd,
    SoftIrq { vector: Slot, step: Completions },
    File { fs: Fs, dev: Slot, inode: Slot },
    Direct { dev: Slot, inode: Slot, at: Slot, bytes: Slot },
    Changes { fs: Fs, dev: Slot, blocks: Slot },
    Commit { dev: Slot, phase: CommitPhase },
    WaitPage { inode: Slot },
    Writeback { name: Slot, inode: Slot, cgroup: Slot },
    DirtiedFile { name: Slot, inode: Slot },
    Created { dev: Slot, inode: Slot },
    Freed { dev: Slot, inode: Slot },
    WritebackEnd,
    Dirtied { name: Slot },
    RingSubmit { request: Slot, opcode: Slot },
    RingComplete { request: Slot, result: Slot },
    Born { tid: Slot, flags: Slot },
    CgroupAttach { tid: Slot, hierarchy: Slot, path: Slot },
    Exec,
    Gone,
}

impl Plan {
    pub fn of(event: &EventFormat) -> Option<Plan> {
        let slot = |name: &str| event.slot(&[name]);
        let (dev, inode) = (slot("dev"), event.slot(&["ino", "inode"]));
        Some(match (&*event.system, &*event.name) {
            ("raw_syscalls", "sys_enter") => Plan::Enter { id: slot("id"), args: slot("args") },
            ("raw_syscalls", "sys_exit") => Plan::Exit { id: slot("id"), result: slot("ret") },
            ("sched", "sched_switch") => Plan::Switch { state: slot("prev_state"), next: slot("next_pid") },
            // A wakeup. If both halves are recorded, the second (`sched_wakeup`) is redundant.
            ("sched", "sched_waking") => Plan::Wake { tid: slot("pid"), first: true },
            ("sched", "sched_wakeup" | "sched_wakeup_new") => Plan::Wake { tid: slot("pid"), first: false },
            ("sched", "sched_process_exit") => Plan::Gone,
            ("sched", "sched_process_exec") => Plan::Exec,
            ("task", "task_newtask") => Plan::Born { tid: slot("pid"), flags: slot("clone_flags") },
            ("cgroup", "cgroup_attach_task") => {
                Plan::CgroupAttach { tid: slot("pid"), hierarchy: slot("dst_root"), path: slot("dst_path") }
            }
            ("workqueue", "workqueue_queue_work") => {
                Plan::WorkQueued { work: slot("work"), function: slot("function") }
            }
            ("workqueue", "workqueue_execute_start") => {
                Plan::WorkStart { work: slot("work"), function: slot("function") }
            }
            ("workqueue", "workqueue_execute_end") => Plan::WorkEnd,
            ("irq", "softirq_raise") => Plan::SoftIrq { vector: slot("vec"), step: Completions::Wanted },
            ("irq", "softirq_entry") => Plan::SoftIrq { vector: slot("vec"), step: Completions::Begin },
            ("irq", "softirq_exit") => Plan::SoftIrq { vector: slot("vec"), step: Completions::End },
            ("xfs", "xfs_log_reserve" | "xfs_log_regrant") => {
                Plan::Changes { fs: Fs::Xfs, dev, blocks: Slot::default() }
            }
            ("jbd2", "jbd2_handle_stats") => {
                Plan::Changes { fs: Fs::Ext4, dev, blocks: slot("dirtied_blocks") }
            }
            ("jbd2", "jbd2_start_commit") => Plan::Commit { dev, phase: CommitPhase::Start },
            ("jbd2", "jbd2_commit_locking") => Plan::Commit { dev, phase: CommitPhase::Locking },
            ("jbd2", "jbd2_commit_flushing") => Plan::Commit { dev, phase: CommitPhase::Flushing },
            ("jbd2", "jbd2_commit_logging") => Plan::Commit { dev, phase: CommitPhase::Logging },
            ("jbd2", "jbd2_end_commit") => Plan::Commit { dev, phase: CommitPhase::End },
            ("writeback", "folio_wait_writeback" | "wait_on_page_writeback") => Plan::WaitPage { inode },
            ("writeback", "writeback_single_inode_start") => {
                Plan::Writeback { name: slot("name"), inode, cgroup: slot("cgroup_ino") }
            }
            ("writeback", "writeback_single_inode") => Plan::WritebackEnd,
            ("writeback", "writeback_dirty_inode") => Plan::DirtiedFile { name: slot("name"), inode },
            ("ext4", "ext4_allocate_inode") => Plan::Created { dev, inode },
            // For XFS and F2FS, also inodes that are only evicted from memory: harmless, their names are then not reported.
            ("ext4", "ext4_free_inode")
            | ("xfs", "xfs_inode_inactivating")
            | ("f2fs", "f2fs_evict_inode") => Plan::Freed { dev, inode },
            ("writeback", "balance_dirty_pages") => Plan::Dirtied { name: slot("bdi") },
            ("io_uring", "io_uring_submit_req" | "io_uring_submit_sqe") => {
                Plan::RingSubmit { request: slot("req"), opcode: slot("opcode") }
            }
            ("io_uring", "io_uring_complete") => {
                Plan::RingComplete { request: slot("req"), result: event.slot(&["res"]) }
            }
            (_, name) if is_of_completion(name) => return None,
            ("jbd2", _) if dev.present => Plan::File { fs: Fs::Ext4, dev, inode: Slot::default() },
            ("iomap", "iomap_dio_rw_begin") if slot("pos").present && slot("count").present => {
                Plan::Direct { dev, inode, at: slot("pos"), bytes: slot("count") }
            }
            ("iomap", _) if dev.present && inode.present => Plan::File { fs: Fs::Unknown, dev, inode },
            (system @ ("xfs" | "ext4" | "btrfs" | "f2fs"), _) if dev.present || inode.present => {
                Plan::File { fs: Fs::by_name(system), dev, inode }
            }
            _ => return None,
        })
    }
}
