//! An opened recording of the ring buffer, as a [`Source`] of events.

use super::block::Blocks;
use super::contents::{Contents, Facts, SymbolText};
use super::cursor::{Cursor, Record, Step};
use super::format::{EventFormat, Formats};
use super::kallsyms::Symbols;
use super::strings::Strings;
use super::task::Tasks;
use crate::error::Error;
use crate::event::{Action, Batch, Detail, Event, Flags};
use crate::quality::Quality;
use crate::source::Source;
use std::sync::Arc;
use units::Nanos;

/// An opened recording.
#[derive(Debug)]
pub struct TraceDat {
    /// All but the formats, which the cursor has.
    contents: Contents,
    cursor: Cursor,
    blocks: Blocks,
    tasks: Tasks,
    delivered: u64,
    /// Whether the wall-clock note was given (it comes with the first event).
    wall_told: bool,
    done: bool,
}

impl TraceDat {
    pub(super) fn new(mut contents: Contents) -> Result<TraceDat, Error> {
        if let Some(doubt) = contents.facts.clock.as_deref().and_then(|name| contents.clock.doubt(name)) {
            contents.notes.push(doubt);
        }
        let formats = Arc::new(std::mem::take(&mut contents.formats));
        TraceDat::begin(formats, contents)
    }

    fn begin(formats: Arc<Formats>, contents: Contents) -> Result<TraceDat, Error> {
        let blocks = Blocks::new(&formats, &contents.cmdlines);
        let tasks = Tasks::new(&formats, long(&contents), contents.facts.machine());
        let (clock, regions) = (contents.clock, contents.regions.clone());
        let mut cursor = Cursor::new(formats, contents.facts.order, clock, regions)?;
        if contents.lacks_cpus {
            cursor.lacks_a_cpu();
        }
        Ok(TraceDat { contents, cursor, blocks, tasks, delivered: 0, wall_told: false, done: false })
    }

    /// Facts about the recording.
    pub fn facts(&self) -> &Facts {
        &self.contents.facts
    }

    /// The layouts of all events.
    pub fn formats(&self) -> &Arc<Formats> {
        self.cursor.formats()
    }

    /// Size in bytes of the kernel's `long`, as [`Stacks`](super::Stacks) needs it.
    pub fn long(&self) -> usize {
        long(&self.contents)
    }

    /// Events seen so far, used or not, each with its number of records.
    pub fn counts(&self) -> impl Iterator<Item = (&EventFormat, u64)> {
        self.cursor.counts()
    }

    /// Reads the symbols; empty if the recording has none.
    pub fn symbols(&self) -> Result<Symbols, Error> {
        match &self.contents.kallsyms {
            None => Ok(Symbols::default()),
            Some(text) => Ok(Symbols::parse(text.read()?)),
        }
    }

    /// The texts that `const char *` fields point to.
    pub fn strings(&self) -> &Strings {
        &self.contents.strings
    }

    /// The iterator over all records, for callers that need more than block events.
    pub fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    /// Reads one step: adds its block and task events to `batch` and passes the step to `see`.
    /// `false`: the trace is at its end.
    #[inline]
    pub fn step(&mut self, batch: &mut Batch, see: &mut dyn FnMut(&Step)) -> Result<bool, Error> {
        let Some(step) = self.cursor.step()? else { return Ok(false) };
        if self.tasks.needs_symbols(&step) {
            let text = self.contents.kallsyms.as_ref().map(SymbolText::read).transpose()?;
            self.tasks.set_symbols(text.map(Symbols::parse).unwrap_or_default());
        }
        if !self.wall_told {
            self.wall_told = true;
            batch.events.extend(self.contents.facts.wall_offset.and_then(|offset| wall_clock(&step, offset)));
        }
        self.blocks.take(&step, batch);
        self.tasks.take(&step, batch);
        see(&step);
        Ok(true)
    }
}

/// Size in bytes of the kernel's `long`.
fn long(contents: &Contents) -> usize {
    contents.regions.first().map_or(8, |r| r.layout.long)
}

/// A note that relates the trace's clock to the wall clock.
fn wall_clock(step: &Step, offset: i64) -> Option<Event> {
    let (&Step::Lost { time, cpu, .. } | &Step::Record(Record { time, cpu, .. })) = step;
    let nanos = i128::from(time.0) + i128::from(offset);
    let second = i128::from(Nanos::SECOND.0);
    let seconds = u32::try_from(nanos.div_euclid(second)).ok()?;
    let nanos = nanos.rem_euclid(second) as u32;
    let detail = Detail::Wall { seconds, nanos };
    Some(Event { time, cpu, action: Action::WallClock, flags: Flags::NOTE, detail, ..Event::default() })
}

impl Source for TraceDat {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        while !self.done && !batch.is_full() {
            self.done = !self.step(batch, &mut |_| {})?;
        }
        self.delivered += (batch.events.len() + batch.tasks.len()) as u64;
        Ok(!batch.is_empty())
    }

    fn again(&self) -> Option<Box<dyn Source>> {
        let again = TraceDat::begin(self.cursor.formats().clone(), self.contents.clone()).ok()?;
        Some(Box::new(again))
    }

    fn without_symbols(&mut self) {
        self.tasks.set_symbols(Symbols::default());
    }

    fn position(&self) -> u64 {
        self.cursor.position()
    }

    fn size(&self) -> Option<u64> {
        Some(self.cursor.size())
    }

    fn quality(&self) -> Quality {
        let mut q = self.cursor.quality();
        q.events = self.delivered;
        for note in &self.contents.notes {
            q.note(note.clone());
        }
        if self.blocks.twice > 0 {
            let n = self.blocks.twice;
            q.note(format!("{n} block events were recorded by a second instance too and are left out"));
        }
        let (overrun, seen) = (self.contents.facts.overrun(), q.lost_total());
        if self.done && overrun > seen {
            q.note(format!(
                "the kernel says it overwrote or dropped {overrun} events; {seen} are missing within the pages"
            ));
        }
        q
    }
}
