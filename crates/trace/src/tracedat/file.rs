//! The common parts of trace.dat versions 6 and 7: the header, the texts, the facts, the options.
//!
//! Both begin `17 08 44 "tracing" VERSION 00 ORDER LONG PAGE`; version 6 continues in a fixed
//! order ([`v6`](super::v6)), version 7 has sections that options point to ([`v7`](super::v7)). Both fill
//! one [`Contents`]. Source: trace-cmd's manual pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).

use super::bytes::{until_nul, Order};
use super::clock::Clock;
use super::compress::Codec;
use super::format::{EventFormat, Formats};
use super::page::{PageLayout, MAX_PAGE};
use super::section::{DatFile, Section};
use super::strings::Strings;
use super::{v6, v7};
use crate::error::Error;
use std::path::Path;
use units::Cpu;

/// The first ten bytes of every trace.dat.
pub const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// More processors than any kernel can be built for (`NR_CPUS` of at most 8192).
pub const MAX_CPUS: u32 = 8192;

/// Facts in a trace.dat about itself and the machine that recorded it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Format version 6 or 7; 0 for raw pages.
    pub version: u8,
    /// Byte order of the recorded machine.
    pub order: Order,
    /// Output of `uname`: "Linux HOST RELEASE MACHINE".
    pub uname: Option<String>,
    /// Name of the clock of event times (`local`, `mono`, ...).
    pub clock: Option<String>,
    /// Number of processors of the machine.
    pub cpus: u32,
    /// Names of the tracing instances; the top instance comes first, its name is empty.
    pub buffers: Vec<String>,
    /// Version of the trace-cmd that wrote it.
    pub tool: Option<String>,
    /// Nanoseconds to add to an event's time for the time since 1970 (`trace-cmd record --date`).
    pub wall_offset: Option<i64>,
    /// The kernel's statistics per CPU at the end of the recording (`per_cpu/cpuN/stats`).
    pub cpu_stats: String,
}

impl Facts {
    /// The machine's host name, second word of `uname`.
    pub fn hostname(&self) -> Option<&str> {
        self.uname.as_deref()?.split(' ').nth(1)
    }

    /// The kernel's release, third word of `uname`.
    pub fn kernel(&self) -> Option<&str> {
        self.uname.as_deref()?.split(' ').nth(2)
    }

    /// The machine type as in `uname -m`: the fourth word of trace-cmd's `uname -snrm`. Early recordings of
    /// iowhy have the kernel's version there (`#1 SMP`); then the last word that is a known machine type.
    pub fn machine(&self) -> Option<&str> {
        let words: Vec<&str> = self.uname.as_deref()?.split_whitespace().collect();
        let known = words.iter().rev().find(|w| crate::syscall::Calls::of_machine(w).is_some());
        known.or(words.get(3).filter(|w| !w.starts_with('#'))).copied()
    }

    /// Number of events that the kernel says it overwrote or dropped, from the statistics at the end.
    pub fn overrun(&self) -> u64 {
        self.cpu_stats
            .lines()
            .filter_map(|l| l.split_once(':'))
            .filter(|(key, _)| matches!(key.trim(), "overrun" | "commit overrun" | "dropped events"))
            .filter_map(|(_, n)| n.trim().parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    }
}

/// The location of one CPU's pages.
#[derive(Clone, Debug)]
pub struct Region {
    /// The CPU that recorded them.
    pub cpu: Cpu,
    /// Index into [`Facts::buffers`].
    pub buffer: u16,
    /// The file that contains them.
    pub input: DatFile,
    /// Offset of the first byte in that file.
    pub offset: u64,
    /// Size in bytes, limited to what the file has.
    pub size: u64,
    /// Whether the file ends before the region does.
    pub cut: bool,
    /// Layout of the pages.
    pub layout: PageLayout,
    /// Compression of the pages, which is in chunks.
    pub codec: Codec,
}

impl Region {
    /// A file that consists of one CPU's pages only; `None` if it is empty.
    pub fn of_file(cpu: Cpu, input: DatFile, layout: PageLayout) -> Option<Region> {
        let size = input.size;
        let codec = Codec::None;
        (size > 0).then_some(Region { cpu, buffer: 0, input, offset: 0, size, cut: false, layout, codec })
    }
}

/// All of a file except the events.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Facts about the recording.
    pub facts: Facts,
    /// The layouts of all events.
    pub formats: Formats,
    /// The locations of the CPUs' pages.
    pub regions: Vec<Region>,
    /// Layout of pages, if the file has it even without pages (version 6).
    pub layout: Option<PageLayout>,
    /// Location of the kernel's symbols.
    pub kallsyms: Option<SymbolText>,
    /// Names of tasks at the end of the recording, "TID NAME" per line.
    pub cmdlines: Vec<u8>,
    /// Texts in kernel memory that fields point to.
    pub strings: Strings,
    /// Conversion of event times to nanoseconds.
    pub clock: Clock,
    /// Remarks about damage and oddities.
    pub notes: Vec<String>,
    /// Whether the file ends before the pages of some CPU begin.
    pub lacks_cpus: bool,
}

impl Contents {
    /// Adds a remark; at most `MAX_NOTES` are kept.
    pub fn note(&mut self, words: String) {
        const MAX_NOTES: usize = 50;
        if self.notes.len() < MAX_NOTES {
            self.notes.push(words);
        }
    }
}

/// Location of the text of /proc/kallsyms. It is large and only stacks need it, so it is not read in advance.
#[derive(Clone, Debug)]
pub enum SymbolText {
    /// A u32 size, then the text; both may be compressed.
    Sized(Section, Codec),
    /// The text alone, uncompressed.
    Plain(Section),
}

impl SymbolText {
    /// Reads the text.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        match self.clone() {
            SymbolText::Plain(mut s) => s.take(s.left() as usize),
            SymbolText::Sized(s, codec) => {
                let mut s = if codec == Codec::None { s } else { s.unpack(codec)? };
                let size = s.u32()?;
                s.take(size as usize)
            }
        }
    }
}

/// The parsed header.
pub struct Head {
    /// The file after the header.
    pub rest: Section,
    /// Page size of the machine in bytes.
    pub page_size: u32,
}

/// Reads all of a trace.dat except its events.
pub fn read(path: &Path) -> Result<Contents, Error> {
    let input = DatFile::open(path)?;
    let mut contents = Contents::default();
    let not = |what: &str| Error::NotATrace { path: path.to_owned(), what: what.into() };
    let Some((version, head)) = read_head(input.section(0, None)?, &mut contents)? else {
        return Err(not("not a trace.dat: it does not begin with 17 08 44 \"tracing\""));
    };
    match version.as_str() {
        "6" => v6::read(head, &mut contents)?,
        "7" => v7::read(head, &mut contents)?,
        v => return Err(not(&format!("trace.dat version {v:?}; versions 6 and 7 are known"))),
    }
    check_regions(&input, &mut contents)?;
    Ok(contents)
}

/// Parses the header; returns the version and the rest. `None` if the magic is missing.
fn read_head(mut s: Section, contents: &mut Contents) -> Result<Option<(String, Head)>, Error> {
    if s.left() < MAGIC.len() as u64 || s.take(MAGIC.len())? != MAGIC {
        return Ok(None);
    }
    let version = s.string()?;
    let order = match s.u8()? {
        0 => Order::Little,
        1 => Order::Big,
        n => return Err(s.malformed(format!("byte order {n}; it can be 0 (little) or 1 (big)"))),
    };
    s.set_order(order);
    let long = s.u8()?;
    if !matches!(long, 4 | 8) {
        return Err(s.malformed(format!("words of {long} bytes; they can be 4 or 8")));
    }
    let page_size = s.u32()?;
    check_page_size(&s, page_size)?;
    contents.facts.order = order;
    Ok(Some((version, Head { rest: s, page_size })))
}

/// Reads the layouts and texts in a perf.data: the first part of version 6, with its own version numbers. From 0.6 on, names of tasks
/// follow at the end (perf, util/trace-event-info.c, `tracing_data_get`).
pub(crate) fn read_texts(s: Section, contents: &mut Contents) -> Result<(), Error> {
    let at = s.offset();
    let input = s.input().clone();
    let Some((version, Head { rest: mut s, page_size })) = read_head(s, contents)? else {
        return Err(input.malformed(at, "the layouts of tracepoints should be here"));
    };
    v6::read_texts(&mut s, page_size, contents)?;
    if version != "0.5" && s.left() > 0 {
        v6::read_cmdlines(&mut s, contents)?;
    }
    Ok(())
}

/// Checks a page size: sub-buffers are powers of two.
pub fn check_page_size(s: &Section, size: u32) -> Result<(), Error> {
    if size < 256 || size as usize > MAX_PAGE || !size.is_power_of_two() {
        return Err(s.malformed(format!(
            "pages of {size} bytes; a power of two from 256 to {MAX_PAGE} was expected"
        )));
    }
    Ok(())
}

/// Rejects overlapping pages of two CPUs, which also bounds the memory that all regions need.
fn check_regions(input: &DatFile, contents: &mut Contents) -> Result<(), Error> {
    contents.lacks_cpus = contents.regions.iter().any(|r| r.cut && r.size == 0);
    contents.regions.retain(|r| r.size > 0);
    let mut order: Vec<usize> = (0..contents.regions.len()).collect();
    order.sort_unstable_by_key(|&i| contents.regions[i].offset);
    for pair in order.windows(2) {
        let next = contents.regions[pair[1]].offset;
        let region = &mut contents.regions[pair[0]];
        if region.codec != Codec::None {
            region.size = region.size.min(next - region.offset);
        }
        if region.offset + region.size > next || region.size == 0 {
            return Err(
                input.malformed(next, "the pages of two CPUs overlap here; wrong CPU count or offsets")
            );
        }
    }
    Ok(())
}

/// Limits a region to what the file has, and adds a remark if it is truncated.
pub fn clip(input: &DatFile, contents: &mut Contents, cpu: u32, offset: u64, size: u64) -> u64 {
    let there = input.size.saturating_sub(offset).min(size);
    if there < size {
        contents.note(format!(
            "{}: the file is cut off: CPU {cpu} should have {size} bytes at {offset}, {there} are there; what came after these on any CPU is \
             left out",
            input.path.display()
        ));
    }
    there
}

/// Reads `header_page` and `header_event`: the ring buffer's layout.
pub fn read_page_layout(s: &mut Section, order: Order) -> Result<PageLayout, Error> {
    let at = s.offset();
    let mut text = |name: &str| {
        let title = s.take(name.len() + 1)?;
        if until_nul(&title) != name.as_bytes() {
            return Err(s.malformed(format!("{name:?} should be here")));
        }
        let n = s.u64()?;
        s.take(usize::try_from(n).unwrap_or(usize::MAX))
    };
    let page = text("header_page")?;
    let event = text("header_event")?;
    PageLayout::parse(order, &page, &event).map_err(|what| s.input().malformed(at, what))
}

/// Reads the formats of the `ftrace` group: a count, then that many texts, each preceded by its size.
pub fn read_ftrace_formats(s: &mut Section, contents: &mut Contents) -> Result<(), Error> {
    let count = s.u32()?;
    read_group(s, "ftrace", count, contents)
}

/// Reads the formats of all groups: a count of groups, each with its name and its texts.
pub fn read_event_formats(s: &mut Section, contents: &mut Contents) -> Result<(), Error> {
    for _ in 0..s.u32()? {
        let system = s.string()?;
        let count = s.u32()?;
        read_group(s, &system, count, contents)?;
    }
    Ok(())
}

fn read_group(s: &mut Section, system: &str, count: u32, contents: &mut Contents) -> Result<(), Error> {
    for _ in 0..count {
        let at = s.offset();
        let n = s.u64()?;
        let text = s.take(usize::try_from(n).unwrap_or(usize::MAX))?;
        match EventFormat::parse(system, &text) {
            Ok(format) => contents.formats.add(format),
            // An unreadable format is no reason to reject the others; its records are counted as unknown.
            Err(what) => contents.note(format!("{}: at byte {at}: {what}", s.input().path.display())),
        }
    }
    Ok(())
}

/// A text preceded by its size (an integer of `size` bytes), as a section that is not read yet.
pub fn sized_part(s: &mut Section, size: usize) -> Result<Section, Error> {
    let n = if size == 8 { s.u64()? } else { s.u32()?.into() };
    s.part(n)
}

/// Reads an option that means the same in both versions. Numbers: trace-cmd.dat.v7(5), OPTIONS SECTION.
pub fn read_option(id: u16, data: &[u8], contents: &mut Contents) {
    let order = contents.facts.order;
    let text = || String::from_utf8_lossy(until_nul(data)).trim().to_owned();
    let facts = &mut contents.facts;
    match id {
        1 => {
            // Offset from event time to wall-clock time in microseconds, hexadecimal (or decimal).
            let t = text();
            let n = match t.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok().map(|v| v as i64),
                None => t.parse::<i64>().ok(),
            };
            facts.wall_offset = n.and_then(|us| us.checked_mul(1000));
        }
        2 if facts.cpu_stats.len() < 4 << 20 => {
            facts.cpu_stats.push_str(&text());
            facts.cpu_stats.push('\n');
        }
        4 => {
            // "[local] global counter": the clock in brackets was used.
            let t = text();
            let chosen = t.split_once('[').and_then(|x| x.1.split_once(']')).map(|x| x.0.to_owned());
            facts.clock = chosen.or((!t.contains(' ')).then_some(t));
        }
        5 => facts.uname = Some(text()),
        8 => facts.cpus = order.u32(data, 0).unwrap_or(0),
        9 => facts.tool = Some(text()),
        12 => contents.note(
            "a guest's recording: its times are the guest's own, not shifted to the host's clock".into(),
        ),
        14 => {
            if let (Some(mult), Some(shift)) = (order.u32(data, 0), order.u32(data, 4)) {
                contents.clock = Clock::cycles(mult, shift);
            }
        }
        _ => {}
    }
}
