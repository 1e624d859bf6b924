//! Checksum errors that ZFS counted for disks of a pool which report no error themselves: `file-system-error` is suspected, no disk accused.
//!
//! Data was read without an error, and was not what had been written. Disks check what they read: one that is bad reports errors. Several
//! disks with such errors share a cause: memory, a controller, cables, power. If it is a single one, its cable, its port or the disk
//! damages data. The counts are since the pool was imported or cleared, which may be long ago.

use super::advice;
use super::pool::{devices, named, replacements, Device};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Reading, ToolOutput};

/// What is missing.
const SHARED: &str = "what damages data: several disks share a cause (memory, controller, cables, power); whether it goes on: zpool clear, a scrub, and \
                      zpool status again";
const OF_ONE: &str = "what damages data: the disk, its cable or its port; whether it goes on: zpool clear, a scrub, and zpool status again";

/// The disks of a pool with checksum errors alone.
pub(super) struct Sums<'a> {
    pub disks: Vec<Device<'a>>,
}

/// Those of the pool that has the most.
pub(super) fn of(outputs: &[ToolOutput]) -> Option<Sums<'_>> {
    let mut pools: Vec<Sums> = vec![];
    for disk in devices(outputs).filter(Device::is_only_wrong) {
        match pools.last_mut().filter(|pool| pool.is_of(disk.reading)) {
            Some(pool) => pool.disks.push(disk),
            None => pools.push(Sums { disks: vec![disk] }),
        }
    }
    pools.into_iter().rev().max_by_key(|pool| pool.disks.len())
}

impl Sums<'_> {
    pub fn is_of(&self, reading: &Reading) -> bool {
        self.disks.first().is_some_and(|disk| std::ptr::eq(disk.reading, reading))
    }

    pub fn said(&self) -> Proof {
        let all = || self.disks.iter().map(Device::sums);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let first = &self.disks[0];
        let counts = match least == most {
            true => units::words::count(most),
            false => format!("{} to {}", units::words::count(least), units::words::count(most)),
        };
        match self.disks.len() {
            1 => proof!(
                "{device} has {n} and no other ({at}): its cable, its port or the disk damages data",
                device = first.name(),
                n = Counted(most, "checksum error", "checksum errors"),
                at = Source(first.at())
            ),
            n => proof!(
                "{n} disks have {counts} checksum errors each ({at}): likely of one cause",
                n = Count(n as u64),
                counts,
                at = Source(first.at())
            ),
        }
    }
}

pub(super) fn suspected(outputs: &[ToolOutput]) -> Option<Verdict> {
    let sums = of(outputs)?;
    let first = sums.disks.first()?;
    let several = sums.disks.len() > 1;
    let v = Verdict::cannot_tell("file-system-error", if several { SHARED } else { OF_ONE })
        .confirmed_by("zpool events -v")
        .because(sums.said());
    let v = replacements(outputs).into_iter().fold(v, Verdict::because);
    if !several {
        return Some(first.advice(v));
    }
    Some(
        v.try_this(
            "the memory: the errors that ECC counted are here; without ECC nothing counts them, then test it",
            advice::memory(),
        )
        .try_this(
            "which disks share a controller, a cable or a supply, and what the kernel reported of it",
            Action::look("lsblk -S -o NAME,HCTL,TRAN,MODEL,SERIAL; dmesg -T | grep -iE 'error|timeout|reset|machine check'"),
        )
        .try_this(
            "which files were damaged, and whether the counts grow",
            Action::look(format!("zpool status -v {}", named(first.reading))),
        ),
    )
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn of(devices: &[&str], errors: &str) -> Vec<Verdict> {
        let lines: String = devices.iter().map(|line| format!("\t    {line}\n")).collect();
        let text = format!(
            "  pool: tank\n state: DEGRADED\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\ttank DEGRADED 0 0 0\n\t  raidz2-0 DEGRADED 0 0 9\n{lines}\nerrors: {errors}\n"
        );
        judge_counters(&[ToolOutput::read("pool", text.as_bytes())])
    }

    const NONE: &str = "No known data errors";

    #[test]
    fn several_disks_share_a_cause_and_one_has_its_own() {
        let all = of(&["sdq ONLINE 0 0 14", "sdr ONLINE 0 0 0", "sds ONLINE 0 0 9  (repairing)"], NONE);
        assert_eq!((all[0].cause, all[0].verdict), ("file-system-error", Answer::CannotTell));
        let said = |v: &Verdict| v.evidence[0].sentence();
        assert_eq!(said(&all[0]), "2 disks have 9 to 14 checksum errors each (pool:8): likely of one cause");
        assert!(all[0].remedies.iter().all(|r| !r.command().contains("smartctl")), "no disk is accused");
        let one = of(&["ata-Q_7 ONLINE 0 0 14", "sdr ONLINE 0 0 0"], NONE);
        assert_eq!(
            said(&one[0]),
            "ata-Q_7 has 14 checksum errors and no other (pool:8): its cable, its port or the disk damages data"
        );
        assert_eq!(one[0].remedies[0].command(), "smartctl -a /dev/disk/by-id/ata-Q_7");
    }

    /// ZFS calls a disk degraded for checksum errors, too: of these the disk itself reports none.
    #[test]
    fn a_disk_with_errors_of_its_own_is_accused_before() {
        let alike = of(&["sdq DEGRADED 0 0 14 too many errors", "sds ONLINE 0 0 9"], NONE);
        assert_eq!(alike.iter().map(|v| v.cause).collect::<Vec<_>>(), ["file-system-error"]);
        let one = of(&["sdq DEGRADED 0 0 14 too many errors", "sds ONLINE 0 0 0"], NONE);
        assert_eq!((one[0].cause, one[0].verdict), ("file-system-error", Answer::CannotTell));
        let own = of(&["sdq ONLINE 7 0 14", "sds ONLINE 0 0 9", "sdt ONLINE 0 0 9"], NONE);
        assert_eq!((own[0].cause, own[0].verdict), ("device-errors", Answer::Found));
    }

    #[test]
    fn a_replacement_that_is_missing_does_not_lead_over_damage() {
        let swap = [
            "replacing-1 UNAVAIL 0 0 0",
            "771 UNAVAIL 0 0 0 was /dev/sdx1",
            "772 UNAVAIL 0 0 0 was /dev/sdy1",
        ];
        let all = of(
            &[&["sdq ONLINE 0 0 14"], &swap[..]].concat(),
            "Permanent errors have been detected in the following files:",
        );
        assert_eq!((all[0].cause, all[0].verdict), ("file-system-error", Answer::Found));
        let said: Vec<String> = all[0].evidence.iter().map(|proof| proof.sentence()).collect();
        assert!(said[1].starts_with("sdq has 14 checksum errors"), "{said:?}");
        assert!(said[2].starts_with("772 is UNAVAIL, was /dev/sdy1"), "{said:?}");
        let wrong = of(&[&["sdq ONLINE 0 0 14"], &swap[..]].concat(), NONE);
        assert_eq!(
            wrong.iter().map(|v| (v.cause, v.verdict)).collect::<Vec<_>>(),
            [("file-system-error", Answer::CannotTell)]
        );
        assert_eq!(of(&swap, NONE)[0].cause, "link-reset");
    }

    /// The number that a pool gives a missing disk is no device; what it was is.
    #[test]
    fn a_number_of_the_pool_is_in_no_command() {
        let commands = |line: &str| {
            of(&["sdq ONLINE 0 0 14", "sdr ONLINE 0 0 3", line], NONE)[0]
                .remedies
                .iter()
                .map(|r| r.command())
                .collect::<Vec<_>>()
        };
        let known = commands("9917823 REMOVED 0 0 0 was /dev/disk/by-id/wwn-0x51-part1");
        assert_eq!(known[0], "ls -l /dev/disk/by-id/wwn-0x51-part1");
        for line in [
            "9917823 REMOVED 0 0 0",
            "9917823 REMOVED 0 0 0 was /dev/$(reboot)",
            "9917823 UNAVAIL 0 0 0 cannot open",
        ] {
            let all = commands(line);
            assert!(
                !all.is_empty() && all.iter().all(|c| !c.contains("9917823") && !c.contains("reboot")),
                "{all:?}"
            );
        }
        let gone =
            &of(&["sdq ONLINE 0 0 14", "sdr ONLINE 0 0 3", "9917823 REMOVED 0 0 0 was /dev/sdz1"], NONE)[0];
        assert_eq!(gone.cause, "link-reset");
        assert!(gone.evidence[1].sentence().starts_with("2 disks have 3 to 14 checksum errors"), "{gone:?}");
        assert_eq!(commands("gptid/0a-1b REMOVED 0 0 0")[0], "glabel status | grep gptid/0a-1b");
    }
}
