//! The words in the lines of an operation's account.

use super::branch::{Asked, Branch, What};
use explain::{names, Places};
use life::{Class, Op};
use operation::{Kind, Wait};
use stats::{Interfering, Ran, SampledOperation};
use trace::{Bytes, Tid};
use units::words::{count, size, time};

/// An operation in one line: `fsync by fio (tid 683) on /mnt (ext4, loop0), 2.4 s, at 3.114072 s`.
pub fn headline(sampled: &SampledOperation, places: &Places) -> String {
    let o = &sampled.operation;
    let moved = (o.result > 0 && o.moves_bytes()).then(|| format!(" of {}", size(Bytes(o.result as u64))));
    let on = places.of(o.fs, o.dev).map(|p| format!(" on {p}"));
    let path = places.file(o);
    let file = match (o.inode, o.fd) {
        (0, Some(fd)) if on.is_none() => format!(" on file descriptor {fd}"),
        (0, _) => String::new(),
        (inode, _) => format!(", inode {inode}{}", path.map_or(String::new(), |p| format!(", {p}"))),
    };
    let process = match o.process {
        Some(process) if process != o.tid => format!(" of process {}", process.0),
        _ => String::new(),
    };
    let whose = sampled.whose.as_ref().map_or(String::new(), |tasks| match o.kind {
        Kind::JournalCommit => format!(", changes of {tasks}"),
        _ => format!(", data of {tasks}"),
    });
    let error = if o.result < 0 { format!(", ERROR {}", -o.result) } else { String::new() };
    format!(
        "{}{} by {} (tid {}{process}){}{file}{whose}, {}, at {:.6} s{error}",
        o.kind.name(),
        moved.unwrap_or_default(),
        sampled.task,
        o.tid.0,
        on.unwrap_or_default(),
        time(o.total()),
        places.since_start(o.from),
    )
}

/// The words of a branch, without those of its parts.
pub fn label(branch: &Branch, places: &Places) -> String {
    let many = branch.count > 1;
    let times = || match branch.each {
        _ if !many => String::new(),
        (least, most) if time(least) == time(most) => {
            format!(", {} times {}", count(branch.count), time(most))
        }
        (least, most) => format!(", {} times, each {} to {}", count(branch.count), time(least), time(most)),
    };
    match &branch.what {
        What::Leaf(reason) if many => format!("{} ({} times)", reason.words(), count(branch.count)),
        What::Leaf(reason) => reason.words().to_string(),
        What::Wait { wait, function } => {
            let function = if function.is_empty() { String::new() } else { format!(" ({function})") };
            format!("{}{function}{}", wait.words(), times())
        }
        What::Request(asked) => request(asked, branch.count, places),
        What::Task { tid, name } => format!("{name} (tid {}){}", tid.0, times()),
        What::Work { function, worker, queuer } => {
            let by = queuer.as_ref().map_or(String::new(), |q| format!(", queued by {q}"));
            format!("work item {function} in {worker}{by}{}", times())
        }
        What::Commit(phase) => format!("{}{}", names::commit(*phase), times()),
        What::Rest => {
            let n = count(branch.count);
            format!("{n} short part{}", if many { "s" } else { "" })
        }
    }
}

fn request(r: &Asked, n: u64, places: &Places) -> String {
    let what = if r.class == Class::Background { "writeback write" } else { r.op.name() };
    // Nobody is known to have queued it, not even a task without a name. Of one without events not even the size is known.
    let is_from_before = r.tid == Tid(0) && r.task == "?";
    let is_unseen = is_from_before && r.bytes.0 == 0;
    let of = match r.each {
        _ if r.op == Op::Flush || is_unseen => String::new(),
        (least, most) if n > 1 && least == most => format!(" of {} each", size(most)),
        (least, most) if n > 1 => format!(" of {} to {}, {} in all,", size(least), size(most), size(r.bytes)),
        (_, most) => format!(" of {}", size(most)),
    };
    let place = if n > 1 || r.op == Op::Flush || is_unseen {
        format!(" of {}", places.device(r.dev))
    } else {
        format!(" at sector {} of {}", r.start.0, places.device(r.dev))
    };
    let tasks = r.writers.iter().filter(|w| **w != r.task).cloned();
    let writers: Vec<String> = tasks.chain(r.groups.iter().map(|g| places.group(*g))).collect();
    let data = if writers.is_empty() { String::new() } else { format!(", data of {}", writers.join(", ")) };
    let number = if n > 1 { format!("{} {what}s", count(n)) } else { what.to_string() };
    match is_from_before {
        true => format!("{number}{of}{place}, sent before the recording{data}"),
        false => format!("{number}{of}{place}, queued by {}{data}", r.task),
    }
}

/// Whether the words of a sleep say all that its only leaf would: a wait for a tag needs no reason `tag`.
pub fn says_all(wait: Wait, leaf: ledger::Reason) -> bool {
    wait.reason() == Some(leaf) || (wait == Wait::Input && leaf == ledger::Reason::Sleep)
}

/// The other I/O that the device completed; `None` if there was none.
pub fn meanwhile(met: &[Interfering]) -> Option<String> {
    let one = |m: &Interfering| {
        let what = match m.class {
            Class::Background => "writeback write",
            Class::SyncWrite => "synchronous write",
            Class::Read => "read",
            Class::Flush => "flush",
            Class::Other => "discard or command",
        };
        let many = match (m.requests, m.class) {
            (1, _) => "",
            (_, Class::Flush) => "es",
            (_, Class::Other) => "",
            _ => "s",
        };
        let bytes = if m.bytes.0 == 0 { String::new() } else { format!(" ({})", size(m.bytes)) };
        format!("{} {what}{many} of {}{bytes}", count(m.requests), m.task)
    };
    let all: Vec<String> = met.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("meanwhile it completed {}", all.join(", ")))
}

/// The tasks that ran on the processor instead, at most three, longest first; `None` if there were none.
pub fn instead(ran: &[Ran]) -> Option<String> {
    let mut ran: Vec<&Ran> = ran.iter().collect();
    ran.sort_by_key(|r| std::cmp::Reverse(r.time));
    let all: Vec<String> = ran.iter().take(3).map(|r| format!("{} ({})", r.task, time(r.time))).collect();
    (!all.is_empty()).then(|| format!("meanwhile the processor ran {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use trace::{DevId, Sector};

    /// Nobody is named who may not have sent it.
    #[test]
    fn who_sent_a_request_before_the_recording_is_not_said() {
        let of = |tid: u32, task: &str, size: u64| {
            let (dev, start, bytes) = (DevId::new(8, 0), Sector(64), Bytes(size));
            let (writers, groups) = (BTreeSet::new(), BTreeSet::new());
            let (op, class, each, task) = (Op::Write, Class::SyncWrite, (bytes, bytes), task.into());
            let asked = Asked { dev, op, class, start, each, bytes, task, tid: Tid(tid), writers, groups };
            request(&asked, 1, &Places::default())
        };
        assert_eq!(of(7, "dd", 4096), "write of 4 KiB at sector 64 of sda, queued by dd");
        assert_eq!(of(7, "?", 4096), "write of 4 KiB at sector 64 of sda, queued by ?");
        assert_eq!(of(0, "?", 4096), "write of 4 KiB at sector 64 of sda, sent before the recording");
        assert_eq!(of(0, "?", 0), "write of sda, sent before the recording");
    }
}
