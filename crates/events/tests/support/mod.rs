//! Events as tests of `iowhy events` make them, and the two programs that print them.
#![allow(dead_code)]

use events::{Options, Printer};
use std::fs;
use std::path::Path;
use std::process::Command;
use testkit::{Layout, Script, DISK};
use trace::{Action, Batch, Bytes, Cpu, Detail, Event, Flags, Nanos, Sector, Span, Tid};

pub use testkit::ScriptedEvent as Made;

/// An event of the disk on CPU 0 by task 100.
pub fn made(time: u64, action: Action, sector: u64, sectors: u64, flags: Flags) -> Made {
    let event = Event {
        time: Nanos(time),
        action,
        sector: Sector(sector),
        bytes: Bytes::from_sectors(sectors),
        flags: flags.with(category(action)),
        dev: DISK,
        tid: Tid(100),
        ..Event::default()
    };
    Made { event, text: Vec::new() }
}

/// A note that a task is called so.
pub fn named(time: u64, tid: u32, name: &str) -> Made {
    made(time, Action::TaskName, 0, 0, Flags(0)).tid(tid).text(name.as_bytes())
}

/// A message of the kernel.
pub fn message(time: u64, text: &str) -> Made {
    made(time, Action::Message, 0, 0, Flags(0)).tid(0).text(text.as_bytes())
}

/// What an event has besides, one thing after another.
pub trait Build {
    fn tid(self, tid: u32) -> Made;
    fn cpu(self, cpu: u32) -> Made;
    fn detail(self, detail: Detail) -> Made;
    fn error(self, error: u16) -> Made;
    /// A name, a message, a command.
    fn text(self, text: &[u8]) -> Made;
    /// A passthrough command.
    fn command(self, bytes: &[u8]) -> Made;
    /// Tagged with a cgroup.
    fn cgroup(self, id: u64) -> Made;
}

impl Build for Made {
    fn tid(mut self, tid: u32) -> Made {
        self.event.tid = Tid(tid);
        self
    }

    fn cpu(mut self, cpu: u32) -> Made {
        self.event.cpu = Cpu(cpu);
        self
    }

    fn detail(mut self, detail: Detail) -> Made {
        self.event.detail = detail;
        self
    }

    fn error(mut self, error: u16) -> Made {
        self.event.error = error;
        self
    }

    fn text(mut self, text: &[u8]) -> Made {
        if !text.is_empty() {
            self.event.detail = Detail::Text(Span { start: 0, len: text.len() as u32 });
        }
        self.text = text.to_vec();
        self
    }

    fn command(mut self, bytes: &[u8]) -> Made {
        self.event.flags = self.event.flags.without(Flags::FS).with(Flags::PASSTHROUGH);
        self.text(bytes)
    }

    fn cgroup(mut self, id: u64) -> Made {
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

/// Writes `folder/sda.blktrace.N`, numbered as the kernel does.
pub fn write_trace(folder: &Path, events: &[Made]) {
    let script = Script { told: events.to_vec() };
    script.files_named(folder, Layout::USUAL, |_| "sda".into());
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
    let mut printer = Printer::new(Vec::new(), options);
    for batch in (Script { told: events.to_vec() }).batches(usize::MAX) {
        printer.batch(&batch).expect("memory");
    }
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
