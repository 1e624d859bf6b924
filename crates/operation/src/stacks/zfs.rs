//! The names of functions of OpenZFS and its layer of Solaris' functions (SPL) that identify waits.
//!
//! No kernel has them, they come with modules of their own: `stacks/kernels.tsv` has none of them. They are those of OpenZFS 0.6.5 to 2.4
//! (module/zfs, module/os/linux/spl/spl-condvar.c).

use super::Rule;
use crate::wait::Wait;

/// Functions in which any thread waits for a condition, whatever it is (spl-condvar.c).
pub(super) const SLEEPING: &[&str] = &[
    "cv_wait_common",
    "__cv_wait",
    "__cv_wait_io",
    "__cv_wait_sig",
    "__cv_wait_io_sig",
    "__cv_wait_idle",
    "__cv_timedwait_io",
];

/// The rules; the first match counts.
pub(super) const RULES: &[Rule] = &[
    ("zio_wait", &[], Wait::PoolIo),
    ("arc_wait_for_eviction", &[], Wait::Reclaim),
    // Its own threads, until a group is to be closed or written.
    ("txg_thread_wait", &[], Wait::Input),
    // `_impl` from 0.8 to 2.2, `_flags` from 2.3 on.
    ("txg_wait_synced", &[], Wait::TransactionGroup),
    ("txg_wait_synced_impl", &[], Wait::TransactionGroup),
    ("txg_wait_synced_flags", &[], Wait::TransactionGroup),
    ("txg_wait_open", &[], Wait::TransactionGroup),
    // Too much is not yet written (`zfs_dirty_data_max`, zfs(4)).
    ("dmu_tx_delay", &[], Wait::PoolThrottle),
    ("dmu_tx_wait", &[], Wait::PoolThrottle),
    ("zil_commit", &[], Wait::LogForce),
    ("zil_commit_impl", &[], Wait::LogForce),
    ("spa_config_enter", &[], Wait::Lock),
    ("spa_config_enter_impl", &[], Wait::Lock),
    ("rrw_enter_read", &[], Wait::Lock),
    ("rrw_enter_write", &[], Wait::Lock),
    // A range of a file; before 0.8 `zfs_range_lock`.
    ("zfs_range_lock", &[], Wait::Lock),
    ("zfs_rangelock_enter_impl", &[], Wait::Lock),
    ("zfs_rangelock_enter_writer", &[], Wait::Lock),
    // Threads that do something from time to time (`arc_reclaim`, `l2arc_feed`) sleep so.
    ("__cv_timedwait", &[], Wait::Timer),
    ("__cv_timedwait_common", &[], Wait::Timer),
    ("__cv_timedwait_sig", &[], Wait::Timer),
    ("__cv_timedwait_idle", &[], Wait::Timer),
    ("__cv_timedwait_hires", &[], Wait::Timer),
    ("cv_timedwait_hires_common", &[], Wait::Timer),
];
