//! Parses the text of block layer events (include/trace/events/block.h).
//!
//! ```text
//! block_rq_issue:    7,0 WS 4096 () 1048576 + 8 0x2,0,4 [fio]       bytes and a command; a priority in newer kernels
//! block_rq_complete: 7,0 WS () 1048576 + 8 0x2,0,4 [0]              an error at the end
//! block_bio_queue:   7,0 WS 1048576 + 8 [fio]
//! block_bio_remap:   8,0 WS 1048576 + 8 <- (8,1) 1046528
//! block_split:       7,0 W 999424 / 1001984 [kworker/u8:0]
//! block_unplug:      [fio] 1
//! ```

use super::fields::device;
use super::header::Header;
use crate::event::{Action, Detail, Event, Flags};
use crate::tracedat::{action_of, rwbs_flags};
use units::{Bytes, DevId, Sector};

/// The event, and the task's name in its text; `None` if it is no block event or invalid.
pub fn block<'a>(h: &Header<'a>, last_dev: impl Fn() -> DevId) -> Option<(Event, Option<&'a str>)> {
    let (action, category, request) = action_of(h.event)?;
    let mut event =
        Event { time: h.time, cpu: h.cpu, tid: h.tid, action, flags: category, ..Event::default() };
    if matches!(action, Action::Plug | Action::Unplug | Action::UnplugImplicit) {
        let (name, rest) = bracket(h.rest)?;
        event.dev = last_dev();
        if let Ok(requests) = rest.trim().parse() {
            event.detail = Detail::Requests(requests);
        }
        return Some((event, Some(name)));
    }
    let (dev, rest) = h.rest.split_once(' ')?;
    event.dev = device(dev)?;
    let (letters, rest) = rest.trim_start().split_once(' ')?;
    let mut rest = rest.trim_start();
    if request && rest.contains('(') && action != Action::BackMerge || rest.starts_with('(') {
        let (bytes, command) = rest.split_once('(')?;
        event.bytes = Bytes(bytes.trim().parse().unwrap_or(0));
        rest = command.split_once(')')?.1.trim_start();
    }
    let mut words = rest.split_whitespace();
    event.sector = Sector(words.next()?.parse().ok()?);
    let sign = words.next()?;
    let number: u64 = words.next()?.parse().ok()?;
    let mut sectors = 0;
    match (sign, action) {
        ("/", Action::Split) => {
            event.bytes = Bytes::from_sectors(number.saturating_sub(event.sector.0));
            event.detail = Detail::Split(Sector(number));
        }
        ("+", _) => {
            sectors = number;
            event.bytes = event.bytes.max(Bytes::from_sectors(number));
        }
        _ => return None,
    }
    event.flags = rwbs_flags(letters.as_bytes(), sectors > 0).with(category);
    if request && !event.flags.has(Flags::PASSTHROUGH) {
        event.flags = event.flags.with(Flags::FS);
    }
    if action == Action::Remap {
        let (_, origin) = rest.split_once("<-")?;
        let (dev, sector) = origin.trim_start().strip_prefix('(')?.split_once(')')?;
        let sector = sector.split_whitespace().next()?.parse().ok()?;
        event.detail = Detail::Remap { dev: device(dev)?, sector: Sector(sector) };
        return Some((event, None));
    }
    let (inner, _) = bracket(rest)?;
    if matches!(action, Action::Complete | Action::Requeue) {
        let error: i64 = inner.parse().ok()?;
        event.error = error as u16;
        return Some((event, None));
    }
    Some((event, Some(inner)))
}

/// The text in the brackets (names may contain brackets, too), and the text after them.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let from = text.find('[')?;
    let to = text.rfind(']').filter(|to| *to > from)?;
    Some((&text[from + 1..to], &text[to + 1..]))
}
