//! Failing devices in the kernel's log: `device-errors` if data could not be read or written, `link-reset` if the way to the device
//! was reset or did not answer. All I/O to the device waits meanwhile, for up to 30 s and several times over.
//!
//! A link or controller that stops answering also causes errors: errors after such lines are its consequence, unless one is of the
//! medium. So is md's line when it fails a disk. If several disks fail within a second, something that they share has failed.
//!
//! **Proof**: the kernel's own lines, counted, or a single one beside which a task hung (`hang.rs`); for `device-errors` also what
//! drives report about themselves (`drive.rs`). **Refuted** by a log of the slow time without such lines.

use super::advice;
use super::drive;
use super::hang::{self, Hang};
use super::logged::{
    follows, logged, Behind, Logged, AT_ONCE as GIVEN_UP, ERRORS, FAILED, LINK, LOSING, MEDIUM, PROTECTION,
    REFUSALS, STOPPED,
};
use super::say::judged;
use super::thresholds::evidence::LINES;
use super::thresholds::kernel_errors::{AT_ONCE, MANY_LINES, ONE_MOMENT};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use evidence::whole_disk;
use std::collections::BTreeSet;
use tooltext::{Spot, ToolOutput};
use trace::Nanos;
use units::words::counted;

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

/// What is missing if there is a single line; and if it is about a disk.
const MORE_LINES: &str = "whether the line is of the slow time, and the only one: dmesg -T of that time";
const MORE_OF_DISK: &str =
    "whether the line is of the slow time, and the only one: dmesg -T of that time; smartctl -a of the disk";

fn missing(disk: &str) -> &'static str {
    match disk != advice::DISK && advice::has_medium(disk) {
        true => MORE_OF_DISK,
        false => MORE_LINES,
    }
}

/// What the log says about one device.
struct LoggedErrors<'a> {
    output: &'a ToolOutput,
    of: Logged<'a>,
    lines: u64,
    /// If there are too few lines, which may be of another day: tasks that hung beside the first.
    hang: Option<Hang>,
    said: Proof,
}

impl LoggedErrors<'_> {
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

/// Devices with lines of some kinds, those with the most lines first; of equals, those with a task that hung.
fn told<'a>(outputs: &'a [ToolOutput], kinds: &[&'static str]) -> Vec<LoggedErrors<'a>> {
    let mut all: Vec<LoggedErrors> = vec![];
    for output in outputs {
        let log = logged(output);
        let of_one = |device: &Logged<'a>| {
            of_device(output, device, kinds).filter(|_| kinds != ERRORS || !follows(output, &log, device))
        };
        all.extend(log.iter().filter_map(of_one));
    }
    // A disk says more than its adapter, a name more than an address.
    let key =
        |t: &LoggedErrors| (t.enough() && !t.of.is_adapter(), t.lines, t.hang.is_some(), !t.of.is_nameless());
    all.sort_by_key(|t| std::cmp::Reverse(key(t)));
    // Another form of the same log may repeat it.
    let mut known: Vec<&str> = vec![];
    all.retain(|t| {
        let new = !known.contains(&t.of.device);
        known.extend(new.then_some(t.of.device));
        new
    });
    all
}

/// The lines of some kinds about one device; `None` if there are none.
fn of_device<'a>(
    output: &'a ToolOutput,
    logged: &Logged<'a>,
    kinds: &[&'static str],
) -> Option<LoggedErrors<'a>> {
    let device = logged.device;
    let found: Vec<_> =
        kinds.iter().map(|kind| (*kind, logged.count(&[kind]))).filter(|(_, n)| *n > 0).collect();
    let first = logged.first(kinds)?;
    let counts: Vec<String> = found.iter().map(|(kind, n)| counted(*n, &one(kind), kind)).collect();
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
    Some(LoggedErrors { output, of: logged.clone(), lines, hang, said })
}

/// A kind of lines in the singular: `I/O error`, `error at once`.
fn one(kind: &str) -> String {
    let (first, rest) = kind.split_once(' ').unwrap_or((kind, ""));
    match kind.strip_suffix('s') {
        Some(one) => one.to_owned(),
        None if rest.is_empty() => kind.to_owned(),
        None => format!("{} {rest}", first.strip_suffix('s').unwrap_or(first)),
    }
}

/// Disks that failed together: at least [`AT_ONCE`] have errors within a moment, none of them of the medium or after a reset of its link.
fn at_once(outputs: &[ToolOutput]) -> Option<(Vec<String>, Proof)> {
    outputs.iter().find_map(|output| {
        let log = logged(output);
        let own = log.iter().filter(|d| d.first(&MEDIUM).is_none() && !follows(output, &log, d));
        let spots = |d: &Logged| {
            [ERRORS[0], GIVEN_UP].iter().flat_map(|kind| d.of_kind(kind)).map(|n| n.at).collect::<Vec<_>>()
        };
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

/// What is missing if several disks failed at once.
const IN_COMMON: &str = "what these disks have in common: lines of their controller, of a cable or power, of a bug in the kernel, in dmesg -T right before";

/// What each of [`REFUSALS`] means.
const MEANINGS: [&str; 6] = [
    "such an address or command does not exist there: a disk or volume that was resized or replaced, a zoned disk that is not written in order, an encrypted DVD",
    "a drive answers so whose disc or card is missing, blank or unreadable: try another, or none",
    "it is locked or write-protected: unlock it, or look for its switch (hdparm -I; lsblk -o NAME,RO)",
    "another host has reserved it: see which (sg_persist -r)",
    "the disk may be formatted with protection information that this adapter does not expect (sg_readcap -l), else the way to it damages data",
    "the device does not support these: mount without discard, no fstrim (lsblk -D)",
];

/// `device-errors`
pub(super) fn errors(outputs: &[ToolOutput]) -> Option<Verdict> {
    let drives = drive::told(outputs);
    let mut all = told(outputs, &ERRORS);
    if let Some((disks, said)) = at_once(outputs) {
        all.retain(|t| !disks.iter().any(|disk| disk == whole_disk(t.of.device)));
        if all.is_empty() && drives.is_empty() {
            return Some(Verdict::cannot_tell("device-errors", IN_COMMON).because(said));
        }
    }
    let (mut all, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|t| matches!(t.of.behind(t.output), Behind::Disk));
    if all.is_empty() && drives.is_empty() {
        return no_disk(others, outputs).or_else(|| drive::of_its_life(outputs));
    }
    let sure =
        all.first().map(LoggedErrors::sure).into_iter().chain(drives.iter().map(|drive| drive.sure)).max()?;
    let enough = !drives.is_empty() || all.first().is_some_and(LoggedErrors::enough);
    all.truncate(MOST);
    let loses =
        drives.iter().any(|drive| drive.loses) || all.first().is_some_and(|t| t.of.count(&LOSING) > 0);
    let of_drive = || drives.iter().find_map(|drive| drive.disk);
    let disk = match all.first() {
        Some(first) => advice::disk(first.output, first.of.device),
        None => of_drive().unwrap_or(advice::DISK).to_owned(),
    };
    let proofs = all.into_iter().flat_map(LoggedErrors::proofs);
    let proofs = proofs.chain(drives.into_iter().map(|drive| drive.said).take(MOST));
    let v = proofs.fold(judged("device-errors", enough, sure, missing(&disk)), Verdict::because);
    if !enough {
        return Some(v);
    }
    let (shows, look) = advice::health(&disk);
    let v = v
        .unless("a log of the slow time without errors, and a drive that says nothing of the kind")
        .without("how long I/O waited for them: iowhy record")
        .try_this(shows, look);
    let copied = loses && advice::has_medium(&disk);
    Some(v.when(
        copied,
        "first copy what can still be read",
        Action::look(format!("ddrescue /dev/{disk} IMAGE MAP")),
    ))
}

/// Errors of drives that only refuse commands, and of virtual disks: neither shows a disk that fails.
fn no_disk(errors: Vec<LoggedErrors>, outputs: &[ToolOutput]) -> Option<Verdict> {
    let refusing =
        told(outputs, &REFUSALS).into_iter().filter(|t| matches!(t.of.behind(t.output), Behind::Disc));
    let (mut discs, targets): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|t| matches!(t.of.behind(t.output), Behind::Disc));
    if let Some(first) = targets.first() {
        let Behind::Target(of) = first.of.behind(first.output) else { return None };
        let disk = whole_disk(first.of.device);
        let missing = proof!(
            "what failed behind {disk}, a virtual disk ({of}): the log of its target or host at that time, its disks, the network",
            disk,
            of
        );
        let proofs = targets.into_iter().take(MOST).flat_map(LoggedErrors::proofs);
        let v = Verdict::cannot_tell("device-errors", missing).unless("what it shows is another machine's");
        return Some(advice::behind(proofs.fold(v, Verdict::because)));
    }
    let refusing: Vec<_> = refusing.collect();
    discs.retain(|t| !refusing.iter().any(|known| known.of.device == t.of.device));
    let all: Vec<_> = refusing.into_iter().chain(discs).collect();
    let first = all.first()?;
    let most =
        (0..REFUSALS.len()).max_by_key(|i| (first.of.count(&[REFUSALS[*i]]), std::cmp::Reverse(*i)))?;
    let meaning = if first.of.count(&REFUSALS) > 0 { MEANINGS[most] } else { MEANINGS[1] };
    if REFUSALS[most] == PROTECTION {
        let v = Verdict::cannot_tell("device-errors", meaning);
        let proofs = all.into_iter().take(MOST).flat_map(LoggedErrors::proofs);
        return Some(proofs.fold(v, Verdict::because));
    }
    let missing = proof!("what was slow: no disk fails here; {meaning}", meaning);
    let v = Verdict::cannot_tell("device-errors", missing).unless("a drive that refuses works");
    let proofs = all.into_iter().take(MOST).flat_map(LoggedErrors::proofs);
    Some(proofs.map(|said| proof!("{said}: no disk fails", said)).fold(v, Verdict::because))
}

/// Errors of a device that followed the reset of its link, or its file system that stopped at the same moment.
fn consequence(outputs: &[ToolOutput]) -> Option<Proof> {
    outputs.iter().find_map(|output| {
        let log = logged(output);
        if let Some(device) = log.iter().find(|device| follows(output, &log, device)) {
            let at = output.at(device.first(&ERRORS)?);
            return Some(proof!("errors of {device} are its consequence ({at})", device = device.device, at));
        }
        let stop = |of: &Logged| {
            let stop = of.first(&[STOPPED])?;
            log.iter().any(|other| other.is_gone_at(output, of.device, stop)).then_some(stop)
        };
        let (device, at) = log.iter().find_map(|of| Some((of.device, stop(of)?)))?;
        Some(proof!("the file system on {device} stopped at that moment ({at})", device, at = output.at(at)))
    })
}

/// `link-reset`
pub(super) fn resets(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut all = told(outputs, &LINK);
    let disks: BTreeSet<&str> =
        all.iter().map(|t| whole_disk(t.of.device)).filter(|disk| disk.starts_with("sd")).collect();
    let several = disks.len() >= AT_ONCE;
    all.truncate(MOST);
    let after = consequence(outputs);
    let first = all.first()?;
    let enough = first.enough() || after.is_some();
    let (output, of) = (first.output, first.of.clone());
    let v = judged("link-reset", enough, first.sure(), missing(&advice::disk(output, of.device)));
    let proofs = all.into_iter().flat_map(LoggedErrors::proofs).chain(after);
    let v = proofs.fold(v, Verdict::because);
    if !enough {
        return Some(v);
    }
    let v = v
        .unless("a log of the slow time without these lines")
        .without("how long I/O waited for them: iowhy record");
    Some(if several { advice::shared(v) } else { advice::link(v, output, &of) })
}
