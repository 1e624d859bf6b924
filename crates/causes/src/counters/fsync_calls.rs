//! Syncs as strace(1) counts them: `flush-cost`, if they take most of the time in system calls.
//!
//! `-T` and `-c -w` measure how long a call takes. `-c` alone sums the processor time of a call in the kernel, which
//! says nothing about waiting, so it proves nothing.

use super::flush_times;
use super::place::{readings, In};
use super::say::number;
use super::thresholds::evidence::REQUESTS;
use super::thresholds::fsync::MOSTLY;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Reading, Row, Run, ToolOutput};
use trace::Nanos;

/// Calls that return once data is stable.
const SYNCS: [&str; 6] = ["fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync"];

/// The sync call that took the most time, of all calls that were traced together.
struct Calls<'a> {
    place: In<'a>,
    name: &'a str,
    count: f64,
    mean: Number,
    /// The part of the traced time that all syncs took, 0 to 1.
    share: f64,
    /// Whether the time was measured by the clock; else it is processor time.
    waited: bool,
}

pub(super) fn judge(cause: &'static str, outputs: &[ToolOutput]) -> Option<Verdict> {
    let most = readings(outputs, "strace")
        .filter_map(|(place, r)| calls(place, r))
        .filter(|c| c.share >= MOSTLY && c.count >= REQUESTS)
        .max_by(|a, b| a.waited.cmp(&b.waited).then(a.share.total_cmp(&b.share)))?;
    if !most.waited {
        return Some(
            Verdict::cannot_tell(
                cause,
                "how long these calls waited: strace -c sums the processor time that they took, strace -c -w the \
                 time until they returned",
            )
            .because(told(&most)),
        );
    }
    // strace does not say how many there were a second.
    let above = flush_times::passes_above(cause, outputs, most.mean, 0.0);
    if above.is_some() {
        return above;
    }
    let mut v = Verdict::found(cause, Nanos(0), Confidence::Medium).because(told(&most));
    v.share = most.share.min(1.0);
    Some(
        v.unless("syncs that return at once without strace: under it every call takes longer")
            .without("what happens within a sync, the journal's writes or the device's flush: iowhy record while it runs")
            .try_this(
                "a device with power-loss protection answers a flush without emptying its cache; see whether the \
                 kernel sends it any",
                Action::look("grep -H . /sys/block/*/queue/write_cache"),
            ),
    )
}

fn told(c: &Calls) -> Proof {
    proof!(
        "{name}: {count} calls of {mean} each ({at}); syncs are {share} of the time in the calls that strace shows",
        name = c.name,
        count = Count(c.count as u64),
        mean = number(c.mean),
        at = Source(c.place.at(c.mean)),
        share = Share(c.share.min(1.0))
    )
}

fn calls<'a>(place: In<'a>, reading: &'a Reading) -> Option<Calls<'a>> {
    let is_table = reading.name == "summary";
    let mean = |row: &Row| if is_table { row.get("mean") } else { row.latency("mean") };
    let time = |row: &Row| -> f64 {
        let product = || Some(row.value("count")? * mean(row)?.value);
        row.value("time").or_else(product).unwrap_or(0.0)
    };
    let rows = || reading.rows.iter().filter(|row| row.of != "total");
    let syncs = || rows().filter(|row| SYNCS.contains(&row.of.as_str()));
    let row = syncs().max_by(|a, b| time(a).total_cmp(&time(b)))?;
    let share = syncs().map(time).sum::<f64>() / rows().map(time).sum::<f64>();
    share.is_finite().then_some(())?;
    let waited = !is_table || by_the_clock(place.run);
    Some(Calls { place, name: &row.of, count: row.value("count")?, mean: mean(row)?, share, waited })
}

/// Whether a strace command shown with the table has `-w`, alone or among other letters.
fn by_the_clock(run: &Run) -> bool {
    let has = |word: &str| {
        let letters = word.strip_prefix('-').filter(|l| !l.starts_with('-'));
        word == "--summary-wall-clock" || letters.is_some_and(|l| l.contains('w'))
    };
    let is_strace = |text: &str| text.split_whitespace().any(|w| w.rsplit('/').next() == Some("strace"));
    run.commands.iter().any(|c| is_strace(&c.text) && c.text.split_whitespace().any(has))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    fn judged(text: &str) -> Option<Verdict> {
        let verdicts = judge_counters(&[ToolOutput::read("strace.txt", text.as_bytes())]);
        verdicts.into_iter().find(|v| v.cause == "flush-cost")
    }

    fn table(command: &str, calls: u64) -> String {
        format!(
            "{command}\n% time     seconds  usecs/call     calls    errors syscall\n\
             ------ ----------- ----------- --------- --------- ----------------\n \
             98.00    9.800000        8100      {calls}           fdatasync\n  \
             2.00    0.200000          10     20000           pwrite64\n\
             ------ ----------- ----------- --------- --------- ----------------\n\
             100.00   10.000000                 21210           total\n"
        )
    }

    #[test]
    fn calls_that_were_waited_for_are_found() {
        let v = judged(&table("$ strace -f -cw -p 812", 1210)).expect("a verdict");
        assert_eq!(v.verdict, Answer::Found);
        let proof = v.evidence[0].sentence();
        assert!(proof.contains("fdatasync: 1,210 calls of 8.1 ms each"), "{proof}");
        assert!(proof.contains("98 %"), "{proof}");
    }

    #[test]
    fn processor_time_is_no_wait() {
        for command in ["$ strace -c -p 812", "", "$ strace -c --write=3"] {
            let v = judged(&table(command, 1210)).expect("a verdict");
            assert_eq!(v.verdict, Answer::CannotTell, "{command}");
        }
    }

    #[test]
    fn what_the_device_did_not_take_is_not_its_flushes() {
        let beside = |took: f64| {
            let report = format!(
                "Device r/s w/s r_await w_await f/s f_await aqu-sz %util\nvda 0.00 900.00 0.00 0.10 90.00 {took:.2} 0.10 2.00\n\n"
            );
            judged(&format!("{}{}", table("$ strace -f -cw -p 812", 1210), report.repeat(3)))
                .expect("a verdict")
                .verdict
        };
        // Each call took 8.1 ms.
        assert_eq!((beside(0.1), beside(4.0)), (Answer::CannotTell, Answer::Found));
    }

    #[test]
    fn a_few_calls_say_nothing() {
        assert!(judged(&table("$ strace -cw -p 812", 5)).is_none());
    }

    #[test]
    fn calls_with_their_times_are_summed() {
        let line = |call: &str, time: &str| format!("{call}(9) = 0 <{time}>\n");
        let text = (line("fsync", "0.012000") + &line("write", "0.000031")).repeat(12);
        let v = judged(&text).expect("a verdict");
        assert_eq!((v.verdict, v.share > 0.99), (Answer::Found, true));
    }
}
