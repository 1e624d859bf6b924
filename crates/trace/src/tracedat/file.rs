//! Reads a trace.dat, all except its events.
//!
//! Versions 6 and 7 begin `17 08 44 "tracing" VERSION 00 ORDER LONG PAGE`; version 6 continues in a fixed
//! order ([`v6`](super::v6)), version 7 has sections that options point to ([`v7`](super::v7)). Both fill
//! one [`Contents`]. Source: trace-cmd's manual pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).

use super::bytes::Order;
use super::compress::Codec;
use super::contents::Contents;
use super::parts::{check_page_size, Head};
use super::section::{DatFile, Section};
use super::{v6, v7};
use crate::error::Error;
use std::path::Path;

/// The first ten bytes of every trace.dat.
pub const MAGIC: &[u8] = b"\x17\x08\x44tracing";

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
