//! Reads raw pages: a file per CPU with the data of `per_cpu/cpuN/trace_pipe_raw`, and the texts that describe them.
//!
//! This is the form of the data before a recorder writes a trace.dat. The layout of files in a folder is up to
//! the recorder, which fills a [`Raw`].

use super::bytes::Order;
use super::clock::Clock;
use super::contents::{Contents, Facts, Region, SymbolText};
use super::format::EventFormat;
use super::page::{PageLayout, MAX_PAGE};
use super::section::DatFile;
use super::strings::Strings;
use super::trace_dat::TraceDat;
use crate::error::Error;
use std::path::{Path, PathBuf};
use units::Cpu;

/// Everything needed to read raw pages.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    /// Byte order of the recording machine.
    pub order: Order,
    /// Text of `events/header_page`. The kernel returns it (and header_event) only to a first read that is large enough
    /// for all of it; `std::fs::read` does not do that.
    pub header_page: Vec<u8>,
    /// Text of `events/header_event`.
    pub header_event: Vec<u8>,
    /// Size of a sub-buffer in bytes (`buffer_subbuf_size_kb`); `None`: the size in header_page.
    pub page_size: Option<usize>,
    /// Group and `format` text of each event.
    pub formats: Vec<(String, Vec<u8>)>,
    /// Each CPU and its file of pages.
    pub pages: Vec<(Cpu, PathBuf)>,
    /// Text of `saved_cmdlines`, "TID NAME" per line.
    pub cmdlines: Vec<u8>,
    /// Text of `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// A copy of /proc/kallsyms; without it, functions have no names.
    pub kallsyms: Option<PathBuf>,
    /// Name of the trace clock; `None` if unknown.
    pub clock: Option<String>,
    /// "Linux HOST RELEASE MACHINE"; `None` if unknown.
    pub uname: Option<String>,
}

impl Raw {
    /// Opens the pages. Errors about the texts name `path`.
    pub fn open(self, path: &Path) -> Result<TraceDat, Error> {
        let wrong = |what: String| Error::NotATrace { path: path.to_owned(), what };
        let mut layout =
            PageLayout::parse(self.order, &self.header_page, &self.header_event).map_err(wrong)?;
        if let Some(size) = self.page_size {
            if size <= layout.data || size > MAX_PAGE {
                return Err(wrong(format!("sub-buffers of {size} bytes")));
            }
            layout = layout.with_size(size);
        }
        let mut contents = Contents {
            facts: Facts {
                order: self.order,
                uname: self.uname,
                clock: self.clock,
                cpus: self.pages.len() as u32,
                buffers: vec![String::new()],
                ..Facts::default()
            },
            cmdlines: self.cmdlines,
            strings: Strings::parse(&self.printk_formats),
            clock: Clock::default(),
            ..Contents::default()
        };
        for (system, text) in &self.formats {
            match EventFormat::parse(system, text) {
                Ok(format) => contents.formats.add(format),
                Err(what) => contents.note(what),
            }
        }
        for (cpu, path) in self.pages {
            contents.regions.extend(Region::of_file(cpu, DatFile::open(&path)?, layout));
        }
        contents.kallsyms = match self.kallsyms {
            None => None,
            Some(path) => Some(SymbolText::Plain(DatFile::open(&path)?.section(0, None)?)),
        };
        TraceDat::new(contents)
    }
}
