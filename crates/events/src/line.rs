//! Writes one event as a line: the fields of a format, or blkparse's own rest of the line for its action.

use super::digits::{foreign, number, plain, word, zero_padded, Width};
use super::format::{Field, Format, Step};
use super::names::{Names, UNNAMED};
use trace::blkparse::Rwbs;
use trace::{Action, Detail, DevId, Event, Flags, Nanos};

/// An event with what is needed to write its line.
pub struct Shown<'a> {
    /// The event.
    pub event: &'a Event,
    /// Its payload: a message, or a command.
    pub text: &'a [u8],
    /// Its time since the first event.
    pub time: Nanos,
    /// The time of the step that it ends, if that is wanted and known.
    pub elapsed: Option<Nanos>,
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Shown<'_> {
    /// Appends the event in this format.
    pub fn write(&self, out: &mut Vec<u8>, format: &Format, names: &mut Names) {
        for step in format.steps() {
            match step {
                Step::Text(text) => out.extend_from_slice(text),
                Step::Field(field, width) => self.field(out, *field, *width, names),
                Step::Tail => self.tail(out, names),
            }
        }
    }

    fn field(&self, out: &mut Vec<u8>, field: Field, width: Width, names: &mut Names) {
        let e = self.event;
        match field {
            Field::Action => word(out, e.action.letters().as_bytes(), width),
            Field::Cpu => number(out, e.cpu.0.into(), width),
            Field::TaskName => {
                let mut name = Vec::new();
                foreign(&mut name, names.get(e.tid, e.cpu).unwrap_or(UNNAMED));
                word(out, &name, width);
            }
            Field::Rwbs if e.action == Action::Message => word(out, b"N", width),
            Field::Rwbs => word(out, Rwbs::new(e.flags, e.bytes).as_bytes(), width),
            Field::Device => device(out, e.dev),
            Field::Error => number(out, e.error.into(), width),
            Field::Minor => number(out, e.dev.minor().into(), width),
            Field::Major => number(out, e.dev.major().into(), width),
            Field::Sectors => number(out, e.bytes.sectors(), width),
            Field::Bytes => number(out, e.bytes.0, width),
            Field::Task => number(out, e.tid.0.into(), width),
            Field::Payload => self.payload(out),
            Field::Sequence => number(out, e.sequence.into(), width),
            Field::Sector => number(out, e.sector.0, width),
            Field::Nanos => {
                let digits = if width.min == 0 { 9 } else { width.min };
                zero_padded(out, self.time.0 % Nanos::SECOND.0, digits);
            }
            Field::Seconds => number(out, self.time.0 / Nanos::SECOND.0, width),
            Field::Elapsed => match self.elapsed {
                Some(t) => number(out, t.0, width),
                None => word(out, b"", width),
            },
            Field::Number => {
                let n = match e.detail {
                    Detail::Requests(n) => n,
                    Detail::Split(s) => s.0,
                    _ => 0,
                };
                number(out, n, width);
            }
        }
    }

    /// Writes the rest of the default format after the letters, and the line's end.
    fn tail(&self, out: &mut Vec<u8>, names: &mut Names) {
        let e = self.event;
        let passthrough = e.flags.has(Flags::PASSTHROUGH);
        match e.action {
            Action::Message => {
                out.push(b' ');
                let end = self.text.iter().position(|c| *c == 0).unwrap_or(self.text.len());
                foreign(out, self.text[..end].trim_ascii_end());
            }
            Action::Complete | Action::Requeue => {
                if passthrough {
                    self.command(out);
                } else {
                    out.push(b' ');
                    plain(out, e.sector.0);
                    if e.bytes.sectors() > 0 {
                        sectors(out, e);
                    }
                    self.elapsed(out);
                }
                out.extend_from_slice(b" [");
                plain(out, e.error.into());
                out.push(b']');
            }
            Action::Plug => task(out, e, names),
            Action::Unplug | Action::UnplugImplicit => {
                task(out, e, names);
                if let Detail::Requests(n) = e.detail {
                    out.push(b' ');
                    plain(out, n);
                }
            }
            Action::Split => {
                out.push(b' ');
                plain(out, e.sector.0);
                if let Detail::Split(second) = e.detail {
                    out.extend_from_slice(b" / ");
                    plain(out, second.0);
                }
                task(out, e, names);
            }
            Action::Remap => {
                extent(out, e);
                if let Detail::Remap { dev, sector } = e.detail {
                    out.extend_from_slice(b" <- (");
                    plain(out, dev.major().into());
                    out.push(b',');
                    plain(out, dev.minor().into());
                    out.extend_from_slice(b") ");
                    plain(out, sector.0);
                } else {
                    task(out, e, names);
                }
            }
            Action::Queue | Action::Issue | Action::Insert if passthrough => {
                out.push(b' ');
                plain(out, e.bytes.0);
                self.command(out);
                task(out, e, names);
            }
            _ => {
                if e.bytes.sectors() > 0 {
                    extent(out, e);
                }
                self.elapsed(out);
                task(out, e, names);
            }
        }
        out.push(b'\n');
    }

    /// Appends the time of the step in ns: ` (    1000)`.
    fn elapsed(&self, out: &mut Vec<u8>) {
        if let Some(t) = self.elapsed {
            out.extend_from_slice(b" (");
            number(out, t.0, Width::right(8));
            out.push(b')');
        }
    }

    /// Appends the command, if there is one: ` (12 00 24 ..)`.
    fn command(&self, out: &mut Vec<u8>) {
        if !self.text.is_empty() && !matches!(self.event.action, Action::Queue | Action::Requeue) {
            out.extend_from_slice(b" (");
            self.payload(out);
            out.push(b')');
        }
    }

    /// Appends the payload's bytes in hexadecimal; of zeros at the end only the first, and `..`. Like blkparse, only
    /// for `I`, `D` and `C`, and also for actions that blkparse does not know.
    fn payload(&self, out: &mut Vec<u8>) {
        if !matches!(self.event.action, Action::Insert | Action::Issue | Action::Complete | Action::Other(_))
        {
            return;
        }
        let used = self.text.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
        for (i, b) in self.text[..used].iter().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(&[HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
        }
        if used < self.text.len() {
            out.extend_from_slice(if used > 0 { b" 00 .." } else { b"00 .." });
        }
    }
}

/// Appends major and minor as `%3d,%-3d`.
fn device(out: &mut Vec<u8>, dev: DevId) {
    number(out, dev.major().into(), Width::right(3));
    out.push(b',');
    number(out, dev.minor().into(), Width::left(3));
}

/// Appends first sector and size: ` 223490 + 8`.
fn extent(out: &mut Vec<u8>, e: &Event) {
    out.push(b' ');
    plain(out, e.sector.0);
    sectors(out, e);
}

/// Appends the size in sectors: ` + 8`.
fn sectors(out: &mut Vec<u8>, e: &Event) {
    out.extend_from_slice(b" + ");
    plain(out, e.bytes.sectors());
}

/// Appends the task's name: ` [kjournald]`.
fn task(out: &mut Vec<u8>, e: &Event, names: &mut Names) {
    out.extend_from_slice(b" [");
    foreign(out, names.get(e.tid, e.cpu).unwrap_or(UNNAMED));
    out.push(b']');
}
