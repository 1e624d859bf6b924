//! Format strings: parsed once into a short program of fields and texts, which runs once per event.
//!
//! A field is `%`, optionally `-` (left-aligned), optionally a width, and a letter:
//!
//! | | | | |
//! |---|---|---|---|
//! | `a` action | `c` CPU | `C` task's name | `d` letters (RWBS) |
//! | `D` major,minor, 7 wide | `e` error | `m` minor | `M` major |
//! | `n` sectors | `N` bytes | `p` task's number | `P` payload in hexadecimal |
//! | `s` number of the event | `S` sector | `t` nanoseconds within the second | `T` seconds |
//! | `u` time of the step, ns (with `-t`) | `U` number in the payload | `%` a percent sign | |
//!
//! `\n`, `\t`, `\r`, `\b` and `\\` have the same meaning as in C. No line end is added.
//!
//! Example: `%5T.%9t %-16C %S+%n\n` prints `    0.000001000 fio              223490+8`.

use super::digits::Width;
use trace::Action;

/// What a `%` field shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `%a`
    Action,
    /// `%c`
    Cpu,
    /// `%C`
    TaskName,
    /// `%d`
    Rwbs,
    /// `%D`
    Device,
    /// `%e`
    Error,
    /// `%m`
    Minor,
    /// `%M`
    Major,
    /// `%n`
    Sectors,
    /// `%N`
    Bytes,
    /// `%p`
    Task,
    /// `%P`
    Payload,
    /// `%s`
    Sequence,
    /// `%S`
    Sector,
    /// `%t`
    Nanos,
    /// `%T`
    Seconds,
    /// `%u`
    Elapsed,
    /// `%U`
    Number,
}

impl Field {
    fn of(letter: char) -> Option<Field> {
        Some(match letter {
            'a' => Field::Action,
            'c' => Field::Cpu,
            'C' => Field::TaskName,
            'd' => Field::Rwbs,
            'D' => Field::Device,
            'e' => Field::Error,
            'm' => Field::Minor,
            'M' => Field::Major,
            'n' => Field::Sectors,
            'N' => Field::Bytes,
            'p' => Field::Task,
            'P' => Field::Payload,
            's' => Field::Sequence,
            'S' => Field::Sector,
            't' => Field::Nanos,
            'T' => Field::Seconds,
            'u' => Field::Elapsed,
            'U' => Field::Number,
            _ => return None,
        })
    }
}

/// One step of a format's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Copies this text.
    Text(Vec<u8>),
    /// Writes a field with its width.
    Field(Field, Width),
    /// Writes the rest of the default format after the letters; it depends on the action.
    Tail,
}

/// A format that was parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    steps: Vec<Step>,
}

/// Why a format was refused, and at which character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The reason in words.
    pub what: String,
    /// The format as given.
    pub format: String,
    /// The index of the offending character, from 0.
    pub at: usize,
}

impl std::fmt::Display for FormatError {
    /// The reason, the format, and a mark under the offending character.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.format.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        write!(f, "{}\n  {}\n  {:at$}^", self.what, shown, "", at = self.at)
    }
}

impl std::error::Error for FormatError {}

impl Format {
    /// The maximal width of a field: a wider one is a typing error.
    const MAX_WIDTH: u16 = 1000;

    /// The start of every line in the default format.
    const HEADER: &'static str = "%D %2c %8s %5T.%9t %5p %2a %3d";

    /// Parses a format string.
    pub fn parse(format: &str) -> Result<Format, FormatError> {
        Parser { format, chars: format.chars().collect(), at: 0, steps: Vec::new() }.run()
    }

    /// The default format of blkparse.
    pub fn default_line() -> Format {
        let mut format = Format::parse(Format::HEADER).expect("our own format");
        format.steps.push(Step::Tail);
        format
    }

    /// The steps of the program, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it has a field for the time of the step (`%u`).
    pub fn shows_elapsed(&self) -> bool {
        self.steps.iter().any(|s| matches!(s, Step::Field(Field::Elapsed, _)))
    }
}

struct Parser<'a> {
    format: &'a str,
    chars: Vec<char>,
    at: usize,
    steps: Vec<Step>,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Format, FormatError> {
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                '%' => self.field()?,
                '\\' => self.escape()?,
                other => self.text(other),
            }
            self.at += 1;
        }
        Ok(Format { steps: self.steps })
    }

    fn text(&mut self, c: char) {
        if !matches!(self.steps.last(), Some(Step::Text(_))) {
            self.steps.push(Step::Text(Vec::new()));
        }
        if let Some(Step::Text(text)) = self.steps.last_mut() {
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn escape(&mut self) -> Result<(), FormatError> {
        let start = self.at;
        self.at += 1;
        let c = match self.chars.get(self.at) {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('\\') => '\\',
            Some(other) => {
                return self
                    .fail(self.at, format!("`\\{other}` is not known; known are \\n \\t \\r \\b \\\\"))
            }
            None => return self.fail(start, "the format ends after a backslash".into()),
        };
        self.text(c);
        Ok(())
    }

    /// Parses a field; stops on its letter.
    fn field(&mut self) -> Result<(), FormatError> {
        let start = self.at;
        self.at += 1;
        let mut width = Width::default();
        if self.chars.get(self.at) == Some(&'-') {
            width.left = true;
            self.at += 1;
        }
        let digits = self.at;
        while let Some(d) = self.chars.get(self.at).and_then(|c| c.to_digit(10)) {
            width.min = width.min.saturating_mul(10).saturating_add(d as u16);
            self.at += 1;
        }
        if width.min > Self::max_width() {
            return self.fail(digits, format!("a field is at most {} wide", Self::max_width()));
        }
        match self.chars.get(self.at) {
            Some('%') if self.at == start + 1 => self.text('%'),
            Some(&letter) => match Field::of(letter) {
                Some(field) => self.steps.push(Step::Field(field, width)),
                None => {
                    return self.fail(
                        self.at,
                        format!(
                            "there is no field `{letter}`; known are a c C d D e m M n N p P s S t T u U"
                        ),
                    )
                }
            },
            None => return self.fail(start, "the format ends within a field".into()),
        }
        Ok(())
    }

    const fn max_width() -> u16 {
        Format::MAX_WIDTH
    }

    fn fail<T>(&self, at: usize, what: String) -> Result<T, FormatError> {
        Err(FormatError { what, format: self.format.to_string(), at })
    }
}

/// The format of each action.
#[derive(Clone, Debug)]
pub struct Formats {
    all: Format,
    own: Vec<OwnFormat>,
}

/// A format for one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFormat {
    letter: u8,
    format: Format,
}

impl OwnFormat {
    /// Parses `Q,%S\n`: an action's letter, a comma, a format.
    pub fn parse(spec: &str) -> Result<OwnFormat, FormatError> {
        let fail = |at, what: String| Err(FormatError { what, format: spec.to_string(), at });
        let mut chars = spec.chars();
        let Some(letter) = chars.next() else {
            return fail(0, "an action's letter, a comma and a format are needed".into());
        };
        if !OWN.contains(letter) {
            return fail(0, format!("`{letter}` is not an action with its own format; known are {OWN}"));
        }
        if chars.next() != Some(',') {
            return fail(1, "a comma must follow the action's letter".into());
        }
        let format = Format::parse(chars.as_str()).map_err(|e| FormatError {
            at: e.at + 2,
            format: spec.to_string(),
            ..e
        })?;
        Ok(OwnFormat { letter: letter as u8, format })
    }
}

impl Default for Formats {
    fn default() -> Formats {
        Formats { all: Format::default_line(), own: Vec::new() }
    }
}

/// Letters of actions that may have a format of their own.
const OWN: &str = "ABCDFGIMPQRSTUX";

impl Formats {
    /// Option `-f`: sets the format of all actions but messages.
    pub fn set_all(&mut self, format: Format) {
        self.all = format;
    }

    /// Option `-F`: sets the format of one action, which takes precedence over `-f`. `U` is for both kinds of unplug,
    /// unless `T`, the one by a task about to sleep, has its own.
    pub fn set_own(&mut self, own: OwnFormat) {
        self.own.retain(|o| o.letter != own.letter);
        self.own.push(own);
    }

    /// The format of an action.
    #[inline]
    pub fn of(&self, action: Action) -> &Format {
        if self.own.is_empty() {
            return &self.all;
        }
        self.find(action)
    }

    fn find(&self, action: Action) -> &Format {
        let letters: &[u8] = match action {
            Action::UnplugImplicit => b"TU",
            // These have words instead of letters: `ABORT` must not match `A`.
            Action::Abort | Action::DriverData => b"",
            a => &a.letters().as_bytes()[..1],
        };
        let own = |l: &u8| self.own.iter().find(|o| o.letter == *l);
        letters.iter().find_map(own).map_or(&self.all, |o| &o.format)
    }

    /// Whether any format shows the time of the step (`%u`).
    pub fn shows_elapsed(&self) -> bool {
        self.all.shows_elapsed() || self.own.iter().any(|o| o.format.shows_elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_becomes_a_program() {
        let steps = Format::parse("%-12C|\\n%%%5T").unwrap().steps;
        let wanted = [
            Step::Field(Field::TaskName, Width::left(12)),
            Step::Text(b"|\n%".to_vec()),
            Step::Field(Field::Seconds, Width::right(5)),
        ];
        assert_eq!(steps, wanted);
    }

    #[test]
    fn errors_point_at_the_offending_character() {
        let said = |f| Format::parse(f).unwrap_err().to_string();
        assert_eq!(
            said("%D %5x %S"),
            "there is no field `x`; known are a c C d D e m M n N p P s S t T u U\n  %D %5x %S\n       ^"
        );
        assert_eq!(said("a\\q"), "`\\q` is not known; known are \\n \\t \\r \\b \\\\\n  a\\q\n    ^");
        assert_eq!(said("%S%-5"), "the format ends within a field\n  %S%-5\n    ^");
        assert_eq!(said("a%99999S"), "a field is at most 1000 wide\n  a%99999S\n    ^");
        assert_eq!(
            said("é%é"),
            "there is no field `é`; known are a c C d D e m M n N p P s S t T u U\n  é%é\n    ^"
        );
        assert_eq!(Format::parse("x\\").unwrap_err().at, 1);
        assert_eq!(OwnFormat::parse("Q,%y").unwrap_err().at, 3);
        assert_eq!(OwnFormat::parse("QQ").unwrap_err().at, 1);
        assert_eq!(OwnFormat::parse("m,x").unwrap_err().at, 0);
        assert_eq!(OwnFormat::parse("").unwrap_err().at, 0);
    }

    #[test]
    fn an_action_may_have_its_own_format() {
        let mut f = Formats::default();
        f.set_own(OwnFormat::parse("Q,one").unwrap());
        f.set_own(OwnFormat::parse("U,two").unwrap());
        f.set_all(Format::parse("all").unwrap());
        let shown = |f: &Formats, a| match f.of(a).steps() {
            [Step::Text(t)] => String::from_utf8(t.clone()).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown(&f, Action::Queue), "one");
        assert_eq!(shown(&f, Action::Get), "all");
        assert_eq!(shown(&f, Action::UnplugImplicit), "two");
        f.set_own(OwnFormat::parse("T,three").unwrap());
        assert_eq!(shown(&f, Action::UnplugImplicit), "three");
        assert_eq!(shown(&f, Action::Unplug), "two");
    }
}
