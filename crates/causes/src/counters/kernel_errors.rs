//! Failing devices in the kernel's log: `device-errors` if data could not be read or written, `link-reset` if the way to the device
//! was reset or did not answer. All I/O to the device waits meanwhile, for up to 30 s and several times over.
//!
//! A link or controller that stops answering also causes errors: errors after such lines are its consequence, unless one is of the
//! medium. So is md's line when it fails a disk. If several disks fail within a second, something that they share has failed.
//!
//! **Proof**: the kernel's own lines, counted, or a single one beside which a task hung (`hang.rs`); for `device-errors` also what
//! drives report about themselves (`drive.rs`). **Refuted** by a log of the slow time without such lines.

use super::drive;
use super::hang::{self, Hang};
use super::say::judged;
use super::thresholds::evidence::LINES;
use super::thresholds::kernel_errors::{AT_ONCE, MANY_LINES, ONE_MOMENT};
use crate::hardware::Hardware;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use evidence::{is_device_name, whole_disk};
use std::collections::BTreeSet;
use tooltext::{LogForm, Number, Row, Spot, ToolOutput};
use trace::Nanos;
use units::words::counted;

/// Kinds of lines about errors of the device, and about the way to it.
const ERRORS: [&str; 4] = ["I/O errors", MEDIUM[0], MEDIUM[1], FAILED];
const LINK: [&str; 5] = ["resets", "timeouts", "exceptions", "transport errors", "offline messages"];
/// Errors that only the medium causes.
const MEDIUM: [&str; 2] = ["medium errors", "corrected read errors"];
/// md failed a disk, whatever was wrong with it.
const FAILED: &str = "failed";
/// The most devices that are reported.
const MOST: usize = 4;

/// Seconds from a line to the end of its log: a line at least that old is reported with its age.
const OLD: f64 = 60.0;

/// A single line may be of another time than the slow one; many lines hardly are.
fn sure(lines: u64) -> Confidence {
    if lines >= MANY_LINES {
        Confidence::High
    } else {
        Confidence::Medium
    }
}

/// What is missing if there is a single line.
const MORE_LINES: &str =
    "whether the line is of the slow time, and the only one: dmesg -T of that time; smartctl -a of the disk";

/// What the log says about one device.
struct LoggedErrors {
    device: String,
    lines: u64,
    /// If there are too few lines, which may be of another day: tasks that hung beside the first.
    hang: Option<Hang>,
    said: Proof,
}

impl LoggedErrors {
    fn enough(&self) -> bool {
        self.lines >= LINES || self.hang.is_some()
    }

    fn sure(&self) -> Confidence {
        match self.hang {
            Some(Hang { meanwhile: false, .. }) => Confidence::Low,
            _ => sure(self.lines),
        }
    }

    /// The sentence about the device, and the one about tasks that hung.
    fn proofs(self) -> Vec<Proof> {
        std::iter::once(self.said).chain(self.hang.map(|hang| hang.said)).collect()
    }
}

/// A device and all of its lines in one log.
struct Logged<'a> {
    device: &'a str,
    form: Option<LogForm>,
    rows: Vec<&'a Row>,
}

impl Logged<'_> {
    /// The counts of one kind of lines, one from each reading, with the place of its first line.
    fn of_kind(&self, kind: &str) -> Vec<Number> {
        self.rows.iter().filter_map(|row| row.get(kind)).collect()
    }

    fn first(&self, kinds: &[&str]) -> Option<Spot> {
        kinds.iter().flat_map(|kind| self.of_kind(kind)).map(|n| n.at).min()
    }

    /// Whether this is the other device's disk, or its controller: nvme0 is the controller of nvme0n1p1.
    fn has(&self, device: &str) -> bool {
        let (own, disk) = (whole_disk(self.device), whole_disk(device));
        own == disk
            || own.starts_with("nvme") && disk.strip_prefix(own).is_some_and(|rest| rest.starts_with('n'))
    }
}

/// Devices with lines of some kinds, those with the most lines first; of equals, those with a task that hung.
fn told(outputs: &[ToolOutput], kinds: &[&'static str]) -> Vec<LoggedErrors> {
    let mut all: Vec<LoggedErrors> = vec![];
    for output in outputs {
        let log = logged(output);
        let of_one = |device: &Logged| {
            of_device(output, device, kinds).filter(|_| kinds == LINK || !follows(output, &log, device))
        };
        all.extend(log.iter().filter_map(of_one));
    }
    all.sort_by_key(|t| std::cmp::Reverse((t.lines, t.hang.is_some())));
    // Another form of the same log may repeat it.
    let mut known: Vec<String> = vec![];
    all.retain(|t| {
        let new = !known.contains(&t.device);
        known.extend(new.then(|| t.device.clone()));
        new
    });
    all
}

/// The devices of one text: lines of other devices may lie between those of one, enough to make several readings of it.
/// Lines whose times have another form belong to another log.
fn logged(output: &ToolOutput) -> Vec<Logged<'_>> {
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

/// Whether a device's errors come after its link or controller stopped answering, and none is of the medium.
fn follows(output: &ToolOutput, log: &[Logged], device: &Logged) -> bool {
    let Some(error) = device.first(&ERRORS).filter(|_| device.first(&MEDIUM).is_none()) else { return false };
    let before = |link: Spot| link < error && output.log_between(link, error).is_none_or(|s| s >= 0.0);
    log.iter().filter(|other| other.has(device.device)).any(|other| other.first(&LINK).is_some_and(before))
}

/// The lines of some kinds about one device; `None` if there are none.
fn of_device(output: &ToolOutput, logged: &Logged, kinds: &[&'static str]) -> Option<LoggedErrors> {
    let device = logged.device;
    let sum = |kind: &str| logged.of_kind(kind).iter().map(|n| n.value as u64).sum::<u64>();
    let found: Vec<_> = kinds.iter().map(|kind| (*kind, sum(kind))).filter(|(_, n)| *n > 0).collect();
    let first = logged.first(kinds)?;
    let one = |kind: &'static str| kind.strip_suffix('s').unwrap_or(kind);
    let counts: Vec<String> = found.iter().map(|(kind, n)| counted(*n, one(kind), kind)).collect();
    let lines = found.iter().filter(|(kind, _)| *kind != FAILED).map(|(_, n)| n).sum();
    let hang = if lines < LINES { hang::beside(output, device, first) } else { None };
    // A line beside a hang is of that time.
    let goes_on = output.log_goes_on(first).filter(|seconds| *seconds >= OLD && hang.is_none());
    let (at, counts) = (output.at(first), counts.join(", "));
    let said = match goes_on {
        Some(seconds) => proof!(
            "{device}: {counts} in the kernel's log (the first at {at}, {ago} before the log ends)",
            device,
            counts,
            at,
            ago = Nanos((seconds * 1e9) as u64)
        ),
        None => proof!("{device}: {counts} in the kernel's log (the first at {at})", device, counts, at),
    };
    Some(LoggedErrors { device: device.to_owned(), lines, hang, said })
}

/// Disks that failed together: at least [`AT_ONCE`] have errors within a moment, none of them of the medium or after a reset of its link.
fn at_once(outputs: &[ToolOutput]) -> Option<(Vec<String>, Proof)> {
    outputs.iter().find_map(|output| {
        let log = logged(output);
        let own = log.iter().filter(|d| d.first(&MEDIUM).is_none() && !follows(output, &log, d));
        let spots = |d: &Logged| d.of_kind(ERRORS[0]).iter().map(|n| n.at).collect::<Vec<_>>();
        let all: Vec<(&str, Spot)> =
            own.flat_map(|d| spots(d).into_iter().map(|at| (whole_disk(d.device), at))).collect();
        let together = |at: Spot| {
            let near = |other: Spot| output.log_between(at, other).is_some_and(|s| s.abs() <= ONE_MOMENT);
            let disks: BTreeSet<&str> = all.iter().filter(|(_, other)| near(*other)).map(|(d, _)| *d).collect();
            disks
        };
        let (at, disks) = all.iter().take(MOST_SPOTS).map(|(_, at)| (*at, together(*at))).min_by_key(|(_, disks)| std::cmp::Reverse(disks.len()))?;
        (disks.len() >= AT_ONCE).then(|| {
            let n = disks.len() as u64;
            let said = proof!("{n} disks report errors within a second ({at}): what they share failed, or the kernel, not each of them", n = Count(n), at = output.at(at));
            (disks.into_iter().map(str::to_owned).collect(), said)
        })
    })
}

/// The most lines whose times are compared with those of all others.
const MOST_SPOTS: usize = 200;

/// How commands name a device: the kernel may log a port or an address, which becomes `DISK`.
fn in_commands(device: &str) -> &str {
    let port = device.strip_prefix("ata").is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    let is_address = !is_device_name(device) || device.starts_with("host");
    if port || is_address {
        "DISK"
    } else {
        device
    }
}

/// What is missing if several disks failed at once.
const IN_COMMON: &str = "what these disks have in common: lines of their controller, of a cable or power, of a bug in the kernel, in dmesg -T right before";

/// `device-errors`
pub(super) fn errors(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut all = told(outputs, &ERRORS);
    let drives = drive::told(outputs);
    if let Some((disks, said)) = at_once(outputs) {
        all.retain(|t| !disks.iter().any(|disk| disk == whole_disk(&t.device)));
        if all.is_empty() && drives.is_empty() {
            return Some(Verdict::cannot_tell("device-errors", IN_COMMON).because(said));
        }
    }
    let logged = all.first().map(|first| (first.sure(), first.device.clone()));
    let enough = !drives.is_empty() || all.first().is_some_and(LoggedErrors::enough);
    let sure = logged.iter().map(|(sure, _)| *sure).chain(drives.iter().map(|(sure, _)| *sure)).max()?;
    let device = logged.map_or("DISK".to_owned(), |(_, device)| device);
    let proofs = all.into_iter().take(MOST).flat_map(LoggedErrors::proofs);
    let proofs = proofs.chain(drives.into_iter().map(|(_, said)| said).take(MOST));
    let v = proofs.fold(judged("device-errors", enough, sure, MORE_LINES), Verdict::because);
    if !enough {
        return Some(v);
    }
    let device = in_commands(&device);
    let (shows, look) = Hardware::check(device);
    let v = v
        .unless("a log of the slow time without errors, and a drive that says nothing of the kind")
        .without("how long I/O waited for them: iowhy record")
        .try_this(shows, look);
    // Only devices with a medium.
    Some(match Hardware::of(device) {
        Hardware::Scsi | Hardware::Nvme | Hardware::Guest | Hardware::Card => v.try_this(
            "first copy what can still be read",
            Action::look(format!("ddrescue /dev/{device} IMAGE MAP")),
        ),
        _ => v,
    })
}

/// Errors of a device that followed the reset of its link.
fn consequence(outputs: &[ToolOutput]) -> Option<Proof> {
    outputs.iter().find_map(|output| {
        let log = logged(output);
        let device = log.iter().find(|device| follows(output, &log, device))?;
        let at = output.at(device.first(&ERRORS)?);
        Some(proof!("errors of {device} came after it ({at})", device = device.device, at))
    })
}

/// `link-reset`
pub(super) fn resets(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = told(outputs, &LINK);
    let first = all.first()?;
    let (device, sure, enough) = (first.device.clone(), first.sure(), first.enough());
    let v = judged("link-reset", enough, sure, MORE_LINES);
    let proofs = all.into_iter().take(MOST).flat_map(LoggedErrors::proofs).chain(consequence(outputs));
    let mut v = proofs.fold(v, Verdict::because);
    if !enough {
        return Some(v);
    }
    v = v
        .unless("a log of the slow time without these lines")
        .without("how long I/O waited for them: iowhy record");
    let is_nvme = device.starts_with("nvme") && is_device_name(&device);
    let remedy = if is_nvme {
        v.try_this(
            "what the drive counted: media errors, temperature, wear; and the newest firmware",
            Action::look(format!("nvme smart-log /dev/{device}; nvme error-log /dev/{device}")),
        )
        .try_this(
            "it may fail to wake from a power-saving state: test without them, by adding to the kernel command line: \
             nvme_core.default_ps_max_latency_us=0 pcie_aspm=off",
            Action::look("cat /proc/cmdline"),
        )
    } else {
        v.try_this(
            "a reset at full speed points to cable, power or backplane: replace them one by one; the device counts link errors (UDMA_CRC_Error_Count)",
            Action::look("smartctl -x /dev/DISK | grep -iE 'crc|phy|timeout'"),
        )
        .try_this(
            "the link may fail to wake from power saving: test without it",
            "for host in /sys/class/scsi_host/host*/link_power_management_policy; do echo max_performance > \
                 $host; done",
        )
    };
    Some(remedy)
}
