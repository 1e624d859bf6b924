use super::*;
use std::collections::BTreeSet;

#[test]
fn the_same_function_means_what_is_around_it() {
    let stable = "folio_wait_bit\nfolio_wait_writeback\n__filemap_get_folio\next4_da_write_begin\ngeneric_perform_write";
    let own = "folio_wait_bit\nfolio_wait_writeback\n__filemap_fdatawait_range\nfile_write_and_wait_range\next4_sync_file";
    let ordered = "folio_wait_bit\nfolio_wait_writeback\n__filemap_fdatawait_range\nfilemap_fdatawait_range_keep_errors\njbd2_journal_commit_transaction";
    assert_eq!(Wait::of_stack(stable), Wait::StablePage);
    assert_eq!(Wait::of_stack(own), Wait::OwnData);
    assert_eq!(Wait::of_stack(ordered), Wait::OrderedData);
    // As recorded on Linux 6.18.
    let bitmap =
        "bit_wait_io\n__wait_on_bit_lock\nout_of_line_wait_on_bit_lock\next4_read_block_bitmap_nowait";
    let inode = "bit_wait_io\n__wait_on_bit\nout_of_line_wait_on_bit\n__sync_dirty_buffer\next4_write_inode";
    let moved = "wait_for_completion\nsynchronize_rcu_normal\nrcu_sync_enter\npercpu_down_write";
    assert_eq!((Wait::of_stack(bitmap), Wait::of_stack(inode)), (Wait::Metadata, Wait::Metadata));
    assert_eq!((Wait::of_stack(moved), Wait::function_of(moved)), (Wait::Rcu, "synchronize_rcu_normal"));
    let memory = "folio_wait_bit_common\nfolio_wait_writeback\nshrink_folio_list\nshrink_node\ntry_to_free_mem_cgroup_pages\nfilemap_fault";
    assert_eq!(Wait::of_stack(memory), Wait::Reclaim);
    // io_schedule_timeout is not a timer if it throttles.
    let throttle = "io_schedule_timeout\nbalance_dirty_pages\nbalance_dirty_pages_ratelimited_flags\ngeneric_perform_write";
    assert_eq!(Wait::of_stack(throttle), Wait::DirtyThrottle);
}

#[test]
fn a_locked_page_is_read_for_who_reads_and_held_by_another_task_for_the_flusher() {
    // Linux 3.10 to 4.16, and with the page's lock inlined.
    let read = "io_schedule\nsleep_on_page_killable\n__wait_on_bit_lock\n__lock_page_killable\ngeneric_file_aio_read";
    let inlined = "sleep_on_page_killable\n__wait_on_bit_lock\ndo_generic_file_read";
    assert_eq!((Wait::of_stack(read), Wait::of_stack(inlined)), (Wait::PageRead, Wait::PageRead));
    assert_eq!(Wait::of_stack("bit_wait_io\n__wait_on_bit_lock\nsome_function"), Wait::Lock);
    let flusher = "io_schedule\n__lock_page\nwrite_cache_pages\nfuse_writepages\ndo_writepages";
    assert_eq!(Wait::of_stack(flusher), Wait::Lock);
    assert_eq!(Wait::of_stack("io_schedule\nwait_on_page_bit\nwrite_cache_pages"), Wait::OwnData);
    let ext4 = |waits: &str| Wait::of_stack(&format!("{waits}\nmpage_prepare_extent_to_map\ndo_writepages"));
    let waits =
        ["folio_wait_bit_common", "folio_wait_bit_common\nfolio_wait_writeback", "wait_on_page_bit_common"];
    assert_eq!(waits.map(ext4), [Wait::Lock, Wait::OwnData, Wait::OwnData]);
}

/// Until Linux 5.17 the commit waits for open changes without a function of its own; for its blocks and for data it calls one.
#[test]
fn what_a_commit_waits_for_is_told_by_what_it_calls() {
    let within = |calls: &str| {
        let of = |commit: &str| Wait::of_stack(&format!("__schedule\nschedule\n{calls}{commit}\nkjournald"));
        let (new, old) = (of("jbd2_journal_commit_transaction"), of("journal_commit_transaction"));
        assert_eq!(new, old);
        new
    };
    assert_eq!(within(""), Wait::JournalUpdates);
    assert_eq!(within("io_schedule\nbit_wait_io\n__wait_on_bit\n__wait_on_buffer\n"), Wait::JournalBlocks);
    assert_eq!(within("io_schedule\n"), Wait::JournalBlocks);
    // As in /proc/PID/stack of Linux 6.18, where it waits for a block.
    assert_eq!(Wait::of_stack("jbd2_journal_commit_transaction\nkjournald2\nkthread"), Wait::JournalBlocks);
    let page = "io_schedule\nsleep_on_page\n__wait_on_bit\nwait_on_page_bit\n";
    assert_eq!(within(&format!("{page}filemap_fdatawait_range\nfilemap_fdatawait\n")), Wait::OrderedData);
    assert_eq!(within(&format!("{page}wait_on_page_writeback_range\n")), Wait::OrderedData);
    let cut = |name| Wait::of_task(name, page.trim_end());
    assert_eq!(
        ["jbd2/sda1-8:7", "flush-8:0", "cat"].map(cut),
        [Wait::OrderedData, Wait::OwnData, Wait::PageRead]
    );
    let truncated = format!("{page}truncate_inode_pages_range\ntruncate_inode_pages");
    assert_eq!(
        [truncated.as_str(), "wait_on_page_bit\ndo_read_cache_page"].map(Wait::of_stack),
        [Wait::OwnData, Wait::PageRead]
    );
}

/// Nobody knows what for: the last function says at least how.
#[test]
fn a_stack_of_functions_in_which_any_task_sleeps_is_told_by_the_last() {
    assert_eq!(Wait::function_of("schedule\nschedule_timeout\n__wait_for_common"), "__wait_for_common");
    assert_eq!(Wait::function_of("schedule\nsome_function"), "some_function");
}

/// As recorded on Linux 6.18: a read of the file behind a loop device, and the same with direct I/O
/// waiting for a tag.
#[test]
fn a_loop_devices_worker_in_the_page_cache() {
    let buffered = "io_schedule\nfolio_wait_bit_common\nfilemap_get_pages\nfilemap_read\nlo_rw_aio.isra.0\nloop_process_work\nprocess_one_work\nworker_thread";
    let direct = "io_schedule\nblk_mq_get_tag\nsubmit_bio_noacct_nocheck\niomap_dio_rw\nlo_rw_aio.isra.0\nloop_process_work\nprocess_one_work";
    assert_eq!(Wait::of_stack(buffered), Wait::LoopFile);
    assert_eq!(Wait::of_stack(direct), Wait::Tag);
    let throttled = "io_schedule_timeout\nbalance_dirty_pages\nbalance_dirty_pages_ratelimited_flags\ngeneric_perform_write\nloop_process_work";
    assert_eq!(Wait::of_stack(throttled), Wait::LoopFile);
}

#[test]
fn who_wants_to_change_a_frozen_file_system_is_told_from_who_waits_for_a_lock_of_that_kind() {
    let frozen =
        |last: &str| Wait::of_stack(&format!("schedule\npercpu_rwsem_wait\n__percpu_down_read\n{last}"));
    for stack in [
        "vfs_write\nksys_write",
        "mnt_want_write\nfilename_create",
        "io_write\nio_issue_sqe",
        "xfs_trans_alloc",
    ] {
        assert_eq!(frozen(stack), Wait::Frozen, "{stack}");
    }
    // Linux 3.6 to 4.2.
    assert_eq!(Wait::of_stack("schedule\n__sb_start_write\nmnt_want_write"), Wait::Frozen);
    assert_eq!(Wait::of_stack("schedule\n__down_read\n__sb_start_write\nmnt_want_write"), Wait::Lock);
    // A write to /sys waits for CPU hotplug; a new process waits for its control group.
    let of_sysfs = "cpus_read_lock\nstore\nkernfs_fop_write_iter\nvfs_write\nksys_write";
    for stack in [of_sysfs, "copy_process\nkernel_clone"] {
        assert_eq!(frozen(stack), Wait::Lock, "{stack}");
    }
}

/// Names on other architectures, in older kernels and in real-time ones: the innermost shows how tasks sleep, the next the lock.
#[test]
fn locks_have_many_names() {
    for (stack, function) in [
        (
            "__switch_to\n__schedule\nschedule\n__mutex_lock_common\nmutex_lock_nested\ncgroup_mkdir",
            "__mutex_lock_common",
        ),
        ("schedule\n__down_read\nsnapshot_map\n__map_bio", "__down_read"),
        ("rt_mutex_schedule\nrt_mutex_slowlock_block\nrt_mutex_slowlock\ncgroup_mkdir", "rt_mutex_slowlock"),
        ("schedule\npercpu_down_write\n_cpu_up", "percpu_down_write"),
    ] {
        assert_eq!((Wait::of_stack(stack), Wait::function_of(stack)), (Wait::Lock, function), "{stack}");
    }
    let helper = "__switch_to\nschedule_timeout\nwait_for_common\ncall_usermodehelper_exec\nstart";
    assert_eq!(Wait::function_of(helper), "call_usermodehelper_exec");
}

#[test]
fn nothing_is_guessed() {
    assert_eq!(Wait::of_stack(""), Wait::Unknown);
    assert_eq!(Wait::of_stack("some_new_function\nvfs_read"), Wait::Unknown);
    assert_eq!(Wait::of_stack("not_blk_mq_get_tag"), Wait::Unknown);
}

/// For a renamed function the table has the old and the new name; `make kernel-names` writes it. ZFS's functions are in no kernel.
#[test]
fn the_table_of_kernels_has_every_name() {
    let rules = rules::RULES
        .iter()
        .chain(below_files::RULES)
        .chain(THEMSELVES)
        .flat_map(|(function, under, _)| std::iter::once(function).chain(*under));
    let named: BTreeSet<&str> = rules.chain(SLEEPING).copied().collect();
    let mut lines = include_str!("kernels.tsv").lines();
    let kernels = lines.next().unwrap().split('\t').count();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    assert!(rows
        .iter()
        .all(|row| row.len() == kernels && row[1..].iter().all(|is| ["yes", "-"].contains(is))));
    assert_eq!(rows.iter().map(|row| row[0]).collect::<BTreeSet<_>>(), named);
    let of_zfs = zfs::RULES.iter().map(|rule| &rule.0).chain(zfs::SLEEPING);
    assert_eq!(of_zfs.filter(|name| named.contains(**name)).count(), 0);
}

/// As hung-task reports have them: through its condition variables to what ZFS waits for, whichever of its functions is nearest.
#[test]
fn zfs_waits_for_its_pool_for_a_group_or_for_a_lock_whatever_its_conditions_are_called() {
    let in_turn =
        "io_schedule\ncv_wait_common\n__cv_wait_io\nzio_wait\ndsl_pool_sync\nspa_sync\ntxg_sync_thread";
    let old = "schedule\nschedule_timeout\nio_schedule_timeout\n__cv_timedwait_common\n__cv_timedwait_io\nzio_wait\ndsl_pool_sync";
    let for_group = "schedule\ncv_wait_common\n__cv_wait\ntxg_wait_synced\ndmu_tx_wait\nzfs_write";
    let for_room = "schedule\ncv_wait_common\n__cv_wait\ndmu_tx_wait\nzfs_write";
    let for_log = "schedule\ncv_wait_common\n__cv_wait\nzil_commit\nzfs_fsync\nzpl_fsync";
    let for_lock = "schedule\ncv_wait_common\n__cv_wait\nspa_config_enter\nvdev_probe";
    for (stack, wait, function) in [
        (in_turn, Wait::PoolIo, "zio_wait"),
        (old, Wait::PoolIo, "zio_wait"),
        (for_group, Wait::TransactionGroup, "txg_wait_synced"),
        (for_room, Wait::PoolThrottle, "dmu_tx_wait"),
        (for_log, Wait::LogForce, "zil_commit"),
        (for_lock, Wait::Lock, "spa_config_enter"),
    ] {
        assert_eq!((Wait::of_stack(stack), Wait::function_of(stack)), (wait, function), "{stack}");
    }
    // Memory comes first, whatever a page to be freed belongs to; a thread that does something from time to time sleeps so.
    let freed =
        "cv_wait_common\n__cv_wait_io\nzio_wait\nzfs_inactive\nevict\nprune_super\nshrink_node\nkswapd";
    assert_eq!(Wait::of_stack(freed), Wait::Reclaim);
    assert_eq!(Wait::of_stack("schedule_timeout\n__cv_timedwait\narc_reclaim_thread"), Wait::Timer);
    let unknown = "schedule\ncv_wait_common\n__cv_wait\nsome_function\nzfs_ioctl";
    assert_eq!((Wait::of_stack(unknown), Wait::function_of(unknown)), (Wait::Unknown, "some_function"));
}

#[test]
fn an_array_a_command_and_asynchronous_io_are_seen_through_how_a_task_waits() {
    let array = |waits: &str| {
        Wait::of_stack(&format!("{waits}raid5_make_request\nmd_handle_request\nmpage_readahead"))
    };
    assert_eq!(array("schedule\nschedule_timeout\nwait_woken\n"), Wait::RaidRequest);
    assert_eq!(array("wait_woken\n"), Wait::RaidRequest);
    assert_eq!(array("schedule\nraid5_get_active_stripe\n"), Wait::StripeCache);
    assert_eq!(array("schedule\nmd_write_start\n"), Wait::RaidSuperblock);
    let suspended = "__schedule\nschedule\nmd_handle_request\nmd_submit_bio\nfilemap_read";
    assert_eq!(Wait::of_stack(suspended), Wait::RaidRequest);
    assert_eq!(Wait::of_stack("blk_execute_rq\n__scsi_execute\nscsi_vpd_inquiry"), Wait::Command);
    let tag = "schedule\nio_schedule\nblk_mq_get_tag\nscsi_execute_cmd\nsd_revalidate_disk";
    assert_eq!(Wait::of_stack(tag), Wait::Tag);
    assert_eq!(Wait::of_stack("wait_for_completion\nexit_aio\nmmput\ndo_exit"), Wait::DirectIo);
    assert_eq!(Wait::function_of("wait_woken\nsome_function\nvfs_read"), "some_function");
}

/// A commit of btrfs waits for its blocks, for data, for disks. Others wait for the commit, but not the thread that commits.
#[test]
fn who_commits_btrfs_waits_for_no_commit() {
    let within = |calls: &str| Wait::of_stack(&format!("schedule\n{calls}btrfs_commit_transaction"));
    for (calls, wait) in [
        ("schedule_timeout\nwait_for_completion\nwrite_all_supers\nwrite_ctree_super\n", Wait::Flush),
        ("wait_for_completion_io\nwait_dev_flush\nwrite_all_supers\n", Wait::Flush),
        ("io_schedule\nbit_wait_io\n__wait_on_buffer\nwrite_all_supers\n", Wait::Metadata),
        ("btrfs_start_ordered_extent\nbtrfs_wait_ordered_range\n__btrfs_wait_cache_io\n", Wait::OwnData),
        (
            "io_schedule\nfolio_wait_bit_common\nfolio_wait_writeback\n__filemap_fdatawait_range\nbtrfs_wait_extents\n",
            Wait::Metadata,
        ),
        ("__mutex_lock\n", Wait::Lock),
        ("wait_for_commit\n", Wait::JournalCommit),
        ("", Wait::JournalCommit),
    ] {
        assert_eq!(within(calls), wait, "{calls}");
    }
    // The log of fsync is none of its commits.
    let log =
        "folio_wait_writeback\n__btrfs_wait_marked_extents\nbtrfs_wait_tree_log_extents\nbtrfs_sync_log";
    assert_eq!(Wait::of_stack(log), Wait::LogForce);
    let committer = "transaction_kthread\nkthread";
    let of_thread =
        |calls: &str| Wait::of_stack(&format!("schedule\n{calls}btrfs_commit_transaction\n{committer}"));
    assert_eq!(of_thread(""), Wait::JournalUpdates);
    assert_eq!(of_thread("some_function\n"), Wait::Unknown);
    let cut = |name| Wait::of_task(name, "schedule\nsome_function\nbtrfs_commit_transaction");
    assert_eq!(["btrfs-transacti", "sync"].map(cut), [Wait::Unknown, Wait::JournalCommit]);
}

/// ext4's writeback takes the lock of a file's block map while it ends: a writer behind it waits for no other operation on the file.
#[test]
fn the_lock_of_a_files_blocks_is_not_the_files() {
    let within = |function: &str| {
        let stack =
            format!("rwsem_down_write_slowpath\ndown_write\n{function}ext4_buffered_write_iter\nvfs_write");
        Wait::of_stack(&stack)
    };
    assert_eq!(within("ext4_da_get_block_prep\ngeneric_perform_write\n"), Wait::Lock);
    let by_mutex = |stack| Wait::of_stack(&format!("__mutex_lock\n{stack}\nksys_write"));
    assert_eq!(
        ["fdget_pos", "__fdget_pos", "f"].map(by_mutex),
        [Wait::FilePosition, Wait::FilePosition, Wait::Lock]
    );
    assert_eq!(within(""), Wait::InodeLock);
}
