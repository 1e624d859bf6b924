//! The names of kernel functions that identify waits.

use super::Rule;
use crate::wait::Wait;

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

/// Functions that commit a transaction of ext4's and ext3's journal (fs/jbd2/commit.c, fs/jbd/commit.c).
const COMMITTING: &[&str] = &["jbd2_journal_commit_transaction", "journal_commit_transaction"];

/// The thread of btrfs that commits every 30 s (fs/btrfs/disk-io.c): it waits for no commit, since it makes them.
pub(super) const BTRFS_COMMITTER: &str = "transaction_kthread";

/// Functions that remove pages of a file, once they are written (mm/truncate.c).
const TRUNCATING: &[&str] = &["truncate_inode_pages_range", "invalidate_inode_pages2_range"];

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

/// Functions that sleep themselves: between them and the scheduler is no other. The first match counts.
pub(super) const THEMSELVES: &[Rule] = &[
    // Until no change of the transaction is open; a function of its own from Linux 5.17 on.
    ("jbd2_journal_commit_transaction", &[], Wait::JournalUpdates),
    ("journal_commit_transaction", &[], Wait::JournalUpdates),
    // Before Linux 4.3 (fs/super.c).
    ("__sb_start_write", &[], Wait::Frozen),
    // The same of btrfs: until no change of the transaction is open (`writer_wait`, fs/btrfs/transaction.c).
    ("btrfs_commit_transaction", &[BTRFS_COMMITTER], Wait::JournalUpdates),
    // The array is suspended while it changes (drivers/md/md.c).
    ("md_handle_request", &[], Wait::RaidRequest),
];

/// All other rules, tried after those of `below_files.rs` and `zfs.rs`; the first match counts. Names of all kernels are here; which has which is measured
/// (`stacks/kernels.tsv`, `make kernel-names`).
pub(super) const RULES: &[Rule] = &[
    ("filemap_fdatawait_range_keep_errors", &[], Wait::OrderedData),
    ("jbd2_journal_finish_inode_data_buffers", &[], Wait::OrderedData),
    ("filemap_fdatawait_keep_errors", COMMITTING, Wait::OrderedData),
    ("__filemap_fdatawait_range", COMMITTING, Wait::OrderedData),
    ("filemap_fdatawait_range", COMMITTING, Wait::OrderedData),
    ("filemap_fdatawait", COMMITTING, Wait::OrderedData),
    // Before Linux 3.0.
    ("wait_on_page_writeback_range", COMMITTING, Wait::OrderedData),
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
    // Within a commit of btrfs: the blocks of its trees (fs/btrfs/transaction.c), the disks' flushes, then the superblocks (fs/btrfs/disk-io.c).
    ("btrfs_wait_extents", &[], Wait::Metadata),
    ("__btrfs_wait_marked_extents", &[], Wait::Metadata),
    ("btrfs_write_and_wait_transaction", &[], Wait::Metadata),
    ("barrier_all_devices", &[], Wait::Flush),
    ("wait_dev_flush", &[], Wait::Flush),
    ("write_dev_flush", &[], Wait::Flush),
    ("wait_for_completion", &["write_all_supers"], Wait::Flush),
    ("wait_for_completion_io", &["write_all_supers"], Wait::Flush),
    ("wait_dev_supers", &[], Wait::Metadata),
    ("write_all_supers", &[], Wait::Metadata),
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
    ("wait_on_page_writeback_range", &[], Wait::OwnData),
    // `wait_on_page_writeback` is inlined before Linux 5.2.
    ("wait_on_page_bit", TRUNCATING, Wait::OwnData),
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
    // Whoever commits waits for what the rules above name; else for others to begin or end the commit.
    ("btrfs_commit_transaction", &[], Wait::JournalCommit),
];
