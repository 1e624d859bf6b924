//! The model that every view draws: an input with its measurements and verdicts.

use crate::device_mapper::{self, InMapper};
use crate::lack::Lack;
use crate::predictions::Prediction;
use crate::subject::Subject;
use crate::texts::Texts;
use crate::trust::Trust;
use causes::{Case, Damage, Verdict};
use evidence::{Conflict, Skipped};
use operation::{By, Scope, Unrecorded};
use stats::{Device, Distribution, Facts, Focus, Group, OpKey, Phases, TAIL_SHARE};
use trace::{DevId, Fs, Nanos};
use units::words::{count, percent, whose};

/// Maximal number of remarks of each kind that are shown in full.
const MOST_REMARKS: usize = 10;

/// A group is worth showing if its tail has at least this share of all tails' time.
const VISIBLE: f64 = 0.02;

/// An explained input: a recording, texts, or a recording with texts beside it.
pub struct Explanation {
    /// The input; without sources if there is no recording.
    pub subject: Subject,
    /// What was measured.
    pub facts: Facts,
    /// The victims that the answer is about, in groups.
    pub focus: Focus,
    /// The verdict on each cause.
    pub verdicts: Vec<Verdict>,
    /// dm devices with time that no cause explains.
    pub in_mapper: Vec<InMapper>,
    /// How far to trust it.
    pub trust: Trust,
    /// What the recording lacks, if that forbids a verdict.
    pub lack: Option<Lack>,
    /// Texts of other tools and their verdicts, which are part of `verdicts`.
    pub texts: Texts,
    /// What remedies would have done; `None` if no predictions were requested.
    pub predictions: Option<Vec<Prediction>>,
}

impl Explanation {
    /// Whether two groups in the focus are on the same device.
    pub(crate) fn is_same_device(&self, one: usize, other: usize) -> bool {
        let dev = |group: usize| self.focus.groups.get(group).map(|g| g.dev);
        dev(one) == dev(other)
    }

    /// Judges a recording.
    pub fn new(subject: Subject, facts: Facts) -> Explanation {
        let focus = Focus::of(&facts);
        let mut verdicts = {
            let name = |dev: DevId| subject.name(dev);
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
        let in_mapper = device_mapper::unexplained(&subject, &facts, &focus, &verdicts);
        let (texts, predictions) = Default::default();
        Explanation { subject, facts, focus, verdicts, in_mapper, trust, lack, texts, predictions }
    }

    /// Explains texts without a recording.
    pub fn of_texts(texts: Texts) -> Explanation {
        let (subject, facts, focus, in_mapper, lack, predictions) = Default::default();
        let (verdicts, trust) = (texts.verdicts.clone(), texts.trust());
        Explanation { subject, facts, focus, verdicts, in_mapper, trust, lack, texts, predictions }
    }

    /// Adds the texts beside a recording: their verdicts join the recording's.
    pub fn with_texts(mut self, texts: Texts) -> Explanation {
        texts.add_to(&mut self.verdicts);
        self.in_mapper = device_mapper::unexplained(&self.subject, &self.facts, &self.focus, &self.verdicts);
        Explanation { texts, ..self }
    }

    /// Whether there is no recording, only texts.
    pub fn is_of_texts(&self) -> bool {
        self.subject.sources.is_empty() && !self.texts.outputs.is_empty()
    }

    /// A device's name. Example: `sda`.
    pub fn name(&self, dev: DevId) -> String {
        self.subject.name(dev)
    }

    /// The file system of operations: by their events, else by the mounts. Example: `ext4`.
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

    /// Example: `1 % of fio's reads on vda (209)`; of fewer than a hundred, `3 of fio's 41 reads`.
    pub fn slowest_words(&self, group: &Group) -> String {
        let n = count(group.tail.sum.time.operations);
        let place = match self.top_devices().len() {
            0 | 1 => String::new(),
            _ => format!(" on {}", self.name(group.dev)),
        };
        let (whose, words) = (whose(&group.task), group.words());
        match group.operations {
            100.. => format!("{} of {whose} {words}{place} ({n})", self.slowest_part(group)),
            all => format!("{n} of {whose} {all} {words}{place}"),
        }
    }

    /// The part of a group that its slowest operations are: `1 %`; `93 %` if most take about the same; `3 of 7` if there are fewer than 100.
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

    /// Whether the filter includes a device.
    pub fn asks_about(&self, dev: DevId) -> bool {
        self.subject.scope.as_ref().is_none_or(|scope| scope.shows_device(dev))
    }

    /// Whether the filter selects whole devices, not only some tasks or operations on them.
    pub fn asks_about_devices(&self) -> bool {
        self.subject.scope.as_ref().is_none_or(|scope| scope.asking().is_of_devices())
    }

    /// Whether the filter needs the table of waits: it selects processes, cgroups, kinds of operations or files.
    pub fn asks_of_waits(&self) -> bool {
        let narrow = [By::Pid, By::Cgroup, By::Op, By::File];
        let asking = self.subject.scope.as_ref().map(Scope::asking);
        asking.is_some_and(|asking| narrow.into_iter().any(|by| !asking.of(by).is_empty()))
    }

    /// The filter in words, if there is one. Example: `only device sda, task fio`.
    pub fn asked(&self) -> Option<String> {
        let asking = self.subject.scope.as_ref()?.asking();
        let of =
            |by: &By| Some(asking.of(*by)).filter(|v| !v.is_empty()).map(|v| (by.words(), v.join(" or ")));
        let all: Vec<String> = By::ALL.iter().filter_map(of).map(|(by, v)| format!("{by} {v}")).collect();
        Some(format!("only {}", all.join(", ")))
    }

    /// The selected devices that do not lie below another selected device, those with the most I/O first.
    pub fn top_devices(&self) -> Vec<&Device> {
        let mut top: Vec<&Device> = self.facts.devices.iter().filter(|d| self.is_shown(d)).collect();
        top.sort_by_key(|d| std::cmp::Reverse(d.bios.iter().map(|b| b.phases.count).sum::<u64>()));
        top
    }

    /// Whether a device is selected and not below another selected device.
    fn is_shown(&self, d: &Device) -> bool {
        let above = d.upper.is_some_and(|upper| self.asks_about(upper));
        self.asks_about(d.id) && !above
    }

    /// Remarks: oddities of the trace and of the files beside it, and settings that changed while recording.
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

    /// Missing events of tasks that hide what tasks waited for; `None` if nothing of that kind is missing.
    pub fn unrecorded(&self) -> Option<String> {
        let missing = match self.facts.unrecorded.filter(|_| self.lack != Some(Lack::AnyIo))? {
            Unrecorded::Switches => "sched_switch and sched_waking were not recorded",
            Unrecorded::Calls => "no system calls on files (raw_syscalls) were recorded",
        };
        Some(format!("judged by block I/O alone: {missing}, so tasks' waits are unknown"))
    }

    /// Mounts on which waits are invisible: file systems of servers and of user-space programs. `None` if there are none.
    pub fn unseen(&self) -> Option<String> {
        let mut served = self.subject.system.mounts.iter().filter(|mount| mount.is_served());
        let first = served.next()?;
        let more = match served.count() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        Some(format!("waits for {} on {}{more}: not traced", first.fstype, first.target))
    }

    /// When the recording began, in nanoseconds since 1970; `None` if it has no wall-clock time.
    pub fn began(&self) -> Option<u128> {
        let (seconds, nanos, at) = self.facts.flow.wall?;
        let (first, _) = self.facts.flow.span?;
        let wall = seconds as u128 * 1_000_000_000 + nanos as u128;
        Some((wall + first.0 as u128).saturating_sub(at.0 as u128))
    }

    /// The version of the kernel that was recorded, if known.
    pub fn kernel(&self) -> Option<&str> {
        let told = self.subject.system.kernel.as_ref().map(|k| k.value.as_str());
        told.or(self.subject.kernel.as_deref())
    }

    /// The length of the recording, as far as it was read.
    pub fn duration(&self) -> Nanos {
        self.facts.duration()
    }
}

/// The latency of operations: from queue to completion (Q2C). For the kernel's own flush requests, which are never queued, the time in
/// the device (D2C).
pub fn latency(p: &Phases) -> &Distribution {
    if p.q2c.is_empty() {
        &p.d2c
    } else {
        &p.q2c
    }
}
