//! What is different between two snapshots of one machine.

use crate::cgroup::Cgroup;
use crate::fact::{At, Conflict, Fact};
use crate::mount::Mount;
use crate::system::System;
use std::collections::BTreeMap;

/// Said of a device or mount that one side does not have.
pub(crate) const NOT_THERE: &str = "not there";

/// Said of a limit that a control group does not have on one side, or of a group that is not there.
const NOT_SET: &str = "not set";

/// Attributes that move by themselves: that they differ is no change of a setting. The kernel reckons the bytes of a
/// device's share of dirty pages from the memory that is free just now (mm/page-writeback.c, `bdi_get_max_bytes`).
const MOVING: [&str; 7] = [
    "bdi/max_bytes",
    "bdi/min_bytes",
    "device/iodone_cnt",
    "device/iorequest_cnt",
    "md/stripe_cache_active",
    "md/sync_completed",
    "md/sync_speed",
];

/// What of the settings is different after.
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
        for (path, b) in device.attributes.iter().filter(|(path, _)| !MOVING.contains(&path.as_str())) {
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
        // Nothing is known of the other side's.
        false => found.compare_all(&groups(before), &groups(after)),
    }
    found.0
}

/// Changes, as they are found.
struct Changes(Vec<Conflict>);

impl Changes {
    fn compare(&mut self, what: String, kept: &Fact<String>, other: &Fact<String>) {
        if kept.value != other.value {
            self.0.push(Conflict { what, kept: kept.clone(), other: other.clone() });
        }
    }

    /// Compares settings of which there may be some on one side only.
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

    /// Compares limits and weights of groups: where one side has none, it is not set there.
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

    /// Something that is only in one of the snapshots.
    fn present(&mut self, what: String, at: Option<&At>, was: bool) {
        let Some(at) = at else { return };
        let say = |there: bool| Fact::new(if there { "there" } else { NOT_THERE }.to_owned(), at);
        self.0.push(Conflict { what, kept: say(was), other: say(!was) });
    }
}
