//! The devices of one log with their lines, and what is behind each: a disk, a disc that can be changed, a target elsewhere.

use super::thresholds::kernel_errors::{LAST_TRY, ONE_MOMENT};
use evidence::whole_disk;
use tooltext::{LogFact, LogForm, Number, Row, Spot, ToolOutput};

/// Kinds of lines about errors of the device, and about the way to it.
pub(super) const ERRORS: [&str; 5] = ["I/O errors", MEDIUM[0], MEDIUM[1], MEDIUM[2], FAILED];
pub(super) const LINK: [&str; 10] = [
    RESETS,
    TIMEOUTS,
    UNTOLD,
    "exceptions",
    "transport errors",
    GONE[0],
    GONE[1],
    GONE[2],
    "missed answers",
    AT_ONCE,
];
const RESETS: &str = "resets";
pub(super) const TIMEOUTS: &str = "timeouts";
/// Commands that were done, though no interrupt said so.
pub(super) const UNTOLD: &str = "lost interrupts";
/// Errors that only the device itself causes.
pub(super) const MEDIUM: [&str; 3] = ["medium errors", "hardware errors", "corrected read errors"];
/// Errors after which data may be lost.
pub(super) const LOSING: [&str; 2] = [MEDIUM[0], MEDIUM[1]];
/// md failed a disk, whatever was wrong with it.
pub(super) const FAILED: &str = "failed";
/// The device is no longer there.
const GONE: [&str; 3] = ["offline messages", DISCONNECTS, PATHS];
pub(super) const DISCONNECTS: &str = "disconnects";
/// The commands that messages are about: discards, and those that a program sent itself.
pub(super) const DISCARDS: &str = "discards";
pub(super) const ASKED: &str = "pass-through commands";
pub(super) const PATHS: &str = "path failures";
/// Requests at different places that failed in one moment: the kernel gave up all that the device had.
pub(super) const AT_ONCE: &str = "errors at once";
/// A file system on the device was shut down or made read-only.
pub(super) const STOPPED: &str = "read-only or shut down";
/// A file system or a pool has no space for its own data.
pub(super) const FULL: &str = "lacks of space";
/// What a thin pool is called. Its volumes' new blocks wait or fail when it has no more.
pub(super) const THIN_POOL: &str = "the thin pool";
/// Commands that a device that works refuses, or that do not reach it.
pub(super) const REFUSALS: [&str; 6] = [
    "refused commands",
    "absent or blank discs",
    "access denials",
    "reservation conflicts",
    PROTECTION,
    "unsupported commands",
];
/// Data whose protection information (T10 PI) does not match.
pub(super) const PROTECTION: &str = "protection errors";
/// Requests behind the end of the device, which are not sent.
pub(super) const BEYOND: &str = "out-of-range requests";
/// A file system got no memory.
pub(super) const NO_MEMORY: &str = "lacks of memory";
/// Writes that the device answered with a read error.
const EMULATED: &str = "writes answered by a read error";

/// A device and all of its lines in one log.
#[derive(Clone)]
pub(super) struct Logged<'a> {
    pub device: &'a str,
    pub form: Option<LogForm>,
    pub rows: Vec<&'a Row>,
}

impl Logged<'_> {
    /// The counts of one kind of lines, one from each reading, with the place of its first line.
    pub fn of_kind(&self, kind: &str) -> Vec<Number> {
        self.rows.iter().filter_map(|row| row.get(kind)).collect()
    }

    pub fn first(&self, kinds: &[&str]) -> Option<Spot> {
        kinds.iter().flat_map(|kind| self.of_kind(kind)).map(|n| n.at).min()
    }

    pub fn count(&self, kinds: &[&str]) -> u64 {
        kinds.iter().flat_map(|kind| self.of_kind(kind)).map(|n| n.value as u64).sum()
    }

    /// Whether its pool has no space, and no file system says so.
    pub fn is_full_volume(&self) -> bool {
        self.device.starts_with("dm-") && self.first(&[FULL]).is_some() && self.first(&[STOPPED]).is_none()
    }

    pub fn is_adapter(&self) -> bool {
        self.device.starts_with("adapter ")
    }

    /// Whether the log names a port or an address: which disk is there, only the time tells.
    pub fn is_nameless(&self) -> bool {
        let is_address = self.device.starts_with(|c: char| c.is_ascii_digit()) && self.device.contains(':');
        self.device.starts_with("usb ") || is_address
    }

    /// What is behind its name.
    pub fn behind(&self, output: &ToolOutput) -> Behind {
        let disk = whole_disk(self.device);
        let numbered =
            |kind: &str| disk.strip_prefix(kind).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let refuses = || {
            let refused = self.count(&REFUSALS);
            refused > 0 && self.first(&MEDIUM).is_none() && self.count(&ERRORS) <= refused
        };
        let mut rows =
            output.runs.iter().flat_map(|run| run.of("kernel log")).flat_map(|reading| &reading.rows);
        let mut emulated = || rows.any(|row| whole_disk(&row.of) == disk && row.get(EMULATED).is_some());
        match () {
            () if numbered("sr") || numbered("fd") => Behind::Disc,
            () if refuses() => Behind::Disc,
            () if emulated() => Behind::Target("it answers writes with a read error".into()),
            () => {
                output.log_fact(LogFact::Virtual, disk).map_or(Behind::Disk, |of| Behind::Target(of.into()))
            }
        }
    }

    /// The first line about this device if it explains why a file system on `device` stopped at a place in the log: errors of its disk, or of
    /// the way to it, before that or in the same moment.
    pub fn trouble_of(&self, output: &ToolOutput, device: &str, stop: Spot) -> Option<Spot> {
        let first = self.first(&[&ERRORS[..], &LINK[..]].concat()).filter(|_| self.has(output, device))?;
        let before = first < stop && output.log_between(first, stop).is_none_or(|s| s >= 0.0);
        (at_one_time(output, first, stop) || before && !self.is_nameless()).then_some(first)
    }

    /// Whether this is the device's disk or the way to it, and did not answer at the moment of `stop`.
    pub fn is_gone_at(&self, output: &ToolOutput, device: &str, stop: Spot) -> bool {
        let near = |at: Spot| at_one_time(output, at, stop);
        self.has(output, device) && LINK.iter().flat_map(|kind| self.of_kind(kind)).any(|n| near(n.at))
    }

    /// Whether this is the other device's disk, its controller or port: nvme0 is the controller of nvme0n1p1.
    fn has(&self, output: &ToolOutput, device: &str) -> bool {
        let (own, disk) = (whole_disk(self.device), whole_disk(device));
        own == disk
            || own.starts_with("nvme") && disk.strip_prefix(own).is_some_and(|rest| rest.starts_with('n'))
            || match output.log_fact(LogFact::DiskOf, own) {
                Some(known) => known == disk,
                None => self.is_nameless() && disk.starts_with("sd"),
            }
    }

    /// Whether this is a link that the kernel gave up at the moment of this error, of the only disk of SCSI's with errors: what the
    /// disk is said to report then ("hardware error") is made up by the driver. What could not be read before is the disk's.
    fn is_lost_link_of(&self, output: &ToolOutput, log: &[Logged], device: &Logged, error: Spot) -> bool {
        let is_link = |of: &Logged| of.device.starts_with("ata") && of.first(&GONE[..1]).is_some();
        let others = |of: &Logged| is_link(of) && of.device != self.device || has_errors_beside(of, device);
        let is_its = match output.log_fact(LogFact::DiskOf, whole_disk(self.device)) {
            Some(disk) => disk == whole_disk(device.device),
            None => device.device.starts_with("sd") && !log.iter().any(others),
        };
        let [unread, _, corrected] = MEDIUM;
        is_link(self)
            && is_its
            && device.first(&[unread, corrected]).is_none()
            && self.of_kind(GONE[0]).iter().any(|n| at_one_time(output, n.at, error))
    }

    /// Whether this is a port of USB that was reset shortly before this error, of the only disk of SCSI's with errors: while it retries a
    /// command, the port is reset again and again.
    fn is_port_of(&self, output: &ToolOutput, log: &[Logged], device: &Logged, error: Spot) -> bool {
        let is_port = |of: &Logged| of.device.starts_with("usb ") && of.first(&[RESETS]).is_some();
        let others = |of: &Logged| is_port(of) && of.device != self.device || has_errors_beside(of, device);
        let shortly = |at: Spot| {
            at < error && output.log_between(at, error).is_none_or(|s| (0.0..=LAST_TRY).contains(&s))
        };
        is_port(self) && !log.iter().any(others) && self.of_kind(RESETS).iter().any(|n| shortly(n.at))
    }
}

/// Whether this is another disk of SCSI's, with errors.
fn has_errors_beside(of: &Logged, device: &Logged) -> bool {
    let is_other = of.device.starts_with("sd") && whole_disk(of.device) != whole_disk(device.device);
    is_other && of.first(&ERRORS).is_some()
}

fn at_one_time(output: &ToolOutput, a: Spot, b: Spot) -> bool {
    output.log_between(a, b).is_some_and(|s| s.abs() <= ONE_MOMENT)
}

/// What a device's name stands for.
pub(super) enum Behind {
    Disk,
    /// A drive that works, and refuses what its medium does not allow.
    Disc,
    /// A target or a host in software, by these words.
    Target(String),
}

/// The devices of one text: lines of other devices may lie between those of one, enough to make several readings of it.
/// Lines whose times have another form belong to another log.
pub(super) fn logged(output: &ToolOutput) -> Vec<Logged<'_>> {
    let mut devices: Vec<Logged> = vec![];
    for row in output.runs.iter().flat_map(|run| run.of("kernel log")).flat_map(|reading| &reading.rows) {
        let form = row.values.iter().next().and_then(|(_, n)| output.log_form(n.at));
        match devices.iter_mut().find(|d| d.device == row.of && d.form == form) {
            Some(known) => known.rows.push(row),
            None => devices.push(Logged { device: &row.of, form, rows: vec![row] }),
        }
    }
    devices
}

/// Whether a device's errors come after its link or controller stopped answering, or the device was removed at that moment, and none is
/// of the device itself.
pub(super) fn follows(output: &ToolOutput, log: &[Logged], device: &Logged) -> bool {
    let Some(error) = device.first(&ERRORS) else { return false };
    if log.iter().any(|other| other.is_lost_link_of(output, log, device, error)) {
        return true;
    }
    if device.first(&MEDIUM).is_some() {
        return false;
    }
    let before = |link: Spot| link < error && output.log_between(link, error).is_none_or(|s| s >= 0.0);
    let gone = |at: Spot| at_one_time(output, error, at);
    // What a thin pool cannot serve fails on its volumes, which are mapped too.
    let of_pool = |other: &Logged| {
        let is_pool = output.log_fact(LogFact::FileSystem, other.device) == Some(THIN_POOL);
        is_pool && device.device.starts_with("dm-") && other.first(&[STOPPED, FULL]).is_some()
    };
    // What a disk refused, or was not there for, fails in the same moment on what is made of disks.
    let is_made_of_disks = |name: &str| name.starts_with("dm-") || name.starts_with("md");
    let below = |other: &Logged| {
        let mut lines = [&LINK[..], &REFUSALS[..]].concat().into_iter().flat_map(|kind| other.of_kind(kind));
        is_made_of_disks(device.device) && !is_made_of_disks(other.device) && lines.any(|n| gone(n.at))
    };
    if log.iter().any(|other| of_pool(other) || below(other)) {
        return true;
    }
    let of_it = |other: &Logged| {
        let known = || output.log_fact(LogFact::DiskOf, other.device).is_some();
        other.first(&GONE).is_some_and(gone)
            || (!other.is_nameless() || known()) && other.first(&LINK).is_some_and(before)
            || other.is_port_of(output, log, device, error)
    };
    log.iter().filter(|other| other.has(output, device.device)).any(of_it)
}
