//! Reads perf.data as `perf record -e 'block:*' -e sched:sched_switch -a` writes it: tracepoints in perf's own records.
//!
//! ```text
//! file or pipe  ->  records  ->  samples  ->  rounds  ->  Blocks, Tasks  ->  Event
//!   head            one after    who, when,   in order    those of trace.dat
//!                   the other    which        of time
//! ```
//!
//! A tracepoint's bytes within a sample are those of the kernel's ring buffer, and the file has the `format` texts to
//! parse them, so the events are those of `trace.dat`. Tested with perf 6.1: files and pipes (`perf record -o -`),
//! compressed (`-z`) or not, folders (`--threads`), either byte order. Sources: perf's Documentation/perf.data-file-format.txt and
//! include/uapi/linux/perf_event.h.
//!
//! perf.data lacks the names of the kernel's functions. Stacks (`-g`) are used if the names are found elsewhere (`symbols.rs`); otherwise
//! stacks are left out, and a note says so.

mod files;
mod head;
mod records;
mod rounds;
mod sample;
mod symbols;

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;
use crate::source::Source;
use crate::tracedat::{Blocks, Formats, Order, Record, Step, Tasks};
use files::Files;
use head::{Head, MAGIC};
use records::kind;
use rounds::{Rounds, Said};
use sample::Layouts;
use std::path::Path;
use units::{Cpu, DevId, Nanos};

/// Whether a file with this start is a perf.data.
pub fn looks_like(start: &[u8]) -> bool {
    MAGIC.iter().any(|(magic, _)| start.starts_with(magic))
}

/// An opened perf.data.
pub struct PerfData {
    order: Order,
    kernel: Option<String>,
    formats: Formats,
    layouts: Layouts,
    files: Files,
    rounds: Rounds,
    blocks: Blocks,
    tasks: Tasks,
    /// Index in `formats` of `sched_switch`, whose stack shows where a task left its processor; `None` without symbols.
    switch: Option<usize>,
    /// Samples of events that are not tracepoints.
    others: u64,
    latest: Nanos,
    quality: Quality,
}

/// Whether a folder was written by `perf record --threads`.
pub fn is_folder(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 8];
    let file = std::fs::File::open(path.join(files::MAIN));
    file.is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && looks_like(&start)
}

/// Opens a perf.data file or folder. Reads everything except the records.
pub fn open(path: &Path) -> Result<PerfData, Error> {
    let (Head { order, kernel, machine, contents, layouts }, files) = files::open(path)?;
    let mut quality = Quality::default();
    contents.notes.into_iter().for_each(|note| quality.note(note));
    let blocks = Blocks::new(&contents.formats, &contents.cmdlines);
    let long = contents.layout.map_or(8, |layout| layout.long);
    let mut tasks = Tasks::new(&contents.formats, long, machine.as_deref());
    let mut switch = None;
    if layouts.have_stacks() {
        match symbols::read(path, contents.kallsyms.as_ref(), &kernel) {
            Some(symbols) => {
                tasks.set_symbols(symbols);
                switch = contents.formats.events().iter().position(|e| &*e.name == "sched_switch");
            }
            None => quality.note(symbols::MISSING.into()),
        }
    }
    let formats = contents.formats;
    let kernel = kernel.release;
    let (rounds, latest) = (Rounds::default(), Nanos(0));
    let others = 0;
    Ok(PerfData {
        order,
        kernel,
        formats,
        layouts,
        files,
        rounds,
        blocks,
        tasks,
        switch,
        others,
        latest,
        quality,
    })
}

impl PerfData {
    /// The kernel's release, if the file has it.
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// Reads a record into `rounds`; `false` at the end.
    fn read(&mut self) -> Result<bool, Error> {
        let Some(record) = self.files.next()? else { return Ok(false) };
        let body = self.files.body();
        match record {
            kind::SAMPLE => match self.layouts.sample(self.order, body) {
                Some(sample) if sample.is_tracepoint => {
                    let time = sample.time;
                    let is_switch = self.switch.is_some()
                        && self.formats.index_of(self.order, sample.raw).ok() == self.switch;
                    let stack = if is_switch { of_kernel(self.order, sample.chain) } else { Box::default() };
                    self.rounds.add(time, sample.cpu, Said::Sample(sample.raw.into(), stack));
                    self.files.was_at(time);
                }
                Some(_) => self.others += 1,
                None => self.quality.unknown += 1,
            },
            kind::LOST | kind::LOST_SAMPLES => {
                let at = if record == kind::LOST { 8 } else { 0 };
                let count = self.order.u64(body, at).unwrap_or(1).max(1);
                let (time, cpu) = self.layouts.trailer(self.order, body).unwrap_or((self.rounds.latest(), 0));
                self.rounds.add(time, cpu, Said::Lost(count));
            }
            kind::FINISHED_ROUND if !self.files.are_several() => self.rounds.finished(),
            _ => {}
        }
        Ok(true)
    }

    fn deliver(&mut self, time: u64, cpu: u32, said: &Said, batch: &mut Batch) {
        let (time, cpu) = (Nanos(time), Cpu(cpu));
        self.quality.out_of_order += u64::from(time < self.latest);
        self.latest = self.latest.max(time);
        let step = match said {
            Said::Lost(count) => {
                self.quality.lose(DevId(0), cpu, time, *count);
                Step::Lost { time, cpu, count: *count }
            }
            Said::Sample(data, _) => {
                let known = self.formats.index_of(self.order, data).ok();
                let Some((index, event)) = known.and_then(|i| Some((i, self.formats.events().get(i)?)))
                else {
                    self.quality.unknown += 1;
                    return;
                };
                let tid = units::Tid(self.formats.tid(self.order, data));
                let flags = self.formats.flags(self.order, data);
                Step::Record(Record {
                    time,
                    cpu,
                    tid,
                    flags,
                    buffer: 0,
                    index,
                    event,
                    data,
                    order: self.order,
                })
            }
        };
        self.blocks.take(&step, batch);
        self.tasks.take(&step, batch);
        if let (Step::Record(record), Said::Sample(_, stack)) = (&step, said) {
            self.tasks.take_stack(record, stack, batch);
        }
    }
}

/// The kernel part of a call chain: the addresses from the kernel's marker to the next marker (`enum perf_callchain_context`).
fn of_kernel(order: Order, chain: &[u8]) -> Box<[u64]> {
    const KERNEL: u64 = -128i64 as u64;
    const MARKS: u64 = -4095i64 as u64;
    let words = chain.chunks_exact(8).filter_map(|word| order.u64(word, 0));
    words.skip_while(|a| *a != KERNEL).skip(1).take_while(|a| *a < MARKS).collect()
}

impl Source for PerfData {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        while !batch.is_full() {
            if let Some((time, cpu, said)) = self.rounds.take() {
                self.deliver(time, cpu, &said, batch);
            } else if !self.read()? && !self.rounds.end() {
                break;
            }
        }
        self.quality.events += (batch.events.len() + batch.tasks.len()) as u64;
        Ok(!batch.is_empty())
    }

    fn position(&self) -> u64 {
        self.files.position()
    }

    fn size(&self) -> Option<u64> {
        Some(self.files.size())
    }

    fn quality(&self) -> Quality {
        let mut q = self.quality.clone();
        self.files.damage_to(&mut q);
        self.formats.broken().for_each(|(_, what)| q.note(what));
        if self.others > 0 {
            q.note(format!("{} samples of events other than tracepoints are left out", self.others));
        }
        q
    }
}
