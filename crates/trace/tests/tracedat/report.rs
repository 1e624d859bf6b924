//! Reads what `trace-cmd report` prints, line beside record.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use trace::tracedat::{self, Kind, Record, Stacks, Step, Strings, Symbols};
use trace::{Batch, Source};

fn report(file: &Path, options: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let mut child = Command::new("trace-cmd")
        .arg("report")
        .args(options)
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("trace-cmd starts");
    let out = BufReader::new(child.stdout.take().expect("piped"));
    (child, out.split(b'\n').map(|l| String::from_utf8_lossy(&l.expect("a line")).into_owned()))
}

/// `bash-20110 [000]   914.460480597: block_unplug:          nr_rq=1 comm=nproc`
struct Line<'a> {
    tid: i64,
    cpu: u32,
    nanos: u64,
    name: &'a str,
    fields: &'a str,
}

fn parse(line: &str) -> Option<Line<'_>> {
    let open = line.char_indices().map(|(i, _)| i).find(|&i| {
        let rest = &line[i..];
        rest.starts_with(" [") && rest.get(2..5).is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()))
    })?;
    let tid = line[..open].trim_end().rsplit('-').next()?.trim().parse().ok()?;
    let (cpu, rest) = line[open + 2..].split_once(']')?;
    let (time, rest) = rest.trim_start().split_once(": ")?;
    let (seconds, nanos) = time.rsplit(' ').next()?.split_once('.')?;
    assert_eq!(nanos.len(), 9, "nanoseconds are asked for: {line}");
    let (name, fields) = rest.trim_start().split_once(':')?;
    Some(Line {
        tid,
        cpu: cpu.parse().ok()?,
        nanos: seconds.parse::<u64>().ok()? * 1_000_000_000 + nanos.parse::<u64>().ok()?,
        name,
        fields,
    })
}

/// Compares every event of a file, field by field; gives their number. `options` go to trace-cmd.
pub fn compare(file: &Path, options: &[&str]) -> u64 {
    let mut dat = tracedat::open(file).expect("opens");
    let symbols = dat.symbols().expect("symbols");
    let strings = dat.strings().clone();
    let (mut child, lines) = report(file, &[&["-t", "-R"], options].concat());
    let mut lines = lines.filter(|l| !l.starts_with("cpus=") && !l.starts_with("CPU ") && !l.is_empty());
    let mut n = 0;
    let cursor = dat.cursor();
    while let Some(step) = cursor.step().expect("reads on") {
        let Step::Record(r) = step else { continue };
        let line = lines.next().unwrap_or_else(|| panic!("trace-cmd ends before event {n}: {r:?}"));
        let Some(l) = parse(&line) else { panic!("event {n}: cannot read {line:?}") };
        assert_eq!(
            (l.name, l.cpu, l.nanos, l.tid),
            (&*r.event.name, r.cpu.0, r.time.0, r.tid.0.into()),
            "event {n}: {line}"
        );
        compare_fields(&r, l.fields, &symbols, &strings, &line);
        n += 1;
    }
    if let Some(more) = lines.next() {
        panic!("trace-cmd has more than {n} events: {more}");
    }
    let _ = child.wait();
    n
}

fn compare_fields(r: &Record, text: &str, symbols: &Symbols, strings: &Strings, line: &str) {
    let fields: Vec<_> =
        r.event.fields().expect("fields").iter().filter(|f| !f.name.starts_with("common_")).collect();
    let mut rest = text.trim_start();
    for (i, f) in fields.iter().enumerate() {
        let title = format!("{}=", f.name);
        rest = rest.strip_prefix(&*title).unwrap_or_else(|| panic!("{title} should begin {rest:?}\n{line}"));
        let next = fields.get(i + 1).map(|f| format!(" {}=", f.name));
        let end = next.and_then(|n| rest.find(&n)).unwrap_or(rest.len());
        let shown = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or("");
        if f.slot.kind == Kind::Int {
            let v = r.int(f.slot);
            // trace-cmd 3.1 prints only the low half of a signed 64-bit field.
            let mask = if f.slot.size == 8 && f.slot.signed {
                u32::MAX.into()
            } else if f.slot.size == 8 {
                u64::MAX
            } else {
                (1 << (8 * f.slot.size)) - 1
            };
            // A long comes in hexadecimal without a mark, sometimes; a function's address as its name.
            let hex = u64::from_str_radix(shown.trim_start_matches("0x"), 16).ok();
            let decimal = shown.trim().parse::<i128>().ok().map(|v| v as u64);
            let same = [hex.filter(|_| decimal.is_none() || &*r.event.system != "block"), decimal]
                .into_iter()
                .flatten()
                .any(|n| n & mask == v & mask);
            if !same && strings.find(v) != Some(shown) {
                let name = shown.split('+').next();
                assert_eq!(symbols.find(v).map(|s| s.0), name, "{title} {v}\n{line}");
            }
        } else if let Some(hex) = shown.strip_prefix("ARRAY[") {
            let want: Vec<u8> = hex
                .trim_end()
                .trim_end_matches(']')
                .split(", ")
                .filter(|h| !h.is_empty())
                .map(|h| u8::from_str_radix(h, 16).expect("hex"))
                .collect();
            assert_eq!(r.bytes(f.slot), want, "{title}\n{line}");
        } else {
            let ours = String::from_utf8_lossy(r.text(f.slot));
            assert_eq!(ours.trim_end(), shown.trim_end(), "{title}\n{line}");
        }
    }
}

/// Compares all stacks, name by name.
pub fn compare_stacks(file: &Path) {
    let mut dat = tracedat::open(file).expect("opens");
    let symbols = dat.symbols().expect("symbols");
    let Some(stacks) = Stacks::of(dat.formats(), dat.long()) else { return };
    let (mut child, lines) = report(file, &["-t"]);
    let mut lines = lines.filter(|l| l.starts_with("=> "));
    let cursor = dat.cursor();
    while let Some(step) = cursor.step().expect("reads on") {
        let Step::Record(r) = step else { continue };
        for address in stacks.addresses(&r) {
            let ours = match symbols.find(address) {
                Some((name, _)) => format!("=> {name} ({address:x})"),
                None => format!("=> {address:x}"),
            };
            assert_eq!(lines.next(), Some(ours), "at {:?}", r.time);
        }
    }
    assert_eq!(lines.next(), None);
    let _ = child.wait();
}

/// How many times faster all events are read and block events converted than `trace-cmd report` prints them.
pub fn race(file: &Path) -> f64 {
    let start = Instant::now();
    let mut printed = Command::new("trace-cmd");
    printed.arg("report").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(printed.status().expect("trace-cmd runs").success());
    let theirs = start.elapsed();
    let start = Instant::now();
    let mut dat = tracedat::open(file).expect("opens");
    let mut batch = Batch::default();
    while dat.fill(&mut batch).expect("reads on") {}
    theirs.as_secs_f64() / start.elapsed().as_secs_f64()
}
