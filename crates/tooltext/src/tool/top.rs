//! Reads a screen of top(1), in batch mode or pasted: load, processors, memory, swap; of the tasks those in state D (uninterruptible), and kswapd,
//! which frees memory.
//!
//! ```text
//! top - 14:02:50 up 16:38,  1 user,  load average: 378.90, 324.11, 182.45
//! Tasks: 488 total,   2 running, 447 sleeping,   0 stopped,  39 zombie
//! %Cpu(s):  4.4 us,  6.6 sy,  0.0 ni,  0.0 id, 88.3 wa,  0.2 hi,  0.3 si,  0.2 st        older: Cpu(s):  4.4%us,  6.6%sy,
//! MiB Mem :  88363.9 total,   1007.3 free,  87028.3 used,    328.2 buff/cache            older: Mem:  8197444k total,  7540068k used,
//! MiB Swap:      0.0 total,      0.0 free,      0.0 used.    549.4 avail Mem             older: Swap:  0k total, 0k used, 0k free, 42822k cached
//!     PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
//!     160 root      20   0       0      0      0 R  99.0   0.0  10:42.59 [kswapd0]
//!     171 root       0 -20       0      0      0 D   2.7   0.0   0:08.78 kworker/1:1H+kb
//! ```
//!
//! The processors' times are kept as they are printed: what waits for I/O is idle, and one screen may be the mean since the machine was
//! started (top(1), "SUMMARY Display"). A number that did not fit is cut off and ends in `+`: it is not used.
//!
//! **Versions**: procps 3.2 to 4.0 by published texts; 4.0.2 run.

use super::ps::Task;
use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::{decimal, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;

pub struct Top;

/// Columns of fields that people show (top(1), "DESCRIPTIONS of Fields"); numbers with a unit (`1.2g`) are words.
const COLUMNS: [Column; 29] = [
    ("PID", Cell::Whole),
    ("PPID", Cell::Whole),
    ("TGID", Cell::Whole),
    ("UID", Cell::Word),
    ("USER", Cell::Word),
    ("RUSER", Cell::Word),
    ("GROUP", Cell::Word),
    ("TTY", Cell::Word),
    ("PR", Cell::Word),
    ("NI", Cell::Whole),
    ("nTH", Cell::Whole),
    ("P", Cell::Whole),
    ("VIRT", Cell::Word),
    ("SWAP", Cell::Word),
    ("RES", Cell::Word),
    ("CODE", Cell::Word),
    ("DATA", Cell::Word),
    ("SHR", Cell::Word),
    ("nMaj", Cell::Word),
    ("nMin", Cell::Word),
    ("nDRT", Cell::Word),
    ("WCHAN", Cell::Word),
    ("S", Cell::Letters),
    ("%CPU", Cell::Number("cpu", 0.01, Unit::Share)),
    ("%MEM", Cell::Word),
    ("TIME+", Cell::Word),
    ("TIME", Cell::Word),
    ("COMMAND", Cell::Rest),
    ("Command", Cell::Rest),
];
/// The processors' times: what top prints, and what they are called.
const TIMES: [(&str, &str); 8] = [
    ("us", "user"),
    ("sy", "system"),
    ("ni", "nice"),
    ("id", "idle"),
    ("wa", "iowait"),
    ("hi", "irq"),
    ("si", "softirq"),
    ("st", "steal"),
];
/// Numbers of tasks.
const TASKS: [(&str, &str); 7] = [
    ("total", "total"),
    ("running", "running"),
    ("sleeping", "sleeping"),
    ("sleep", "sleeping"),
    ("d-sleep", "blocked"),
    ("stopped", "stopped"),
    ("zombie", "zombie"),
];
/// Parts of memory and of swap.
const SIZES: [(&str, &str); 7] = [
    ("total", "total"),
    ("free", "free"),
    ("used", "used"),
    ("buff/cache", "cached"),
    ("buffers", "buffers"),
    ("cached", "cached"),
    ("avail", "available"),
];
/// Sizes that stand in the line of swap and are of memory.
const OF_MEMORY: [&str; 2] = ["cached", "available"];
/// The least pairs of a number and a name in a line of the head.
const LEAST: usize = 3;
/// Limit on words between the time and the load: `up 1 day, 16:38,  1 user,  load average:`.
const MOST_BEFORE_LOAD: usize = 12;
/// The thread that frees memory for all others, one for each node (mm/vmscan.c).
const FREES_MEMORY: &str = "kswapd";

impl Tool for Top {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "top", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while let Some(length) = words.get(used..).and_then(|rest| line(rest, &mut reading)) {
            used += length;
        }
        let tasks = words.get(used..).and_then(|rest| tasks(rest, &mut reading));
        let (length, unknown) = tasks.unwrap_or_default();
        used += length;
        (used > 0).then_some(())?;
        let reading = (!reading.rows.is_empty()).then_some(reading);
        Some(Found { reading, used, unknown })
    }
}

/// Adds what a line of the head says; its number of words. A second screen begins with a line that is there already.
fn line(words: &[Word], reading: &mut Reading) -> Option<usize> {
    let (rows, used) =
        load(words).or_else(|| counts(words)).or_else(|| times(words)).or_else(|| sizes(words))?;
    for row in rows {
        match reading.rows.iter_mut().find(|known| known.of == row.of) {
            Some(known) if row.values.iter().any(|(name, _)| known.get(name).is_some()) => return None,
            Some(known) => {
                row.values.iter().for_each(|(name, n)| known.values.put(name, n.value, n.unit, n.at))
            }
            None => reading.rows.push(row),
        }
    }
    Some(used)
}

/// Parses `top - 14:02:50 up 16:38,  1 user,  load average: 378.90, 324.11, 182.45`; a mark of Markdown may stand before.
fn load(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let [top, dash, _, up] = super::reader::texts(words)?;
    (top.trim_start_matches('`') == "top" && dash == "-" && up == "up").then_some(())?;
    let at = words.iter().take(MOST_BEFORE_LOAD).position(|w| w.text == "average:")? + 1;
    let mut row = Row::of("load");
    for (i, name) in ["load.1m", "load.5m", "load.15m"].into_iter().enumerate() {
        let word = words.get(at + i)?;
        row.values.put(name, decimal(word.text.trim_end_matches(','))?, Unit::Unstated, word.spot);
    }
    Some((vec![row], at + 3))
}

/// Parses `Tasks: 488 total,   2 running, 447 sleeping,   0 stopped,  39 zombie`.
fn counts(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let of = words.first()?.text;
    ["Tasks:", "Threads:"].contains(&of).then_some(())?;
    let (pairs, used) = pairs(words.get(1..)?, &TASKS);
    (pairs.len() >= LEAST).then_some(())?;
    let mut row = Row::of(if of == "Tasks:" { "tasks" } else { "threads" });
    add(&pairs, &mut row, 1.0, Unit::Count);
    Some((vec![row], 1 + used))
}

/// Parses `%Cpu(s):  4.4 us,  6.6 sy, ...`, `%Cpu0  :  4.4 us, ...` and `Cpu(s):  4.4%us,  6.6%sy, ...`.
fn times(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let first = words.first()?.text.trim_start_matches('%').strip_prefix("Cpu")?;
    let (processor, rest) = match first.split_once(':') {
        Some((processor, rest)) => (processor, rest),
        None => (first, ""),
    };
    let before = 1 + usize::from(!first.contains(':') && words.get(1).is_some_and(|w| w.text == ":"));
    // `%Cpu(s):100.0 us`: the first number has no blank before it.
    let glued = Word { text: rest, ..words[0] };
    let all: Vec<Word> = (!rest.is_empty())
        .then_some(glued)
        .into_iter()
        .chain(words.iter().skip(before).take(MOST_OF_LINE).copied())
        .collect();
    let (pairs, used) = pairs(&all, &TIMES);
    (pairs.len() >= LEAST).then_some(())?;
    let mut row = match processor {
        "(s)" => Row::of("cpu"),
        number => Row::of(format!("cpu {}", number.parse::<u16>().ok()?)),
    };
    add(&pairs, &mut row, 0.01, Unit::Share);
    Some((vec![row], before + used - usize::from(!rest.is_empty())))
}

/// Parses `MiB Mem :  88363.9 total, ...`, `KiB Swap: ...` and `Mem:   8197444k total, ...`.
fn sizes(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let first = words.first()?.text;
    let scale = scale(first.strip_suffix("iB").unwrap_or(""));
    let at = usize::from(scale.is_some());
    let of = words.get(at)?.text;
    let name = of.trim_end_matches(':');
    ["Mem", "Swap"].contains(&name).then_some(())?;
    let colon = usize::from(name == of && words.get(at + 1)?.text == ":");
    (name != of || colon > 0).then_some(())?;
    let from = at + 1 + colon;
    let (pairs, used) = pairs(words.get(from..)?, &SIZES);
    (pairs.len() >= LEAST).then_some(())?;
    let (mut memory, mut swap) = (Row::of("memory"), Row::of("swap"));
    for pair in pairs {
        let to = if name == "Swap" && !OF_MEMORY.contains(&pair.name) { &mut swap } else { &mut memory };
        let scale = pair.scale.or(scale)?;
        add(&[pair], to, scale, Unit::Bytes);
    }
    let rows = [memory, swap].into_iter().filter(|row| !row.values.is_empty()).collect();
    Some((rows, from + used))
}

/// Adds the numbers that are known.
fn add(pairs: &[Pair], row: &mut Row, factor: f64, unit: Unit) {
    for pair in pairs {
        if let Some(value) = pair.value {
            row.values.put(pair.name, value * factor, unit, pair.at);
        }
    }
}

/// The size of a unit by its letter.
fn scale(letter: &str) -> Option<f64> {
    let power = "KMGTPE".find(letter.to_ascii_uppercase().as_str()).filter(|_| letter.len() == 1)?;
    Some(1024f64.powi(power as i32 + 1))
}

/// A number with its name.
struct Pair {
    name: &'static str,
    /// Unknown if it is cut off.
    value: Option<f64>,
    /// The size of its unit, if that is attached.
    scale: Option<f64>,
    at: Spot,
}

/// Limit on words of numbers and names in a line.
const MOST_OF_LINE: usize = 24;

/// The numbers with these names at the start of `words`, and the number of words. Numbers may be attached to their name, and to the name before
/// them: `0.0%ni,100.0%id,`, `0.0 us,100.0 sy,`.
fn pairs(words: &[Word], known: &[(&str, &'static str)]) -> (Vec<Pair>, usize) {
    let (mut all, mut used): (Vec<Pair>, usize) = (vec![], 0);
    let mut number: Option<(f64, &str, Spot)> = None;
    for (i, word) in words.iter().take(MOST_OF_LINE).enumerate() {
        for part in parts(word.text) {
            let (value, name) = match (number, with_suffix(part)) {
                // A number, perhaps with its unit: the name follows.
                (None, Some((value, unit))) if unit.len() <= 1 => {
                    number = Some((value, unit, word.spot));
                    continue;
                }
                (None, Some((value, rest))) => {
                    ((value, if rest.starts_with('+') { "+" } else { "" }, word.spot), rest)
                }
                (Some(number), None) => (number, part),
                // `avail Mem`.
                (None, None) if part == "Mem" && used == i && !all.is_empty() => {
                    used = i + 1;
                    continue;
                }
                _ => return (all, used),
            };
            let name = name.trim_start_matches(['%', '+']).trim_end_matches(['.', ',']);
            let Some((_, name)) = known.iter().find(|(printed, _)| *printed == name) else {
                return (all, used);
            };
            number = None;
            used = i + 1;
            let known = (value.1 != "+").then_some(value.0);
            all.push(Pair { name, value: known, scale: scale(value.1), at: value.2 });
        }
    }
    (all, used)
}

/// The parts of a word: a comma behind a letter separates them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let cut = move |c: char| {
        let cuts = c == ',' && before.is_alphabetic();
        before = c;
        cuts
    };
    text.split(cut).filter(|part| !part.is_empty())
}

/// Adds the tasks in state D and kswapd; the number of words of the table, and of those that were not understood.
fn tasks(words: &[Word], reading: &mut Reading) -> Option<(usize, usize)> {
    (words.first()?.text == "PID").then_some(())?;
    let (columns, heading) = table::heading(words, &COLUMNS);
    let command = columns.last().filter(|(_, cell)| *cell == Cell::Rest)?.0;
    table::has(&columns, &["PID", "S", "%CPU"]).then_some(())?;
    let all = table::rows(&words[heading..], &columns);
    for line in &all.lines {
        let text = |name: &str| line.text(name).unwrap_or_default();
        let name = text(command);
        let called = name.trim_matches(['[', ']']);
        let busy = line.number("cpu").filter(|_| called.starts_with(FREES_MEMORY));
        if let Some(n) = busy.filter(|_| reading.row(called).is_none()) {
            let mut row = Row::of(called);
            row.values.put("cpu", n.value, n.unit, n.at);
            reading.rows.push(row);
        }
        let (number, state, wchan) = (text("PID"), text("S"), text("WCHAN"));
        let task =
            Task { command: name, number, state, wchan, started: String::new(), at: line.first().spot };
        task.add_to(reading);
    }
    Some((heading + all.used, all.unknown))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const NEW: &str = "top - 14:02:50 up 16:38,  1 user,  load average: 378.90, 324.11, 182.45\n\
        Tasks: 488 total,   2 running, 447 sleeping,   0 stopped,  39 zombie\n\
        %Cpu(s):  4.4 us,  6.6 sy,  0.0 ni,  0.0 id, 88.3 wa,  0.2 hi,  0.3 si,  0.2 st\n\
        MiB Mem :  88363.5 total,   1007.5 free,  87028.0 used,    328.5 buff/cache\n\
        MiB Swap:      0.0 total,      0.0 free,      0.0 used.    549.5 avail Mem \n\n    \
        PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n    \
        160 root      20   0       0      0      0 R  99.0   0.0  10:42.59 [kswapd0]\n     \
        76 root       0 -20       0      0      0 D   2.7   0.0   0:08.78 kworker/1:1H+kb\n   \
        2316 phablet   20   0  720672   6372      0 S   1.0   0.7   0:08.30 ubuntu-push-cli\n   \
        2317 mysql     20   0 1.2g   6372      0 D   1.0   0.7   0:08.30 mysqld --user x\n";

    /// The numbers of a row, in MiB if they are sizes.
    fn row(text: &str, of: &str) -> Vec<(String, f64)> {
        let reading = one(text, "top");
        let row = reading.row(of).unwrap_or_else(|| panic!("{of} in {reading:?}"));
        let of_size = |(name, n): (&str, crate::output::Number)| {
            (
                name.to_owned(),
                if n.unit == crate::output::Unit::Bytes { n.value / 1_048_576.0 } else { n.value },
            )
        };
        row.values.iter().map(of_size).collect()
    }

    fn pairs<const N: usize>(all: [(&str, f64); N]) -> Vec<(String, f64)> {
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn the_head_and_the_tasks_are_read() {
        assert_eq!(row(NEW, "load"), pairs([("load.1m", 378.9), ("load.5m", 324.11), ("load.15m", 182.45)]));
        let memory = pairs([
            ("total", 88363.5),
            ("free", 1007.5),
            ("used", 87028.0),
            ("cached", 328.5),
            ("available", 549.5),
        ]);
        assert_eq!(row(NEW, "memory"), memory);
        assert_eq!(row(NEW, "swap"), pairs([("total", 0.0), ("free", 0.0), ("used", 0.0)]));
        assert_eq!(row(NEW, "kswapd0"), pairs([("cpu", 0.99)]));
        let reading = one(NEW, "top");
        assert_eq!(reading.row("cpu").and_then(|r| r.value("iowait")), Some(0.883));
        assert_eq!(reading.row("tasks").and_then(|r| r.value("zombie")), Some(39.0));
        let tasks: Vec<_> = reading.settings.iter().map(|s| (s.name.as_str(), s.value.as_str())).collect();
        assert_eq!(tasks, [("kworker/1:1H+kb:76", "in state D"), ("mysqld --user x:2317", "in state D")]);
        assert_eq!(reading.row("mysqld").and_then(|r| r.value("blocked")), Some(1.0));
    }

    /// procps 3.3 before 3.3.10, and 3.2.
    #[test]
    fn older_heads_have_the_same_numbers() {
        let first = "KiB Mem:    886784 total,   804864 used,    81920 free,    10240 buffers\nKiB Swap:        0 total,        0 used,        0 free.   665600 cached Mem\n";
        let memory =
            pairs([("total", 866.0), ("used", 786.0), ("free", 80.0), ("buffers", 10.0), ("cached", 650.0)]);
        assert_eq!(row(first, "memory"), memory);
        let old = "Tasks:  85 total,   1 running,  84 sleeping,   0 stopped,   0 zombie\n\
            Cpu(s):  0.0%us,  0.3%sy,  0.0%ni,100.0%id,  0.1%wa,  0.0%hi,  0.0%si,  0.0%st\n\
            Mem:    886784k total,   804864k used,    81920k free,    10240k buffers\n\
            Swap:  1048576k total,        0k used,  1048576k free,   665600k cached\n";
        assert_eq!((row(old, "memory"), row(old, "swap").len()), (memory, 3));
        let cpu = row(old, "cpu");
        assert_eq!((cpu.len(), cpu[3].clone()), (8, ("idle".to_owned(), 1.0)));
    }

    #[test]
    fn numbers_without_a_blank_before_them_and_such_that_did_not_fit() {
        let text = "%Cpu(s):100.0 us,  0.0 sy,  0.0 ni,  0.0 id,  0.0 wa\nKiB Mem : 13196748+total, 1048576 free,  2097152 used, 98123456+buff/cache\n";
        assert_eq!(row(text, "memory"), pairs([("free", 1024.0), ("used", 2048.0)]));
        assert_eq!(row(text, "cpu")[0], ("user".to_owned(), 1.0));
        let comma = "%Cpu(s):  1,5 us,  0,5 sy,  0,0 ni,100,0 id,  0,0 wa\n";
        assert_eq!(row(comma, "cpu")[..2], pairs([("user", 0.015), ("system", 0.005)])[..]);
        assert_eq!(row("%Cpu1  :  4.0 us,  6.0 sy,  0.0 ni, 90.0 id\n", "cpu 1").len(), 4);
    }

    #[test]
    fn each_screen_is_a_reading_and_other_texts_are_none() {
        assert_eq!(all(&format!("{NEW}\n{NEW}"), "top").len(), 2);
        for other in [
            "Mem:  7982 1234 free\n",
            "Tasks: 3 things\n",
            "              total        used        free      shared  buff/cache   available\nMem:           7982        1234        5000          12        1748        6500\n",
            "top - level list of what is up now\n",
        ] {
            assert!(all(other, "top").is_empty(), "{other}");
        }
    }
}
