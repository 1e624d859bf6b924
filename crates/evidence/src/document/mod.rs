//! Reads documents: texts in which each line is parsed by one kind of reader, or counted as unknown.
//!
//! Each kind has its own file. People paste several kinds into one document (`settings.txt`), so its name only says
//! which kinds may be in it; each line is offered to these in order, and the first that parses it takes it.

mod cpu;
mod dev;
mod devs;
mod diskstats;
mod kind;
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
use crate::source::Document;
use crate::system::System;
use capture::SYSTEM_JSON;
use kind::Kind;
use std::sync::Arc;

/// Readers of all kinds; the first are the least likely to be mistaken for another.
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

/// Line readers for texts with settings among other content. They keep the state that they need from earlier lines.
pub struct Lines(Vec<Box<dyn Kind>>);

impl Default for Lines {
    fn default() -> Lines {
        Lines(all_kinds())
    }
}

impl Lines {
    /// Adds the data in a line of this kind (`sysfs`, `mounts`, ...) to `system`. Returns false, and adds nothing, if the
    /// line is not of this kind.
    pub fn read(&mut self, kind: &str, line: &str, at: &At, system: &mut System) -> bool {
        self.0.iter_mut().any(|reader| reader.name() == kind && reader.line(line, at, system))
    }
}

/// The kind for the first part of a document's name (before `.`, `-` or `_`): `mounts.txt`, `queue-vda.txt`.
/// A document of kind `all` may contain any kind.
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

/// Extensions of text files; others (`queue-vda.json`) are not read here.
const ENDINGS: [&str; 6] = ["", "txt", "out", "log", "before", "after"];

/// The kind of a document with this name; `None` if the name does not tell.
pub(crate) fn kind_by_name(file: &str) -> Option<&'static str> {
    let (stem, ending) = file.split_once('.').unwrap_or((file, ""));
    let last = ending.rsplit('.').next().unwrap_or("");
    let word = stem.split(['-', '_']).next().unwrap_or(stem);
    let kind = NAMES.iter().find(|(name, _)| *name == word)?.1;
    ENDINGS.contains(&last).then_some(kind)
}

impl System {
    /// Reads a document. Its name determines the kind; without a known name it is accepted only if at least half of its lines are understood.
    /// `system.json` is parsed as JSON; on failure [`System::skipped`] has the reason. Returns false, and changes nothing else, if not accepted.
    ///
    /// Accepts any bytes: invalid UTF-8 and unknown lines are counted in [`System::sources`].
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
