//! The summary after the events, in blkparse's words and columns.
//!
//! blkparse's MiB are thousands of KiB (and its GiB thousands of those), and its throughput counts a byte
//! of an odd sector as a thousandth of a KiB: both are kept, so that the numbers can be compared.

use super::digits::foreign;
use super::tally::{Amount, Device, Places, Side, Tally, Task, OTHERS};
use std::fmt::{self, Write};
use trace::{Bytes, DevId, Nanos};

/// The owner of a block's counts: `CPU3`, `Total`, or a task.
enum Whose<'a> {
    Cpu(u32),
    Total,
    Task(&'a Task),
}

/// Appends the blocks of all devices. `names` has the names of devices, in the order of the summary.
pub fn devices(out: &mut Vec<u8>, places: &Places, names: &[(DevId, String)]) {
    let named = names.iter().filter_map(|(id, n)| Some((n.clone(), places.devices.get(id)?)));
    let is_named = |id: &DevId| names.iter().any(|(n, _)| n == id);
    let others = places.devices.iter().filter(|(id, _)| !is_named(id)).map(|(id, d)| {
        let name = if *id == OTHERS { "others".to_string() } else { id.to_string() };
        (name, d)
    });
    for (i, (name, device)) in named.chain(others).enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        one_device(out, &name, device, &places.tallies);
    }
}

fn one_device(out: &mut Vec<u8>, name: &str, device: &Device, tallies: &[Tally]) {
    let mut total = Tally::default();
    for (cpu, at) in &device.cpus {
        block(out, &Whose::Cpu(cpu.0), name, &tallies[*at], Some(device));
        total.merge(&tallies[*at]);
    }
    if device.cpus.len() > 1 {
        out.push(b'\n');
        block(out, &Whose::Total, name, &total, None);
    }
    let milliseconds = device.last.since(device.first.unwrap_or(device.last)).0 / 1_000_000;
    let skipped = device.lost as f64 * 100.0 / (device.events as f64 + device.lost as f64).max(1.0);
    add(
        out,
        format_args!(
            "\nThroughput (R/W): {}KiB/s / {}KiB/s\nEvents ({name}): {} entries\nSkips: {} forward ({} - {skipped:5.1}%)\n",
            total.file[0].kib_per_second(milliseconds),
            total.file[1].kib_per_second(milliseconds),
            device.events,
            device.gaps,
            device.lost,
        ),
    );
}

/// Appends the blocks of all tasks, and an empty line.
pub fn tasks(out: &mut Vec<u8>, tasks: &[Task]) {
    for task in tasks {
        block(out, &Whose::Task(task), "", &task.tally, None);
    }
    out.push(b'\n');
}

fn block(out: &mut Vec<u8>, whose: &Whose, name: &str, t: &Tally, depth: Option<&Device>) {
    match whose {
        Whose::Cpu(n) => add(out, format_args!("CPU{n} ({name}):\n")),
        Whose::Total => add(out, format_args!("Total ({name}):\n")),
        Whose::Task(task) => {
            foreign(out, task.shown_name());
            let more = if task.several { ", ..." } else { "" };
            add(out, format_args!(" ({}{more})\n", task.tid.0));
        }
    }
    let [r, w] = &t.file;
    amounts(out, "Reads Queued", r.queued, "Writes Queued", w.queued);
    amounts(out, "Read Dispatches", r.issued, "Write Dispatches", w.issued);
    scaled(out, "Reads Requeued", r.requeued, "Writes Requeued", w.requeued);
    amounts(out, "Reads Completed", r.completed, "Writes Completed", w.completed);
    amounts(out, "Read Merges", r.merged, "Write Merges", w.merged);
    if let Some(d) = depth {
        counts(out, "Read depth", d.depth(0), "Write depth", d.depth(1));
    }
    if t.has_passthrough() {
        passthrough(out, &t.passthrough);
    }
    counts(out, "IO unplugs", t.unplugs, "Timer unplugs", t.implicit_unplugs);
    if let Whose::Task(_) = whose {
        for (wait, [r, w]) in ["Allocation wait", "Dispatch wait", "Completion wait"].iter().zip(t.longest) {
            counts(out, wait, microseconds(r), wait, microseconds(w));
        }
    }
}

fn passthrough(out: &mut Vec<u8>, [r, w]: &[Side; 2]) {
    amounts(out, "PC Reads Queued", r.queued, "PC Writes Queued", w.queued);
    amounts(out, "PC Read Disp.", r.issued, "PC Write Disp.", w.issued);
    scaled(out, "PC Reads Req.", r.requeued, "PC Writes Req.", w.requeued);
    scaled(out, "PC Reads Compl.", r.completed.count, "PC Writes Compl.", w.completed.count);
}

fn microseconds(t: Nanos) -> u64 {
    t.0 / 1000
}

/// A number that is divided by 1000 until it is at most a million, with the number of divisions.
struct Scaled {
    value: u64,
    step: usize,
}

impl Scaled {
    fn new(mut value: u64) -> Scaled {
        let mut step = 0;
        while value > 1_000_000 {
            value /= 1000;
            step += 1;
        }
        Scaled { value, step }
    }
}

impl fmt::Display for Scaled {
    /// The number with the unit of a count: `1041K`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8}{}", self.value, ["", "K", "M", "G", "T", "P"][self.step])
    }
}

/// An amount of data with its unit: `6174MiB`.
struct Data(Bytes);

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = Scaled::new(self.0 .0 / 1024);
        write!(f, "{:8}{}", s.value, ["KiB", "MiB", "GiB", "TiB", "PiB"][s.step])
    }
}

fn amounts(out: &mut Vec<u8>, reads: &str, r: Amount, writes: &str, w: Amount) {
    let (rn, wn) = (Scaled::new(r.count), Scaled::new(w.count));
    let (reads, writes) = (format!("{reads}:"), format!("{writes}:"));
    add(out, format_args!(" {reads:17}{rn}, {}\t {writes:18}{wn}, {}\n", Data(r.bytes), Data(w.bytes)));
}

/// Appends numbers that are scaled, without amounts of data.
fn scaled(out: &mut Vec<u8>, reads: &str, r: u64, writes: &str, w: u64) {
    let (reads, writes) = (format!("{reads}:"), format!("{writes}:"));
    add(out, format_args!(" {reads:17}{}\t\t {writes:18}{}\n", Scaled::new(r), Scaled::new(w)));
}

/// Appends numbers that are not scaled; the column of data is blank.
fn counts(out: &mut Vec<u8>, reads: &str, r: u64, writes: &str, w: u64) {
    let (reads, writes) = (format!("{reads}:"), format!("{writes}:"));
    add(out, format_args!(" {reads:17}{r:8}        \t {writes:18}{w:8}\n"));
}

fn add(out: &mut Vec<u8>, text: fmt::Arguments) {
    let mut s = String::new();
    // Writing to a string cannot fail.
    let _ = s.write_fmt(text);
    out.extend_from_slice(s.as_bytes());
}
