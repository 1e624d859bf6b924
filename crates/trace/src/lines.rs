//! Reads a text of any length line by line, each line whole in a buffer of fixed size.

use crate::error::Error;
use crate::input::Input;

/// The longest line that is read. A passthrough command of 65535 bytes, the longest possible payload, makes a
/// line of 192 KiB.
pub(crate) const MAX_LINE: usize = 256 * 1024;

/// Size of the buffer: room for the longest line and a large read after it.
pub(crate) const BUFFER: usize = 2 * MAX_LINE;

/// Most parts that a mailer makes of one line; LTTng's lines are the longest.
const MOST_PARTS: u64 = 4;
/// Most letters in the name of a quoted person, which some mailers put before the quote mark.
const MOST_OF_NAME: usize = 12;

/// An incomplete line that a mailer may have wrapped: the next line may continue it.
#[derive(Default)]
pub(crate) struct Held {
    /// The lines held so far, joined by blanks.
    pub text: Vec<u8>,
    /// Number of lines held; 0 if none.
    pub lines: u64,
    /// Number of the first held line in the text.
    pub number: u64,
}

impl Held {
    /// Starts to hold a line.
    pub fn begin(&mut self, line: &[u8], number: u64) {
        self.text.clear();
        self.text.extend_from_slice(line);
        (self.lines, self.number) = (1, number);
    }

    /// Appends a line to what is held; `false` if nothing is held.
    pub fn add(&mut self, line: &[u8]) -> bool {
        if self.lines > 0 {
            self.text.push(b' ');
            self.text.extend_from_slice(line);
            self.lines += 1;
        }
        self.lines > 0
    }

    /// Uncounts the last line: it belongs to something else.
    pub fn without_last(&mut self) {
        self.lines = self.lines.saturating_sub(1);
    }

    /// Whether the limit of parts is reached.
    pub fn is_full(&self) -> bool {
        self.lines >= MOST_PARTS
    }
}

/// Removes indent, quote marks and the name of a quoted person (`Ada> `) from the start of a line.
pub(crate) fn unquoted(mut line: &[u8]) -> &[u8] {
    let blank = |c: &u8| [b' ', b'\t'].contains(c);
    let name = line.trim_ascii_start();
    let letters = name.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    let rest = name.get(letters..).and_then(|rest| rest.strip_prefix(b">"));
    if let Some(rest) =
        rest.filter(|rest| (1..=MOST_OF_NAME).contains(&letters) && rest.first().is_some_and(blank))
    {
        line = rest;
    }
    while let [b' ' | b'\t' | b'>', more @ ..] = line {
        line = more;
    }
    line
}

/// Iterates over the lines of a text.
pub(crate) struct Lines {
    pub input: Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Number of lines read so far.
    pub number: u64,
    /// Bytes of lines that were too long, and the message about the first of them.
    pub dropped: Option<(u64, String)>,
}

impl Lines {
    pub fn open(input: Input) -> Lines {
        Lines { input, buffer: vec![0; BUFFER], start: 0, end: 0, at_end: false, number: 0, dropped: None }
    }

    /// Finds the next line and returns its start and end in the buffer; `None` at the end of the input.
    pub fn next(&mut self) -> Result<Option<(usize, usize)>, Error> {
        let mut searched = 0;
        loop {
            let window = &self.buffer[self.start + searched..self.end];
            if let Some(at) = memchr::memchr(b'\n', window) {
                let line = (self.start, self.start + searched + at);
                self.start = line.1 + 1;
                self.number += 1;
                return Ok(Some(line));
            }
            searched += window.len();
            if self.at_end {
                let line = (self.start, self.end);
                self.start = self.end;
                self.number += 1;
                return Ok((line.0 < line.1).then_some(line));
            }
            if searched > MAX_LINE {
                self.skip_long_line()?;
                searched = 0;
            } else {
                self.refill()?;
            }
        }
    }

    /// The bytes of the line that [`Lines::next`] just returned.
    pub fn bytes(&self, (start, end): (usize, usize)) -> &[u8] {
        &self.buffer[start..end]
    }

    /// Drops a line that is too long, including its end.
    #[cold]
    fn skip_long_line(&mut self) -> Result<(), Error> {
        let mut dropped = 0u64;
        loop {
            let window = &self.buffer[self.start..self.end];
            let found = memchr::memchr(b'\n', window);
            let step = found.map_or(window.len(), |at| at + 1);
            dropped += step as u64;
            self.start += step;
            if found.is_some() || self.at_end {
                break;
            }
            self.refill()?;
        }
        self.number += 1;
        let words = format!(
            "{}: line {} is {dropped} bytes long and was left out (the longest is {MAX_LINE})",
            self.input.name(),
            self.number
        );
        let (all, first) = self.dropped.take().unwrap_or((0, words));
        self.dropped = Some((all + dropped, first));
        Ok(())
    }

    fn refill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let got = self.input.read(&mut self.buffer[self.end..])?;
        self.end += got;
        self.at_end = got == 0;
        Ok(())
    }
}
