//! Replaces names in the kernel's pages, in place.
//!
//! Records keep their positions and lengths, so every other byte of a page is unchanged. Unused bytes are
//! cleared, because the kernel does not clear them and they may hold a name from old memory: bytes after a page's last record, the
//! bodies of records that were started and then discarded (by a filter that ran late), bytes after the end of a text in its field,
//! and bytes between the fields of a record and after its last. A record with an unknown format is cleared except for the
//! common fields.

use super::arguments::numbers_only;
use super::gaps::{clear_behind, elsewhere, holes, place, HERE};
use super::Names;
use crate::datfile::{Head, Pages, Region};
use rustix::fs::{memfd_create, MemfdFlags};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use trace::tracedat::{EventFormat, Formats, Kind, Next, Order, PageCursor, PageLayout, Slot};

/// `common_type`, `common_flags`, `common_preempt_count`, `common_pid`: 8 bytes in every record
/// (include/linux/trace_events.h, `struct trace_entry`).
const COMMON: usize = 8;
/// Bits of a page's `commit` (kernel/trace/ring_buffer.c).
const LENGTH: u64 = (1 << 27) - 1;
const LOST_COUNTED: u64 = 1 << 30;
/// Record types without an event.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;

/// Fields whose text only the kernel chooses, by group (`*`: all) and field.
const KERNELS_WORDS: &[(&str, &str)] = &[
    ("*", "rwbs"),
    ("writeback", "name"),
    ("writeback", "bdi"),
    ("wbt", "name"),
    ("kyber", "domain"),
    ("kyber", "type"),
    ("iocost", "devname"),
    ("workqueue", "workqueue"),
    ("io_uring", "op_str"),
];

/// How to treat the fields of one event.
#[derive(Debug, Default)]
struct Event {
    tasks: Vec<Slot>,
    files: Vec<Slot>,
    /// Fields with text of the kernel.
    words: Vec<Slot>,
    /// System call arguments, of which a call may use only some.
    arguments: Option<Slot>,
    /// Bytes of a record that belong to no field.
    holes: Vec<Range<usize>>,
    /// Fields whose data follows the fixed fields, and the end of those: the kernel reserves more than it writes there.
    elsewhere: Option<(Vec<Slot>, usize)>,
    /// Whether to clear the whole record, because no field is known to be harmless.
    clear: bool,
}

/// Replaces names in pages that were recorded on a machine with this byte order.
#[derive(Debug)]
pub struct Scrubber {
    layout: PageLayout,
    formats: Formats,
    events: Vec<Event>,
}

impl Scrubber {
    /// Parses the formats in a head.
    pub fn new(head: &Head) -> Result<Scrubber, String> {
        let layout = PageLayout::parse(HERE, &head.header_page, &head.header_event)?;
        let mut formats = Formats::default();
        let ftrace = head.ftrace.iter().map(|f| ("ftrace", f));
        let others =
            head.systems.iter().flat_map(|(system, all)| all.iter().map(move |f| (system.as_str(), f)));
        for (system, text) in ftrace.chain(others) {
            let format = EventFormat::parse(system, text)?;
            format.fields().map_err(|what| format!("the format of {}: {what}", format.name))?;
            formats.add(format);
        }
        let events = formats.events().iter().map(Event::of).collect();
        Ok(Scrubber { layout, formats, events })
    }

    /// The pages of one CPU with names replaced, in memory.
    pub fn region(&self, file: &File, region: Region, names: &mut Names) -> io::Result<Pages> {
        let mut out = File::from(memfd_create("redacted", MemfdFlags::CLOEXEC)?);
        let mut page = vec![0; self.layout.size];
        let (mut at, end) = (region.offset, region.offset.saturating_add(region.bytes.0));
        while at + page.len() as u64 <= end {
            file.read_exact_at(&mut page, at)?;
            self.page(&mut page, names);
            out.write_all(&page)?;
            at += page.len() as u64;
        }
        let bytes = trace::Bytes(at - region.offset);
        Ok(Pages { cpu: region.cpu, file: out, bytes })
    }

    fn page(&self, page: &mut [u8], names: &mut Names) {
        let Some((mut cursor, _)) = PageCursor::start(&self.layout, page) else { return page.fill(0) };
        let word = self.layout.long;
        let commit = HERE.uint(page, 8, word).unwrap_or(0);
        let end = (self.layout.data + (commit & LENGTH) as usize).min(page.len());
        // End of the last record.
        let mut done = self.layout.data;
        loop {
            match cursor.next(HERE, page) {
                Next::Record { at, len, .. } => {
                    self.between(page, done, at);
                    done = at + len;
                    self.record(&mut page[at..done], names);
                    // Records are padded to 4 bytes.
                    let padded = done.next_multiple_of(4).min(page.len());
                    page[done..padded].fill(0);
                    done = padded;
                }
                Next::End => {
                    self.between(page, done, end);
                    // The number of lost events follows the last record.
                    let kept = if commit & LOST_COUNTED != 0 { end + word } else { end };
                    let kept = kept.min(page.len());
                    return page[kept..].fill(0);
                }
                Next::Damaged(_) => {
                    // Unreadable data cannot be redacted: the page is truncated before it.
                    page[done..].fill(0);
                    let commit = (commit & !(LENGTH | LOST_COUNTED)) | (done - self.layout.data) as u64;
                    let bytes = if word == 8 {
                        commit.to_ne_bytes().to_vec()
                    } else {
                        (commit as u32).to_ne_bytes().to_vec()
                    };
                    return page[8..8 + word].copy_from_slice(&bytes);
                }
            }
        }
    }

    /// Clears the bodies of discarded records between two records.
    fn between(&self, page: &mut [u8], mut at: usize, end: usize) {
        while at + 8 <= end {
            let (Some(header), Some(word)) = (HERE.u32(page, at), HERE.u32(page, at + 4)) else { return };
            let (kind, delta) = match HERE {
                Order::Little => (header & 31, header >> 5),
                Order::Big => (header >> 27, header & ((1 << 27) - 1)),
            };
            match kind {
                // End of the records on this page.
                PADDING if delta == 0 => return page[at + 4..end].fill(0),
                PADDING => {
                    let next = at.saturating_add(4).saturating_add(word as usize).min(end);
                    page[at + 8..next.max(at + 8)].fill(0);
                    at = next.next_multiple_of(4).max(at + 8);
                }
                k if k >= TIME_EXTEND => at += 8,
                _ => return,
            }
        }
    }

    fn record(&self, record: &mut [u8], names: &mut Names) {
        let event = self.formats.index_of(HERE, record).ok().and_then(|i| self.events.get(i));
        let Some(event) = event.filter(|e| !e.clear) else {
            return record.get_mut(COMMON..).unwrap_or_default().fill(0);
        };
        for hole in &event.holes {
            let end = hole.end.min(record.len());
            record[hole.start.min(end)..end].fill(0);
        }
        if let Some((slots, begin)) = &event.elsewhere {
            clear_behind(record, slots, *begin);
        }
        if let Some(slot) = &event.arguments {
            let place = place(record, slot);
            numbers_only(&mut record[place], HERE, self.layout.long);
        }
        for slot in &event.words {
            replace(record, slot, str::to_string);
        }
        for slot in &event.tasks {
            replace(record, slot, |name| names.task(name));
        }
        for slot in &event.files {
            replace(record, slot, |name| names.path(name));
        }
    }
}

impl Event {
    fn of(format: &EventFormat) -> Event {
        // Kernel stacks are addresses; ftrace's other own records have text that programs wrote.
        let clear = &*format.system == "ftrace" && &*format.name != "kernel_stack";
        let mut event = Event { clear, ..Event::default() };
        let kernels = |name: &str| {
            KERNELS_WORDS.iter().any(|(s, f)| (*s == "*" || **s == *format.system) && *f == name)
        };
        for field in format.fields().unwrap_or_default() {
            let text = field.ctype.split(' ').any(|w| w == "char") && !matches!(field.slot.kind, Kind::Int);
            match text {
                true if kernels(&field.name) => event.words.push(field.slot),
                true if field.name.contains("comm") => event.tasks.push(field.slot),
                true => event.files.push(field.slot),
                false => {}
            }
        }
        if (&*format.system, &*format.name) == ("raw_syscalls", "sys_enter") {
            let fields = format.fields().unwrap_or_default();
            event.arguments = fields.iter().find(|f| &*f.name == "args").map(|f| f.slot);
        }
        event.holes = holes(format);
        event.elsewhere = elsewhere(format);
        event
    }
}

/// Replaces a text in place. Bytes after its end are cleared: the kernel copies names together with old memory after them.
fn replace(record: &mut [u8], slot: &Slot, stand_in: impl FnOnce(&str) -> String) {
    let range = place(record, slot);
    if range.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(slot.text(HERE, record));
    let new = stand_in(&text);
    let place = &mut record[range];
    place.fill(0);
    let n = new.len().min(place.len());
    place[..n].copy_from_slice(&new.as_bytes()[..n]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER_PAGE: &[u8] = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:240;\tsigned:0;\n";
    const HEADER_EVENT: &[u8] =
        b"\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\
        \tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n";
    const EXEC: &[u8] = b"name: exec\nID: 7\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] filename;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:20;\tsize:10;\tsigned:0;\n\
        \tfield:u32 bytes;\toffset:36;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

    fn scrubber() -> Scrubber {
        Scrubber::new(&Head {
            header_page: HEADER_PAGE.to_vec(),
            header_event: HEADER_EVENT.to_vec(),
            systems: vec![("sched".into(), vec![EXEC.to_vec()])],
            ..Head::default()
        })
        .unwrap()
    }

    /// One record of event `id`: comm "secret", a path in 12 bytes, rwbs "WS", and remains of old memory.
    fn record(id: u16) -> Vec<u8> {
        let mut r = id.to_ne_bytes().to_vec();
        r.extend([0, 0]);
        r.extend(1i32.to_ne_bytes());
        r.extend(b"secret\0s");
        r.extend((40u32 | 12 << 16).to_ne_bytes());
        r.extend(b"WS\0secret\0");
        r.extend(b"secret");
        r.extend(4u32.to_ne_bytes());
        r.extend(b"/srv/secret\0");
        r
    }

    fn page(parts: &[Vec<u8>], rest: &[u8]) -> Vec<u8> {
        let data = parts.concat();
        let mut p = 5u64.to_ne_bytes().to_vec();
        p.extend((data.len() as u64).to_ne_bytes());
        p.extend(data);
        p.extend(rest);
        p.resize(256, 0);
        p
    }

    fn header(kind: u32, delta: u32) -> Vec<u8> {
        (kind | delta << 5).to_ne_bytes().to_vec()
    }

    #[test]
    fn names_go_everything_else_stays() {
        if HERE == Order::Big {
            return;
        }
        let dropped = [header(PADDING, 1), 16u32.to_ne_bytes().to_vec(), b"secretsecret".to_vec()].concat();
        let known = [header(13, 1), record(7)].concat();
        let unknown = [header(13, 1), record(8)].concat();
        let mut p = page(&[known.clone(), dropped, known, unknown], b"secret of the page before");
        let before = p.clone();
        let mut names = Names::default();
        scrubber().page(&mut p, &mut names);
        let text = String::from_utf8_lossy(&p).into_owned();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(text.matches("WS\0\0\0\0\0\0\0\0").count(), 2);
        assert_eq!(
            text.matches(&names.task("secret")).count(),
            4,
            "task and file name are the same word, twice"
        );
        assert_eq!(p[..28], before[..28]);
        // The same records at the same positions.
        let layout = PageLayout::parse(HERE, HEADER_PAGE, HEADER_EVENT).unwrap();
        let walk = |p: &[u8]| {
            let mut c = PageCursor::start(&layout, p).unwrap().0;
            std::iter::from_fn(|| match c.next(HERE, p) {
                Next::Record { time, at, len } => Some((time, at, len)),
                _ => None,
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(walk(&p), walk(&before));
        assert_eq!(walk(&p).len(), 3);
    }

    /// `sizeof` of a record with its padding is reserved for it, and a text begins where the padding does (`trace_event_get_offsets`).
    #[test]
    fn what_lies_behind_the_last_text_goes() {
        let mut with_remains = [record(7), b"rust".to_vec()].concat();
        let (mut names, before) = (Names::default(), with_remains.clone());
        scrubber().record(&mut with_remains, &mut names);
        assert_eq!(with_remains[before.len() - 4..], [0; 4]);
        let mut without = record(7);
        scrubber().record(&mut without, &mut names);
        assert_eq!(with_remains[..without.len()], without, "nothing else changes");
        assert!(String::from_utf8_lossy(&without[40..]).starts_with('/'), "the path is there");
    }

    /// A list of numbers is no text, and a kernel thread's name identifies nobody: both are kept.
    #[test]
    fn numbers_and_kernel_threads_stay() {
        const WAKEUP: &[u8] = b"name: wakeup\nID: 9\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
            \tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n\
            \tfield:u64 times[2];\toffset:16;\tsize:16;\tsigned:0;\n\nprint fmt: \"\"\n";
        let scrubber = Scrubber::new(&Head {
            header_page: HEADER_PAGE.to_vec(),
            header_event: HEADER_EVENT.to_vec(),
            systems: vec![("sched".into(), vec![WAKEUP.to_vec()])],
            ..Head::default()
        });
        let mut record = [9u16.to_ne_bytes().to_vec(), vec![0, 0], 1i32.to_ne_bytes().to_vec()].concat();
        record.extend(b"kswapd0\0");
        record.extend(b"16 bytes of any.");
        let before = record.clone();
        scrubber.unwrap().record(&mut record, &mut Names::default());
        assert_eq!(record, before);
    }

    proptest! {
        #[test]
        fn any_page(mut bytes in prop::collection::vec(any::<u8>(), 256), small in any::<bool>()) {
            if small {
                bytes[8..16].copy_from_slice(&200u64.to_ne_bytes());
            }
            scrubber().page(&mut bytes, &mut Names::default());
            let again = bytes.clone();
            // The redacted page has no damage.
            let layout = PageLayout::parse(HERE, HEADER_PAGE, HEADER_EVENT).unwrap();
            let mut c = PageCursor::start(&layout, &again).unwrap().0;
            while let Next::Record { .. } = c.next(HERE, &again) {}
        }
    }
}
