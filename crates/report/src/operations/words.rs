//! The words of a ledger's lines.

use super::branch::{Asked, Branch, What};
use evidence::System;
use life::{Class, Op};
use operation::{Freed, Kind, Operation, Wait};
use stats::{Kept, Met, Ran, Whose};
use trace::{Bytes, CommitPhase, DevId, Fs, Nanos};
use units::words::{count, size, time};

/// What devices and file systems are called.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Names of devices from the names of files.
    pub names: Vec<(DevId, String)>,
    /// Settings beside the recording.
    pub system: System,
    /// When the recording began, which times are told from.
    pub began: Nanos,
    /// Files whose numbers may have been used again.
    pub freed: Freed,
}

impl Places {
    /// What a device is called.
    pub fn device(&self, dev: DevId) -> String {
        let file = self.names.iter().find(|(d, _)| *d == dev).map(|(_, n)| n.as_str());
        file.or(self.system.device_name(dev)).map_or_else(|| dev.to_string(), str::to_string)
    }

    /// Where a device's file system is mounted, and of which kind it is: `/mnt/lab`, ext4.
    pub fn mount(&self, dev: DevId) -> Option<(&str, Fs)> {
        let source = self.system.device_name(dev).map(|name| format!("/dev/{name}"));
        let is = |m: &&evidence::Mount| m.dev == Some(dev) || source.as_ref() == Some(&m.source);
        self.system.mounts.iter().rev().find(is).map(|m| (m.target.as_str(), Fs::by_name(&m.fstype)))
    }

    /// Where an operation went: `/mnt/lab (ext4, loop0)`; nothing where that is not known.
    pub fn of(&self, fs: Fs, dev: DevId) -> Option<String> {
        let mount = self.mount(dev).filter(|_| dev != DevId(0));
        let kind =
            Some(fs).filter(|f| *f != Fs::Unknown).or(mount.map(|m| m.1).filter(|f| *f != Fs::Unknown));
        let kind = kind.map(|k| k.name().to_string());
        let device = (dev != DevId(0)).then(|| self.device(dev));
        let around: Vec<String> = kind.into_iter().chain(device).collect();
        match mount {
            Some((target, _)) => Some(format!("{target} ({})", around.join(", "))),
            None => Some(around.join(" on ")).filter(|t| !t.is_empty()),
        }
    }

    /// The path of an operation's file, where it is surely that file's: its descriptor has been open since the path was
    /// looked up, or no other file can have had its number. btrfs numbers the files of each subvolume anew.
    pub fn file(&self, o: &Operation) -> Option<&str> {
        let sure = o.told || (o.fs != Fs::Btrfs && !self.freed.has(o.dev, o.inode));
        self.system.processes.path(o.dev, o.inode).filter(|_| o.inode != 0 && sure)
    }

    /// Whose data it was; a control group by its path.
    pub fn whose(&self, whose: &Whose) -> Option<String> {
        match whose {
            Whose::Tasks(tasks) => Some(tasks.clone()),
            Whose::Group(group) => Some(self.group(*group)),
            Whose::Unknown => None,
        }
    }

    /// A control group: by its path, or its number where that is all that is known.
    pub fn group(&self, number: u64) -> String {
        match self.system.group_path(number) {
            Some(path) => format!("cgroup {path}"),
            None => format!("the cgroup whose folder has inode {number}"),
        }
    }

    /// Seconds since the recording began.
    pub fn since_start(&self, t: Nanos) -> f64 {
        t.since(self.began).seconds()
    }
}

/// What an operation was: `fsync by fio (tid 683) on /mnt (ext4, loop0), 2.4 s, at 3.114072 s`.
pub fn headline(kept: &Kept, places: &Places) -> String {
    let o = &kept.operation;
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
    let whose = kept.whose.as_ref().map_or(String::new(), |tasks| match o.kind {
        Kind::JournalCommit => format!(", changes of {tasks}"),
        _ => format!(", data of {tasks}"),
    });
    let error = if o.result < 0 { format!(", ERROR {}", -o.result) } else { String::new() };
    format!(
        "{}{} by {} (tid {}{process}){}{file}{whose}, {}, at {:.6} s{error}",
        o.kind.name(),
        moved.unwrap_or_default(),
        kept.task,
        o.tid.0,
        on.unwrap_or_default(),
        time(o.total()),
        places.since_start(o.from),
    )
}

/// A branch's own words.
pub fn label(branch: &Branch, places: &Places) -> String {
    let many = branch.count > 1;
    let times = || match branch.each {
        _ if !many => String::new(),
        (least, most) if time(least) == time(most) => {
            format!(", {} times {}", count(branch.count), time(most))
        }
        (least, most) => format!(", {} times {} to {}", count(branch.count), time(least), time(most)),
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
        What::Commit(phase) => format!("{}{}", commit(*phase), times()),
        What::Rest => {
            let n = count(branch.count);
            format!("{n} short part{}", if many { "s" } else { "" })
        }
    }
}

fn request(r: &Asked, n: u64, places: &Places) -> String {
    let what = if r.class == Class::Background { "writeback write" } else { r.op.name() };
    let of = match r.each {
        _ if r.op == Op::Flush => String::new(),
        (least, most) if n > 1 && least == most => format!(" of {} each", size(most)),
        (least, most) if n > 1 => format!(" of {} to {}, {} in all,", size(least), size(most), size(r.bytes)),
        (_, most) => format!(" of {}", size(most)),
    };
    let place = if n > 1 || r.op == Op::Flush {
        format!(" of {}", places.device(r.dev))
    } else {
        format!(" at sector {} of {}", r.start.0, places.device(r.dev))
    };
    let tasks = r.writers.iter().filter(|w| **w != r.task).cloned();
    let writers: Vec<String> = tasks.chain(r.groups.iter().map(|g| places.group(*g))).collect();
    let data = if writers.is_empty() { String::new() } else { format!(", data of {}", writers.join(", ")) };
    let number = if n > 1 { format!("{} {what}s", count(n)) } else { what.to_string() };
    format!("{number}{of}{place}, queued by {}{data}", r.task)
}

/// A step of a commit.
pub fn commit(phase: CommitPhase) -> &'static str {
    match phase {
        CommitPhase::Start => "the commit begins",
        CommitPhase::Locking => "commit, locking: until those who still change the transaction are done",
        CommitPhase::Flushing => "commit, flushing: sending other files' data",
        CommitPhase::Logging => {
            "commit, logging: the journal's blocks, waiting for other files' data, the commit block"
        }
        CommitPhase::End => "after the commit",
    }
}

/// Whether the words of a sleep say all that its only leaf would: a wait for a tag is for a tag.
pub fn says_all(wait: Wait, leaf: ledger::Reason) -> bool {
    wait.reason() == Some(leaf) || (wait == Wait::Input && leaf == ledger::Reason::Sleep)
}

/// What else the device did.
pub fn meanwhile(met: &[Met]) -> Option<String> {
    let one = |m: &Met| {
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

/// Who had the processor.
pub fn instead(ran: &[Ran]) -> Option<String> {
    let mut ran: Vec<&Ran> = ran.iter().collect();
    ran.sort_by_key(|r| std::cmp::Reverse(r.time));
    let all: Vec<String> = ran.iter().take(3).map(|r| format!("{} ({})", r.task, time(r.time))).collect();
    (!all.is_empty()).then(|| format!("meanwhile the processor ran {}", all.join(", ")))
}
