//! The metadata of a perf.data: the events, the layout of their samples, the formats of tracepoints, the kernel.
//!
//! ```text
//! file   "PERFILE2" u64 size (104) | attributes | records | { offset, size } for each feature | features
//! pipe   "PERFILE2" u64 size (16)  | records, of which the first say the same
//! ```

use super::records::{kind, Records};
use super::sample::{Layout, Layouts};
use crate::error::Error;
use crate::tracedat::{read_texts, Contents, DatFile, Order, Section};
use std::path::Path;

/// The magic at the start of a file, a number: its bytes show the byte order.
pub(super) const MAGIC: [(&[u8], Order); 2] = [(b"PERFILE2", Order::Little), (b"2ELIFREP", Order::Big)];

/// Numbers of features (perf, util/header.h).
const TRACING_DATA: u32 = 1;
const OS_RELEASE: u32 = 4;
const ARCH: u32 = 6;
const FEATURES: u32 = 256;

/// Size in bytes of the file header that perf writes to a pipe.
const PIPE: u64 = 16;
/// Accepted sizes in bytes of `struct perf_event_attr`: from the oldest version up to a sanity limit.
const ATTR: std::ops::RangeInclusive<u64> = 64..=4096;
/// perf's name for the kernel's mapping, with the symbol that gives its address.
const KERNEL: &[u8] = b"[kernel.kallsyms]_text\0";
/// Limit on task names before the first sample.
const MOST_NAMES: usize = 1 << 20;

/// All of a file except its records.
pub struct Head {
    pub order: Order,
    pub kernel: Kernel,
    pub machine: Option<String>,
    pub contents: Contents,
    pub layouts: Layouts,
}

/// The recorded kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The output of `uname -r`.
    pub release: Option<String>,
    /// The address of `_text`.
    pub text: Option<u64>,
}

/// Metadata collected so far.
#[derive(Default)]
struct Found {
    kernel: Kernel,
    machine: Option<String>,
    contents: Contents,
    layouts: Layouts,
    has_formats: bool,
}

/// Reads the head of a perf.data; also returns its records.
pub fn read(path: &Path) -> Result<(Head, Records), Error> {
    let mut input = DatFile::open(path)?;
    let not = |what: String| Error::NotATrace { path: path.to_owned(), what };
    let mut s = input.section(0, None)?;
    let magic = s.take(8)?;
    let Some((_, order)) = MAGIC.iter().find(|(bytes, _)| magic == *bytes) else {
        return Err(not("not a perf.data: it does not begin with \"PERFILE2\"".into()));
    };
    input.order = *order;
    s.set_order(*order);
    let mut found = Found::default();
    let size = s.u64()?;
    let (from, end) = match size {
        PIPE => found.of_pipe(&input)?,
        _ => found.of_file(&input, s)?,
    };
    if !found.layouts.have_tracepoints() {
        return Err(not(format!("this perf.data has no tracepoints in it, so nothing of I/O; {RECORD}")));
    }
    if !found.has_formats {
        return Err(not(format!(
            "this perf.data has no formats of its tracepoints, which perf writes last: was perf record killed? {RECORD}"
        )));
    }
    if found.layouts.lack_times() {
        return Err(not(format!("this perf.data has no times; {RECORD}")));
    }
    found.names(Records::new(input.clone(), from, end))?;
    let Found { kernel, machine, contents, layouts, .. } = found;
    let head = Head { order: *order, kernel, machine, contents, layouts };
    Ok((head, Records::new(input, from, end)))
}

const RECORD: &str =
    "record it with perf record -a -e 'block:*' -e sched:sched_switch -e sched:sched_waking -e 'raw_syscalls:*'";

impl Found {
    /// Reads the head of a file; returns the start and end offsets of its records.
    fn of_file(&mut self, input: &DatFile, mut s: Section) -> Result<(u64, u64), Error> {
        let attr_size = s.u64()?;
        let (attrs, attrs_size) = (s.u64()?, s.u64()?);
        let (data, data_size) = (s.u64()?, s.u64()?);
        s.skip(16)?;
        let features: Vec<u64> = (0..FEATURES / 64).map(|_| s.u64()).collect::<Result<_, _>>()?;
        if !ATTR.contains(&attr_size.saturating_sub(16)) {
            return Err(s.malformed(format!("attributes of {attr_size} bytes")));
        }
        let mut attrs = input.section(attrs, Some(attrs_size))?;
        while attrs.left() >= attr_size {
            let attr = attrs.take(attr_size as usize - 16)?;
            let (ids, size) = (attrs.u64()?, attrs.u64()?);
            let mut ids = input.section(ids, Some(size.min(8 * Layouts::MOST as u64)))?;
            self.add(input.order, &attr, &ids.take(ids.left() as usize)?);
        }
        let end = data.saturating_add(data_size);
        if end >= input.size || data_size == 0 {
            let what =
                "the file is cut off, or perf record was killed: what it writes last is missing".into();
            self.contents.note(what);
            return Ok((data, input.size));
        }
        let mut table = input.section(end, None)?;
        for feature in 0..FEATURES {
            if features[feature as usize / 64] >> (feature % 64) & 1 == 1 {
                let (offset, size) = (table.u64()?, table.u64()?);
                let Ok(part) = input.section(offset, Some(size)) else { continue };
                self.feature(feature, part)?;
            }
        }
        Ok((data, end))
    }

    /// Reads the head of a pipe: the records before the first sample.
    fn of_pipe(&mut self, input: &DatFile) -> Result<(u64, u64), Error> {
        let mut records = Records::new(input.clone(), PIPE, input.size);
        while let Some(record) = records.next()? {
            let (body, order) = (records.body(), input.order);
            match record {
                kind::SAMPLE => break,
                kind::ATTR => {
                    let size = order.u32(body, 4).unwrap_or(0).max(*ATTR.start() as u32) as usize;
                    let (attr, ids) = body.split_at(size.min(body.len()));
                    self.add(order, attr, ids);
                }
                kind::TRACING_DATA => {
                    let size = u64::from(order.u32(body, 0).unwrap_or(0));
                    self.feature(TRACING_DATA, input.section(records.behind(), Some(size))?)?;
                }
                kind::FEATURE => {
                    let feature = order.u64(body, 0).and_then(|n| u32::try_from(n).ok());
                    let from = records.behind() - body.len() as u64 + 8;
                    let part = input.section(from, Some((body.len() as u64).saturating_sub(8)));
                    if let (Some(feature), Ok(part)) = (feature, part) {
                        self.feature(feature, part)?;
                    }
                }
                _ => {}
            }
        }
        Ok((PIPE, input.size))
    }

    fn add(&mut self, order: Order, attr: &[u8], ids: &[u8]) {
        if let Some(layout) = Layout::of(order, attr) {
            self.layouts.add(layout, ids.chunks_exact(8).filter_map(|id| order.u64(id, 0)));
        }
    }

    fn feature(&mut self, feature: u32, mut s: Section) -> Result<(), Error> {
        match feature {
            TRACING_DATA => {
                self.has_formats = true;
                read_texts(s, &mut self.contents)?;
            }
            OS_RELEASE => self.kernel.release = text(&mut s),
            ARCH => self.machine = text(&mut s),
            _ => {}
        }
        Ok(())
    }

    /// Collects the names of tasks that perf found at start, in addition to those in the formats' texts, and the kernel's address.
    fn names(&mut self, mut records: Records) -> Result<(), Error> {
        let order = self.contents.facts.order;
        while let Some(record) = records.next()? {
            let body = records.body();
            match record {
                kind::SAMPLE => break,
                // Body: pid, tid, address, length, address of `_text`; then the name.
                kind::MMAP if body.get(32..).is_some_and(|name| name.starts_with(KERNEL)) => {
                    self.kernel.text = self.kernel.text.or(order.u64(body, 24));
                }
                kind::COMM if self.contents.cmdlines.len() < MOST_NAMES => {
                    let (Some(tid), Some(name)) = (order.u32(body, 4), body.get(8..)) else { continue };
                    let name = name.split(|b| *b == 0 || *b == b'\n').next().unwrap_or_default();
                    self.contents.cmdlines.extend(format!("{tid} ").bytes());
                    self.contents.cmdlines.extend(name);
                    self.contents.cmdlines.push(b'\n');
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A text preceded by its length.
fn text(s: &mut Section) -> Option<String> {
    let size = s.u32().ok()?;
    let bytes = s.take(size as usize).ok()?;
    let text = bytes.split(|b| *b == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}
