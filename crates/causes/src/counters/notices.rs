//! What the kernel's log says of memory, processors and arrays: no proof that I/O waited for these, and a better suspicion than storage.
//!
//! While a processor is stuck, nothing else runs there, and what its tasks wait for looks slow. Before the kernel kills a process, all that
//! need memory reclaim it themselves.

use super::place::{rows, In};
use super::say::number;
use crate::proof::{proof, Proof};
use crate::verdict::Verdict;
use tooltext::{Row, ToolOutput};

/// The rows of one kind, each with its place.
fn of_kind<'a>(outputs: &'a [ToolOutput], kind: &'static str) -> impl Iterator<Item = (In<'a>, &'a Row)> {
    rows(outputs, "kernel notices").filter(move |(_, row)| row.of == kind)
}

/// The number of lines of a kind, with its place.
fn counted(outputs: &[ToolOutput], kind: &'static str) -> Option<(u64, String)> {
    let mut all = of_kind(outputs, kind).filter_map(|(place, row)| Some((place, row.get("count")?)));
    let (place, first) = all.next()?;
    let more: f64 = all.map(|(_, count)| count.value).sum();
    Some(((first.value + more) as u64, place.at(first)))
}

/// `reclaim` is suspected if the kernel, systemd or earlyoom killed processes for want of memory, of the machine's or of a control group's, or if
/// XFS found none.
pub(super) fn memory(outputs: &[ToolOutput]) -> Option<Verdict> {
    let of_machine = counted(outputs, "killed for memory").map(|(n, at)| {
        proof!(
            "the kernel killed {killed} for want of memory ({at})",
            killed = Counted(n, "process", "processes"),
            at = Source(at)
        )
    });
    let of_machine = of_machine.or_else(|| before_the_end(outputs)).or_else(|| retried(outputs));
    if let Some(told) = of_machine {
        let missing =
            "who reclaims memory, and for how long each time: iowhy record; vmstat 1 shows swapping (si, so)";
        return Some(Verdict::cannot_tell("reclaim", missing).because(told));
    }
    let killed = counted(outputs, "killed at a limit").map(|(n, at)| {
        proof!(
            "the kernel killed {killed} at the memory limit of a control group ({at})",
            killed = Counted(n, "process", "processes"),
            at = Source(at)
        )
    });
    let reached = || {
        let (_, at) = counted(outputs, "memory limits reached")?;
        Some(proof!("a control group reached its memory limit ({at})", at = Source(at)))
    };
    let called = || {
        let (n, at) = counted(outputs, "calls of the OOM killer")?;
        Some(proof!(
            "a task found no memory {times}: it called the kernel's OOM killer ({at})",
            times = Counted(n, "time", "times"),
            at = Source(at)
        ))
    };
    let killed = killed.or_else(|| units(outputs));
    let missing = "whether I/O waited for that: iowhy record; the limit and how often it was reached: memory.max and memory.events of the \
         control group (memory.limit_in_bytes and memory.failcnt in version 1)";
    Some(Verdict::cannot_tell("reclaim", missing).because(killed.or_else(reached).or_else(called)?))
}

/// Killed by a program that watches memory.
fn before_the_end(outputs: &[ToolOutput]) -> Option<Proof> {
    let (n, at) = counted(outputs, "killed before memory ends")?;
    Some(proof!(
        "systemd-oomd or earlyoom killed {killed} for want of memory ({at})",
        killed = Counted(n, "time", "times"),
        at = Source(at)
    ))
}

/// XFS tries again until it gets memory, and logs each hundredth attempt (fs/xfs/kmem.c): its tasks wait meanwhile.
fn retried(outputs: &[ToolOutput]) -> Option<Proof> {
    let (n, at) = counted(outputs, "allocations that XFS retries")?;
    Some(proof!(
        "XFS found no memory and tried again, as it reports {times} ({at})",
        times = Counted(n, "time", "times"),
        at = Source(at)
    ))
}

/// What systemd reports of its units: of the machine's memory or of a limit, its lines do not say.
fn units(outputs: &[ToolOutput]) -> Option<Proof> {
    let of = |kind| counted(outputs, kind);
    let found = of("units killed for memory").or_else(|| of("services ended for memory"));
    let (n, at) = found.or_else(|| of("slices killed for memory"))?;
    Some(proof!(
        "systemd reports {times} that a process of a unit was killed for want of memory ({at})",
        times = Counted(n, "time", "times"),
        at = Source(at)
    ))
}

/// `raid-resync` is suspected if md began to check or copy an array and the log does not say that it ended.
pub(super) fn resync(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, array, action, at) = rows(outputs, "kernel notices").find_map(|(place, row)| {
        let (array, action) = row.of.split_once(' ').filter(|(array, _)| array.starts_with("md"))?;
        Some((place, array, action, row.get("count")?))
    })?;
    let told = proof!(
        "{array} is busy with a {action}, which uses all its disks ({at})",
        array,
        action,
        at = Source(place.at(at))
    );
    let missing = "what that costs others: iowhy record; how far it is: cat /proc/mdstat";
    Some(Verdict::cannot_tell("raid-resync", missing).because(told))
}

/// `cpu-wait` is suspected if processors were stuck, or slowed by heat.
pub(super) fn processors(outputs: &[ToolOutput]) -> Option<Verdict> {
    let stuck = of_kind(outputs, "stuck processors").find_map(|(place, row)| {
        let (count, longest) = (row.get("count")?, row.get("longest"));
        let told = proof!(
            "a processor was stuck {times} ({at})",
            times = Counted(count.value as u64, "time", "times"),
            at = Source(place.at(count))
        );
        Some(match longest {
            Some(longest) => proof!("{told}, for up to {longest}", told, longest = number(longest)),
            None => told,
        })
    });
    let hot = || {
        of_kind(outputs, "throttled by heat").find_map(|(place, row)| {
            let count = row.get("count")?;
            Some(proof!(
                "processors were slowed by heat {times} ({at})",
                times = Counted(count.value as u64, "time", "times"),
                at = Source(place.at(count))
            ))
        })
    };
    let missing = "whether operations wait for a processor: iowhy record while it is so";
    Some(Verdict::cannot_tell("cpu-wait", missing).because(stuck.or_else(hot)?))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    /// The suspected causes, in their order, and the first sentence.
    fn suspected(text: &str) -> (Vec<&'static str>, String) {
        let all = judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())]);
        let first = all.first().and_then(|v| v.evidence.first()).map_or(String::new(), |e| e.sentence());
        (all.iter().map(|v| v.cause).collect(), first)
    }

    /// A server that does not answer while the processor is stuck is a consequence.
    #[test]
    fn a_stuck_processor_comes_first() {
        let stuck = "[  520.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 197s! [kworker/0:1:23]\n";
        let server = "[  521.000000] nfs: server 10.0.0.27 not responding, still trying\n";
        let (causes, said) = suspected(&format!("{stuck}{server}"));
        assert_eq!(causes.first(), Some(&"cpu-wait"));
        assert_eq!(said, "a processor was stuck 1 time (dmesg:1), for up to 197 s");
        let heat =
            "[  551.000000] CPU0: Core temperature above threshold, cpu clock throttled (total events = 1)\n";
        assert_eq!(suspected(heat).1, "processors were slowed by heat 1 time (dmesg:1)");
    }

    #[test]
    fn an_array_that_is_checked_is_a_better_suspicion_than_a_hang_without_a_stack() {
        let hung = "[ 250.0] INFO: task txg_sync:2552 blocked for more than 120 seconds.\n";
        let check = "[ 61.1] md: data-check of RAID array md3\n";
        let (causes, said) = suspected(&format!("{check}{hung}"));
        assert_eq!(causes, ["raid-resync", "hung"]);
        assert_eq!(said, "md3 is busy with a data-check, which uses all its disks (dmesg:1)");
        let (causes, _) = suspected(&format!("{check}[ 99.0] md: md3: data-check done.\n{hung}"));
        assert_eq!(causes, ["hung"]);
    }

    /// What lies between two such lines is read by itself.
    #[test]
    fn errors_of_a_disk_between_two_lines_are_not_lost() {
        let kill = "[  518.050606] Out of memory: Killed process 15784 (python3) total-vm:11964kB\n";
        let full = "cp: error writing 'a': No space left on device\n";
        let error =
            "[ 61.5] I/O error, dev sdb, sector 8472 op 0x0:(READ) flags 0x3000 phys_seg 1 prio class 2\n"
                .repeat(3);
        assert_eq!(suspected(&format!("{kill}{error}{kill}")).0, ["device-errors", "reclaim"]);
        assert_eq!(suspected(&format!("{full}{error}{full}")).0, ["device-errors", "file-system-error"]);
        let (_, said) = suspected(&format!("{kill}{full}{kill}{kill}"));
        assert_eq!(said, "1 error for lack of space (dmesg:2)");
    }

    #[test]
    fn killed_processes_are_a_lack_of_memory() {
        let kill = "[  518.050606] Out of memory: Killed process 15784 (python3) total-vm:11964kB\n";
        let (causes, said) = suspected(&kill.repeat(3));
        assert_eq!(
            (causes.as_slice(), said.as_str()),
            (&["reclaim"][..], "the kernel killed 3 processes for want of memory (dmesg:1)")
        );
        let usage = "[  517.0] memory: usage 1048576kB, limit 1048576kB, failcnt 141\n";
        let group = "[  518.1] Memory cgroup out of memory: Killed process 812 (java) total-vm:1kB\n";
        let (causes, said) = suspected(&format!("{usage}{group}"));
        assert_eq!(causes, ["reclaim"]);
        assert_eq!(said, "the kernel killed 1 process at the memory limit of a control group (dmesg:2)");
        let unit = "host systemd[1]: a.service: A process of this unit has been killed by the OOM killer.\n";
        let slice =
            "host systemd[1]: system.slice: A process of this unit has been killed by the OOM killer.\n";
        let (causes, said) = suspected(&format!("{slice}{unit}{slice}"));
        assert_eq!(
            (causes.as_slice(), said.as_str()),
            (
                &["reclaim"][..],
                "systemd reports 1 time that a process of a unit was killed for want of memory (dmesg:2)"
            )
        );
        let oomd = "host systemd-oomd[7]: Killed /a.slice due to memory pressure for /a.slice being 78.42% > 50.00% for > 20s\n";
        assert_eq!(suspected(oomd).1, "systemd-oomd or earlyoom killed 1 time for want of memory (dmesg:1)");
        let xfs =
            "[ 7.5] XFS: cp(812) possible memory allocation deadlock size 65552 in kmem_alloc (mode:0x250)\n";
        assert_eq!(
            suspected(&xfs.repeat(2)).1,
            "XFS found no memory and tried again, as it reports 2 times (dmesg:1)"
        );
        assert_eq!(suspected(usage).1, "a control group reached its memory limit (dmesg:1)");
    }
}
