//! The meaning of a sleep in the kernel, from the functions on its stack. All names of kernel functions that identify
//! waits are here.
//!
//! The stack of an uninterruptible sleep names its wait. The innermost functions show how the task waits (a bit, a queue, a completion), the
//! functions around them what for. Rules are tried in order, specific ones first: `folio_wait_writeback` under a write is a stable page, and
//! under `fsync` the file's own data. A function without a rule is shown as it is.

use crate::wait::Wait;

/// A rule: a function; functions of which at least one must also be on the stack (unless empty); the meaning.
type Rule = (&'static str, &'static [&'static str], Wait);

/// Functions in which a task writes to a page (mm/filemap.c, fs/iomap/buffered-io.c, fs/ext4/inode.c; `mkwrite`: first write to a mapped page).
const WRITING: &[&str] = &[
    "__filemap_get_folio",
    "__filemap_get_folio_mpol",
    "iomap_write_begin",
    "iomap_get_folio",
    "ext4_write_begin",
    "ext4_da_write_begin",
    "generic_perform_write",
    "grab_cache_page_write_begin",
    "pagecache_get_page",
    "folio_wait_stable",
    "wait_for_stable_page",
    "ext4_page_mkwrite",
    "iomap_page_mkwrite",
    "do_page_mkwrite",
    "btrfs_buffered_write",
    "prepare_one_folio",
    "prepare_pages",
];

/// Functions that write pages of a file back (mm/page-writeback.c, fs/ext4/inode.c).
const WRITING_BACK: &[&str] = &["write_cache_pages", "mpage_prepare_extent_to_map", "do_writepages"];

/// Functions that handle a page fault.
const FAULTING: &[&str] =
    &["filemap_fault", "do_fault", "__do_fault", "handle_mm_fault", "__handle_mm_fault"];

/// Functions that take the lock of a file.
const INODE: &[&str] = &[
    "xfs_ilock",
    "xfs_ilock_iocb",
    "xfs_ilock_for_iomap",
    "inode_lock",
    "ext4_buffered_write_iter",
    "ext4_dio_write_iter",
    "ext4_file_write_iter",
    "ext4_dio_read_iter",
    "xfs_file_buffered_write",
    "xfs_file_write_checks",
    "btrfs_inode_lock",
    "ext4_sync_file",
    "do_truncate",
    "vfs_fallocate",
];

/// Functions that take the position of an open file (fs/file.c).
const POSITION: &[&str] = &["fdget_pos", "__fdget_pos"];

/// Functions that take the lock of a file's block map (`i_data_sem`, fs/ext4/ext4.h). Writeback takes it too, so
/// separate files for each writer change nothing.
const BLOCK_MAP: &[&str] =
    &["ext4_map_blocks", "ext4_da_get_block_prep", "ext4_da_map_blocks", "ext4_ext_truncate"];

/// Functions that begin a change of a file system, which waits while that is frozen (fs/super.c); newer kernels inline `sb_start_write`.
const FREEZING: &[&str] = &[
    "sb_start_write",
    "__sb_start_write",
    "vfs_write",
    "do_iter_write",
    "vfs_iter_write",
    "vfs_writev",
    "io_write",
    "aio_write",
    "mnt_want_write",
    "mnt_want_write_file",
    "vfs_fallocate",
    "do_sys_ftruncate",
    "vfs_copy_file_range",
    "iter_file_splice_write",
    "ext4_page_mkwrite",
    "filemap_page_mkwrite",
    "xfs_write_fault",
    "__xfs_filemap_fault",
    "xfs_trans_alloc",
];

/// Functions that go through the page cache of a file, or write back its contents (mm/filemap.c, mm/page-writeback.c, fs/iomap/buffered-io.c).
const PAGE_CACHE: &[&str] = &[
    "filemap_read",
    "generic_file_buffered_read",
    "generic_perform_write",
    "iomap_file_buffered_write",
    "btrfs_buffered_write",
    "__filemap_fdatawait_range",
    "balance_dirty_pages",
];

/// The rules; the first match counts. Names of all kernels are here; which has which is measured (`stacks/kernels.tsv`, `make kernel-names`).
const RULES: &[Rule] = &[
    // The worker of a loop device without direct I/O (drivers/block/loop.c); `loop_queue_work` before Linux 5.14.
    ("loop_process_work", PAGE_CACHE, Wait::LoopFile),
    ("loop_queue_work", PAGE_CACHE, Wait::LoopFile),
    ("balance_dirty_pages", &[], Wait::DirtyThrottle),
    ("balance_dirty_pages_ratelimited_flags", &[], Wait::DirtyThrottle),
    ("wbt_wait", &[], Wait::WritebackThrottle),
    ("ioc_rqos_throttle", &[], Wait::CgroupLimit),
    ("blkcg_iolatency_throttle", &[], Wait::CgroupLimit),
    ("blkcg_maybe_throttle_current", &[], Wait::CgroupLimit),
    ("blkcg_maybe_throttle_blkg", &[], Wait::CgroupLimit),
    ("rq_qos_wait", &[], Wait::WritebackThrottle),
    ("blk_mq_get_tag", &[], Wait::Tag),
    ("get_request", &["blk_queue_bio", "generic_make_request"], Wait::Tag),
    // Before Linux 3.6.
    ("get_request_wait", &[], Wait::Tag),
    ("blk_queue_enter", &[], Wait::QueueFreeze),
    ("__bio_queue_enter", &[], Wait::QueueFreeze),
    ("blk_mq_freeze_queue_wait", &[], Wait::QueueFreeze),
    ("raid5_get_active_stripe", &[], Wait::StripeCache),
    // Before Linux 3.9.
    ("get_active_stripe", &[], Wait::StripeCache),
    ("md_bitmap_unplug", &[], Wait::RaidBitmap),
    // Before Linux 5.0, and from 6.12 on.
    ("bitmap_unplug", &[], Wait::RaidBitmap),
    ("md_bitmap_startwrite", &[], Wait::RaidBitmap),
    ("bitmap_startwrite", &[], Wait::RaidBitmap),
    ("wait_barrier", &[], Wait::RaidBarrier),
    ("_wait_barrier", &[], Wait::RaidBarrier),
    ("wait_read_barrier", &[], Wait::RaidBarrier),
    ("wait_barrier_nolock", &[], Wait::RaidBarrier),
    ("regular_request_wait", &[], Wait::RaidBarrier),
    ("md_write_start", &[], Wait::RaidSuperblock),
    ("md_super_wait", &[], Wait::RaidSuperblock),
    ("md_flush_request", &[], Wait::Flush),
    ("do_swap_page", &[], Wait::Swap),
    ("shmem_swapin_folio", &[], Wait::Swap),
    ("shmem_swapin_page", &[], Wait::Swap),
    ("swap_readpage", &[], Wait::Swap),
    ("swap_read_folio", &[], Wait::Swap),
    ("ring_buffer_resize", &[], Wait::Tracing),
    ("shrink_node", &[], Wait::Reclaim),
    // Whatever its worker waits for, also for a cgroup above its soft limit, which has no `shrink_node` (mm/vmscan.c).
    ("kswapd", &[], Wait::Reclaim),
    ("try_to_free_pages", &[], Wait::Reclaim),
    ("try_to_free_mem_cgroup_pages", &[], Wait::Reclaim),
    ("reclaim_throttle", &[], Wait::Reclaim),
    ("throttle_direct_reclaim", &[], Wait::Reclaim),
    ("__mem_cgroup_handle_over_high", &[], Wait::Reclaim),
    ("mem_cgroup_handle_over_high", &[], Wait::Reclaim),
    ("wait_iff_congested", &[], Wait::Reclaim),
    ("congestion_wait", &[], Wait::Reclaim),
    ("filemap_fdatawait_range_keep_errors", &[], Wait::OrderedData),
    ("jbd2_journal_finish_inode_data_buffers", &[], Wait::OrderedData),
    ("filemap_fdatawait_keep_errors", &["jbd2_journal_commit_transaction"], Wait::OrderedData),
    ("jbd2_submit_inode_data", &[], Wait::OrderedData),
    ("ext4_journal_submit_inode_data_buffers", &[], Wait::OrderedData),
    ("jbd2_write_superblock", &[], Wait::JournalSuperblock),
    ("jbd2_journal_update_sb_log_tail", &[], Wait::JournalSuperblock),
    ("jbd2_log_wait_commit", &[], Wait::JournalCommit),
    // This function sleeps for a time itself (`schedule_hrtimeout`) before it asks for a commit.
    ("jbd2_journal_stop", &[], Wait::JournalBatch),
    ("jbd2_complete_transaction", &[], Wait::JournalCommit),
    // ext3's journal (jbd), before Linux 4.3.
    ("log_wait_commit", &[], Wait::JournalCommit),
    ("journal_commit_transaction", &[], Wait::JournalBlocks),
    ("__log_wait_for_space", &[], Wait::JournalHandle),
    ("jbd2_fc_begin_commit", &[], Wait::JournalCommit),
    ("ext4_fc_commit", &[], Wait::JournalCommit),
    ("do_get_write_access", &[], Wait::JournalBuffer),
    ("jbd2_journal_get_write_access", &[], Wait::JournalBuffer),
    ("wait_transaction_locked", &[], Wait::JournalHandle),
    ("wait_transaction_switching", &[], Wait::JournalHandle),
    ("jbd2_journal_wait_updates", &[], Wait::JournalUpdates),
    ("add_transaction_credits", &[], Wait::JournalHandle),
    ("__jbd2_log_wait_for_space", &[], Wait::JournalHandle),
    ("start_this_handle", &[], Wait::JournalHandle),
    ("jbd2_journal_commit_transaction", &[], Wait::JournalBlocks),
    ("xlog_grant_head_wait", &[], Wait::LogSpace),
    ("xlog_grant_head_check", &[], Wait::LogSpace),
    // Before Linux 3.4.
    ("xlog_grant_log_space", &[], Wait::LogSpace),
    ("xlog_cil_push_now", &[], Wait::LogPush),
    ("xlog_cil_order_write", &[], Wait::LogPush),
    ("xlog_cil_force_seq", &[], Wait::LogPush),
    ("xlog_cil_push_work", &[], Wait::LogForce),
    ("xlog_wait_on_iclog", &[], Wait::LogForce),
    ("xlog_force_lsn", &[], Wait::LogForce),
    ("xlog_wait_on_iclog_lsn", &[], Wait::LogForce),
    ("xlog_state_get_iclog_space", &[], Wait::LogForce),
    ("xfs_log_force_seq", &[], Wait::LogForce),
    ("xfs_log_force", &[], Wait::LogForce),
    // fs/btrfs/space-info.c: tickets are served in order; `reserve_metadata_bytes` before Linux 5.4.
    ("__reserve_bytes", &[], Wait::SpaceReserved),
    ("reserve_bytes", &[], Wait::SpaceReserved),
    ("flush_space", &[], Wait::SpaceReserved),
    ("wait_reserve_ticket", &[], Wait::SpaceReserved),
    ("handle_reserve_ticket", &[], Wait::SpaceReserved),
    ("reserve_metadata_bytes", &[], Wait::SpaceReserved),
    ("btrfs_sync_log", &[], Wait::LogForce),
    ("btrfs_commit_transaction", &[], Wait::JournalCommit),
    ("wait_current_trans", &[], Wait::JournalCommit),
    ("blkdev_issue_flush", &[], Wait::Flush),
    ("folio_wait_writeback", WRITING, Wait::StablePage),
    ("wait_on_page_writeback", WRITING, Wait::StablePage),
    ("folio_wait_stable", &[], Wait::StablePage),
    ("wait_for_stable_page", &[], Wait::StablePage),
    ("folio_wait_writeback", &[], Wait::OwnData),
    ("wait_on_page_writeback", &[], Wait::OwnData),
    ("__filemap_fdatawait_range", &[], Wait::OwnData),
    ("filemap_fdatawait_range", &[], Wait::OwnData),
    // Whoever writes pages back waits for one that another task has locked.
    ("__lock_page", WRITING_BACK, Wait::Lock),
    ("__folio_lock", WRITING_BACK, Wait::Lock),
    ("folio_wait_bit_common", WRITING_BACK, Wait::Lock),
    ("wait_on_page_bit_common", WRITING_BACK, Wait::OwnData),
    ("write_cache_pages", &[], Wait::OwnData),
    ("rwsem_down_read_slowpath", BLOCK_MAP, Wait::Lock),
    ("rwsem_down_write_slowpath", BLOCK_MAP, Wait::Lock),
    ("rwsem_down_write_failed", BLOCK_MAP, Wait::Lock),
    ("rwsem_down_read_failed", BLOCK_MAP, Wait::Lock),
    ("rwsem_down_read_slowpath", INODE, Wait::InodeLock),
    ("rwsem_down_write_slowpath", INODE, Wait::InodeLock),
    ("rwsem_down_write_failed", INODE, Wait::InodeLock),
    ("rwsem_down_read_failed", INODE, Wait::InodeLock),
    ("rwsem_down_read_slowpath", &[], Wait::Lock),
    ("rwsem_down_write_slowpath", &[], Wait::Lock),
    ("rwsem_down_write_failed", &[], Wait::Lock),
    ("rwsem_down_read_failed", &[], Wait::Lock),
    // Writing to a file of sysfs or of a control group is also a write.
    ("percpu_rwsem_wait", &["cpus_read_lock", "percpu_down_write", "kernfs_fop_write_iter"], Wait::Lock),
    ("percpu_rwsem_wait", FREEZING, Wait::Frozen),
    ("percpu_rwsem_wait", &[], Wait::Lock),
    ("__mutex_lock", POSITION, Wait::FilePosition),
    ("__mutex_lock_slowpath", POSITION, Wait::FilePosition),
    ("__mutex_lock", &[], Wait::Lock),
    ("__mutex_lock_slowpath", &[], Wait::Lock),
    ("__mutex_lock_killable_slowpath", &[], Wait::Lock),
    ("__down", &["xfs_buf_lock"], Wait::Metadata),
    ("___down_common", &["xfs_buf_lock"], Wait::Metadata),
    ("xfs_buf_lock", &[], Wait::Metadata),
    ("__down", &[], Wait::Lock),
    ("__down_common", &[], Wait::Lock),
    // The same locks on other architectures, in older kernels and in real-time ones.
    ("__mutex_lock_common", &[], Wait::Lock),
    ("__down_read", &[], Wait::Lock),
    ("__down_write", &[], Wait::Lock),
    ("__down_write_nested", &[], Wait::Lock),
    ("__down_write_common", &[], Wait::Lock),
    ("rt_mutex_slowlock", &[], Wait::Lock),
    ("inode_dio_wait", &[], Wait::InodeLock),
    ("inode_wait_for_writeback", &[], Wait::OwnData),
    ("wb_wait_for_completion", &[], Wait::OwnData),
    ("__iomap_dio_rw", &[], Wait::DirectIo),
    ("iomap_dio_rw", &[], Wait::DirectIo),
    ("__blkdev_direct_IO_simple", &[], Wait::DirectIo),
    ("__blkdev_direct_IO", &[], Wait::DirectIo),
    ("blkdev_direct_IO", &[], Wait::DirectIo),
    ("do_blockdev_direct_IO", &[], Wait::DirectIo),
    ("btrfs_dio_read", &[], Wait::DirectIo),
    ("filemap_fault", &[], Wait::PageFault),
    ("folio_wait_bit_common", FAULTING, Wait::PageFault),
    ("__folio_lock_killable", &[], Wait::PageRead),
    ("filemap_get_pages", &[], Wait::PageRead),
    ("filemap_read", &[], Wait::PageRead),
    ("filemap_update_page", &[], Wait::PageRead),
    ("generic_file_buffered_read", &[], Wait::PageRead),
    ("generic_file_read_iter", &[], Wait::PageRead),
    ("mpage_read_folio", &[], Wait::PageRead),
    ("iomap_read_folio_sync", &[], Wait::PageRead),
    ("iomap_write_begin", &[], Wait::PageRead),
    ("xfs_buf_iowait", &[], Wait::Metadata),
    ("xfs_buf_read_map", &[], Wait::Metadata),
    ("__wait_on_buffer", &[], Wait::Metadata),
    ("__lock_buffer", &[], Wait::Metadata),
    ("__wait_on_bit_lock", &["__lock_buffer", "bh_read", "__bh_read"], Wait::Metadata),
    ("ext4_read_bh", &[], Wait::Metadata),
    ("ext4_read_block_bitmap_nowait", &[], Wait::Metadata),
    ("ext4_read_inode_bitmap", &[], Wait::Metadata),
    ("__ext4_find_entry", &[], Wait::Metadata),
    ("__sync_dirty_buffer", &[], Wait::Metadata),
    ("fsync_buffers_list", &[], Wait::Metadata),
    ("__lock_page_killable", &[], Wait::PageRead),
    ("__wait_on_bit_lock", &["do_generic_file_read", "generic_file_aio_read"], Wait::PageRead),
    ("__wait_on_bit_lock", &[], Wait::Lock),
    ("ext4_wait_block_bitmap", &[], Wait::Metadata),
    ("__ext4_get_inode_loc", &[], Wait::Metadata),
    ("__bread_gfp", &[], Wait::Metadata),
    ("read_extent_buffer_pages", &[], Wait::Metadata),
    ("xfs_reclaim_inode", &[], Wait::Reclaim),
    ("xfs_reclaim_inodes_ag", &[], Wait::Reclaim),
    ("submit_bio_wait", &[], Wait::DirectIo),
    ("fuse_simple_request", &[], Wait::Server),
    ("__fuse_simple_request", &[], Wait::Server),
    ("request_wait_answer", &[], Wait::Server),
    ("rpc_wait_bit_killable", &[], Wait::Server),
    ("__rpc_execute", &[], Wait::Server),
    // 9p (net/9p/client.c), SMB (fs/smb/client/transport.c), Ceph (fs/ceph/mds_client.c).
    ("p9_client_rpc", &[], Wait::Server),
    ("p9_virtio_zc_request", &[], Wait::Server),
    // Common to network file systems (fs/netfs/misc.c).
    ("netfs_wait_for_in_progress", &[], Wait::Server),
    ("netfs_wait_for_outstanding_io", &[], Wait::Server),
    ("netfs_wait_for_paused_read", &[], Wait::Server),
    ("netfs_wait_for_paused_write", &[], Wait::Server),
    ("netfs_wait_for_put_ra_refs", &[], Wait::Server),
    ("netfs_wait_for_read", &[], Wait::Server),
    ("netfs_wait_for_write", &[], Wait::Server),
    ("wait_for_response", &["cifs_send_recv", "SMB2_read", "SMB2_write", "compound_send_recv"], Wait::Server),
    ("ceph_mdsc_wait_request", &[], Wait::Server),
    ("nfs_wait_bit_killable", &[], Wait::Server),
    ("__flush_workqueue", &[], Wait::WorkItem),
    ("flush_workqueue", &[], Wait::WorkItem),
    ("__flush_work", &[], Wait::WorkItem),
    ("folio_wait_bit_common", &[], Wait::PageRead),
    ("folio_wait_bit", &[], Wait::PageRead),
    ("__lock_page", &[], Wait::PageRead),
    ("wait_on_page_bit_common", &[], Wait::PageRead),
    ("wait_on_page_bit", &[], Wait::PageRead),
    ("sleep_on_page", &[], Wait::PageRead),
    ("synchronize_rcu_normal", &[], Wait::Rcu),
    ("synchronize_rcu_expedited", &[], Wait::Rcu),
    ("synchronize_rcu", &[], Wait::Rcu),
    ("__synchronize_srcu", &[], Wait::Rcu),
    ("rcu_barrier", &[], Wait::Rcu),
    ("__wait_rcu_gp", &[], Wait::Rcu),
    // `wait_on_buffer` inlined, in any function.
    ("out_of_line_wait_on_bit", &["bit_wait_io"], Wait::Metadata),
    ("do_nanosleep", &[], Wait::Timer),
    ("hrtimer_nanosleep", &[], Wait::Timer),
    ("msleep", &[], Wait::Timer),
    // An extent in flight to the disk (fs/btrfs/ordered-data.c): for fsync the file's own data.
    ("btrfs_start_ordered_extent", &[], Wait::OwnData),
    ("btrfs_start_ordered_extent_nowriteback", &[], Wait::OwnData),
    ("btrfs_wait_ordered_extents", &[], Wait::OwnData),
    ("btrfs_wait_ordered_range", &[], Wait::OwnData),
    // Free space of a block group is being read (fs/btrfs/block-group.c).
    ("btrfs_wait_block_group_cache_progress", &[], Wait::Metadata),
    ("btrfs_wait_block_group_cache_done", &[], Wait::Metadata),
    ("btrfs_caching_ctl_wait_done", &[], Wait::Metadata),
    // Another task looks up the same name (fs/dcache.c), or holds the page or the socket.
    ("d_alloc_parallel", &[], Wait::Lock),
    ("__folio_lock", &[], Wait::Lock),
    ("__filemap_get_folio", &[], Wait::Lock),
    ("pagecache_get_page", &[], Wait::Lock),
    ("__lock_sock", &[], Wait::Lock),
    // Waits until all readers are gone; what it waits for before that is matched above.
    ("percpu_down_write", &[], Wait::Lock),
    ("do_read_cache_page", &[], Wait::PageRead),
];

/// Functions in which any task sleeps, whatever the reason (kernel/sched/core.c, kernel/time/sleep_timeout.c).
const SLEEPING: &[&str] = &[
    "__switch_to",
    "__schedule",
    "rt_mutex_schedule",
    "schedule",
    "io_schedule",
    "io_schedule_timeout",
    "schedule_timeout",
    "schedule_preempt_disabled",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "wait_for_completion",
    "wait_for_completion_state",
    "__wait_for_common",
    "wait_for_common",
    "do_wait_for_common",
    "bit_wait",
    "bit_wait_io",
    "__wait_on_bit",
    "out_of_line_wait_on_bit",
];

/// The first rule that matches.
fn rule_of(stack: &str) -> Option<&'static Rule> {
    let on = |name: &str| stack.split('\n').any(|f| f == name);
    let fits =
        |(function, under, _): &&Rule| on(function) && (under.is_empty() || under.iter().any(|u| on(u)));
    RULES.iter().find(fits)
}

impl Wait {
    /// The wait of a stack: functions, innermost first, with `\n` in between.
    pub fn of_stack(stack: &str) -> Wait {
        rule_of(stack).map_or(Wait::Unknown, |rule| rule.2)
    }

    /// The function that identifies the wait of a stack. If no rule matches, the innermost function that is not one in
    /// which any task sleeps, or the outermost one if there are only such.
    pub fn function_of(stack: &str) -> &str {
        let known = rule_of(stack).map(|rule| rule.0);
        let telling = || stack.split('\n').find(|f| !SLEEPING.contains(f));
        known.or_else(telling).or_else(|| stack.rsplit('\n').next()).unwrap_or(stack)
    }
}

#[cfg(test)]
mod tests;
