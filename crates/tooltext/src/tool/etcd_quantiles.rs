//! Reads what Prometheus answers to a question for a quantile of etcd's syncs, with the question.
//!
//! ```text
//! histogram_quantile(0.99, rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m]))
//! {endpoint="metrics",instance="10.0.0.1:2379",job="etcd"} | 0.0512                  its table, copied
//! {endpoint="metrics",instance="10.0.0.2:2379",job="etcd"} => 0.0041 @[1700000000]    its console; promtool
//! ```
//!
//! The question says which histogram and which quantile, each line a member and seconds. Without the question a line is not read.
//!
//! **Versions**: Prometheus 2 by published texts.

use super::fio_units::percentile_name;
use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct EtcdQuantiles;

/// What the question begins with, and the beginning and the end of the histogram's name.
const QUANTILE: &str = "histogram_quantile(";
const DISK: &str = "etcd_disk_";
const DURATION: &str = "_duration_seconds_bucket";
/// Limit on words of the question, and between it and the first answer.
const MOST_OF_QUESTION: usize = 24;
const MOST_MEMBERS: usize = 256;
/// A longer sync is a mistake of the reader's, in seconds.
const LONGEST: f64 = 3600.0;

impl Tool for EtcdQuantiles {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let (_, quantile) = words.first()?.text.split_once(QUANTILE)?;
        let quantile = decimal(quantile.split(',').next()?).filter(|q| *q > 0.0 && *q < 1.0)?;
        let question = words.get(..MOST_OF_QUESTION.min(words.len()))?;
        let named = question.iter().position(|w| w.text.contains(DISK))?;
        let (_, rest) = question[named].text.split_once(DISK)?;
        let (of, _) = rest.split_once(DURATION)?;
        let answers = question[named + 1..].iter().position(|w| w.text.starts_with('{'))?;
        let mut used = named + 1 + answers;
        let mut reading = Reading { tool: "etcd", at: words[0].spot, ..Reading::default() };
        while let Some((labels, seconds, length)) = answer(&words[used..]) {
            if reading.rows.len() < MOST_MEMBERS {
                let mut row = Row::of(format!("{} {labels}", of.replace('_', " ")));
                let name = format!("lat.{}", percentile_name(quantile * 100.0));
                row.values.put(name, seconds * 1e9, Unit::Nanoseconds, words[used].spot);
                reading.rows.push(row);
            }
            used += length;
        }
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown: answers })
    }
}

/// A member's labels, its seconds, and the number of words: `{instance="10.0.0.1:2379"} 0.0512`.
fn answer<'a>(words: &[Word<'a>]) -> Option<(&'a str, f64, usize)> {
    let labels = words.first().filter(|w| w.text.starts_with('{') && w.text.ends_with('}'))?.text;
    let marks = usize::from(["|", "=>", "="].contains(&words.get(1)?.text));
    let seconds = decimal(words.get(1 + marks)?.text).filter(|s| *s < LONGEST)?;
    let time = usize::from(words.get(2 + marks).is_some_and(|w| w.text.starts_with("@[")));
    Some((labels, seconds, 2 + marks + time))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn each_member_has_its_quantile() {
        let text = "histogram_quantile(0.99, rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m]))\n\n\
            {instance=\"10.0.0.1:2379\",job=\"etcd\"} | 0.0512\n{instance=\"10.0.0.2:2379\",job=\"etcd\"} | 0.004\n";
        let reading = one(text, "etcd");
        let rows: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("lat.p99"))).collect();
        assert_eq!(
            rows,
            [
                ("wal fsync {instance=\"10.0.0.1:2379\",job=\"etcd\"}", Some(51.2e6)),
                ("wal fsync {instance=\"10.0.0.2:2379\",job=\"etcd\"}", Some(4e6))
            ]
        );
        let console = "promtool query instant http://x 'histogram_quantile(0.5, sum(rate(etcd_disk_backend_commit_duration_seconds_bucket[1m])) by (le, instance))'\n\
            {instance=\"10.0.0.1:2379\"} => 0.25 @[1700000000]\n";
        let reading = one(console, "etcd");
        assert_eq!(reading.rows[0].value("lat.p50"), Some(250e6));
    }

    #[test]
    fn other_questions_and_answers_alone_are_not_read() {
        for text in [
            "{instance=\"10.0.0.1:2379\",job=\"etcd\"} | 0.0512\n",
            "histogram_quantile(0.99, rate(http_request_duration_seconds_bucket[5m]))\n{instance=\"a\"} 0.5\n",
            "Ask for histogram_quantile(0.99, rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m])) and look at it.\n",
            "histogram_quantile(0.99, rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m]))\n{instance=\"a\"} NaN\n",
        ] {
            assert!(all(text, "etcd").is_empty(), "{text}");
        }
    }
}
