//! Parses one line of blkparse's default text.
//!
//! All lines begin with the same columns: device, CPU, number, time, task, action, letters (`%D %2c %8s %5T.%9t %5p
//! %2a %3d`); the rest depends on the action:
//!
//! ```text
//!   8,0    1       12     0.003100000   697  Q  WS 223490 + 8 [kjournald]     sector + sectors [task]
//!   8,0    1       13     0.003110000   697  A  WS 223490 + 8 <- (8,1) 223427 <- (device) sector there
//!   8,0    1       14     0.003120000   697  U   N [kjournald] 3              [task] requests
//!   8,0    1       15     0.003130000   697  X  WS 223490 / 223494 [md0_raid5] sector / second part [task]
//!   8,0    1       16     0.003140000     0  C  WS 223490 + 8 [0]             sector + sectors [error]
//!   8,0    1       17     0.003150000   697  D   R 36 (12 00 00 00 24 ..) [sg_inq]   passthrough: bytes (command)
//!   8,0    1        0     0.003160000     0  m   N cfq697S / insert_request   the rest is a message
//! ```

use super::actions::{action, category};
use super::rwbs::Rwbs;
use crate::event::{Action, Detail, Event, Flags};
use crate::lines::unquoted;
use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid};

/// The kind of a line.
#[derive(Debug, PartialEq)]
pub enum Line<'a> {
    /// A whole event.
    Event(Parsed<'a>),
    /// A line of the summary at the end, a blank line, or a message of blkparse itself.
    Aside,
    /// Any other line.
    Other,
}

/// An event with its texts.
#[derive(Debug, PartialEq)]
pub struct Parsed<'a> {
    /// The event; its detail is never [`Detail::Text`] yet.
    pub event: Event,
    /// The task's name; `None` if the line has none.
    pub task: Option<&'a [u8]>,
    /// The text to store in the batch.
    pub text: Text<'a>,
}

/// The text of an event, as in the line.
#[derive(Debug, PartialEq)]
pub enum Text<'a> {
    /// The event has no text.
    None,
    /// The text of a kernel message.
    Message(&'a [u8]),
    /// Bytes in hexadecimal separated by blanks, possibly with `..` at the end.
    Hex(&'a [u8]),
}

/// glibc's output for a name that blkparse does not know.
const NO_NAME: &[u8] = b"(null)";

/// How the lines of the summary and of blkparse's own messages begin, after their indent.
const ASIDE: [&[u8]; 22] = [
    b"CPU",
    b"Total (",
    b"Reads Queued:",
    b"Read Dispatches:",
    b"Reads Requeued:",
    b"Reads Completed:",
    b"Read Merges:",
    b"Read depth:",
    b"IO unplugs:",
    b"Throughput (R/W):",
    b"Events (",
    b"Skips:",
    b"Input file ",
    b"PC Reads Queued:",
    b"PC Read Disp.:",
    b"PC Reads Req.:",
    b"PC Reads Compl.:",
    b"Allocation wait:",
    b"Dispatch wait:",
    b"Completion wait:",
    b"discarded traces containing",
    b"Bad fs action",
];

/// Parses a line (without its end). Quote marks and indent are ignored.
pub fn parse(line: &[u8]) -> Line<'_> {
    let rest = unquoted(line);
    if rest.is_empty() {
        return Line::Aside;
    }
    if let Some(parsed) = event(rest) {
        return Line::Event(parsed);
    }
    if ASIDE.iter().any(|a| rest.starts_with(a)) {
        return Line::Aside;
    }
    Line::Other
}

/// Whether a line begins like an event. If it is no whole event, a mailer may have wrapped it.
pub fn breaks_off(line: &[u8]) -> bool {
    let mut c = Cursor { rest: unquoted(line) };
    c.device().is_some() && c.place_and_time().is_some()
}

/// Parses an event that is the whole line, or the event before a remark that a reader added (`[fio]   <-- here`).
fn event(line: &[u8]) -> Option<Parsed<'_>> {
    let strict = whole(line);
    // Names may contain brackets. A name that exceeds the limit may include the remark.
    match &strict {
        Some(p) if p.task.is_none_or(|name| name.len() <= LONGEST_NAME) => strict,
        _ => before_remark(line).and_then(whole).or(strict),
    }
}

/// The longest name of a task, in bytes (`TASK_COMM_LEN` without the final zero).
const LONGEST_NAME: usize = 15;

/// The line up to its first closing bracket (for an unplug, up to the number after the bracket) if the rest is a remark: separated by more than
/// one blank or starting with a punctuation character. A word after a single blank may belong to a truncated name.
fn before_remark(line: &[u8]) -> Option<&[u8]> {
    let end = line.windows(2).position(|w| w[0] == b']' && w[1].is_ascii_whitespace())? + 1;
    let number = line[end..].trim_ascii_start();
    let digits = number.iter().take_while(|c| c.is_ascii_digit()).count();
    let with_number = line.len() - number.len() + digits;
    let unplug = digits > 0 && whole(&line[..with_number]).is_some();
    let (event, remark) = line.split_at(if unplug { with_number } else { end });
    let text = remark.trim_ascii_start();
    let sign = text.first().is_some_and(|c| c.is_ascii_punctuation() && !b"[]".contains(c));
    let blanks = remark.len() - text.len();
    (blanks > 1 || remark.starts_with(b"\t") || blanks > 0 && sign).then_some(event)
}

fn whole(line: &[u8]) -> Option<Parsed<'_>> {
    let mut c = Cursor { rest: line };
    let dev = c.device()?;
    let (cpu, sequence, time) = c.place_and_time()?;
    let tid = Tid(c.number()?);
    let action = action(c.word()?)?;
    let letters = Rwbs::parse(c.word()?)?;
    let mut event = Event {
        time,
        dev,
        tid,
        cpu,
        sequence,
        action,
        flags: letters.with(category(action)),
        ..Event::default()
    };
    if action == Action::Message {
        let text = Text::Message(c.rest.strip_prefix(b" ").unwrap_or(c.rest));
        return Some(Parsed { event, task: None, text });
    }
    let text = c.tail(&mut event)?;
    if !event.flags.has(Flags::PASSTHROUGH) {
        event.flags = event.flags.with(Flags::FS);
    }
    let task = match action {
        Action::Complete | Action::Requeue => {
            event.error = c.bracket()?.number()?;
            None
        }
        Action::Remap if c.is_at_end() => None,
        _ => Some(c.bracket()?.rest).filter(|name| *name != NO_NAME),
    };
    if matches!(action, Action::Unplug | Action::UnplugImplicit) && !c.is_at_end() {
        event.detail = Detail::Requests(c.number()?);
    }
    c.is_at_end().then_some(Parsed { event, task, text })
}

/// The unparsed rest of a line.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', more @ ..] = self.rest {
            self.rest = more;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty()
    }

    /// Consumes `c` if it is the next character.
    fn eat(&mut self, c: u8) -> bool {
        match self.rest {
            [first, more @ ..] if *first == c => {
                self.rest = more;
                true
            }
            _ => false,
        }
    }

    fn next_is(&mut self, c: u8) -> bool {
        self.skip_blanks();
        self.rest.first() == Some(&c)
    }

    /// The value of the next digits, and their count.
    fn digits(&mut self) -> Option<(u64, u32)> {
        let (mut value, mut count) = (0u64, 0);
        while let [d @ b'0'..=b'9', more @ ..] = self.rest {
            value = value.checked_mul(10)?.checked_add(u64::from(d - b'0'))?;
            count += 1;
            self.rest = more;
        }
        (count > 0).then_some((value, count))
    }

    /// The next number, if it is a whole word and fits into `T`.
    fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        self.skip_blanks();
        let (value, _) = self.digits()?;
        matches!(self.rest.first(), None | Some(b' ' | b'\t')).then_some(())?;
        value.try_into().ok()
    }

    /// The next word, up to a blank.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let end = self.rest.iter().position(|&c| c == b' ' || c == b'\t').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Parses a device: `8,16`.
    fn device(&mut self) -> Option<DevId> {
        let (major, _) = self.digits()?;
        self.eat(b',').then_some(())?;
        let (minor, _) = self.digits()?;
        (major < 1 << 12 && minor < 1 << 20).then(|| DevId::new(major as u32, minor as u32))
    }

    /// Parses CPU, number and time. CPU and number may be missing (as in slides); they are then 0.
    fn place_and_time(&mut self) -> Option<(Cpu, u32, Nanos)> {
        self.skip_blanks();
        let (first, _) = self.digits()?;
        if self.eat(b'.') {
            return Some((Cpu(0), 0, self.time(first)?));
        }
        let sequence = self.number()?;
        self.skip_blanks();
        let (seconds, _) = self.digits()?;
        self.eat(b'.').then_some(())?;
        Some((Cpu(first.try_into().ok()?), sequence, self.time(seconds)?))
    }

    /// Parses the fraction of a time, after the point.
    fn time(&mut self, seconds: u64) -> Option<Nanos> {
        let (fraction, digits) = self.digits()?;
        let scale = 10u64.pow(9u32.checked_sub(digits)?);
        seconds.checked_mul(Nanos::SECOND.0)?.checked_add(fraction * scale).map(Nanos)
    }

    /// Parses the part between the letters and the brackets into `event`.
    fn tail(&mut self, event: &mut Event) -> Option<Text<'a>> {
        match event.action {
            Action::Plug | Action::Unplug | Action::UnplugImplicit => Some(Text::None),
            Action::Split => {
                event.sector = Sector(self.number()?);
                (self.word()? == b"/").then_some(())?;
                event.detail = Detail::Split(Sector(self.number()?));
                Some(Text::None)
            }
            Action::Remap => {
                self.extent(event)?;
                if self.next_is(b'<') {
                    event.detail = self.origin()?;
                }
                Some(Text::None)
            }
            Action::Complete | Action::Requeue if self.next_is(b'(') => {
                event.flags = event.flags.with(Flags::PASSTHROUGH);
                self.hex()
            }
            Action::Complete | Action::Requeue if self.next_is(b'[') => {
                event.flags = event.flags.with(Flags::PASSTHROUGH);
                Some(Text::None)
            }
            _ if self.next_is(b'[') => Some(Text::None),
            _ => {
                let alone = self.extent(event)?;
                let completed = matches!(event.action, Action::Complete | Action::Requeue);
                if alone && !completed {
                    // A single number is the length in bytes of a passthrough request.
                    event.flags = event.flags.with(Flags::PASSTHROUGH);
                    event.bytes = Bytes(std::mem::take(&mut event.sector.0));
                    return if self.next_is(b'(') { self.hex() } else { Some(Text::None) };
                }
                if self.next_is(b'(') {
                    self.elapsed()?;
                }
                Some(Text::None)
            }
        }
    }

    /// Parses `sector + sectors`, or `sector` alone (then returns `true`).
    fn extent(&mut self, event: &mut Event) -> Option<bool> {
        event.sector = Sector(self.number()?);
        if !self.next_is(b'+') {
            return Some(true);
        }
        self.eat(b'+');
        event.bytes = Bytes::from_sectors(self.number()?);
        Some(false)
    }

    /// Parses the origin of a remap: `<- (8,1) 223427`.
    fn origin(&mut self) -> Option<Detail> {
        (self.word()? == b"<-").then_some(())?;
        self.skip_blanks();
        self.eat(b'(').then_some(())?;
        let dev = self.device()?;
        self.eat(b')').then_some(())?;
        Some(Detail::Remap { dev, sector: Sector(self.number()?) })
    }

    /// Parses a command in hexadecimal: `(12 00 ..)`.
    fn hex(&mut self) -> Option<Text<'a>> {
        self.eat(b'(').then_some(())?;
        let end = self.rest.iter().position(|&c| c == b')')?;
        let (inside, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        bytes_of_hex(inside).all(|b| b.is_some()).then_some(Text::Hex(inside))
    }

    /// Skips `(    1000)`, the time since the previous step (`blkparse -t`), which the events already imply.
    fn elapsed(&mut self) -> Option<()> {
        self.eat(b'(').then_some(())?;
        self.skip_blanks();
        self.digits()?;
        self.eat(b')').then_some(())
    }

    /// Parses `[kworker/0:1H]`: the text between the first and the last bracket, as names may contain brackets.
    fn bracket(&mut self) -> Option<Cursor<'a>> {
        self.skip_blanks();
        self.eat(b'[').then_some(())?;
        let end = self.rest.iter().rposition(|&c| c == b']')?;
        let (inside, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Some(Cursor { rest: inside })
    }
}

/// The bytes of a text like `12 00 24 ..`; `None` for a word that is not a byte.
pub fn bytes_of_hex(text: &[u8]) -> impl Iterator<Item = Option<u8>> + '_ {
    text.split(|c| *c == b' ').filter(|w| !w.is_empty() && *w != b"..").map(|w| {
        let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
        match w {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        }
    })
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
