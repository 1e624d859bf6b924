//! Thresholds of the causes that counters show, each with its source. Those of causes that recordings show too are in
//! `crate::thresholds`.

use crate::thresholds::WBT_DISK;
use trace::Nanos;

/// How much evidence a verdict needs. With less, the facts are reported, and what to record.
pub mod evidence {
    /// Reports of iostat or sar on a disk. iostat's first report is the mean since the machine was started (iostat(1)),
    /// and a single one may cover just the one second in which the disk was busy.
    pub const REPORTS: usize = 2;
    /// Intervals of vmstat: swapping in a single interval may be a program that starts, and the first row is no interval (vmstat(8)).
    pub const INTERVALS: usize = 2;
    /// Lines of the kernel's log on a device: a single one may be of another day.
    pub const LINES: u64 = 2;
    /// Messages of a file system that its data is damaged: a single one may be of another day, or of memory that is long gone.
    pub const DAMAGED: u64 = 2;
    /// Operations in each run that is compared: a mean or a rate over this many differs by a tenth by chance (1 / sqrt(n)).
    pub const OPERATIONS: f64 = 100.0;
    /// Requests in a mean of iostat's, those of one second of a report: fewer are one or two slow ones. The same for calls of a sync.
    pub const REQUESTS: f64 = 10.0;
    /// Numbers of threads in a table of results: two points are no curve.
    pub const POINTS: usize = 3;
    /// Jobs of fio with the same rate: two are a coincidence.
    pub const JOBS: usize = 3;

    /// How much evidence each cause needs, as docs/texts.md says it and tests try it. Counters alone never find a cause
    /// that is missing here.
    #[cfg(test)]
    pub const LEAST: [(&str, f64, &str); 18] = [
        ("device-saturated", REPORTS as f64, "reports in which the disk is full"),
        ("device-stall", REPORTS as f64, "reports in a row in which nothing completes"),
        (
            "slow-member",
            REPORTS as f64,
            "reports with the same slow disk, and as many requests as make a mean",
        ),
        (
            "raid-read-modify-write",
            REPORTS as f64,
            "reports in which the members read what they do not have to",
        ),
        (
            "raid-bitmap",
            REPORTS as f64,
            "reports, with the bitmap and without; of fio's runs as many writes in each as make a rate",
        ),
        ("raid-stripe-cache", 1.0, "count of stripe heads in use beside their number"),
        (
            "request-size",
            REPORTS as f64,
            "reports of one device with different sizes, or a run under each of two limits",
        ),
        ("swap", INTERVALS as f64, "intervals besides the mean since the machine was started"),
        (
            "device-errors",
            LINES as f64,
            "lines of the kernel's log, or one beside which a task hung, or what the drive says of itself now",
        ),
        ("link-reset", LINES as f64, "lines of the kernel's log, or one beside which a task hung"),
        (
            "file-system-error",
            DAMAGED as f64,
            "messages that a file system's data is damaged, or one that it was shut down or made read-only, or what a pool says of its data \
             now",
        ),
        ("hung", 1.0, "task that the kernel calls blocked, with its stack"),
        ("writeback-flood", OPERATIONS, "reads in each of two runs"),
        ("reclaim", 1.0, "mean of the stalls for memory over 10 s or longer"),
        ("rate-limit", JOBS as f64, "jobs of at least two kinds, of a thousand operations each"),
        ("flush-cost", REQUESTS, "syncs"),
        ("log-force", POINTS as f64, "numbers of threads"),
        ("scheduler-starvation", 1.0, "request with the times of its insertion and its dispatch"),
    ];
}

/// Thresholds of `counters/kernel_errors`.
pub mod kernel_errors {
    /// libata tries a command five times before it gives up (`ATA_EH_MAX_TRIES`, include/linux/libata.h), and logs each
    /// attempt: fewer lines belong to one command.
    pub const MANY_LINES: u64 = 6;

    /// The longest time for which a command is tried before its error is logged, in seconds: `SD_TIMEOUT` (30 s) once,
    /// and `SD_MAX_RETRIES` (5) times more (drivers/scsi/sd.h).
    pub const TRIED: f64 = 180.0;

    /// Disks whose errors in one moment count as one failure: a RAID that survives two failures, the most of the usual
    /// levels, was built for disks that fail one by one.
    pub const AT_ONCE: usize = 3;
    /// Length of that moment in seconds: syslog's times have no fraction (RFC 3164).
    pub const ONE_MOMENT: f64 = 1.0;
    /// For so long, in seconds, SCSI's disks try a command: 30 s, and five times again (`SD_TIMEOUT`, `SD_MAX_RETRIES`, drivers/scsi/sd.h).
    pub const LAST_TRY: f64 = 180.0;
}

/// Thresholds of `counters/drive`.
pub mod drive {
    /// Hours that a drive runs for each error that it could not correct: with more of them, some are probably of today.
    pub const ONE_IN: f64 = 24.0;
}

/// Thresholds of `counters/hung`.
pub mod hung {
    /// The most places in the kernel that are reported; a log has hundreds of tasks in few places.
    pub const MANY: usize = 6;
}

/// Thresholds of `counters/fsync`.
pub mod fsync {
    /// Syncs that take this part of a run are what it waits for.
    pub const MOSTLY: f64 = 0.8;
    /// A smaller part of a run is insignificant.
    pub const NOTABLE: f64 = 0.1;
    /// Writes that a commit waits for, with flushes, one after the other: data, the journal's blocks, a flush, the
    /// block that ends the commit, and a flush again (fs/jbd2/commit.c; XFS's log has fewer).
    pub const WRITES: f64 = 3.0;
    /// Flushes that the same commit waits for.
    pub const FLUSHES: f64 = 2.0;
}

/// Thresholds of `counters/own_queue`.
pub mod own_queue {
    use super::Nanos;

    /// What Linux expects of a device that does not rotate.
    pub const NOT_SLOW: Nanos = crate::thresholds::WBT_FLASH;
    /// The least part of the mean that the median of waits in a queue is. If requests arrive and are served at random (M/M/1), waits are
    /// exponential, with a median of ln 2 = 0.69 of the mean; fio's percentiles in whole milliseconds may be lower by some.
    pub const ALIKE: f64 = 0.5;
}

/// Thresholds of `counters/slow_syncs`.
pub mod slow_syncs {
    use super::Nanos;

    /// What the 99th percentile of the log's syncs should be below (etcd's documentation: FAQ, "What does the etcd warning 'failed to send out
    /// heartbeat on time' mean?").
    pub const WAL_FSYNC: Nanos = Nanos(10_000_000);
    /// The part of the syncs above that percentile.
    pub const MOST_SLOW: f64 = 0.01;
    /// From this on etcd logs a sync (`warnSyncDuration`, server/storage/wal/wal.go), the shortest of what databases log.
    pub const LOGGED: Nanos = Nanos(1_000_000_000);
}

/// Thresholds of `counters/swap`.
pub mod swap {
    /// 256 pages of 4 KiB a second, in bytes: insignificant at the 100 us that flash takes for each page; at the 8 ms
    /// of a disk, twice as much time as there is.
    pub const LEAST_RATE: f64 = 1_048_576.0;
    /// Part of the intervals: swapping in a single one may be a program that starts.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `counters/pressure`.
pub mod pressure {
    /// A task that waits for this part of the time notices it.
    pub const NOTICED: f64 = 0.1;
}

/// Thresholds of `counters/kswapd`.
pub mod kswapd {
    /// Of a processor: published screens of machines that thrashed show 0.66 and 0.99.
    pub const MUCH: f64 = 0.5;
    /// Of the memory: from this part of what is available on the kernel writes back (`vm.dirty_background_ratio`), so the page cache is meant to
    /// have more. The same screens show 0.06 and 0.006.
    pub const HARDLY: f64 = 0.1;
}

/// Thresholds of `counters/busy`.
pub mod busy {
    use super::Nanos;

    /// iostat's `%util` of a device that is busy all the time, with room for rounding and for the end of an interval.
    pub const BUSY: f64 = 0.97;
    /// Waiting requests that make a queue: a quarter of what a disk with native command queueing works on at once (32).
    pub const LEAST_QUEUE: f64 = 8.0;
    /// Requests in flight of which, on average, one waits behind another, whatever the disk is.
    pub const LEAST_BEHIND: f64 = 2.0;
    /// Longer than Linux expects of a rotating disk (`wbt_default_latency_nsec`, block/blk-wbt.c).
    pub const LONG_WAIT: Nanos = super::WBT_DISK;
}

/// Thresholds of `counters/slow_member`.
pub mod slow_member {
    use super::Nanos;

    /// The traffic of peers differs by less than this factor.
    pub const ALIKE: f64 = 1.5;
    /// Fewer peers have no median worth the name.
    pub const LEAST_PEERS: usize = 3;
    /// A wait this many times the median is more than chance: seeks and caches make factors of two.
    pub const SLOWER: f64 = 4.0;
    /// A shorter wait is no problem, whatever the others take: two seeks of a disk.
    pub const LONG: Nanos = Nanos(20_000_000);
}

/// Thresholds of `counters/same_rate`.
pub mod same_rate {
    /// Rates that differ by less than this factor are the same; runs of one load on one device differ by more.
    pub const SAME: f64 = 1.03;
    /// With this many operations, rates differ by chance by no more than `SAME` (1 / sqrt(n)).
    pub const LEAST_OPERATIONS: f64 = 1000.0;
    /// Operations a second that the largest volumes are sold with; at higher rates processors are the limit.
    pub const MOST_RATE: f64 = 260_000.0;
}

/// Thresholds of `counters/raid` and `counters/raid_runs`.
pub mod raid {
    /// Writes to an array a second; fewer are no load that could be slow because of how it writes.
    pub const LEAST_WRITES: f64 = 20.0;
    /// Writes to members that are this many times as large as those to the array belong to no read-modify-write.
    pub const LARGER: f64 = 2.0;
    /// Runs of one load on one array differ by less than this factor.
    pub const FASTER_WITHOUT: f64 = 1.5;
}
