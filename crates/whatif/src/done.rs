//! What a simulation gives: a request that was completed; and how long it goes on.

/// A request that was completed. Times in nanoseconds from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// [`life::Class::index`].
    pub class: u8,
    /// When it was queued.
    pub queued: u64,
    /// When it was in the scheduler.
    pub inserted: u64,
    /// When it went to the device.
    pub issued: u64,
    /// When its data was done.
    pub data: u64,
    /// When all was done.
    pub completed: u64,
    /// The size in bytes.
    pub bytes: u32,
    /// Which stream and item it was.
    pub from: (u32, u32),
    /// Whether it joined another one that waited in the scheduler.
    pub joined: bool,
}

/// Whether a run lasts as long as the recording did, or does what the recording did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// As long: streams that are through begin again if they went on to the end. What benchmarks with a runtime and services do.
    #[default]
    Time,
    /// As much: however long that takes, up to twenty times as long.
    Amount,
}
