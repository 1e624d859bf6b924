//! Parses an event's layout from the kernel's text `events/SYSTEM/NAME/format`.
//!
//! Field offsets differ between kernels and configurations, so no offset is hard-coded: a field
//! is looked up by name once per trace ([`EventFormat::slot`]) and then read through the [`Slot`].
//!
//! ```text
//! name: block_unplug
//! ID: 2093
//! format:
//!     field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//!     field:int nr_rq;                   offset:8;  size:4;  signed:1;
//!     field:char comm[16];               offset:12; size:16; signed:0;
//!     field:__data_loc char[] cmd;       offset:60; size:4;  signed:0;
//! ```
//!
//! A `__data_loc` field is a 32-bit word: the low half is the offset of the bytes in the record, the high half their number
//! (`__rel_loc`: offset from the end of that word). Source: kernel, include/trace/stages/.

use super::bytes::{until_nul, Order};
use std::sync::OnceLock;

/// How a field's bytes are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One integer.
    #[default]
    Int,
    /// An array inside the record at the field's offset; the number is the size of an element in bytes.
    Array(u32),
    /// An array elsewhere in the record, located by a 32-bit word.
    Elsewhere {
        /// Whether the offset counts from the end of the word instead of the start of the record.
        relative: bool,
    },
}

/// The location of a field. The default is a missing field: it reads as 0 and as no bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Offset of the first byte in the record.
    pub offset: u32,
    /// Size in bytes; 0 for an array that extends to the end of the record (`caller[]`).
    pub size: u32,
    /// Whether the integer is signed.
    pub signed: bool,
    /// How to interpret the bytes.
    pub kind: Kind,
    /// Whether the event has the field.
    pub present: bool,
}

impl Slot {
    /// The integer, sign-extended if it is signed; 0 if it is outside the record.
    #[inline]
    pub fn int(&self, order: Order, data: &[u8]) -> u64 {
        if !self.present {
            return 0;
        }
        let v = order.uint(data, self.offset as usize, self.size as usize).unwrap_or(0);
        if self.signed && self.size < 8 && self.size > 0 {
            let up = 64 - 8 * self.size;
            (((v << up) as i64) >> up) as u64
        } else {
            v
        }
    }

    /// The bytes of an array or integer; empty if they are outside the record.
    #[inline]
    pub fn bytes<'a>(&self, order: Order, data: &'a [u8]) -> &'a [u8] {
        if !self.present {
            return &[];
        }
        let at = self.offset as usize;
        let (start, len) = match self.kind {
            Kind::Elsewhere { relative } => {
                let Some(word) = order.u32(data, at) else { return &[] };
                let base = if relative { at + 4 } else { 0 };
                (base + (word & 0xffff) as usize, (word >> 16) as usize)
            }
            _ if self.size == 0 => (at, data.len().saturating_sub(at)),
            _ => (at, self.size as usize),
        };
        data.get(start..(start + len).min(data.len())).unwrap_or_default()
    }

    /// The text of a character array, without its NUL.
    #[inline]
    pub fn text<'a>(&self, order: Order, data: &'a [u8]) -> &'a [u8] {
        until_nul(self.bytes(order, data))
    }
}

/// A field with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in the declaration.
    pub name: Box<str>,
    /// The declared C type, for arrays without the brackets (`char`, `unsigned long`, `dev_t`).
    pub ctype: Box<str>,
    /// Location and interpretation.
    pub slot: Slot,
}

/// One event's layout. A recording may have thousands, but few occur and fewer are read: fields are parsed on
/// first use.
#[derive(Clone, Debug, Default)]
pub struct EventFormat {
    /// The group it belongs to (`block`, `sched`, `raw_syscalls`, `ftrace`).
    pub system: Box<str>,
    /// The name within the group.
    pub name: Box<str>,
    /// The id in the event's records.
    pub id: u16,
    /// The lines after name and id, without the print format.
    text: Box<[u8]>,
    fields: OnceLock<Result<Vec<Field>, String>>,
}

impl EventFormat {
    /// Parses a `format` text except its fields. An error describes the problem.
    pub fn parse(system: &str, text: &[u8]) -> Result<EventFormat, String> {
        let mut e = EventFormat { system: system.into(), ..EventFormat::default() };
        let mut id = None;
        let mut rest = memchr::memchr(0, text).map_or(text, |end| &text[..end]);
        while !rest.is_empty() && !rest.starts_with(b"format:") {
            let (line, behind) = cut(rest, b'\n').unwrap_or((rest, &[]));
            rest = behind;
            let line = line.trim_ascii();
            if let Some(name) = line.strip_prefix(b"name:") {
                e.name = text_of(name);
            } else if let Some(n) = line.strip_prefix(b"ID:") {
                id = number(n).and_then(|n| u16::try_from(n).ok());
            }
        }
        if e.name.is_empty() {
            return Err("an event format without a name".into());
        }
        e.id = id.ok_or_else(|| format!("event {} has no ID from 0 to 65535", e.name))?;
        // The print format comes last, is long, and is not needed.
        let end = memchr::memmem::find(rest, b"\nprint fmt:").unwrap_or(rest.len());
        e.text = rest[..end].into();
        Ok(e)
    }

    /// Fields in file order, the `common_` ones first. An error describes the problem.
    pub fn fields(&self) -> Result<&[Field], &str> {
        let fields = self.fields.get_or_init(|| {
            let lines = self.text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
            let fields = lines.filter_map(|line| Some((line, line.strip_prefix(b"field:")?)));
            let read = |(line, field): (&[u8], &[u8])| {
                let cannot_read = || format!("cannot read the field \"{}\"", String::from_utf8_lossy(line));
                parse_field(field).ok_or_else(cannot_read)
            };
            fields.map(read).collect()
        });
        fields.as_deref().map_err(String::as_str)
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields().ok()?.iter().find(|f| &*f.name == name)
    }

    /// The location of the first of these names that exists; a missing slot if none does.
    pub fn slot(&self, names: &[&str]) -> Slot {
        names.iter().find_map(|n| self.field(n)).map_or(Slot::default(), |f| f.slot)
    }
}

/// The bytes as text, without blanks around them.
fn text_of(bytes: &[u8]) -> Box<str> {
    let bytes = bytes.trim_ascii();
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes).into(), Box::from)
}

/// Parses a decimal number with blanks around it.
fn number(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.trim_ascii();
    let digit = |d: &u8| d.is_ascii_digit().then(|| u32::from(d - b'0'));
    let add = |n: u32, d: &u8| n.checked_mul(10)?.checked_add(digit(d)?);
    digits.iter().try_fold(0, add).filter(|_| !digits.is_empty())
}

/// The parts before and after the first `at`.
fn cut(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let i = memchr::memchr(at, bytes)?;
    Some((&bytes[..i], &bytes[i + 1..]))
}

/// Parses `unsigned int nr_sector;  offset:24;  size:4;  signed:0;`
fn parse_field(text: &[u8]) -> Option<Field> {
    let mut parts = text.split(|b| *b == b';');
    let declaration = parts.next()?.trim_ascii();
    let mut slot = Slot { present: true, ..Slot::default() };
    for part in parts {
        let part = part.trim_ascii_start();
        if let Some(value) = part.strip_prefix(b"offset:") {
            slot.offset = number(value)?;
        } else if let Some(value) = part.strip_prefix(b"size:") {
            slot.size = number(value)?;
        } else if let Some(value) = part.strip_prefix(b"signed:") {
            slot.signed = value.trim_ascii() == b"1";
        }
    }
    let (declaration, elsewhere) = match cut(declaration, b' ') {
        Some((b"__data_loc", rest)) => (rest, Some(false)),
        Some((b"__rel_loc", rest)) => (rest, Some(true)),
        _ => (declaration, None),
    };
    // `char rwbs[10]`, `__data_loc char[] cmd`, `const char * name`, `unsigned long caller[8]`
    let (head, bracket) = match cut(declaration, b'[') {
        Some((head, rest)) => (head, Some(rest)),
        None => (declaration, None),
    };
    let after = bracket.and_then(|b| cut(b, b']')).map_or(&[][..], |x| x.1).trim_ascii();
    let (ctype, name) = if after.is_empty() {
        let last = head.iter().rposition(|b| b.is_ascii_whitespace() || *b == b'*');
        last.map_or((&[][..], head), |at| (&head[..at], &head[at + 1..]))
    } else {
        (head, after)
    };
    let (ctype, name) = (text_of(ctype), text_of(name));
    let pointer = head.contains(&b'*');
    slot.kind = match (elsewhere, bracket) {
        (Some(relative), _) => Kind::Elsewhere { relative },
        (None, Some(b)) if !pointer || !after.is_empty() => {
            let n = b.split(|b| *b == b']').next().and_then(number).unwrap_or(0);
            let element = slot.size.checked_div(n).filter(|&s| s > 0);
            Kind::Array(element.unwrap_or_else(|| size_of_type(&ctype)))
        }
        _ => Kind::Int,
    };
    if name.is_empty() || slot.offset > MAX_RECORD || slot.size > MAX_RECORD {
        return None;
    }
    Some(Field { name, ctype, slot })
}

/// Limit on offsets and sizes: the largest sub-buffer (128 pages of 64 KiB, kernel/trace/ring_buffer.c).
const MAX_RECORD: u32 = 8 << 20;

/// The size of an element if the array's length is unknown; 0 stands for "the machine's long".
fn size_of_type(ctype: &str) -> u32 {
    match ctype {
        "char" | "u8" | "unsigned char" | "__u8" => 1,
        "short" | "u16" | "unsigned short" | "__u16" => 2,
        "int" | "u32" | "unsigned int" | "unsigned" | "__u32" => 4,
        "u64" | "__u64" | "unsigned long long" | "long long" => 8,
        _ => 0,
    }
}

/// The layouts of all events of a trace, found by the id in the record.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    events: Vec<EventFormat>,
    /// By id: index into `events` plus 1; 0 if unknown. Its length grows to the largest id.
    by_id: Vec<u16>,
    /// Location of the event id, the same in all formats of a kernel.
    id: Slot,
    /// Location of the thread id.
    tid: Slot,
    /// Location of the flags that tell whether the CPU was in an interrupt.
    flags: Slot,
}

impl Formats {
    /// Adds a layout. If two have the same id, the first is kept (trace-cmd stores `ftrace` events twice).
    pub fn add(&mut self, event: EventFormat) {
        let id = event.id as usize;
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, 0);
        }
        if self.by_id[id] != 0 || self.events.len() >= u16::MAX as usize - 1 {
            return;
        }
        if !self.id.present {
            self.id = event.slot(&["common_type"]);
            self.tid = event.slot(&["common_pid"]);
            self.flags = event.slot(&["common_flags"]);
        }
        self.events.push(event);
        self.by_id[id] = self.events.len() as u16;
    }

    /// Errors of layouts that were used and are invalid, with their index. An invalid layout is no reason to reject
    /// the others.
    pub fn broken(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let wrong = |e: &EventFormat| match e.fields.get() {
            Some(Err(what)) => Some(format!("the format of {}: {what}", e.name)),
            _ => None,
        };
        self.events.iter().enumerate().filter_map(move |(i, e)| Some((i, wrong(e)?)))
    }

    /// The event of a record, as an index into [`Formats::events`]; an error has the unknown id.
    #[inline]
    pub fn index_of(&self, order: Order, record: &[u8]) -> Result<usize, u16> {
        let id = self.id.int(order, record) as u16;
        match self.by_id.get(id as usize) {
            Some(&n) if n > 0 => Ok(n as usize - 1),
            _ => Err(id),
        }
    }

    /// The thread that was running when the record was written.
    #[inline]
    pub fn tid(&self, order: Order, record: &[u8]) -> u32 {
        self.tid.int(order, record) as u32
    }

    /// `common_flags` of a record (include/linux/trace_events.h).
    #[inline]
    pub fn flags(&self, order: Order, record: &[u8]) -> u8 {
        self.flags.int(order, record) as u8
    }

    /// All layouts, in the order in which they were added.
    pub fn events(&self) -> &[EventFormat] {
        &self.events
    }

    /// The layout with this group and name.
    pub fn find(&self, system: &str, name: &str) -> Option<&EventFormat> {
        self.events.iter().find(|e| &*e.system == system && &*e.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:const char * who;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:24;\tsize:10;\tsigned:0;\n\
        \tfield:__data_loc char[] cmd;\toffset:36;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned long caller[];\toffset:40;\tsize:0;\tsigned:0;\n\nprint fmt: \"field:no;\"\n";

    #[test]
    fn fields_of_every_kind() {
        let e = EventFormat::parse("block", TEXT.as_bytes()).unwrap();
        assert_eq!((&*e.name, e.id, e.fields().unwrap().len()), ("block_rq_issue", 2104, 7));
        assert_eq!(e.field("who").unwrap().slot.kind, Kind::Int);
        assert_eq!(e.field("rwbs").unwrap().slot.kind, Kind::Array(1));
        assert_eq!(e.field("cmd").unwrap().slot.kind, Kind::Elsewhere { relative: false });
        assert_eq!(e.field("caller").unwrap().slot.kind, Kind::Array(0));
        assert_eq!(&*e.field("caller").unwrap().ctype, "unsigned long");
        assert!(!e.slot(&["absent"]).present);
    }

    #[test]
    fn values_and_lying_words() {
        let e = EventFormat::parse("block", TEXT.as_bytes()).unwrap();
        let mut data = vec![0u8; 48];
        data[4..8].copy_from_slice(&(-1i32).to_le_bytes());
        data[24..27].copy_from_slice(b"WS\0");
        data[36..40].copy_from_slice(&(40u32 | 3 << 16).to_le_bytes());
        data[40..43].copy_from_slice(b"ab\0");
        let o = Order::Little;
        assert_eq!(e.slot(&["common_pid"]).int(o, &data) as i64, -1);
        assert_eq!(e.slot(&["rwbs"]).text(o, &data), b"WS");
        assert_eq!(e.slot(&["cmd"]).text(o, &data), b"ab");
        assert_eq!(e.slot(&["caller"]).bytes(o, &data).len(), 8);
        data[36..40].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(e.slot(&["cmd"]).text(o, &data), b"");
    }

    #[test]
    fn broken_texts_are_refused() {
        for bad in ["", "name: x\n", "name: x\nID: 70000\n"] {
            assert!(EventFormat::parse("s", bad.as_bytes()).is_err(), "{bad:?}");
        }
        let bad = "name: x\nID: 1\nformat:\n\tfield:int a;\toffset:z;\n";
        let mut formats = Formats::default();
        formats.add(EventFormat::parse("s", bad.as_bytes()).unwrap());
        let (at, said) = formats.broken().next().unwrap();
        assert!(at == 0 && said.starts_with("the format of x: cannot read the field"), "{said:?}");
    }
}
