//! The raw events of an operation, gathered in a second reading: what its tasks did while they were part of its
//! account, and the steps of its requests. Other events of its devices are only counted.

use super::screen::printable;
use explain::gathered::{belongs, span, Nobody};
use explain::Places;
use life::{has_extent, IoTracker, Names};
use operation::{Done, Part};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use stats::SampledOperation;
use std::fmt::Write;
use trace::{Batch, Completions, Cpu, DevId, Event, Fs, Left, Nanos, TaskEvent, TextId, Tid, What};

/// Maximal number of events of one operation. An fsync that waits for a commit has some 200.
const MAX_EVENTS: usize = 400;
/// Maximal number of functions of a stack: the innermost ones show what is waited for.
const MAX_FUNCTIONS: usize = 6;
/// Maximal number of stacks and function names that are kept, as in `operation::History`.
const MAX_TEXTS: usize = 1 << 16;

/// An event in words.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Event"))]
pub struct EventRow {
    /// The time of the event, in nanoseconds of the recording's clock.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// The processor on which it happened.
    pub cpu: Cpu,
    /// The thread's number (tid).
    pub tid: Tid,
    /// The name of the thread's task.
    pub task: String,
    /// The event in words.
    #[serde(rename = "event")]
    pub words: String,
}

/// The events of an operation, from a second reading.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gathered<'a> {
    /// With --events: its events, in the order of time.
    pub events: &'a [EventRow],
    /// With --events: number of its events beyond those kept.
    pub events_left_out: u64,
    /// With --events: number of events of requests on the same devices that it did not wait for.
    pub events_of_other_requests: u64,
}

/// Selects the events of one operation and keeps them.
#[derive(Debug, Default)]
struct EventCollector {
    from: Nanos,
    to: Nanos,
    /// Tasks of the account, each with the span of time in which it was part of it.
    tasks: Vec<(Tid, Nanos, Nanos)>,
    requests: Vec<Done>,
    devices: FxHashSet<DevId>,
    told: Vec<EventRow>,
    left_out: u64,
    /// Number of other events of its devices.
    others: u64,
}

/// Events of several operations, gathered in one reading.
#[derive(Default)]
pub struct Events {
    stories: Vec<EventCollector>,
    /// Indexes of the operations that overlap with the current batch.
    near: Vec<usize>,
    texts: FxHashMap<TextId, String>,
    tracker: IoTracker,
}

impl Events {
    /// Starts without events for these operations.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a SampledOperation>) -> Events {
        Events { stories: all.into_iter().map(EventCollector::of).collect(), ..Events::default() }
    }

    /// Processes a batch of the second reading.
    pub fn gather(&mut self, batch: &Batch) {
        let (first, last) = span(batch);
        let during = |s: &EventCollector| s.from <= last && first <= s.to;
        self.near = (0..self.stories.len()).filter(|at| during(&self.stories[*at])).collect();
        let mut tasks = batch.tasks.iter().peekable();
        for (at, event) in batch.events.iter().enumerate() {
            while let Some(task) = tasks.next_if(|t| t.after as usize <= at) {
                self.task(task, batch);
            }
            self.block(event, batch);
        }
        tasks.for_each(|t| self.task(t, batch));
    }

    fn block(&mut self, e: &Event, batch: &Batch) {
        if e.action == trace::Action::TaskName {
            self.tracker.step(e, batch, &mut Nobody);
        }
        if !has_extent(e.action) {
            return;
        }
        let names = self.tracker.names();
        for at in &self.near {
            let story = &mut self.stories[*at];
            if e.time < story.from || e.time > story.to || !story.devices.contains(&e.dev) {
                continue;
            }
            if story.requests.iter().any(|done| is_step_of(e, done)) {
                // The kernel gives flushes the sector -1.
                let words = match e.sector.0 {
                    u64::MAX => format!("{:<2} flush", e.action.letters()),
                    sector => format!("{:<2} {sector} + {}", e.action.letters(), e.bytes.sectors()),
                };
                story.tell(e.time, e.cpu, e.tid, names, words);
            } else {
                story.others += 1;
            }
        }
    }

    fn task(&mut self, e: &TaskEvent, batch: &Batch) {
        if let What::Text { id, text } = e.what {
            if self.texts.len() < MAX_TEXTS {
                self.texts.insert(id, String::from_utf8_lossy(batch.at(text)).into_owned());
            }
            return;
        }
        let names = self.tracker.names();
        for at in &self.near {
            let story = &mut self.stories[*at];
            if story.concerns(e) {
                let words = in_words(e, &self.texts, names);
                story.tell(e.time, e.cpu, e.tid, names, words);
            }
        }
    }

    /// The events of operation `at` as text, with the time since the event before.
    pub fn render(&self, at: usize, places: &Places) -> String {
        let Some(story) = self.stories.get(at) else { return String::new() };
        let mut out = String::from("\n");
        let mut before = story.from;
        for t in &story.told {
            let _ = writeln!(
                out,
                "{:>12.6} s {:>+12.6} ms  {}  cpu {} {} ({})",
                places.since_start(t.time),
                t.time.since(before).0 as f64 / 1e6,
                printable(&t.words),
                t.cpu.0,
                printable(&t.task),
                t.tid.0
            );
            before = t.time;
        }
        if story.left_out > 0 {
            let _ = writeln!(out, "    and {} more events of these", story.left_out);
        }
        if story.others > 0 {
            let _ = writeln!(out, "    and {} events of other requests on the same devices", story.others);
        }
        out
    }

    /// The events of operation `at` for JSON.
    pub fn gathered(&self, at: usize) -> Option<Gathered<'_>> {
        self.stories.get(at).map(|story| Gathered {
            events: &story.told,
            events_left_out: story.left_out,
            events_of_other_requests: story.others,
        })
    }
}

impl EventCollector {
    fn of(sampled: &SampledOperation) -> EventCollector {
        let o = &sampled.operation;
        let mut story = EventCollector {
            from: o.from,
            to: o.to,
            tasks: vec![(o.tid, o.from, o.to)],
            ..EventCollector::default()
        };
        for node in &sampled.account.nodes {
            match &node.part {
                Part::Task(tid) | Part::Work { worker: tid, .. } => {
                    story.tasks.push((*tid, node.from, node.to))
                }
                Part::Request(entry) => {
                    story.devices.insert(entry.done.dev());
                    story.requests.push(entry.done.clone());
                }
                _ => {}
            }
        }
        story
    }

    fn is_member(&self, tid: Tid, t: Nanos) -> bool {
        self.tasks.iter().any(|(who, from, to)| *who == tid && *from <= t && t <= *to)
    }

    fn concerns(&self, e: &TaskEvent) -> bool {
        if e.time < self.from || e.time > self.to {
            return false;
        }
        match e.what {
            // Lost events may belong to any task.
            What::Lost { .. } => true,
            What::Wake(who) => self.is_member(who, e.time),
            What::Switch { next, .. } if self.is_member(next, e.time) => true,
            _ => !e.context.is_interrupt() && self.is_member(e.tid, e.time),
        }
    }

    fn tell(&mut self, time: Nanos, cpu: Cpu, tid: Tid, names: &Names, words: String) {
        if self.told.len() < MAX_EVENTS {
            let task = names.text(names.of(tid)).to_string();
            self.told.push(EventRow { time, cpu, tid, task, words });
        } else {
            self.left_out += 1;
        }
    }
}

fn is_step_of(e: &Event, done: &Done) -> bool {
    match done {
        Done::Request(r) => belongs(e, r),
        Done::Bio(b) => {
            let end = b.start.after(b.bytes);
            let inside = e.sector < end && e.sector.after(e.bytes) > b.start;
            e.dev == b.dev && inside && e.time >= b.time.start() && e.time <= b.time.completed
        }
    }
}

fn in_words(e: &TaskEvent, texts: &FxHashMap<TextId, String>, names: &Names) -> String {
    let name = |tid: Tid| format!("{} ({})", names.text(names.of(tid)), tid.0);
    let function = |id: &TextId| texts.get(id).map_or("?", String::as_str).to_string();
    match &e.what {
        What::Enter { call, args } if call.has_fd() => {
            format!("enter {}, fd {}", call.name(), args[0] as i32)
        }
        What::Enter { call, .. } => format!("enter {}", call.name()),
        What::Exit { call, result } => format!("exit {} = {result}", call.name()),
        What::Switch { left, next } => {
            let why = match left {
                Left::Preempted => "is preempted by",
                Left::Interruptible => "sleeps (interruptible), then runs",
                Left::Uninterruptible => "sleeps (uninterruptible), then runs",
                Left::Idle => "waits for work, then runs",
                Left::Stopped => "stops, then runs",
            };
            format!("{why} {}", name(*next))
        }
        What::Stack(id) => {
            let all = function(id);
            format!("stack {}", all.lines().take(MAX_FUNCTIONS).collect::<Vec<_>>().join(" < "))
        }
        What::Wake(who) if e.context.is_interrupt() => format!("an interrupt wakes {}", name(*who)),
        What::Wake(who) => format!("wakes {}", name(*who)),
        What::WorkQueued { function: id, .. } => format!("queues work item {}", function(id)),
        What::WorkStart { function: id, .. } => format!("starts work item {}", function(id)),
        What::WorkEnd => "is done with the work item".into(),
        What::Direct { inode, .. } | What::File { fs: Fs::Unknown, inode, .. } => {
            format!("is at inode {inode}")
        }
        What::File { fs, inode: 0, .. } => format!("is in {}", fs.name()),
        What::File { fs, inode, .. } => format!("is in {}, inode {inode}", fs.name()),
        What::Commit { phase, .. } => format!("commit: {}", explain::names::commit(*phase)),
        What::Changes { fs: Fs::Xfs, .. } => "reserves room in the log".into(),
        What::Changes { blocks, .. } => format!("ends a handle of the journal, {blocks} more blocks"),
        What::DirtiedFile { inode, .. } => format!("makes inode {inode} dirty"),
        What::Created { inode, .. } => format!("makes a new file, inode {inode}"),
        What::Freed { inode, .. } => format!("frees inode {inode}"),
        What::Exec => "runs another program".into(),
        What::WaitPage { inode } => format!("waits until a page of inode {inode} is written"),
        What::Writeback { inode, .. } => format!("starts to write inode {inode} back"),
        What::WritebackEnd => "is done writing back".into(),
        What::Dirtied { .. } => "has written to a file: checks the dirty limits".into(),
        What::RingSubmit { opcode, .. } => format!("io_uring: submits operation {opcode}"),
        What::RingComplete { result, .. } => format!("io_uring: completes, {result}"),
        What::Born { tid, thread: true, .. } => format!("starts the thread {}", tid.0),
        What::Born { tid, .. } => format!("starts the process {}", tid.0),
        What::CgroupAttach { tid, .. } => format!("puts {} into a control group", tid.0),
        What::Completions(Completions::Wanted) => "asks for the interrupt that completes requests".into(),
        What::Completions(Completions::Begin) => "is interrupted to complete requests".into(),
        What::Completions(Completions::End) => "goes on".into(),
        What::Gone => "ends".into(),
        What::Lost { .. } => "EVENTS LOST before here".into(),
        What::Text { .. } => String::new(),
    }
}
