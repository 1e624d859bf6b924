//! Reads messages about failing devices in the kernel's log: errors, timeouts, resets of links, controllers and servers. The lines are in
//! `says.rs`, with their sources (drivers/ata, drivers/scsi, drivers/nvme, drivers/mmc, drivers/usb, drivers/md, block/blk-core.c, fs);
//! those of file systems are understood by `file_systems.rs`,
//! those of storage on other machines by `remote.rs`.
//!
//! ```text
//! ata3.00: exception Emask 0x0 SAct 0x7fffffff SErr 0x0 action 0x6 frozen              sata link: exceptions
//! ata3: hard resetting link                                                             resets
//! blk_update_request: I/O error, dev sdb, sector 123456 op 0x0:(READ) flags 0x80700     sdb: I/O errors
//! sd 2:0:0:0: [sdb] Sense Key : Medium Error [current]                                  medium errors
//! sd 2:0:0:0: attempting task abort! scmd(ffff880204baee80)                             timeouts
//! nvme nvme0: I/O 12 QID 3 timeout, aborting                                            nvme0: timeouts
//! usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd                          usb 2-1: resets
//! md/raid:md0: read error corrected (8 sectors at 2048 on sda1)                         sda1: corrected read errors
//! XFS (dm-8): Metadata corruption detected at xfs_agi_read_verify+0xcb/0xf0 [xfs], ...  dm-8: corruption messages
//! ```
//!
//! A command that the host or the driver gave up (`hostbyte=DID_NO_CONNECT`) did not return from the disk: its error in the block layer
//! is not counted for the disk. Nor is that of a command that the disk refused (`Illegal Request`, a missing medium).
//!
//! Lines of one log are one reading: a row per device, with the count of each kind. Other lines of the log tell which device an
//! `ata3` is.
//!
//! **Versions**: Linux 6.1 by the sources named above, older forms by logs that people mailed.

use super::btrfs_stats;
use super::reader::{Found, Tool};
use crate::output::log_fact::LogFact;
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;
use lines::event;
use std::collections::BTreeMap;

mod file_systems;
mod lines;
mod remote;
mod says;

pub struct KernelErrors;

/// Limit on words between two matching lines: other lines of the same error, and prefixes of lines.
const MOST_BETWEEN: usize = 60;
/// Limit on devices in one log.
const MOST_DEVICES: usize = 512;

/// The count of each kind, and the place of the first.
type Kinds = BTreeMap<&'static str, (u64, Spot)>;

impl Tool for KernelErrors {
    fn read(&self, words: &[Word]) -> Option<Found> {
        event(words)?;
        let mut log = Log::default();
        let (mut used, mut unknown) = (0, 0);
        loop {
            let rest = &words[used..];
            let within = rest
                .iter()
                .take(MOST_BETWEEN)
                .enumerate()
                .take_while(|(i, w)| *i == 0 || !w.paragraph && !w.text.ends_with("INFO:"))
                .take_while(|(i, w)| w.text != "BTRFS" || btrfs_stats::totals(&rest[*i..]).is_none())
                .count();
            let next = (0..within).find_map(|skip| Some((skip, event(&rest[skip..])?)));
            let Some((skip, (device, kind, length))) = next else { break };
            used += skip + length;
            unknown += skip;
            log.names(&device, file_systems::name(&rest[skip..]), rest[skip].spot);
            log.add(device, kind, rest[skip].spot);
        }
        let settings = std::mem::take(&mut log.file_systems);
        let mut reading = Reading { tool: "kernel log", at: words[0].spot, settings, ..Reading::default() };
        log.seen_below();
        for (device, mut kinds) in log.devices {
            told_once(&mut kinds);
            let mut row = Row::of(device);
            for (kind, (count, at)) in kinds {
                row.values.put(kind, count as f64, Unit::Count, at);
            }
            if !row.values.is_empty() {
                reading.rows.push(row);
            }
        }
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// Kinds of messages that are counted.
pub(crate) const RESETS: &str = "resets";
const TIMEOUTS: &str = "timeouts";
const EXCEPTIONS: &str = "exceptions";
/// Commands that were done when their time was over: the interrupt that should have said so did not come.
const UNTOLD: &str = "lost interrupts";
pub(crate) const ERRORS: &str = "I/O errors";
const MEDIUM: &str = "medium errors";
/// The drive says that it is broken (sense key 4).
const HARDWARE: &str = "hardware errors";
const FAILED: &str = "failed";
/// Results set by the host (`DID_NO_CONNECT`, ..., include/scsi/scsi_status.h): the command did not return from the disk.
pub(crate) const TRANSPORT: &str = "transport errors";
/// The disk is no longer used.
pub(crate) const OFFLINE: &str = "offline messages";
/// Paths that dm-multipath no longer uses.
const PATHS: &str = "path failures";
/// The command that a message is about: a discard; one that a program sent itself, such as a question for the drive's health.
const DISCARDS: &str = "discards";
const ASKED: &str = "pass-through commands";
/// A server on the network that does not answer.
const SERVER: &str = "missed answers";
/// A device on USB was removed, which is no failure of its own; [`scsi_disks`](crate::output) leaves it out beside nothing else.
pub(crate) const UNPLUGGED: &str = "disconnects";
/// Commands that are refused, by a device that works or before they reach it: an address or a command that it does not have; a missing or
/// blank disc; a locked or write-protected one; one that another host has reserved; data whose protection information does not match
/// (T10 PI); a discard.
const REFUSED: &str = "refused commands";
const ABSENT: &str = "absent or blank discs";
const DENIED: &str = "access denials";
const RESERVED: &str = "reservation conflicts";
const PROTECTION: &str = "protection errors";
const UNSUPPORTED: &str = "unsupported commands";
const REFUSALS: [&str; 6] = [REFUSED, ABSENT, DENIED, RESERVED, PROTECTION, UNSUPPORTED];
/// Requests that the kernel did not send, since they lie behind the end of the device.
const BEYOND: &str = "out-of-range requests";
/// Writes that were answered with a read error: no drive does so, but a target in software does for each failure
/// (tgt, `usr/bs_rdwr.c`: `ASC_READ_ERROR`).
const EMULATED: &str = "writes answered by a read error";
/// Sectors that md could not read, and rewrote with data from the other disks.
const CORRECTED: &str = "corrected read errors";
/// A file system did not go on: it was shut down, or made read-only.
const STOPPED: &str = "read-only or shut down";
/// A file system found its data on the disk damaged, which need not be the disk's fault.
const CORRUPT: &str = "corruption messages";
/// What it says after that of the same damage; XFS prints the damaged block between the two, many lines.
const DAMAGE: &str = "further corruption messages";
/// Damaged blocks that a file system rewrote from another copy.
const REPAIRED: &str = "repaired blocks";
/// A file system stopped because it found no space for its own data, or no memory.
const FULL: &str = "lacks of space";
const NO_MEMORY: &str = "lacks of memory";
/// A file system was shut down by a program, as tests do; the connection of a network block device was closed.
const ON_REQUEST: &str = "on request";
/// A message of a disk after a reset or after attachment; [`scsi_disks`](crate::output) distinguishes the two.
pub(crate) const POWER_ON: &str = "unit attentions";
/// Further messages about one failure: the SCSI driver's result, the page cache's error, the sense data, what became of an abort or a
/// reset. [`AGAIN`] gives the kinds that they count for.
const RESULT: &str = "result";
const BUFFER: &str = "buffer";
const SENSE: &str = "sense";
const ABORTED: &str = "aborted";
const WAS_RESET: &str = "was reset";
const BUS: &str = "bus error";
const TARGET: &str = "target error";
/// A file system's message about an I/O error below it, and the count of errors that btrfs prints with it.
const SEEN: &str = "seen";
const TOTAL: &str = "total";
/// The state of a connection after its peer did not answer, and an operation that failed then.
const STATE: &str = "state";
const OPERATION: &str = "operation";
/// A disk that btrfs finds under another name while it uses it under the old one: it was gone, and came back.
const MOVED: &str = "moved";
/// Devices that a file system does not find, and mounts that failed.
const MISSING: &str = "missing devices";
const UNMOUNTED: &str = "failed mounts";
/// A file system that waits for its own journal, and reports it.
const STUCK: &str = "stuck journals";
const AGAIN: [(&str, &str); 10] = [
    (RESULT, ERRORS),
    (BUFFER, ERRORS),
    (SENSE, MEDIUM),
    (ABORTED, TIMEOUTS),
    (WAS_RESET, RESETS),
    (BUS, EXCEPTIONS),
    (SEEN, ERRORS),
    (TOTAL, ERRORS),
    (STATE, SERVER),
    (OPERATION, SERVER),
];
/// Errors of a file system whose number tells the kind; EIO with which btrfs stops, which it also returns for data that is damaged; EIO that
/// XFS returns for all that it still had to write once it stopped.
const NUMBERED: &str = "numbered";
const HEARSAY: &str = "hearsay";
const ECHO: &str = "echo";
/// A command failed; other lines say how. Without them it counts as an exception.
const COMMAND: &str = "failed command";
/// Details of an error that are not counted: the command did not get through, there is no fitting medium, the link lost the command though
/// the sense data blames it, the link damaged it, sectors could not be read, the command was a write.
const GIVEN_UP: &str = "given up";
const NO_MEDIUM: &str = "no medium";
const LOST: &str = "lost";
const ON_THE_WAY: &str = "on the way";
const UNREAD: &str = "unread";
const WRITE: &str = "write";

/// The devices of a log, and what the last lines said of them.
#[derive(Default)]
struct Log {
    devices: Vec<(String, Kinds)>,
    /// Disks whose last command was given up by the host, or refused.
    given_up: Vec<String>,
    /// Disks with requests behind their ends: the errors of pages are of those.
    beyond: Vec<String>,
    /// Devices that a program shut down.
    asked: Vec<String>,
    /// Devices that have another name by now.
    moved: Vec<String>,
    /// Disks whose last sense data was a read error.
    unread: Vec<String>,
    /// The device whose last sense data was a hardware error.
    hardware_error: Option<String>,
    /// The disk whose sense data blamed it for what the link may have lost.
    lost: Option<String>,
    /// Whose command an adapter's driver tried to end last.
    tried: Option<String>,
    /// Which file system is on a device.
    file_systems: Vec<Setting>,
}

impl Log {
    fn add(&mut self, device: String, kind: &'static str, at: Spot) {
        let device = match kind {
            ABORTED | WAS_RESET if device.starts_with("adapter ") => self.tried.clone().unwrap_or(device),
            _ => device,
        };
        if [TIMEOUTS, RESETS].contains(&kind) {
            self.tried = Some(device.clone());
        }
        let disk = evidence::whole_disk(&device).to_owned();
        let kind = match kind {
            NO_MEDIUM if self.one_less(&device, TRANSPORT) || self.one_less(&device, SENSE) => ABSENT,
            LOST if self.one_less(&device, REFUSED) => {
                self.lost = Some(disk.clone());
                TRANSPORT
            }
            // The block layer has the disk's own answer: a zoned disk that is not written in order.
            TARGET if self.lost.take_if(|of| *of == disk).is_some() && self.one_less(&device, TRANSPORT) => {
                REFUSED
            }
            ON_THE_WAY if self.takes_back_hardware_error(&device) => TRANSPORT,
            // Not all drives and bridges know what programs ask.
            ASKED if self.takes_back_hardware_error(&device) => ASKED,
            NO_MEDIUM | LOST | ON_THE_WAY => return,
            GIVEN_UP => {
                self.one_less(&device, RESULT);
                TRANSPORT
            }
            kind if REFUSALS.contains(&kind) => {
                self.one_less(&device, RESULT);
                kind
            }
            ON_REQUEST => {
                self.asked.extend((self.asked.len() < MOST_DEVICES).then_some(device));
                return;
            }
            STOPPED if self.asked.contains(&device) => return,
            // A connection that was closed may be opened again, and fail then.
            OFFLINE if self.asked.contains(&device) => {
                self.asked.retain(|asked| *asked != device);
                return;
            }
            HEARSAY if self.has(&device, &[CORRUPT, DAMAGE, STOPPED, SEEN, TOTAL]) => return,
            // It makes the file system read-only (fs/btrfs/messages.c, `__btrfs_handle_fs_error`).
            HEARSAY => STOPPED,
            ECHO if self.has(&device, &[STOPPED]) => return,
            ECHO => SEEN,
            SEEN | TOTAL if self.moved.contains(&device) => TRANSPORT,
            WRITE if self.unread.contains(&disk) => EMULATED,
            WRITE => return,
            kind => kind,
        };
        match kind {
            _ if gives_up(&device, kind) && self.given_up.len() < MOST_DEVICES => self.given_up.push(disk),
            BEYOND if self.beyond.len() < MOST_DEVICES => self.beyond.push(disk),
            RESULT | SENSE | HARDWARE => {
                self.hardware_error = (kind == HARDWARE).then(|| device.clone());
                self.given_up.retain(|name| *name != disk);
                self.unread.retain(|name| *name != disk);
            }
            MOVED if self.moved.len() < MOST_DEVICES => self.moves(&device),
            UNREAD => {
                self.unread.extend((self.unread.len() < MOST_DEVICES).then_some(disk));
                return;
            }
            ERRORS | BUFFER | SEEN | TOTAL if self.given_up.contains(&disk) => return,
            BUFFER | SEEN | TOTAL if self.beyond.contains(&disk) => return,
            _ => {}
        }
        let place = match self.devices.iter().position(|(name, _)| *name == device) {
            Some(place) => place,
            None if self.devices.len() >= MOST_DEVICES => return,
            None => {
                self.devices.push((device, Kinds::new()));
                self.devices.len() - 1
            }
        };
        self.devices[place].1.entry(kind).or_insert((0, at)).0 += 1;
    }

    /// What a file system saw under the old name of a device did not come from the disk, which was gone.
    fn moves(&mut self, device: &str) {
        self.moved.push(device.to_owned());
        let Some((_, kinds)) = self.devices.iter_mut().find(|(name, _)| name == device) else { return };
        for (count, at) in [SEEN, TOTAL].iter().filter_map(|kind| kinds.remove(kind)).collect::<Vec<_>>() {
            let whole = kinds.entry(TRANSPORT).or_insert((0, at));
            *whole = (whole.0.max(count), whole.1.min(at));
        }
    }

    /// Keeps which file system is on a device.
    fn names(&mut self, device: &str, file_system: Option<&str>, at: Spot) {
        let Some(value) = file_system.filter(|_| self.file_systems.len() < MOST_DEVICES) else { return };
        let told = LogFact::FileSystem.setting(device, value, at);
        if self.file_systems.iter().all(|known| known.name != told.name) {
            self.file_systems.push(told);
        }
    }

    /// Whether lines of one of the kinds were about the device.
    fn has(&self, device: &str, kinds: &[&str]) -> bool {
        let of = |known: &Kinds| kinds.iter().any(|kind| known.contains_key(kind));
        self.devices.iter().any(|(name, known)| name == device && of(known))
    }

    /// Leaves out errors that a file system saw on a partition if the block layer reports them for its disk.
    fn seen_below(&mut self) {
        let told: Vec<String> = self
            .devices
            .iter()
            .filter(|(_, kinds)| [ERRORS, RESULT, SENSE, MEDIUM].iter().any(|kind| kinds.contains_key(kind)))
            .map(|(name, _)| name.clone())
            .collect();
        for (name, kinds) in &mut self.devices {
            let disk = evidence::whole_disk(name);
            if disk != name && told.iter().any(|told| told == disk) {
                kinds.retain(|kind, _| ![SEEN, TOTAL].contains(kind));
            }
        }
    }

    /// Takes back the hardware error of the device's last command with its result; false if it was none.
    fn takes_back_hardware_error(&mut self, device: &str) -> bool {
        let is_last = self.hardware_error.take_if(|of| of == device).is_some();
        let was_one = is_last && self.one_less(device, HARDWARE);
        let _ = was_one && self.one_less(device, RESULT);
        was_one
    }

    /// Takes back the last line of a kind, since a later line of the same command says more.
    fn one_less(&mut self, device: &str, kind: &str) -> bool {
        let Some((_, kinds)) = self.devices.iter_mut().find(|(name, _)| name == device) else { return false };
        let Some((count, _)) = kinds.get_mut(kind) else { return false };
        *count -= 1;
        if *count == 0 {
            kinds.remove(kind);
        }
        true
    }
}

/// Whether a command did not return from the disk, or not with an error of its own: the errors that follow are of this command. A volume
/// whose pool has no space gives up as well.
fn gives_up(device: &str, kind: &str) -> bool {
    let of_pool = kind == FULL && device.starts_with("dm-");
    [TRANSPORT, TIMEOUTS, OFFLINE].contains(&kind) || REFUSALS.contains(&kind) || of_pool
}

/// Whether a file system speaks in a line of the log: the device is in use.
pub(crate) fn is_of_a_file_system(line: &str) -> bool {
    let words = crate::output::words::words(line);
    (0..words.len()).any(|at| file_systems::speaker(&words[at..]).is_some())
}

/// Merges the messages about one failure: the driver's result and sense key, the block layer's error, and the buffer's. Each kind counts as
/// often as its most frequent message.
fn told_once(kinds: &mut Kinds) {
    // A copy of a disk, or another path to it, is found under another name as well, and nothing fails then.
    if let Some(moved) = kinds.remove(MOVED).filter(|_| !kinds.is_empty()) {
        kinds.entry(UNPLUGGED).or_insert(moved);
    }
    let mut again = AGAIN.to_vec();
    let alone = kinds.len() == 1;
    // The device ended the command, because it was refused or for an error of its own (drivers/scsi/scsi_error.c, `scsi_check_sense`).
    let of_target = [HARDWARE].into_iter().chain(REFUSALS).find(|kind| kinds.contains_key(kind));
    again.push((TARGET, of_target.unwrap_or(ERRORS)));
    if alone {
        again.push((COMMAND, EXCEPTIONS));
    }
    for (driver, kind) in again {
        if let Some((count, at)) = kinds.remove(driver) {
            let whole = kinds.entry(kind).or_insert((0, at));
            *whole = (whole.0.max(count), whole.1.min(at));
        }
    }
    kinds.remove(COMMAND);
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_file_systems;
