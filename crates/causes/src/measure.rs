//! How to measure what a device takes for such operations as waited: a load for fio of the same kind and size, with as many in flight.
//!
//! Writes go to a new file on the file system that they were for, never to the device, whose data they would destroy. Where a device
//! is known to be used without a file system, reads are measured instead, and that is said.
//!
//! Example: fsyncs of 4 KiB, three at a time on average, are measured by three jobs that append 4 KiB and fsync, in a directory there.

use crate::case::Case;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::measure::{MOST_AT_ONCE, SEQUENTIAL};
use crate::words::{counted, shell, size};
use life::Class;
use operation::Kind;
use stats::{Phases, SizeClass};
use std::collections::BTreeMap;
use trace::{Bytes, Call};

/// A load like that which waited.
pub(crate) struct Load {
    does: Does,
    place: Place,
    random: bool,
    each: Bytes,
    at_once: u64,
    /// How many there were in the recording.
    count: u64,
}

/// What it does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Reads,
    Writes,
    /// Writes, and after each the call of this option.
    Synced(&'static str),
}

/// Where it can be done without harm.
enum Place {
    /// Reads from the device.
    Device(String),
    /// A new file in this directory.
    Directory(String),
    /// The same, where it is not known what is mounted of the device.
    SomeDirectory,
    /// Reads from a device to which writes are not possible without harm.
    Instead(String),
}

impl Load {
    /// A load like a group's operations: the requests of its task where there are any, else all of that class.
    pub fn of(case: &Case, slow: &Slow) -> Load {
        let of_task = Sent::by(case, slow, |task| task == slow.group.task);
        let sent = if of_task.count > 0 { of_task } else { Sent::by(case, slow, |_| true) };
        let does = does(slow);
        Load {
            does,
            place: Place::of(case, slow, does),
            random: !in_order(case, slow),
            each: sent.usual(),
            at_once: sent.at_once(slow),
            count: sent.count + of_flushes(slow, does),
        }
    }

    /// The part that they were of all requests that a device completed; unknown where something else is measured.
    pub fn part_of(&self, all: u64) -> Option<f64> {
        (!self.reads_instead()).then(|| self.count as f64 / all.max(1) as f64)
    }

    /// The same load, so many at a time.
    pub fn at_once(self, at_once: u64) -> Load {
        Load { at_once, ..self }
    }

    /// What it does: `random reads of 16 KiB, 8 at a time`.
    pub fn words(&self) -> String {
        let order = if self.random { "random" } else { "sequential" };
        let what = if self.does == Does::Reads || self.reads_instead() { "reads" } else { "writes" };
        let synced = match self.does {
            Does::Synced(call) if !self.reads_instead() => format!(", each with its {call}"),
            _ => String::new(),
        };
        let several = if self.at_once > 1 { format!(", {} at a time", self.at_once) } else { String::new() };
        format!("{order} {what} of {}{synced}{several}", size(self.each))
    }

    /// How many jobs there are, each with a file of its own, and how large that is in MiB. Appends are flushed as they come and need little.
    fn files(&self) -> (u64, u64) {
        match self.does {
            Does::Synced(_) => (self.at_once, (ROOM / self.at_once).clamp(1, OF_APPENDS)),
            _ => (1, ROOM),
        }
    }

    /// What else has to be said of it.
    pub fn remark(&self) -> String {
        match &self.place {
            Place::Device(_) => String::new(),
            Place::Directory(_) | Place::SomeDirectory => {
                let (files, each) = self.files();
                let dir =
                    if let Place::Directory(_) = self.place { "" } else { " in DIR, a directory on it" };
                format!("; takes {} meanwhile{dir}", size(Bytes((files * each) << 20)))
            }
            Place::Instead(name) => format!(
                "; reads, for nothing is mounted of {name}: writing to it would destroy what it holds"
            ),
        }
    }

    /// Whether it reads where those that waited wrote.
    pub fn reads_instead(&self) -> bool {
        matches!(self.place, Place::Instead(_))
    }

    /// The command that does it for ten seconds.
    pub fn command(&self, name: &str) -> String {
        self.with_depth(name, &self.at_once.to_string())
    }

    /// The same as what changes nothing: the file is removed.
    pub fn look(&self, name: &str) -> Action {
        Action::look(self.command(name))
    }

    /// The same with this many in flight, as a word of a shell.
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
            Does::Synced(call) if !self.reads_instead() => {
                let jobs = if depth == "1" {
                    String::new()
                } else {
                    format!(" --numjobs={depth} --group_reporting")
                };
                format!("--{call}=1{jobs}")
            }
            _ => format!("--direct=1 --ioengine=libaio --iodepth={depth}"),
        };
        format!("fio --name={name} {place} {way} --runtime=10 --time_based")
    }
}

/// What writes into a file need of it, in MiB, so that they do not hit the same place again and again; and appends.
const ROOM: u64 = 1024;
const OF_APPENDS: u64 = 64;

/// The flushes of what is synced belong to it.
fn of_flushes(slow: &Slow, does: Does) -> u64 {
    if let Does::Synced(_) = does {
        slow.on.requests[Class::Flush.index()].count
    } else {
        0
    }
}

fn does(slow: &Slow) -> Does {
    let kind = slow.group.op.map(|op| op.kind);
    match (slow.class, kind) {
        (Class::Read, _) => Does::Reads,
        (_, Some(Kind::Call(Call::Fdatasync))) => Does::Synced("fdatasync"),
        (_, Some(kind)) if kind.makes_safe() || kind == Kind::JournalCommit => Does::Synced("fsync"),
        (Class::Flush, _) => Does::Synced("fsync"),
        _ => Does::Writes,
    }
}

impl Place {
    fn of(case: &Case, slow: &Slow, does: Does) -> Place {
        let on = || case.name(slow.on.id);
        match case.mount_of(slow.group) {
            _ if does == Does::Reads => Place::Device(on()),
            Some(mount) => Place::Directory(mount.target.clone()),
            // Of a device that is known by its number alone no mount is found either.
            None if case.system.mounts.is_empty() || case.settings(slow.group.dev).is_none() => {
                Place::SomeDirectory
            }
            None => Place::Instead(on()),
        }
    }
}

/// Whether those of the class mostly follow one another: of reads those of the task.
fn in_order(case: &Case, slow: &Slow) -> bool {
    let (class, traffic) = (slow.class.index(), &slow.on.traffic);
    let task = case.facts.tasks.all().find(|(_, name)| *name == slow.group.task);
    let reader =
        task.and_then(|(number, _)| slow.on.readers.get(&number)).filter(|_| slow.class == Class::Read);
    let of_all = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
    reader.map_or(of_all, |reader| reader.in_order()) >= SEQUENTIAL
}

/// Requests of the class that waited.
#[derive(Default)]
struct Sent {
    sizes: BTreeMap<SizeClass, (u64, u64)>,
    count: u64,
    /// All the time that they were on their way.
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

    /// How large most of them are, in whole blocks where they are so large.
    fn usual(&self) -> Bytes {
        const BLOCK: u64 = stats::BLOCK.0;
        let with_data = self.sizes.values().filter(|(_, bytes)| *bytes > 0);
        let Some((count, bytes)) = with_data.max_by_key(|(count, _)| *count) else { return Bytes(BLOCK) };
        let mean = bytes / (*count).max(1);
        let unit = if mean < BLOCK { 512 } else { BLOCK };
        Bytes((mean + unit / 2) / unit * unit).max(Bytes(512))
    }

    /// How many were on their way while the device was at work (Little's law).
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
