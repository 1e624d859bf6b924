//! The results of a simulation, and how long it runs.

/// A completed request. Times are in nanoseconds from the beginning of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// The class: [`life::Class::index`].
    pub class: u8,
    /// The time when it was queued.
    pub queued: u64,
    /// The time when it entered the scheduler.
    pub inserted: u64,
    /// The time when it was issued to the device.
    pub issued: u64,
    /// The time when its data was completed.
    pub data: u64,
    /// The time when all of it was completed.
    pub completed: u64,
    /// Its size in bytes.
    pub bytes: u32,
    /// Index of its stream, and of its item in the stream.
    pub from: (u32, u32),
    /// Whether it joined a request that waited in the scheduler.
    pub joined: bool,
}

/// Decides when a run ends: after the recorded time, or after the recorded work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// The recorded time: streams that ran until the end begin again when they are through, like services and benchmarks with a runtime.
    #[default]
    Time,
    /// The recorded work, for up to twenty times the recorded time.
    Amount,
}
