//! `--fail-if`: a condition on a comparison, such as `read.p99 > 1.1x`.
//!
//! ```text
//! OP.METRIC > 1.1x      after is more than 1.1 times before
//! OP.METRIC < 0.9x      after is less than 0.9 times before
//! OP.METRIC > 20ms      after is more than 20 ms, whatever it was before
//! ```

use super::{Comparison, Metric};
use std::str::FromStr;
use tooltext::Unit;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    op: String,
    metric: String,
    more: bool,
    limit: f64,
    /// `None`: the limit is a ratio.
    unit: Option<Unit>,
}

const FORM: &str = "OP.METRIC > LIMIT or OP.METRIC < LIMIT, as in 'read.p99 > 1.1x' or 'fsync.max > 20ms'";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let bad = |what: &str| format!("{what}; the form is {FORM}");
        let at = text.find(['<', '>']).ok_or_else(|| bad("there is no > or < in it"))?;
        let (name, limit) = (text[..at].trim(), text[at + 1..].trim());
        let (op, metric) = name.split_once('.').ok_or_else(|| bad("there is no OP.METRIC in it"))?;
        if op.is_empty() || metric.is_empty() {
            return Err(bad("OP or METRIC is missing"));
        }
        let digits = limit.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(limit.len());
        let number: f64 = limit[..digits].parse().map_err(|_| bad("LIMIT is no number"))?;
        let (factor, unit) = match limit[digits..].trim() {
            "x" => (1.0, None),
            "ns" => (1.0, Some(Unit::Nanoseconds)),
            "us" => (1e3, Some(Unit::Nanoseconds)),
            "ms" => (1e6, Some(Unit::Nanoseconds)),
            "s" => (1e9, Some(Unit::Nanoseconds)),
            "/s" => (1.0, Some(Unit::PerSecond)),
            "KiB/s" => (1024.0, Some(Unit::BytesPerSecond)),
            "MiB/s" => (1048576.0, Some(Unit::BytesPerSecond)),
            other => {
                return Err(bad(&format!("{other:?} is none of x, ns, us, ms, s, /s, KiB/s, MiB/s")));
            }
        };
        let more = text.as_bytes()[at] == b'>';
        Ok(Condition {
            text: text.trim().into(),
            op: op.trim().into(),
            metric: metric.trim().into(),
            more,
            limit: number * factor,
            unit,
        })
    }
}

impl Condition {
    /// How it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What makes it true, in words: nothing if it does not hold. An error if there is nothing to try it on.
    pub fn holds(&self, c: &Comparison) -> Result<Option<String>, String> {
        let of_op: Vec<_> = c.rows.iter().filter(|r| r.op == self.op).collect();
        if of_op.is_empty() {
            let mut ops: Vec<&str> = c.rows.iter().map(|r| r.op.as_str()).collect();
            ops.dedup();
            return Err(format!("both sides have no {}; they have: {}", self.op, ops.join(", ")));
        }
        let metrics: Vec<_> = of_op.iter().filter_map(|r| Some((r, r.metric(&self.metric)?))).collect();
        if metrics.is_empty() {
            let names: Vec<&str> = of_op[0].metrics.iter().map(|m| m.name.as_str()).collect();
            return Err(format!("{} has no {}; it has: {}", self.op, self.metric, names.join(", ")));
        }
        for (row, metric) in metrics {
            if self.met_by(metric)? {
                return Ok(Some(format!("{} {}", row.what, metric.told())));
            }
        }
        Ok(None)
    }

    fn met_by(&self, metric: &Metric) -> Result<bool, String> {
        let value = match self.unit {
            None => metric.ratio().ok_or_else(|| format!("{} was 0 before", self.metric))?,
            Some(unit) if unit == metric.unit => metric.values[1],
            Some(_) => return Err(format!("{} is not counted in the unit of '{}'", self.metric, self.text)),
        };
        Ok(if self.more { value > self.limit } else { value < self.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::*;

    fn comparison() -> Comparison {
        let metric = |name: &str, values| Metric {
            name: name.into(),
            threshold: None,
            unit: Unit::Nanoseconds,
            values,
            ranges: None,
            no_range: "",
        };
        let metrics = vec![metric("p99", [1e6, 1.2e6]), metric("p50", [0.0, 1.0])];
        let row = Row { op: "read".into(), what: "reads".into(), metrics, ..Row::default() };
        Comparison { rows: vec![row], ..Comparison::default() }
    }

    #[test]
    fn ratios_and_times_in_either_direction() {
        let holds = |text: &str| text.parse::<Condition>().unwrap().holds(&comparison()).unwrap().is_some();
        assert!(holds("read.p99 > 1.1x") && holds("read.p99>1100us") && holds("read.p99 < 1.3x"));
        assert!(!holds("read.p99 > 1.2x") && !holds("read.p99 < 1ms"));
    }

    #[test]
    fn what_cannot_be_tried_is_an_error_and_says_what_can() {
        let fails = |text: &str| text.parse::<Condition>().unwrap().holds(&comparison()).unwrap_err();
        assert!(fails("write.p99 > 1.1x").contains("they have: read"));
        assert!(fails("read.iops > 1.1x").contains("it has: p99"));
        assert!(fails("read.p50 > 1.1x").contains("was 0"));
        assert!(fails("read.p99 > 5/s").contains("unit"));
        for text in
            ["", "read", "read.p99", "read.p99 > ", "read.p99 > 3h", ".p99 > 1x", "p99 > 1x", "read.p99 > xx"]
        {
            assert!(text.parse::<Condition>().is_err(), "{text:?}");
        }
    }
}
