//! `--fail-if`: a condition on a comparison, such as `read.p99 > 1.1x`.
//!
//! ```text
//! OP.METRIC > 1.1x                  after is more than 1.1 times before, and its range shows a difference
//! OP.METRIC < 0.9x                  after is less than 0.9 times before
//! OP.METRIC > 20ms                  after is more than 20 ms, whatever it was before
//! OP.METRIC > 20ms on /var          on the file system mounted there; `on sda`: on that device
//! OP.METRIC > 20ms on sda of cp     of tasks with that name
//! ```
//!
//! A condition selects neither devices nor tasks itself: the comparison must be limited to [`Condition::place`] and
//! [`Condition::task`].

use super::comparison::{Comparison, Metric, Row};
use std::str::FromStr;
use tooltext::Unit;

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    op: String,
    metric: String,
    more: bool,
    limit: f64,
    /// `None`: the limit is a ratio.
    unit: Option<Unit>,
    place: Option<String>,
    task: Option<String>,
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Whether the condition holds.
    pub holds: bool,
    /// The number that decides it, with its range, in words; and what makes the outcome doubtful.
    pub because: String,
}

/// Why a condition could not be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untried {
    /// It can never be tested: no operation or number has that name. With the reason.
    Never(String),
    /// These two sides lack the data. With the reason.
    Here(String),
}

const FORM: &str = "OP.METRIC > LIMIT [on DEVICE-OR-MOUNT] [of TASK], as in 'read.p99 > 1.1x' or \
                    'fsync.max > 20ms on /var of postgres'";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let bad = |what: &str| format!("{what}; the form is {FORM}");
        let at = text.find(['<', '>']).ok_or_else(|| bad("there is no > or < in it"))?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let (op, metric) = name.split_once('.').ok_or_else(|| bad("there is no OP.METRIC in it"))?;
        if op.is_empty() || metric.is_empty() {
            return Err(bad("OP or METRIC is missing"));
        }
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().map_err(|_| bad("LIMIT is not a number"))?;
        let (unit, rest) = rest[digits..].trim().split_once(' ').unwrap_or((rest[digits..].trim(), ""));
        let (factor, unit) = factor(unit)
            .ok_or_else(|| bad(&format!("{unit:?} is not one of x, ns, us, ms, s, /s, KiB/s, MiB/s")))?;
        let (place, task) = whose(rest.trim()).map_err(|what| bad(&what))?;
        let (limit, more) = (number * factor, text.as_bytes()[at] == b'>');
        let (text, op, metric) = (text.trim().into(), op.trim().into(), metric.trim().into());
        Ok(Condition { text, op, metric, more, limit, unit, place, task })
    }
}

/// The factor and the unit of a limit; the unit is `None` for a ratio.
fn factor(unit: &str) -> Option<(f64, Option<Unit>)> {
    Some(match unit {
        "x" => (1.0, None),
        "ns" => (1.0, Some(Unit::Nanoseconds)),
        "us" => (1e3, Some(Unit::Nanoseconds)),
        "ms" => (1e6, Some(Unit::Nanoseconds)),
        "s" => (1e9, Some(Unit::Nanoseconds)),
        "/s" => (1.0, Some(Unit::PerSecond)),
        "KiB/s" => (1024.0, Some(Unit::BytesPerSecond)),
        "MiB/s" => (1048576.0, Some(Unit::BytesPerSecond)),
        _ => return None,
    })
}

/// Parses `on sda of cp`, in either order: the place and the task. A name ends at the next `on` or `of`, since task names may contain blanks.
fn whose(text: &str) -> Result<(Option<String>, Option<String>), String> {
    let (mut place, mut task) = (None, None);
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let slot = match word {
            "on" => &mut place,
            "of" => &mut task,
            other => return Err(format!("{other:?} is neither on nor of")),
        };
        let mut name = vec![];
        while let Some(part) = words.next_if(|w| !["on", "of"].contains(w)) {
            name.push(part);
        }
        if name.is_empty() {
            return Err(format!("a name is missing after {word:?}"));
        }
        if slot.replace(name.join(" ")).is_some() {
            return Err(format!("{word:?} appears twice"));
        }
    }
    Ok((place, task))
}

impl Condition {
    /// The condition as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The device or mount point after `on`.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// The task name after `of`.
    pub fn task(&self) -> Option<&str> {
        self.task.as_deref()
    }

    /// Tests the condition on `c`, which compares what it selects. If several kinds have the number, one that meets the condition decides.
    pub fn test(&self, c: &Comparison) -> Result<Tested, Untried> {
        // A kind that exists only after can be compared with a limit, but not by a ratio.
        let after = c.only[1].iter().filter(|_| self.unit.is_some());
        let tried: Vec<&Row> = c.rows.iter().chain(after).filter(|r| r.op == self.op).collect();
        let (mut closest, mut wrong): (Option<(&Row, &Metric, Met)>, _) = (None, None);
        for (row, metric) in tried.iter().filter_map(|r| Some((*r, r.metric(&self.metric)?))) {
            match self.met_by(metric) {
                Ok(met) if closest.as_ref().is_none_or(|(_, _, other)| self.is_closer(&met, other)) => {
                    closest = Some((row, metric, met));
                }
                Ok(_) => {}
                Err(why) => wrong = Some(why),
            }
        }
        let decided = closest.filter(|(_, _, met)| met.holds() || wrong.is_none());
        let untried = || wrong.unwrap_or_else(|| self.untried(c, tried.first().copied()));
        let (row, metric, met) = decided.ok_or_else(untried)?;
        let told = if c.rows.iter().any(|r| std::ptr::eq(r, row)) {
            metric.told()
        } else {
            format!("{} {} after; there were none before", metric.words(), metric.after())
        };
        let doubt = self.doubt(metric, &met).map_or(String::new(), |doubt| format!("; {doubt}"));
        Ok(Tested { holds: met.holds(), because: format!("{} {told}{doubt}", row.what) })
    }

    /// Whether one number says more about the condition than another: it meets the condition, or is nearer to it.
    fn is_closer(&self, one: &Met, other: &Met) -> bool {
        let rank = |met: &Met| (met.holds(), met.is_beyond);
        let nearer = if self.more { one.value > other.value } else { one.value < other.value };
        rank(one) > rank(other) || rank(one) == rank(other) && !one.holds() && nearer
    }

    /// Why another recording of the same might decide otherwise; `None` if that is unlikely.
    fn doubt(&self, metric: &Metric, met: &Met) -> Option<&'static str> {
        let Some(ranges) = metric.ranges else {
            return Some("its range is unknown, so it may be chance");
        };
        let (range, is_ratio) = match self.unit {
            None => (ranges.ratio, true),
            Some(_) => (ranges.after, false),
        };
        let has = |value: f64| range.from <= value && value <= range.to;
        if is_ratio && met.is_beyond && (has(1.0) || !metric.is_firm()) {
            return Some("the difference may be chance");
        }
        has(self.limit).then_some("its range includes the limit, so it may be chance")
    }

    /// Why nothing could be tested: one or both sides lack the operation, or there is no such number.
    fn untried(&self, c: &Comparison, of_op: Option<&Row>) -> Untried {
        if let Some(row) = of_op {
            let names: Vec<&str> = row.metrics.iter().map(|m| m.name.as_str()).collect();
            return Untried::Never(format!(
                "{} has no {}; it has: {}",
                self.op,
                self.metric,
                names.join(", ")
            ));
        }
        let has = |rows: &Vec<Row>| rows.iter().any(|r| r.op == self.op);
        if let Some((_, side)) = c.only.iter().zip(["before", "after"]).find(|(rows, _)| has(rows)) {
            return Untried::Here(format!("only {side} has {}", self.op));
        }
        let mut ops: Vec<&str> =
            c.rows.iter().chain(c.only.iter().flatten()).map(|r| r.op.as_str()).collect();
        ops.sort_unstable();
        ops.dedup();
        if ops.is_empty() {
            return Untried::Never(format!("neither side has {}, nor any other that was asked for", self.op));
        }
        Untried::Never(format!("neither side has {}; they have: {}", self.op, ops.join(", ")))
    }

    fn met_by(&self, metric: &Metric) -> Result<Met, Untried> {
        let value = match self.unit {
            // 0 before and 0 after count as ratio 1; any value after 0 exceeds every ratio.
            None => metric.ratio().unwrap_or(if metric.values[1] > 0.0 { f64::INFINITY } else { 1.0 }),
            Some(unit) if unit == metric.unit => metric.values[1],
            Some(_) => {
                let why = format!("{} is not counted in the unit of the limit", self.metric);
                return Err(Untried::Never(why));
            }
        };
        let is_beyond = if self.more { value > self.limit } else { value < self.limit };
        // If 1 satisfies the limit, the condition asks for no change: then a range that contains 1 is no objection.
        let asks_for_change = self.unit.is_none() && self.more == (self.limit >= 1.0);
        let is_chance = metric.ranges.is_some_and(|r| r.ratio.from <= 1.0 && r.ratio.to >= 1.0);
        Ok(Met { value, is_beyond, only_by_chance: asks_for_change && is_chance })
    }
}

/// How far a number meets a condition.
struct Met {
    /// The number, or the ratio, that is compared with the limit.
    value: f64,
    /// Whether it is beyond the limit.
    is_beyond: bool,
    /// Whether a change is asked for, and the range shows none.
    only_by_chance: bool,
}

impl Met {
    fn holds(&self) -> bool {
        self.is_beyond && !self.only_by_chance
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::Ranges;
    use super::*;
    use stats::Range;

    fn metric(name: &str, values: [f64; 2]) -> Metric {
        let (name, unit) = (name.into(), Unit::Nanoseconds);
        Metric { name, threshold: None, unit, values, ranges: None, no_range: "" }
    }

    fn row(op: &str, metrics: Vec<Metric>) -> Row {
        Row { op: op.into(), what: format!("{op}s"), metrics, ..Row::default() }
    }

    fn comparison() -> Comparison {
        let rows = vec![row("read", vec![metric("p99", [1e6, 1.2e6]), metric("p50", [0.0, 1.0])])];
        let only = [
            vec![row("flush", vec![metric("p99", [1e6, 0.0])])],
            vec![row("fsync", vec![metric("p99", [0.0, 3e6])])],
        ];
        Comparison { rows, only, ..Comparison::default() }
    }

    fn tried(text: &str) -> Result<Tested, Untried> {
        text.parse::<Condition>().expect(text).test(&comparison())
    }

    #[test]
    fn ratios_and_times_in_either_direction() {
        let holds = |text: &str| tried(text).unwrap().holds;
        assert!(holds("read.p99 > 1.1x") && holds("read.p99>1100us") && holds("read.p99 < 1.3x"));
        assert!(!holds("read.p99 > 1.2x") && !holds("read.p99 < 1ms"));
        // A limit with a unit applies to the value after.
        assert_eq!(
            tried("fsync.p99 > 2ms").unwrap().because,
            "fsyncs p99 3 ms after; there were none before; its range is unknown, so it may be chance"
        );
        assert!(!holds("fsync.p99 > 4 ms"));
    }

    /// A comparison of reads whose p99 is 1.2 times as long, with these ends of the ratio's range.
    fn ratio(from: f64, to: f64) -> Comparison {
        let (ratio, of_one) = (Range { from, to }, Range { from: from * 1e6, to: to * 1e6 });
        let ranges = Ranges { before: of_one, after: of_one, ratio, ratio_99: ratio, blocks: [(0, 0); 2] };
        let p99 = Metric { ranges: Some(ranges), ..metric("p99", [1e6, 1.2e6]) };
        Comparison { rows: vec![row("read", vec![p99])], ..Comparison::default() }
    }

    #[test]
    fn what_may_be_chance_is_no_change() {
        let holds = |text: &str, c: &Comparison| text.parse::<Condition>().unwrap().test(c).unwrap().holds;
        let (chance, shown) = (ratio(0.8, 1.5), ratio(1.05, 1.5));
        assert!(holds("read.p99 > 1.1x", &shown) && !holds("read.p99 > 1.1x", &chance));
        // It is not a tenth less; a time limit applies to the value after.
        assert!(holds("read.p99 > 0.9x", &chance) && holds("read.p99 > 1100us", &chance));
    }

    /// Whether it holds or not, chance and the lack of a range are told.
    #[test]
    fn an_outcome_that_may_be_chance_says_so() {
        let because = |text: &str, c: &Comparison| {
            let tested = text.parse::<Condition>().unwrap().test(c).unwrap();
            (tested.holds, tested.because)
        };
        let says = |text: &str, c: &Comparison, holds: bool, doubt: &str| {
            let (held, because) = because(text, c);
            assert!(held == holds && because.ends_with(doubt), "{text}: {held}: {because}");
            assert_eq!(because.contains("chance"), !doubt.ends_with(')'), "{text}: {because}");
        };
        let chance = "; the difference may be chance";
        let limit = "; its range includes the limit, so it may be chance";
        says("read.p99 > 1.1x", &ratio(0.8, 1.5), false, chance);
        says("read.p99 > 0.9x", &ratio(0.8, 1.5), true, chance);
        says("read.p99 > 1.1x", &ratio(1.05, 1.5), true, limit);
        says("read.p99 > 1.3x", &ratio(1.05, 1.5), false, limit);
        says("read.p99 > 1.1x", &ratio(1.15, 1.5), true, "(95 %: 1.15 to 1.50)");
        says("read.p99 > 2x", &ratio(0.8, 1.5), false, "(95 %: 0.80 to 1.50)");
        says("read.p99 > 1100us", &ratio(1.05, 1.5), true, limit);
        says("read.p99 > 1ms", &ratio(1.05, 1.5), true, "(95 %: 1.05 to 1.50)");
        let unknown = "; its range is unknown, so it may be chance";
        says("read.p99 > 1.1x", &comparison(), true, unknown);
        says("read.p99 > 1.3x", &comparison(), false, unknown);
    }

    /// Of several kinds, one that meets the condition is told, else the one nearest to it.
    #[test]
    fn of_several_kinds_the_one_that_decides_is_told() {
        let reads = |on: &str, after: f64| Row {
            what: format!("reads on {on}"),
            ..row("read", vec![metric("p99", [1e6, after])])
        };
        let rows = vec![reads("sda", 1.1e6), reads("sdb", 1.3e6), reads("sdc", 1.2e6)];
        let c = Comparison { rows, ..Comparison::default() };
        for (text, on) in [("read.p99 > 1.25x", "sdb"), ("read.p99 > 2x", "sdb"), ("read.p99 < 1x", "sda")] {
            let because = text.parse::<Condition>().unwrap().test(&c).unwrap().because;
            assert!(because.starts_with(&format!("reads on {on} ")), "{text}: {because}");
        }
    }

    #[test]
    fn where_and_whose_in_either_order() {
        let whose = |text: &str| {
            let c: Condition = format!("read.p99 > 20 ms {text}").parse().expect(text);
            (c.place().map(str::to_string), c.task().map(str::to_string))
        };
        let some = |name: &str| Some(name.to_string());
        assert_eq!(whose(""), (None, None));
        assert_eq!(whose("on /var"), (some("/var"), None));
        assert_eq!(whose("on sda of Web Content"), (some("sda"), some("Web Content")));
        assert_eq!(whose("of postgres on sda"), (some("sda"), some("postgres")));
        for wrong in ["on", "of on sda", "at sda", "on sda on sdb"] {
            assert!(format!("read.p99 > 1x {wrong}").parse::<Condition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_can_never_hold_is_told_from_what_is_not_known_here() {
        let never = |text: &str| match tried(text) {
            Err(Untried::Never(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(never("write.p99 > 1.1x"), "neither side has write; they have: flush, fsync, read");
        assert_eq!(never("read.iops > 1.1x"), "read has no iops; it has: p99, p50");
        assert!(never("read.p99 > 5/s").contains("unit"));
        let here = |text: &str| match tried(text) {
            Err(Untried::Here(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        // Nothing before: any value after is more.
        assert!(
            tried("read.p50 > 1.1x").is_ok_and(|t| t.holds)
                && tried("read.p50 < 1.1x").is_ok_and(|t| !t.holds)
        );
        assert_eq!(here("fsync.p99 > 1.1x"), "only after has fsync");
        assert_eq!(here("flush.p99 > 1ms"), "only before has flush");
        for text in
            ["", "read", "read.p99", "read.p99 > ", "read.p99 > 3h", ".p99 > 1x", "p99 > 1x", "read.p99 > xx"]
        {
            assert!(text.parse::<Condition>().is_err(), "{text:?}");
        }
    }
}
