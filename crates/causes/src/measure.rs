//! How to measure what a device takes for operations like the slow ones: an fio load of the same kind, size and queue depth.
//!
//! Writes go to a new file on the file system of the slow operations, never to the device, whose data they would
//! destroy. If a device is known to be used without a file system, reads are measured instead, and the remark says so.
//!
//! Example: fsyncs of 4 KiB, three in flight on average, are measured by three jobs in a directory there that append 4 KiB and fsync.

use crate::case::Case;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::measure::{MOST_AT_ONCE, SEQUENTIAL, SMALL};
use units::words::{counted, shell, size};

use life::Class;
use operation::Kind;
use stats::{Phases, SizeClass};
use std::collections::BTreeMap;
use trace::{Bytes, Call};
use units::words::count;

/// An fio load like the requests of the slow operations.
pub(crate) struct Load {
    does: Does,
    place: Place,
    random: bool,
    each: Bytes,
    at_once: u64,
    /// How many such requests the recording has, including the flushes that belong to syncs.
    count: u64,
}

/// The kind of load.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Reads,
    Writes,
    /// Writes, some of them followed by a sync.
    Synced(Syncs),
}

/// How a load syncs.
#[derive(Clone, Copy, PartialEq)]
struct Syncs {
    /// fio's option: `fsync` or `fdatasync`.
    call: &'static str,
    /// Writes per sync, at least 1.
    every: u64,
    /// Syncs in flight on average; `None` if only requests were recorded.
    at_once: Option<u64>,
    /// Whether writes overwrite allocated blocks, such as a database's pages: then the journal has nothing to commit.
    in_place: bool,
}

impl Syncs {
    fn of(case: &Case, slow: &Slow, call: &'static str, writes: u64) -> Syncs {
        let unknown = Syncs { call, every: 1, at_once: None, in_place: false };
        let Some(key) = slow.group.op.filter(|key| key.kind.makes_safe()) else { return unknown };
        let (syncs, time) = (slow.group.operations.max(1), slow.group.all.time.total.0);
        let groups = &case.facts.operations.groups;
        let commits = groups.iter().filter(|(k, _)| k.kind == Kind::JournalCommit && k.dev == key.dev);
        let commits: u64 = commits.map(|(_, stats)| stats.latency.count()).sum();
        let is_journaled = case.mount_of(slow.group).is_some_and(|m| m.fstype == "ext4");
        let at_once = time as f64 / case.facts.duration().0.max(1) as f64;
        Syncs {
            every: (writes as f64 / syncs as f64).round().max(1.0) as u64,
            at_once: Some((at_once.round() as u64).clamp(1, MOST_AT_ONCE)),
            in_place: is_journaled && commits * 2 < syncs,
            ..unknown
        }
    }
}

/// Where the load does no harm.
enum Place {
    /// Reads from this device.
    Device(String),
    /// A new file in this directory.
    Directory(String),
    /// A new file in a directory to be chosen: no mount of the device is known.
    SomeDirectory,
    /// Reads from this device, where writes would destroy data.
    Instead(String),
}

impl Load {
    /// A load like a group's operations: like the requests of its task if there are any, else like all of that class on the device.
    pub fn of(case: &Case, slow: &Slow) -> Load {
        let of_task = Sent::by(case, slow, |task| task == slow.group.task);
        let sent = if of_task.count > 0 { of_task } else { Sent::by(case, slow, |_| true) };
        let does = does(case, slow, sent.count);
        let at_once = match does {
            Does::Synced(Syncs { at_once: Some(at_once), .. }) => at_once,
            _ => sent.at_once(slow),
        };
        Load {
            does,
            place: Place::of(case, slow, does),
            random: !in_order(case, slow),
            each: sent.usual(),
            at_once,
            count: sent.count + of_flushes(slow, does),
        }
    }

    /// The part of the device's requests (`all`) that are like this load; `None` if something else is measured.
    pub fn part_of(&self, all: u64) -> Option<f64> {
        (!self.reads_instead()).then(|| self.count as f64 / all.max(1) as f64)
    }

    /// Whether the requests do not follow each other on the device.
    pub fn is_random(&self) -> bool {
        self.random
    }

    /// The writes of each of the group's syncs, if they are several, and their usual size.
    pub fn of_each_sync(&self) -> Option<(u64, Bytes)> {
        match self.does {
            Does::Synced(Syncs { every, at_once: Some(_), .. }) if every > 1 => Some((every, self.each)),
            _ => None,
        }
    }

    /// The size of a request, if requests are sequential and small ([`SMALL`]); else `None`.
    pub fn in_small_steps(&self) -> Option<Bytes> {
        (!self.random && self.each <= SMALL).then_some(self.each)
    }

    /// The same load with this many requests or syncs in flight.
    pub fn at_once(self, at_once: u64) -> Load {
        Load { at_once, ..self }
    }

    /// The load in words: `random reads of 16 KiB, 8 at a time`.
    pub fn words(&self) -> String {
        let order = if self.random { "random" } else { "sequential" };
        let what = if self.does == Does::Reads || self.reads_instead() { "reads" } else { "writes" };
        let synced = match self.does {
            Does::Synced(Syncs { call, every: 1, .. }) if !self.reads_instead() => {
                format!(", each with its {call}")
            }
            Does::Synced(Syncs { call, every, .. }) if !self.reads_instead() => {
                format!(", {} with one {call}", count(every))
            }
            _ => String::new(),
        };
        let several = if self.at_once > 1 { format!(", {} at a time", self.at_once) } else { String::new() };
        format!("{order} {what} of {}{synced}{several}", size(self.each))
    }

    /// The number of jobs, each with a file of its own, and the size of each file in MiB. Appends are flushed as they come and need little.
    fn files(&self) -> (u64, u64) {
        match self.does {
            Does::Synced(syncs) => {
                // Within one sync, no place is written twice: the page cache would take that.
                let of_one = (syncs.every * self.each.0).div_ceil(1 << 20);
                (self.at_once, (ROOM / self.at_once).clamp(1, OF_APPENDS).max(of_one))
            }
            _ => (1, ROOM),
        }
    }

    /// What to add to the words: the space that the load takes, or that it reads instead of writing; may be empty.
    pub fn remark(&self) -> String {
        match &self.place {
            Place::Device(_) => String::new(),
            Place::Directory(_) | Place::SomeDirectory => {
                let (files, each) = self.files();
                let dir =
                    if let Place::Directory(_) = self.place { "" } else { " in DIR, a directory on it" };
                format!("; needs {} of space{dir}", size(Bytes((files * each) << 20)))
            }
            Place::Instead(name) => format!(
                "; reads, for nothing is mounted of {name}: writing to it would destroy what it holds"
            ),
        }
    }

    /// Whether the load reads although the slow operations wrote.
    pub fn reads_instead(&self) -> bool {
        matches!(self.place, Place::Instead(_))
    }

    /// The fio command that runs the load for ten seconds.
    pub fn command(&self, name: &str) -> String {
        self.with_depth(name, &self.at_once.to_string())
    }

    /// The same command as an action that changes nothing, since fio removes its file.
    pub fn look(&self, name: &str) -> Action {
        Action::look(self.command(name))
    }

    /// The fio command with another queue depth, which may be a shell variable; for synced writes it is the number of jobs.
    pub fn with_depth(&self, name: &str, depth: &str) -> String {
        let bs = match self.each.0 {
            each if each % 1024 == 0 => format!("{}k", each / 1024),
            each => each.to_string(),
        };
        let order = if self.random { "rand" } else { "" };
        let place = match &self.place {
            Place::Device(dev) | Place::Instead(dev) => {
                format!("--filename=/dev/{dev} --readonly --rw={order}read --bs={bs}")
            }
            Place::Directory(_) | Place::SomeDirectory => {
                let dir = if let Place::Directory(dir) = &self.place { shell(dir) } else { "DIR".into() };
                let (_, room) = self.files();
                format!("--directory={dir} --size={room}M --unlink=1 --rw={order}write --bs={bs}")
            }
        };
        let way = match self.does {
            Does::Synced(Syncs { call, every, in_place, .. }) if !self.reads_instead() => {
                let jobs = if depth == "1" {
                    String::new()
                } else {
                    format!(" --numjobs={depth} --group_reporting")
                };
                let laid = if in_place { " --overwrite=1" } else { "" };
                format!("--{call}={every}{laid}{jobs}")
            }
            _ => format!("--direct=1 --ioengine=libaio --iodepth={depth}"),
        };
        format!("fio --name={name} {place} {way} --runtime=10 --time_based")
    }
}

/// MiB of a file for writes, so that they do not hit the same place again and again; and of a file for appends.
const ROOM: u64 = 256;
const OF_APPENDS: u64 = 64;

/// The number of flushes that belong to a load with syncs; 0 for other loads.
fn of_flushes(slow: &Slow, does: Does) -> u64 {
    if let Does::Synced(_) = does {
        slow.on.requests[Class::Flush.index()].count
    } else {
        0
    }
}

fn does(case: &Case, slow: &Slow, writes: u64) -> Does {
    let kind = slow.group.op.map(|op| op.kind);
    let synced = |call| Does::Synced(Syncs::of(case, slow, call, writes));
    match (slow.class, kind) {
        (Class::Read, _) => Does::Reads,
        (_, Some(Kind::Call(Call::Fdatasync))) => synced("fdatasync"),
        (_, Some(kind)) if kind.makes_safe() || kind == Kind::JournalCommit => synced("fsync"),
        (Class::Flush, _) => synced("fsync"),
        _ => Does::Writes,
    }
}

impl Place {
    fn of(case: &Case, slow: &Slow, does: Does) -> Place {
        let on = || case.name(slow.on.id);
        match case.mount_of(slow.group) {
            _ if does == Does::Reads => Place::Device(on()),
            Some(mount) => Place::Directory(mount.target.clone()),
            // For a device that is known only by its number, no mount is found either.
            None if case.system.mounts.is_empty() || case.settings(slow.group.dev).is_none() => {
                Place::SomeDirectory
            }
            None => Place::Instead(on()),
        }
    }
}

/// Whether most requests of the class follow one another on the device; for reads, those of the group's task if it is known.
fn in_order(case: &Case, slow: &Slow) -> bool {
    let (class, traffic) = (slow.class.index(), &slow.on.traffic);
    let task = case.facts.tasks.all().find(|(_, name)| *name == slow.group.task);
    let reader =
        task.and_then(|(number, _)| slow.on.readers.get(&number)).filter(|_| slow.class == Class::Read);
    let of_all = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
    reader.map_or(of_all, |reader| reader.in_order()) >= SEQUENTIAL
}

/// Requests of the slow class on the device that did the work; `sizes` has their number and bytes.
#[derive(Default)]
struct Sent {
    sizes: BTreeMap<SizeClass, (u64, u64)>,
    count: u64,
    /// The sum of their times from queueing (or issue) to completion, in ns.
    time: u128,
}

impl Sent {
    fn by(case: &Case, slow: &Slow, these: impl Fn(&str) -> bool) -> Sent {
        let mut sent = Sent::default();
        for (key, phases) in case.facts.cells.iter().filter(|(key, _)| key.dev == slow.on.id) {
            if Class::of(key.op, key.flags) == slow.class && these(case.facts.tasks.name(key.task)) {
                sent.add(key.size, phases);
            }
        }
        sent
    }

    fn add(&mut self, class: SizeClass, phases: &Phases) {
        let (count, bytes) = self.sizes.entry(class).or_default();
        *count += phases.count;
        *bytes += phases.bytes.0;
        self.count += phases.count;
        self.time += phases.q2c.sum().max(phases.d2c.sum());
    }

    /// The mean size in the most frequent size class, rounded to blocks of 4 KiB, or to sectors of 512 bytes if smaller than a block.
    fn usual(&self) -> Bytes {
        const BLOCK: u64 = stats::BLOCK.0;
        let with_data = self.sizes.values().filter(|(_, bytes)| *bytes > 0);
        let Some((count, bytes)) = with_data.max_by_key(|(count, _)| *count) else { return Bytes(BLOCK) };
        let mean = bytes / (*count).max(1);
        let unit = if mean < BLOCK { 512 } else { BLOCK };
        Bytes((mean + unit / 2) / unit * unit).max(Bytes(512))
    }

    /// How many were in flight on average while the device was busy (Little's law), 1 to [`MOST_AT_ONCE`].
    fn at_once(&self, slow: &Slow) -> u64 {
        let busy = slow.on.depth.busy() * slow.on.depth.observed().0 as f64;
        ((self.time as f64 / busy.max(1.0)).round() as u64).clamp(1, MOST_AT_ONCE)
    }
}

/// How many more of the same kind a device did not complete because of others: `, beside 300 others`.
pub(crate) fn beside(others: u64) -> String {
    if others == 0 {
        String::new()
    } else {
        format!(", beside {}", counted(others, "other", "others"))
    }
}
