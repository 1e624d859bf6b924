//! Takes batches of events, writes lines.
//!
//! Lines are gathered in one buffer that goes out when it is full, so an event costs no allocation and no
//! system call. What a closed pipe returns (`BrokenPipe`) is handed on to the caller, which ends there.

use super::format::{Format, Formats};
use super::line::Shown;
use super::names::Names;
use super::select::{Mask, Window};
use super::summary;
use super::tally::{Places, Tasks};
use super::track::{Elapsed, Tracks};
use std::io::{self, Write};
use trace::{Action, Batch, Cpu, DevId, Event, Flags, Nanos};

/// The buffer goes out when it holds this much: a pipe's worth.
const CHUNK: usize = 64 * 1024;

/// What to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How a line looks.
    pub formats: Formats,
    /// Which kinds of events.
    pub mask: Mask,
    /// Of which time.
    pub window: Window,
    /// No events, only the summary (`-O`).
    pub no_events: bool,
    /// No summary (`-q`).
    pub quiet: bool,
    /// A block per task (`-s`).
    pub per_task: bool,
    /// Tasks of one name together in it (`-h`).
    pub by_name: bool,
    /// The time of each step (`-t`).
    pub track: bool,
    /// Times as the recording has them. Otherwise they count from the first event.
    pub own_times: bool,
    /// What devices are called in the summary, in its order; others are called by their numbers.
    pub devices: Vec<(DevId, String)>,
}

/// Writes events as text.
pub struct Printer<W> {
    out: W,
    lines: Vec<u8>,
    options: Options,
    messages: Format,
    /// Time of the first event: the zero of all that is printed.
    origin: Option<Nanos>,
    names: Names,
    tracks: Option<Tracks>,
    places: Option<Places>,
    tasks: Option<Tasks>,
    driver_data: bool,
    /// An event behind the window was seen. blkparse reads no further, so a CPU whose first event comes even
    /// later has no block in its summary.
    past_window: bool,
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
            options,
        }
    }

    /// Writes the events of a batch, all of them: who watches a live trace waits for no second batch.
    pub fn batch(&mut self, batch: &Batch) -> io::Result<()> {
        for event in &batch.events {
            self.event(event, batch);
            if self.lines.len() >= CHUNK {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Writes the summary and what is left in the buffer. Gives the output back.
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
/// in the summary, so that all other lines are the same.
fn is_hidden_from_blkparse(e: &Event) -> bool {
    e.action == Action::Message && e.cgroup != 0
}

fn count_task(tasks: &mut Tasks, e: &Event, elapsed: Option<&Elapsed>, names: &mut Names) {
    if e.action == Action::Message {
        return;
    }
    // Matters for idle tasks only, which are all counted under the first CPU's name.
    let cpu = Cpu(0);
    tasks.count(e, names.get(e.tid, cpu));
    if let Some(elapsed) = elapsed {
        tasks.wait(elapsed, e.flags, names.get(elapsed.owner, cpu));
    }
}
