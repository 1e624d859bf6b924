//! Finds the differences between two snapshots of one machine.

use crate::cgroup::Cgroup;
use crate::fact::{At, Conflict, Fact};
use crate::mount::Mount;
use crate::system::System;
use std::collections::BTreeMap;

/// Value of a device or mount that one side lacks.
const NOT_THERE: &str = "not there";

/// Value of a limit that one side lacks, because the cgroup does not set it or does not exist.
const NOT_SET: &str = "not set";

/// Attributes that vary without a change of settings. The kernel computes the bytes of a
/// device's share of dirty pages from the memory that is currently free (mm/page-writeback.c, `bdi_get_max_bytes`).
const MOVING: [&str; 7] = [
    "bdi/max_bytes",
    "bdi/min_bytes",
    "device/iodone_cnt",
    "device/iorequest_cnt",
    "md/stripe_cache_active",
    "md/sync_completed",
    "md/sync_speed",
];

/// Whether an attribute varies without a change of settings.
pub(crate) fn moves(path: &str) -> bool {
    MOVING.contains(&path)
}

/// The settings that differ, each with its value before (`kept`) and after (`other`).
pub(crate) fn changes(before: &System, after: &System) -> Vec<Conflict> {
    let mut found = Changes(vec![]);
    let text = |fact: &Option<Fact<u32>>| fact.as_ref()?.read(|n| Some(n.to_string()));
    if let (Some(b), Some(a)) = (text(&before.cpus), text(&after.cpus)) {
        found.compare("processors".into(), &b, &a);
    }
    for (name, device) in &before.devices {
        let Some(other) = after.devices.get(name) else {
            found.present(name.clone(), device.dev.as_ref().map(|d| &d.at), true);
            continue;
        };
        for (path, b) in device.attributes.iter().filter(|(path, _)| !moves(path)) {
            if let Some(a) = other.attributes.get(path) {
                found.compare(format!("{name}/{path}"), b, a);
            }
        }
    }
    for (name, device) in after.devices.iter().filter(|(name, _)| !before.devices.contains_key(*name)) {
        found.present(name.clone(), device.dev.as_ref().map(|d| &d.at), false);
    }
    for (name, b) in &before.vm {
        if let Some(a) = after.vm.get(name) {
            found.compare(format!("vm.{name}"), b, a);
        }
    }
    let mounts = |system: &System| -> BTreeMap<String, Fact<String>> {
        let named =
            |m: &Mount| (format!("{} on {}", m.source, m.target), Fact::new(m.options.join(","), &m.at));
        system.mounts.iter().map(named).collect()
    };
    found.compare_all(&mounts(before), &mounts(after));
    let groups = |system: &System| -> BTreeMap<String, Fact<String>> {
        let of = |g: &Cgroup| {
            let named = |(name, value): (&String, &Fact<String>)| {
                (format!("cgroup {}/{name}", g.path), value.clone())
            };
            g.settings.iter().map(named).collect::<Vec<_>>()
        };
        system.cgroups.iter().flat_map(of).collect()
    };
    let were_read = |system: &System| !system.group_paths.is_empty();
    match were_read(before) && were_read(after) {
        true => found.compare_limits(&groups(before), &groups(after)),
        // A side without cgroup paths did not read its cgroups: missing ones are unknown there.
        false => found.compare_all(&groups(before), &groups(after)),
    }
    found.0
}

impl System {
    /// Settings that differ on another machine, or on this one at another time, if both have them.
    pub fn differences(&self, other: &System) -> Vec<Conflict> {
        let both = |c: &Conflict| ![&c.kept, &c.other].iter().any(|f| f.value == NOT_THERE);
        changes(self, other).into_iter().filter(both).collect()
    }
}

/// Collects the differences.
struct Changes(Vec<Conflict>);

impl Changes {
    fn compare(&mut self, what: String, kept: &Fact<String>, other: &Fact<String>) {
        if kept.value != other.value {
            self.0.push(Conflict { what, kept: kept.clone(), other: other.clone() });
        }
    }

    /// Compares settings that may exist on one side only.
    fn compare_all(
        &mut self,
        before: &BTreeMap<String, Fact<String>>,
        after: &BTreeMap<String, Fact<String>>,
    ) {
        for (what, b) in before {
            match after.get(what) {
                Some(a) => self.compare(what.clone(), b, a),
                None => self.present(what.clone(), Some(&b.at), true),
            }
        }
        for (what, a) in after.iter().filter(|(what, _)| !before.contains_key(*what)) {
            self.present(what.clone(), Some(&a.at), false);
        }
    }

    /// Compares limits and weights of cgroups: one that a side lacks is not set there.
    fn compare_limits(
        &mut self,
        before: &BTreeMap<String, Fact<String>>,
        after: &BTreeMap<String, Fact<String>>,
    ) {
        let not_set = |at: &At| Fact::new(NOT_SET.to_owned(), at);
        for (what, b) in before {
            let a = after.get(what).cloned().unwrap_or_else(|| not_set(&b.at));
            self.compare(what.clone(), b, &a);
        }
        for (what, a) in after.iter().filter(|(what, _)| !before.contains_key(*what)) {
            self.compare(what.clone(), &not_set(&a.at), a);
        }
    }

    /// Records an item that only one side has; `was` says whether that is the side before.
    fn present(&mut self, what: String, at: Option<&At>, was: bool) {
        let Some(at) = at else { return };
        let say = |there: bool| Fact::new(if there { "there" } else { NOT_THERE }.to_owned(), at);
        self.0.push(Conflict { what, kept: say(was), other: say(!was) });
    }
}
