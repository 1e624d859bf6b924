//! Everything that is known of an input once it is judged: what every view draws.

use crate::answer::Roles;
use crate::blame::Which;
use crate::device_mapper::{self, InMapper};
use crate::lack::Lack;
use crate::places;
use crate::predictions::Prediction;
use crate::texts::Texts;
use causes::{Case, Damage, Verdict};
use events::Window;
use evidence::{Conflict, Samples, Skipped, System};
use operation::{By, Scope, Unrecorded};
use serde::Serialize;
use stats::{Device, Distribution, Facts, Focus, Group, OpKey, Phases, TAIL_SHARE};
use trace::{DevId, Fs, Nanos, Quality};
use units::words::{count, percent};

/// Remarks of each kind that are shown in full.
const MOST_REMARKS: usize = 10;

/// A group's tail is worth showing from this share of all tails' time on.
const VISIBLE: f64 = 0.02;

/// What was read.
#[derive(Default)]
pub struct Subject {
    /// The filter, if there is one.
    pub scope: Option<Scope>,
    /// Which operations of theirs.
    pub which: Which,
    /// The part of the recording that was read, if not all.
    pub window: Option<Window>,
    /// Formats of the sources: `blktrace`.
    pub sources: Vec<String>,
    /// Names of devices from the names of files.
    pub file_names: Vec<(DevId, String)>,
    /// The kernel, if the trace names it; the settings may name it too.
    pub kernel: Option<String>,
    /// Settings from files beside the trace.
    pub system: System,
    /// What the kernel counted each second; empty if that was not recorded.
    pub samples: Samples,
    /// What was lost on the way.
    pub quality: Quality,
    /// How long the recorder watched all tasks, if it missed nothing: longer than from the first event to the last.
    pub watched: Option<Nanos>,
    /// Whether it is of a recorder that recorded what tasks did.
    pub of_operations: bool,
    /// The devices that the recording was limited to; empty: all.
    pub only: Vec<String>,
    /// What tasks are to their users.
    pub roles: Roles,
}

/// How far the result can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Practically complete.
    Good,
    /// Some data is missing; the numbers are close to the truth.
    Degraded,
    /// Too much data is missing.
    Unusable,
}

impl Trust {
    fn of(damage: &Damage) -> Trust {
        match damage {
            Damage::None => Trust::Good,
            Damage::Odd | Damage::Some(_) => Trust::Degraded,
            Damage::TooMuch(_) => Trust::Unusable,
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Trust::Good => "good",
            Trust::Degraded => "degraded",
            Trust::Unusable => "unusable",
        }
    }
}

/// An explained input: a recording, texts, or a recording with texts beside it.
pub struct Explanation {
    /// What was read; without a source if no recording was.
    pub subject: Subject,
    /// What was measured.
    pub facts: Facts,
    /// Whose time is asked about.
    pub focus: Focus,
    /// Why it was slow.
    pub verdicts: Vec<Verdict>,
    /// Time in device-mapper that no cause explains.
    pub in_mapper: Vec<InMapper>,
    /// How far to trust it.
    pub trust: Trust,
    /// What the recording lacks, if that forbids a verdict.
    pub lack: Option<Lack>,
    /// Texts of other tools, and what they show; their verdicts are part of `verdicts`.
    pub texts: Texts,
    /// What remedies would have done, if that was asked for.
    pub predictions: Option<Vec<Prediction>>,
}

impl Explanation {
    /// Whether two groups in focus are of one device.
    pub(crate) fn is_same_device(&self, one: usize, other: usize) -> bool {
        let dev = |group: usize| self.focus.groups.get(group).map(|g| g.dev);
        dev(one) == dev(other)
    }

    /// Judges what a recording has.
    pub fn new(subject: Subject, facts: Facts) -> Explanation {
        let focus = Focus::of(&facts);
        let mut verdicts = {
            let name = |dev: DevId| places::device(&subject.system, &subject.file_names, dev);
            let mut case =
                Case::new(&facts, &focus, &subject.system, &subject.quality, &name).counted(&subject.samples);
            causes::judge(&mut case)
        };
        let format = subject.sources.first().map_or("", String::as_str);
        let lack = Lack::of(&facts, &subject.quality, format, subject.watched);
        lack.iter().for_each(|lack| lack.take_back(&mut verdicts));
        let trust = match &lack {
            Some(lack) if lack.spoils_numbers() => Trust::Unusable,
            _ => Trust::of(&Damage::of(&subject.quality, &facts)),
        };
        let (in_mapper, texts, predictions) = Default::default();
        let mut e =
            Explanation { subject, facts, focus, verdicts, in_mapper, trust, lack, texts, predictions };
        e.in_mapper = device_mapper::unexplained(&e);
        e
    }

    /// What texts show where there is no recording.
    pub fn of_texts(texts: Texts) -> Explanation {
        let (subject, facts, focus, in_mapper, lack, predictions) = Default::default();
        let (verdicts, trust) = (texts.verdicts.clone(), texts.trust());
        Explanation { subject, facts, focus, verdicts, in_mapper, trust, lack, texts, predictions }
    }

    /// The same with the texts beside the recording: their verdicts join the recording's.
    pub fn with_texts(mut self, texts: Texts) -> Explanation {
        texts.add_to(&mut self.verdicts);
        self.in_mapper = device_mapper::unexplained(&self);
        Explanation { texts, ..self }
    }

    /// Whether there is no recording, only texts.
    pub fn is_of_texts(&self) -> bool {
        self.subject.sources.is_empty() && !self.texts.outputs.is_empty()
    }

    /// What a device is called.
    pub fn name(&self, dev: DevId) -> String {
        places::device(&self.subject.system, &self.subject.file_names, dev)
    }

    /// On which file system operations were: as their events said, else as the mounts say.
    pub fn filesystem(&self, key: &OpKey) -> String {
        let system = &self.subject.system;
        let mounted = || {
            let by_number = system.mounts.iter().find(|m| m.dev == Some(key.dev));
            let mount =
                by_number.or_else(|| system.device_at(key.dev).and_then(|d| system.mounts_on(d).next()));
            mount.filter(|_| key.dev != DevId(0)).map(|m| m.fstype.clone())
        };
        match key.fs {
            Fs::Unknown => mounted().unwrap_or_else(|| Fs::Unknown.name().into()),
            known => known.name().into(),
        }
    }

    /// Whether a group's tail is worth showing.
    pub fn matters(&self, group: &Group) -> bool {
        group.tail.sum.time.total.0 as f64 >= VISIBLE * self.focus.time().total.0 as f64
    }

    /// Example: `1 % of reads on vda (209)`; of fewer than a hundred, `3 of 41 reads`.
    pub fn slowest_words(&self, group: &Group) -> String {
        let n = count(group.tail.sum.time.operations);
        let place = match self.top_devices().len() {
            0 | 1 => String::new(),
            _ => format!(" on {}", self.name(group.dev)),
        };
        let (part, words) = (self.slowest_part(group), group.words());
        match group.operations {
            100.. => format!("{part} of {words}{place} ({n})"),
            _ => format!("{part} {words}{place}"),
        }
    }

    /// What part of a group its slowest operations are: `1 %`, `93 %` where most take about the same, `3 of 7` of few.
    pub fn slowest_part(&self, group: &Group) -> String {
        let slowest = group.tail.sum.time.operations;
        match group.operations {
            all @ 100.. => match slowest as f64 / all as f64 {
                share if share < 2.0 * TAIL_SHARE => "1 %".into(),
                share => percent(share),
            },
            all => format!("{} of {all}", count(slowest)),
        }
    }

    /// Whether a device is asked about.
    pub fn asks_about(&self, dev: DevId) -> bool {
        self.subject.scope.as_ref().is_none_or(|scope| scope.shows_device(dev))
    }

    /// Whether devices are asked about as a whole, not only some tasks or operations on them.
    pub fn asks_about_devices(&self) -> bool {
        self.subject.scope.as_ref().is_none_or(|scope| scope.asking().is_of_devices())
    }

    /// Whether waits are told apart by more than their device and task, as only the table of waits does.
    pub fn asks_of_waits(&self) -> bool {
        let narrow = [By::Pid, By::Cgroup, By::Op, By::File];
        let asking = self.subject.scope.as_ref().map(Scope::asking);
        asking.is_some_and(|asking| narrow.into_iter().any(|by| !asking.of(by).is_empty()))
    }

    /// The filter in words, if there is one: `only device sda, task fio`.
    pub fn asked(&self) -> Option<String> {
        let asking = self.subject.scope.as_ref()?.asking();
        let of =
            |by: &By| Some(asking.of(*by)).filter(|v| !v.is_empty()).map(|v| (by.words(), v.join(" or ")));
        let all: Vec<String> = By::ALL.iter().filter_map(of).map(|(by, v)| format!("{by} {v}")).collect();
        Some(format!("only {}", all.join(", ")))
    }

    /// Devices that are asked about and do not lie below another recorded one, those with the most I/O first.
    pub fn top_devices(&self) -> Vec<&Device> {
        let mut top: Vec<&Device> = self.facts.devices.iter().filter(|d| self.is_shown(d)).collect();
        top.sort_by_key(|d| std::cmp::Reverse(d.bios.iter().map(|b| b.phases.count).sum::<u64>()));
        top
    }

    /// Whether a device is on top of those that are asked about.
    fn is_shown(&self, d: &Device) -> bool {
        let above = d.upper.is_some_and(|upper| self.asks_about(upper));
        self.asks_about(d.id) && !above
    }

    /// Remarks in words: what was odd about the trace and about what lies beside it, and which settings
    /// changed.
    pub fn notes(&self) -> Vec<String> {
        let system = &self.subject.system;
        let odd = self.subject.quality.notes.iter().cloned();
        let differ = |c: &Conflict| format!("settings disagree about {}: {} and {}", c.what, c.kept, c.other);
        let change =
            |c: &Conflict| format!("changed during the recording: {}: {} to {}", c.what, c.kept, c.other);
        let skip = |s: &Skipped| format!("{} was not read: {}", s.file, s.why);
        let lack = self.lack.iter().map(|lack| lack.words(&|dev| self.name(dev)));
        let mut notes: Vec<String> = lack.chain(self.unrecorded()).chain(odd).collect();
        notes.extend(system.changed.iter().take(MOST_REMARKS).map(change));
        notes.extend(system.conflicts.iter().take(MOST_REMARKS).map(differ));
        notes.extend(system.skipped.iter().take(MOST_REMARKS).map(skip));
        let of_each = [system.changed.len(), system.conflicts.len(), system.skipped.len()];
        let more: usize = of_each.iter().map(|n| n.saturating_sub(MOST_REMARKS)).sum();
        if more > 0 {
            notes.push(format!("and {more} more remarks of these kinds"));
        }
        notes
    }

    /// What of tasks was not recorded, where that hides what they waited for.
    pub fn unrecorded(&self) -> Option<String> {
        let missing = match self.facts.unrecorded.filter(|_| self.lack != Some(Lack::AnyIo))? {
            Unrecorded::Switches => "sched_switch and sched_waking were not recorded",
            Unrecorded::Calls => "no system calls on files (raw_syscalls) were recorded",
        };
        Some(format!("judged by block I/O alone: {missing}, so tasks' waits are unknown"))
    }

    /// Where tasks may have waited unseen: file systems of servers and programs.
    pub fn unseen(&self) -> Option<String> {
        let mut served = self.subject.system.mounts.iter().filter(|mount| mount.is_served());
        let first = served.next()?;
        let more = match served.count() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        Some(format!("waits for {} on {}{more}: not traced", first.fstype, first.target))
    }

    /// When the recording began, in nanoseconds since 1970, if it says so.
    pub fn began(&self) -> Option<u128> {
        let (seconds, nanos, at) = self.facts.flow.wall?;
        let (first, _) = self.facts.flow.span?;
        let wall = seconds as u128 * 1_000_000_000 + nanos as u128;
        Some((wall + first.0 as u128).saturating_sub(at.0 as u128))
    }

    /// The kernel that it was recorded on.
    pub fn kernel(&self) -> Option<&str> {
        let told = self.subject.system.kernel.as_ref().map(|k| k.value.as_str());
        told.or(self.subject.kernel.as_deref())
    }

    /// How long it is.
    pub fn duration(&self) -> Nanos {
        self.facts.duration()
    }
}

/// How long an operation took: from its queue on; for the kernel's own flush requests, which are never
/// queued, in the device.
pub fn latency(p: &Phases) -> &Distribution {
    if p.q2c.is_empty() {
        &p.d2c
    } else {
        &p.q2c
    }
}
