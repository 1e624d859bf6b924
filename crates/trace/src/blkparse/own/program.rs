//! A format of `blkparse -f` as a program that parses lines: fields, and the literal texts between them.

use super::super::actions::{action, category};
use super::super::line::{Parsed, Text};
use super::super::rwbs::Rwbs;
use crate::event::{Action, Detail, Event, Flags};
use crate::lines::unquoted;
use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid};

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Literal text, without blanks around it; empty if there are only blanks.
    Text(Vec<u8>),
    /// A field, by blkparse's letter; `?` is a word that is ignored.
    Field(u8),
}

/// A format, ready to parse lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    steps: Vec<Step>,
    /// The action of its lines (`-F`), which the lines then need not contain.
    of: Option<Action>,
}

/// Required fields: the accepted letters and the name in messages.
const NEEDED: [(&[u8], &str); 6] = [
    (b"T", "%T (seconds)"),
    (b"t", "%t (nanoseconds)"),
    (b"a", "%a (action)"),
    (b"d", "%d (kind)"),
    (b"S", "%S (sector)"),
    (b"nN", "%n (sectors) or %N (bytes)"),
];
const FIELDS: &[u8] = b"acCdDemMnNpPsStTuU";
/// Most steps of a format.
const MOST_STEPS: usize = 128;

impl Program {
    /// Builds a program from steps; an error names the missing fields.
    pub fn of(steps: Vec<Step>, of: Option<Action>) -> Result<Program, String> {
        let given = |letters: &[u8]| of.is_some() && letters == b"a";
        let has = |letters: &[u8]| {
            given(letters) || steps.iter().any(|s| matches!(s, Step::Field(f) if letters.contains(f)))
        };
        let missing: Vec<&str> =
            NEEDED.iter().filter(|(letters, _)| !has(letters)).map(|(_, name)| *name).collect();
        if !missing.is_empty() {
            return Err(format!("which lacks {}", missing.join(", ")));
        }
        let touch = |two: &[Step]| matches!(two, [Step::Field(_), Step::Field(_)]);
        match steps.windows(2).any(touch) {
            true => Err("in which fields touch one another".into()),
            false => Ok(Program { steps, of }),
        }
    }

    /// Parses a format, for all lines or for those of one action. Fields with a width may have blanks before them.
    pub fn parse(format: &str, of: Option<Action>) -> Result<Program, String> {
        let mut steps: Vec<Step> = vec![];
        let mut text: Vec<u8> = vec![];
        let mut bytes = format.bytes().peekable();
        while let Some(b) = bytes.next() {
            match b {
                // `\n`, `\t`
                b'\\' => {
                    bytes.next();
                    text.push(b' ');
                }
                b'%' if bytes.next_if_eq(&b'%').is_some() => text.push(b'%'),
                b'%' => {
                    let mut wide = bytes.next_if_eq(&b'-').is_some();
                    while bytes.next_if(u8::is_ascii_digit).is_some() {
                        wide = true;
                    }
                    let field = bytes
                        .next()
                        .filter(|f| FIELDS.contains(f))
                        .ok_or("which has a field that is none")?;
                    // The nanoseconds follow directly after the point.
                    if wide && field != b't' {
                        text.push(b' ');
                    }
                    if !text.is_empty() {
                        steps.push(Step::Text(std::mem::take(&mut text).trim_ascii().to_vec()));
                    }
                    steps.push(Step::Field(field));
                }
                other => text.push(other),
            }
            if steps.len() > MOST_STEPS {
                return Err("which is longer than any".into());
            }
        }
        steps.push(Step::Text(text.trim_ascii().to_vec()));
        Program::of(steps, of)
    }

    /// The fields in words, for the note about the text.
    pub fn words(&self) -> String {
        let name = |step: &Step| match step {
            Step::Field(b'S') => Some("sector"),
            Step::Field(b'n') => Some("sectors"),
            Step::Field(b'N') => Some("bytes"),
            Step::Field(b'D' | b'M') => Some("device"),
            Step::Field(b'p') => Some("task"),
            Step::Field(b'C') => Some("name"),
            Step::Field(b'c') => Some("CPU"),
            Step::Field(b'e') => Some("error"),
            _ => None,
        };
        let all: Vec<&str> = self.steps.iter().filter_map(name).collect();
        format!("time, action, kind, {}", all.join(", "))
    }

    /// Whether the lines name the device.
    pub fn has_device(&self) -> bool {
        self.steps.iter().any(|s| matches!(s, Step::Field(b'D' | b'M')))
    }

    /// Whether the lines name the task.
    pub fn has_task(&self) -> bool {
        self.steps.contains(&Step::Field(b'p'))
    }

    /// Parses a line (without its end); `None` if it is no event of this format.
    pub fn read<'a>(&self, line: &'a [u8]) -> Option<Parsed<'a>> {
        let mut rest = unquoted(line).trim_ascii_end();
        let mut found = Fields { action: self.of, ..Fields::default() };
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Text(text) => {
                    rest = rest.trim_ascii_start().strip_prefix(&text[..])?;
                }
                Step::Field(field) => {
                    let blanks = rest.len() - rest.trim_ascii_start().len();
                    // No blank is allowed before the nanoseconds.
                    (blanks == 0 || *field != b't').then_some(())?;
                    rest = found.take(*field, rest.trim_ascii_start(), self.steps.get(at + 1))?;
                }
            }
        }
        rest.trim_ascii().is_empty().then_some(())?;
        found.event()
    }
}

/// Task name if the lines have no task numbers.
const UNKNOWN: &[u8] = b"somebody";
/// The letters of numeric fields.
const NUMBERS: &[u8; 13] = b"ceMmnNpsStTuU";

/// The values of one line's fields.
#[derive(Default)]
struct Fields<'a> {
    action: Option<Action>,
    flags: Flags,
    /// Values of numeric fields, in the order of [`NUMBERS`].
    numbers: [Option<u64>; NUMBERS.len()],
    device: Option<DevId>,
    name: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn number(&self, letter: u8) -> Option<u64> {
        self.numbers[NUMBERS.iter().position(|l| *l == letter)?]
    }

    /// Parses one field at the start of `rest`; returns the text after it.
    fn take(&mut self, field: u8, rest: &'a [u8], next: Option<&Step>) -> Option<&'a [u8]> {
        let word_end = |rest: &[u8]| rest.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(rest.len());
        match field {
            b'a' => {
                let (word, rest) = rest.split_at(word_end(rest));
                self.action = Some(action(word)?);
                Some(rest)
            }
            b'd' => {
                let (word, rest) = rest.split_at(word_end(rest));
                self.flags = Rwbs::parse(word)?;
                Some(rest)
            }
            b'D' => {
                let (major, rest) = digits(rest)?;
                let (minor, rest) = digits(rest.strip_prefix(b",")?.trim_ascii_start())?;
                self.device = Some(device(major, minor)?);
                Some(rest)
            }
            b'C' | b'?' | b'P' => {
                let end = match next {
                    Some(Step::Text(text)) if !text.is_empty() => {
                        rest.windows(text.len()).position(|w| w == &text[..])?
                    }
                    // A name may contain blanks only if nothing follows it.
                    Some(Step::Text(_)) if field != b'P' => {
                        rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len())
                    }
                    _ => rest.len(),
                };
                let (word, rest) = rest.split_at(end);
                if field == b'C' {
                    self.name = Some(word.trim_ascii_end());
                }
                Some(rest)
            }
            letter => {
                // An error may be negative, as in the kernel.
                let rest = rest.strip_prefix(b"-").filter(|_| letter == b'e').unwrap_or(rest);
                // Step times and payload numbers are missing for some actions.
                if b"uU".contains(&letter) && !rest.first().is_some_and(u8::is_ascii_digit) {
                    return Some(rest);
                }
                let (value, rest) = digits(rest)?;
                self.numbers[NUMBERS.iter().position(|l| *l == letter)?] = Some(value);
                Some(rest)
            }
        }
    }

    fn event(self) -> Option<Parsed<'a>> {
        let action = self.action?;
        let nanos = self.number(b't').filter(|n| *n < Nanos::SECOND.0)?;
        let time = Nanos(self.number(b'T')?.checked_mul(Nanos::SECOND.0)?.checked_add(nanos)?);
        let named = self.number(b'M').zip(self.number(b'm')).and_then(|(major, minor)| device(major, minor));
        let mut event = Event {
            time,
            dev: self.device.or(named).unwrap_or_default(),
            tid: Tid(self.number(b'p').unwrap_or(0).try_into().ok()?),
            cpu: Cpu(self.number(b'c').unwrap_or(0).try_into().ok()?),
            sequence: self.number(b's').unwrap_or(0).try_into().ok()?,
            action,
            flags: self.flags.with(category(action)).with(Flags::FS),
            ..Event::default()
        };
        let is_plug = matches!(action, Action::Plug | Action::Unplug | Action::UnplugImplicit);
        if !is_plug {
            event.sector = Sector(self.number(b'S')?);
            let sectors = self.number(b'n').map(|n| n.checked_mul(512)).or(self.number(b'N').map(Some))?;
            event.bytes = Bytes(sectors?);
        }
        match action {
            Action::Unplug | Action::UnplugImplicit => {
                event.detail = self.number(b'U').map_or(Detail::None, Detail::Requests);
            }
            Action::Complete | Action::Requeue => {
                event.error = self.number(b'e').unwrap_or(0).try_into().ok()?
            }
            // For other actions, this position of the payload has no defined meaning.
            Action::Split => {
                let second = self.number(b'U').filter(|second| *second > event.sector.0);
                event.detail = second.map_or(Detail::None, |second| Detail::Split(Sector(second)));
                event.bytes = Bytes(0);
            }
            _ => {}
        }
        // Without numbers, tasks cannot be told apart.
        let named = self.name.filter(|name| !name.is_empty() && action != Action::Complete);
        let task = self.number(b'p').map_or(Some(UNKNOWN), |_| named);
        Some(Parsed { event, task, text: Text::None })
    }
}

fn device(major: u64, minor: u64) -> Option<DevId> {
    (major < 1 << 12 && minor < 1 << 20).then(|| DevId::new(major as u32, minor as u32))
}

/// The value of the leading digits, and the text after them.
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}
