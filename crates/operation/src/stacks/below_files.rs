//! The names of kernel functions that identify waits for what is below files: limits, queues, arrays, memory, the device itself. What a
//! task waits for there does not depend on the file system that called.

use super::Rule;
use crate::wait::Wait;

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

/// The rules; the first match counts. They are tried before all others.
pub(super) const RULES: &[Rule] = &[
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
    // Sleeps until the stripe takes the request: another request is at the same sectors, or a reshape (drivers/md/raid5.c).
    ("raid5_make_request", &[], Wait::RaidRequest),
    // A command that is no read or write of the page cache: of a driver, of a tool (block/blk-mq.c, drivers/scsi/scsi_lib.c; the names have changed).
    ("blk_execute_rq", &[], Wait::Command),
    ("scsi_execute", &[], Wait::Command),
    ("__scsi_execute", &[], Wait::Command),
    ("scsi_execute_cmd", &[], Wait::Command),
    // Until its asynchronous I/O has ended (fs/aio.c).
    ("exit_aio", &[], Wait::DirectIo),
    ("io_destroy", &[], Wait::DirectIo),
    ("__x64_sys_io_destroy", &[], Wait::DirectIo),
];
