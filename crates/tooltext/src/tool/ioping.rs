//! Reads ioping, 0.5 to 1.3: the time of single requests, a line each, and the summary.
//!
//! ```text
//! 4 KiB <<< /mnt (ext4 /dev/vda 255.9 GiB): request=1 time=412.9 us (warmup)         `>>>` are writes
//! 4.0 kb from /mnt (ext4 /dev/vda): request=1 time=412 us                            0.7 to 0.9
//! 4096 bytes from /mnt (ext4 /dev/vda): request=1 time=0.2 ms                        before
//! --- /mnt (ext4 /dev/vda 255.9 GiB) ioping statistics ---
//! 99 requests completed in 98.1 ms, 396 KiB read, 1.01 k iops, 3.94 MiB/s
//! generated 100 requests in 1.65 min, 400 KiB, 1 iops, 4.04 KiB/s
//! min/avg/max/mdev = 412.9 us / 811.5 us / 1.21 ms / 398.6 us                        before 0.7: `0.2/2.8/12.7/5.0 ms`
//! ```
//!
//! The rates are those of consecutive requests, without the pauses between them. The first request (`warmup`, in versions that
//! mark it) is in no sum. If the number of request lines equals the summary's count, they provide the percentiles. Raw statistics
//! (`-p`, `-B`) are numbers without names and are not read.
//!
//! **Versions**: ioping 0.5 to 1.3 (`ioping.c`); 1.3 run.

use super::biosnoop::Groups;
use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{decimal, size_unit, time_unit, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Ioping;

/// Limit on words between the heading of the summary and its last line.
const MOST_BETWEEN: usize = 60;
/// Limit on words of a request's line: a path may contain blanks.
const MOST_OF_LINE: usize = 16;
const NAMES: [&str; 4] = ["lat.min", "lat.mean", "lat.max", "lat.stdev"];

impl Tool for Ioping {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if let Some((row, used)) = sum(words).or_else(|| generated(words)) {
            return found(words, row, used, 0);
        }
        request(words)?;
        let (mut groups, mut used, mut unknown) = (Groups::default(), 0, 0);
        let ends = |w: &Word| ["---", "min/avg/max/mdev"].contains(&w.text);
        while let Some((skip, ns, length)) = table::next(&words[used..], ends, request) {
            if let (Some(ns), Some(group)) = (ns, groups.of("requests", words[used + skip].spot)) {
                group.took.record(ns);
            }
            unknown += skip;
            used += skip + length;
        }
        let lines = groups.rows().into_iter().next();
        let behind = usize::from(words.get(used).is_some_and(|w| w.text == "^C"));
        let Some((mut row, length)) = sum(&words[used + behind..]) else {
            return match lines {
                Some(row) => found(words, row, used, unknown),
                None => Some(Found { reading: None, used, unknown }),
            };
        };
        if let Some(lines) = lines.filter(|lines| lines.value("count") == row.value("count")) {
            lines.values.iter().for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
        }
        found(words, row, used + behind + length, unknown)
    }
}

fn found(words: &[Word], row: Row, used: usize, unknown: usize) -> Option<Found> {
    let reading = Reading { tool: "ioping", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

/// Parses a request's line: its time (`None` for the warmup), and the number of words.
fn request(words: &[Word]) -> Option<(Option<u64>, usize)> {
    let (size, unit, from) = (words.first()?, words.get(1)?, words.get(2)?);
    decimal(size.text).filter(|_| bytes(unit.text).is_some())?;
    // The mark of writes was removed like a quote mark.
    (["from", "to", "<<<"].contains(&from.text) || from.after_mark).then_some(())?;
    let line = &words[..words.len().min(MOST_OF_LINE)];
    let at = (3..line.len()).find(|i| line[*i].text.starts_with("request="))?;
    (line[1..=at].iter().all(|w| !w.paragraph) && line[at - 1].text.ends_with(':')).then_some(())?;
    let time = decimal(line.get(at + 1)?.text.strip_prefix("time=")?)?;
    let ns = (time * self::time(line.get(at + 2)?.text)?).round() as u64;
    let warmup = line.get(at + 3).is_some_and(|w| w.text == "(warmup)");
    let remark = line.get(at + 3).is_some_and(|w| ["(warmup)", "(fast)", "(slow)"].contains(&w.text));
    Some(((!warmup).then_some(ns), at + 3 + usize::from(remark)))
}

/// Parses the summary: from its heading on, or its last line alone.
fn sum(words: &[Word]) -> Option<(Row, usize)> {
    let last = match words.first()?.text {
        "min/avg/max/mdev" => 0,
        "---" => {
            let near = &words[..words.len().min(MOST_BETWEEN)];
            let title = near.iter().position(|w| w.text == "ioping")?;
            title + near[title..].iter().position(|w| w.text == "min/avg/max/mdev")?
        }
        _ => return None,
    };
    (words.get(last + 1)?.text == "=").then_some(())?;
    let mut row = Row::of("requests");
    let behind = last + 2;
    let used = behind
        + match spread(&words[behind..], &mut row) {
            Some(length) => length,
            // ping prints the same form.
            None if last > 0 => old_spread(&words[behind..], &mut row)?,
            None => return None,
        };
    rates(&words[..last], &mut row);
    Some((row, used))
}

/// Parses `generated 2.15 k requests in 5.00 s, 536.2 MiB, 428 iops, 107.2 MiB/s` alone, as cut out by scripts: these rates include the pauses.
fn generated(words: &[Word]) -> Option<(Row, usize)> {
    (words.first()?.text == "generated").then_some(())?;
    let line = &words[1..words.len().min(MOST_OF_LINE)];
    let used = line.iter().position(|w| bytes(w.text.strip_suffix("/s").unwrap_or("")).is_some())? + 1;
    let mut row = Row::of("requests");
    rates(&line[..used], &mut row);
    if let Some(all) = row.values.take("busy") {
        row.values.put("runtime", all.value, all.unit, all.at);
    }
    (row.get("count").is_some() && row.get("iops").is_some()).then_some((row, 1 + used))
}

/// Parses `412.9 us / 811.5 us / 1.21 ms / 398.6 us`.
fn spread(words: &[Word], row: &mut Row) -> Option<usize> {
    let mut used = 0;
    let mut all = vec![];
    for i in 0..NAMES.len() {
        if i > 0 {
            (words.get(used)?.text == "/").then_some(())?;
            used += 1;
        }
        let (value, unit) = (words.get(used)?, words.get(used + 1)?);
        all.push((decimal(value.text)? * time(unit.text)?, value.spot));
        used += 2;
    }
    for (name, (ns, spot)) in NAMES.iter().zip(all) {
        row.values.put(*name, ns, Unit::Nanoseconds, spot);
    }
    Some(used)
}

/// Parses `0.2/2.8/12.7/5.0 ms`.
fn old_spread(words: &[Word], row: &mut Row) -> Option<usize> {
    let (all, unit) = (words.first()?, time(words.get(1)?.text)?);
    let values: Vec<f64> = all.text.split('/').map(decimal).collect::<Option<_>>()?;
    (values.len() == NAMES.len()).then_some(())?;
    for (name, value) in NAMES.iter().zip(values) {
        row.values.put(*name, value * unit, Unit::Nanoseconds, all.spot);
    }
    Some(2)
}

/// Parses `99 requests completed in 98.1 ms, 396 KiB read, 1.01 k iops, 3.94 MiB/s`; the next line, which includes the pauses, is ignored.
fn rates(words: &[Word], row: &mut Row) {
    let Some(done) =
        words.windows(2).position(|w| w[0].text == "requests" && ["completed", "in"].contains(&w[1].text))
    else {
        return;
    };
    let end = words.iter().position(|w| w.text == "generated").unwrap_or(words.len());
    let (count, line) = (words[..done].rchunks(2).next().unwrap_or(&[]), &words[done..end.max(done)]);
    let shortened = |words: &[Word]| match words {
        [.., value, suffix] if decimal(suffix.text).is_none() => {
            let power = ["k", "M", "G"].iter().position(|s| *s == suffix.text)?;
            Some((decimal(value.text)? * 1000f64.powi(power as i32 + 1), value.spot))
        }
        [.., value] => Some((decimal(value.text)?, value.spot)),
        [] => None,
    };
    // `9 requests` at the start of a line, or `70.7 k requests`.
    let count = match count {
        [_, number] if decimal(number.text).is_some() => shortened(&count[1..]),
        both => shortened(both),
    };
    if let Some((n, at)) = count {
        row.values.put("count", n, Unit::Count, at);
    }
    let word = |i: usize| line.get(i).map_or("", |w| w.text.trim_end_matches(','));
    let at = 1 + line.iter().position(|w| w.text == "in").unwrap_or(line.len());
    if let (Some(value), Some(unit)) = (decimal(word(at)), time(word(at + 1))) {
        row.values.put("busy", value * unit, Unit::Nanoseconds, line[at].spot);
    }
    if let Some(at) = line.iter().position(|w| w.text == "iops,") {
        let before = &line[at.saturating_sub(2)..at];
        let plain = before.last().filter(|w| decimal(w.text).is_some());
        let rate = plain.map_or_else(|| shortened(before), |w| Some((decimal(w.text)?, w.spot)));
        if let Some((rate, spot)) = rate {
            row.values.put("iops", rate, Unit::PerSecond, spot);
        }
        let unit = word(at + 2).strip_suffix("/s").and_then(bytes);
        if let (Some(value), Some(unit)) = (decimal(word(at + 1)), unit) {
            row.values.put("bw", value * unit, Unit::BytesPerSecond, line[at + 1].spot);
        }
    }
}

/// Bytes per unit of size: before 1.0 in lower case, also powers of 1024.
fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "kb" => size_unit("KiB"),
        "mb" => size_unit("MiB"),
        "gb" => size_unit("GiB"),
        "tb" => size_unit("TiB"),
        "b" => Some(1.0),
        unit => size_unit(unit),
    }
}

fn time(unit: &str) -> Option<f64> {
    match unit {
        "min" => Some(60e9),
        "hour" => Some(3600e9),
        "day" => Some(86_400e9),
        unit => time_unit(unit),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_sum_has_its_count_and_rates() {
        let text = "4 KiB <<< . (ext4 /dev/vda 255.9 GiB): request=1 time=312.3 us (warmup)\n\n\
            --- . (ext4 /dev/vda 255.9 GiB) ioping statistics ---\n99 requests completed in 98.1 ms, 396 KiB read, 1.01 k iops, 3.94 MiB/s\n\
            generated 100 requests in 1.65 min, 400 KiB, 1 iops, 4.04 KiB/s\nmin/avg/max/mdev = 412.9 us / 811.5 us / 1.21 ms / 398.6 us\n";
        let row = &one(text, "ioping").rows[0];
        for (name, value) in [
            ("count", 99.0),
            ("busy", 98.1e6),
            ("iops", 1010.0),
            ("lat.min", 412.9e3),
            ("lat.mean", 811.5e3),
            ("lat.max", 1.21e6),
            ("lat.stdev", 398.6e3),
        ] {
            assert_eq!(row.value(name), Some(value), "{name}");
        }
        assert_eq!(row.value("bw").map(f64::round), Some((3.94 * 1048576.0f64).round()));
        let many = text.replace("99 requests", "70.7 k requests").replace("1.01 k iops", "164 iops");
        let row = &one(&many, "ioping").rows[0];
        assert_eq!((row.value("count"), row.value("iops")), (Some(70_700.0), Some(164.0)));
        assert!(all("rtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms", "ioping").is_empty());
        assert!(all("min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms", "ioping").is_empty());
    }

    #[test]
    fn versions_write_their_units_in_other_ways() {
        let old = "--- /dev/sda (device 465.8 Gb) ioping statistics ---\n186 requests completed in 3004.5 ms, 62 iops, 0.25 mb/s\nmin/avg/max/mdev = 6.4/16.0/26.8/4.7 ms\n";
        let row = &one(old, "ioping").rows[0];
        let values = ["count", "busy", "iops", "bw", "lat.min", "lat.mean", "lat.max", "lat.stdev"];
        assert_eq!(
            values.map(|name| row.value(name)),
            [186.0, 3_004.5e6, 62.0, 262_144.0, 6.4e6, 16e6, 26.8e6, 4.7e6].map(Some)
        );
    }

    #[test]
    fn lines_alone_have_percentiles_and_those_of_the_sum_too() {
        let line = |i: u32, form: &str, time: &str| {
            format!("{form} /mnt/my disk (ext4 /dev/vda): request={i} time={time}\n")
        };
        for form in ["4 KiB <<<", "4 KiB >>>", "4.0 kb from", "4096 bytes from"] {
            let text: String = [
                line(1, form, "9.0 ms (warmup)"),
                line(2, form, "200 us"),
                line(3, form, "1.2 ms (slow)"),
                line(4, form, "200 us"),
            ]
            .concat();
            let row = &one(&text, "ioping").rows[0];
            assert_eq!(
                (row.value("count"), row.value("lat.max"), row.value("lat.p50")),
                (Some(3.0), Some(1.2e6), Some(200e3)),
                "{form}"
            );
            let sum = "^C\n--- /mnt/my disk (ext4 /dev/vda) ioping statistics ---\n3 requests completed in 1.6 ms, 12 KiB read, 1.88 k iops, 7.32 MiB/s\n\
                generated 4 requests in 3.0 s, 16 KiB, 1 iops, 5.33 KiB/s\nmin/avg/max/mdev = 200 us / 533.3 us / 1.2 ms / 471.4 us\n";
            let row = &one(&format!("{text}{sum}"), "ioping").rows[0];
            assert_eq!(
                (row.value("lat.mean"), row.get("lat.p50").is_some()),
                (Some(533.3e3), true),
                "{form}"
            );
            // Lines are missing: their percentiles would not match the summary.
            let row = &one(&format!("{text}{}", sum.replace("3 requests", "300 requests")), "ioping").rows[0];
            assert_eq!((row.value("count"), row.get("lat.p50")), (Some(300.0), None), "{form}");
        }
        assert!(all("64 bytes from . (192.168.2.1): icmp_req=1 ttl=64 time=0.685 ms\n", "ioping").is_empty());
    }

    #[test]
    fn the_line_of_what_was_generated_is_read_where_it_stands_alone() {
        let text = "    generated 3.25 k requests in 5.00 s, 812.5 MiB, 650 iops, 162.5 MiB/s\n\nnext test\n";
        let row = &one(text, "ioping").rows[0];
        let value = |name: &str| row.value(name);
        assert_eq!((value("count"), value("runtime"), value("iops")), (Some(3250.0), Some(5e9), Some(650.0)));
        assert_eq!(value("bw"), Some(162.5 * 1048576.0));
    }
}
