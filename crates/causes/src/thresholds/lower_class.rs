//! How long schedulers let requests of one class wait (`device::lower_class`).

/// Default deadlines of reads and writes (`read_expire`, `write_expire`, block/mq-deadline.c).
pub const READ_EXPIRE_MS: u64 = 500;
pub const WRITE_EXPIRE_MS: u64 = 5000;
/// A request whose time is over waits for the batch that is being sent, and for that of others that are late as well: allow as long again.
pub const BATCHES: u64 = 2;
/// The longest turn that BFQ gives a task (`bfq_timeout`, block/bfq-iosched.c: HZ / 8).
pub const TIMEOUT_SYNC_MS: u64 = 125;
