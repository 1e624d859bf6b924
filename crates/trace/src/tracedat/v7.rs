//! Reads trace.dat version 7: sections anywhere in the file, found through a chain of option sections.
//!
//! ```text
//! head | compression "name\0version\0" | u64 offset of the first options section
//! section: u16 id, u16 flags (1: compressed), u32 description, u64 size, then its bytes
//! options: { u16 id, u32 n, data }...; option 0 ends the section and holds the next one's offset, or 0
//! ```
//! Options 16 to 21 hold the offset of the section with the same number. Option 3 describes an instance: offset of
//! its section, name, clock, page size, and the location of each CPU's pages. Compressed pages come in chunks.

use super::bytes::{until_nul, Order};
use super::compress::Codec;
use super::contents::{Contents, Region, SymbolText, MAX_CPUS};
use super::page::PageLayout;
use super::parts::{self, Head};
use super::section::{DatFile, Section};
use super::strings::Strings;
use crate::error::Error;
use units::Cpu;

const COMPRESSED: u16 = 1;
const BUFFER: u16 = 3;
/// Limit on option sections in a chain, to detect loops. trace-cmd writes two, and one per instance.
const MAX_CHAIN: usize = 4096;

#[derive(Default)]
struct Offsets {
    header: Option<u64>,
    ftrace: Option<u64>,
    formats: Option<u64>,
    kallsyms: Option<u64>,
    printk: Option<u64>,
    cmdlines: Option<u64>,
    buffers: Vec<Vec<u8>>,
}

/// Reads all of a file except its events.
pub fn read(head: Head, contents: &mut Contents) -> Result<(), Error> {
    let mut s = head.rest;
    contents.facts.version = 7;
    let name = s.string()?;
    s.string()?;
    let codec = Codec::named(&name)
        .ok_or_else(|| s.malformed(format!("compressed with {name:?}; zstd and zlib are known")))?;
    let first = s.u64()?;
    let input = s.input().clone();
    let offsets = read_options(&input, codec, first, contents)?;

    let order = contents.facts.order;
    let open = |id: u16, offset: Option<u64>| match offset {
        None | Some(0) => Ok(None),
        Some(at) => open_section(&input, codec, at, id).map(Some),
    };
    let mut header = open(16, offsets.header)?.ok_or_else(|| {
        input.malformed(first, "the options name no HEADER INFO section: is the file cut off?")
    })?;
    let layout = parts::read_page_layout(&mut header, order)?;
    if let Some(mut s) = open(17, offsets.ftrace)? {
        parts::read_ftrace_formats(&mut s, contents)?;
    }
    if let Some(mut s) = open(18, offsets.formats)? {
        parts::read_event_formats(&mut s, contents)?;
    }
    contents.kallsyms = match offsets.kallsyms {
        None | Some(0) => None,
        Some(at) => {
            let (s, compressed) = section_header(&input, at, 19)?;
            Some(SymbolText::Sized(s, if compressed { codec } else { Codec::None }))
        }
    };
    if let Some(mut s) = open(20, offsets.printk)? {
        let mut part = parts::sized_part(&mut s, 4)?;
        contents.strings = Strings::parse(&part.take(part.left() as usize)?);
    }
    if let Some(mut s) = open(21, offsets.cmdlines)? {
        let mut part = parts::sized_part(&mut s, 8)?;
        contents.cmdlines = part.take(part.left() as usize)?;
    }
    for option in &offsets.buffers {
        read_buffer(&input, codec, option, layout, contents)?;
    }
    Ok(())
}

/// Follows the chain of option sections.
fn read_options(
    input: &DatFile,
    codec: Codec,
    first: u64,
    contents: &mut Contents,
) -> Result<Offsets, Error> {
    let mut found = Offsets::default();
    let mut next = first;
    for _ in 0..MAX_CHAIN {
        let mut s = open_section(input, codec, next, 0)?;
        next = loop {
            let id = s.u16()?;
            let n = s.u32()?;
            let data = s.take(n as usize)?;
            let offset = input.order.u64(&data, 0);
            match id {
                0 => break offset.unwrap_or(0),
                BUFFER => found.buffers.push(data),
                16 => found.header = offset,
                17 => found.ftrace = offset,
                18 => found.formats = offset,
                19 => found.kallsyms = offset,
                20 => found.printk = offset,
                21 => found.cmdlines = offset,
                22 => contents.note("a text buffer (trace-cmd's latency format) is left out".into()),
                _ => parts::read_option(id, &data, contents),
            }
        };
        if next == 0 {
            return Ok(found);
        }
        if next >= input.size {
            return Err(input.malformed(
                next,
                format!("the options go on here, but the file has {} bytes: it is cut off", input.size),
            ));
        }
    }
    Err(input.malformed(next, format!("more than {MAX_CHAIN} option sections: the chain is a loop")))
}

/// A section, unpacked if it is compressed.
fn open_section(input: &DatFile, codec: Codec, at: u64, id: u16) -> Result<Section, Error> {
    let (s, compressed) = section_header(input, at, id)?;
    if compressed {
        s.unpack(codec)
    } else {
        Ok(s)
    }
}

fn section_header(input: &DatFile, at: u64, id: u16) -> Result<(Section, bool), Error> {
    let mut s = input.section(at, None)?;
    let (found, flags) = (s.u16()?, s.u16()?);
    s.u32()?;
    let size = s.u64()?;
    if found != id {
        return Err(input.malformed(at, format!("section {id} should be here, but it is numbered {found}")));
    }
    Ok((input.section(s.offset(), Some(size.min(s.left())))?, flags & COMPRESSED != 0))
}

/// Reads one instance: `u64 offset, name\0, clock\0, u32 page size, u32 n, { u32 cpu, u64 offset, u64 size }...`.
fn read_buffer(
    input: &DatFile,
    codec: Codec,
    option: &[u8],
    layout: PageLayout,
    contents: &mut Contents,
) -> Result<(), Error> {
    let mut o = Words { order: input.order, data: option };
    let at = o.uint(8).unwrap_or(0);
    let bad = |what: &str| input.malformed(at, format!("the description of this instance {what}"));
    let (Some(name), Some(clock)) = (o.text(), o.text()) else { return Err(bad("has no name or clock")) };
    let (Some(page_size), Some(cpus)) = (o.uint(4), o.uint(4)) else { return Err(bad("ends early")) };
    let index = contents.facts.buffers.len() as u16;
    if contents.facts.clock.is_none() && cpus > 0 {
        contents.facts.clock = Some(clock);
    }
    contents.facts.buffers.push(name);
    if cpus == 0 {
        return Ok(());
    }
    if cpus > MAX_CPUS.into() || cpus * 20 > o.data.len() as u64 {
        return Err(bad(&format!("lists {cpus} CPUs but has room for {}", o.data.len() / 20)));
    }
    let (section, compressed) = section_header(input, at, BUFFER)?;
    parts::check_page_size(&section, page_size as u32)?;
    let layout = layout.with_size(page_size as usize);
    let codec = if compressed { codec } else { Codec::None };
    for _ in 0..cpus {
        let (Some(cpu), Some(offset), Some(size)) = (o.uint(4), o.uint(8), o.uint(8)) else {
            return Err(bad("ends early"));
        };
        // trace-cmd does not include the chunk headers in the size of compressed pages, and reads as many
        // chunks as their number says: they may extend to the next CPU's pages.
        let there = match codec {
            Codec::None => parts::clip(input, contents, cpu as u32, offset, size),
            _ if size == 0 => 0,
            _ => input.size.saturating_sub(offset),
        };
        let cpu = Cpu(cpu as u32);
        contents.regions.push(Region {
            cpu,
            buffer: index,
            input: input.clone(),
            offset,
            size: there,
            cut: there < size,
            layout,
            codec,
        });
    }
    Ok(())
}

/// The data of one option, consumed from the front.
struct Words<'a> {
    order: Order,
    data: &'a [u8],
}

impl Words<'_> {
    fn uint(&mut self, size: usize) -> Option<u64> {
        let v = self.order.uint(self.data, 0, size)?;
        self.data = &self.data[size..];
        Some(v)
    }

    fn text(&mut self) -> Option<String> {
        let text = until_nul(self.data);
        let rest = self.data.get(text.len() + 1..)?;
        self.data = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}
