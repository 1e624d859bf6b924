//! File systems that stopped, or whose data is damaged, by the kernel's log: `file-system-error`. Nothing waits then: what a program asks
//! for fails at once, or is not written.
//!
//! A file system stops when the device below it fails; then this is a consequence, told after `device-errors` or `link-reset`. Damaged data
//! need not be the disk's fault: memory, firmware, a power cut and bugs damage it too, and the disk reads it without an error.
//!
//! **Proof**: the kernel's own lines: that it was shut down or made read-only, or two that its data is damaged. **Refuted** by a log of the
//! slow time without such lines.

use super::advice;
use super::logged::{logged, Logged, BEYOND, FULL, NO_MEMORY, STOPPED, THIN_POOL};
use super::no_space::full_pool;
use super::say::judged;
use super::thresholds::evidence::DAMAGED;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use std::cmp::Reverse;
use tooltext::{LogFact, Spot, ToolOutput};

const NAME: &str = "file-system-error";

/// Kinds of lines about damage, and about the same damage again.
const CORRUPT: [&str; 2] = ["corruption messages", "further corruption messages"];
/// Kind of lines about damage that was repaired from another copy.
const REPAIRED: &str = "repaired blocks";

/// The most devices that are reported.
const MOST: usize = 4;

/// What checks each file system, by the beginning of its name, with commands that only read (xfs_repair(8), e2fsck(8), btrfs-check(8),
/// fsck.f2fs(8), fsck.fat(8), fsck.exfat(8)).
const CHECKS: [(&str, &str); 6] = [
    ("XFS", "xfs_repair -n /dev/"),
    ("ext", "e2fsck -fn /dev/"),
    ("btrfs", "btrfs check --readonly /dev/"),
    ("F2FS", "fsck.f2fs --dry-run /dev/"),
    ("FAT", "fsck.fat -n /dev/"),
    ("exFAT", "fsck.exfat -n /dev/"),
];

/// What is missing if there is a single line about damage.
const MORE: &str = "whether the line is of the slow time, and the only one: dmesg -T of that time, and the file system's own check";

/// A file system's trouble.
struct Trouble<'a> {
    output: &'a ToolOutput,
    of: Logged<'a>,
    /// What it is called, if the log says so.
    called: Option<&'a str>,
    stopped: Option<Spot>,
    damage: u64,
    repaired: u64,
    /// Where it got no memory.
    memory: Option<Spot>,
    /// Errors of the device or the way to it, of which this is a consequence.
    below: Option<Proof>,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut all: Vec<Trouble> = outputs.iter().flat_map(troubles).collect();
    all.sort_by_key(|t| Reverse((t.enough(), t.damage, t.stopped.is_some())));
    all.truncate(MOST);
    let first = all.first()?;
    let enough = first.enough();
    let v = judged(NAME, enough, Confidence::Medium, MORE);
    let v = all.iter().flat_map(Trouble::proofs).fold(v, Verdict::because);
    let v = match enough {
        true => v
            .unless("a log of the slow time without these lines")
            .without("what came first: the lines before these, dmesg -T of that time"),
        false => v,
    };
    Some(first.advice(v))
}

/// The file systems of a log that stopped or are damaged.
fn troubles<'a>(output: &'a ToolOutput) -> Vec<Trouble<'a>> {
    let log = logged(output);
    let of_one = |of: &Logged<'a>| {
        let called = output.log_fact(LogFact::FileSystem, of.device);
        // A volume without a file system's lines: what it lies on is full.
        let called = called.or_else(|| of.is_full_volume().then_some(BELOW));
        let full = of.first(&[FULL]).filter(|_| called.is_some_and(is_pool));
        let stopped = of.first(&[STOPPED]).or(full);
        let damage = CORRUPT.map(|kind| of.count(&[kind])).into_iter().max()?;
        let first = stopped.into_iter().chain(of.first(&CORRUPT)).chain(of.first(&[REPAIRED])).min()?;
        let memory = of.first(&[NO_MEMORY]).filter(|_| damage == 0);
        let below = below(output, &log, of, first).filter(|_| damage == 0 && memory.is_none());
        Some(Trouble {
            output,
            of: of.clone(),
            called,
            stopped,
            damage,
            repaired: of.count(&[REPAIRED]),
            memory,
            below,
        })
    };
    log.iter().filter_map(of_one).collect()
}

/// The errors below a file system, of its device, its disk or the way to it.
fn below(output: &ToolOutput, log: &[Logged], of: &Logged, at: Spot) -> Option<Proof> {
    let trouble =
        log.iter().filter_map(|other| other.trouble_of(output, of.device, at).map(|at| (other.device, at)));
    let (device, at) = trouble.min_by_key(|(_, at)| *at)?;
    Some(proof!("a consequence of the errors of {device} ({at})", device, at = output.at(at)))
}

/// What a full volume lies on: a thin pool, or VDO.
const BELOW: &str = "the pool below";

fn is_pool(called: &str) -> bool {
    [THIN_POOL, BELOW].contains(&called)
}

/// Requests behind the end of a device, which is smaller than its file system or partition table says: a suspicion.
pub(super) fn beyond(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (output, of) = outputs.iter().find_map(|output| {
        let of = logged(output).into_iter().find(|of| of.first(&[BEYOND]).is_some())?;
        Some((output, of))
    })?;
    let said = proof!(
        "{device}: {n} behind its end ({at}): the kernel does not send these, no disk fails",
        device = of.device,
        n = Counted(of.count(&[BEYOND]), "request", "requests"),
        at = output.at(of.first(&[BEYOND])?)
    );
    let missing = "whether the disk, volume or image became smaller than its file system or partition table says, or a damaged block number was read";
    Some(Verdict::cannot_tell(NAME, missing).because(said).try_this(
        "how large the device is; its file system tells what it expects (dumpe2fs -h, xfs_info, btrfs filesystem show)",
        Action::look(format!("lsblk -b /dev/{}", of.device)),
    ))
}

impl Trouble<'_> {
    fn enough(&self) -> bool {
        self.stopped.is_some() || self.damage.max(self.repaired) >= DAMAGED
    }

    fn is_pool(&self) -> bool {
        self.called.is_some_and(is_pool)
    }

    /// Whether all damage was repaired.
    fn is_mended(&self) -> bool {
        self.stopped.is_none() && self.repaired > 0 && self.repaired >= self.damage
    }

    fn proofs(&self) -> Vec<Proof> {
        let device = self.of.device;
        let called = self.called.unwrap_or("the file system");
        let mut all = vec![];
        if let Some(at) = self.of.first(&CORRUPT) {
            all.push(proof!(
                "{called} on {device} finds its data damaged: {messages} in the kernel's log (the first at {at})",
                called,
                device,
                messages = Counted(self.damage, "message", "messages"),
                at = self.output.at(at)
            ));
        }
        if let Some(at) = self.of.first(&[REPAIRED]) {
            all.push(proof!(
                "{called} repaired {blocks} of {device} from another copy (the first at {at})",
                called,
                blocks = Counted(self.repaired, "block", "blocks"),
                device,
                at = self.output.at(at)
            ));
        }
        if let Some(at) = self.stopped {
            let (at, stops) = (self.output.at(at), self.of.first(&[STOPPED]).is_some());
            let said = match self.is_pool() {
                false => proof!(
                    "{called} on {device} stopped: it was shut down or made read-only ({at})",
                    called,
                    device,
                    at
                ),
                true if stops => {
                    proof!(
                        "{called} {device} takes no more writes: it failed or is read-only ({at})",
                        called,
                        device,
                        at
                    )
                }
                true => proof!(
                    "{called} {device} has no free space: new writes wait, or fail ({at})",
                    called,
                    device,
                    at
                ),
            };
            let memory =
                self.memory.map(|at| proof!("since it got no memory ({at})", at = self.output.at(at)));
            all.push(match memory.or_else(|| self.below.clone()) {
                Some(why) => proof!("{said}, {why}", said, why),
                None => said,
            });
        }
        if let Some(at) =
            self.of.first(&[FULL]).filter(|_| !self.is_pool() || self.of.first(&[STOPPED]).is_some())
        {
            all.push(proof!("it found no space for its own data ({at})", at = self.output.at(at)));
        }
        all
    }

    /// What to look at: nothing here writes.
    fn advice(&self, v: Verdict) -> Verdict {
        let device = self.of.device;
        if self.is_pool() {
            return full_pool(v);
        }
        if self.memory.is_some() {
            return v.try_this(
                "nothing is damaged: mount it again; see what used the memory, and what the kernel says of it at that time",
                Action::look("free -m; grep -E 'Slab|MemAvailable' /proc/meminfo; dmesg -T | grep -iE 'oom|allocation failure'"),
            );
        }
        let (shows, look) = advice::health(&advice::disk(self.output, device));
        let mended = self.is_mended();
        let v = v
            .when(
                !mended,
                "first back up what can still be read, as the file system stands; then see what the kernel reported before",
                Action::look("dmesg -T | grep -iE 'error|timeout|reset|corrupt|shut'"),
            )
            .try_this(shows, look)
            .when(
                self.of.count(&[FULL]) > 0,
                "it lacked space for its own data: see what is allocated",
                Action::look("btrfs filesystem usage /MOUNTPOINT"),
            );
        let of = |name: &str| CHECKS.iter().find(|(kind, _)| name.starts_with(kind)).map(|(_, check)| *check);
        let v = match self.called.and_then(of).filter(|_| !mended) {
            Some(check) => v.try_this(
                match self.damage {
                    0 => "unmounted, and after the backup, let the file system check itself: this command only reads",
                    _ => {
                        "unmounted, and after the backup, let the file system check itself: this command only reads; the disk need not fail, \
                         memory, firmware or a power cut damages data too"
                    }
                },
                Action::look(format!("{check}{device}")),
            ),
            None => v,
        };
        v.when(
            self.damage > 0,
            "if the disk reports no errors, test the memory: the errors that ECC counted are here",
            Action::look("grep -s . /sys/devices/system/edac/mc/mc*/*e_count"),
        )
        .when(
            self.called == Some("btrfs") || mended,
            "what btrfs counted for each device, and what its last scrub found",
            Action::look("btrfs device stats /MOUNTPOINT; btrfs scrub status /MOUNTPOINT"),
        )
    }
}
