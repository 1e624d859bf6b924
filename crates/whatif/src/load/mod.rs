//! Loads: streams of I/O that react to how fast they are served.
//!
//! A recording has times of arrival, but under another setting I/O would arrive at other times: a task that reads one block after
//! the other requests the next when the previous one is there. So a load consists of streams, and each item of a stream has the
//! condition for being queued: the item before it has a tag ([`Wait::Got`]), or the number of the stream's items in flight
//! is low enough ([`Wait::Below`]); and the delay after that.
//!
//! **Invariant**: served as in the recording, every stream of closed or open kind queues each item at the recorded time.

mod infer;
mod pace;
mod split;

pub use infer::infer;
pub(crate) use pace::median;

use serde::Serialize;

/// The condition for an item to be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Wait {
    /// The item before it has a tag.
    Got,
    /// In addition, fewer than this many items of its stream are in flight.
    Below(u32),
}

/// One I/O of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The condition for being queued.
    pub wait: Wait,
    /// Nanoseconds from the condition until it is queued.
    pub gap: u64,
    /// Its first sector.
    pub sector: u64,
    /// Its size in bytes.
    pub bytes: u32,
    /// Whether it is a write.
    pub write: bool,
    /// Whether a task waits for it (`op_is_sync`).
    pub sync: bool,
    /// The class: [`life::Class::index`].
    pub class: u8,
    /// Whether the device's cache is flushed before it.
    pub preflush: bool,
    /// Whether the device's cache is flushed after it.
    pub postflush: bool,
}

impl Item {
    /// The first sector after it.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.bytes / 512)
    }
}

/// The arrival pattern of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Pace"))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// A fixed number in flight: the next one follows a completion.
    Closed {
        /// Number of items in flight.
        depth: u32,
    },
    /// One at a time, each not before its turn.
    Paced {
        /// Nanoseconds between turns.
        period: u64,
        /// Whether missed turns are caught up.
        catches_up: bool,
    },
    /// Bursts: the first item of a burst follows the completion of the burst before.
    Bursts,
    /// The next item follows as soon as the last one has a tag, whatever is in flight: writeback.
    Open,
}

/// A sequence of I/Os that depend on one another.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The tasks it belongs to, at most three. Example: `fio (1234)`.
    pub name: String,
    /// Its arrival pattern.
    pub kind: Kind,
    /// The time when the first item is queued, in nanoseconds from the beginning.
    pub first: u64,
    /// Its items in order.
    pub items: Vec<Item>,
    /// Whether it continued until the end of the recording: if it is through earlier, it begins again. A task that read one
    /// block does not read it again and again.
    pub goes_on: bool,
    /// Whether it waited for tags with other items in flight: how many it would have with more tags is unknown.
    pub waits_for_tags: bool,
    /// The evidence for the kind, in words.
    pub support: String,
}

/// All I/O of a recording, as streams.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// The streams.
    pub streams: Vec<Stream>,
    /// The length of the recording, in nanoseconds.
    pub span: u64,
    /// Nanoseconds from being queued to being in the scheduler: the kernel's own time.
    pub overhead: u64,
}

impl Load {
    /// Number of items in all streams.
    pub fn len(&self) -> usize {
        self.streams.iter().map(|s| s.items.len()).sum()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Kind {
    /// A description in words. Example: `4 in flight`.
    pub fn words(&self) -> String {
        match self {
            Kind::Closed { depth: 1 } => "one at a time".into(),
            Kind::Closed { depth } => format!("{depth} in flight"),
            Kind::Paced { period, catches_up } => {
                let late = if *catches_up { ", makes up for delays" } else { "" };
                format!("one every {:.1} ms{late}", *period as f64 / 1e6)
            }
            Kind::Bursts => "bursts, each after the one before".into(),
            Kind::Open => "goes on without waiting for completions".into(),
        }
    }
}
