//! What the kernel's log says of failing devices: `device-errors` where data could not be read or written, `link-reset` where the way
//! to the device was reset or did not answer. Meanwhile all I/O to it waits, for up to 30 s and several times over.
//!
//! **Proof**: the kernel's own lines, counted. **Refuted** by a log of the slow time without any.

use super::say::In;
use super::thresholds::kernel_errors::MANY_LINES;
use crate::proof::{proof, Proof};
use crate::{Confidence, Verdict};
use evidence::is_device_name;
use tooltext::{Mail, Row};
use trace::Nanos;

/// Kinds of lines that are errors of the device, and of the way to it.
const ERRORS: [&str; 3] = ["I/O errors", "medium errors", "failed"];
const LINK: [&str; 3] = ["resets", "timeouts", "exceptions"];
/// Devices that are told.
const MOST: usize = 4;

/// A line may be of another time than the slow one; many are hardly.
fn sure(lines: u64) -> Confidence {
    match lines {
        n if n >= MANY_LINES => Confidence::High,
        _ => Confidence::Medium,
    }
}

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
    let counts: Vec<String> = found.iter().map(|(kind, n)| format!("{} {kind}", n.value as u64)).collect();
    let number = found.iter().map(|(_, n)| n.value as u64).sum();
    let said = proof!(
        "{device}: {counts} in the kernel's log (the first at {at})",
        device = Text(row.of.clone()),
        counts = Text(counts.join(", ")),
        at = Source(place.at(first))
    );
    Some((number, row.of.clone(), said))
}

/// `device-errors`
pub(super) fn errors(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &ERRORS);
    let (number, device, _) = all.first()?;
    let (device, sure) = (device.clone(), sure(*number));
    let v = Verdict::found("device-errors", Nanos(0), sure);
    let v = all.into_iter().take(MOST).map(|(.., said)| said).fold(v, Verdict::because);
    Some(
        v.unless("a log of the slow time without these lines")
            .without("how long I/O waited for them: iowhy record")
            .try_this(
                "what the device says of itself: pending and reallocated sectors, errors of its link",
                format!("smartctl -a /dev/{device}"),
            )
            .try_this(
                "copy what can be read before anything else",
                format!("ddrescue /dev/{device} IMAGE MAP"),
            ),
    )
}

/// `link-reset`
pub(super) fn resets(mails: &[Mail]) -> Option<Verdict> {
    let all = told(mails, &LINK);
    let (number, device, _) = all.first()?;
    let (device, sure) = (device.clone(), sure(*number));
    let v = Verdict::found("link-reset", Nanos(0), sure);
    let mut v = all.into_iter().take(MOST).map(|(.., said)| said).fold(v, Verdict::because);
    v = v
        .unless("a log of the slow time without these lines")
        .without("how long I/O waited for them: iowhy record")
        .try_this(
            "a reset at full speed points to cable, power or backplane: change them one after the other; errors of the link are counted by the device (UDMA_CRC_Error_Count)",
            "smartctl -x /dev/DISK | grep -iE 'crc|phy|timeout'",
        );
    let is_nvme = device.starts_with("nvme") && is_device_name(&device);
    let remedy = if is_nvme {
        v.try_this(
            "its power saving may be what does not come back: without it, as a test",
            "nvme_core.default_ps_max_latency_us=0 pcie_aspm=off   (kernel command line)",
        )
    } else {
        v.try_this(
            "link power saving may be what does not come back: without it, as a test",
            "for host in /sys/class/scsi_host/host*/link_power_management_policy; do echo max_performance > $host; done",
        )
    };
    Some(remedy)
}
