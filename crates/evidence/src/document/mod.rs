//! A document: text in which each line is understood by one kind of reader, or by none and counted.
//!
//! There is a file for each kind. People paste several into one file (`settings.txt`), so a document's name only says
//! which kinds may be in it; each line is offered to them in turn, and the first that understands it takes it.

mod cpu;
mod devs;
mod diskstats;
mod losetup;
mod lsblk;
mod mdstat;
mod meminfo;
mod mounts;
mod sysctl;
mod sysfs;
mod system_json;
mod uname;

use crate::fact::{At, Place};
use crate::system::System;
use capture::SYSTEM_JSON;
use serde::Serialize;
use std::sync::Arc;
use trace::DevId;

/// What became of a document's lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Its name within the capture.
    pub file: String,
    /// Which kinds were found in it: `sysfs`, `mounts`, ...
    pub kinds: Vec<&'static str>,
    /// Lines that are not blank; of a JSON document its values.
    pub lines: u32,
    /// How many of them no kind understood.
    pub unknown: u32,
    /// The first of those.
    pub first_unknown: Option<At>,
}

/// A reader for one kind of text. It keeps what it needs of earlier lines (a table's header).
pub(crate) trait Kind {
    /// What its documents are called in [`Document::kinds`].
    fn name(&self) -> &'static str;

    /// Puts what `line` says into `system`. False if the line is not of this kind; then nothing was put.
    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool;
}

/// All kinds, those first that are least easily mistaken for another.
pub(crate) fn all_kinds() -> Vec<Box<dyn Kind>> {
    vec![
        Box::new(sysfs::Sysfs),
        Box::new(sysctl::Sysctl),
        Box::new(mounts::Mounts),
        Box::new(uname::Uname),
        Box::new(diskstats::Diskstats),
        Box::<mdstat::Mdstat>::default(),
        Box::<losetup::Losetup>::default(),
        Box::<lsblk::Lsblk>::default(),
        Box::<devs::Devs>::default(),
        Box::new(meminfo::Meminfo),
        Box::<cpu::CpuTable>::default(),
    ]
}

/// Readers of single lines, for texts in which settings stand among other things. They keep what they need of earlier lines.
pub struct Lines(Vec<Box<dyn Kind>>);

impl Default for Lines {
    fn default() -> Lines {
        Lines(all_kinds())
    }
}

impl Lines {
    /// Puts what a line of this kind (`sysfs`, `mounts`, ...) says into `system`. False if it says nothing; then nothing
    /// was put.
    pub fn read(&mut self, kind: &str, line: &str, at: &At, system: &mut System) -> bool {
        self.0.iter_mut().any(|reader| reader.name() == kind && reader.line(line, at, system))
    }
}

/// What documents of a kind are called, as far as the name goes before the first `.`: `mounts.txt`, `queue-vda.txt`.
/// A kind of `all` may hold anything.
const NAMES: [(&str, &str); 19] = [
    ("queue", "sysfs"),
    ("sysfs", "sysfs"),
    ("settings", ALL),
    ("vm", "sysctl"),
    ("sysctl", "sysctl"),
    ("mounts", "mounts"),
    ("mountinfo", "mounts"),
    ("uname", "uname"),
    ("version", "uname"),
    ("diskstats", "diskstats"),
    ("mdstat", "mdstat"),
    ("losetup", "losetup"),
    ("lsblk", "lsblk"),
    ("devs", "devs"),
    ("partitions", "devs"),
    ("meminfo", "meminfo"),
    ("cpu", "cpu"),
    ("cpuinfo", "cpu"),
    ("lscpu", "cpu"),
];
const ALL: &str = "all";

/// What the names of text files end in; others (`queue-vda.json`) are not for these readers.
const ENDINGS: [&str; 6] = ["", "txt", "out", "log", "before", "after"];

/// Which kind a document of this name holds; `None` if the name says nothing.
pub(crate) fn kind_by_name(file: &str) -> Option<&'static str> {
    let (stem, ending) = file.split_once('.').unwrap_or((file, ""));
    let last = ending.rsplit('.').next().unwrap_or("");
    let word = stem.split(['-', '_']).next().unwrap_or(stem);
    let kind = NAMES.iter().find(|(name, _)| *name == word)?.1;
    ENDINGS.contains(&last).then_some(kind)
}

impl System {
    /// Reads one document, which is what its name says; without a telling name it is taken only if at least half of
    /// its lines are understood. `system.json` is JSON: all of it is understood or [`System::skipped`] says why not. False if it was not taken; then nothing changed.
    ///
    /// Any bytes will do: what is not UTF-8 or not understood is counted in [`System::sources`].
    pub fn add_document(&mut self, file: &str, content: &[u8]) -> bool {
        if file == SYSTEM_JSON {
            return self.add_system_json(file, content);
        }
        match kind_by_name(file) {
            Some(kind) => self.add_lines(file, content, kind),
            None => {
                let mut trial = System::default();
                trial.add_lines(file, content, ALL);
                let convincing = trial
                    .sources
                    .iter()
                    .any(|document| document.lines > 0 && document.unknown <= document.lines / 2);
                if convincing {
                    self.add_lines(file, content, ALL);
                }
                return convincing;
            }
        }
        true
    }

    fn add_lines(&mut self, file: &str, content: &[u8], kind: &str) {
        let mut kinds = all_kinds();
        kinds.retain(|candidate| kind == ALL || candidate.name() == kind);
        let text = String::from_utf8_lossy(content);
        let file: Arc<str> = file.into();
        let mut read =
            Document { file: file.to_string(), kinds: vec![], lines: 0, unknown: 0, first_unknown: None };
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line_number = u32::try_from(i + 1).unwrap_or(u32::MAX);
            let at = At { file: file.clone(), place: Place::Line(line_number) };
            read.lines = read.lines.saturating_add(1);
            match kinds.iter_mut().find_map(|kind| kind.line(line, &at, self).then(|| kind.name())) {
                Some(name) if read.kinds.contains(&name) => {}
                Some(name) => read.kinds.push(name),
                None => {
                    read.unknown = read.unknown.saturating_add(1);
                    read.first_unknown.get_or_insert(at);
                }
            }
        }
        self.sources.push(read);
    }
}

/// A device number from its two parts in decimal; `None` if the kernel's `dev_t` has no room for them.
fn dev(major: &str, minor: &str) -> Option<DevId> {
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    let dev = DevId::new(major, minor);
    (dev.major() == major && dev.minor() == minor).then_some(dev)
}

/// A device number written `254:0`.
fn dev_with_colon(text: &str) -> Option<DevId> {
    let (major, minor) = text.split_once(':')?;
    dev(major, minor)
}
