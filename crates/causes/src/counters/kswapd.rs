//! Memory that is short, on a screen of top: `reclaim`, suspected if kswapd runs much while next to nothing is left that it could free.
//!
//! kswapd frees memory for all others. Where a disk is read fast, it runs, too, and drops pages of the page cache that nobody needs again: then most
//! of the memory is available. Where hardly any is, what it drops is read again at once, programs' code among it, and disks are busy with that
//! whatever they are. Swap in use is no sign of it, and the processors' `wa` of one screen is none of slow I/O.
//!
//! Never more than a suspicion: one screen is one moment.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::kswapd::{HARDLY, MUCH};
use crate::proof::proof;
use crate::verdict::Verdict;
use tooltext::{Number, Reading, ToolOutput};

const NAME: &str = "reclaim";

/// The screen on which kswapd runs most of those with hardly any memory.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = readings(outputs, "top").filter_map(|(place, reading)| Short::of(place, reading));
    let most = all.max_by(|a, b| a.busy.value.total_cmp(&b.busy.value))?;
    let said = proof!(
        "{thread} takes {busy} of a processor, and {left} of {total} are available ({at})",
        thread = most.thread,
        busy = number(most.busy),
        left = number(most.left),
        total = number(most.total),
        at = Source(most.place.at(most.busy))
    );
    let missing = "whether tasks wait for memory, which no faster disk gives: cat /proc/pressure/memory; vmstat 1 10 shows what swaps; iowhy record shows \
                   who waits, and how long";
    Some(Verdict::cannot_tell(NAME, missing).because(said).confirmed_by("cat /proc/pressure/memory"))
}

/// A screen with hardly any memory.
struct Short<'a> {
    place: In<'a>,
    thread: &'a str,
    busy: Number,
    left: Number,
    total: Number,
}

impl<'a> Short<'a> {
    fn of(place: In<'a>, reading: &'a Reading) -> Option<Short<'a>> {
        let threads = reading.rows.iter().filter(|row| row.of.starts_with("kswapd"));
        let runs = threads.filter_map(|row| Some((row.of.as_str(), row.get("cpu")?)));
        let (thread, busy) = runs.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
        let memory = reading.row("memory")?;
        let total = memory.get("total")?;
        // procps before 3.3.10 does not print what is available: no more than what is free or in the page cache.
        let free = memory.get("free")?;
        let part = |name| memory.value(name).unwrap_or(0.0);
        let at_most = Number { value: free.value + part("cached") + part("buffers"), ..free };
        let left = memory.get("available").unwrap_or(at_most);
        (busy.value >= MUCH && left.value < HARDLY * total.value).then_some(Short {
            place,
            thread,
            busy,
            left,
            total,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn verdicts(text: &str) -> Vec<Verdict> {
        judge_counters(&[ToolOutput::read("top", text.as_bytes())])
    }

    /// A screen: shares of memory in MiB of 1000, and what kswapd takes.
    fn screen(free: u32, cached: u32, available: u32, kswapd: f64) -> String {
        format!(
            "%Cpu(s):  0.5 us, 19.0 sy,  0.0 ni,  0.0 id, 80.5 wa,  0.0 hi,  0.0 si,  0.0 st\n\
             MiB Mem :   1000.0 total, {free}.0 free,  900.0 used,  {cached}.0 buff/cache\n\
             MiB Swap:    500.0 total,      0.0 free,    500.0 used.  {available}.0 avail Mem\n\n  \
             PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n   \
             49 root      20   0       0      0      0 R  {kswapd:.1}  0.0   2:23.56 kswapd0\n"
        )
    }

    #[test]
    fn kswapd_at_work_without_memory_left_is_suspicious() {
        let all = verdicts(&screen(46, 52, 57, 66.0));
        assert_eq!(
            all.iter().map(|v| (v.cause, v.verdict)).collect::<Vec<_>>(),
            [("reclaim", Answer::CannotTell)]
        );
        assert_eq!(
            all[0].evidence[0].sentence(),
            "kswapd0 takes 66 % of a processor, and 57 MiB of 1000 MiB are available (top:6)"
        );
        for (what, text) in [
            ("a disk that is read fast", screen(20, 800, 780, 66.0)),
            ("little memory, and a kswapd at rest", screen(46, 52, 57, 3.0)),
        ] {
            assert!(verdicts(&text).is_empty(), "{what}");
        }
        let older = "KiB Mem:   1000000 total,   990000 used,    10000 free,     5000 buffers\nKiB Swap:        0 total,        0 used,        0 free.    {CACHED} cached Mem\n\
            \n  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n   49 root      20   0       0      0      0 R  99.0  0.0   2:23.56 kswapd0\n";
        let found = |cached: &str| verdicts(&older.replace("{CACHED}", cached)).len();
        assert_eq!((found("20000"), found("600000")), (1, 0));
    }

    /// A mean of the processors on one screen says nothing, however much they wait or work.
    #[test]
    fn the_processors_are_not_judged() {
        for times in
            ["0.5 us, 19.0 sy,  0.0 ni,  0.0 id, 80.5 wa", "99.5 us,  0.5 sy,  0.0 ni,  0.0 id,  0.0 wa"]
        {
            assert!(
                verdicts(&format!("%Cpu(s): {times},  0.0 hi,  0.0 si,  0.0 st\n")).is_empty(),
                "{times}"
            );
        }
    }

    #[test]
    fn tasks_in_state_d_are_told_as_of_ps() {
        let tasks: String =
            (1..4).map(|i| format!(" {i} root 20 0 0 0 0 D 0.0 0.0 0:00.10 dd if=x\n")).collect();
        let all = verdicts(&format!(
            "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n{tasks}"
        ));
        let said: Vec<String> = all.iter().flat_map(|v| &v.evidence).map(|proof| proof.sentence()).collect();
        assert_eq!(said, ["3 tasks are in state D: dd (3) (top:2)"]);
    }
}
