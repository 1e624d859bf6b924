//! Reads trace.dat version 6: everything in a fixed order, then the location of each CPU's pages.
//!
//! ```text
//! head | header_page, header_event | ftrace formats | formats | u32 n, kallsyms | u32 n, printk | u64 n, cmdlines
//! u32 CPUs | "options  \0" { u16 id, u32 n, data }... u16 0 | "flyrecord\0" { u64 offset, u64 size } per CPU | pages
//! ```
//! Each further instance is an option 3 (u64 offset, name); its own "flyrecord\0" list begins at that offset.

use super::bytes::until_nul;
use super::compress::Codec;
use super::contents::{Contents, Region, SymbolText, MAX_CPUS};
use super::page::PageLayout;
use super::parts::{self, Head};
use super::section::Section;
use super::strings::Strings;
use crate::error::Error;
use units::Cpu;

/// Limit on instances in a file; tracefs becomes slow long before this number.
const MAX_BUFFERS: usize = 1024;

/// Reads all of a file except its events.
pub fn read(head: Head, contents: &mut Contents) -> Result<(), Error> {
    let Head { rest: mut s, page_size } = head;
    contents.facts.version = 6;
    let layout = read_texts(&mut s, page_size, contents)?;
    read_cmdlines(&mut s, contents)?;
    contents.facts.cpus = s.u32()?;
    contents.facts.buffers.push(String::new());
    let others = read_buffer(&mut s, contents, layout, 0)?;
    for (offset, name) in others {
        let index = contents.facts.buffers.len();
        if index >= MAX_BUFFERS {
            return Err(s.malformed(format!("more than {MAX_BUFFERS} instances")));
        }
        contents.facts.buffers.push(name);
        let mut s = s.input().section(offset, None)?;
        read_buffer(&mut s, contents, layout, index as u16)?;
    }
    Ok(())
}

/// Reads the part between the header and the names of tasks; perf.data has it in the same form.
pub fn read_texts(s: &mut Section, page_size: u32, contents: &mut Contents) -> Result<PageLayout, Error> {
    let layout = parts::read_page_layout(s, contents.facts.order)?;
    // The header has the machine's page size. Sub-buffers can be larger, which only header_page shows.
    let size =
        if layout.size.is_power_of_two() { layout.size.max(page_size as usize) } else { page_size as usize };
    let layout = layout.with_size(size);
    contents.layout = Some(layout);
    parts::read_ftrace_formats(s, contents)?;
    parts::read_event_formats(s, contents)?;
    contents.kallsyms = Some(SymbolText::Sized(s.clone(), Codec::None));
    parts::sized_part(s, 4)?;
    let mut printk = parts::sized_part(s, 4)?;
    contents.strings = Strings::parse(&printk.take(printk.left() as usize)?);
    Ok(layout)
}

/// Reads the names of tasks.
pub fn read_cmdlines(s: &mut Section, contents: &mut Contents) -> Result<(), Error> {
    let mut cmdlines = parts::sized_part(s, 8)?;
    contents.cmdlines = cmdlines.take(cmdlines.left() as usize)?;
    Ok(())
}

/// Reads the options, then the locations of the CPUs' pages. Returns the further instances named in the options.
fn read_buffer(
    s: &mut Section,
    contents: &mut Contents,
    layout: PageLayout,
    buffer: u16,
) -> Result<Vec<(u64, String)>, Error> {
    let mut others = Vec::new();
    let mut title = s.take(10)?;
    if title.starts_with(b"options") {
        loop {
            let id = s.u16()?;
            if id == 0 {
                break;
            }
            let n = s.u32()?;
            let data = s.take(n as usize)?;
            match (id, contents.facts.order.u64(&data, 0)) {
                (3, Some(offset)) => {
                    others.push((offset, String::from_utf8_lossy(until_nul(&data[8..])).into_owned()))
                }
                _ => parts::read_option(id, &data, contents),
            }
        }
        title = s.take(10)?;
    }
    if title.starts_with(b"latency") {
        return Err(s.malformed("this file holds only text (trace-cmd's latency format), no events"));
    }
    if !title.starts_with(b"flyrecord") {
        return Err(s.malformed("\"flyrecord\" should be here"));
    }
    let cpus = contents.facts.cpus;
    if cpus > MAX_CPUS || u64::from(cpus) * 16 > s.left() {
        return Err(
            s.malformed(format!("{cpus} CPUs are said to have data; the list of their places is shorter"))
        );
    }
    for cpu in 0..cpus {
        let (offset, size) = (s.u64()?, s.u64()?);
        let there = parts::clip(s.input(), contents, cpu, offset, size);
        let input = s.input().clone();
        contents.regions.push(Region {
            cpu: Cpu(cpu),
            buffer,
            input,
            offset,
            size: there,
            cut: there < size,
            layout,
            codec: Codec::None,
        });
    }
    Ok(others)
}
