//! Loads: streams of I/O that react to how fast they are served.
//!
//! A recording has times of arrival, but under another setting I/O would arrive at other times: who reads one block after
//! the other asks for the next when the last is there. So a load is kept as streams, and each item of a stream says what
//! must have happened before it is queued: the item before it has a tag ([`Wait::Got`]), or so few of the stream are
//! left in flight ([`Wait::Below`]); and how long after that it came.
//!
//! **Invariant**: served as in the recording, every stream of closed or open kind queues each item at the recorded time.

mod infer;
mod pace;
mod split;

pub use infer::infer;
pub(crate) use pace::median;

use serde::Serialize;

/// What an item waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Wait {
    /// That the one before it has a tag.
    Got,
    /// That besides, fewer than so many of its stream are in flight.
    Below(u32),
}

/// An I/O of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// What it waits for.
    pub wait: Wait,
    /// Nanoseconds from then until it is queued.
    pub gap: u64,
    /// Where, in sectors.
    pub sector: u64,
    /// The size in bytes.
    pub bytes: u32,
    /// To the device.
    pub write: bool,
    /// Whether a task waits for it (`op_is_sync`).
    pub sync: bool,
    /// [`life::Class::index`].
    pub class: u8,
    /// The cache is emptied before it.
    pub preflush: bool,
    /// The cache is emptied after it.
    pub postflush: bool,
}

impl Item {
    /// Where it ends, in sectors.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.bytes / 512)
    }
}

/// How a stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Pace"))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// So many in flight: the next one follows a completion.
    Closed {
        /// The number in flight.
        depth: u32,
    },
    /// One at a time, each not before its turn.
    Paced {
        /// Nanoseconds from turn to turn.
        period: u64,
        /// Whether missed turns are caught up.
        catches_up: bool,
    },
    /// Bursts: the first of each follows the completion of the burst before it.
    Bursts,
    /// Continues as soon as the last one has a tag, whatever is in flight: writeback.
    Open,
}

/// A stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The task it belongs to.
    pub name: String,
    /// Its arrival pattern.
    pub kind: Kind,
    /// When the first item is queued, in nanoseconds from the beginning.
    pub first: u64,
    /// Its items.
    pub items: Vec<Item>,
    /// Whether it still went on when the recording ended: if it is through earlier, it begins again. A task that read one
    /// block does not read it again and again.
    pub goes_on: bool,
    /// Whether it waited for tags with others of its own in flight: how many it would have with more tags is not known.
    pub waits_for_tags: bool,
    /// What speaks for the kind, in words.
    pub support: String,
}

/// What the device is asked for.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// All streams.
    pub streams: Vec<Stream>,
    /// How long it lasted, in nanoseconds.
    pub span: u64,
    /// From being queued to being in the scheduler: the kernel's own time.
    pub overhead: u64,
}

impl Load {
    /// Items in all.
    pub fn len(&self) -> usize {
        self.streams.iter().map(|s| s.items.len()).sum()
    }

    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Kind {
    /// In words.
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
