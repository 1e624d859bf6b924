//! What versions 6 and 7 of trace.dat have in common: the first bytes, the texts, the facts, the options.
//!
//! Both begin `17 08 44 "tracing" VERSION 00 ORDER LONG PAGE`; version 6 goes on with everything in a fixed
//! order ([`v6`](super::v6)), version 7 with sections that options point to ([`v7`](super::v7)). Either fills
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

/// What a trace.dat says about itself and the machine that made it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// 6 or 7; 0 for raw pages.
    pub version: u8,
    /// The machine's byte order.
    pub order: Order,
    /// `uname`: "Linux HOST RELEASE MACHINE".
    pub uname: Option<String>,
    /// The clock of the event times (`local`, `mono`, ...).
    pub clock: Option<String>,
    /// Processors of the machine.
    pub cpus: u32,
    /// The tracing instances, the top one first, its name empty.
    pub buffers: Vec<String>,
    /// Which trace-cmd wrote it.
    pub tool: Option<String>,
    /// What to add to an event's time to have nanoseconds since 1970 (`trace-cmd record --date`).
    pub wall_offset: Option<i64>,
    /// The kernel's own statistics per CPU at the end (`per_cpu/cpuN/stats`).
    pub cpu_stats: String,
}

impl Facts {
    /// The machine's name.
    pub fn hostname(&self) -> Option<&str> {
        self.uname.as_deref()?.split(' ').nth(1)
    }

    /// The kernel's release.
    pub fn kernel(&self) -> Option<&str> {
        self.uname.as_deref()?.split(' ').nth(2)
    }

    /// The kind of processor, as `uname -m` has it: the fourth word of trace-cmd's `uname -snrm`. Early recordings of
    /// iowhy have the kernel's version there (`#1 SMP`); then any word that names one.
    pub fn machine(&self) -> Option<&str> {
        let words: Vec<&str> = self.uname.as_deref()?.split_whitespace().collect();
        let known = words.iter().rev().find(|w| crate::syscall::Calls::of_machine(w).is_some());
        known.or(words.get(3).filter(|w| !w.starts_with('#'))).copied()
    }

    /// Events that the kernel says it overwrote or dropped, from the statistics at the end.
    pub fn overrun(&self) -> u64 {
        self.cpu_stats
            .lines()
            .filter_map(|l| l.split_once(':'))
            .filter(|(key, _)| matches!(key.trim(), "overrun" | "commit overrun" | "dropped events"))
            .filter_map(|(_, n)| n.trim().parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    }
}

/// Where one CPU's pages lie.
#[derive(Clone, Debug)]
pub struct Region {
    /// Which CPU.
    pub cpu: Cpu,
    /// Index into [`Facts::buffers`].
    pub buffer: u16,
    /// The file they lie in.
    pub input: DatFile,
    /// First byte there.
    pub offset: u64,
    /// Bytes, as far as the file really has them.
    pub size: u64,
    /// Whether it should have more.
    pub cut: bool,
    /// How the pages are laid out.
    pub layout: PageLayout,
    /// Compressed in chunks.
    pub codec: Codec,
}

impl Region {
    /// A file that has nothing but one CPU's pages; `None` if it is empty.
    pub fn of_file(cpu: Cpu, input: DatFile, layout: PageLayout) -> Option<Region> {
        let size = input.size;
        let codec = Codec::None;
        (size > 0).then_some(Region { cpu, buffer: 0, input, offset: 0, size, cut: false, layout, codec })
    }
}

/// Everything in a file but the events.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// About the recording.
    pub facts: Facts,
    /// The layouts of all events.
    pub formats: Formats,
    /// The CPUs' pages.
    pub regions: Vec<Region>,
    /// How pages are laid out, if the file says so where no CPU has any (version 6).
    pub layout: Option<PageLayout>,
    /// Symbols of the kernel, not read yet.
    pub kallsyms: Option<SymbolText>,
    /// Names of tasks, as the kernel knew them at the end: "TID NAME" per line.
    pub cmdlines: Vec<u8>,
    /// Texts that stay in the kernel.
    pub strings: Strings,
    /// Event times to nanoseconds.
    pub clock: Clock,
    /// What was odd, in words.
    pub notes: Vec<String>,
    /// Whether the file ends before the pages of some CPU begin.
    pub lacks_cpus: bool,
}

impl Contents {
    /// A remark in words; the first ones are enough.
    pub fn note(&mut self, words: String) {
        const MAX_NOTES: usize = 50;
        if self.notes.len() < MAX_NOTES {
            self.notes.push(words);
        }
    }
}

/// Where the text of /proc/kallsyms lies. It is large and only stacks need it, so only its place is kept.
#[derive(Clone, Debug)]
pub enum SymbolText {
    /// u32 size, then the text, all of it perhaps compressed.
    Sized(Section, Codec),
    /// The text alone.
    Plain(Section),
}

impl SymbolText {
    /// Reads it.
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

/// The first bytes.
pub struct Head {
    /// The rest of the file.
    pub rest: Section,
    /// Bytes of the machine's page.
    pub page_size: u32,
}

/// Reads a trace.dat, all but its events.
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

/// The first bytes: which version it is, and the rest. `None` if it begins otherwise.
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

/// The layouts and texts within a perf.data: the first part of version 6, under versions of its own. From 0.6 on names of tasks
/// stand at the end (perf, util/trace-event-info.c, `tracing_data_get`).
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

/// Sub-buffers are powers of two times a kilobyte, so anything else is damage.
pub fn check_page_size(s: &Section, size: u32) -> Result<(), Error> {
    if size < 256 || size as usize > MAX_PAGE || !size.is_power_of_two() {
        return Err(s.malformed(format!(
            "pages of {size} bytes; a power of two from 256 to {MAX_PAGE} was expected"
        )));
    }
    Ok(())
}

/// Pages of two CPUs cannot be the same bytes; that also bounds the memory that all of them need.
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

/// Cuts a region to what the file has, and says so.
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

/// `header_page`, `header_event`: the ring buffer's layout.
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

/// The formats of the `ftrace` group: a count and that many texts, each with its size before it.
pub fn read_ftrace_formats(s: &mut Section, contents: &mut Contents) -> Result<(), Error> {
    let count = s.u32()?;
    read_group(s, "ftrace", count, contents)
}

/// The formats of all groups: a count of groups, each with its name and its texts.
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
            // One event less is no reason to refuse the others; its records are counted as unknown.
            Err(what) => contents.note(format!("{}: at byte {at}: {what}", s.input().path.display())),
        }
    }
    Ok(())
}

/// A text with its size (of `size` bytes) before it, left where it is.
pub fn sized_part(s: &mut Section, size: usize) -> Result<Section, Error> {
    let n = if size == 8 { s.u64()? } else { s.u32()?.into() };
    s.part(n)
}

/// Options that mean the same in both versions. Numbers: trace-cmd.dat.v7(5), OPTIONS SECTION.
pub fn read_option(id: u16, data: &[u8], contents: &mut Contents) {
    let order = contents.facts.order;
    let text = || String::from_utf8_lossy(until_nul(data)).trim().to_owned();
    let facts = &mut contents.facts;
    match id {
        1 => {
            // Microseconds, in hexadecimal (or decimal), from event time to wall-clock time.
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
