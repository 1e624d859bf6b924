//! Writes scripts as blktrace files: versions 7 and 8, either byte order, one file per device and CPU.
//!
//! It follows include/uapi/linux/blktrace_api.h; `crates/trace/src/blktrace/record.rs` has the table of fields.

use crate::script::Script;
use crate::scripted_event::ScriptedEvent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::{Action, Cpu, Detail, DevId};

/// Version and byte order of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Version of the format: 7 or 8.
    pub version: u8,
    /// Whether the byte order is that of a big-endian machine.
    pub big_endian: bool,
}

impl Layout {
    /// The layout of nearly every recording: version 7, little-endian.
    pub const USUAL: Layout = Layout { version: 7, big_endian: false };

    /// All four layouts.
    pub const ALL: [Layout; 4] = [
        Layout { version: 7, big_endian: false },
        Layout { version: 7, big_endian: true },
        Layout { version: 8, big_endian: false },
        Layout { version: 8, big_endian: true },
    ];

    fn put(self, out: &mut Vec<u8>, value: u64, bytes: usize) {
        let le = &value.to_le_bytes()[..bytes];
        if self.big_endian {
            out.extend(le.iter().rev());
        } else {
            out.extend(le);
        }
    }

    /// The bytes of one record, with its payload.
    pub fn record(self, told: &ScriptedEvent) -> Vec<u8> {
        let e = &told.event;
        let payload = self.payload(told);
        let tag = if e.cgroup != 0 { 1 << 8 } else { 0 };
        let action = (code(e.action) | tag) as u64 | (e.flags.0 as u64) << 16;
        let mut out = Vec::new();
        let mut put = |value: u64, bytes| self.put(&mut out, value, bytes);
        put(0x6561_7400 | self.version as u64, 4);
        put(e.sequence as u64, 4);
        put(e.time.0, 8);
        put(e.sector.0, 8);
        put(e.bytes.0, 4);
        if self.version == 7 {
            put(action, 4);
            put(e.tid.0 as u64, 4);
        } else {
            put(e.tid.0 as u64, 4);
            put(action, 8);
        }
        put(e.dev.0 as u64, 4);
        put(e.cpu.0 as u64, 4);
        put(e.error as u64, 2);
        put(payload.len() as u64, 2);
        out.resize(if self.version == 7 { 48 } else { 64 }, 0);
        out.extend(payload);
        out
    }

    fn payload(self, told: &ScriptedEvent) -> Vec<u8> {
        let mut out = Vec::new();
        if told.event.cgroup != 0 {
            self.put(&mut out, told.event.cgroup, 8);
        }
        match told.event.detail {
            Detail::None | Detail::Lost(_) => {}
            Detail::Split(at) => out.extend(at.0.to_be_bytes()),
            Detail::Requests(n) => out.extend(n.to_be_bytes()),
            Detail::Remap { dev, sector } => {
                out.extend(dev.0.to_be_bytes());
                out.extend(told.event.dev.0.to_be_bytes());
                out.extend(sector.0.to_be_bytes());
            }
            Detail::Wall { seconds, nanos } => {
                self.put(&mut out, seconds as u64, 4);
                self.put(&mut out, nanos as u64, 4);
            }
            Detail::Text(_) => out.extend(&told.text),
        }
        if told.event.action == Action::TaskName {
            // The kernel keeps names of this length (TASK_COMM_LEN).
            out.resize(out.len().max(16), 0);
        }
        out
    }
}

/// The number of an action: from `enum blktrace_act`, for notes from `enum blktrace_notify`.
fn code(action: Action) -> u16 {
    match action {
        Action::Queue => 1,
        Action::BackMerge => 2,
        Action::FrontMerge => 3,
        Action::Get => 4,
        Action::SleepForRequest => 5,
        Action::Requeue => 6,
        Action::Issue => 7,
        Action::Complete => 8,
        Action::Plug => 9,
        Action::Unplug => 10,
        Action::UnplugImplicit => 11,
        Action::Insert => 12,
        Action::Split => 13,
        Action::Bounce => 14,
        Action::Remap => 15,
        Action::Abort => 16,
        Action::DriverData => 17,
        Action::ZonePlug => 18,
        Action::ZoneUnplug => 19,
        Action::ZoneManage => 20,
        Action::TaskName => 0,
        Action::WallClock => 1,
        Action::Message => 2,
        Action::Other(n) => n,
        Action::Lost => panic!("no file holds what was lost"),
    }
}

impl Script {
    /// Numbers the events as the kernel does: per device and CPU from 1, without notes. Numbers given in the script
    /// are kept, and those after them continue from there.
    pub fn numbered(mut self) -> Script {
        let mut last: BTreeMap<(DevId, Cpu), u32> = BTreeMap::new();
        for t in &mut self.told {
            let e = &mut t.event;
            if !e.action.is_note() && e.action != Action::WallClock {
                let last = last.entry((e.dev, e.cpu)).or_default();
                if e.sequence == 0 {
                    e.sequence = *last + 1;
                }
                *last = e.sequence;
            }
        }
        self
    }

    /// The bytes of the whole script in one file, as `blkparse -d` writes it.
    pub fn bytes(&self, layout: Layout) -> Vec<u8> {
        self.clone().numbered().told.iter().flat_map(|t| layout.record(t)).collect()
    }

    /// Writes `dMAJOR-MINOR.blktrace.CPU` files, as blktrace does, and returns their NAMEs (without `.blktrace.N`).
    /// All CPUs from 0 to the highest get a file.
    pub fn files(&self, folder: &Path, layout: Layout) -> Vec<PathBuf> {
        self.files_named(folder, layout, |dev| format!("d{}-{}", dev.major(), dev.minor()))
    }

    /// The same with other names for the devices.
    pub fn files_named(&self, folder: &Path, layout: Layout, name: impl Fn(DevId) -> String) -> Vec<PathBuf> {
        let mut files: BTreeMap<DevId, BTreeMap<u32, Vec<u8>>> = BTreeMap::new();
        for t in &self.clone().numbered().told {
            let cpus = files.entry(t.event.dev).or_default();
            cpus.entry(t.event.cpu.0).or_default().extend(layout.record(t));
        }
        let mut names = Vec::new();
        for (dev, cpus) in files {
            let name = folder.join(name(dev));
            let last = cpus.keys().max().copied().unwrap_or_default();
            for cpu in 0..=last {
                let path = format!("{}.blktrace.{cpu}", name.display());
                std::fs::write(path, cpus.get(&cpu).cloned().unwrap_or_default()).expect("writing a trace");
            }
            names.push(name);
        }
        names
    }
}
