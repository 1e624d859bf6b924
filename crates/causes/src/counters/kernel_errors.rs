//! What the kernel's log says of failing devices: `device-errors` where data could not be read or written, `link-reset` where the way
//! to the device was reset or did not answer. Meanwhile all I/O to it waits, for up to 30 s and several times over.
//!
//! **Proof**: the kernel's own lines, counted; for `device-errors` also what drives say of themselves (`drive.rs`). **Refuted** by a log
//! of the slow time without any.

use super::drive;
use super::say::{judged, In};
use super::thresholds::evidence::LINES;
use super::thresholds::kernel_errors::MANY_LINES;
use crate::proof::{proof, Proof};
use crate::{Confidence, Verdict};
use evidence::is_device_name;
use tooltext::{Mail, Row};
use units::words::counted;

/// Kinds of lines that are errors of the device, and of the way to it.
const ERRORS: [&str; 3] = ["I/O errors", "medium errors", "failed"];
const LINK: [&str; 3] = ["resets", "timeouts", "exceptions"];
/// Devices that are reported.
const MOST: usize = 4;

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

/// Devices with lines of some kinds, those with the most first.
fn told(mails: &[Mail], kinds: &[&'static str]) -> Vec<(u64, String, Proof)> {
    let mut all: Vec<(u64, String, Proof)> = vec![];
    for mail in mails {
        for run in &mail.runs {
            let rows = run.of("kernel log").flat_map(|r| &r.rows);
            all.extend(rows.filter_map(|row| said(In { mail, run }, row, kinds)));
        }
    }
    all.sort_by_key(|(n, ..)| std::cmp::Reverse(*n));
    all
}

/// What stands of one device.
fn said(place: In, row: &Row, kinds: &[&'static str]) -> Option<(u64, String, Proof)> {
    let found: Vec<_> = kinds.iter().filter_map(|kind| Some((*kind, row.get(kind)?))).collect();
    let first = found.first()?.1;
    let one = |kind: &'static str| kind.strip_suffix('s').unwrap_or(kind);
    let counts: Vec<String> =
        found.iter().map(|(kind, n)| counted(n.value as u64, one(kind), kind)).collect();
    let number = found.iter().map(|(_, n)| n.value as u64).sum();
    let said = proof!(
        "{device}: {counts} in the kernel's log (the first at {at})",
        device = row.of,
        counts = counts.join(", "),
        at = Source(place.at(first))
    );
    Some((number, row.of.clone(), said))
}

/// `device-errors`
pub(super) fn errors(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &ERRORS);
    let drives = drive::told(mails);
    let logged = all.first().map(|(number, device, _)| (sure(*number), device.clone()));
    let enough = !drives.is_empty() || all.first().is_some_and(|(number, ..)| *number >= LINES);
    let sure = logged.iter().map(|(sure, _)| *sure).chain(drives.iter().map(|(sure, _)| *sure)).max()?;
    let device = logged.map_or("DISK".to_owned(), |(_, device)| device);
    let proofs = all.into_iter().map(|(.., said)| said).take(MOST);
    let proofs = proofs.chain(drives.into_iter().map(|(_, said)| said).take(MOST));
    let v = proofs.fold(judged("device-errors", enough, sure, MORE_LINES), Verdict::because);
    if !enough {
        return Some(v);
    }
    Some(
        v.unless("a log of the slow time without errors, and a drive that says nothing of the kind")
            .without("how long I/O waited for them: iowhy record")
            .try_this(
                "what the device reports: pending and reallocated sectors, link errors",
                format!("smartctl -a /dev/{device}"),
            )
            .try_this("first copy what can still be read", format!("ddrescue /dev/{device} IMAGE MAP")),
    )
}

/// `link-reset`
pub(super) fn resets(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &LINK);
    let (number, device, _) = all.first()?;
    let (device, sure, enough) = (device.clone(), sure(*number), *number >= LINES);
    let v = judged("link-reset", enough, sure, MORE_LINES);
    let mut v = all.into_iter().take(MOST).map(|(.., said)| said).fold(v, Verdict::because);
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
            format!("nvme smart-log /dev/{device}; nvme error-log /dev/{device}"),
        )
        .try_this(
            "it may fail to wake from a power-saving state: test without them, by adding to the kernel command line: \
             nvme_core.default_ps_max_latency_us=0 pcie_aspm=off",
            "cat /proc/cmdline",
        )
    } else {
        v.try_this(
            "a reset at full speed points to cable, power or backplane: replace them one by one; the device counts link errors (UDMA_CRC_Error_Count)",
            "smartctl -x /dev/DISK | grep -iE 'crc|phy|timeout'",
        )
        .try_this(
            "the link may fail to wake from power saving: test without it",
            "for host in /sys/class/scsi_host/host*/link_power_management_policy; do echo max_performance > \
                 $host; done",
        )
    };
    Some(remedy)
}
