//! Says in words how far an explanation can be trusted.

use crate::window::part;
use explain::{Explanation, Lack, Trust};
use ledger::Reason;
use stats::{Failed, OpKey, OpStats, OF_STORAGE};
use std::cmp::Reverse;
use trace::{DevId, Nanos};
use units::words::{count, counted, percent, time};

/// TRUST in one line: events lost, oddities unless trust is good, what was recorded.
pub(crate) fn trust_line(e: &Explanation) -> String {
    let q = &e.subject.quality;
    let lost = match q.lost_total() {
        0 => "none lost".to_string(),
        n => format!("{} LOST", count(n)),
    };
    let odd = match e.trust {
        Trust::Good => String::new(),
        _ => odd(e).iter().skip(usize::from(q.lost_total() > 0)).map(|o| format!("; {o}")).collect(),
    };
    let kernel = e.kernel().map_or(String::new(), |k| format!(", Linux {k}"));
    let asked = e.asked().map_or(String::new(), |asked| format!("; {asked}"));
    let window = e.subject.window.map_or(String::new(), |window| format!("; only {}", part(window)));
    format!(
        "{}: {}, {lost}{odd}; {}{kernel}{window}{asked}",
        e.trust.name(),
        counted(q.events, "event", "events"),
        length(e)
    )
}

/// Operations that failed because of their storage (no space, I/O error, ...), those with most failures first.
///
/// Example: `75 of 275 writes on loop1 failed: no space left (ENOSPC), all by cp`.
pub(crate) fn failed(e: &Explanation) -> Vec<String> {
    let of_kind = |(key, stats): (&OpKey, &'_ OpStats)| {
        let dev = if key.dev == DevId(0) { stats.main_device() } else { Some(key.dev) };
        let on = dev.map_or(String::new(), |dev| format!(" on {}", e.name(dev)));
        let all = format!("{} {}{on}", count(stats.latency.count()), key.kind.plural());
        let one = |(number, failed): (&i64, &Failed)| {
            let (_, name, says) = OF_STORAGE.iter().find(|(known, ..)| known == number)?;
            let whose = match failed.most() {
                Some((task, its)) if its == failed.count => format!(", all by {task}"),
                Some((task, its)) => format!(", {} by {task}", count(its)),
                None => String::new(),
            };
            Some((failed.count, format!("{} of {all} failed: {says} ({name}){whose}", count(failed.count))))
        };
        stats.of_storage.iter().filter_map(one).collect::<Vec<_>>()
    };
    let mut all: Vec<(u64, String)> = e.facts.operations.groups.iter().flat_map(of_kind).collect();
    all.sort_by_key(|(failed, _)| Reverse(*failed));
    all.into_iter().map(|(_, words)| words).collect()
}

/// The length and format of the recording; only the format if the length is 0.
pub(crate) fn length(e: &Explanation) -> String {
    let sources = e.subject.sources.join(", ");
    match e.facts.recorded() {
        Nanos(0) => sources,
        all => format!("{} of {sources}", time(all)),
    }
}

/// Oddities of the recording, each with its number; those with 0 are left out.
fn odd(e: &Explanation) -> Vec<String> {
    let q = &e.subject.quality;
    let t = &e.facts.tally;
    let mut odd = Vec::new();
    let mut say = |n: u64, one: &str, many: &str| {
        if n > 0 {
            odd.push(counted(n, one, many));
        }
    };
    say(q.lost_total(), "event lost", "events lost");
    say(t.unmatched(), "unmatched event", "unmatched events");
    say(q.out_of_order, "event out of order", "events out of order");
    say(q.clock_steps + t.backward_steps, "step backwards in time", "steps backwards in time");
    say(q.cut_records, "record cut off", "records cut off");
    say(q.damaged_bytes, "byte outside any record", "bytes outside any record");
    say(q.unknown, "event of an unknown kind", "events of unknown kinds");
    let before = "of I/O from before the recording";
    say(t.began_before, &format!("event {before}"), &format!("events {before}"));
    say(t.requests_in_flight + t.bios_in_flight, "in flight at the end", "in flight at the end");
    say(t.requests_lost, "request whose completion was lost", "requests whose completion was lost");
    odd
}

/// TRUST in lines: first a summary, then failed operations and the notes.
pub(crate) fn trust_lines(e: &Explanation) -> Vec<String> {
    let mut text = format!("{}: ", e.trust.name());
    let odd = odd(e);
    let unexplained = e.focus.groups.iter().any(|g| g.op.is_some()).then(|| {
        let share = percent(e.focus.time().share(Reason::Unexplained));
        format!("{share} of the slowest operations' time is unexplained")
    });
    let lacks = e.lack.as_ref().is_some_and(|lack| !matches!(lack, Lack::Work { .. }));
    match (odd.is_empty(), e.trust) {
        _ if lacks && odd.is_empty() => text += "nothing to judge",
        (true, Trust::Good) if unexplained.is_some() => {
            text += "every operation was followed from its call to the device"
        }
        (true, Trust::Good) => text += "every read and write was followed from queue to completion",
        (true, Trust::Unusable) => text += "nothing to judge",
        (true, _) => text += "see the notes",
        (false, _) => text += &odd.join(", "),
    }
    if let Some(unexplained) = unexplained {
        text += &format!("; {unexplained}");
    }
    let mut lines = vec![text];
    lines.extend(failed(e));
    lines.extend(e.notes());
    if e.subject.system.devices.is_empty() {
        lines.push("no settings beside the trace: causes that need them say so".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::texts::Texts;
    use operation::Kind;
    use trace::{Call, Fs};

    #[test]
    fn what_failed_most_is_told_first_and_why() {
        let mut e = Explanation::of_texts(Texts::default());
        let mut add = |call, count: u64, failed: &[(i64, &str, u64)]| {
            let key = OpKey { kind: Kind::Call(call), fs: Fs::Ext4, dev: DevId::new(8, 0) };
            let mut stats = OpStats::default();
            for (number, task, times) in failed {
                let its = stats.of_storage.entry(*number).or_default();
                (0..*times).for_each(|_| its.add(task));
            }
            (0..count).for_each(|_| stats.latency.record(1000));
            e.facts.operations.groups.insert(key, stats);
        };
        add(Call::Write, 275, &[(5, "dd", 2), (28, "cp", 70), (28, "dd", 5)]);
        add(Call::Fsync, 1, &[(5, "cp", 1)]);
        add(Call::Read, 9, &[]);
        assert_eq!(
            failed(&e),
            [
                "75 of 275 writes on sda failed: no space left (ENOSPC), 70 by cp",
                "2 of 275 writes on sda failed: an error of the device (EIO), all by dd",
                "1 of 1 fsyncs on sda failed: an error of the device (EIO), all by cp",
            ]
        );
    }
}
