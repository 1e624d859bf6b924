//! Writes batches of events as lines.
//!
//! Lines are collected in one buffer that is written when it is full, so an event costs no allocation and no
//! system call. The error of a closed pipe (`BrokenPipe`) is returned to the caller, which then stops.

use super::format::{Format, Formats};
use super::line::Shown;
use super::names::Names;
use super::select::{Mask, Window};
use super::summary;
use super::tally::{Places, Tasks};
use super::track::{Elapsed, Tracks};
use std::io::{self, Write};
use trace::{Action, Batch, Cpu, DevId, Event, Flags, Nanos};

/// The buffer is written when it holds this many bytes: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// What is printed, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The formats of lines.
    pub formats: Formats,
    /// The kinds of events that are printed.
    pub mask: Mask,
    /// The span of time that is printed.
    pub window: Window,
    /// Whether only the summary is printed (`-O`).
    pub no_events: bool,
    /// Whether the summary is omitted (`-q`).
    pub quiet: bool,
    /// Whether the summary has a block for each task (`-s`).
    pub per_task: bool,
    /// Whether tasks with the same name share a block (`-h`).
    pub by_name: bool,
    /// Whether lines show the time of each step (`-t`).
    pub track: bool,
    /// Whether times are printed as recorded. Otherwise they count from the first event.
    pub own_times: bool,
    /// The names of devices in the summary, in its order; other devices are shown by number.
    pub devices: Vec<(DevId, String)>,
}

/// Writes events as text.
pub struct Printer<W> {
    out: W,
    lines: Vec<u8>,
    options: Options,
    messages: Format,
    /// The time that is printed as 0: that of the first event, unless times are printed as recorded.
    origin: Option<Nanos>,
    names: Names,
    tracks: Option<Tracks>,
    places: Option<Places>,
    tasks: Option<Tasks>,
    driver_data: bool,
    /// Whether an event after the window was seen. blkparse reads no further, so a CPU whose first event is
    /// later has no block in its summary.
    past_window: bool,
    /// Times of the first and the last event, printed or not.
    span: Option<(Nanos, Nanos)>,
    /// Whether any event was in the window.
    any: bool,
}

impl<W: Write> Printer<W> {
    /// A printer that writes to `out`.
    pub fn new(out: W, options: Options) -> Printer<W> {
        let track = options.track || options.formats.shows_elapsed();
        Printer {
            out,
            lines: Vec::with_capacity(2 * CHUNK),
            messages: Format::default_line(),
            origin: options.own_times.then_some(Nanos(0)),
            names: Names::default(),
            tracks: track.then(Tracks::default),
            places: (!options.quiet).then(Places::default),
            tasks: options.per_task.then(Tasks::default),
            driver_data: false,
            past_window: false,
            span: None,
            any: false,
            options,
        }
    }

    /// Writes all events of a batch at once: the reader of a live trace must not wait for the next batch.
    pub fn batch(&mut self, batch: &Batch) -> io::Result<()> {
        for event in &batch.events {
            self.event(event, batch);
            if self.lines.len() >= CHUNK {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// If the window lies before the first event or after the last one: the times of both. A window in which nothing happened is no
    /// such window.
    pub fn outside(&self) -> Option<(Nanos, Nanos)> {
        let window = self.options.window;
        self.span.filter(|(first, last)| !self.any && (window.end < *first || *last < window.start))
    }

    /// Writes the summary and the rest of the buffer. Returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(tasks) = &self.tasks {
            summary::tasks(&mut self.lines, &tasks.sorted(self.options.by_name));
        }
        if let Some(places) = &self.places {
            summary::devices(&mut self.lines, places, &self.options.devices);
        }
        if self.driver_data {
            self.lines.extend_from_slice(
                b"\ndiscarded traces containing low-level device driver specific data (only available in binary output)\n",
            );
        }
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    #[inline]
    fn event(&mut self, e: &Event, batch: &Batch) {
        match e.action {
            Action::TaskName => {
                let name = batch.text(e);
                self.names.set(e.tid, e.cpu, name);
                if let Some(tasks) = &mut self.tasks {
                    tasks.rename(e.tid, name);
                }
                return;
            }
            Action::WallClock => return,
            Action::Other(_) if e.flags.has(Flags::NOTE) => return,
            _ => {}
        }
        let hidden = is_hidden_from_blkparse(e);
        let origin = match self.origin {
            Some(origin) => origin,
            None if hidden => e.time,
            None => *self.origin.insert(e.time),
        };
        let time = e.time.since(origin);
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
        self.any |= self.options.window.holds(time);
        if !self.options.window.holds(time) {
            if let Some(places) = self.places.as_mut().filter(|_| !hidden && !self.past_window) {
                places.see(e);
            }
            self.past_window |= time > self.options.window.end;
            return;
        }
        let elapsed = match &mut self.tracks {
            Some(tracks) => tracks.note(e),
            None => None,
        };
        let wanted = self.options.mask.takes(e.flags) && e.action != Action::Lost;
        if let Some(places) = self.places.as_mut().filter(|_| !hidden) {
            places.count(e, wanted);
        }
        if !wanted {
            return;
        }
        if let Some(tasks) = &mut self.tasks {
            count_task(tasks, e, elapsed.as_ref(), &mut self.names);
        }
        if e.action == Action::DriverData {
            self.driver_data = true;
        } else if !self.options.no_events {
            let format = match e.action {
                Action::Message => &self.messages,
                action => self.options.formats.of(action),
            };
            let shown = Shown { event: e, text: batch.text(e), time, elapsed: elapsed.map(|e| e.time) };
            shown.write(&mut self.lines, format, &mut self.names);
        }
    }
}

/// Messages with a cgroup's id are unknown to blkparse. They are printed, but neither start the clock nor count
/// in the summary, so that all other lines are as blkparse prints them.
fn is_hidden_from_blkparse(e: &Event) -> bool {
    e.action == Action::Message && e.cgroup != 0
}

fn count_task(tasks: &mut Tasks, e: &Event, elapsed: Option<&Elapsed>, names: &mut Names) {
    if e.action == Action::Message {
        return;
    }
    // The CPU matters only for idle tasks, which are all counted under the first CPU's name.
    let cpu = Cpu(0);
    tasks.count(e, names.get(e.tid, cpu));
    if let Some(elapsed) = elapsed {
        tasks.wait(elapsed, e.flags, names.get(elapsed.owner, cpu));
    }
}
