//! Devices of a ZFS pool that fail, by zpool status: `device-errors` if they give errors, `link-reset` if they are gone; `raid-resync`
//! is suspected while the pool copies or checks all data; `file-system-error` if zpool tells of data that is damaged beyond repair, whatever
//! the counters of its devices say: they are cleared, and count nothing that was written damaged.
//!
//! ZFS takes a device out of use that gives too many errors (FAULTED), or goes on with it where it has no other copy (DEGRADED). Checksum
//! errors alone are of data that was read without an error: memory, a cable or a controller damages it as well as the device.

use super::advice;
use super::checksums;
use super::place::{readings, In};
use super::say::judged;
use super::thresholds::evidence::LINES;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use evidence::is_device_name;
use tooltext::{Reading, Row, Spot, ToolOutput};

/// States of a device that ZFS does not trust, and of one that is gone (zpoolconcepts(7), "Device Failure and Recovery").
const FAILING: [&str; 2] = ["FAULTED", "DEGRADED"];
const GONE: [&str; 2] = ["UNAVAIL", "REMOVED"];
/// Beginnings of the names of groups of devices.
const GROUPS: [&str; 6] = ["mirror", "raidz", "draid", "spare-", "replacing-", "indirect-"];
/// Beginnings of the names that udev gives to disks in /dev/disk/by-id (60-persistent-storage.rules).
const BY_ID: [&str; 5] = ["ata-", "scsi-", "wwn-", "nvme-", "usb-"];
/// The most devices that are reported.
const MOST: usize = 4;
const MORE: &str = "whether the errors are of the slow time: zpool clear, and zpool status a moment later; smartctl -a of the device";

/// A device of a pool.
pub(super) struct Device<'a> {
    pub place: In<'a>,
    pub reading: &'a Reading,
    row: &'a Row,
    /// Its state, and what ZFS remarks on it: `FAULTED, too many errors`.
    state: &'a str,
    /// Whether it is the one that is being replaced: the first below `replacing-4`.
    replaced: bool,
    /// Whether it takes that one's place: the second there.
    replacement: bool,
}

pub(super) fn devices(outputs: &[ToolOutput]) -> impl Iterator<Item = Device<'_>> {
    readings(outputs, "zpool status").flat_map(|(place, reading)| {
        let is_one = |row: &Row| {
            let pool = reading.name == row.of || reading.rows.first().is_some_and(|first| first.of == row.of);
            !pool && GROUPS.iter().all(|group| !row.of.starts_with(group))
        };
        let states = reading.settings.iter().filter(|s| s.name.starts_with("state "));
        let all = reading.rows.iter().zip(states).enumerate().filter(move |(_, (row, _))| is_one(row));
        all.map(move |(i, (row, state))| {
            let replacing = |above: usize| {
                let row = i.checked_sub(above).and_then(|i| reading.rows.get(i));
                row.is_some_and(|row| row.of.starts_with("replacing-"))
            };
            let (replaced, replacement) = (replacing(1), replacing(2));
            Device { place, reading, row, state: &state.value, replaced, replacement }
        })
    })
}

/// `device-errors` if devices give errors of reading or writing, or ZFS does not trust them.
pub(super) fn errors(outputs: &[ToolOutput]) -> Option<Verdict> {
    let failing = |d: &Device| (d.is(&FAILING) || d.errors() > 0) && !d.is_only_wrong();
    let mut all: Vec<Device> = devices(outputs).filter(failing).collect();
    all.sort_by_key(|d| std::cmp::Reverse((d.is(&FAILING), d.errors())));
    let first = all.first()?;
    let enough = first.is(&FAILING) || first.errors() >= LINES;
    let v = judged("device-errors", enough, Confidence::Medium, MORE);
    let v = all.iter().take(MOST).map(Device::told).fold(v, Verdict::because);
    let v = busy(outputs).into_iter().fold(v, Verdict::because);
    Some(first.advice(v))
}

/// `link-reset` if a device is no longer there.
pub(super) fn gone(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all: Vec<Device> = devices(outputs).filter(|d| d.is_gone() && !d.is_less(outputs)).collect();
    let (first, others) = all.split_first()?;
    let v = Verdict::found("link-reset", trace::Nanos(0), Confidence::Medium).because(first.told());
    let v = checksums::of(outputs).map(|sums| sums.said()).into_iter().fold(v, Verdict::because);
    let v = others.iter().take(MOST - 1).map(Device::told).fold(v, Verdict::because);
    Some(first.advice(v))
}

/// What is told of replacements that are gone, in pools that have more to tell.
pub(super) fn replacements(outputs: &[ToolOutput]) -> Vec<Proof> {
    devices(outputs).filter(|d| d.is_gone() && d.is_less(outputs)).take(MOST).map(|d| d.told()).collect()
}

/// `raid-resync` is suspected while the pool copies or checks its data.
pub(super) fn scan(outputs: &[ToolOutput]) -> Option<Verdict> {
    let missing = "what that costs others: sudo iowhy record -o slow; zpool iostat -lv 1";
    Some(Verdict::cannot_tell("raid-resync", missing).because(busy(outputs)?))
}

/// `file-system-error` if data of a pool is damaged and there was no other copy of it.
pub(super) fn damaged(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = readings(outputs, "zpool status").filter_map(|(place, reading)| {
        let errors = reading.settings.iter().find(|s| s.name == "errors")?;
        Some((place, reading, errors))
    });
    let all: Vec<_> = all.take(MOST).collect();
    let pool = named(all.first()?.1);
    let told = all.iter().map(|(place, reading, errors)| {
        proof!(
            "ZFS could not repair data of {pool}: {errors} ({at})",
            pool = if reading.name.is_empty() { "a pool" } else { reading.name.as_str() },
            errors = errors.value.as_str(),
            at = Source(place.output.at(errors.at).to_string())
        )
    });
    let v = Verdict::found("file-system-error", trace::Nanos(0), Confidence::Medium);
    let v = told.fold(v, Verdict::because);
    let v = checksums::of(outputs).map(|sums| sums.said()).into_iter().fold(v, Verdict::because);
    let v = replacements(outputs)
        .into_iter()
        .fold(v, Verdict::because)
        .unless("no data errors after zpool clear and a scrub")
        .without("when the data was damaged: zpool events -v, and the kernel's log of that time");
    Some(
        v.try_this(
            "which files are damaged: these have to come back from a backup; a scrub then shows whether there are more",
            Action::look(format!("zpool status -v {pool}")),
        )
        .try_this(
            "if the disks report no errors, test the memory: the errors that ECC counted are here",
            Action::look("grep -s . /sys/devices/system/edac/mc/mc*/*e_count"),
        ),
    )
}

/// The pool's name for a command: never what could be part of one.
pub(super) fn named(reading: &Reading) -> &str {
    Some(reading.name.as_str()).filter(|name| !name.is_empty() && is_plain(name)).unwrap_or("POOL")
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:+".contains(&b))
}

fn busy(outputs: &[ToolOutput]) -> Option<Proof> {
    let (place, reading, scan) = readings(outputs, "zpool status").find_map(|(place, reading)| {
        let scan = reading.settings.iter().find(|s| s.name == "scan")?;
        Some((place, reading, scan))
    })?;
    let pool = if reading.name.is_empty() { "a pool" } else { &reading.name };
    let progress = match [reading.setting("done"), reading.setting("left")] {
        [Some(done), Some(left)] => format!(" ({done} done, {left} left)"),
        [Some(done), None] => format!(" ({done} done)"),
        _ => String::new(),
    };
    Some(proof!(
        "{pool} is busy with a {scan}{progress}, which uses all its devices ({at})",
        pool,
        scan = scan.value.as_str(),
        progress,
        at = Source(place.output.at(scan.at).to_string())
    ))
}

impl Device<'_> {
    fn is(&self, states: &[&str]) -> bool {
        states.iter().any(|state| self.state.starts_with(state))
    }

    /// Whether it was not there, and nobody took it away to replace it.
    fn is_gone(&self) -> bool {
        self.is(&GONE) && !self.replaced
    }

    /// Whether its absence means less than what else is wrong with its pool: it only takes another one's place, and data is damaged.
    fn is_less(&self, outputs: &[ToolOutput]) -> bool {
        let damaged = self.reading.setting("errors").is_some();
        self.replacement && (damaged || checksums::of(outputs).is_some_and(|sums| sums.is_of(self.reading)))
    }

    /// Whether its data was wrong at times though it was read without an error.
    pub fn is_only_wrong(&self) -> bool {
        self.sums() > 0 && self.errors() == 0 && !self.is(&["FAULTED"])
    }

    pub fn name(&self) -> &str {
        &self.row.of
    }

    pub fn sums(&self) -> u64 {
        self.count("checksum errors")
    }

    pub fn at(&self) -> String {
        let at: Option<Spot> = self.row.get("read errors").map(|n| n.at);
        self.place.output.at(at.unwrap_or(self.reading.at)).to_string()
    }

    fn count(&self, kind: &str) -> u64 {
        self.row.value(kind).map_or(0, |n| n as u64)
    }

    /// Errors of reading and writing.
    fn errors(&self) -> u64 {
        self.count("read errors").saturating_add(self.count("write errors"))
    }

    fn told(&self) -> Proof {
        proof!(
            "{device} is {state}: {read} read, {write} write, {sum} checksum errors ({at})",
            device = self.row.of.as_str(),
            state = self.state,
            read = Count(self.count("read errors")),
            write = Count(self.count("write errors")),
            sum = Count(self.sums()),
            at = Source(self.at())
        )
    }

    /// What shows the device itself. A pool names one that it does not find by a number of its own, which no command knows, and remarks
    /// which device that was.
    fn look(&self) -> Option<(&'static str, Action)> {
        let name = self.name();
        let was = self.state.split_once("was /dev/").and_then(|(_, path)| path.split(' ').next());
        let is_path = |path: &str| path.split('/').all(|part| !part.is_empty() && is_plain(part));
        match (was, name.split_once('/')) {
            (Some(path), _) if is_path(path) => Some((
                "whether that device is there again; it may have another name by now",
                Action::look(format!("ls -l /dev/{path}")),
            )),
            // Labels of FreeBSD's partitions.
            (None, Some(("gpt" | "gptid" | "label", _))) if is_path(name) => Some((
                "which disk that is: smartctl -a of it tells what it counted itself",
                Action::look(format!("glabel status | grep {name}")),
            )),
            _ if name.bytes().all(|b| b.is_ascii_digit()) => None,
            // A file that serves as a device.
            (None, Some(("", path))) if !path.starts_with("dev/") => None,
            // Names of /dev/disk/by-id: `ata-MODEL_SERIAL-part1`, `wwn-0x5000c500a4b1d2`.
            _ if is_plain(name) && BY_ID.iter().any(|kind| name.starts_with(kind)) => {
                let disk = name.split("-part").next().unwrap_or(name);
                Some((advice::health("sda").0, Action::look(format!("smartctl -a /dev/disk/by-id/{disk}"))))
            }
            _ if is_device_name(name) => Some(advice::health(evidence::whole_disk(name))),
            _ => Some(advice::health("DISK")),
        }
    }

    pub fn advice(&self, v: Verdict) -> Verdict {
        let v = self.look().into_iter().fold(v, |v, (shows, look)| v.try_this(shows, look));
        let pool = named(self.reading);
        v.try_this(
            "files that were damaged, and what the pool lacks; replace the device if it reports errors itself, else look at cable, controller \
             and memory",
            Action::look(format!("zpool status -v {pool}; dmesg -T | grep -iE 'error|timeout|reset|offline'")),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn of(devices: &[&str], scan: &str) -> Vec<Verdict> {
        let lines: String = devices.iter().map(|line| format!("\t    {line}\n")).collect();
        let text = format!(
            "  pool: tank\n state: ONLINE\n  scan: {scan}\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\ttank ONLINE 0 0 0\n\t  mirror-0 ONLINE 0 0 0\n{lines}\nerrors: No known data errors\n"
        );
        judge_counters(&[ToolOutput::read("pool", text.as_bytes())])
    }

    #[test]
    fn a_device_that_zfs_gave_up_fails_although_the_pool_goes_on() {
        let all =
            of(&["ata-X_1 ONLINE 0 0 0", "ata-X_2 FAULTED 12 753 83 too many errors"], "none requested");
        assert_eq!((all[0].cause, all[0].verdict), ("device-errors", Answer::Found));
        assert_eq!(
            all[0].evidence[0].sentence(),
            "ata-X_2 is FAULTED, too many errors: 12 read, 753 write, 83 checksum errors (pool:10)"
        );
        assert_eq!(all[0].remedies[0].command(), "smartctl -a /dev/disk/by-id/ata-X_2");
        let gone = of(&["sda ONLINE 0 0 0", "sdb REMOVED 0 0 0"], "none requested");
        assert_eq!((gone[0].cause, gone[0].verdict), ("link-reset", Answer::Found));
    }

    /// One line of the log, which alone is no more than a suspicion, does not hide it.
    #[test]
    fn what_the_pool_proves_is_told_before_what_the_log_suggests() {
        let log = "[ 61.0] I/O error, dev sdz, sector 8472 op 0x0:(READ) flags 0x3000\n";
        let pool = "  pool: tank\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\ttank DEGRADED 0 0 0\n\t  sdb FAULTED 12 7 3 too many errors\n";
        let all = judge_counters(&[
            ToolOutput::read("log", log.as_bytes()),
            ToolOutput::read("pool", pool.as_bytes()),
        ]);
        assert_eq!((all[0].cause, all[0].verdict), ("device-errors", Answer::Found));
    }

    #[test]
    fn checksum_errors_alone_and_a_healthy_pool_accuse_no_device() {
        let sums = of(&["sda ONLINE 0 0 0", "sdb ONLINE 0 0 7"], "none requested");
        assert_eq!(sums.iter().map(|v| v.verdict).collect::<Vec<_>>(), [Answer::CannotTell]);
        assert!(of(&["sda ONLINE 0 0 0"], "scrub repaired 0B in 01:00:00 with 0 errors on Sun").is_empty());
        // ZFS does not trust a file whose data is wrong, and nobody can ask a file for its health.
        let file = of(&["/pool/file1 DEGRADED 0 0 1.88K too many errors"], "none requested");
        assert_eq!((file[0].cause, file[0].verdict), ("file-system-error", Answer::CannotTell));
        assert!(file.iter().flat_map(|v| &v.remedies).all(|r| !r.command().contains("smartctl")), "{file:?}");
        let one = of(&["sda ONLINE 1 0 0"], "none requested");
        assert_eq!((one[0].cause, one[0].verdict), ("device-errors", Answer::CannotTell));
    }

    #[test]
    fn a_pool_that_copies_is_busy() {
        let all = of(&["sda ONLINE 0 0 0"], "resilver in progress since Sat May 12 19:45:12 2018");
        assert_eq!((all[0].cause, all[0].verdict), ("raid-resync", Answer::CannotTell));
        assert_eq!(
            all[0].evidence[0].sentence(),
            "tank is busy with a resilver, which uses all its devices (pool:3)"
        );
    }

    #[test]
    fn how_long_a_copy_still_takes_is_told() {
        let all = of(&["sda ONLINE 0 0 0"], "resilver in progress since Sat May 12 19:45:12 2018\n\t3G resilvered, 4.25% done, 11:02:33 to go");
        let said =
            "tank is busy with a resilver (4.25 % done, 11:02:33 left), which uses all its devices (pool:3)";
        assert_eq!(all[0].evidence[0].sentence(), said);
    }

    #[test]
    fn damaged_data_is_told_although_no_device_counts_errors() {
        let of = |line: &str, device: &str| {
            let text = format!(
                "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\ttank ONLINE 0 0 0\n\t  {device}\n\nerrors: {line}\n"
            );
            judge_counters(&[ToolOutput::read("pool", text.as_bytes())])
        };
        let good = "sda ONLINE 0 0 0";
        for (line, said) in [
            ("3 data errors, use '-v' for a list", "3 data errors"),
            ("Permanent errors have been detected in the following files:", "permanent errors"),
        ] {
            let all = of(line, good);
            assert_eq!((all[0].cause, all[0].verdict), ("file-system-error", Answer::Found));
            let told = all[0].evidence[0].sentence();
            assert_eq!(told, format!("ZFS could not repair data of tank: {said} (pool:9)"));
            assert_eq!(all[0].remedies[0].command(), "zpool status -v tank");
        }
        assert!(of("No known data errors", good).is_empty());
        // A device that fails is the cause of it.
        let all = of("3 data errors, use '-v' for a list", "sda FAULTED 9 9 9 too many errors");
        assert_eq!(all.iter().map(|v| v.cause).collect::<Vec<_>>(), ["device-errors", "file-system-error"]);
    }

    /// The first below `replacing` is the one that was taken away on purpose.
    #[test]
    fn a_device_that_is_being_replaced_is_not_missed() {
        let resilver = "resilver in progress since Sat May 12 19:45:12 2018";
        let all = of(
            &["replacing-4 DEGRADED 0 0 0", "sde UNAVAIL 0 0 0", "sdx ONLINE 0 0 0 (resilvering)"],
            resilver,
        );
        assert_eq!(all.iter().map(|v| v.cause).collect::<Vec<_>>(), ["raid-resync"]);
        let all = of(&["replacing-4 DEGRADED 0 0 0", "sde UNAVAIL 0 0 0", "sdx REMOVED 0 0 0"], resilver);
        assert_eq!(all[0].cause, "link-reset");
    }

    /// A name is text of somebody else's: it never becomes part of a command.
    #[test]
    fn a_hostile_name_is_in_no_command() {
        let all = of(&["a-$(reboot) FAULTED 1 1 1"], "none requested");
        assert!(all[0].remedies.iter().all(|r| !r.command().contains("reboot")));
    }
}
