//! SCSI disks in the kernel's log: their names, when they were attached, and when they were detached or stopped.
//!
//! ```text
//! scsi 2:0:0:0: Direct-Access     ACME  DISK 1.0              attached from here on
//! sd 2:0:0:0: Power-on or device reset occurred               as each disk says once after power-on: no reset
//! sd 2:0:0:0: [sdb] 209715200 512-byte logical blocks         2:0:0:0 is sdb
//! sd 2:0:0:0: [sdb] Stopping disk                             errors after it are of the shutdown
//! ```
//!
//! Readers parse each line alone; the disk of an address, and the meaning of a line, depend on other lines.

use super::log_time::{of_line, LogTime};
use super::number::Unit;
use super::run::Run;
use crate::output::reading::Row;
use crate::tool::kernel_errors::{
    is_of_a_file_system, ERRORS, OFFLINE, POWER_ON, RESETS, TRANSPORT, UNPLUGGED,
};

/// Seconds in which a disk is attached: the time that `sd_spinup_disk` waits for a disk to spin up (drivers/scsi/sd.c).
const ATTACHING: f64 = 100.0;
/// As [`ATTACHING`], in lines, for logs without times.
const LINES: u32 = 100;
/// Limit on lines about disks.
const MOST: usize = 10_000;

/// A line about a disk.
struct Line<'a> {
    number: u32,
    time: Option<LogTime>,
    /// The SCSI address, `2:0:0:0`.
    address: &'a str,
    /// The disk in `[sdb]`, if given.
    name: Option<&'a str>,
    says: Option<Says>,
}

#[derive(Clone, Copy, PartialEq)]
enum Says {
    Attaching,
    PowerOn,
    /// The machine shuts down.
    Stopping,
    /// The disk's cache is flushed because the disk is being removed.
    Detaching,
    Starting,
}

/// Renames rows from addresses to disks, counts messages after power-on as resets only for disks in use, and removes
/// errors of disks that were stopped.
pub(super) fn settle(text: &str, runs: &mut Vec<Run>) {
    let in_log = |run: &Run| run.of("kernel log").next().is_some();
    if !runs.iter().any(in_log) {
        return;
    }
    let text: Vec<&str> = text.lines().collect();
    let all = lines(&text);
    for run in runs.iter_mut() {
        for reading in run.readings.iter_mut().filter(|r| r.tool == "kernel log") {
            let rows = std::mem::take(&mut reading.rows);
            for mut row in rows {
                power_on(&mut row, &all);
                if let Some(name) = name(&row, &all) {
                    row.of = name.to_owned();
                }
                stopped(&mut row, &all, &text);
                match reading.rows.iter_mut().find(|known| known.of == row.of) {
                    Some(known) => add(known, &row),
                    None if row.values.is_empty() => {}
                    None => reading.rows.push(row),
                }
            }
            let unplugged = |row: &Row| row.values.iter().all(|(kind, _)| kind == UNPLUGGED);
            if reading.rows.iter().all(unplugged) {
                reading.rows.clear();
            }
        }
        run.readings.retain(|r| r.tool != "kernel log" || !r.rows.is_empty());
    }
    runs.retain(|run| !run.readings.is_empty() || !run.commands.is_empty());
}

fn lines<'a>(text: &[&'a str]) -> Vec<Line<'a>> {
    let mut all = vec![];
    for (number, line) in (1u32..).zip(text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (i, pair) in words.windows(2).enumerate() {
            let Some(address) = address(pair) else { continue };
            let (time, rest) = (of_line(line), &words[i + 2..]);
            let name = rest.first().and_then(|t| t.strip_prefix('[')?.strip_suffix(']'));
            let name = name.filter(|name| evidence::is_device_name(name));
            let says = says(rest);
            if name.is_some() || says.is_some() {
                all.push(Line { number, time, address, name, says });
            }
        }
        if all.len() >= MOST {
            break;
        }
    }
    all
}

/// Parses `sd 2:0:0:0:`.
fn address<'a>(pair: &[&'a str]) -> Option<&'a str> {
    let address = pair[1].strip_suffix(':').filter(|_| ["sd", "sr", "scsi"].contains(&pair[0]))?;
    let numbers = address.bytes().all(|b| b.is_ascii_digit() || b == b':');
    (numbers && address.matches(':').count() == 3).then_some(address)
}

fn says(rest: &[&str]) -> Option<Says> {
    let rest = match rest.first() {
        Some(name) if name.starts_with('[') => &rest[1..],
        _ => rest,
    };
    Some(match rest {
        ["Power-on", ..] => Says::PowerOn,
        ["Stopping", "disk", ..] => Says::Stopping,
        ["Starting", "disk", ..] => Says::Starting,
        ["Synchronizing", "SCSI", ..] => Says::Detaching,
        ["Attached" | "Write", ..] | [_, _, "logical", ..] => Says::Attaching,
        [first, ..] if first.starts_with("Direct-Access") => Says::Attaching,
        _ => return None,
    })
}

/// Whether two lines are from about the same time.
fn near(a: (u32, Option<LogTime>), b: (u32, Option<LogTime>)) -> bool {
    match a.1.zip(b.1).and_then(|(a, b)| a.after(b)) {
        Some(seconds) => seconds.abs() <= ATTACHING,
        None => a.0.abs_diff(b.0) <= LINES,
    }
}

/// The disk at an address, or the only one of a host: its last name before the row, or the first after it.
fn name<'a>(row: &Row, all: &[Line<'a>]) -> Option<&'a str> {
    let at = row.values.iter().next()?.1.at.line;
    let host = row.of.strip_prefix("host");
    let is_its = |line: &&Line| match host {
        Some(host) => line.address.split(':').next() == Some(host),
        None => line.address == row.of,
    };
    let names = || all.iter().filter(is_its).filter(|line| line.name.is_some());
    let nearest = names().rfind(|line| line.number <= at).or_else(|| names().next())?;
    let alone = host.is_none() || names().all(|line| line.address == nearest.address);
    nearest.name.filter(|_| alone)
}

/// Counts a message after power-on as a reset, unless the disk was just attached.
fn power_on(row: &mut Row, all: &[Line]) {
    let Some(said) = row.values.take(POWER_ON) else { return };
    let of_disk = || all.iter().filter(|line| line.address == row.of);
    let attaching = |at: &Line| {
        of_disk().any(|l| l.says == Some(Says::Attaching) && near((l.number, l.time), (at.number, at.time)))
    };
    let lines = of_disk().filter(|l| l.says == Some(Says::PowerOn) && l.number >= said.at.line);
    let resets = lines.take(said.value as usize).filter(|line| !attaching(line)).count() as f64;
    let known = row.values.take(RESETS);
    let (more, at) = known.map_or((0.0, said.at), |n| (n.value, n.at.min(said.at)));
    if resets + more > 0.0 {
        row.values.put(RESETS, resets + more, Unit::Count, at);
    }
}

/// Removes errors of a disk that was stopped, or of all disks if the machine shuts down. A disk that is removed under a file system in use
/// is gone.
fn stopped(row: &mut Row, all: &[Line], text: &[&str]) {
    let disk = evidence::whole_disk(&row.of);
    let mut of_the_stop = vec![];
    for kind in [ERRORS, TRANSPORT] {
        let Some(number) = row.values.get(kind) else { continue };
        let mut before = all.iter().filter(|line| line.number < number.at.line);
        let last = before.rfind(|l| match l.says {
            Some(Says::Stopping | Says::Starting) => true,
            Some(Says::Detaching | Says::Attaching) => l.name == Some(disk),
            _ => false,
        });
        let stop = last.filter(|l| matches!(l.says, Some(Says::Stopping | Says::Detaching)));
        let line = || text.get(number.at.line.checked_sub(1)? as usize).copied();
        let time = || of_line(line()?);
        if let Some(stop) = stop.filter(|l| near((l.number, l.time), (number.at.line, time()))) {
            of_the_stop
                .push((kind, stop.says == Some(Says::Detaching) && line().is_some_and(is_of_a_file_system)));
        }
    }
    for (kind, in_use) in of_the_stop {
        let errors = row.values.take(kind).filter(|_| in_use);
        if let Some(n) = errors.filter(|_| row.values.get(OFFLINE).is_none()) {
            row.values.put(OFFLINE, n.value, Unit::Count, n.at);
        }
    }
}

/// Adds the counts of `row` to `to`.
fn add(to: &mut Row, row: &Row) {
    for (kind, number) in row.values.iter() {
        let (more, at) = to.values.take(kind).map_or((0.0, number.at), |n| (n.value, n.at.min(number.at)));
        to.values.put(kind, number.value + more, Unit::Count, at);
    }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    fn told(text: &str) -> Vec<String> {
        let output = ToolOutput::read("dmesg", text.as_bytes());
        let rows = output.runs.iter().flat_map(|r| r.of("kernel log")).flat_map(|r| r.rows.clone());
        rows.flat_map(|row| {
            let all: Vec<_> =
                row.values.iter().map(|(kind, n)| format!("{} {} {kind}", row.of, n.value)).collect();
            all
        })
        .collect()
    }

    fn attached(seconds: u32) -> String {
        format!(
            "[ {seconds}.1] scsi 6:0:1:0: Direct-Access     ACME     DISK             1.00 PQ: 0 ANSI: 7\n\
             [ {seconds}.2] sd 6:0:1:0: Attached scsi generic sg3 type 0\n\
             [ {seconds}.4] sd 6:0:1:0: [sdc] 4194304 512-byte logical blocks: (2.15 GB/2.00 GiB)\n\
             [ {seconds}.5] sd 6:0:1:0: [sdc] Attached SCSI disk\n"
        )
    }

    const SAID: &str = "sd 6:0:1:0: Power-on or device reset occurred\n";

    #[test]
    fn what_a_disk_says_after_power_on_is_no_reset_until_it_is_in_use() {
        assert!(told(&format!("[ 31.3] {SAID}{}", attached(31))).is_empty());
        assert!(told(&format!("{}[ 31.9] {SAID}", attached(31))).is_empty());
        assert_eq!(told(&format!("{}[ 931.9] {SAID}", attached(31))), ["sdc 1 resets"]);
        assert_eq!(told(&format!("[ 931.9] {SAID}")), ["6:0:1:0 1 resets"]);
        let later = format!("[ 31.3] {SAID}{}[ 931.9] {SAID}[ 999.9] {SAID}", attached(31));
        assert_eq!(told(&later), ["sdc 2 resets"]);
    }

    #[test]
    fn a_disk_has_one_name_whatever_the_line_calls_it() {
        let text = "[ 931.9] scsi host6: uas_eh_device_reset_handler start\n\
            [ 931.9] usb 2-3: reset SuperSpeed USB device number 4 using xhci_hcd\n\
            [ 932.9] scsi host6: uas_eh_device_reset_handler success\n\
            [ 933.9] sd 6:0:1:0: Device offlined - not ready after error recovery\n";
        assert_eq!(
            told(&(attached(31) + text)),
            ["sdc 1 resets", "sdc 1 offline messages", "usb 2-3 1 resets"]
        );
    }

    #[test]
    fn errors_of_a_disk_that_was_stopped_are_none() {
        let error = |s: u32, disk: &str| {
            format!("[ {s}.9] I/O error, dev {disk}, sector 8 op 0x1:(WRITE) flags 0x800\n")
        };
        let stop =
            "[ 931.0] sd 2:0:0:0: [sdb] Synchronizing SCSI cache\n[ 931.5] sd 2:0:0:0: [sdb] Stopping disk\n";
        assert!(told(&format!("{stop}{}", error(932, "sdc"))).is_empty());
        let taken = "[ 931.0] sd 2:0:0:0: [sdb] Synchronizing SCSI cache\n";
        assert!(told(&format!("{taken}{}", error(932, "sdb"))).is_empty());
        assert_eq!(told(&format!("{taken}{}", error(932, "sdc"))), ["sdc 1 I/O errors"]);
        assert_eq!(told(&format!("{}{stop}", error(930, "sdc"))), ["sdc 1 I/O errors"]);
        let used = "[ 932.0] EXT4-fs error (device sdb): ext4_find_entry:1455: inode #41: comm postgres: reading directory lblock 0\n";
        assert_eq!(
            told(&format!("{taken}{used}")),
            ["sdb 1 offline messages"],
            "removed under a file system"
        );
    }
}
