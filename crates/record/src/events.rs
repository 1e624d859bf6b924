//! Selects the events to record with their filters, and lists those that this kernel lacks.
//!
//! The lists name events as `group:event`; a final `*` matches any rest. A missing event is never an error:
//! it is listed as missing, so that the analysis can say what it cannot
//! know. Kernels differ a lot here (`block_split` is absent without certain modules, `lock` exists since 5.19).

use crate::syscalls;
use capture::{Chosen, Detail};
use trace::DevId;

/// Events of the block layer that blktrace uses (kernel/trace/blktrace.c, `blk_register_tracepoints`).
/// Newer kernels lack `block_bio_bounce`, `block_sleeprq` and `block_rq_remap` ([`BLOCK_OF_SOME`]).
const BLOCK: &[&str] = &[
    "block:block_bio_queue",
    "block:block_getrq",
    "block:block_split",
    "block:block_bio_remap",
    "block:block_bio_backmerge",
    "block:block_bio_frontmerge",
    "block:block_rq_merge",
    "block:block_rq_insert",
    "block:block_rq_issue",
    "block:block_rq_requeue",
    "block:block_rq_complete",
    "block:block_bio_complete",
    "block:block_plug",
    "block:block_unplug",
];

/// Further block events that only some kernels have; nothing is lost without them (`block_rq_error`, since Linux 5.18, repeats
/// the error of `block_rq_complete`).
const BLOCK_OF_SOME: &[&str] =
    &["block:block_bio_bounce", "block:block_sleeprq", "block:block_rq_remap", "block:block_rq_error"];

/// Events that the explanation of any whole operation requires.
const TASKS: &[&str] = &[
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
    "sched:sched_switch",
    "sched:sched_waking",
    "workqueue:workqueue_queue_work",
    "workqueue:workqueue_execute_start",
    "workqueue:workqueue_execute_end",
];

/// Events that depend on the kernel's version, configuration and loaded modules.
const WHERE_THERE: &[&str] = &[
    "sched:sched_process_exec",
    "sched:sched_process_fork",
    "sched:sched_process_exit",
    "task:task_newtask",
    "task:task_rename",
    "cgroup:cgroup_attach_task",
    "block:block_io_start",
    "block:block_io_done",
    "irq:softirq_raise",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "lock:contention_begin",
    "lock:contention_end",
    "writeback:folio_wait_writeback",
    "writeback:wait_on_page_writeback",
    "writeback:balance_dirty_pages",
    "writeback:bdi_dirty_ratelimit",
    "writeback:global_dirty_state",
    "writeback:writeback_queue",
    "writeback:writeback_exec",
    "writeback:writeback_start",
    "writeback:writeback_written",
    "writeback:writeback_pages_written",
    "writeback:writeback_dirty_inode",
    "writeback:writeback_single_inode_start",
    "writeback:writeback_single_inode",
    "writeback:writeback_congestion_wait",
    "writeback:writeback_wait_iff_congested",
    "wbt:*",
    "kyber:*",
    "iocost:*",
    "vmscan:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin",
    "vmscan:mm_vmscan_memcg_reclaim_end",
    "vmscan:mm_vmscan_throttled",
    "filemap:mm_filemap_fault",
    "readahead:*",
    "jbd2:*",
    "ext4:ext4_sync_file_enter",
    "ext4:ext4_sync_file_exit",
    "ext4:ext4_writepages",
    "ext4:ext4_writepages_result",
    "ext4:ext4_sync_fs",
    // Inode numbers are reused: these events tell when a number gets a new file.
    "ext4:ext4_allocate_inode",
    "ext4:ext4_free_inode",
    "ext4:ext4_fc_commit_start",
    "ext4:ext4_fc_commit_stop",
    "xfs:xfs_file_fsync",
    "xfs:xfs_dir_fsync",
    "xfs:xfs_file_buffered_read",
    "xfs:xfs_file_buffered_write",
    "xfs:xfs_file_direct_read",
    "xfs:xfs_file_direct_write",
    "xfs:xfs_file_dax_read",
    "xfs:xfs_file_dax_write",
    "xfs:xfs_file_splice_read",
    "xfs:xfs_inode_inactivating",
    "xfs:xfs_log_force",
    "xfs:xfs_log_force_lsn",
    "xfs:xfs_log_reserve",
    "xfs:xfs_log_reserve_exit",
    "xfs:xfs_log_regrant",
    "xfs:xfs_log_regrant_exit",
    "xfs:xfs_log_grant_sleep",
    "xfs:xfs_log_grant_wake",
    "xfs:xfs_log_grant_wake_up",
    "xfs:xfs_log_cil_wait",
    "xfs:xlog_iclog_*",
    "xfs:xfs_ail_push",
    "xfs:xfs_ail_pinned",
    "xfs:xfs_ail_flushing",
    "xfs:xfs_ail_locked",
    "xfs:xfs_buf_iowait",
    "xfs:xfs_buf_iowait_done",
    "iomap:iomap_dio_rw_begin",
    "iomap:iomap_dio_rw_queued",
    "iomap:iomap_dio_complete",
    "iomap:iomap_writepage",
    "iomap:iomap_writeback_folio",
    "btrfs:btrfs_sync_file",
    "btrfs:btrfs_sync_fs",
    "btrfs:btrfs_transaction_commit",
    "btrfs:btrfs_ordered_extent_start",
    "btrfs:btrfs_ordered_extent_remove",
    "f2fs:f2fs_evict_inode",
    "f2fs:f2fs_sync_file_enter",
    "f2fs:f2fs_sync_file_exit",
    "f2fs:f2fs_write_checkpoint",
    "f2fs:f2fs_gc_begin",
    "f2fs:f2fs_gc_end",
    "io_uring:io_uring_submit_req",
    "io_uring:io_uring_submit_sqe",
    "io_uring:io_uring_queue_async_work",
    "io_uring:io_uring_complete",
    "io_uring:io_uring_cqring_wait",
    // The ring and file of an operation, and completions that the ring had no room for.
    "io_uring:io_uring_create",
    "io_uring:io_uring_file_get",
    "io_uring:io_uring_cqe_overflow",
    "scsi:scsi_dispatch_cmd_error",
    "scsi:scsi_dispatch_cmd_timeout",
    "scsi:scsi_eh_wakeup",
    "fuse:fuse_request_send",
    "fuse:fuse_request_end",
    "bcache:bcache_read",
    "bcache:bcache_write",
];

/// Number of the block softirq (`BLOCK_SOFTIRQ`, include/linux/interrupt.h).
const BLOCK_SOFTIRQ: u32 = 4;
/// Records the kernel stack of every uninterruptible sleep, which shows what the task waits for. 2 is
/// `TASK_UNINTERRUPTIBLE` (include/linux/sched.h); costs 1.9 us and about 125 bytes each.
const STACK_TRIGGER: &str = "stacktrace if prev_state & 2";

/// The selected events, and those that cannot be recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Events to record, in the order of `available_events`.
    pub events: Vec<Chosen>,
    /// Required events that this kernel lacks.
    pub missing: Vec<String>,
    /// Optional events (of other versions, configurations or modules) that this kernel lacks.
    pub absent: Vec<String>,
}

/// Selects from the events of this kernel.
///
/// `available` is the text of `available_events`. With `devices`, events with a device field (`has_dev` gives the fields
/// from their format) are filtered to these devices.
pub fn select(
    detail: Detail,
    available: &str,
    devices: &[DevId],
    has_dev: impl Fn(&str, &str) -> DevFields,
) -> Selection {
    let (needed, optional): (Vec<&str>, Vec<&str>) = match detail {
        Detail::Block => (BLOCK.to_vec(), BLOCK_OF_SOME.to_vec()),
        Detail::Path => ([BLOCK, TASKS].concat(), [BLOCK_OF_SOME, WHERE_THERE].concat()),
    };
    let have: Vec<&str> = available.lines().collect();
    let lacks = |patterns: &[&str]| -> Vec<String> {
        let none = |p: &&&str| !have.iter().any(|e| matches(p, e));
        patterns.iter().filter(none).map(|p| p.to_string()).collect()
    };
    let wanted = |e: &str| needed.iter().chain(&optional).any(|p| matches(p, e));
    let events = have.iter().filter(|e| wanted(e)).filter_map(|e| {
        let (system, name) = e.split_once(':')?;
        Some(Chosen {
            filter: filter(system, name, devices, &has_dev),
            trigger: (name == "sched_switch").then(|| STACK_TRIGGER.to_string()),
            system: system.into(),
            name: name.into(),
        })
    });
    Selection { events: events.collect(), missing: lacks(&needed), absent: lacks(&optional) }
}

/// Which device fields an event has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevFields {
    /// Whether it has `dev_t dev`.
    pub dev: bool,
    /// Whether it has `dev_t old_dev` (`block_bio_remap`).
    pub old_dev: bool,
}

impl DevFields {
    /// Finds them in an event's `format` text.
    pub fn of(format: &str) -> DevFields {
        DevFields {
            dev: format.contains("field:dev_t dev;"),
            old_dev: format.contains("field:dev_t old_dev;"),
        }
    }
}

fn filter(
    system: &str,
    name: &str,
    devices: &[DevId],
    has_dev: impl Fn(&str, &str) -> DevFields,
) -> Option<String> {
    match (system, name) {
        ("raw_syscalls", _) => Some(syscalls::filter()),
        ("irq", _) => Some(format!("vec == {BLOCK_SOFTIRQ}")),
        // LCB_F_SPIN: only locks that tasks sleep on are waits (include/trace/events/lock.h).
        ("lock", "contention_begin") => Some("!(flags & 1)".into()),
        _ if devices.is_empty() => None,
        _ => {
            let fields = has_dev(system, name);
            let mut terms = Vec::new();
            for d in devices {
                // Trace events store a device in the kernel's internal format: major << 20 | minor.
                if fields.dev {
                    terms.push(format!("dev == {}", d.0));
                }
                if fields.old_dev {
                    terms.push(format!("old_dev == {}", d.0));
                }
            }
            (!terms.is_empty()).then(|| terms.join(" || "))
        }
    }
}

fn matches(pattern: &str, event: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => event.starts_with(start),
        None => event == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAVE: &str = "block:block_bio_queue\nblock:block_rq_issue\nblock:block_plug\nsched:sched_switch\n\
                        jbd2:jbd2_run_stats\nraw_syscalls:sys_enter\nkvm:kvm_exit\nblock:block_bio_remap\n";

    fn dev(_: &str, name: &str) -> DevFields {
        DevFields {
            dev: name.starts_with("block_") && name != "block_plug",
            old_dev: name == "block_bio_remap",
        }
    }

    #[test]
    fn block_takes_only_block_events_and_says_what_is_missing() {
        let s = select(Detail::Block, HAVE, &[], dev);
        let names: Vec<_> = s.events.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["block_bio_queue", "block_rq_issue", "block_plug", "block_bio_remap"]);
        assert!(s.missing.contains(&"block:block_rq_complete".to_string()));
        assert!(s.absent.contains(&"block:block_sleeprq".to_string()));
        assert!(s.events.iter().all(|e| e.filter.is_none() && e.trigger.is_none()));
    }

    #[test]
    fn path_adds_stacks_and_filters() {
        let s = select(Detail::Path, HAVE, &[], dev);
        let by = |n: &str| s.events.iter().find(|e| e.name == n).unwrap();
        assert_eq!(by("sched_switch").trigger.as_deref(), Some("stacktrace if prev_state & 2"));
        assert!(by("sys_enter").filter.as_ref().unwrap().contains("id == "));
        assert!(by("jbd2_run_stats").filter.is_none());
        assert!(s.events.iter().all(|e| e.system != "kvm"));
    }

    #[test]
    fn devices_limit_events_that_have_one() {
        let s = select(Detail::Block, HAVE, &[DevId::new(7, 0), DevId::new(8, 1)], dev);
        let by = |n: &str| s.events.iter().find(|e| e.name == n).unwrap().filter.clone();
        assert_eq!(by("block_rq_issue").unwrap(), "dev == 7340032 || dev == 8388609");
        assert_eq!(by("block_plug"), None);
        assert!(by("block_bio_remap").unwrap().contains("old_dev == 7340032"));
    }
}
