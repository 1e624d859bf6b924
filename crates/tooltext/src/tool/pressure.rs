//! Reads `/proc/pressure/io` and similar files, and `io.stat` of cgroups: pressure of waiting for I/O, and I/O per device
//! (Documentation/accounting/psi.rst, Documentation/admin-guide/cgroup-v2.rst).
//!
//! ```text
//! some avg10=12.34 avg60=5.00 avg300=1.00 total=123456789        total: microseconds
//! full avg10=10.00 avg60=4.00 avg300=0.50 total=100000000
//! ==> /proc/pressure/io <==                                      head(1) and tail(1) of several files; what pressure it is
//! # cat /proc/pressure/io                                        the same, as `/proc/pressure/io:` and any heading with the path
//! 8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0
//! ```
//!
//! **Versions**: Linux 4.20, the first with `/proc/pressure`, to 6.1, which was run.

use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Pressure;

/// Keys of both files: printed name, name in a row, factor, unit.
const KEYS: [(&str, &str, f64, Unit); 10] = [
    ("avg10", "avg10", 0.01, Unit::Share),
    ("avg60", "avg60", 0.01, Unit::Share),
    ("avg300", "avg300", 0.01, Unit::Share),
    ("total", "total", 1e3, Unit::Nanoseconds),
    ("rbytes", "read.bytes", 1.0, Unit::Bytes),
    ("wbytes", "write.bytes", 1.0, Unit::Bytes),
    ("rios", "read.ios", 1.0, Unit::Count),
    ("wios", "write.ios", 1.0, Unit::Count),
    ("dbytes", "discard.bytes", 1.0, Unit::Bytes),
    ("dios", "discard.ios", 1.0, Unit::Count),
];
const MOST_ROWS: usize = 4096;

impl Tool for Pressure {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if let Some((resource, used)) = file(words) {
            let found = Pressure.read(words.get(used..)?)?;
            let mut reading = found.reading?;
            reading.rows.iter_mut().for_each(|row| row.of = format!("{resource} {}", row.of));
            reading.at = words[0].spot;
            return Some(Found { reading: Some(reading), used: used + found.used, unknown: found.unknown });
        }
        let (first, length) = row(words)?;
        let tool = if first.get("avg10").is_some() { "pressure" } else { "io.stat" };
        let mut reading = Reading { tool, rows: vec![first], at: words[0].spot, ..Reading::default() };
        let mut used = length;
        while reading.rows.len() < MOST_ROWS {
            let Some((row, length)) = row(&words[used..]) else { break };
            let same = row.get("avg10").is_some() == (tool == "pressure");
            if !same || reading.row(&row.of).is_some() {
                break;
            }
            reading.rows.push(row);
            used += length;
        }
        Found::all(reading, used)
    }
}

/// Limit on words before the path in its line: a prompt, `sudo`, `cat`; `----- Output from`.
const MOST_BEFORE: usize = 5;

/// The resource in `==> /proc/pressure/io <==`, `cat /proc/pressure/io`, `/proc/pressure/io:`, or in the path of a cgroup's file
/// (`.../io.pressure`), and the number of words up to the values.
fn file<'a>(words: &[Word<'a>]) -> Option<(&'a str, usize)> {
    let line = words.iter().take(1 + MOST_BEFORE).enumerate().take_while(|(i, w)| *i == 0 || !w.first);
    let (at, name) = line.into_iter().find_map(|(i, w)| Some((i, resource(w.text)?)))?;
    let drawn = |w: &&Word| w.text.bytes().all(|b| b"-=<>#:*".contains(&b));
    Some((name, at + 1 + words[at + 1..].iter().take(MOST_BEFORE).take_while(drawn).count()))
}

/// The resource that a path names.
fn resource(path: &str) -> Option<&str> {
    let path = path.trim_end_matches([':', ',', '`', '"', ')']);
    let name = path.rsplit('/').next()?;
    let name = name.strip_suffix(".pressure").or_else(|| path.contains("/pressure/").then_some(name))?;
    ["cpu", "io", "memory", "irq"].contains(&name).then_some(name)
}

fn row(words: &[Word]) -> Option<(Row, usize)> {
    let name = words.first()?.text;
    // grep prints the file before the line: `/proc/pressure/io:some avg10=...`, `system.slice/io.stat:8:16 rbytes=...`.
    let (group, name) = match name.split_once("io.stat:") {
        Some((path, name)) => (path.trim_end_matches('/').rsplit('/').next(), name),
        None => (None, name),
    };
    let of = name
        .rsplit_once(':')
        .filter(|(_, rest)| *rest == "some" || *rest == "full")
        .map_or(name, |(_, of)| of);
    let device =
        of.split_once(':').is_some_and(|(a, b)| a.parse::<u16>().is_ok() && b.parse::<u32>().is_ok());
    (of == "some" || of == "full" || device).then_some(())?;
    let mut row = match group.filter(|group| device && !group.is_empty()) {
        Some(group) => Row::of(format!("{name} of {group}")),
        None => Row::of(name),
    };
    let mut used = 1;
    while let Some((key, value)) = words.get(used).and_then(|w| w.text.split_once('=')) {
        match KEYS.iter().find(|(known, ..)| *known == key) {
            Some((_, to, factor, unit)) => {
                // People add a `%` sign.
                let value = if *unit == Unit::Share { value.trim_end_matches('%') } else { value };
                row.values.put(*to, decimal(value)? * factor, *unit, words[used].spot);
            }
            // Keys of the controllers of cost and latency, if these are enabled.
            None if key.contains('.') || key.ends_with("_lat") || key == "depth" => {}
            None => break,
        }
        used += 1;
    }
    (used > 2).then_some((row, used))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn pressure_is_a_share_and_a_sum_of_time() {
        let text = "some avg10=12.34 avg60=5.00 avg300=1.00 total=123456789\nfull avg10=10.00 avg60=4.00 avg300=0.50 total=100000000\n";
        let reading = one(text, "pressure");
        assert_eq!(
            (reading.rows[0].value("avg10"), reading.rows[1].value("total")),
            (Some(0.1234), Some(100e9))
        );
        let marked = text.replace(" avg60", "% avg60").replace(" total", "% total");
        assert_eq!(one(&marked, "pressure").rows[0].value("avg10"), Some(0.1234));
        let grep: String = text.lines().map(|l| format!("/proc/pressure/io:{l}\n")).collect();
        assert_eq!(one(&grep, "pressure").rows[0].of, "/proc/pressure/io:some");
        let of = |file: &str| format!("==> {file} <==\n{text}\n");
        let files = all(&(of("/proc/pressure/cpu") + &of("/sys/fs/cgroup/a/io.pressure")), "pressure");
        let names: Vec<&str> = files.iter().flat_map(|r| &r.rows).map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["cpu some", "cpu full", "io some", "io full"]);
        for heading in [
            "$ cat /proc/pressure/memory\n",
            "cat /proc/pressure/memory\n",
            "[root@db7 ~]# cat /proc/pressure/memory\n",
            "me@db7:~$ sudo cat /proc/pressure/memory\n",
            "----- Output from /proc/pressure/memory -----\n",
            "/proc/pressure/memory:     ",
        ] {
            let reading = one(&format!("{heading}{text}"), "pressure");
            assert_eq!(reading.rows[1].of, "memory full", "{heading}");
        }
    }

    #[test]
    fn groups_have_devices() {
        let text = "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n8:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252\n";
        let reading = one(text, "io.stat");
        assert_eq!((reading.rows.len(), reading.rows[0].value("write.ios")), (2, Some(353.0)));
        let grep = "a/x.slice/io.stat:8:0 rbytes=1 wbytes=2 rios=3\na/x.slice/y.service/io.stat:8:0 rbytes=4 wbytes=5 rios=6\n";
        let reading = one(grep, "io.stat");
        let told: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("read.ios"))).collect();
        assert_eq!(told, [("8:0 of x.slice", Some(3.0)), ("8:0 of y.service", Some(6.0))]);
        assert!(all("at 8:16 some of us ate", "io.stat").is_empty());
    }
}
