//! Thresholds of the causes about arrays (md).

/// Thresholds of `raid`.
pub mod raid {
    /// Entries of the stripe cache worth trying. The default of 256 is "probably much too small" (NeilBrown, kernel commit
    /// edbe83ab4c27).
    pub const CACHE_ENTRIES: u64 = 4096;
    /// The most entries that the kernel accepts (`raid5_set_cache_size`, drivers/md/raid5.c).
    pub const MOST_ENTRIES: u64 = 32768;
    /// Threads worth trying besides the array's own: with this many, nine hard disks wrote 750 instead of 600 MB/s
    /// (Shaohua Li, kernel commit 765d704db1f5). Each takes a processor.
    pub const THREADS: u64 = 4;
}

/// Thresholds of `raid_bitmap`.
pub mod raid_bitmap {
    /// From one bitmap update for this many writes on it is more than housekeeping: a tenth of the slowest 1 % can then
    /// be its victims.
    pub const WRITES_PER_UPDATE: u64 = 1000;
}

/// Thresholds of `raid_read_modify_write`.
pub mod raid_read_modify_write {
    /// From this part of adjacent writes on, they are neighbours rather than scattered.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `raid_resync`.
pub mod raid_resync {
    /// KiB a second that md keeps up by default regardless of other I/O (`speed_limit_min`, Documentation/admin-guide/md.rst).
    pub const USUAL_MIN: u64 = 1000;
}

/// Thresholds of `raid_stripe_cache`.
pub mod raid_stripe_cache {
    /// Members that have something in flight for more than this part of the time are at work whatever md sends them: a
    /// larger cache lets md send more at once, but gives members no more time.
    pub const BUSY: f64 = 0.9;
}
