//! The kinds of operations of one recording, with their latencies.

use super::pair::Name;
use crate::explanation::{latency, Explanation};
use life::Class;
use stats::{class_words, Blocks, Distribution, Group, OpKey, PHASES_IN_ORDER};
use std::collections::BTreeSet;
use trace::{DevId, Fs, Nanos};

/// One kind of operation on one side.
pub(super) struct Kind<'a> {
    /// Its name in a condition. Example: `read`.
    pub op: String,
    /// Its name and file system.
    pub name: Name,
    /// Whether a task waits for it.
    pub counts: bool,
    /// Whether these are operations that tasks waited for, not bios.
    pub is_operation: bool,
    /// Bytes of all of them; 0 if they move no data or it is unknown.
    bytes: u64,
    /// The tasks that did them; empty for bios.
    pub tasks: BTreeSet<&'a str>,
    /// The lost time of all of them, if the table of waits has them.
    pub lost: Option<Nanos>,
    /// Name (empty for the whole latency), distribution and order of each phase.
    pub phases: Vec<(&'static str, Distribution, Option<&'a Blocks>)>,
}

impl Kind<'_> {
    /// Its name in a sentence. Examples: `reads (ext4)`, `bios of reads on vda`.
    pub fn told(&self) -> String {
        match self.is_operation {
            true => self.name.told(),
            false => format!("bios of {}", self.name.what),
        }
    }

    /// Nanoseconds that tasks waited for all of them.
    pub fn waited(&self) -> f64 {
        let all = self.phases.first().map(|(_, all, _)| all);
        all.map_or(0.0, |all| all.mean() * all.count() as f64)
    }

    /// Mean bytes of one; `None` if unknown.
    pub fn mean_size(&self) -> Option<f64> {
        let count = self.phases.first()?.1.count();
        (count > 0 && self.bytes > 0).then(|| self.bytes as f64 / count as f64)
    }
}

/// The device part of a kind's name. Example: ` on vda`; empty if there is only one device.
pub(super) fn on(e: &Explanation, dev: DevId, single: bool) -> String {
    if single {
        String::new()
    } else {
        format!(" on {}", e.name(dev))
    }
}

/// The file system of a kind of operation, by its events, else by the mounts.
pub(super) fn fs_of(e: &Explanation, key: &stats::OpKey) -> Fs {
    match key.fs {
        Fs::Unknown => Fs::by_name(&e.filesystem(key)),
        known => known,
    }
}

fn op_of(class: Class) -> &'static str {
    match class {
        Class::Read => "read",
        Class::SyncWrite => "write",
        Class::Background => "background-write",
        Class::Flush => "flush",
        Class::Other => "discard",
    }
}

/// All selected kinds, those that tasks waited for longest first. `aliases`: names of devices that only the other recording has. With a filter
/// for tasks or operations, a device's own sums cannot be used, as they cover all tasks: bios are then taken from the recorded order,
/// which has only the selected ones.
pub(super) fn kinds<'e>(e: &'e Explanation, single: bool, aliases: &[(String, String)]) -> Vec<Kind<'e>> {
    let mut all = of_tasks(e, single);
    match e.asks_about_devices() {
        true => all.extend(of_devices(e, single)),
        false if e.facts.operations.groups.is_empty() => all.extend(of_asked_bios(e, single)),
        false => {}
    }
    for kind in &mut all {
        kind.name = kind.name.clone().on_device(aliases);
    }
    all.sort_by(|a, b| b.waited().total_cmp(&a.waited()));
    all
}

fn of_tasks(e: &Explanation, single: bool) -> Vec<Kind<'_>> {
    let order = e.facts.in_order.as_ref();
    let one = |(key, stats): (&OpKey, &'_ stats::OpStats)| {
        let dev = if key.dev == DevId(0) { stats.main_device() } else { Some(key.dev) };
        let place = dev.map_or(String::new(), |dev| on(e, dev, single));
        Kind {
            op: key.kind.name().into(),
            name: Name { what: format!("{}{place}", key.kind.plural()), fs: Some(fs_of(e, key)) },
            counts: key.kind.is_foreground(),
            is_operation: true,
            bytes: stats.bytes,
            tasks: e.focus.groups.iter().filter(|g| g.op == Some(*key)).map(|g| g.task.as_str()).collect(),
            lost: lost(e, |g| g.op == Some(*key)),
            phases: vec![("", stats.latency.clone(), order.and_then(|o| o.operations.get(key)))],
        }
    };
    e.facts.operations.groups.iter().map(one).collect()
}

fn of_devices(e: &Explanation, single: bool) -> Vec<Kind<'_>> {
    let order = e.facts.in_order.as_ref();
    let mut all = vec![];
    for device in e.top_devices() {
        for class in Class::ALL {
            let bios = &device.bios[class.index()].phases;
            if latency(bios).is_empty() {
                continue;
            }
            let rows = order.and_then(|o| o.bios.get(&(device.id, class)));
            let phase = |(i, name): (usize, &'static str)| {
                let distribution = match i {
                    0 => latency(bios),
                    _ => bios.each().into_iter().find(|(n, _)| *n == name)?.1,
                };
                let name = if i == 0 { "" } else { name };
                Some((name, distribution.clone(), rows.map(|r| &r[i])))
            };
            let phases = PHASES_IN_ORDER.into_iter().enumerate().filter_map(phase).collect();
            all.push(of_bios(e, single, (device.id, class), bios.bytes.0, phases));
        }
    }
    all
}

fn of_asked_bios(e: &Explanation, single: bool) -> Vec<Kind<'_>> {
    let mut all = vec![];
    let Some(order) = &e.facts.in_order else { return all };
    for device in e.top_devices() {
        for class in Class::ALL {
            let Some(rows) = order.bios.get(&(device.id, class)) else { continue };
            let phase = |(i, name): (usize, &'static str)| {
                (if i == 0 { "" } else { name }, rows[i].all(), Some(&rows[i]))
            };
            let phases = PHASES_IN_ORDER.into_iter().enumerate().map(phase).collect();
            all.push(of_bios(e, single, (device.id, class), 0, phases));
        }
    }
    all
}

fn of_bios<'a>(
    e: &Explanation,
    single: bool,
    (dev, class): (DevId, Class),
    bytes: u64,
    phases: Vec<(&'static str, Distribution, Option<&'a Blocks>)>,
) -> Kind<'a> {
    Kind {
        op: op_of(class).into(),
        name: Name { what: format!("{}{}", class_words(class), on(e, dev, single)), fs: None },
        counts: class != Class::Background,
        is_operation: false,
        bytes,
        tasks: BTreeSet::new(),
        lost: lost(e, |g| g.op.is_none() && g.dev == dev && g.class == class),
        phases,
    }
}

/// The lost time of a kind's groups; `None` if it has none.
fn lost(e: &Explanation, is_of: impl Fn(&Group) -> bool) -> Option<Nanos> {
    let groups: Vec<Nanos> = e.focus.groups.iter().filter(|g| is_of(g)).map(|g| g.lost).collect();
    (!groups.is_empty()).then(|| groups.into_iter().sum())
}
