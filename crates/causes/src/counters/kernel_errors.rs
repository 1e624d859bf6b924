//! What the kernel's log says of failing devices: `device-errors` where data could not be read or written, `link-reset` where the way
//! to the device was reset or did not answer. Meanwhile all I/O to it waits, for up to 30 s and several times over.
//!
//! **Proof**: the kernel's own lines, counted, or a single one beside which a task hung (`hang.rs`); for `device-errors` also what drives say of themselves (`drive.rs`). **Refuted** by a log
//! of the slow time without any.

use super::drive;
use super::hang::{self, Hang};
use super::say::judged;
use super::thresholds::evidence::LINES;
use super::thresholds::kernel_errors::MANY_LINES;
use crate::hardware::Hardware;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::{Confidence, Verdict};
use evidence::is_device_name;
use tooltext::{Mail, Number, Row};
use trace::Nanos;
use units::words::counted;

/// Kinds of lines that are errors of the device, and of the way to it.
const ERRORS: [&str; 3] = ["I/O errors", "medium errors", "failed"];
const LINK: [&str; 3] = ["resets", "timeouts", "exceptions"];
/// Devices that are reported.
const MOST: usize = 4;

/// Seconds of a log after which a line is none of now: it is said how old it is.
const OLD: f64 = 60.0;

/// A line may be of another time than the slow one; many are hardly.
fn sure(lines: u64) -> Confidence {
    if lines >= MANY_LINES {
        Confidence::High
    } else {
        Confidence::Medium
    }
}

/// What is missing where there is a single line.
const MORE_LINES: &str =
    "whether the line is of the slow time, and the only one: dmesg -T of that time; smartctl -a of the disk";

/// What stands of one device.
struct Told {
    device: String,
    lines: u64,
    /// Of a single line, which may be of another day: what says that it is of the slow time.
    hang: Option<Hang>,
    said: Proof,
}

impl Told {
    fn enough(&self) -> bool {
        self.lines >= LINES || self.hang.is_some()
    }

    fn sure(&self) -> Confidence {
        match self.hang {
            Some(Hang { meanwhile: false, .. }) => Confidence::Low,
            _ => sure(self.lines),
        }
    }

    /// With the tasks beside it.
    fn proofs(self) -> Vec<Proof> {
        std::iter::once(self.said).chain(self.hang.map(|hang| hang.said)).collect()
    }
}

/// Devices with lines of some kinds, those with the most first; of single lines those beside which a task hung.
fn told(mails: &[Mail], kinds: &[&'static str]) -> Vec<Told> {
    let mut all: Vec<Told> = mails.iter().flat_map(|mail| in_log(mail, kinds)).collect();
    all.sort_by_key(|t| std::cmp::Reverse((t.lines, t.hang.is_some())));
    all
}

/// The devices of one log: other lines may stand between theirs, many enough to make several readings of them.
fn in_log(mail: &Mail, kinds: &[&'static str]) -> Vec<Told> {
    let mut devices: Vec<(&str, Vec<&Row>)> = vec![];
    for row in mail.runs.iter().flat_map(|run| run.of("kernel log")).flat_map(|reading| &reading.rows) {
        match devices.iter_mut().find(|(name, _)| *name == row.of) {
            Some((_, rows)) => rows.push(row),
            None => devices.push((&row.of, vec![row])),
        }
    }
    devices.into_iter().filter_map(|(device, rows)| of_device(mail, device, &rows, kinds)).collect()
}

/// What stands of one device.
fn of_device(mail: &Mail, device: &str, rows: &[&Row], kinds: &[&'static str]) -> Option<Told> {
    let of_kind = |kind: &'static str| {
        let numbers: Vec<Number> = rows.iter().filter_map(|row| row.get(kind)).collect();
        let first = numbers.first()?.at;
        Some((kind, numbers.iter().map(|n| n.value as u64).sum::<u64>(), first))
    };
    let found: Vec<_> = kinds.iter().filter_map(|kind| of_kind(kind)).collect();
    let first = found.first()?.2;
    let one = |kind: &'static str| kind.strip_suffix('s').unwrap_or(kind);
    let counts: Vec<String> = found.iter().map(|(kind, n, _)| counted(*n, one(kind), kind)).collect();
    let lines = found.iter().map(|(_, n, _)| n).sum();
    let hang = if lines < LINES { hang::beside(mail, device, first) } else { None };
    // Beside a hang it is of that time.
    let goes_on = mail.log_goes_on(first).filter(|seconds| *seconds >= OLD && hang.is_none());
    let (at, counts) = (mail.at(first), counts.join(", "));
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
    Some(Told { device: device.to_owned(), lines, hang, said })
}

/// `device-errors`
pub(super) fn errors(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &ERRORS);
    let drives = drive::told(mails);
    let logged = all.first().map(|first| (first.sure(), first.device.clone()));
    let enough = !drives.is_empty() || all.first().is_some_and(Told::enough);
    let sure = logged.iter().map(|(sure, _)| *sure).chain(drives.iter().map(|(sure, _)| *sure)).max()?;
    let device = logged.map_or("DISK".to_owned(), |(_, device)| device);
    let proofs = all.into_iter().take(MOST).flat_map(Told::proofs);
    let proofs = proofs.chain(drives.into_iter().map(|(_, said)| said).take(MOST));
    let v = proofs.fold(judged("device-errors", enough, sure, MORE_LINES), Verdict::because);
    if !enough {
        return Some(v);
    }
    let (shows, look) = Hardware::check(&device);
    Some(
        v.unless("a log of the slow time without errors, and a drive that says nothing of the kind")
            .without("how long I/O waited for them: iowhy record")
            .try_this(shows, look)
            .try_this(
                "first copy what can still be read",
                Action::look(format!("ddrescue /dev/{device} IMAGE MAP")),
            ),
    )
}

/// `link-reset`
pub(super) fn resets(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &LINK);
    let first = all.first()?;
    let (device, sure, enough) = (first.device.clone(), first.sure(), first.enough());
    let v = judged("link-reset", enough, sure, MORE_LINES);
    let mut v = all.into_iter().take(MOST).flat_map(Told::proofs).fold(v, Verdict::because);
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
