//! Raw pages: per CPU a file of what `per_cpu/cpuN/trace_pipe_raw` gave, beside the texts that explain them.
//!
//! This is what a recorder has before it writes a trace.dat. How it lays them out in a folder is its own
//! business: it fills a [`Raw`].

use super::bytes::Order;
use super::clock::Clock;
use super::file::{Contents, Facts, Region, SymbolText};
use super::format::EventFormat;
use super::page::{PageLayout, MAX_PAGE};
use super::section::DatFile;
use super::strings::Strings;
use super::TraceDat;
use crate::error::Error;
use std::path::{Path, PathBuf};
use units::Cpu;

/// Everything needed to read raw pages.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    /// Byte order of the recording machine.
    pub order: Order,
    /// Its `events/header_page`. The kernel gives it (and header_event) only to a first read that is large enough
    /// for all of it, which `std::fs::read` does not do.
    pub header_page: Vec<u8>,
    /// Its `events/header_event`.
    pub header_event: Vec<u8>,
    /// Bytes of a sub-buffer (`buffer_subbuf_size_kb`); `None`: as header_page says.
    pub page_size: Option<usize>,
    /// Group and `format` text of each event.
    pub formats: Vec<(String, Vec<u8>)>,
    /// CPU and file of pages.
    pub pages: Vec<(Cpu, PathBuf)>,
    /// `saved_cmdlines`.
    pub cmdlines: Vec<u8>,
    /// Its `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// /proc/kallsyms.
    pub kallsyms: Option<PathBuf>,
    /// The clock's name.
    pub clock: Option<String>,
    /// "Linux HOST RELEASE MACHINE".
    pub uname: Option<String>,
}

impl Raw {
    /// Opens the pages. `path` is what errors about the texts name.
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
