//! Parses fio's output: each job's numbers, over its whole time and in slices.
//!
//! fio prints its status a few times while it runs (`--status-interval`): each is a whole JSON document with the sums
//! since the beginning, and the last one is the result. With `json+` they have histograms, so the difference of their counts is
//! exactly what happened between two of them, and the load is never interrupted:
//!
//! ```text
//! after 300 ms   {"805888": 40}                  slice 1: 40 reads of 0.8 ms
//! after 600 ms   {"805888": 61, "9043968": 9}    slice 2: 21 of 0.8 ms and 9 of 9 ms
//! ```
//!
//! The variation of a number from slice to slice is its chance; [`compare`](crate::compare) is based on that.

use crate::result::{Latency, Measured};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The maximal size of fio's output.
const MOST_JSON: u64 = 64 << 20;
/// Number of slices of a job's time: enough to know their variation, and each long enough to have percentiles.
const SLICES: u32 = 5;
/// The shortest slice: fio checks its clock ten times per second (helper_thread.c).
const SHORTEST: Duration = Duration::from_millis(100);

/// Number of operations by latency in nanoseconds: the middle of fio's buckets, which are at most 1.6 % wide (fio's stat.h).
type Bins = BTreeMap<u64, u64>;

/// The time between two statuses of jobs that run for `time`.
pub fn interval(time: Duration) -> Duration {
    (time / SLICES).max(SHORTEST)
}

/// The measurements of each job in fio's output, or why there are none.
pub fn results(file: &Path) -> Result<Vec<Measured>, String> {
    let size = fs::metadata(file).map_err(|e| format!("fio left no result: {e}"))?.len();
    if size > MOST_JSON {
        return Err(format!("fio's result is {size} bytes long, which no result is"));
    }
    let bytes = fs::read(file).map_err(|e| format!("fio's result: {e}"))?;
    let mut known: BTreeMap<String, (Bins, Vec<Latency>)> = BTreeMap::new();
    let mut last: Option<Vec<Value>> = None;
    for document in documents(&bytes) {
        let jobs = match document?.get_mut("jobs").map(Value::take) {
            Some(Value::Array(jobs)) => jobs,
            _ => return Err("fio's result has no jobs".into()),
        };
        for job in &jobs {
            let Some(name) = job["jobname"].as_str() else { continue };
            let (before, slices) = known.entry(name.into()).or_default();
            let now = bins(job);
            let slice: Bins = now
                .iter()
                .map(|(ns, n)| (*ns, n.saturating_sub(before.get(ns).copied().unwrap_or(0))))
                .filter(|(_, n)| *n > 0)
                .collect();
            if !slice.is_empty() {
                slices.push(latency_of(&slice));
            }
            *before = now;
        }
        last = Some(jobs);
    }
    let jobs = last.ok_or("fio gave no result")?;
    let measured = jobs.iter().filter_map(measured).map(|m| {
        let slices = known.remove(&m.job).map(|k| k.1).unwrap_or_default();
        Measured { slices, ..m }
    });
    Ok(measured.collect())
}

/// The JSON documents in fio's output. Text between them (warnings) is skipped; a document that is cut short is an error.
fn documents(mut bytes: &[u8]) -> impl Iterator<Item = Result<Value, String>> + '_ {
    std::iter::from_fn(move || {
        // A document begins at the start of a line.
        let lines = bytes.split_inclusive(|b| *b == b'\n');
        let before: usize = lines.take_while(|l| !l.starts_with(b"{")).map(<[u8]>::len).sum();
        bytes = bytes.get(before..).filter(|rest| !rest.is_empty())?;
        let mut of = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let document = of.next()?.map_err(|e| format!("fio's result is cut short: {e}"));
        bytes = if document.is_ok() { &bytes[of.byte_offset()..] } else { &[] };
        Some(document)
    })
}

/// The kind of most operations of a job: `read` or `write`.
fn op(job: &Value) -> &'static str {
    let ios = |op: &str| job[op]["total_ios"].as_u64().unwrap_or(0);
    if ios("write") > ios("read") {
        "write"
    } else {
        "read"
    }
}

/// The histogram of what a user waits for: a job's fsyncs if it has any, else its operations.
fn bins(job: &Value) -> Bins {
    let of = |v: &Value| -> Bins {
        let bins = v["bins"].as_object().into_iter().flatten();
        bins.filter_map(|(ns, n)| Some((ns.parse().ok()?, n.as_u64()?))).collect()
    };
    let syncs = of(&job["sync"]["lat_ns"]);
    if syncs.is_empty() {
        of(&job[op(job)]["clat_ns"])
    } else {
        syncs
    }
}

fn measured(job: &Value) -> Option<Measured> {
    let name = job["jobname"].as_str()?.to_string();
    let op = op(job);
    let of = &job[op];
    let sync = latency(&job["sync"]["lat_ns"], job["sync"]["total_ios"].as_u64().unwrap_or(0));
    Some(Measured {
        job: name,
        op: op.into(),
        iops: of["iops"].as_f64().unwrap_or(0.0),
        bytes: of["io_bytes"].as_u64().unwrap_or(0),
        bytes_per_second: of["bw_bytes"].as_u64().unwrap_or(0),
        latency: latency(&of["clat_ns"], of["total_ios"].as_u64().unwrap_or(0)).unwrap_or_default(),
        fsync: sync.filter(|s| s.count > 0),
        slices: vec![],
        error: job["error"]
            .as_i64()
            .filter(|e| *e != 0)
            .map(|e| std::io::Error::from_raw_os_error(e as i32).to_string()),
    })
}

fn latency(v: &Value, count: u64) -> Option<Latency> {
    let max = v["max"].as_u64()?;
    // fio reports the upper end of a percentile's bucket, but the maximum exactly.
    let percentile = |p: &str| v["percentile"][p].as_u64().map(|ns| ns.min(max));
    Some(Latency {
        count,
        p50_ns: percentile("50.000000").unwrap_or(0),
        mean_ns: v["mean"].as_f64().unwrap_or(0.0) as u64,
        p80_ns: percentile("80.000000").unwrap_or(max),
        p95_ns: percentile("95.000000").unwrap_or(max),
        p99_ns: percentile("99.000000").unwrap_or(max),
        p999_ns: percentile("99.900000").unwrap_or(max),
        max_ns: max,
    })
}

/// The latencies of a histogram that is not empty.
fn latency_of(bins: &Bins) -> Latency {
    let count: u64 = bins.values().sum();
    let percentile = |part: f64| {
        let mut left = (part * count as f64).ceil().max(1.0) as u64;
        let found = bins.iter().find(|(_, n)| {
            let here = left <= **n;
            left = left.saturating_sub(**n);
            here
        });
        found.map_or(0, |(ns, _)| *ns)
    };
    let sum: f64 = bins.iter().map(|(ns, n)| *ns as f64 * *n as f64).sum();
    Latency {
        count,
        mean_ns: (sum / count.max(1) as f64) as u64,
        p50_ns: percentile(0.5),
        p80_ns: percentile(0.8),
        p95_ns: percentile(0.95),
        p99_ns: percentile(0.99),
        p999_ns: percentile(0.999),
        max_ns: bins.last_key_value().map_or(0, |(ns, _)| *ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Measured>, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fio.json");
        fs::write(&file, text).unwrap();
        results(&file)
    }

    #[test]
    fn results_that_are_none() {
        assert!(results(Path::new("/no/such/file")).is_err());
        for text in
            ["", "fio: out of space", "{", "{\"jobs\": 3}", "\u{0}\u{1}{{{", "{\"jobs\": []}\n{\"jobs\": ["]
        {
            assert!(of(text).is_err(), "{text}");
        }
        let all = of("fio: a warning\n{\"jobs\": [{\"jobname\": \"a\", \"error\": 28}, 7]}").unwrap();
        assert!(all[0].error.as_ref().unwrap().contains("No space left"), "{all:?}");
    }

    #[test]
    fn slices_are_what_happened_between_two_statuses() {
        let status = |bins: &str, n: u64| {
            format!(
                "{{\"jobs\": [{{\"jobname\": \"reads\", \"read\": {{\"total_ios\": {n}, \"clat_ns\": {{\"max\": 9, \"bins\": {{{bins}}}}}}}}}]}}\n"
            )
        };
        let text = status("\"8\": 40", 40)
            + "fio: a warning {\n"
            + &status("\"8\": 61, \"90\": 9", 70)
            // Nothing happened.
            + &status("\"8\": 61, \"90\": 9", 70);
        let m = &of(&text).unwrap()[0];
        assert_eq!(m.latency.count, 70);
        let slices: Vec<_> = m.slices.iter().map(|s| (s.count, s.p50_ns, s.p95_ns, s.max_ns)).collect();
        assert_eq!(slices, [(40, 8, 8, 8), (30, 8, 90, 90)]);
    }

    /// Counts that decrease, and percentiles of one operation, do not make parsing fail.
    #[test]
    fn odd_histograms() {
        assert_eq!(latency_of(&Bins::from([(7, 1)])).p999_ns, 7);
        let text = "{\"jobs\": [{\"jobname\": \"a\", \"read\": {\"clat_ns\": {\"bins\": {\"8\": 9, \"x\": 1}}}}]}\n\
                    {\"jobs\": [{\"jobname\": \"a\", \"read\": {\"clat_ns\": {\"bins\": {\"8\": 3, \"9\": -4}}}}]}";
        assert_eq!(of(text).unwrap()[0].slices.len(), 1);
    }

    #[test]
    fn long_jobs_have_slices_and_short_ones_fewer() {
        assert_eq!(interval(Duration::from_secs(20)), Duration::from_secs(4));
        assert_eq!(interval(Duration::from_millis(200)), SHORTEST);
    }
}
