//! Reads excerpts of blkparse's text in a mail: a few events, with or without CPU and sequence number, with remarks between
//! them, or as a table with bars. Whole files of this text are recordings, which crate `trace` reads.
//!
//! ```text
//! 8,0    3   11  118.779435324   638  G  WS 11705240 + 8 [kjournald]
//! 8,0  118.779436253 638 I WS 11705240 + 8 [kjournald]     IO Scheduler
//!                                                          5 seconds
//! 8,0  123.784506489   0 D WS 11705240 + 8 [swapper]
//! ```
//!
//! Each request has a row with its size and the times of its steps (`at.G`, `at.I`, ...).
//!
//! **Versions**: blktrace 1.2.0 (`blkparse`).

use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;

pub struct Requests;

/// Limit on words of remarks between two events.
const MOST_REMARKS: usize = 16;
/// Limit on bars between two cells: the end of a line, a ruler, the start of the next line.
const MOST_BARS: usize = 24;
/// Limit on events; more are a recording, not an excerpt.
const MOST_EVENTS: usize = 1000;

/// A parsed line of an event.
struct Line<'a> {
    time: f64,
    action: &'a str,
    rwbs: &'a str,
    sector: u64,
    sectors: u64,
    task: String,
    spot: Spot,
}

impl Tool for Requests {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if is_heading(words) {
            return Found::noise(heading_words(words));
        }
        let Some((line, mut used)) = event(words) else { return fragment(words) };
        let mut reading = Reading { tool: "blkparse", at: words[0].spot, ..Reading::default() };
        let mut last = line.time;
        add(&mut reading, &line);
        let mut unknown = 0;
        for _ in 1..MOST_EVENTS {
            let rest = &words[used..];
            // A remark may be between two lines of one excerpt; a blank line ends the excerpt.
            let within = rest.iter().take(MOST_REMARKS).take_while(|w| !w.paragraph || is_bar(w)).count();
            let next = (0..=within).find_map(|skip| Some((skip, event(rest.get(skip..)?)?)));
            let Some((skip, (line, length))) = next else { break };
            // An earlier time belongs to another excerpt.
            if line.time < last {
                break;
            }
            last = line.time;
            unknown += rest[..skip].iter().filter(|w| !is_bar(w)).count();
            used += skip + length;
            add(&mut reading, &line);
        }
        Some(Found { reading: Some(reading), used, unknown })
    }
}

fn is_bar(word: &Word) -> bool {
    word.text.bytes().all(|b| b == b'|' || b == b'-')
}

/// Whether a heading starts here: `Dev CPU Seq Time PID Act Dir Sector + len`, as in slides.
fn is_heading(words: &[Word]) -> bool {
    let mut heads = words.iter().take(MOST_BARS).filter(|w| !is_bar(w)).take(9).map(|w| w.text);
    heads.next() == Some("Dev") && heads.clone().any(|w| w == "PID") && heads.any(|w| w == "Act")
}

fn heading_words(words: &[Word]) -> usize {
    const HEADS: [&str; 10] = ["Dev", "CPU", "Seq", "Time", "PID", "Act", "Dir", "Sector", "+", "len"];
    words.iter().take_while(|w| is_bar(w) || HEADS.contains(&w.text)).count()
}

/// Skips part of an event's line, as in slides, whose request cannot be determined.
fn fragment(words: &[Word]) -> Option<Found> {
    let number = |i: usize| words.get(i).is_some_and(|w| w.text.parse::<u64>().is_ok());
    if is_device(words[0].text) && words.get(1).is_some_and(|w| is_time(w.text)) && number(2) {
        let used = 3 + name_words(&words[3..]);
        return Some(Found { reading: None, used, unknown: used });
    }
    let plus =
        (1..3).find(|i| words.get(i + 1).is_some_and(|w| w.text == "+") && number(*i) && number(i + 2))?;
    let letters = words[..plus]
        .iter()
        .all(|w| w.text.len() <= 4 && w.text.chars().all(|c| "QGIDCMFXARSPTUBWNE".contains(c)));
    let mut used = plus + 3;
    let remapped = words.get(used).is_some_and(|w| w.text == "<-");
    used += if remapped { 3.min(words.len() - used) } else { name_words(&words[used..]) };
    letters.then_some(Found { reading: None, used, unknown: used })
}

/// Number of words of a name in brackets: `[kjournald]`, `[crm node]`.
fn name_words(words: &[Word]) -> usize {
    match words.first() {
        Some(first) if first.text.starts_with('[') => {
            words.iter().take(3).position(|w| w.text.ends_with(']')).map_or(0, |end| end + 1)
        }
        _ => 0,
    }
}

/// Parses one event; also returns its number of words.
fn event<'a>(words: &[Word<'a>]) -> Option<(Line<'a>, usize)> {
    let first = words.first()?;
    // A row of a table with bars starts with a bar.
    if !(is_device(first.text) || first.text == "|") {
        return None;
    }
    let mut at = 0;
    let mut next = || {
        at += words.get(at..).unwrap_or(&[]).iter().take(MOST_BARS).take_while(|w| is_bar(w)).count();
        at += 1;
        words.get(at - 1).map(|w| w.text)
    };
    is_device(next()?).then_some(())?;
    let mut time = next()?;
    if !is_time(time) {
        // CPU and sequence number.
        time.parse::<u32>().ok()?;
        next()?.parse::<u64>().ok()?;
        time = next()?;
    }
    is_time(time).then_some(())?;
    next()?.parse::<u32>().ok()?;
    let action = next()?;
    let rwbs = next()?;
    let letters = |text: &str, of: &str| !text.is_empty() && text.chars().all(|c| of.contains(c));
    if action.len() != 1 || !letters(action, "QGIDCMFXARSPTUB") || !letters(rwbs, "RWDNFSMAE") {
        return None;
    }
    let sector = next()?.parse().ok()?;
    (next()? == "+").then_some(())?;
    let sectors = next()?.parse().ok()?;
    let time = decimal(time)? * 1e9;
    let mut task = String::new();
    // `[kjournald]`, `[crm node]`: at most three words.
    let rest = &words[at..];
    let bars = rest.iter().take(MOST_BARS).take_while(|w| is_bar(w)).count();
    let mut used = at;
    if rest.get(bars).is_some_and(|w| w.text.starts_with('[')) {
        if let Some(end) = rest[bars..].iter().take(3).position(|w| w.text.ends_with(']')) {
            let name: Vec<&str> = rest[bars..=bars + end].iter().map(|w| w.text).collect();
            task = name.join(" ").trim_matches(['[', ']']).to_owned();
            used = at + bars + end + 1;
        }
    } else if rest.first().is_some_and(|w| w.text == "<-") {
        used = at + rest.len().min(3);
    }
    Some((Line { time, action, rwbs, sector, sectors, task, spot: first.spot }, used))
}

/// Whether a word is a device: `8,0`; also `8.0`, as in scanned slides: the following words are checked anyway.
fn is_device(text: &str) -> bool {
    let parts = text.split_once(',').or_else(|| text.split_once('.'));
    parts.is_some_and(|(a, b)| a.parse::<u16>().is_ok() && b.parse::<u32>().is_ok() && b.len() < 8)
}

/// Whether a word is a time in seconds with nine decimal places, as blkparse prints it.
fn is_time(text: &str) -> bool {
    text.split_once('.').is_some_and(|(_, nanoseconds)| nanoseconds.len() == 9) && decimal(text).is_some()
}

fn add(reading: &mut Reading, line: &Line) {
    let of = format!("{} {} + {}", line.rwbs, line.sector, line.sectors);
    if reading.row(&of).is_none() {
        let mut row = Row::of(of.clone());
        row.values.put("bytes", line.sectors as f64 * 512.0, Unit::Bytes, line.spot);
        reading.rows.push(row);
    }
    // The task that sent it; completions name the interrupted task.
    if !line.task.is_empty() && line.action != "C" && reading.setting(&of).is_none() {
        reading.settings.push(Setting { name: of.clone(), value: line.task.clone(), at: line.spot });
    }
    if let Some(row) = reading.rows.iter_mut().find(|row| row.of == of) {
        row.values.put(format!("at.{}", line.action), line.time, Unit::Nanoseconds, line.spot);
    }
}
