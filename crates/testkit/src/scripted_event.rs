//! One event of a script, with its text.

use std::fmt;
use trace::{DevId, Event};

/// The disk of events without `dev=`.
pub const DISK: DevId = DevId(8 << 20);

/// One event with its text.
#[derive(Clone, PartialEq, Eq)]
pub struct ScriptedEvent {
    /// The event; a text's position in it refers to `text`.
    pub event: Event,
    /// Text of the event: a name or a message.
    pub text: Vec<u8>,
}

/// Similar to a script's line, because property tests print whole scripts.
impl fmt::Debug for ScriptedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.event;
        let (time, act, sectors) = (e.time.0, e.action, e.bytes.sectors());
        write!(
            f,
            "{time}ns {act:?} {:#x} {}+{sectors} ({} B) {:?}",
            e.flags.0, e.sector.0, e.bytes.0, e.detail
        )?;
        write!(f, " dev={} cpu={} tid={}", e.dev, e.cpu.0, e.tid.0)
    }
}
