//! The parts that versions 6 and 7 of trace.dat have in common: the ring buffer's layout, formats of events, options.

use super::bytes::{until_nul, Order};
use super::clock::Clock;
use super::contents::Contents;
use super::format::EventFormat;
use super::page::{PageLayout, MAX_PAGE};
use super::section::{DatFile, Section};
use crate::error::Error;

/// The parsed header.
pub struct Head {
    /// The file after the header.
    pub rest: Section,
    /// Page size of the machine in bytes.
    pub page_size: u32,
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
