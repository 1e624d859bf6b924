//! Reads diskspd's XML (`-Rxml`), version 2: the same data as in its text, summed over threads.
//!
//! ```text
//! <TimeSpan>
//! <TestTimeSeconds>10.00</TestTimeSeconds>
//! <Latency>
//! <AverageReadMilliseconds>0.800</AverageReadMilliseconds>
//! <ReadLatencyStdev>0.255</ReadLatencyStdev>
//! <Bucket>
//! <Percentile>99</Percentile>
//! <ReadMilliseconds>2.100</ReadMilliseconds>
//! </Bucket>
//! </Latency>
//! <Thread>
//! <Target>
//! <ReadBytes>819200000</ReadBytes>
//! <ReadCount>200000</ReadCount>
//! </Target>
//! </Thread>
//! </TimeSpan>
//! ```
//!
//! Without `-L` there is no `<Latency>`. Percentile 0 is the minimum, 100 the maximum. A truncated time span is left out: sums
//! over some of the threads would be too small.
//!
//! **Versions**: diskspd 2.0.20a to 2.2 (`XmlResultParser.cpp`).

use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;

pub struct DiskspdXml;

const MS: f64 = 1e6;
/// Limit on words of a run: hundreds of threads, and a line per second.
const MOST_WORDS: usize = 1 << 18;
/// Kinds of I/O: as in element names, and as a row's subject.
const KINDS: [(&str, &str); 2] = [("Read", "read"), ("Write", "write")];

/// Sums for one kind of I/O.
#[derive(Default)]
struct Kind {
    bytes: f64,
    count: f64,
    /// Latencies with their names.
    latencies: Vec<(String, f64, Spot)>,
}

impl Tool for DiskspdXml {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "<TimeSpan>" {
            return None;
        }
        // Time spans of the profile have no results, and start differently.
        let (_, seconds) = element(words.get(1)?).filter(|(name, _)| *name == "TestTimeSeconds")?;
        let seconds = decimal(seconds).filter(|s| *s > 0.0)?;
        let end = words
            .iter()
            .take(MOST_WORDS)
            .skip(1)
            .position(|w| ["</TimeSpan>", "<TimeSpan>"].contains(&w.text))?
            + 1;
        (words[end].text == "</TimeSpan>").then_some(())?;
        let kinds = sums(&words[2..end])?;
        let at = words[0].spot;
        let rows: Vec<Row> =
            KINDS.iter().zip(kinds).filter_map(|((_, of), kind)| kind.row(of, seconds, at)).collect();
        Found::all(Reading { tool: "diskspd", rows, at, ..Reading::default() }, end + 1)
    }
}

/// Name and content of an element: `<ReadBytes>819200000</ReadBytes>`.
fn element<'a>(word: &Word<'a>) -> Option<(&'a str, &'a str)> {
    let (name, rest) = word.text.strip_prefix('<')?.split_once('>')?;
    let value = rest.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?;
    Some((name, value))
}

/// Sums of reads and of writes.
fn sums(words: &[Word]) -> Option<[Kind; 2]> {
    let mut kinds: [Kind; 2] = Default::default();
    let (mut percentile, mut latencies) = (None, false);
    for word in words {
        match word.text {
            "<Latency>" => latencies = true,
            "</Latency>" => latencies = false,
            "<Bucket>" => percentile = None,
            _ => {}
        }
        let Some((name, value)) = element(word) else { continue };
        if name == "Percentile" {
            percentile = decimal(value).and_then(named);
            continue;
        }
        for ((of, _), kind) in KINDS.iter().zip(&mut kinds) {
            let is = |before: &str, behind: &str| {
                name.strip_prefix(before).and_then(|n| n.strip_prefix(of)).is_some_and(|n| n == behind)
            };
            if is("", "Bytes") || is("", "Count") {
                let sum = if is("", "Bytes") { &mut kind.bytes } else { &mut kind.count };
                *sum += decimal(value)?;
                continue;
            }
            let latency = match () {
                () if is("Average", "Milliseconds") => Some("lat.mean".to_owned()),
                () if is("", "LatencyStdev") => Some("lat.stdev".to_owned()),
                () if is("", "Milliseconds") => percentile.clone(),
                () => None,
            };
            let told = latency.filter(|_| latencies).zip(decimal(value));
            kind.latencies.extend(told.map(|(name, ms)| (name, ms * MS, word.spot)));
        }
    }
    Some(kinds)
}

/// Name of a percentile: `lat.p99`, `lat.p99.9`, `lat.min`, `lat.max`. Others are left out, since there are too many.
fn named(percentile: f64) -> Option<String> {
    const TOLD: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];
    match percentile {
        0.0 => Some("lat.min".into()),
        100.0 => Some("lat.max".into()),
        p => TOLD.iter().find(|t| (p - **t).abs() < 1e-9).map(|t| format!("lat.p{t}")),
    }
}

impl Kind {
    /// `None` if there was no I/O of this kind.
    fn row(self, of: &str, seconds: f64, at: Spot) -> Option<Row> {
        (self.count > 0.0).then_some(())?;
        let mut row = Row::of(of);
        row.values.put("bytes", self.bytes, Unit::Bytes, at);
        row.values.put("count", self.count, Unit::Count, at);
        row.values.put("bw", self.bytes / seconds, Unit::BytesPerSecond, at);
        row.values.put("iops", self.count / seconds, Unit::PerSecond, at);
        for (name, ns, at) in self.latencies {
            row.values.put(name, ns, Unit::Nanoseconds, at);
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const RUN: &str = "<?xml version=\"1.0\"?>\n<Results>\n <System>\n  <ComputerName>vm</ComputerName>\n </System>\n <Profile>\n  <TimeSpans>\n\
        <TimeSpan>\n<CompletionRoutines>false</CompletionRoutines>\n</TimeSpan>\n</TimeSpans>\n</Profile>\n\
        <TimeSpan>\n<TestTimeSeconds>10.00</TestTimeSeconds>\n<ThreadCount>2</ThreadCount>\n<Latency>\n\
        <AverageReadMilliseconds>0.800</AverageReadMilliseconds>\n<ReadLatencyStdev>0.255</ReadLatencyStdev>\n\
        <AverageTotalMilliseconds>0.900</AverageTotalMilliseconds>\n\
        <Bucket>\n<Percentile>0</Percentile>\n<ReadMilliseconds>0.100</ReadMilliseconds>\n<TotalMilliseconds>0.100</TotalMilliseconds>\n</Bucket>\n\
        <Bucket>\n<Percentile>99</Percentile>\n<ReadMilliseconds>2.100</ReadMilliseconds>\n</Bucket>\n\
        <Bucket>\n<Percentile>99.9</Percentile>\n<ReadMilliseconds>5.100</ReadMilliseconds>\n</Bucket>\n\
        <Bucket>\n<Percentile>100</Percentile>\n<ReadMilliseconds>25.300</ReadMilliseconds>\n</Bucket>\n</Latency>\n\
        <Thread>\n<Id>0</Id>\n<Target>\n<Path>a.dat</Path>\n<BytesCount>409600000</BytesCount>\n<ReadBytes>409600000</ReadBytes>\n<ReadCount>100000</ReadCount>\n\
        <WriteBytes>0</WriteBytes>\n<WriteCount>0</WriteCount>\n<AverageReadLatencyMilliseconds>0.7</AverageReadLatencyMilliseconds>\n</Target>\n</Thread>\n\
        <Thread>\n<Id>1</Id>\n<Target>\n<ReadBytes>409600000</ReadBytes>\n<ReadCount>100000</ReadCount>\n</Target>\n</Thread>\n</TimeSpan>\n</Results>\n";

    #[test]
    fn threads_are_summed_and_percentiles_are_those_of_all() {
        let reading = one(RUN, "diskspd");
        assert_eq!(reading.rows.len(), 1);
        let row = &reading.rows[0];
        assert_eq!(
            (row.of.as_str(), row.value("iops"), row.value("bw")),
            ("read", Some(20_000.0), Some(81_920_000.0))
        );
        assert_eq!(
            (row.value("lat.mean"), row.value("lat.p99"), row.value("lat.p99.9")),
            (Some(0.8e6), Some(2.1e6), Some(5.1e6))
        );
        assert_eq!(
            (row.value("lat.min"), row.value("lat.max"), row.value("lat.stdev")),
            (Some(0.1e6), Some(25.3e6), Some(0.255e6))
        );
    }

    #[test]
    fn what_breaks_off_says_nothing() {
        let cut = RUN.find("<Id>1").unwrap();
        assert!(all(&RUN[..cut], "diskspd").is_empty());
        assert!(all(&RUN.replace("10.00", "0.00"), "diskspd").is_empty());
    }
}
