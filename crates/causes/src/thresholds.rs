//! Every threshold of the causes, by the cause that judges by it, each with its source.

mod arrays;
pub mod rate_limit;

pub use arrays::{raid, raid_bitmap, raid_read_modify_write, raid_resync, raid_stripe_cache};
use trace::{Bytes, Nanos};

/// What writeback throttling aims for by default where nothing turns (`wbt_default_latency_nsec`, block/blk-wbt.c).
pub const WBT_FLASH: Nanos = Nanos(2_000_000);

/// The same of a disk that turns.
pub const WBT_DISK: Nanos = Nanos(75_000_000);

/// A device that reads faster than this when it has nothing else to do does not turn, whatever it says: half a turn
/// at 7200 a minute.
pub const HALF_A_TURN: Nanos = Nanos(4_170_000);

/// Of `case`.
pub mod case {
    use super::Nanos;

    /// A cause that explains less than this part of a group's tail is too small to be the cause. A choice without a source: the
    /// judgement of what is worth a word, tried on recordings whose cause is known.
    pub const MIN_SHARE: f64 = 0.1;
    /// A group whose tail has less than this part of the time of all tails is not reported.
    pub const WORTH_A_WORD: f64 = 0.02;
    /// Whoever waited for less than a fiftieth of the recording is not kept waiting. A choice without a source.
    pub const KEPT_WAITING: u64 = 50;
    /// Below this nothing is slow: reading a page of flash takes 50 to 100 us (data sheets of NAND), and what is faster
    /// than that is processor time.
    pub const NOT_SLOW: Nanos = Nanos(100_000);
    /// Percentiles of fewer requests than this say little: a p99 needs a hundred.
    pub const MIN_SAMPLES: u64 = 100;
}

/// Of `cold-reads` and `slow-device`.
pub mod alone {
    use super::Nanos;

    /// From this part on it is the device's own pace and little else.
    pub const MOSTLY: f64 = 0.5;
    /// Flash takes less for a small request alone: three times the 100 us of drives with a SATA link (some 10,000 reads of 4 KiB a
    /// second, one at a time, data sheets).
    pub const FLASH_ALONE: Nanos = Nanos(300_000);
    /// What such a link carries: 6 Gbit/s in code words of ten bits for eight, less its frames.
    pub const FLASH_BYTES_A_SECOND: u64 = 500_000_000;
    /// Of so many requests that found the device empty the others met somebody else's: they were asked for one by one.
    pub const NEARLY_ALL: f64 = 0.9;
}

/// Of `damage`.
pub mod damage {
    /// From this part of damaged events on nothing can be judged: every tenth is missing.
    pub const TOO_DAMAGED: f64 = 0.1;
    /// From this part on findings are less sure: one in a thousand, a tenth of what makes the tail; below it no percentile
    /// that is shown can move by more than its own error.
    pub const DAMAGED: f64 = 0.001;
    /// What was in flight when the recording began is no damage, unless it is so much that half of each life must be
    /// missing from the recording (a mask, a cut).
    pub const BEGAN_BEFORE: f64 = 0.05;
}

/// Of `growth`.
pub mod growth {
    /// A device that works on one request after the other takes twice as long with twice as many; one that takes less
    /// than this much longer with at least twice as many works on them side by side.
    pub const GROWS: f64 = 1.5;
    /// A mean of fewer requests than this is chance.
    pub const MIN_SAMPLES_OF_A_ROW: u64 = 25;
}

/// Of `judge`.
pub mod judge {
    /// What explains less than this part of all that was slow is not why it was: one wait of 50 us beside fsyncs of milliseconds.
    pub const TRIFLE: f64 = 0.01;
}

/// Of `paths`.
pub mod paths {
    /// A wait that was seen is named even where particular causes have claimed most of it, down to this part.
    pub const WORTH_NAMING: f64 = 0.01;
}

/// Of `cgroup_limit`.
pub mod cgroup_limit {
    /// What a limit lets through is counted in slices of a tenth of a second (`DFL_THROTL_SLICE_HD`, block/blk-throttle.c): a second may have one
    /// more or less.
    pub const SLICE: f64 = 0.1;
    /// And two of them half as much on average.
    pub const MEAN: f64 = SLICE / 2.0;
    /// So many whole seconds are no chance.
    pub const ENOUGH: usize = 2;
    /// Nor are so many times at which it let go what it had held: one slice more or less is what [`MEAN`] allows.
    pub const ROUNDS: u64 = 10;
    /// The device may set the pace of a task that waits for it for longer than that.
    pub const BUSY: f64 = 0.5;
}

/// Of `crypt_queue`.
pub mod crypt_queue {
    /// What a sector of a disk has unless it was made with larger ones, in bytes: dm-crypt works on each by itself.
    pub const SMALL_SECTOR: u64 = 512;
}

/// Of `lost_merging`.
pub mod lost_merging {
    use super::Bytes;

    /// From this part of requests that lie beside the one before on, they could have been joined.
    pub const SIDE_BY_SIDE: f64 = 0.7;
    /// Requests of this size gain little by being joined: most devices move as fast with them as with larger ones.
    pub const LARGE_ENOUGH: Bytes = Bytes(64 << 10);
    /// If more of the bios than this were joined, merging works.
    pub const JOINED: f64 = 0.1;
}

/// Of `request_size`.
pub mod request_size {
    use super::Bytes;

    /// Requests of this size are large enough: clouds bill and limit volumes in units of 256 KiB (Amazon EBS, "I/O
    /// characteristics"), and at 1 ms of cost each they are 250 MB/s.
    pub const LARGE_ENOUGH: Bytes = Bytes(256 << 10);
    /// What the kernel allows by itself (`BLK_DEF_MAX_SECTORS`, 2560 sectors, in block/blk-settings.c).
    pub const KERNELS_LIMIT: Bytes = Bytes(1280 << 10);
    /// From this part of the device's time behind others on, requests queue rather than being served side by side.
    pub const IN_LINE: f64 = 0.5;
}

/// Of `tag_exhaustion`.
pub mod tag_exhaustion {
    /// At least this part of the time to get a request must be that of operations that found the device full.
    pub const MOSTLY: f64 = 0.5;
    /// Waits for a request of less than this part of the time are not reported.
    pub const NOT_AT_ALL: f64 = 0.01;
}

/// Of `counters_log_force`.
pub mod counters_log_force {
    /// Differences below this are noise where nothing is said of it.
    pub const NOTABLE: f64 = 0.05;
}

/// Of `counters_raid`.
pub mod counters_raid {
    /// Traffic of two devices is the same if it differs by less.
    pub const SAME: f64 = 0.001;
    /// A read-modify-write reads about as many bytes as it writes; fewer than this part is something else.
    pub const READS_OF_RMW: f64 = 0.5;
    /// The rest must be this part of the array's time.
    pub const NOTABLE: f64 = 0.2;
    /// md's stripe heads by default, each of a page per member (`NR_STRIPES`, drivers/md/raid5.c; Documentation/admin-guide/md.rst).
    pub const DEFAULT_STRIPES: f64 = 256.0;
    /// A stripe cache of which this part is in use is full.
    pub const FULL: f64 = 0.95;
}

/// Of `counters_request_limit`.
pub mod counters_request_limit {
    /// A mean size of this part of the limit is the limit: the last request of a file is smaller.
    pub const AT_LIMIT: f64 = 0.8;
    /// Rates that differ by less are the same.
    pub const SAME_RATE: f64 = 1.05;
}

/// Of `counters_request_size`.
pub mod counters_request_size {
    /// Sizes that differ less are the same.
    pub const SMALLER: f64 = 2.0;
    /// The time of a byte must differ by this to be worth a word.
    pub const DEARER: f64 = 1.3;
    /// Fewer in the queue, and the device may have waited for work.
    pub const BUSY_QUEUE: f64 = 4.0;
}

/// Of `counters_scheduler_starvation`.
pub mod counters_scheduler_starvation {
    /// A wait in the scheduler is starvation from here on: mq-deadline lets reads wait 500 ms at most by default
    /// (`read_expire`, block/mq-deadline.c), and no device is slower for one request.
    pub const STARVED: f64 = 500e6;
}

/// Of `counters_stable_page`.
pub mod counters_stable_page {
    /// The longest must be this many times the p99.99 to be a stall that percentiles do not show.
    pub const STALL: f64 = 100.0;
    /// Its maximum must be this many times that of the other run.
    pub const LONGER: f64 = 4.0;
}

/// Of `counters_writeback_flood`.
pub mod counters_writeback_flood {
    /// The tail beside buffered writes must be this many times the other.
    pub const SLOWER: f64 = 2.0;
    /// While the median is at most this many times the other: else all reads are slower, which is another problem.
    pub const SAME_MEDIAN: f64 = 1.5;
    /// With fewer writes than this part of the reads nothing was written beside them.
    pub const NO_WRITES: f64 = 0.001;
    /// What writeback throttling should aim for, in microseconds: the kernel's default for devices that do not turn
    /// (`wbt_default_latency_nsec`, block/blk-wbt.c).
    pub const TARGET: f64 = (super::WBT_FLASH.0 / 1000) as f64;
    /// Rates that differ by less are about the same.
    pub const ABOUT: f64 = 1.1;
    /// From here on a read of a histogram counts as slow: no device that serves others in under a millisecond needs it.
    pub const SLOW_READ: f64 = 16e6;
}

/// Of `completion_cpu`.
pub mod completion_cpu {
    /// A processor that completes this part of all does so for the others, too.
    pub const MOSTLY: f64 = 0.8;
}

/// Of `cpu_wait`.
pub mod cpu_wait {
    /// Of what was fast processors must have this part.
    pub const MOSTLY: f64 = 0.5;
}

/// Of `device_busy`.
pub mod device_busy {
    use super::Bytes;

    /// A smaller request than this is not made of one that needs many descriptors: 16 pages are 18 of them.
    pub const SMALLEST: Bytes = Bytes(64 << 10);
    /// The factor by which the room for requests grows.
    pub const ROOM: u64 = 8;
}

/// Of `device_saturated`.
pub mod device_saturated {
    /// The fastest requests: those that came while there was room.
    pub const FASTEST: f64 = 0.02;
    /// Half of all completions come within a fifth of the mean distance: of independent ones they would be 0.7 of it apart
    /// (exponential distribution).
    pub const TOGETHER: f64 = 5.0;
    /// The soonest completions after another one: of independent ones a twentieth would come within a twentieth of the mean
    /// distance (exponential distribution); of one after the other none before half of it.
    pub const SOONEST: f64 = 0.05;
    /// From this many in flight on there is a queue: one served, one waiting.
    pub const SEVERAL: f64 = 2.0;

    /// Who sends so much of all requests has the device to itself: nine of ten.
    pub const ALONE: f64 = 0.9;
    /// Where specific causes leave less than this part of the device time, the queue is theirs.
    pub const LEFT: f64 = 0.5;
}

/// Of the loads that measure a device.
pub mod measure {
    /// A queue holds so many requests by default (`BLKDEV_DEFAULT_RQ`, include/linux/blkdev.h).
    pub const MOST_AT_ONCE: u64 = 128;
    /// Where half of them follow the one before, they are in order.
    pub const SEQUENTIAL: f64 = 0.5;
    /// Half of what Linux reads ahead, 128 KiB, because larger pieces cost little more (`VM_READAHEAD_PAGES`, include/linux/mm.h).
    pub const SMALL: trace::Bytes = trace::Bytes(64 << 10);
}

/// Of `device_stall`.
pub mod device_stall {
    /// And longer than any disk that is well takes for one request.
    pub use life::LONGEST_SERVICE as LONG;

    /// A request that takes this many times what half of all take at most is out of the usual: what a disk that turns takes
    /// varies by a factor of 3 (half a turn and a full seek, or none).
    pub const STALLED: f64 = 5.0;
    /// From this part of their time on, requests were passed over rather than in a queue.
    pub const PASSED_OVER: f64 = 0.5;
    /// Requests this many times the mean size are slow for their size.
    pub const LARGER: f64 = 4.0;
}

/// Of `discard_stall`.
pub mod discard_stall {
    /// Fewer requests beside discards are chance.
    pub const ENOUGH: u64 = 5;
    /// From this factor on requests beside discards are slower than others.
    pub const SLOWER: f64 = 2.0;
}

/// Of `healthy`.
pub mod healthy {
    /// From this part of their time on, what another task does is worth acting on: a fifth, what the eye sees at a glance.
    pub const NOT_ITS_OWN: f64 = 0.2;

    use super::Nanos;

    /// What Linux expects of a device without turning parts: the read latency that writeback throttling aims for by
    /// default (`wbt_default_latency_nsec`, block/blk-wbt.c).
    pub const EXPECTED_FLASH: Nanos = super::WBT_FLASH;
    /// The same of a disk that turns.
    pub const EXPECTED_DISK: Nanos = super::WBT_DISK;
    /// One operation in a hundred may exceed what is expected, one in a thousand by this factor.
    pub const OUTLIER: u64 = 10;
}

/// Of `misaligned`.
pub mod misaligned {
    /// Reading first and then writing takes twice as long where both take the same, and a turn of a disk longer. From half way on.
    pub const LONGER: f64 = 1.5;
    /// Fewer of them than this are incidental: the last piece of a file, a superblock.
    pub const HABIT: f64 = 0.05;
}

/// Of `power_state`.
pub mod power_state {
    /// A step that fewer requests show is chance.
    pub const ENOUGH: u64 = 5;
    /// Nine of ten after a long pause take longer than nine of ten others, by this factor.
    pub const STEP: f64 = 2.0;
}

/// Of `durable`.
pub mod durable {
    /// From this part of their time in syncing on, writes sync by themselves: the rest may wait for the file's lock while another one does.
    pub const MUCH: f64 = 1.0 / 3.0;
}

/// Of `journal_space`.
pub mod journal_space {
    /// Fewer commits are no pace.
    pub const SOME: u64 = 10;

    use super::Bytes;

    /// Larger than this is of use to few.
    pub const LARGER: Bytes = Bytes(256 << 20);
}

/// Of `read_ahead_short`.
pub mod read_ahead_short {
    use super::Bytes;

    /// What the kernel reads ahead by default (`VM_READAHEAD_PAGES`, include/linux/mm.h).
    pub const DEFAULT: Bytes = Bytes(128 << 10);
    /// From this part of reads that follow one another on, a task reads in order.
    pub const IN_ORDER: f64 = 0.7;
    /// A task that waited for pages for a third of the recording did little else.
    pub const LITTLE_ELSE: f64 = 1.0 / 3.0;
    /// What is proposed: four times the default, what distributions set for disks that stream.
    pub const PROPOSED: Bytes = Bytes(512 << 10);
    /// For readers that take turns: 4 MiB are read in 20 ms at 200 MB/s, more than the 8 ms of a seek (data sheets).
    pub const IN_TURN: Bytes = Bytes(4 << 20);
}

/// Of `read_ahead_waste`.
pub mod read_ahead_waste {
    /// This many times what was asked for is waste; read-ahead that is used comes to about one.
    pub const MUCH_MORE: f64 = 2.0;
    /// Most of what the device read must have been read ahead.
    pub const MOSTLY_AHEAD: f64 = 0.5;
    /// The least that a file can be read by: a page (arch/x86/include/asm/page_types.h).
    pub const PAGE: u64 = 4096;
}

/// Of `writeback_flood`.
pub mod writeback_flood {
    /// Under a flood requests must be at least this much slower than without, else the flood is not why.
    pub const MIN_SLOWDOWN: f64 = 2.0;
    /// Where too few were issued into a flood to compare them, it must have at least this part of the slow ones' time.
    pub const MOSTLY: f64 = 0.5;
}

/// Of `scheduler_starvation`.
pub mod scheduler_starvation {
    /// At least this part of the scheduler's time must be that of operations that were overtaken.
    pub const MOSTLY: f64 = 0.5;
}

/// Of `scheduler_throttle`.
pub mod scheduler_throttle {
    /// The part of its requests by which kyber judges whether a kind meets its target (`kyber_timer_fn`); so is its room here.
    pub const JUDGED: f64 = 0.9;
    /// From this part of what the device takes at once on it is full: the last few tags are shared with others.
    pub const FULL: f64 = 0.9;
}
