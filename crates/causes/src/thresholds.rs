//! Every threshold of the causes, by the cause that judges by it, each with its source.

mod arrays;
pub mod lower_class;
pub mod rate_limit;

pub use arrays::{raid, raid_bitmap, raid_read_modify_write, raid_resync, raid_stripe_cache};
use trace::{Bytes, Nanos};

/// The default target of writeback throttling for devices that do not rotate (`wbt_default_latency_nsec`, block/blk-wbt.c).
pub const WBT_FLASH: Nanos = Nanos(2_000_000);

/// The same for a rotating disk.
pub const WBT_DISK: Nanos = Nanos(75_000_000);

/// A device that reads faster than this when it has nothing else to do does not rotate, whatever it reports: half a
/// turn at 7200 a minute.
pub const HALF_A_TURN: Nanos = Nanos(4_170_000);

/// Thresholds of `case`.
pub mod case {
    use super::Nanos;

    /// A cause that explains less than this part of a group's tail is too small to be the cause. A choice without a
    /// source: what is worth reporting, tried on recordings whose cause is known.
    pub const MIN_SHARE: f64 = 0.1;
    /// A group whose tail has less than this part of the time of all tails is not reported.
    pub const WORTH_A_WORD: f64 = 0.02;
    /// A victim that waited for less than 1/50 of the recording does not count as delayed. A choice without a source.
    pub const KEPT_WAITING: u64 = 50;
    /// Nothing faster than this is slow: reading a page of flash takes 50 to 100 us (data sheets of NAND), and what is
    /// faster than that is processor time.
    pub const NOT_SLOW: Nanos = Nanos(100_000);
    /// Percentiles of fewer requests than this say little: a p99 needs a hundred.
    pub const MIN_SAMPLES: u64 = 100;
}

/// Thresholds of `cold-reads` and `slow-device`.
pub mod alone {
    use super::Nanos;

    /// From this part of the time on, it is the device's own pace and little else.
    pub const MOSTLY: f64 = 0.5;
    /// Flash takes less for a small request alone: three times the 100 us of drives with a SATA link (some 10,000 reads
    /// of 4 KiB a second, one at a time, data sheets).
    pub const FLASH_ALONE: Nanos = Nanos(300_000);
    /// Bytes a second of such a link: 6 Gbit/s in code words of ten bits for eight, less its frames.
    pub const FLASH_BYTES_A_SECOND: u64 = 500_000_000;
    /// If more than this part of requests found the device empty, they were sent one by one, and the others met another task's.
    pub const NEARLY_ALL: f64 = 0.9;
}

/// Thresholds of `damage`.
pub mod damage {
    /// From this part of damaged events on nothing can be judged: every tenth is missing.
    pub const TOO_DAMAGED: f64 = 0.1;
    /// From this part on findings are less sure: one in a thousand, a tenth of what makes the tail; below it no
    /// percentile that is shown can move by more than its own error.
    pub const DAMAGED: f64 = 0.001;
    /// I/O in flight when the recording began is no damage, unless it is this part of the events: then half of each
    /// life must be missing from the recording (a mask, a cut).
    pub const BEGAN_BEFORE: f64 = 0.05;
}

/// Thresholds of `growth`.
pub mod growth {
    /// A device that serves one request at a time takes twice as long with twice as many in flight; one that takes less
    /// than this many times as long with at least twice as many serves them in parallel.
    pub const GROWS: f64 = 1.5;
    /// A mean of fewer requests than this is chance.
    pub const MIN_SAMPLES_OF_A_ROW: u64 = 25;
}

/// Thresholds of `judge`.
pub mod judge {
    /// A cause that explains less than this part of all slow time is insignificant: one wait of 50 us beside fsyncs of milliseconds.
    pub const TRIFLE: f64 = 0.01;
}

/// Thresholds of `paths`.
pub mod paths {
    /// A wait that was seen is named even if specific causes have claimed most of it, down to this part of the tail.
    pub const WORTH_NAMING: f64 = 0.01;
}

/// Thresholds of `cgroup_limit`.
pub mod cgroup_limit {
    /// Throttling counts in slices of a tenth of a second (`DFL_THROTL_SLICE_HD`, block/blk-throttle.c): the rate of
    /// one second may be off by one slice.
    pub const SLICE: f64 = 0.1;
    /// The mean of two seconds may be off by half as much.
    pub const MEAN: f64 = SLICE / 2.0;
    /// A match in this many whole seconds is no chance.
    pub const ENOUGH: usize = 2;
    /// Nor is one over this many releases of held bios: one slice more or less is what [`MEAN`] allows.
    pub const ROUNDS: u64 = 10;
    /// A device in which a task's requests are for longer than this part of the time may set the task's pace.
    pub const BUSY: f64 = 0.5;
}

/// Thresholds of `crypt_queue`.
pub mod crypt_queue {
    /// The sector size of a disk, in bytes, unless the disk was made with larger sectors: dm-crypt works on each sector by itself.
    pub const SMALL_SECTOR: u64 = 512;
}

/// Thresholds of `lost_merging`.
pub mod lost_merging {
    use super::Bytes;

    /// From this part of adjacent requests on, they could have been merged.
    pub const SIDE_BY_SIDE: f64 = 0.7;
    /// Requests of this size gain little by merging: most devices move as fast with them as with larger ones.
    pub const LARGE_ENOUGH: Bytes = Bytes(64 << 10);
    /// If more than this part of the bios were merged, merging works.
    pub const JOINED: f64 = 0.1;
}

/// Thresholds of `request_size`.
pub mod request_size {
    use super::Bytes;

    /// Requests of this size are large enough: clouds bill and limit volumes in units of 256 KiB (Amazon EBS, "I/O
    /// characteristics"), and at 1 ms of cost each they are 250 MB/s.
    pub const LARGE_ENOUGH: Bytes = Bytes(256 << 10);
    /// The largest request that the kernel allows by default (`BLK_DEF_MAX_SECTORS`, 2560 sectors, in block/blk-settings.c).
    pub const KERNELS_LIMIT: Bytes = Bytes(1280 << 10);
    /// From this part of the device's time behind others on, requests queue rather than being served in parallel.
    pub const IN_LINE: f64 = 0.5;
}

/// Thresholds of `tag_exhaustion`.
pub mod tag_exhaustion {
    /// At least this part of the time to get a request must be that of operations that found the device full.
    pub const MOSTLY: f64 = 0.5;
    /// Waits for a request of less than this part of the time are not reported.
    pub const NOT_AT_ALL: f64 = 0.01;
}

/// Thresholds of `counters_log_force`.
pub mod counters_log_force {
    /// Smaller differences are noise if the text says nothing about them.
    pub const NOTABLE: f64 = 0.05;
}

/// Thresholds of `counters_raid`.
pub mod counters_raid {
    /// Traffic of two devices is the same if it differs by less than this part.
    pub const SAME: f64 = 0.001;
    /// A read-modify-write reads about as many bytes as it writes; reads of less than this part are something else.
    pub const READS_OF_RMW: f64 = 0.5;
    /// The time that members do not account for must be at least this part of the array's.
    pub const NOTABLE: f64 = 0.2;
    /// md's default number of stripe heads, each a page per member (`NR_STRIPES`, drivers/md/raid5.c; Documentation/admin-guide/md.rst).
    pub const DEFAULT_STRIPES: f64 = 256.0;
    /// A stripe cache is full if at least this part of it is in use.
    pub const FULL: f64 = 0.95;
}

/// Thresholds of `counters_request_limit`.
pub mod counters_request_limit {
    /// A mean size of at least this part of the limit is the limit: the last request of a file is smaller.
    pub const AT_LIMIT: f64 = 0.8;
    /// Rates that differ by less than this factor are the same.
    pub const SAME_RATE: f64 = 1.05;
}

/// Thresholds of `counters_request_size`.
pub mod counters_request_size {
    /// Sizes that differ by less than this factor are the same.
    pub const SMALLER: f64 = 2.0;
    /// The time per byte must differ by this factor to be worth reporting.
    pub const DEARER: f64 = 1.3;
    /// With fewer requests in the queue, the device may have waited for work.
    pub const BUSY_QUEUE: f64 = 4.0;
}

/// Thresholds of `counters_scheduler_starvation`.
pub mod counters_scheduler_starvation {
    /// A wait in the scheduler of at least this many ns is starvation: mq-deadline lets reads wait 500 ms at most by
    /// default (`read_expire`, block/mq-deadline.c), and no device takes that long for one request.
    pub const STARVED: f64 = 500e6;
}

/// Thresholds of `counters_stable_page`.
pub mod counters_stable_page {
    /// The longest write must take this many times the p99.99 to be a stall that percentiles do not show.
    pub const STALL: f64 = 100.0;
    /// The maximum must be this many times that of the other run.
    pub const LONGER: f64 = 4.0;
}

/// Thresholds of `counters_writeback_flood`.
pub mod counters_writeback_flood {
    /// The tail beside buffered writes must be this many times the other one.
    pub const SLOWER: f64 = 2.0;
    /// The median may be at most this many times the other one: else all reads are slower, which is another problem.
    pub const SAME_MEDIAN: f64 = 1.5;
    /// With fewer writes than this part of the reads, nothing was written beside them.
    pub const NO_WRITES: f64 = 0.001;
    /// The proposed target of writeback throttling, in microseconds: the kernel's default for devices that do not
    /// rotate (`wbt_default_latency_nsec`, block/blk-wbt.c).
    pub const TARGET: f64 = (super::WBT_FLASH.0 / 1000) as f64;
    /// Rates that differ by less than this factor are about the same.
    pub const ABOUT: f64 = 1.1;
    /// From this many ns on a read in a histogram counts as slow: no device that serves others in under a millisecond needs it.
    pub const SLOW_READ: f64 = 16e6;
}

/// Thresholds of `completion_cpu`.
pub mod completion_cpu {
    /// A processor that completes this part of all requests does so for the other processors, too.
    pub const MOSTLY: f64 = 0.8;
}

/// Thresholds of `cpu_wait`.
pub mod cpu_wait {
    /// In a fast group, waits for processors must have this part of the time.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `device_busy`.
pub mod device_busy {
    use super::Bytes;

    /// No smaller size is proposed: such a request does not need many descriptors, 18 for 16 pages.
    pub const SMALLEST: Bytes = Bytes(64 << 10);
    /// The factor by which smaller requests increase the room for requests.
    pub const ROOM: u64 = 8;
}

/// Thresholds of `device_saturated`.
pub mod device_saturated {
    /// The quantile of the fastest requests, which came while there was room.
    pub const FASTEST: f64 = 0.02;
    /// Completions come in bursts if half of them come within a fifth of the mean distance: independent ones would be
    /// 0.7 of it apart (exponential distribution).
    pub const TOGETHER: f64 = 5.0;
    /// The quantile of the soonest completions after another one: of independent ones a twentieth would come within a
    /// twentieth of the mean distance (exponential distribution); of one after the other none before half of it.
    pub const SOONEST: f64 = 0.05;
    /// From this many in flight on there is a queue: one served, one waiting.
    pub const SEVERAL: f64 = 2.0;
    /// A device that is busy for less of the time (half) is idle for most of it: it is saturated in bursts.
    pub const MOSTLY_IDLE: f64 = 0.5;

    /// A task that sends this part of all requests has the device to itself: nine of ten.
    pub const ALONE: f64 = 0.9;
    /// If specific causes leave less than this part of the device time, the queue is theirs.
    pub const LEFT: f64 = 0.5;
}

/// Thresholds of the loads that measure a device.
pub mod measure {
    /// The default size of a queue (`BLKDEV_DEFAULT_RQ`, include/linux/blkdev.h).
    pub const MOST_AT_ONCE: u64 = 128;
    /// If half of the requests follow the one before, they are sequential.
    pub const SEQUENTIAL: f64 = 0.5;
    /// The largest small size: half of what Linux reads ahead, 128 KiB; larger pieces cost little more (`VM_READAHEAD_PAGES`, include/linux/mm.h).
    pub const SMALL: trace::Bytes = trace::Bytes(64 << 10);
}

/// Thresholds of `device_stall`.
pub mod device_stall {
    /// Longer than any healthy disk takes for one request.
    pub use life::LONGEST_SERVICE as LONG;

    /// Nothing completed for so long needs no comparison.
    pub use life::HUNG;

    /// A request that takes this many times the median is unusual: what a rotating disk takes varies by a factor of 3
    /// (half a turn and a full seek, or none).
    pub const STALLED: f64 = 5.0;
    /// From this part of their time on, requests were overtaken rather than queued.
    pub const PASSED_OVER: f64 = 0.5;
    /// Requests this many times the mean size are slow for their size.
    pub const LARGER: f64 = 4.0;
}

/// Thresholds of `discard_stall`.
pub mod discard_stall {
    /// Fewer requests beside discards are chance.
    pub const ENOUGH: u64 = 5;
    /// From this factor on requests beside discards are slower than others.
    pub const SLOWER: f64 = 2.0;
}

/// Thresholds of `healthy`.
pub mod healthy {
    /// From this part of its time on, what another task does to a victim is worth acting on: a fifth, what the eye sees at a glance.
    pub const NOT_ITS_OWN: f64 = 0.2;

    use super::Nanos;

    /// The read latency that Linux expects of a device without rotating parts: the default target of writeback
    /// throttling (`wbt_default_latency_nsec`, block/blk-wbt.c).
    pub const EXPECTED_FLASH: Nanos = super::WBT_FLASH;
    /// The same for a rotating disk.
    pub const EXPECTED_DISK: Nanos = super::WBT_DISK;
    /// One operation in a hundred may exceed what is expected, and one in a thousand by at most this factor.
    pub const OUTLIER: u64 = 10;
}

/// Thresholds of `misaligned`.
pub mod misaligned {
    /// Reading first and then writing takes twice as long if both take the same, and on a disk a turn longer. The threshold is halfway.
    pub const LONGER: f64 = 1.5;
    /// A smaller part of such writes is incidental: the last piece of a file, a superblock.
    pub const HABIT: f64 = 0.05;
}

/// Thresholds of `power_state`.
pub mod power_state {
    /// A step that fewer requests show is chance.
    pub const ENOUGH: u64 = 5;
    /// After a long pause nine of ten requests take this many times as long as nine of ten others, or longer.
    pub const STEP: f64 = 2.0;
}

/// Thresholds of `durable`.
pub mod durable {
    /// From this part of their time in syncing on, writes sync by themselves: the rest may be waits for the file's lock while another one does.
    pub const MUCH: f64 = 1.0 / 3.0;
}

/// Thresholds of `journal_space`.
pub mod journal_space {
    /// Fewer commits show no pace.
    pub const SOME: u64 = 10;

    use super::Bytes;

    /// A larger journal is of use to few.
    pub const LARGER: Bytes = Bytes(256 << 20);
}

/// Thresholds of `read_ahead_short`.
pub mod read_ahead_short {
    use super::Bytes;

    /// What the kernel reads ahead by default (`VM_READAHEAD_PAGES`, include/linux/mm.h).
    pub const DEFAULT: Bytes = Bytes(128 << 10);
    /// From this part of reads that follow one another on, a task reads sequentially.
    pub const IN_ORDER: f64 = 0.7;
    /// A task that waited for pages for a third of the recording did little else.
    pub const LITTLE_ELSE: f64 = 1.0 / 3.0;
    /// The proposed read-ahead: four times the default, what distributions set for disks that stream.
    pub const PROPOSED: Bytes = Bytes(512 << 10);
    /// For readers that take turns: 4 MiB are read in 20 ms at 200 MB/s, more than the 8 ms of a seek (data sheets).
    pub const IN_TURN: Bytes = Bytes(4 << 20);
    /// What a rotating disk reads in order at the inside of its platters, and more outside (data sheets: 100 to 280 MB/s).
    pub const DISK_BYTES_A_SECOND: u64 = 100_000_000;
}

/// Thresholds of `larger_reads`.
pub mod larger_reads {
    use super::Bytes;

    /// The proposed read-ahead: what AWS recommends for volumes on a network that stream (EBS, "Increase read-ahead for high-throughput,
    /// read-heavy workloads").
    pub const PROPOSED: Bytes = Bytes(1 << 20);
    /// A read of so much takes hardly longer than one of a page: 33 us at 500 MB/s (SATA).
    pub const SMALL: Bytes = Bytes(16 << 10);
    /// Fewer small reads have no mean.
    pub const LEAST_SMALL: u64 = 3;
    /// If small reads take less than this part of the time of large ones, the bytes are most of it.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `read_ahead_waste`.
pub mod read_ahead_waste {
    /// This many times what was asked for is waste; read-ahead that is used comes to about one.
    pub const MUCH_MORE: f64 = 2.0;
    /// Most of what the device read must have been read ahead.
    pub const MOSTLY_AHEAD: f64 = 0.5;
    /// The least that can be read of a file, in bytes: a page (arch/x86/include/asm/page_types.h).
    pub const PAGE: u64 = 4096;
}

/// Thresholds of `writeback_flood`.
pub mod writeback_flood {
    /// Under a flood requests must take at least this many times as long as without, else the flood is not the reason.
    pub const MIN_SLOWDOWN: f64 = 2.0;
    /// If too few requests were issued into a flood to compare, the flood must have at least this part of the slow ones' time.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `scheduler_starvation`.
pub mod scheduler_starvation {
    /// At least this part of the scheduler's time must be that of operations that were overtaken.
    pub const MOSTLY: f64 = 0.5;
}

/// Thresholds of `scheduler_throttle`.
pub mod scheduler_throttle {
    /// The quantile of latencies by which kyber judges whether a kind meets its target (`kyber_timer_fn`); here also that of requests in flight.
    pub const JUDGED: f64 = 0.9;
    /// From this part of its capacity on the device is full: the last few tags are shared with others.
    pub const FULL: f64 = 0.9;
}
