//! One record: a header of 48 bytes (version 7) or 64 (version 8) and a payload.
//!
//! Layout from include/uapi/linux/blktrace_api.h, `struct blk_io_trace` and `struct blk_io_trace2`:
//!
//! | field | v7 | v8 |
//! |---|---|---|
//! | magic, 0x65617400 + version | 0 | 0 |
//! | sequence, per CPU and device | 4 | 4 |
//! | time, ns | 8 | 8 |
//! | sector | 16 | 16 |
//! | bytes | 24 | 24 |
//! | action: low 16 bits what, above them the category | 28 (32 bits) | 32 (64 bits) |
//! | pid | 32 | 28 |
//! | device | 36 | 40 |
//! | cpu | 40 | 44 |
//! | error | 44 (16 bits) | 48 |
//! | payload length | 46 (16 bits) | 50 |
//!
//! Integers are in the byte order of the recording machine, which the magic shows. The payloads of `X`, `U` and `A`
//! are big-endian on every machine. An action with bit 8 set has the 8-byte id of a cgroup before its
//! payload (`__BLK_TA_CGROUP`, since Linux 4.14).

use crate::event::{Action, Batch, Detail, Event, Flags};
use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid};

const MAGIC: u32 = 0x6561_7400;
const CGROUP_TAG: u16 = 1 << 8;
const CGROUP_ID_BYTES: usize = 8;

/// Byte order and version of a record: its magic, with the four bytes read as little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout(u32);

/// The fields needed to step from record to record and to sort records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Byte order and version.
    pub layout: Layout,
    /// Timestamp.
    pub time: Nanos,
    /// Length of header and payload in bytes.
    pub len: usize,
}

/// Longest possible record: a version 8 header and a payload of 65535 bytes.
pub const MAX_RECORD: usize = 64 + 0xffff;

/// Whether a file with this start may be a blktrace file (of any version, supported or not).
pub fn looks_like(start: &[u8]) -> bool {
    Layout::detect(start).is_some()
}

impl Layout {
    /// The layout of nearly all recordings: little-endian, version 7.
    const USUAL: Layout = Layout(MAGIC | 7);

    /// Reads the magic; `None` if the bytes do not start with it.
    #[inline]
    pub fn detect(bytes: &[u8]) -> Option<Layout> {
        let little = u32::from_le_bytes(*bytes.first_chunk()?);
        let is_magic = |n: u32| n & 0xffff_ff00 == MAGIC;
        (is_magic(little) || is_magic(little.swap_bytes())).then_some(Layout(little))
    }

    #[inline]
    fn big_endian(self) -> bool {
        self.0 & 0xffff_ff00 != MAGIC
    }

    /// The version of the format; 7 and 8 are supported.
    #[inline]
    pub fn version(self) -> u8 {
        if self.big_endian() {
            (self.0 >> 24) as u8
        } else {
            self.0 as u8
        }
    }

    #[inline]
    fn header_len(self) -> Option<usize> {
        match self.version() {
            7 => Some(48),
            8 => Some(64),
            _ => None,
        }
    }

    #[inline]
    fn u16(self, b: &[u8], at: usize) -> u16 {
        let raw = [b[at], b[at + 1]];
        if self.big_endian() {
            u16::from_be_bytes(raw)
        } else {
            u16::from_le_bytes(raw)
        }
    }

    #[inline]
    fn u32(self, b: &[u8], at: usize) -> u32 {
        let raw: [u8; 4] = b[at..at + 4].try_into().expect("four bytes");
        if self.big_endian() {
            u32::from_be_bytes(raw)
        } else {
            u32::from_le_bytes(raw)
        }
    }

    #[inline]
    fn u64(self, b: &[u8], at: usize) -> u64 {
        let raw: [u8; 8] = b[at..at + 8].try_into().expect("eight bytes");
        if self.big_endian() {
            u64::from_be_bytes(raw)
        } else {
            u64::from_le_bytes(raw)
        }
    }
}

/// Content at the start of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Peek {
    /// A complete record.
    Record(Header),
    /// The start of a record; this many bytes are needed to continue.
    Short(usize),
    /// Not a record.
    Garbage,
}

/// Examines the record at the start of `bytes` without decoding it.
#[inline]
pub fn peek(bytes: &[u8]) -> Peek {
    if bytes.len() < 4 {
        return Peek::Short(4);
    }
    match Layout::detect(bytes) {
        Some(Layout::USUAL) => peek_as(Layout::USUAL, bytes),
        Some(other) => peek_as(other, bytes),
        None => Peek::Garbage,
    }
}

#[inline(always)]
fn peek_as(layout: Layout, bytes: &[u8]) -> Peek {
    let Some(head) = layout.header_len() else { return Peek::Garbage };
    if bytes.len() < head {
        return Peek::Short(head);
    }
    let payload_at = if layout.version() == 7 { 46 } else { 50 };
    let len = head + layout.u16(bytes, payload_at) as usize;
    if bytes.len() < len {
        return Peek::Short(len);
    }
    Peek::Record(Header { layout, time: Nanos(layout.u64(bytes, 8)), len })
}

/// Decodes the record that [`peek`] found at the start of `bytes`. Its text is stored in `batch`; the event is only returned.
#[inline(always)]
pub fn decode(header: &Header, bytes: &[u8], batch: &mut Batch) -> Event {
    let record = &bytes[..header.len];
    if header.layout == Layout::USUAL && record.len() == 48 {
        let (what, flags) = kind(Layout::USUAL, record);
        if let (Some(action), false) = (KINDS.get(what as usize), flags.has(Flags::NOTE)) {
            // The most frequent case: a known action without a payload.
            return event(Layout::USUAL, record, flags, *action, Detail::None, 0);
        }
    }
    decode_any(header.layout, record, batch)
}

#[inline(never)]
fn decode_any(l: Layout, record: &[u8], batch: &mut Batch) -> Event {
    let (what, flags) = kind(l, record);
    let payload = &record[if l.version() == 7 { 48 } else { 64 }..];
    let (action, detail, cgroup) = meaning(what, flags, l, payload, batch);
    event(l, record, flags, action, detail, cgroup)
}

/// The action code and the category bits of a record.
#[inline(always)]
fn kind(l: Layout, record: &[u8]) -> (u16, Flags) {
    let action = if l.version() == 7 { l.u32(record, 28) as u64 } else { l.u64(record, 32) };
    (action as u16, Flags((action >> 16) as u32))
}

#[inline(always)]
fn event(l: Layout, record: &[u8], flags: Flags, action: Action, detail: Detail, cgroup: u64) -> Event {
    let [tid, dev, cpu, error] = if l.version() == 7 { [32, 36, 40, 44] } else { [28, 40, 44, 48] };
    Event {
        time: Nanos(l.u64(record, 8)),
        sector: Sector(l.u64(record, 16)),
        bytes: Bytes(l.u32(record, 24) as u64),
        cgroup,
        dev: DevId(l.u32(record, dev)),
        tid: Tid(l.u32(record, tid)),
        cpu: Cpu(l.u32(record, cpu)),
        sequence: l.u32(record, 4),
        error: l.u16(record, error),
        flags,
        action,
        detail,
    }
}

/// Actions by code (`enum blktrace_act`); code 0 is unused.
const KINDS: [Action; 21] = [
    Action::Other(0),
    Action::Queue,
    Action::BackMerge,
    Action::FrontMerge,
    Action::Get,
    Action::SleepForRequest,
    Action::Requeue,
    Action::Issue,
    Action::Complete,
    Action::Plug,
    Action::Unplug,
    Action::UnplugImplicit,
    Action::Insert,
    Action::Split,
    Action::Bounce,
    Action::Remap,
    Action::Abort,
    Action::DriverData,
    Action::ZonePlug,
    Action::ZoneUnplug,
    Action::ZoneManage,
];

/// The action, the payload as a detail, and the cgroup id (0 if there is none).
fn meaning(
    what: u16,
    flags: Flags,
    l: Layout,
    mut payload: &[u8],
    batch: &mut Batch,
) -> (Action, Detail, u64) {
    let mut cgroup = 0;
    if what & CGROUP_TAG != 0 && payload.len() >= CGROUP_ID_BYTES {
        cgroup = l.u64(payload, 0);
        payload = &payload[CGROUP_ID_BYTES..];
    }
    let what = what & !CGROUP_TAG;
    if flags.has(Flags::NOTE) {
        let (action, detail) = note(what, l, payload, batch);
        return (action, detail, cgroup);
    }
    let action = KINDS.get(what as usize).copied().unwrap_or(Action::Other(what));
    if payload.is_empty() {
        return (action, Detail::None, cgroup);
    }
    let detail = match action {
        Action::Split if payload.len() >= 8 => Detail::Split(Sector(big64(payload))),
        Action::Unplug | Action::UnplugImplicit if payload.len() >= 8 => Detail::Requests(big64(payload)),
        // struct blk_io_trace_remap: device_from, device_to, sector_from. The event's own device and sector
        // are the target of the mapping.
        Action::Remap if payload.len() >= 16 => Detail::Remap {
            dev: DevId(u32::from_be_bytes(payload[..4].try_into().expect("four bytes"))),
            sector: Sector(big64(&payload[8..])),
        },
        _ => batch.store(payload),
    };
    (action, detail, cgroup)
}

/// Notes (`enum blktrace_notify`): 0 names a task, 1 is the wall clock, 2 is a message.
fn note(what: u16, l: Layout, payload: &[u8], batch: &mut Batch) -> (Action, Detail) {
    match what {
        0 => {
            let end = payload.iter().position(|&b| b == 0).unwrap_or(payload.len());
            (Action::TaskName, batch.store(&payload[..end]))
        }
        1 if payload.len() >= 8 => {
            (Action::WallClock, Detail::Wall { seconds: l.u32(payload, 0), nanos: l.u32(payload, 4) })
        }
        2 => (Action::Message, batch.store(payload)),
        other => (Action::Other(other), if payload.is_empty() { Detail::None } else { batch.store(payload) }),
    }
}

fn big64(b: &[u8]) -> u64 {
    u64::from_be_bytes(b[..8].try_into().expect("eight bytes"))
}
