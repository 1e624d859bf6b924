//! A mail, a bug report, a slide, a tool's saved output: any text with numbers in it, read for the runs it describes.
//!
//! Every word is offered to each [tool's reader](crate::tool); what none takes is the author's prose, in which only
//! labels, commands, rates and small sums are looked for. Nothing is guessed: numbers that were not understood are
//! counted, and the first of them is reported.
//!
//! **Invariant**: quoting, wrapping and flattening change the place of a number, never the number.

mod arrays;
mod base64;
mod claim;
mod columns;
mod command;
mod doubt;
mod escapes;
mod html;
mod intervals;
mod layout;
mod log_time;
pub(crate) mod lsblk;
mod machine;
mod mapping;
mod margin;
mod mdadm;
pub(crate) mod number;
mod nvme_list;
mod pieces;
mod printable;
pub(crate) mod reading;
mod run;
mod scsi_disks;
mod settings;
mod stamp;
mod syncs;
pub(crate) mod words;

pub use claim::{Claim, Sum};
pub use command::Command;
pub use doubt::Doubt;
pub use evidence::Spot;
pub use intervals::SinceBoot;
pub use log_time::{LogForm, LogTime};
pub use machine::Machine;
pub use number::{Number, Unit};
pub use reading::{Bucket, Reading, Row, Setting, Values};
pub use run::Run;
pub use syncs::Syncs;

use crate::saved::{self, Saved};
use crate::tool::{self, Found};
use evidence::{At, Place};
use serde::Serialize;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use words::{words, Word};

/// The largest text that is read as a mail.
pub const MOST_BYTES_OF_MAIL: usize = 16 << 20;
/// Words of `Linux 6.1.0 (host) 11/25/26 _x86_64_ (8 CPU)`.
const MOST_OF_BANNER: usize = 8;
/// Readings that are kept.
const MOST_READINGS: usize = 10_000;

/// What a text contains.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolOutput {
    /// The file's name.
    pub file: String,
    /// In the order of the text.
    pub runs: Vec<Run>,
    /// Rates and sizes that the author states, those in labels of runs not among them.
    pub claims: Vec<Claim>,
    /// Divisions that the author did.
    pub sums: Vec<Sum>,
    /// Settings of the machine: queues (`sda/queue/nr_requests`), `vm.`, mounts, md arrays.
    pub settings: Vec<Setting>,
    /// Machines that it names.
    pub machines: Vec<Machine>,
    /// Words in all.
    pub words: usize,
    /// Words that tools printed and that were understood, and those of commands.
    pub understood: usize,
    /// Numbers that were left out: what they are of was not understood.
    pub left_out: usize,
    /// The first of these.
    pub first_left_out: Option<Spot>,
    /// Whether it is longer than 16 MiB, and the rest was not read.
    pub cut: bool,
    /// A JSON document of a tool that breaks off, or is none; it is left out.
    pub broken: Option<Spot>,
    /// Readings and settings that say again what an earlier one said, as quotes do; they are left out.
    pub repeated: usize,
    /// Readings and settings beyond the most that are kept.
    pub too_many: usize,
    /// Impossible numbers; they are in no reading.
    pub doubts: Vec<Doubt>,
    #[serde(skip)]
    pub(crate) log_times: log_time::LogTimes,
}

impl ToolOutput {
    /// Reads a text. Any bytes will do.
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
        output.log_times = log_time::of(&text, &output.runs);
        output.add(saved, &whole);
        output.cut = cut;
        output
    }

    /// Puts the runs of JSON documents among the others, each called by the words before it.
    fn add(&mut self, saved: Saved, text: &str) {
        let mut from = 0;
        for (mut run, document) in saved.runs {
            let before = words(text.get(from..document.start).unwrap_or(""));
            let short = before.len() <= run::MOST_SAID && run::says_anything(&before);
            // Warnings of fio's stand there too.
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

    /// Reads a file of which the first bytes were looked at: fio's logs as a stream of any length, everything else as
    /// [`ToolOutput::read`] does.
    pub fn read_stream(file: &str, looked_at: Vec<u8>, mut rest: impl BufRead) -> io::Result<ToolOutput> {
        if saved::fio_log::begins(&looked_at) {
            return saved::fio_log::read(file, io::Cursor::new(looked_at).chain(rest));
        }
        let mut content = looked_at;
        // One more than is read, to see whether there is more.
        let room = (MOST_BYTES_OF_MAIL + 1).saturating_sub(content.len());
        (&mut rest).take(room as u64).read_to_end(&mut content)?;
        Ok(ToolOutput::read(file, &content))
    }

    /// Whether there is anything in it to reason from.
    pub fn has_readings(&self) -> bool {
        self.runs.iter().any(|run| run.readings.iter().any(|r| !r.rows.is_empty()))
    }

    /// Whether anything was understood: readings or settings.
    pub fn says_anything(&self) -> bool {
        self.has_readings() || !self.settings.is_empty()
    }

    /// The setting of this name that held at a place: the last one in the text before it, or the only one.
    pub fn setting(&self, name: &str, at: Spot) -> Option<&Setting> {
        let mut all = self.settings.iter().filter(|s| s.name == name);
        let before = all.clone().filter(|s| s.at <= at).max_by_key(|s| s.at);
        before.or_else(|| all.next().filter(|_| all.next().is_none()))
    }

    /// A place in it.
    pub fn at(&self, spot: Spot) -> At {
        At { file: Arc::from(self.file.as_str()), place: Place::Spot(spot) }
    }
}

fn is_number(word: &Word) -> bool {
    number::grouped(word.text.trim_matches(['(', ')', ',', '%'])).is_some()
}

struct Reader<'w, 'a> {
    words: &'w [Word<'a>],
    output: ToolOutput,
    /// Where the prose began that was not yet looked at.
    from: usize,
    /// What is known of the run to come.
    next: Run,
    /// Whether the next reading begins a run.
    fresh: bool,
    /// How many readings there are, and what they say: how deep the first of each stood in quotes, and in which run.
    readings: usize,
    seen: HashMap<u64, (u32, usize)>,
    /// The jobs of fio in the last run.
    jobs: HashSet<String>,
}

impl Reader<'_, '_> {
    /// Reads what stands at `at`; gives how many words that are.
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

    /// Takes in the words from the end of what was last understood up to `to`: only the author's.
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
        // On one line all words of a short line have the same place; the text decides.
        let (labelled, others) = claims.into_iter().partition(in_label);
        self.output.claims.extend::<Vec<_>>(others);
        // What printed a reading stands right before it, above the line that tools of sysstat begin with.
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

    /// Counts the numbers of lines within a table of which none was read: rows that are cut off, or remarks.
    fn rows_left_out(&mut self, words: &[Word], found: &Found) {
        let rows = found.reading.iter().flat_map(|r| &r.rows);
        // Where rows are put together, most of their lines are told by none.
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
        // A second result of the same job is another run, whoever forgot to say so.
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

    /// Whether a reading says again what an earlier one said, as quotes do: at another depth, or in quotes behind other words.
    /// Idle intervals, one after the other, are as alike and no quotes.
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

/// A hash of what a reading says, wherever it stands. Two that differ in one digit have the same hash once in 2^64.
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
