//! Reads fio's normal output, versions 2 and 3 (`show_thread_status_normal`, fio's stat.c).
//!
//! ```text
//! rd: (groupid=0, jobs=2): err= 0: pid=57: Tue Dec 11 14:41:27 2012          rd: (groupid=0, jobs=2): err= 0: pid=57: ...
//!   read : io=100MB, bw=5119.1KB/s, iops=1279, runt= 20001msec                 read: IOPS=1279, BW=5119KiB/s (5242kB/s)(100MiB/20001msec)
//!     clat (usec): min=3 , max=225702 , avg= 7.32, stdev=411.95                   clat (usec): min=3, max=225702, avg= 7.32, stdev=411.95
//!     clat percentiles (usec):                                                    clat percentiles (usec):
//!      |  1.00th=[    3],  5.00th=[    3], ...                                     |  1.00th=[    3],  5.00th=[    3], ...
//!     lat (usec) : 4=15.93%, 10=59.05%, ...                                     lat (usec)   : 4=15.93%, 10=59.05%, ...
//! Disk stats (read/write):                                                     Disk stats (read/write):
//!   sda: ios=79/1287, merge=5/151907, ticks=702/147202, ...                      sda: ios=79/1287, sectors=..., merge=5/151907, ticks=...
//! ```
//!
//! People also paste parts of a job: the line of an operation, or lines of latencies; these start a reading without a name.
//!
//! fio 2 prints `KB` for 1024 bytes (its `kb_base` is 1024 unless set); fio 3 prints `KiB` for that, and `kB` for
//! 1000. `ticks` and `in_queue` are milliseconds.
//!
//! **Versions**: fio 2.0 to 3.42; the tests run 3.33.

use super::fio_excerpt::{is_excerpt, is_percentiles};
use super::fio_operations::{OF_ALL, OPERATIONS};
use super::fio_units::{fio_size, measure, parenthesis, percentile_name, plain_line, suffixed, thousands};
use super::lexeme::{lexemes, Cursor};
use super::reader::{Found, Tool};
use crate::output::number::{decimal, time_unit, with_suffix, Number, Unit};
use crate::output::reading::{Bucket, Reading, Row};
use crate::output::words::Word;

pub struct FioText;

/// Limit on words of one job's output: fio's longest is about 400.
const MOST_WORDS: usize = 2000;
/// Limit on lexemes skipped in search of the next item; a line of fio has up to 60.
pub(super) const MOST_SKIPPED: usize = 120;

impl Tool for FioText {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let whole = begins(words).is_some();
        if !whole && !is_excerpt(words) && !is_percentiles(words) {
            return None;
        }
        // Consecutive lines of latencies are separate readings of one line each.
        let mut same = !whole;
        let end = (1..words.len().min(MOST_WORDS)).find(|i| {
            let rest = &words[*i..];
            let again = same && rest[0].text == words[0].text && is_excerpt(rest);
            same &= !OPERATIONS.contains(&rest[0].text.trim_end_matches(':'));
            again || begins(rest).is_some()
        });
        let words = &words[..end.unwrap_or(words.len().min(MOST_WORDS))];
        let lexemes = lexemes(words);
        let mut cursor = Cursor::new(&lexemes);
        let begun = if whole { head(&mut cursor)? } else { Reading::default() };
        let mut job = Job { reading: Reading { tool: "fio", ..begun }, ..Job::default() };
        job.reading.at = words[0].spot;
        let (mut used, mut unknown) = (cursor.at, 0);
        let mut skipped = 0;
        let most = if whole { MOST_SKIPPED } else { MOST_SKIPPED_OF_EXCERPT };
        while let Some(next) = cursor.peek().filter(|_| skipped < most) {
            // The same line again belongs to a second run, possibly named by the words between.
            let rest = &words[next.word..];
            let again = job.says(next.text) && is_excerpt(rest)
                || is_percentiles(rest) && job.says(&format!("{}.p", next.text));
            if !whole && again {
                break;
            }
            if cursor.attempt(|c| job.item(c)).is_some() {
                unknown += skipped;
                (used, skipped) = (cursor.at, 0);
            } else {
                cursor.at += 1;
                skipped += 1;
            }
        }
        let used = lexemes.get(used.wrapping_sub(1)).map_or(0, |last| last.word + 1);
        job.end();
        let any = whole || !job.reading.rows.is_empty();
        any.then_some(Found { reading: Some(job.reading), used, unknown })
    }
}

/// As [`MOST_SKIPPED`], for an excerpt: punctuation between its lines, but no sentences.
const MOST_SKIPPED_OF_EXCERPT: usize = 8;

/// Whether a job starts here: `NAME: (groupid=0, jobs=20): err=`; only the last word of a name with blanks is checked.
fn begins(words: &[Word]) -> Option<()> {
    let second = words.get(1)?.text;
    (words[0].text.ends_with(':') && second.starts_with("(groupid=")).then_some(())
}

fn head<'a>(c: &mut Cursor<'a, '_>) -> Option<Reading> {
    let mut reading = Reading::default();
    while !c.eat_all(&[":", "(", "groupid", "="]) {
        reading.name.push_str(c.next()?.text);
    }
    c.next()?;
    c.eat_all(&[",", "jobs", "="]);
    let jobs = c.next()?;
    let value = jobs.text.to_owned();
    reading.settings.push(crate::output::reading::Setting { name: "numjobs".into(), value, at: jobs.spot });
    c.eat_all(&[")", ":", "err", "="]);
    // `0: pid=11804: Wed Nov 15 01:22:00 2017`; another number is that of the error with which the job ended.
    if let Some(error) = c.next().filter(|error| error.text != "0") {
        let (value, at) = (error.text.to_owned(), error.spot);
        reading.settings.push(crate::output::reading::Setting { name: "error".into(), value, at });
    }
    if c.eat_all(&[":", "pid", "="]) {
        c.next();
        c.eat(":");
        for _ in 0..12 {
            let Some(next) = c.peek() else { break };
            let date = DAYS_AND_MONTHS.contains(&next.text) || next.text.bytes().all(|b| b.is_ascii_digit());
            if !date && next.text != ":" {
                break;
            }
            c.at += 1;
        }
    }
    Some(reading)
}

const DAYS_AND_MONTHS: [&str; 19] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug",
    "Sep", "Oct", "Nov", "Dec",
];

/// Other keys in such a line, besides its bandwidth.
const OF_GROUP: [&str; 4] = ["aggrb", "io", "run", "maxt"];
const MOST_BETWEEN: usize = 32;

#[derive(Default)]
pub(super) struct Job {
    pub reading: Reading,
    /// Index of the row that latencies belong to.
    pub current: Option<usize>,
    /// Whether the summary of the group or the disks has started: no data of the job follows.
    pub over: bool,
}

impl Job {
    pub fn row(&mut self, of: &str) -> &mut Row {
        let found = self.reading.rows.iter().position(|row| row.of == of);
        let i = found.unwrap_or_else(|| {
            self.reading.rows.push(Row::of(of));
            self.reading.rows.len() - 1
        });
        &mut self.reading.rows[i]
    }

    /// Whether an operation's row, a latency of the current row, or its percentiles (`clat.p`) exist already.
    fn says(&self, of: &str) -> bool {
        let row = self.current.and_then(|at| self.reading.rows.get(at));
        let said =
            |name: &str| name.strip_prefix(of).is_some_and(|rest| rest == ".min" || of.ends_with(".p"));
        // The line before the syncs' times makes an empty row.
        self.reading.row(of).is_some_and(|row| !row.values.is_empty())
            || row.is_some_and(|row| row.values.iter().any(|(name, _)| said(name)))
    }

    /// Reads one item: a line of fio, or what was a line before flattening.
    fn item(&mut self, c: &mut Cursor) -> Option<()> {
        if self.over {
            return c.attempt(|c| self.summary(c)).or_else(|| self.disks(c));
        }
        None.or_else(|| c.attempt(|c| self.operation(c)))
            .or_else(|| self.syncs(c))
            .or_else(|| c.attempt(|c| self.spread(c)))
            .or_else(|| c.attempt(|c| self.percentiles(c)))
            .or_else(|| c.attempt(|c| self.shares(c)))
            .or_else(|| c.attempt(|c| self.cpu(c)))
            .or_else(|| c.attempt(|c| self.issued(c)))
            .or_else(|| c.attempt(plain_line))
            .or_else(|| c.attempt(|c| self.summary(c)))
            .or_else(|| c.attempt(|c| self.disks(c)))
    }

    /// Parses `read : io=..., bw=..., iops=..., runt=...` or `read: IOPS=..., BW=... (...)(.../...)`.
    fn operation(&mut self, c: &mut Cursor) -> Option<()> {
        let name = c.next()?;
        // People write shortened lines: `READ: IOPS=2033k BW=8329MB/s`.
        let excerpt = self.reading.name.is_empty() && self.reading.settings.is_empty();
        let of_all = OF_ALL.iter().find(|(all, _)| excerpt && *all == name.text).map(|(_, op)| *op);
        let of = OPERATIONS.iter().find(|op| **op == name.text).copied().or(of_all)?;
        c.eat(":").then_some(())?;
        let mut row = Row::of(of);
        let mut any = false;
        while let Some(key) = c.key() {
            let value = c.next()?;
            any |= measure(&mut row, key, value, c);
            // `(5242kB/s)(100MiB/20001msec)`: the same bandwidth in powers of ten, then size and time.
            while key.text == "BW" && c.eat("(") {
                let first = c.next()?;
                c.eat("/").then_some(())?;
                let second = c.next()?;
                if let Some(ns) = suffixed(second.text, time_unit) {
                    row.values.put("runtime", ns, Unit::Nanoseconds, second.spot);
                    let bytes = suffixed(first.text, fio_size)?;
                    row.values.put("bytes", bytes, Unit::Bytes, first.spot);
                }
                c.eat(")").then_some(())?;
            }
            // `(477MB/s), 455MiB/s-455MiB/s (477MB/s-477MB/s), io=`, `, minb=34952KB/s, maxb=34952KB/s, mint=`
            let next = (0..MOST_BETWEEN).find(|i| c.ahead(*i).is_some_and(|l| OF_GROUP.contains(&l.text)));
            c.at += next.filter(|_| of_all.is_some()).unwrap_or(0);
            if !c.eat(",") && c.ahead(1).is_none_or(|l| l.text != "=") {
                break;
            }
        }
        // `; 0 zone resets`
        if c.eat(";") {
            c.attempt(|c| {
                decimal(c.next()?.text)?;
                c.eat_all(&["zone", "resets"]).then_some(())
            });
        }
        if !any {
            return None;
        }
        let target = self.row(of);
        if target.values.is_empty() {
            *target = row;
        }
        self.current = self.reading.rows.iter().position(|row| row.of == of);
        Some(())
    }

    /// Parses `fsync/fdatasync/sync_file_range:`, which precedes the latencies of syncs.
    fn syncs(&mut self, c: &mut Cursor) -> Option<()> {
        c.eat_all(&["fsync", "/", "fdatasync", "/", "sync_file_range", ":"]).then_some(())?;
        self.goes_on_with_syncs();
        Some(())
    }

    /// Makes the row of syncs the current one.
    fn goes_on_with_syncs(&mut self) {
        self.row("sync");
        self.current = self.reading.rows.iter().position(|row| row.of == "sync");
    }

    /// Adds a row for latencies or rates without an operation.
    fn unnamed(&mut self, name: &str) {
        if self.reading.rows.is_empty() && self.reading.name.is_empty() {
            self.row(if name == "sync" { "sync" } else { "I/O" });
            self.current = Some(0);
        }
    }

    /// Parses `clat (usec): min=3, max=225702, avg= 7.32, stdev=411.95`; likewise `slat`, `lat`, `sync`, `bw`, `iops`.
    fn spread(&mut self, c: &mut Cursor) -> Option<()> {
        let name = c.next()?.text;
        if !["slat", "clat", "lat", "sync", "bw", "iops"].contains(&name) {
            return None;
        }
        let (factor, unit) = match c.eat("(") {
            true => parenthesis(c)?,
            false if name == "iops" => (1.0, Unit::PerSecond),
            false => return None,
        };
        c.eat(":").then_some(())?;
        // Latencies of syncs never belong to writes, even if the line before them is missing.
        if name == "sync" && self.current.is_some() {
            self.goes_on_with_syncs();
        }
        self.unnamed(name);
        let row = self.reading.rows.get_mut(self.current?)?;
        let mut any = false;
        while let Some(key) = c.key() {
            let value = c.next()?;
            let field = match key.text {
                "avg" => "mean",
                other => other,
            };
            // fio abbreviates large values: `max=1.2K`; a bandwidth has its unit attached: `min=13096KB/s`.
            let Some((v, suffix)) = with_suffix(value.text) else { return any.then_some(()) };
            let scale = match suffix {
                "" => Some(1.0),
                "%" => Some(0.01 / factor),
                other => thousands(other),
            };
            let put = match field {
                "min" | "max" | "mean" | "stdev" => scale.map(|s| (v * s * factor, unit)),
                "per" => scale.map(|s| (v * s * factor, Unit::Share)),
                "samples" => Some((v, Unit::Count)),
                _ => None,
            };
            if let Some((v, unit)) = put {
                row.values.put(format!("{name}.{field}"), v, unit, value.spot);
                any = true;
            }
            c.eat(",");
        }
        any.then_some(())
    }

    /// Parses `clat percentiles (usec):` and lines of `| 1.00th=[  149], ...`.
    fn percentiles(&mut self, c: &mut Cursor) -> Option<()> {
        let name = c.next()?.text;
        if !["clat", "lat", "slat", "sync"].contains(&name) {
            return None;
        }
        // fio 3 with `clat_prio_stats`: `clat prio 0/0 (50.00% of IOs) percentiles`; these do not cover all I/O and are left out.
        c.eat_all(&["percentiles", "("]).then_some(())?;
        let (factor, unit) = parenthesis(c)?;
        c.eat(":").then_some(())?;
        if name == "sync" && self.current.is_some() {
            self.goes_on_with_syncs();
        }
        self.unnamed(name);
        let row = self.reading.rows.get_mut(self.current?)?;
        let mut any = false;
        loop {
            while c.eat("|") {}
            let read = c.attempt(|c| {
                let rank = c.key()?;
                let percentile = decimal(rank.text.strip_suffix("th")?)?;
                c.eat("[").then_some(())?;
                let value = c.next()?;
                let v = decimal(value.text)?;
                c.eat("]").then_some(())?;
                row.values.put(
                    format!("{name}.{}", percentile_name(percentile)),
                    v * factor,
                    unit,
                    value.spot,
                );
                Some(())
            });
            if read.is_none() {
                return any.then_some(());
            }
            any = true;
            c.eat(",");
        }
    }

    /// Parses `lat (usec) : 100=0.01%, 250=61.93%, ...`: shares of the job's I/O below each limit, over all operations.
    fn shares(&mut self, c: &mut Cursor) -> Option<()> {
        c.eat_all(&["lat", "("]).then_some(())?;
        let (factor, unit) = parenthesis(c)?;
        c.eat(":").then_some(())?;
        if unit != Unit::Nanoseconds {
            return None;
        }
        let mut buckets = Vec::new();
        while let Some(key) = c.key() {
            let value = c.next()?;
            let share = suffixed(value.text, |s| (s == "%").then_some(0.01))?;
            let (from, below) = match key.text.strip_prefix(">=") {
                Some(from) => (decimal(from)?, f64::INFINITY),
                None => (limit_below(decimal(key.text)?, factor), decimal(key.text)?),
            };
            let count = Number::new(share, Unit::Share, value.spot);
            buckets.push(Bucket { from: from * factor, below: below * factor, count });
            c.eat(",");
        }
        if buckets.is_empty() {
            return None;
        }
        self.row("all").histogram.extend(buckets);
        Some(())
    }

    /// Sorts the shares; each range starts at the limit below it.
    fn end(&mut self) {
        if let Some(all) = self.reading.rows.iter_mut().find(|row| row.of == "all") {
            all.histogram.sort_by(|a, b| a.below.total_cmp(&b.below));
            let mut from = 0.0;
            for bucket in &mut all.histogram {
                bucket.from = bucket.from.max(from);
                from = bucket.below;
            }
        }
    }
}

/// Limits of fio's shares in each unit (`io_u_lat_u`, stat.h); shares of 0 are not printed. The first limit of milliseconds is
/// above the last of microseconds; below microseconds fio 2 has no unit.
const LIMITS: [f64; 11] = [2.0, 4.0, 10.0, 20.0, 50.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2000.0];

fn limit_below(limit: f64, factor: f64) -> f64 {
    let first = if factor == 1e6 { 1.0 } else { 0.0 };
    LIMITS.iter().rev().copied().find(|below| *below < limit).unwrap_or(first)
}

#[cfg(test)]
#[path = "fio_text_tests.rs"]
mod tests;
