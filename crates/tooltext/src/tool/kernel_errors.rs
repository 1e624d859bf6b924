//! Reads messages about failing devices in the kernel's log: errors, timeouts, resets of links and controllers (drivers/ata/libata-eh.c,
//! drivers/scsi/sd.c, drivers/usb/storage/uas.c, drivers/nvme/host/core.c and pci.c, block/blk-core.c, drivers/md).
//!
//! ```text
//! ata3.00: exception Emask 0x0 SAct 0x7fffffff SErr 0x0 action 0x6 frozen              sata link: exceptions
//! ata3: hard resetting link                                                             resets
//! blk_update_request: I/O error, dev sdb, sector 123456 op 0x0:(READ) flags 0x80700     sdb: I/O errors
//! sd 2:0:0:0: [sdb] Sense Key : Medium Error [current]                                  medium errors
//! nvme nvme0: I/O 12 QID 3 timeout, aborting                                            nvme0: timeouts
//! usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd                          usb 2-1: resets
//! md/raid:md0: read error corrected (8 sectors at 2048 on sda1)                         sda1: corrected read errors
//! ```
//!
//! A command that the host or the driver gave up (`hostbyte=DID_NO_CONNECT`) did not return from the disk: its error in the block layer
//! is not counted for the disk.
//!
//! Lines of one log are one reading: a row per device, with the count of each kind. Other lines of the log tell which device an
//! `ata3` is.
//!
//! **Versions**: Linux 6.1 by the sources named above, older forms by logs that people mailed.

use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;
use std::collections::BTreeMap;

pub struct KernelErrors;

/// Limit on words between two matching lines: other lines of the same error, and prefixes of lines.
const MOST_BETWEEN: usize = 60;
/// Limit on devices in one log.
const MOST_DEVICES: usize = 512;
/// Words of a line that are examined.
const LOOKED_AT: usize = 14;

/// The count of each kind, and the place of the first.
type Kinds = BTreeMap<&'static str, (u64, Spot)>;

/// A matching line: device, kind, number of words used.
type Event<'a> = (String, &'static str, usize);

impl Tool for KernelErrors {
    fn read(&self, words: &[Word]) -> Option<Found> {
        event(words)?;
        let mut devices: Vec<(String, Kinds)> = vec![];
        // Disks whose last command was given up by the host.
        let mut given_up: Vec<String> = vec![];
        let (mut used, mut unknown) = (0, 0);
        loop {
            let rest = &words[used..];
            let within = rest
                .iter()
                .take(MOST_BETWEEN)
                .enumerate()
                .take_while(|(i, w)| *i == 0 || !w.paragraph && !w.text.ends_with("INFO:"))
                .count();
            let next = (0..within).find_map(|skip| Some((skip, event(&rest[skip..])?)));
            let Some((skip, (device, kind, length))) = next else { break };
            let at = rest[skip].spot;
            used += skip + length;
            unknown += skip;
            let disk = || evidence::whole_disk(&device).to_owned();
            match kind {
                TRANSPORT | TIMEOUTS | OFFLINE if given_up.len() < MOST_DEVICES => given_up.push(disk()),
                RESULT | SENSE => given_up.retain(|name| *name != disk()),
                ERRORS | BUFFER if given_up.contains(&disk()) => continue,
                _ => {}
            }
            let place = match devices.iter().position(|(name, _)| *name == device) {
                Some(place) => place,
                None if devices.len() >= MOST_DEVICES => continue,
                None => {
                    devices.push((device, Kinds::new()));
                    devices.len() - 1
                }
            };
            devices[place].1.entry(kind).or_insert((0, at)).0 += 1;
        }
        let mut reading = Reading { tool: "kernel log", at: words[0].spot, ..Reading::default() };
        for (device, mut kinds) in devices {
            told_once(&mut kinds);
            let mut row = Row::of(device);
            for (kind, (count, at)) in kinds {
                row.values.put(kind, count as f64, Unit::Count, at);
            }
            reading.rows.push(row);
        }
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// Kinds of messages that are counted.
pub(crate) const RESETS: &str = "resets";
const TIMEOUTS: &str = "timeouts";
const EXCEPTIONS: &str = "exceptions";
pub(crate) const ERRORS: &str = "I/O errors";
const MEDIUM: &str = "medium errors";
const FAILED: &str = "failed";
/// Results set by the host (`DID_NO_CONNECT`, ..., include/scsi/scsi_status.h): the command did not return from the disk.
pub(crate) const TRANSPORT: &str = "transport errors";
/// The disk is no longer used.
const OFFLINE: &str = "offline messages";
/// Sectors that md could not read, and rewrote with data from the other disks.
const CORRECTED: &str = "corrected read errors";
/// A message of a disk after a reset or after attachment; [`scsi_disks`](crate::output) distinguishes the two.
pub(crate) const POWER_ON: &str = "unit attentions";
/// Further messages about one failure: the SCSI driver's result, the page cache's error, and the sense data. [`AGAIN`] gives the kinds
/// that they count for.
const RESULT: &str = "result";
const BUFFER: &str = "buffer";
const SENSE: &str = "sense";
const AGAIN: [(&str, &str); 3] = [(RESULT, ERRORS), (BUFFER, ERRORS), (SENSE, MEDIUM)];

/// Merges the messages about one failure: the driver's result and sense key, the block layer's error, and the buffer's. Each kind counts as
/// often as its most frequent message.
fn told_once(kinds: &mut Kinds) {
    for (driver, kind) in AGAIN {
        if let Some((count, at)) = kinds.remove(driver) {
            let whole = kinds.entry(kind).or_insert((0, at));
            *whole = (whole.0.max(count), whole.1.min(at));
        }
    }
}

/// The matching line at the start of `words`, if any.
fn event<'a>(words: &[Word<'a>]) -> Option<Event<'a>> {
    let first = words.first()?.text;
    // Up to the next line, in flattened text up to its time. A line that does not start like a log line continues a wrapped one.
    let goes_on = |(i, w): &(usize, &Word)| {
        *i == 0
            || w.text != "["
                && !w.text.starts_with("ata")
                && (!w.first || *i >= LEAST_OF_WRAPPED && !w.paragraph && !begins(w.text))
    };
    let line = &words[..words.iter().take(LOOKED_AT).enumerate().take_while(goes_on).count()];
    let says = |text: &str| line.iter().any(|w| w.text.trim_matches([',', '.', ':']) == text);
    None.or_else(|| ata(first, &says))
        .or_else(|| io_error(line))
        .or_else(|| scsi(line, &says))
        .or_else(|| nvme(line, &says))
        .or_else(|| usb(line))
        .or_else(|| raid(line, &says))
}

/// Whether a word may start a line of the log, or of prose: a time, a date, a driver's name.
fn begins(text: &str) -> bool {
    let driver = ["sd", "scsi", "nvme", "critical", "res", "cmd", "XFS", "BTRFS", "EXT4-fs"].contains(&text);
    let date = text.contains(['-', ':']) && text.starts_with(|c: char| c.is_ascii_digit());
    let mut letters = text.chars();
    let sentence =
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
    driver || date || sentence || text.ends_with(':') || text.starts_with(['[', '<', '-'])
}

/// Minimum number of words of a line that a mailer wraps.
const LEAST_OF_WRAPPED: usize = 4;

/// Parses `ata3.00: exception ...`, `ata3: hard resetting link`.
fn ata<'a>(first: &str, says: &impl Fn(&str) -> bool) -> Option<Event<'a>> {
    let port = first.strip_suffix(':')?;
    let digits = port.strip_prefix("ata")?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = match digits.split_once('.') {
        Some((port, device)) => number(port) && number(device),
        None => number(digits),
    };
    fits.then_some(())?;
    let kind = match () {
        () if says("exception") => EXCEPTIONS,
        () if says("resetting") || says("COMRESET") => RESETS,
        () if says("timeout") || says("(timeout)") || says("frozen") => TIMEOUTS,
        () if says("UNC") => MEDIUM,
        () => return None,
    };
    let port = digits.split('.').next().unwrap_or(digits);
    Some((format!("ata{port}"), kind, 2))
}

/// Parses `I/O error, dev sdb, sector 12`, `critical medium error, dev sdb, sector 12`, `Buffer I/O error on dev sdb1, logical block 0`.
fn io_error<'a>(line: &[Word]) -> Option<Event<'a>> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let device = |name: &str| {
        let name = name.trim_end_matches(',');
        evidence::is_device_name(name).then(|| name.to_owned())
    };
    match [text(0), text(1), text(2)] {
        ["I/O", "error,", "dev"] => Some((device(text(3))?, ERRORS, 4)),
        ["critical", what, "error,"] if text(3) == "dev" => {
            Some((device(text(4))?, if what == "medium" { MEDIUM } else { ERRORS }, 5))
        }
        ["I/O", "error", "on"] if text(3) == "device" || text(3) == "dev" => {
            Some((device(text(4))?, BUFFER, 5))
        }
        _ => None,
    }
}

/// Parses `sd 2:0:0:0: [sdb] ...`.
fn scsi<'a>(line: &[Word], says: &impl Fn(&str) -> bool) -> Option<Event<'a>> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let address = |t: &str| {
        t.matches(':').count() == 4 && t.ends_with(':') && t.starts_with(|c: char| c.is_ascii_digit())
    };
    if text(0) != "sd" && text(0) != "scsi" {
        return None;
    }
    let begins = |beginning: &str| line.iter().any(|w| w.text.starts_with(beginning));
    let host = text(1).strip_suffix(':').filter(|t| t.starts_with("host"));
    if let Some(host) = host.filter(|_| begins("uas_eh_") && says("start")) {
        return Some((host.to_owned(), RESETS, 3));
    }
    if !address(text(1)) {
        return None;
    }
    let inner =
        text(2).strip_prefix('[').and_then(|t| t.strip_suffix(']')).filter(|t| evidence::is_device_name(t));
    let name = inner.map_or_else(|| text(1).trim_end_matches(':').to_owned(), str::to_owned);
    // `attempting task abort!scmd(0x00000000aabbccdd), outstanding for 30472 ms`
    let aborts = || begins("abort!") || begins("uas_eh_abort_handler");
    let host_gave_up = || {
        let result = line.iter().find_map(|w| w.text.strip_prefix("hostbyte="));
        result.is_some_and(|r| r.starts_with("DID_") && !OF_THE_DISK.contains(&r))
    };
    let kind = match () {
        () if says("Medium") => SENSE,
        () if says("abort") || aborts() || says("timing") || says("timeout") => TIMEOUTS,
        () if says("Power-on") => POWER_ON,
        () if says("reset") || says("reset!") || says("reset:") => RESETS,
        () if says("offlined") || says("offline") => OFFLINE,
        () if says("hostbyte=DID_TIME_OUT") => TIMEOUTS,
        () if says("FAILED") && host_gave_up() => TRANSPORT,
        () if says("FAILED") => RESULT,
        () if says("Hardware") => ERRORS,
        () => return None,
    };
    Some((name, kind, 3))
}

/// Results of commands that returned from the disk.
const OF_THE_DISK: [&str; 3] = ["DID_OK", "DID_MEDIUM_ERROR", "DID_ALLOC_FAILURE"];

/// Parses `usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd`.
fn usb<'a>(line: &[Word]) -> Option<Event<'a>> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let port = text(1).strip_suffix(':').filter(|_| text(0) == "usb" && text(2) == "reset")?;
    let digits = |c: char| c.is_ascii_digit() || ['-', '.'].contains(&c);
    let fits = port.contains('-') && port.chars().all(digits) && line.iter().any(|w| w.text == "USB");
    fits.then(|| (format!("usb {port}"), RESETS, 3))
}

/// Parses `nvme nvme0: I/O 12 QID 3 timeout, aborting`, `nvme nvme0: controller is down; will reset: CSTS=0x3`.
fn nvme<'a>(line: &[Word], says: &impl Fn(&str) -> bool) -> Option<Event<'a>> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let name = text(1).strip_suffix(':').filter(|n| text(0) == "nvme" && n.starts_with("nvme"))?;
    evidence::is_device_name(name).then_some(())?;
    let kind = match () {
        () if says("timeout") => TIMEOUTS,
        () if says("reset") || says("resetting") => RESETS,
        () if says("Removing") || says("removing") => OFFLINE,
        () => return None,
    };
    Some((name.to_owned(), kind, 2))
}

/// Parses `md/raid1:md0: Disk failure on sdb1, disabling device.`, `md/raid:md0: read error corrected (8 sectors at 2048 on sda1)`.
fn raid<'a>(line: &[Word], says: &impl Fn(&str) -> bool) -> Option<Event<'a>> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let device = |name: &str| {
        let name = name.trim_end_matches([',', ')', '.']);
        evidence::is_device_name(name).then(|| name.to_owned())
    };
    match [text(0), text(1), text(2)] {
        ["Disk", "failure", "on"] if says("disabling") => Some((device(text(3))?, FAILED, 4)),
        ["read", "error", "corrected"] if text(7) == "on" => Some((device(text(8))?, CORRECTED, 9)),
        ["read", "error", "NOT"] if text(6) == "on" => Some((device(text(7))?, ERRORS, 8)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
