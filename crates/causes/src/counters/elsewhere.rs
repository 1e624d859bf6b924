//! Whether the stack of a task that hangs has nothing to do with storage: a thread that was never woken, a driver of the network, a mutex
//! of the memory for programs. The kernel reports these in the same words as tasks that wait for a disk.
//!
//! **Invariant**: a stack counts as *elsewhere* only if something of it tells where it is, and nothing belongs to a file system, the page
//! cache, writeback, memory reclaim, the block layer or a driver of a disk. What is not known to be elsewhere stays what it was.

use operation::Wait;

/// Waits for things that are not only in storage.
const ANYWHERE: [Wait; 7] =
    [Wait::Unknown, Wait::Lock, Wait::WorkItem, Wait::Rcu, Wait::Tracing, Wait::Timer, Wait::Input];

/// How functions of file systems begin (fs/, OpenZFS, Lustre), without the underscores before.
const FILE_SYSTEMS: &str = "ext2_ ext3_ ext4_ jbd_ jbd2_ journal_ kjournald log_wait_commit start_this_handle \
    xfs xlog_ btrfs_ f2fs_ reiserfs_ jfs_ nilfs_ ntfs fat_ vfat_ exfat_ msdos_ isofs_ udf_ squashfs_ erofs_ ovl_ ubifs_ ubi_ mtd_ \
    nfs rpc_ svc_ nlm cifs_ smb ceph_ p9_ v9fs_ afs_ netfs_ fuse_ gfs2_ ocfs2_ o2 dlm_ ll_ ldlm_ osc_ ptlrpc_ \
    zfs zpl_ zio_ zil_ zvol_ spa_ dmu_ dsl_ dbuf_ arc_ txg_ vdev_ rrw_ cv_wait cv_timedwait bch_ bch2_ fscache_ cachefiles_ ecryptfs_ hfs vx_";

/// How functions begin that go through files of any file system (fs/, mm/filemap.c, mm/page-writeback.c).
const FILES: &str = "vfs_ generic_file generic_perform_write generic_write generic_shutdown_super filemap_ folio_ wait_on_page lock_page page_cache \
    pagecache_ read_cache do_read_cache truncate_ invalidate_ write_cache do_writepages balance_dirty wb_ writeback bdi_ sync_ ksys_sync \
    do_fsync iomap_ mpage_ block_ blkdev_ bd_ bdev_ bread bh_ submit_bh wait_on_buffer lock_buffer direct_io dio_ do_blockdev aio_ exit_aio \
    io_submit io_write io_read path_ lookup_ link_path_walk walk_component do_filp_open do_sys_open do_sys_ftruncate d_ dput iput evict iget \
    ilookup inode_ new_inode mount do_mount umount do_umount deactivate_ kill_block_super freeze_ thaw_ sb_ super_ mnt_ get_super \
    iterate_supers do_truncate do_unlink do_rename filename_create notify_change fdget_pos locks_ flock";

/// How functions of the block layer, of arrays and of drivers of disks begin (block/, drivers/block, drivers/md, drivers/scsi, drivers/nvme).
const DEVICES: &str = "submit_bio bio_ blk_ blkg blkcg_ rq_qos wbt_ elv_ get_request generic_make_request loop_ lo_ nbd_ rbd_ drbd_ dm_ kcryptd \
    crypt_ md_ mddev_ raid zram_ scsi_ sd_ sr_ ses_ sg_io ata_ ahci_ sas_ mpt megasas_ megaraid iscsi fc_ qla2 lpfc_ nvme virtblk_ \
    blkfront blkif_ mmc_ mmcblk ufshcd_ usb_stor uas_ storvsc_ wait_barrier get_active_stripe";

/// How functions begin that free memory or use swap, for which a disk may be needed (mm/vmscan.c, mm/swap_state.c).
const MEMORY: &str =
    "shrink_ kswapd try_to_free_ reclaim_ throttle_direct_reclaim congestion_wait wait_iff_congested swap_ swapin_ do_swap shmem_ mem_cgroup_handle";

/// How functions begin in which tasks of any kind sleep, take a lock, or begin: they tell nothing.
const TELLING_NOTHING: &str = "schedule switch_to io_schedule wait_for_c wait_for_common wait_on_bit out_of_line_wait bit_wait wait_woken \
    mutex_lock down rwsem_ call_rwsem percpu_down rt_mutex ww_mutex msleep hrtimer_ do_nanosleep synchronize_ flush_work \
    kthread ret_from worker_thread process_one_work kernel_thread entry_ do_syscall system_call sysenter x64_sys do_fast_syscall x86_sys";

/// Whether a stack, functions from the innermost on, with this wait has nothing to do with storage.
pub(super) fn is_elsewhere(wait: Wait, frames: &[&str]) -> bool {
    let begins = |frame: &str, all: &str| {
        all.split_ascii_whitespace().any(|start| frame.trim_start_matches('_').starts_with(start))
    };
    let is_of_storage =
        |frame: &&str| [FILE_SYSTEMS, FILES, DEVICES, MEMORY].iter().any(|all| begins(frame, all));
    let sleeper = frames.iter().find(|f| !begins(f, "schedule switch_to"));
    let never_woken = sleeper.is_some_and(|f| *f == NEVER_WOKEN);
    let tells = |frame: &&str| never_woken || !begins(frame, TELLING_NOTHING);
    ANYWHERE.contains(&wait) && frames.iter().any(tells) && !frames.iter().any(is_of_storage)
}

/// In which a thread of the kernel sleeps itself that was created and never woken (kernel/kthread.c).
pub(super) const NEVER_WOKEN: &str = "kthread";

#[cfg(test)]
mod tests {
    use super::is_elsewhere;
    use operation::Wait;

    fn elsewhere(stack: &str) -> bool {
        let frames: Vec<&str> = stack.split(' ').collect();
        is_elsewhere(Wait::of_stack(&frames.join("\n")), &frames)
    }

    #[test]
    fn stacks_without_storage_are_told_from_those_with_some_of_it() {
        for stack in [
            "__schedule kthread kernel_thread_helper",
            "schedule z3fold_zpool_destroy zpool_destroy_pool __zswap_pool_release process_one_work worker_thread",
            "__schedule schedule schedule_preempt_disabled __mutex_lock hugetlb_wp hugetlb_fault do_user_addr_fault",
            "__schedule schedule schedule_timeout wait_for_common do_ahash_op test_ahash_vec_cfg",
            "schedule __mutex_lock rtnl_lock dev_ioctl sock_ioctl",
            "schedule synchronize_rcu wiphy_unregister",
        ] {
            assert!(elsewhere(stack), "{stack}");
        }
        for stack in [
            // Locks and unknown waits within storage.
            "schedule __mutex_lock mdev_lookup scsi_host_find shost_show",
            "schedule my_wait xfs_buf_lock_of_mine",
            "schedule rwsem_down_write_slowpath down_write deactivate_super",
            "schedule my_driver_wait nvme_reset_work process_one_work worker_thread",
            "schedule some_wait __zio_of_mine taskq_thread",
            "schedule some_lock zswap_of shrink_slab",
            // Waits that are only in storage.
            "schedule blk_mq_get_tag my_function",
            "schedule jbd2_log_wait_commit",
            // Cut off before anything tells.
            "__schedule schedule schedule_timeout",
            "schedule rwsem_down_write_slowpath down_write",
            "__schedule schedule worker_thread kthread ret_from_fork",
        ] {
            assert!(!elsewhere(stack), "{stack}");
        }
    }
}
