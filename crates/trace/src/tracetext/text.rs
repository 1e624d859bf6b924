//! Reads a text of tracepoints as a source of events.
//!
//! Invariant: every line is an event, part of one that a mailer wrapped, an aside (comments, stacks, messages of the tools), or counted in
//! [`Quality::unknown`]. Times may go back if the buffers of processors were printed one after the other: this is counted, not corrected.

use super::block::block;
use super::fields::number;
use super::header::{self, header, Header};
use super::lttng::{kernel_words, Running};
use super::task::{task, Known, Said};
use crate::error::Error;
use crate::event::{Action, Batch, Detail, Event, Flags};
use crate::input::Input;
use crate::lines::{unquoted, Held, Lines};
use crate::quality::Quality;
use crate::source::Source;
use crate::syscall::Calls;
use crate::task_event::{TaskEvent, TextId, What};
use crate::task_names::TaskNames;
use crate::tracedat::{waiting_part, without_suffix};
use rustc_hash::FxHashMap;
use units::{Cpu, DevId, Nanos, Tid};

/// Limit on different functions and stacks: a kernel has some thousand places to sleep.
const MAX_TEXTS: usize = 1 << 16;
/// The id of a text beyond the limit.
const UNKNOWN: TextId = TextId(u32::MAX);
/// Limit on threads whose last device is kept; at the limit, all are forgotten.
const MAX_THREADS: usize = 1 << 16;
/// Limit on processors.
const MAX_CPUS: usize = 1 << 16;
/// Limit on frames of a stack (`PERF_MAX_STACK_DEPTH`, include/uapi/linux/perf_event.h).
const MAX_FRAMES: usize = 127;

/// Parses the text of tracepoints.
pub struct TraceText {
    lines: Lines,
    /// Number and beginning of the first unknown line.
    first_other: Option<(u64, String)>,
    names: TaskNames,
    clock: Nanos,
    last_dev: FxHashMap<Tid, DevId>,
    known: Known,
    texts: FxHashMap<String, TextId>,
    /// The running task of each processor, for texts in which only switches name it.
    running: Running,
    /// The switch, if it was the last event of the processor.
    switched: FxHashMap<Cpu, TaskEvent>,
    /// The event that the stack being read belongs to, and its frames.
    left: Option<(TaskEvent, Vec<String>)>,
    /// Lines that may be the start of an event.
    held: Held,
    quality: Quality,
}

/// What a line was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    /// A used event, part of a stack, or an aside.
    Known,
    /// An event that is not used or not complete.
    Unused,
    Other,
}

/// Whether a file with this start has this format: one of its first lines is a used event, possibly wrapped.
pub fn looks_like(start: &[u8]) -> bool {
    let mut held = Held::default();
    start.split(|c| *c == b'\n').any(|line| {
        let line = unquoted(line);
        if is_used(line) || held.add(line) && is_used(&held.text) {
            return true;
        }
        // LTTng's events begin with the time in brackets.
        let begins = || line.starts_with(b"[") || header(&String::from_utf8_lossy(line)).is_some();
        if held.lines == 0 || held.is_full() || line.is_empty() || begins() {
            held.begin(line, 0);
        }
        false
    })
}

/// Whether a line is an event that is used.
fn is_used(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let words = kernel_words(line, &mut Running::default());
    header(words.as_deref().unwrap_or(line)).is_some_and(|h| {
        let mut known = Known { calls: Calls::NONE, wakings: false };
        block(&h, DevId::default).is_some() || task(&h, &mut known).is_some()
    })
}

/// The name of the format, determined by its first event.
pub fn format_of(start: &[u8]) -> &'static str {
    let lines = start.split(|c| *c == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let name = |line: &str| match header(line) {
        Some(h) if h.grouped => Some("perf script"),
        Some(_) => Some("ftrace"),
        None => kernel_words(line, &mut Running::default()).map(|_| "LTTng"),
    };
    lines.filter_map(name).next().unwrap_or("ftrace")
}

impl TraceText {
    /// Reads text from `input`.
    pub fn open(input: Input) -> TraceText {
        TraceText {
            lines: Lines::open(input),
            first_other: None,
            names: TaskNames::default(),
            clock: Nanos(0),
            last_dev: FxHashMap::default(),
            // Text does not name its machine type.
            known: Known { calls: Calls::of_machine("x86_64").unwrap_or(Calls::NONE), wakings: false },
            texts: FxHashMap::default(),
            running: Running::default(),
            switched: FxHashMap::default(),
            left: None,
            held: Held::default(),
            quality: Quality::default(),
        }
    }

    fn take_line(&mut self, line: (usize, usize), batch: &mut Batch) {
        let bytes = self.lines.bytes(line);
        let text = String::from_utf8_lossy(unquoted(bytes.strip_suffix(b"\r").unwrap_or(bytes))).into_owned();
        let number = self.lines.number;
        match self.step(&text, batch) {
            Is::Known => self.give_up(),
            Is::Other if self.held.add(text.as_bytes()) => {
                if is_used(&self.held.text) {
                    let whole = String::from_utf8_lossy(&std::mem::take(&mut self.held.text)).into_owned();
                    self.step(&whole, batch);
                    self.held.lines = 0;
                } else if self.held.is_full() {
                    self.give_up();
                }
            }
            Is::Unused | Is::Other => {
                self.give_up();
                self.held.begin(text.as_bytes(), number);
            }
        }
    }

    /// Counts the held lines that are part of no event.
    fn give_up(&mut self) {
        if self.held.lines == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&self.held.text).into_owned();
        let begins = header(&text).is_some() || is_aside(&text);
        let others = std::mem::take(&mut self.held.lines) - u64::from(begins);
        self.quality.unknown += others;
        if others > 0 {
            let number = self.held.number + u64::from(begins);
            self.first_other.get_or_insert((number, text.chars().take(60).collect()));
        }
    }

    /// Processes a line if it is complete.
    fn step(&mut self, text: &str, batch: &mut Batch) -> Is {
        let words = kernel_words(text, &mut self.running);
        let text = words.as_deref().unwrap_or(text);
        if let Some(h) = header(text) {
            return if self.event(&h, batch) { Is::Known } else { Is::Unused };
        } else if let Some(frame) = frame(text) {
            let (_, frames) = self.left.get_or_insert_with(|| (nobody(), vec![]));
            if frames.len() < MAX_FRAMES {
                frames.push(frame.to_owned());
            }
        } else if let Some((cpu, n)) = lost(text) {
            self.tell_stack(batch);
            self.lose(cpu, n, batch);
        } else if !is_aside(text) {
            return Is::Other;
        } else if text.starts_with('[') {
            return Is::Unused;
        }
        Is::Known
    }

    /// Processes an event; returns whether it is used.
    fn event(&mut self, h: &Header, batch: &mut Batch) -> bool {
        self.tell_stack(batch);
        let switched = self.switched.remove(&h.cpu);
        // A stack in an event of its own, which follows the event that it belongs to on this processor.
        if h.event == header::STACK || h.event == "user_stack" {
            let of = switched.filter(|s| s.tid == h.tid && h.event == header::STACK);
            self.left = Some((of.map_or_else(nobody, |s| TaskEvent { time: h.time, ..s }), vec![]));
            return true;
        }
        self.quality.out_of_order += u64::from(h.time < self.clock);
        self.clock = self.clock.max(h.time);
        let last_dev = || self.last_dev.get(&h.tid).copied().unwrap_or_default();
        if let Some((event, name)) = block(h, last_dev) {
            self.name(name.unwrap_or(h.task), h, batch);
            if event.action == Action::Get {
                if self.last_dev.len() >= MAX_THREADS {
                    self.last_dev.clear();
                }
                self.last_dev.insert(h.tid, event.dev);
            }
            batch.events.push(event);
            self.quality.events += 1;
            return true;
        }
        self.name(h.task, h, batch);
        let what = match task(h, &mut self.known) {
            None => return false,
            Some(Said::What(what)) => what,
            Some(Said::CgroupAttach(tid, hierarchy, path)) => {
                What::CgroupAttach { tid, hierarchy, path: self.text(path, h, batch) }
            }
            Some(Said::Work(starts, work, function)) => {
                let function = self.text(without_suffix(function), h, batch);
                if starts {
                    What::WorkStart { work, function }
                } else {
                    What::WorkQueued { work, function }
                }
            }
        };
        let event = told(h, what, batch);
        batch.tasks.push(event);
        self.quality.events += 1;
        if matches!(what, What::Switch { .. }) {
            self.left = Some((event, vec![]));
            if self.switched.len() < MAX_CPUS {
                self.switched.insert(h.cpu, event);
            }
        }
        true
    }

    /// Adds a note with the task's name if it is new.
    fn name(&mut self, name: &str, h: &Header, batch: &mut Batch) {
        // Names that start with a colon are perf's placeholders for tasks without a name.
        let known = !["<...>", "<idle>"].contains(&name) && !name.starts_with(':');
        let Some(name) = Some(name).filter(|_| known).and_then(|n| self.names.learn(h.tid, n.as_bytes()))
        else {
            return;
        };
        let detail = batch.store(name);
        let (time, cpu, tid, action, flags) = (h.time, h.cpu, h.tid, Action::TaskName, Flags::NOTE);
        batch.events.push(Event { time, cpu, tid, action, flags, detail, ..Event::default() });
        self.quality.events += 1;
    }

    /// Adds the stack of the task that last left its processor, once all of its lines were read.
    fn tell_stack(&mut self, batch: &mut Batch) {
        let Some((left, frames)) = self.left.take() else { return };
        if frames.is_empty() || !matches!(left.what, What::Switch { .. }) {
            return;
        }
        let stack = waiting_part(frames.iter().map(|f| without_suffix(f)).collect());
        let id = self.define(&stack, left, batch);
        let after = batch.events.len() as u32;
        batch.tasks.push(TaskEvent { after, what: What::Stack(id), ..left });
    }

    fn text(&mut self, text: &str, h: &Header, batch: &mut Batch) -> TextId {
        let at = told(h, What::WorkEnd, batch);
        self.define(text, at, batch)
    }

    /// The id of a function or stack; adds the event that defines it on first use.
    fn define(&mut self, text: &str, at: TaskEvent, batch: &mut Batch) -> TextId {
        if let Some(id) = self.texts.get(text) {
            return *id;
        }
        if self.texts.len() >= MAX_TEXTS {
            return UNKNOWN;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.insert(text.to_owned(), id);
        if let Detail::Text(span) = batch.store(text.as_bytes()) {
            let after = batch.events.len() as u32;
            batch.tasks.push(TaskEvent { after, what: What::Text { id, text: span }, ..at });
        }
        id
    }

    fn lose(&mut self, cpu: Cpu, count: u64, batch: &mut Batch) {
        let time = self.clock;
        self.quality.lose(DevId(0), cpu, time, count);
        let (action, flags, detail) = (Action::Lost, Flags::NOTE, Detail::Lost(count));
        batch.events.push(Event { time, cpu, action, flags, detail, ..Event::default() });
        let (after, tid) = (batch.events.len() as u32, Tid(0));
        let context = Default::default();
        batch.tasks.push(TaskEvent { time, after, tid, cpu, context, what: What::Lost { since: time } });
    }
}

fn told(h: &Header, what: What, batch: &Batch) -> TaskEvent {
    let after = batch.events.len() as u32;
    TaskEvent { time: h.time, after, tid: h.tid, cpu: h.cpu, context: h.context, what }
}

/// A placeholder event for stack lines that belong to no event.
fn nobody() -> TaskEvent {
    let (time, cpu, tid, context) = Default::default();
    TaskEvent { time, after: 0, tid, cpu, context, what: What::Gone }
}

/// The function in a line of a stack: `=> blk_mq_get_tag (ffffffff813a03c5)`, ` => blk_mq_get_tag+0x1/0x2`,
/// `ffffffff813a03c5 blk_mq_get_tag+0x1 ([kernel.kallsyms])`.
fn frame(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let name = match line.strip_prefix("=> ").or_else(|| line.strip_prefix("=>")) {
        Some(rest) => rest.split_whitespace().next()?,
        None => perf_frame(line)
            .filter(|(_, within)| within.starts_with("([") && *within != "([unknown])")
            .map(|(name, _)| name)?,
    };
    name.split("+0x").next().filter(|n| !n.is_empty())
}

/// The function in `ffffffff813a03c5 blk_mq_get_tag+0x1 ([kernel.kallsyms])`, and its origin: the kernel or a module in
/// brackets, or the path of a program.
fn perf_frame(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    words.next().filter(|a| a.len() <= 16 && a.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let name = words.next()?;
    // A C++ name may contain blanks.
    let within = words.last()?;
    (within.starts_with('(') && within.ends_with(')')).then_some((name, within))
}

/// CPU and count in `CPU:1 [LOST 123 EVENTS]` or `CPU:1 [123 EVENTS DROPPED]`.
fn lost(line: &str) -> Option<(Cpu, u64)> {
    let rest = line.trim().strip_prefix("CPU:")?;
    let (cpu, rest) = rest.split_once(" [")?;
    let n = rest.trim_start_matches("LOST ").split(' ').next()?;
    (rest.contains("LOST") || rest.contains("DROPPED")).then_some((Cpu(cpu.trim().parse().ok()?), number(n)?))
}

/// Lines that belong to the text but are no events.
fn is_aside(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("cpus=")
        || line.starts_with("CPU ")
        || line.starts_with("version =")
        || line.starts_with('[') && line.contains("] (+") && line.contains("{ cpu_id = ")
        || perf_frame(line).is_some()
}

impl Source for TraceText {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        loop {
            if batch.is_full() {
                break;
            }
            match self.lines.next()? {
                Some(line) => self.take_line(line, batch),
                None => {
                    self.give_up();
                    self.tell_stack(batch);
                    break;
                }
            }
        }
        Ok(!batch.is_empty())
    }

    fn position(&self) -> u64 {
        self.lines.input.position()
    }

    fn size(&self) -> Option<u64> {
        self.lines.input.size()
    }

    fn quality(&self) -> Quality {
        let mut q = self.quality.clone();
        if let Some((bytes, words)) = &self.lines.dropped {
            q.damaged_bytes += bytes;
            q.note(words.clone());
        }
        if let Some((number, begin)) = &self.first_other {
            let more = match q.unknown {
                0 | 1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            q.note(format!("{}: line {number}{more} is no event: {begin:?}", self.lines.input.name()));
        }
        q
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
