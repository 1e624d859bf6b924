//! Reads mails, bug reports, slides, saved output of tools: any text with numbers, for the runs that it describes.
//!
//! Every word is offered to each [tool's reader](crate::tool); words that no tool printed are the author's prose, which is only
//! searched for labels, commands, rates and divisions. Nothing is guessed: numbers that are not understood are
//! counted, and the first of them is reported.
//!
//! **Invariant**: quoting, wrapping and flattening change the position of a number, never its value.

mod arrays;
mod base64;
mod cells;
mod claim;
mod columns;
mod command;
mod doubt;
mod escapes;
mod html;
mod intervals;
mod layout;
pub(crate) mod log_fact;
mod log_facts;
mod log_time;
pub(crate) mod lsblk;
pub(crate) mod machine;
mod mapping;
mod margin;
mod mdadm;
pub(crate) mod number;
mod nvme_list;
mod pieces;
mod printable;
mod quote;
pub(crate) mod reading;
pub(crate) mod run;
mod scsi_disks;
mod settings;
mod snapshots;
mod stamp;
mod syncs;
pub(crate) mod tool_output;
pub(crate) mod words;

pub use claim::{Claim, Sum};
pub use command::Command;
pub use doubt::Doubt;
pub use evidence::Spot;
pub use intervals::SinceBoot;
pub use log_fact::LogFact;
pub use log_time::{LogForm, LogTime};
pub use machine::Machine;
pub use number::{Number, Unit};
pub use reading::{Bucket, Reading, Row, Setting, Values};
pub use run::Run;
pub use syncs::Syncs;
pub use tool_output::ToolOutput;

use crate::saved::{self, Saved};
use crate::tool;
use crate::tool::reader::Found;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};
use words::{words, Word};

/// Largest text in bytes that is read as a mail.
pub const MOST_BYTES_OF_MAIL: usize = 16 << 20;
/// Limit on words of iostat's first line, `Linux 6.1.0 (host) Wednesday, 25 November 2026 _x86_64_ (8 CPU)`.
const MOST_OF_BANNER: usize = 12;
/// Limit on readings of a text.
const MOST_READINGS: usize = 10_000;

impl ToolOutput {
    /// Reads a text. Accepts any bytes.
    pub fn read(file: &str, content: &[u8]) -> ToolOutput {
        let cut = content.len() > MOST_BYTES_OF_MAIL;
        let content = &content[..content.len().min(MOST_BYTES_OF_MAIL)];
        let text = printable::lossy(content);
        let text = base64::decoded(text.trim_start_matches('\u{feff}'));
        let text = printable::decoded(&text);
        let text = escapes::without(&text);
        let text = margin::without(&text);
        let saved = Saved::read(&text);
        let whole = text;
        let text = saved.rest(&whole);
        let text = html::shown(&text);
        let text = printable::with_plain_colons(&text);
        let settings = settings::settings(&text);
        let mut words = words(&text);
        let (number, machines) = (words.len(), machine::machines(&words));
        settings.leave_out(&mut words, &text);
        let mut reader = Reader {
            words: &words,
            output: ToolOutput::default(),
            from: 0,
            next: Run::default(),
            fresh: true,
            readings: 0,
            seen: HashMap::new(),
            jobs: HashSet::new(),
        };
        reader.output.file = file.to_owned();
        reader.output.words = number;
        reader.output.understood = number - words.len();
        reader.output.repeated = settings.repeated;
        reader.output.too_many = settings.too_many;
        reader.output.settings = settings.all;
        reader.output.machines = machines;
        let mut at = 0;
        while at < words.len() {
            at += reader.step(at);
        }
        reader.prose(words.len());
        let mut output = reader.output;
        scsi_disks::settle(&text, &mut output.runs);
        log_facts::add(&text, &mut output.runs);
        output.log_times = log_time::of(&text, &output.runs);
        output.add(saved, &whole);
        output.cut = cut;
        output
    }

    /// Adds the runs of JSON documents to the others; the words before a document are its run's label.
    fn add(&mut self, saved: Saved, text: &str) {
        let mut from = 0;
        for (mut run, document) in saved.runs {
            let before = words(text.get(from..document.start).unwrap_or(""));
            let short = before.len() <= run::MOST_SAID && run::says_anything(&before);
            // Warnings of fio may also precede a document.
            if short && !before.iter().any(|w| w.text == "fio:") {
                run.label = run::line(&before[run::label(&before)]);
            }
            from = document.end;
            self.runs.push(run);
        }
        for document in saved.documents {
            let many = text.get(document).map_or(0, |d| d.split_whitespace().count());
            self.words += many;
            self.understood += many;
        }
        for reading in self.runs.iter_mut().flat_map(|run| &mut run.readings) {
            let doubts = doubt::taken_out(reading);
            self.doubts.extend(doubts.into_iter().take(doubt::MOST.saturating_sub(self.doubts.len())));
        }
        let room = settings::MOST.saturating_sub(self.settings.len());
        self.settings.extend(saved.settings.into_iter().take(room));
        self.broken = saved.broken;
        self.runs.sort_by_key(|run| run.at);
        for machine in saved.machines {
            if !self.machines.contains(&machine) {
                self.machines.push(machine);
            }
        }
    }

    /// Reads a file whose first bytes were already examined: fio's logs as a stream of any length, everything else as
    /// [`ToolOutput::read`] does.
    pub fn read_stream(file: &str, looked_at: Vec<u8>, mut rest: impl BufRead) -> io::Result<ToolOutput> {
        if saved::fio_log::begins(&looked_at) {
            return saved::fio_log::read(file, io::Cursor::new(looked_at).chain(rest));
        }
        let mut content = looked_at;
        // One byte above the limit, to detect a longer text.
        let room = (MOST_BYTES_OF_MAIL + 1).saturating_sub(content.len());
        (&mut rest).take(room as u64).read_to_end(&mut content)?;
        Ok(ToolOutput::read(file, &content))
    }
}

fn is_number(word: &Word) -> bool {
    number::grouped(word.text.trim_matches(['(', ')', ',', '%'])).is_some()
}

struct Reader<'w, 'a> {
    words: &'w [Word<'a>],
    output: ToolOutput,
    /// Start of the prose that was not yet processed.
    from: usize,
    /// What is already known about the next run.
    next: Run,
    /// Whether the next reading starts a new run.
    fresh: bool,
    /// Number of readings, and for the hash of each: the quoting depth of the first, and its run.
    readings: usize,
    seen: HashMap<u64, (u32, usize)>,
    /// Names of fio's jobs in the last run.
    jobs: HashSet<String>,
}

impl Reader<'_, '_> {
    /// Reads at the word `at`; returns the number of words read.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.words[at..];
        if let Some(found) = tool::all().iter().find_map(|tool| tool.read(rest)) {
            let used = found.used.clamp(1, rest.len());
            self.prose(at);
            self.from = at + used;
            self.output.understood += used.saturating_sub(found.unknown);
            self.rows_left_out(&rest[..used], &found);
            let quoted = rest[0].depth + u32::from(rest[0].after_mark);
            self.found(found, quoted);
            return used;
        }
        let flat = rest[0].spot.column > 0;
        let ends = |i: usize| tool::all().iter().any(|tool| tool.read(&rest[i..]).is_some());
        if let Some((command, used)) = command::command(rest, flat, ends) {
            self.prose(at);
            self.from = at + used;
            self.output.understood += used;
            self.next.commands.push(command);
            return used;
        }
        1
    }

    /// Processes words that no tool printed, from the last understood word up to `to`.
    fn prose(&mut self, to: usize) {
        let words = &self.words[self.from.min(to)..to];
        self.from = to;
        if words.is_empty() {
            return;
        }
        let (mut claims, before) = (Vec::new(), self.output.sums.len());
        claim::claims(words, &mut claims);
        claim::sums(words, &mut self.output.sums);
        let stated = claims.len() + 3 * (self.output.sums.len() - before);
        let numbers = words.iter().filter(|w| is_number(w));
        let left_out = numbers.clone().count().saturating_sub(stated);
        self.left_out(left_out, numbers.clone().map(|w| w.spot).next());
        if !run::says_anything(words) {
            self.output.claims.append(&mut claims);
            return;
        }
        let range = run::label(words);
        let label = &words[range];
        let in_label = |c: &Claim| label.first().is_some_and(|w| c.at >= w.spot);
        // In flattened text all words of a short line have the same place; the text decides.
        let (labelled, others) = claims.into_iter().partition(in_label);
        self.output.claims.extend::<Vec<_>>(others);
        // The command of a reading directly precedes it, or precedes the first line that sysstat's tools print.
        let banner = words[0].text == "Linux" && words.len() <= MOST_OF_BANNER;
        self.next.commands.retain(|command| banner || command.lasts());
        let said = &words[words.len().saturating_sub(run::MOST_SAID)..];
        self.next = Run {
            label: run::line(label),
            claims: labelled,
            said: run::line(said),
            ..std::mem::take(&mut self.next)
        };
        self.fresh = true;
    }

    /// Counts numbers in lines of a table that were not read: truncated rows, or remarks.
    fn rows_left_out(&mut self, words: &[Word], found: &Found) {
        let rows = found.reading.iter().flat_map(|r| &r.rows);
        // If rows are combined, most of their lines are in no row.
        if found.unknown == 0 || rows.clone().any(|r| r.in_order.is_some()) {
            return;
        }
        let buckets = rows.clone().flat_map(|r| r.histogram.iter().map(|b| b.count.at.line));
        let read: HashSet<u32> =
            rows.clone().flat_map(|r| r.values.iter().map(|(_, n)| n.at.line)).chain(buckets).collect();
        let lost =
            words.iter().filter(|w| w.spot.column == 0 && !read.contains(&w.spot.line) && is_number(w));
        self.left_out(lost.clone().count().min(found.unknown), lost.map(|w| w.spot).next());
    }

    fn left_out(&mut self, many: usize, first: Option<Spot>) {
        self.output.left_out += many;
        if many > 0 && self.output.first_left_out.is_none() {
            self.output.first_left_out = first;
        }
    }

    fn found(&mut self, found: Found, quoted: u32) {
        let Some(mut reading) = found.reading else { return };
        if self.readings >= MOST_READINGS {
            self.output.too_many += 1;
            return;
        }
        if !reading.rows.is_empty() && self.is_quote(&reading, quoted) {
            self.output.repeated += 1;
            return;
        }
        let doubts = doubt::taken_out(&mut reading);
        let room = doubt::MOST.saturating_sub(self.output.doubts.len());
        self.output.doubts.extend(doubts.into_iter().take(room));
        self.readings += 1;
        // A second result of the same job belongs to another run, even without words between them.
        let again = reading.tool == "fio" && !self.jobs.insert(reading.name.clone());
        if self.fresh || again || self.output.runs.is_empty() {
            if reading.tool == "fio" {
                self.jobs = HashSet::from([reading.name.clone()]);
            } else {
                self.jobs.clear();
            }
            let begun = std::mem::take(&mut self.next);
            self.output.runs.push(Run { at: reading.at, ..begun });
            self.fresh = false;
        }
        if let Some(run) = self.output.runs.last_mut() {
            run.commands.append(&mut self.next.commands);
            run.readings.push(reading);
        }
    }

    /// Whether a reading repeats an earlier one as a quote: at another quoting depth, or quoted after other words.
    /// Consecutive idle intervals are also equal, but are no quotes.
    fn is_quote(&mut self, reading: &Reading, quoted: u32) -> bool {
        let run = self.output.runs.len() + usize::from(self.fresh);
        match self.seen.entry(numbers(reading)) {
            Entry::Vacant(free) => {
                free.insert((quoted, run));
                false
            }
            Entry::Occupied(first) => {
                let (depth, in_run) = *first.get();
                depth != quoted || quoted > 0 && in_run != run
            }
        }
    }
}

/// A hash of the numbers in a reading, independent of its place. Different readings collide with probability 2^-64.
fn numbers(reading: &Reading) -> u64 {
    let mut hash = DefaultHasher::new();
    (reading.tool, &reading.name, reading.rows.len()).hash(&mut hash);
    for row in &reading.rows {
        row.of.hash(&mut hash);
        for (name, number) in row.values.iter() {
            (name, number.value.to_bits()).hash(&mut hash);
        }
        for bucket in &row.histogram {
            (bucket.from.to_bits(), bucket.count.value.to_bits()).hash(&mut hash);
        }
    }
    hash.finish()
}
