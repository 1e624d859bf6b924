//! Writes events as blktrace records (version 7, little-endian) and runs the two programs on them.
#![allow(dead_code)]

use report::events::{Options, Printer};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use trace::{Action, Batch, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Sector, Tid};

/// An event and its text.
#[derive(Clone, Debug)]
pub struct Made {
    pub event: Event,
    pub text: Vec<u8>,
}

pub const SDA: DevId = DevId(8 << 20);

/// An event of `sda` on CPU 0 by task 100.
pub fn made(time: u64, action: Action, sector: u64, sectors: u64, flags: Flags) -> Made {
    let event = Event {
        time: Nanos(time),
        action,
        sector: Sector(sector),
        bytes: Bytes::from_sectors(sectors),
        flags: flags.with(category(action)),
        dev: SDA,
        tid: Tid(100),
        ..Event::default()
    };
    Made { event, text: Vec::new() }
}

/// A note that a task is called so.
pub fn named(time: u64, tid: u32, name: &str) -> Made {
    let mut m = made(time, Action::TaskName, 0, 0, Flags(0));
    (m.event.tid, m.text) = (Tid(tid), name.as_bytes().to_vec());
    m
}

/// A message of the kernel.
pub fn message(time: u64, text: &str) -> Made {
    let mut m = made(time, Action::Message, 0, 0, Flags(0));
    (m.event.tid, m.text) = (Tid(0), text.as_bytes().to_vec());
    m
}

impl Made {
    pub fn tid(mut self, tid: u32) -> Made {
        self.event.tid = Tid(tid);
        self
    }

    pub fn cpu(mut self, cpu: u32) -> Made {
        self.event.cpu = Cpu(cpu);
        self
    }

    pub fn detail(mut self, detail: Detail) -> Made {
        self.event.detail = detail;
        self
    }

    pub fn error(mut self, error: u16) -> Made {
        self.event.error = error;
        self
    }

    pub fn command(mut self, bytes: &[u8]) -> Made {
        self.event.flags = self.event.flags.without(Flags::FS).with(Flags::PASSTHROUGH);
        self.text = bytes.to_vec();
        self
    }

    /// Tagged with a cgroup.
    pub fn cgroup(mut self, id: u64) -> Made {
        self.event.cgroup = id;
        self
    }
}

/// The category bit of an action, as the kernel sets it.
fn category(action: Action) -> Flags {
    match action {
        Action::Requeue => Flags::REQUEUE,
        Action::Issue => Flags::ISSUE,
        Action::Complete => Flags::COMPLETE,
        Action::Split | Action::Bounce | Action::Remap => Flags(0),
        Action::TaskName | Action::WallClock | Action::Message => Flags::NOTE,
        Action::DriverData => Flags::DRIVER_DATA,
        _ => Flags::QUEUE,
    }
}

fn code(action: Action) -> u32 {
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
        Action::TaskName => 0,
        Action::WallClock => 1,
        Action::Message => 2,
        other => panic!("{other:?} is in no file"),
    }
}

fn record(m: &Made, sequence: u32) -> Vec<u8> {
    let e = &m.event;
    let mut payload = Vec::new();
    let mut what = code(e.action);
    if e.cgroup != 0 {
        what |= 1 << 8;
        payload.extend(e.cgroup.to_le_bytes());
    }
    match e.detail {
        Detail::Split(s) => payload.extend(s.0.to_be_bytes()),
        Detail::Requests(n) => payload.extend(n.to_be_bytes()),
        Detail::Remap { dev, sector } => {
            payload.extend(dev.0.to_be_bytes());
            payload.extend(e.dev.0.to_be_bytes());
            payload.extend(sector.0.to_be_bytes());
        }
        _ => payload.extend(&m.text),
    }
    if e.action == Action::TaskName {
        payload.resize(16, 0);
    }
    let mut r = Vec::new();
    r.extend(0x6561_7407u32.to_le_bytes());
    r.extend(sequence.to_le_bytes());
    r.extend(e.time.0.to_le_bytes());
    r.extend(e.sector.0.to_le_bytes());
    r.extend((e.bytes.0 as u32).to_le_bytes());
    r.extend((what | e.flags.0 << 16).to_le_bytes());
    r.extend(e.tid.0.to_le_bytes());
    r.extend(e.dev.0.to_le_bytes());
    r.extend(e.cpu.0.to_le_bytes());
    r.extend(e.error.to_le_bytes());
    r.extend((payload.len() as u16).to_le_bytes());
    r.extend(payload);
    r
}

/// Writes `folder/sda.blktrace.N`, numbered as the kernel does.
pub fn write_trace(folder: &Path, events: &[Made]) {
    let mut files: BTreeMap<u32, (u32, Vec<u8>)> = BTreeMap::new();
    for m in events {
        let (last, bytes) = files.entry(m.event.cpu.0).or_default();
        let number = if m.event.action.is_note() { 0 } else { *last + 1 };
        *last = number.max(*last);
        bytes.extend(record(m, number));
    }
    let last = files.keys().last().copied().unwrap_or(0);
    for cpu in 0..=last {
        let bytes = files.remove(&cpu).unwrap_or_default().1;
        fs::write(folder.join(format!("sda.blktrace.{cpu}")), bytes).expect("a temporary file");
    }
}

/// What iowhy prints of a recording.
pub fn iowhy(recording: &Path, mut options: Options) -> String {
    let mut opened = trace::open(recording).expect("a trace");
    let mut printer = None;
    let mut batch = Batch::default();
    while opened.source.fill(&mut batch).expect("events") {
        let printer = printer.get_or_insert_with(|| {
            options.devices = opened.names.clone();
            Printer::new(Vec::new(), options.clone())
        });
        printer.batch(&batch).expect("memory");
    }
    let out = printer.map(|p| p.finish().expect("memory")).unwrap_or_default();
    String::from_utf8_lossy(&out).into_owned()
}

/// What iowhy prints of events that are not in a file.
pub fn printed(events: &[Made], options: Options) -> String {
    String::from_utf8(print_bytes(events, options)).expect("text")
}

/// The same, for events with any bytes in their texts.
pub fn print_bytes(events: &[Made], options: Options) -> Vec<u8> {
    let mut batch = Batch::default();
    for m in events {
        let mut event = m.event;
        if !m.text.is_empty() {
            event.detail = batch.store(&m.text);
        }
        batch.events.push(event);
    }
    let mut printer = Printer::new(Vec::new(), options);
    printer.batch(&batch).expect("memory");
    printer.finish().expect("memory")
}

/// What blkparse prints of `folder/NAME.blktrace.*`, without its remarks about files it opened (these go to
/// standard output even where the text does not); `None`, said loudly, if there is no blkparse.
pub fn blkparse(folder: &Path, name: &str, arguments: &[&str]) -> Option<String> {
    let text = tempfile::NamedTempFile::new().expect("a temporary file");
    let ran = Command::new("blkparse")
        .args(["-i", name, "-o"])
        .arg(text.path())
        .args(arguments)
        .current_dir(folder)
        .output();
    let Ok(output) = ran else {
        eprintln!("SKIPPED: blkparse (package blktrace) is not installed, nothing was compared with it");
        return None;
    };
    assert!(output.status.success(), "blkparse {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&fs::read(text.path()).expect("its text")).into_owned())
}

/// Fails with the first line that differs.
pub fn assert_same_lines(ours: &str, theirs: &str, what: &str) {
    let mut number = 0;
    let (mut a, mut b) = (ours.lines(), theirs.lines());
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (None, None) => return,
            (a, b) if a == b => {}
            (a, b) => panic!("{what}: line {number} differs\n  iowhy:    {a:?}\n  blkparse: {b:?}"),
        }
    }
}
