//! Reads a file of blkparse's text as a source of events.
//!
//! Invariant: every line is an event, part of one that a mailer wrapped, an aside (the summary, blank lines), or counted in
//! [`Quality::unknown`]; a note has the number of the first such line. Events keep the order of the lines, which
//! blkparse has sorted. Missing sequence numbers are ignored, since people paste excerpts.

use super::line::{breaks_off, bytes_of_hex, parse, Line, Parsed, Text};
use super::own::formats::Formats;
use crate::error::Error;
use crate::event::{Action, Batch, Detail, Event, Flags};
use crate::input::Input;
use crate::lines::{unquoted, Held, Lines};
use crate::quality::Quality;
use crate::source::Source;
use crate::task_names::TaskNames;
use units::{Bytes, Nanos, Sector};

/// Parses blkparse's text, in the default format or in a custom one.
pub struct BlkparseText {
    lines: Lines,
    /// The custom formats, if the text has them.
    own: Option<Formats>,
    taken: Taken,
    /// Buffer for a table row without its bars.
    scratch: Vec<u8>,
    held: Held,
}

/// State across lines.
#[derive(Default)]
struct Taken {
    /// Number and beginning of the first line that is not an event.
    first_other: Option<(u64, String)>,
    names: TaskNames,
    clock: Nanos,
    /// Buffer for the decoded bytes of a command.
    hex: Vec<u8>,
    quality: Quality,
}

/// Whether a file with this start contains blkparse's text: one of its first lines is an event, possibly wrapped.
pub fn looks_like(start: &[u8]) -> bool {
    has(start, |_| true)
}

/// Whether any of the lines is I/O. Messages alone do not count, since they look the same in every format.
pub fn has_io(start: &[u8]) -> bool {
    has(start, |action| action != Action::Message)
}

fn has(start: &[u8], wanted: impl Fn(Action) -> bool) -> bool {
    let (mut scratch, mut held) = (Vec::new(), Held::default());
    let fits = |line: &[u8]| matches!(parse(line), Line::Event(Parsed { event, .. }) if wanted(event.action));
    start.split(|c| *c == b'\n').any(|line| {
        let line = bare(line, &mut scratch);
        if fits(line) || held.add(unquoted(line)) && fits(&held.text) {
            return true;
        }
        match breaks_off(line) {
            true => held.begin(unquoted(line), 0),
            false if held.is_full() => held.lines = 0,
            false => {}
        }
        false
    })
}

/// Removes what a terminal, a mail or a table put around a line.
fn bare<'a>(line: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.trim_ascii_start().first() != Some(&b'|') {
        return line;
    }
    scratch.clear();
    scratch.extend(line.iter().map(|&c| if c == b'|' { b' ' } else { c }));
    scratch.trim_ascii()
}

impl BlkparseText {
    /// Reads text from `input`.
    pub fn open(input: Input) -> BlkparseText {
        let lines = Lines::open(input);
        BlkparseText { lines, own: None, taken: Taken::default(), scratch: Vec::new(), held: Held::default() }
    }

    /// Reads text in custom formats from `input`.
    pub fn open_own(input: Input, formats: Formats) -> BlkparseText {
        BlkparseText { own: Some(formats), ..BlkparseText::open(input) }
    }

    /// Parses a line in a custom format; messages and the summary are in blkparse's own format.
    fn take_own(&mut self, line: (usize, usize), batch: &mut Batch) {
        let line = self.lines.bytes(line);
        match self.own.as_ref().and_then(|formats| formats.read(line)) {
            Some(parsed) => self.taken.event(parsed, batch),
            None if !matches!(parse(line), Line::Other) => {}
            None => self.taken.other(self.lines.number, line),
        }
    }

    fn take_line(&mut self, line: (usize, usize), batch: &mut Batch) {
        let number = self.lines.number;
        let line = bare(self.lines.bytes(line), &mut self.scratch);
        match parse(line) {
            Line::Event(parsed) => {
                self.taken.give_up(&mut self.held);
                self.taken.event(parsed, batch);
            }
            Line::Aside => self.taken.give_up(&mut self.held),
            Line::Other if self.held.add(unquoted(line)) => {
                if let Line::Event(parsed) = parse(&self.held.text) {
                    self.taken.event(parsed, batch);
                    self.held.lines = 0;
                } else if breaks_off(line) {
                    self.held.without_last();
                    self.taken.give_up(&mut self.held);
                    self.held.begin(unquoted(line), number);
                } else if self.held.is_full() {
                    self.taken.give_up(&mut self.held);
                }
            }
            Line::Other if breaks_off(line) => self.held.begin(unquoted(line), number),
            Line::Other => self.taken.other(number, line),
        }
    }
}

impl Taken {
    fn event(&mut self, Parsed { mut event, task, text }: Parsed, batch: &mut Batch) {
        if event.time < self.clock {
            self.quality.out_of_order += 1;
        }
        self.clock = self.clock.max(event.time);
        if let Some(name) = task.and_then(|name| self.names.learn(event.tid, name)) {
            let detail = batch.store(name);
            batch.events.push(name_note(&event, detail));
            self.quality.events += 1;
        }
        event.detail = match text {
            Text::None => event.detail,
            Text::Message(m) => batch.store(m),
            Text::Hex(h) => {
                self.hex.clear();
                self.hex.extend(bytes_of_hex(h).flatten());
                batch.store(&self.hex)
            }
        };
        batch.events.push(event);
        self.quality.events += 1;
    }

    fn other(&mut self, number: u64, line: &[u8]) {
        self.quality.unknown += 1;
        if self.first_other.is_none() {
            let begin = &line[..line.len().min(60)];
            self.first_other = Some((number, String::from_utf8_lossy(begin).into_owned()));
        }
    }

    /// Counts the held lines as unknown: they are no event.
    fn give_up(&mut self, held: &mut Held) {
        for part in 0..held.lines {
            self.other(held.number + part, &held.text);
        }
        held.lines = 0;
    }
}

/// A note with the task's name, placed before the first event with this name.
fn name_note(event: &Event, detail: Detail) -> Event {
    Event {
        action: Action::TaskName,
        flags: Flags::NOTE,
        detail,
        sector: Sector(0),
        bytes: Bytes(0),
        sequence: 0,
        error: 0,
        ..*event
    }
}

impl Source for BlkparseText {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        while !batch.is_full() {
            match self.lines.next()? {
                Some(line) if self.own.is_some() => self.take_own(line, batch),
                Some(line) => self.take_line(line, batch),
                None => {
                    self.taken.give_up(&mut self.held);
                    break;
                }
            }
        }
        Ok(!batch.events.is_empty())
    }

    fn position(&self) -> u64 {
        self.lines.input.position()
    }

    fn size(&self) -> Option<u64> {
        self.lines.input.size()
    }

    fn quality(&self) -> Quality {
        let mut q = self.taken.quality.clone();
        if let Some(formats) = &self.own {
            q.note(format!(
                "{}: blkparse's lines in a format of their own: {}",
                self.lines.input.name(),
                formats.words()
            ));
            if !formats.has_task() {
                q.note(
                    "the lines do not say which task sent what: all I/O is attributed to one task, \
                     \"somebody\""
                        .into(),
                );
            }
            if !formats.has_device() {
                q.note("the lines do not say which device they are of: all are attributed to one".into());
            }
        }
        if let Some((bytes, words)) = &self.lines.dropped {
            q.damaged_bytes += bytes;
            q.note(words.clone());
        }
        if let Some((number, begin)) = &self.taken.first_other {
            let more = match q.unknown {
                0 | 1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            q.note(format!(
                "{}: line {number}{more} is not an event of blkparse's: {begin:?}",
                self.lines.input.name()
            ));
        }
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::BUFFER;
    use std::path::PathBuf;

    fn read(text: &[u8]) -> (Vec<String>, Quality) {
        let input = Input::from_reader(
            PathBuf::from("paste.txt"),
            Box::new(std::io::Cursor::new(text.to_vec())),
            None,
        );
        let mut source = BlkparseText::open(input.unwrap());
        let (mut batch, mut seen) = (Batch::default(), Vec::new());
        while source.fill(&mut batch).unwrap() {
            for e in &batch.events {
                let text = String::from_utf8_lossy(batch.text(e)).into_owned();
                seen.push(format!("{} {:?} {} {text}", e.time.0, e.action, e.tid.0));
            }
        }
        (seen, source.quality())
    }

    #[test]
    fn names_are_told_when_they_first_appear_or_change() {
        let (seen, _) = read(
            b"  8,0    0        1     0.000000000   100  Q   R 0 + 8 [fio]\n\
              8,0    0        2     0.000000005   100  G   R 0 + 8 [fio]\n\
              8,0    0        3     0.000000007   100  I   R 0 + 8 [(null)]\n\
              8,0    0        4     0.000000009   100  D   R 0 + 8 [dd]\n",
        );
        let wanted = [
            "0 TaskName 100 fio",
            "0 Queue 100 ",
            "5 Get 100 ",
            "7 Insert 100 ",
            "9 TaskName 100 dd",
            "9 Issue 100 ",
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn what_is_no_event_is_counted_and_shown_once() {
        let (seen, quality) = read(
            b"Hi all,\n\n> 8,0 0 1 0.5 100 Q R 0 + 8 [fio]\r\n> 8,0 0 1 0.5 100 Q R 0 + 8 [fi\n\
              CPU0 (sda):\n Reads Queued:           1,        4KiB\n\
              Throughput (R/W): 0KiB/s / 0KiB/s\nEvents (sda): 1 entries\n",
        );
        assert_eq!(seen.len(), 2);
        assert_eq!(quality.unknown, 2);
        assert_eq!(
            quality.notes,
            ["paste.txt: line 1 (and 1 more) is not an event of blkparse's: \"Hi all,\""]
        );
    }

    #[test]
    fn lines_that_a_mailer_wrapped_are_one_again() {
        let text = b"> Here it is:\n> 8,0 0 1 0.1 100 Q WS 0 + 8\n> [btrfs-transacti]\n> 8,0 0 2 0.2 100 D WS 0 + 8\n>\n\
            > [btrfs-transacti] it is slow:\nAda> 8,0 0 3 0.3 0\nAda> C WS 0 +\nAda> 8 [0]\n> 8,0 0 4 0.4 100 Q WS 8 + 8\n> 8,0 0 5 0.5 100 Q WS 8 + 8 [a]\n";
        let (seen, quality) = read(text);
        let wanted =
            ["100000000 TaskName 100 btrfs-transacti", "100000000 Queue 100 ", "300000000 Complete 0 "];
        assert_eq!(seen[..3], wanted);
        assert_eq!(seen[3..], ["500000000 TaskName 100 a", "500000000 Queue 100 "]);
        // Counted are the greeting, the line broken by a blank line together with its rest, and the line without an end.
        assert_eq!(quality.unknown, 4, "{:?}", quality.notes);
        assert!(looks_like(b"Hi,\n> 8,0 0 1 0.1 100 Q WS 0 + 8\n> [btrfs-transacti]\n"));
    }

    #[test]
    fn rows_of_a_table_are_read() {
        let (seen, quality) =
            read(b"| 8,0 | 29 | 11 | 0.000755350 | 0 | D | WS | 83927304 | + | 2048 | [swapper/0] |\n");
        assert_eq!(seen, ["755350 TaskName 0 swapper/0", "755350 Issue 0 "]);
        assert_eq!(quality.unknown, 0);
    }

    #[test]
    fn a_line_without_end_does_not_grow_the_buffer() {
        let mut text = b"8,0 0 1 0.1 100 Q R 0 + 8 [fio]\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 3 * BUFFER));
        text.extend(b"\n8,0 0 2 0.2 100 Q R 8 + 8 [fio]");
        let (seen, quality) = read(&text);
        assert_eq!(seen, ["100000000 TaskName 100 fio", "100000000 Queue 100 ", "200000000 Queue 100 "]);
        assert_eq!(quality.damaged_bytes, 3 * BUFFER as u64 + 1);
        assert!(quality.notes[0].contains("line 2"), "{:?}", quality.notes);
    }

    #[test]
    fn times_that_go_back_are_counted() {
        let (_, quality) = read(b"8,0 0 1 0.5 1 Q R 0 + 8 [a]\n8,0 0 2 0.4 1 Q R 0 + 8 [a]\n");
        assert_eq!(quality.out_of_order, 1);
    }

    #[test]
    fn the_format_is_recognised_behind_a_greeting() {
        assert!(looks_like(
            b"Hello,\n\n>  8,0    0        1     0.000000000   100  Q   R 0 + 8 [fio]\n> 8,0"
        ));
        assert!(!looks_like(b"Hello,\n8,0 is my disk\n"));
        assert!(!looks_like(b""));
    }
}
