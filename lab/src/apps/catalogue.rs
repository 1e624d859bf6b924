//! What conditions are drawn from, and which causes are accepted for what is taken away: lab/apps/catalogue.toml.
//!
//! Invariant: it is read before anything is recorded and never written by the lab.

use crate::outcome::Outcome;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where applications and the catalogue are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("apps")
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    pub disk: BTreeMap<String, Disk>,
    pub workload: BTreeMap<String, Workload>,
    pub neighbour: BTreeMap<String, Neighbour>,
    pub setting: BTreeMap<String, Setting>,
    pub part: BTreeMap<String, Part>,
    /// By kind of workload: what the disk itself is called where nothing else helps.
    pub exchanged: BTreeMap<String, Vec<String>>,
    pub depth: Depth,
    pub fs: BTreeMap<String, FileSystem>,
    pub machine: InMachine,
}

/// A class of disks: ranges of slowdisk's options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    pub weight: u32,
    /// Nobody would exchange it.
    #[serde(default)]
    pub good: bool,
    #[serde(default)]
    pub rotational: bool,
    pub options: BTreeMap<String, Vec<u64>>,
}

/// What an application does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub weight: u32,
    /// The application's file.
    pub app: String,
    /// What it mostly waits for: sync, read, write, mmap.
    pub kind: String,
    /// Causes that stand for the disk besides those of its kind.
    #[serde(default)]
    pub disk: Vec<String>,
    pub clients: Vec<u32>,
    /// Most operations of a run: its data is only so often cold.
    pub most: Option<u64>,
    /// Names of its tasks.
    pub victims: Vec<String>,
}

/// Somebody else on the same disk.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    pub weight: u32,
    /// Applications beside which it is drawn; all if none.
    #[serde(default)]
    pub apps: Vec<String>,
    pub command: String,
    /// Names of its tasks.
    pub culprits: Vec<String>,
    pub causes: Vec<String>,
}

/// A setting that may hurt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    pub weight: u32,
    /// Workloads it is drawn for.
    pub kinds: Vec<String>,
    /// bash, before the file system is mounted.
    pub setup: String,
    /// bash, for the application's group.
    pub blkio: String,
    /// bash, for the application's group.
    pub memory: String,
    /// Tasks that compute.
    pub hogs: u32,
    pub causes: Vec<String>,
    /// A remedy with this in its command takes it away.
    pub undone_by: Option<String>,
}

impl Default for Setting {
    fn default() -> Setting {
        let none = String::new;
        Setting {
            weight: 1,
            kinds: vec![],
            setup: none(),
            blkio: none(),
            memory: none(),
            hogs: 0,
            causes: vec![],
            undone_by: None,
        }
    }
}

/// Something of a disk that can be taken away alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// slowdisk's option.
    pub option: String,
    /// It is there where the option is at least this.
    pub above: u64,
    /// Below this nobody would call it dear: where only this helps, `healthy` is accepted, too.
    #[serde(default)]
    pub dear: u64,
    pub causes: Vec<String>,
    /// A remedy with this in its command takes it away.
    pub undone_by: Option<String>,
}

/// The application's own queue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    pub causes: Vec<String>,
}

/// A file system.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSystem {
    pub weight: u32,
    /// Options of mount, of which one is drawn.
    pub mount: Vec<String>,
}

/// What is drawn in a virtual machine, whose processors are emulated: what takes its time in the disk, and slower disks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InMachine {
    pub workloads: Vec<String>,
    pub neighbours: Vec<String>,
    pub settings: Vec<String>,
    pub fs: Vec<String>,
    pub disk: BTreeMap<String, Disk>,
}

impl Catalogue {
    /// Leaves only what is drawn in a virtual machine.
    pub fn keep_for_machine(&mut self) {
        let only = &mut self.machine;
        self.disk = std::mem::take(&mut only.disk);
        self.workload.retain(|name, _| only.workloads.contains(name));
        self.neighbour.retain(|name, _| only.neighbours.contains(name));
        self.setting.retain(|name, _| only.settings.contains(name));
        self.fs.retain(|name, _| only.fs.contains(name));
    }

    /// Reads it.
    pub fn read() -> Outcome<Catalogue> {
        let path = folder().join("catalogue.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_has_its_application_and_every_kind_its_causes() {
        let c = Catalogue::read().unwrap();
        for (name, w) in &c.workload {
            assert!(folder().join(format!("{}.sh", w.app)).is_file(), "{name}");
            assert!(c.exchanged.contains_key(&w.kind), "{name}");
            assert!(!w.clients.is_empty() && !w.victims.is_empty(), "{name}");
        }
        let disks = || c.disk.values().chain(c.machine.disk.values());
        assert!(disks().flat_map(|d| d.options.values()).all(|r| !r.is_empty() && r.len() <= 2));
        let m = &c.machine;
        assert!(m.workloads.iter().all(|name| c.workload.contains_key(name)));
        assert!(m.neighbours.iter().all(|name| c.neighbour.contains_key(name)));
        assert!(m.settings.iter().all(|name| c.setting.contains_key(name)));
        assert!(m.fs.iter().all(|name| c.fs.contains_key(name)));
    }
}
