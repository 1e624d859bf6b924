//! Reads `system.json`: the recorder's snapshots of the settings, before and after the recording (docs/capture.md).
//!
//! The snapshot before is authoritative, like the first document of any folder; a difference after is a change
//! ([`System::changed`]). Both snapshots are converted to a [`System`] in the same way, under the names of sysfs, so
//! that no other code needs to know about JSON:
//!
//! ```text
//! { "before": { "disks": { "vda": { "queue": { "nr_requests": "256" } } } } }
//! vda/queue/nr_requests is 256 (system.json: before.disks.vda.queue.nr_requests)
//! ```
//!
//! Ignored: swaps; `mdstat`, which repeats the values of `md`.

mod processes;

use super::dev::dev_with_colon;
use super::mounts::{mount, name_device};
use crate::cgroup::Cgroup;
use crate::changes::changes;
use crate::fact::{At, Fact, Place};
use crate::limited;
use crate::source::Document;
use crate::system::System;
use capture::{Disk, Loop, Mount, Settings, Snapshot, SystemFile, SYSTEM_JSON};
use std::collections::BTreeSet;
use std::sync::Arc;
use trace::Bytes;

/// Limit on values per snapshot: a thousand disks have 150,000.
const MOST_VALUES: u32 = 500_000;

/// Limit on cgroups: a host with ten thousand containers may have as many.
const MOST_GROUPS: usize = 100_000;

/// Limit on extents per file; the recorder keeps no more.
const MOST_EXTENTS: usize = 100_000;

impl System {
    /// Reads the recorder's snapshots. Returns false if the content is invalid; [`System::skipped`] then has the reason.
    pub(super) fn add_system_json(&mut self, file: &str, content: &[u8]) -> bool {
        let read: SystemFile = match serde_json::from_slice(content) {
            Ok(read) => read,
            Err(e) => {
                self.skip(file, format!("not understood: {e}"));
                return false;
            }
        };
        let (top, holds) = match (&read.before, &read.after) {
            (Some(before), Some(after)) => {
                let mut both = [System::default(), System::default()];
                Reader::new(file, "before").put(before, &mut both[0]);
                Reader::new(file, "after").put(after, &mut both[1]);
                self.changed.extend(changes(&both[0], &both[1]));
                // Files that were opened during the recording get their names from here.
                self.processes.add_paths(after);
                self.limited = limited::between(before, after);
                ("before", before)
            }
            (Some(before), None) => ("before", before),
            (None, Some(after)) => ("after", after),
            (None, None) => {
                self.skip(file, "it holds no snapshot, neither \"before\" nor \"after\"".into());
                return false;
            }
        };
        let mut reader = Reader::new(file, top);
        reader.put(holds, self);
        self.processes.add(holds);
        self.sources.push(Document {
            file: file.to_owned(),
            kinds: vec![SYSTEM_JSON],
            lines: reader.values,
            unknown: reader.refused,
            first_unknown: reader.first_refused,
        });
        true
    }
}

/// Converts a snapshot to a system, and counts values that do not fit.
struct Reader {
    file: Arc<str>,
    top: &'static str,
    values: u32,
    refused: u32,
    first_refused: Option<At>,
}

impl Reader {
    fn new(file: &str, top: &'static str) -> Reader {
        Reader { file: file.into(), top, values: 0, refused: 0, first_refused: None }
    }

    fn at(&self, key: &str) -> At {
        let (file, key) = (self.file.clone(), format!("{}.{key}", self.top).into());
        At { file, place: Place::Key(key) }
    }

    /// Counts a value, and whether `put` accepted it.
    fn value(&mut self, key: &str, put: impl FnOnce(&At) -> bool) {
        self.values = self.values.saturating_add(1);
        let at = self.at(key);
        if self.values > MOST_VALUES || !put(&at) {
            self.refused += 1;
            self.first_refused.get_or_insert(at);
        }
    }

    fn put(&mut self, from: &Snapshot, to: &mut System) {
        if !from.kernel.release.is_empty() {
            self.value("kernel.release", |at| {
                to.set_kernel(&from.kernel.release, at);
                true
            });
        }
        if let Some(online) = &from.cpus.online {
            self.value("cpus.online", |at| match count(online) {
                Some(n) => {
                    to.cpus.get_or_insert_with(|| Fact::new(n, at));
                    true
                }
                None => false,
            });
        }
        if let Some(model) = &from.cpus.model {
            self.value("cpus.model", |at| {
                to.cpu_model.get_or_insert_with(|| Fact::new(model.clone(), at));
                true
            });
        }
        if from.memory_bytes > 0 {
            self.value("memory_bytes", |at| {
                to.memory.entry("MemTotal".into()).or_insert_with(|| Fact::new(Bytes(from.memory_bytes), at));
                true
            });
        }
        for (name, value) in &from.vm {
            self.value(&format!("vm.{name}"), |at| {
                to.set_vm(name, value, at);
                true
            });
        }
        for (name, disk) in &from.disks {
            self.disk(name, disk, to);
        }
        for (i, m) in from.mounts.iter().enumerate() {
            self.value(&format!("mounts[{i}]"), |at| put_mount(m, at, to));
        }
        for (number, path) in from.cgroups.paths.iter().take(MOST_GROUPS) {
            to.group_paths.entry(*number).or_insert_with(|| path.clone());
        }
        let mut known: BTreeSet<String> = to.cgroups.iter().map(|c| c.path.clone()).collect();
        for (i, group) in from.cgroups.list.iter().take(MOST_GROUPS).enumerate() {
            let mut cgroup = Cgroup { path: group.path.clone(), id: group.id, ..Cgroup::default() };
            for (name, value) in &group.settings {
                self.value(&format!("cgroups.list[{i}].settings.{name}"), |at| {
                    cgroup.settings.insert(name.clone(), Fact::new(value.clone(), at));
                    true
                });
            }
            // A further snapshot of a known cgroup is ignored.
            if known.insert(cgroup.path.clone()) {
                to.cgroups.push(cgroup);
            }
        }
    }

    fn disk(&mut self, name: &str, disk: &Disk, to: &mut System) {
        let key = format!("disks.{name}");
        self.number(name, &key, &disk.dev, to);
        self.given(name, "size", &format!("{key}.sectors"), disk.sectors, to);
        self.given(name, "ro", &format!("{key}.read_only"), disk.read_only.map(u8::from), to);
        self.given(name, "device/driver", &format!("{key}.driver"), disk.driver.as_ref(), to);
        for (below, json, settings) in [
            ("device", "device", &disk.device),
            ("queue", "queue", &disk.queue),
            ("queue/iosched", "iosched", &disk.iosched),
            ("bdi", "bdi", &disk.bdi),
            ("md", "md", &disk.md),
            ("dm", "dm", &disk.dm),
        ] {
            self.settings(name, below, &format!("{key}.{json}"), settings, to);
        }
        for (i, queue) in disk.hardware_queues.iter().enumerate() {
            let key = format!("{key}.hardware_queues[{i}]");
            let path = |file: &str| format!("mq/{i}/{file}");
            self.given(name, &path("nr_tags"), &format!("{key}.tags"), queue.tags, to);
            self.given(
                name,
                &path("nr_reserved_tags"),
                &format!("{key}.reserved_tags"),
                queue.reserved_tags,
                to,
            );
            self.given(name, &path("cpu_list"), &format!("{key}.cpus"), queue.cpus.as_ref(), to);
        }
        for (part, facts) in &disk.partitions {
            let key = format!("{key}.partitions.{part}");
            self.number(part, &key, &facts.dev, to);
            self.given(part, "start", &format!("{key}.start"), facts.start, to);
            self.given(part, "size", &format!("{key}.sectors"), facts.sectors, to);
        }
        for lower in &disk.lower {
            self.value(&format!("{key}.lower"), |at| to.set_lower(name, lower, at));
        }
        for (member, settings) in &disk.md_members {
            let key = format!("{key}.md_members.{member}");
            self.value(&key, |at| to.set_member(name, member, at));
            self.settings(name, &format!("md/dev-{member}"), &key, settings, to);
        }
        if let Some(alias) = disk.dm.get("name") {
            self.value(&format!("{key}.dm.name"), |at| to.set_alias(name, alias, at));
        }
        if let Some(file) = &disk.loop_file {
            self.loop_file(name, &format!("{key}.loop"), file, to);
        }
    }

    fn loop_file(&mut self, name: &str, key: &str, file: &Loop, to: &mut System) {
        self.settings(name, "loop", key, &file.settings, to);
        to.set_extents(name, file.extents.list.iter().take(MOST_EXTENTS).copied().collect());
        if let Some(on) = &file.on {
            self.attribute(name, "loop/on", &format!("{key}.on"), on, to);
            self.value(&format!("{key}.on"), |at| to.set_lower(name, on, at));
        }
    }

    fn number(&mut self, name: &str, key: &str, dev: &str, to: &mut System) {
        if !dev.is_empty() {
            self.value(&format!("{key}.dev"), |at| {
                dev_with_colon(dev).is_some_and(|dev| to.set_dev(name, dev, at))
            });
        }
    }

    /// Stores all files of a folder, whose path in sysfs is `below`.
    fn settings(&mut self, device: &str, below: &str, key: &str, settings: &Settings, to: &mut System) {
        for (file, value) in settings {
            self.attribute(device, &format!("{below}/{file}"), &format!("{key}.{file}"), value, to);
        }
    }

    /// Stores an optional value.
    fn given(&mut self, device: &str, path: &str, key: &str, value: Option<impl ToString>, to: &mut System) {
        if let Some(value) = value {
            self.attribute(device, path, key, &value.to_string(), to);
        }
    }

    fn attribute(&mut self, device: &str, path: &str, key: &str, value: &str, to: &mut System) {
        // The kernel ends some values with a space, which documents saved by hand lack.
        self.value(key, |at| to.set_attribute(device, path, value.trim(), at));
    }
}

fn put_mount(m: &Mount, at: &At, to: &mut System) -> bool {
    let dev = dev_with_colon(&m.dev);
    let options = [m.options.as_str(), &m.super_options];
    let Some(mount) = mount(m.source.clone(), m.point.clone(), &m.fstype, &options, dev, at) else {
        return false;
    };
    if let Some(dev) = dev {
        name_device(&mount.source, dev, at, to);
    }
    to.set_mount(mount)
}

/// The number of elements in a list such as `0-3,8`.
fn count(list: &str) -> Option<u32> {
    let mut n = 0u32;
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        n = n.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(n)
}

#[cfg(test)]
mod tests;
