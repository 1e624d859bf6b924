//! All that a recording says beside its events: facts, layouts, texts, and where each CPU's pages are.

use super::bytes::Order;
use super::clock::Clock;
use super::compress::Codec;
use super::format::Formats;
use super::page::PageLayout;
use super::section::{DatFile, Section};
use super::strings::Strings;
use crate::error::Error;
use units::Cpu;

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
