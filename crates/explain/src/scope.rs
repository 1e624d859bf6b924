//! Resolves the filters of the command line with the names of a recording.

use crate::error::{Error, Result};
use crate::places::Places;
use operation::{Called, Operation, Scope};
use trace::{DevId, Tid};

/// Converts a device name from the user's form to the kernel's: `/dev/sda` to `sda`, lsblk's `8:0` to the `8,0` of traces.
pub fn device_name(given: &str) -> String {
    let name = given.strip_prefix("/dev/").unwrap_or(given);
    let is_number = |(major, minor): (&str, &str)| {
        [major, minor].into_iter().all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    match name.split_once(':') {
        Some(number) if is_number(number) => name.replace(':', ","),
        _ => name.strip_prefix("mapper/").unwrap_or(name).to_string(),
    }
}

#[cfg(test)]
#[test]
fn a_device_is_named_as_people_do() {
    let names = ["/dev/sda", "/dev/mapper/vg-lv", "254:0", "254,0", "a:0"].map(device_name);
    assert_eq!(names, ["sda", "vg-lv", "254,0", "254,0", "a:0"]);
}

impl Called for Places {
    fn device(&self, dev: DevId) -> Vec<String> {
        let mut names = vec![Places::device(self, dev)];
        let device = self.system.device_at(dev);
        names.extend(device.map(|d| d.name.clone()));
        names.extend(device.into_iter().flat_map(|d| d.aliases.iter().map(|alias| alias.value.clone())));
        names.push(dev.to_string());
        names
    }

    /// For a disk also the mounts of its partitions: a recording of the block layer names only disks.
    fn mounts(&self, dev: DevId) -> Vec<String> {
        let by_number = self.system.mounts.iter().filter(|m| m.dev == Some(dev)).map(|m| m.target.clone());
        let on_disk = self.system.device_at(dev).into_iter().flat_map(|d| self.system.mounts_on(d));
        let mut all: Vec<String> = by_number.chain(on_disk.map(|m| m.target.clone())).collect();
        all.dedup();
        all
    }

    fn process(&self, tid: Tid) -> Option<Tid> {
        self.system.processes.threads.get(&tid).copied()
    }

    fn cgroup(&self, process: Tid) -> Option<String> {
        self.system.processes.groups.get(&process).cloned()
    }

    fn file(&self, o: &Operation) -> Option<String> {
        Places::file(self, o).map(str::to_string)
    }
}

/// Fails if the filter matched nothing; the error lists what exists.
pub fn check(scope: Option<&Scope>) -> Result<()> {
    scope.map_or(Ok(()), |scope| scope.check().map_err(Error::from))
}
