//! The verdict of a comparison in one sentence: better, worse, or no difference shown, with the numbers behind it.

use super::comparison::{Comparison, Metric, Ranges, Row};
use super::metrics::OUTLIERS;
use super::outcome::Outcome;
use crate::numbers::shown;
use causes::{MIN_SAMPLES, NOT_SLOW};
use stats::Range;
use units::words::ns;

/// For summaries, which have no range: a ratio below this is no difference. The step between two numbers of fio's histogram is up to
/// 1.6 % (fio's stat.h), and runs differ by a few percent anyway.
const ABOUT: f64 = 1.05;
/// The step between two numbers of a histogram (`stats::Distribution`): values that differ by less are equal as far as is known.
const STEP: f64 = 1.0 + 1.0 / 64.0;
/// If slow operations occurred in too few places for a range, a p99 or a mean that differs by this factor is reported as a difference that
/// may be chance.
const BY_FAR: f64 = 2.0;
/// Minimal number of operations for such a p99: 10 of them are slower.
const ENOUGH: u64 = 1000;
/// A share of at least this part of the operations includes most of them.
const MOSTLY: f64 = 0.5;
/// Maximal number of findings in the sentence.
const MOST: usize = 3;
/// Numbers by which a kind is judged, in order of preference: the first with a range.
const BY: [&str; 7] = ["p99", "slow", OUTLIERS, "mean", "p99.9", "p90", "p50"];
/// For summaries: the first of these that differs most in each direction.
const PERCENTILES: [&str; 7] = ["p99", "p99.9", "p99.95", "p99.99", "p95", "p90", "p50"];
/// For summaries without percentiles: the first of these that exists.
const ELSE: [&str; 8] = ["mean", "await", "r_await", "w_await", "iops", "bw", "r/s", "w/s"];

/// What one number of a kind shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    pub row: &'a Row,
    pub metric: &'a Metric,
    pub outcome: Outcome,
    /// Whether chance is an unlikely explanation; meaningful for recordings only.
    pub sure: bool,
}

impl Metric {
    /// Whether the number is better or worse, or no difference is shown.
    pub fn outcome(&self) -> Outcome {
        let ratio = match self.ratio() {
            Some(ratio) => ratio,
            // It was 0 before: the range of the ratio is known nevertheless.
            None if self.ranges.is_some() => f64::INFINITY,
            None => return Outcome::CannotTell,
        };
        let (more, less) = match self.ranges {
            Some(Ranges { ratio: Range { from, to }, .. }) => {
                (from > 1.0 && to > STEP, to < 1.0 && from < 1.0 / STEP)
            }
            None => (ratio > ABOUT, ratio < 1.0 / ABOUT),
        };
        match (more, less, self.more_is_better()) {
            (false, false, _) => Outcome::NoDifference,
            (_, _, None) => Outcome::CannotTell,
            (true, _, Some(good)) if good => Outcome::Better,
            (_, true, Some(good)) if !good => Outcome::Better,
            _ => Outcome::Worse,
        }
    }

    /// Whether the range makes chance unlikely. With seven numbers per kind, more than 1 of 20 comparisons has one outside its 95 % range, so the
    /// numbers other than the p99 must be outside their 99 % range.
    pub(super) fn is_firm(&self) -> bool {
        let off = |range: Range| range.from > 1.0 || range.to < 1.0;
        self.name == "p99" || self.ranges.is_none_or(|r| off(r.ratio_99))
    }

    /// What its range shows, or why it has none; all views use these words.
    pub fn said(&self) -> &'static str {
        match self.outcome() {
            _ if self.ranges.is_none() => self.no_range,
            Outcome::Better => "better",
            Outcome::Worse => "worse",
            _ => "no difference shown",
        }
    }

    /// Its name in a sentence. Examples: `p99`, `of 17.7 ms or more`.
    pub fn words(&self) -> String {
        self.threshold.map_or_else(|| self.name.clone(), |t| format!("of {} or more", ns(t)))
    }

    /// Its value after, with its unit.
    pub(super) fn after(&self) -> String {
        shown(self.values[1], self.unit)
    }

    /// Example: `p99 18.9 ms -> 367 ms, 19.4 times (95 %: 17.1 to 22.8)`.
    pub fn told(&self) -> String {
        let [before, after] = self.values.map(|v| shown(v, self.unit));
        let times = self.ratio().map_or(String::new(), |r| format!(", {} times", times(r)));
        let range = match self.ranges {
            Some(r) => format!(" (95 %: {})", span(r.ratio)),
            None if self.no_range.is_empty() => String::new(),
            None => format!(" (no range: {})", self.no_range),
        };
        format!("{} {before} -> {after}{times}{range}", self.words())
    }
}

/// A range of a ratio in words. Examples: `0.2 to 0.5`, `5.1 or more`.
pub fn span(ratio: Range) -> String {
    match ratio.to.is_finite() {
        true => format!("{} to {}", times(ratio.from), times(ratio.to)),
        false => format!("{} or more", times(ratio.from)),
    }
}

/// Formats a ratio with its significant digits.
pub fn times(ratio: f64) -> String {
    match ratio {
        0.0 => "0".into(),
        r if r >= 99.5 => format!("{r:.0}"),
        r if r >= 9.95 => format!("{r:.1}"),
        r if r >= 0.1 => format!("{r:.2}"),
        r if r >= 0.01 => format!("{r:.3}"),
        r if r >= 1e-6 => format!("{r:.1e}"),
        r => format!("{r:.0e}"),
    }
}

impl Row {
    /// What the numbers show: one finding; two if there is one in each direction; none if there are too few operations.
    fn findings(&self) -> Vec<Finding<'_>> {
        match self.least {
            Some(least) => self.measured(least),
            None => self.summarized(),
        }
    }

    fn measured(&self, least: u64) -> Vec<Finding<'_>> {
        let of = |metric| Finding { row: self, metric, outcome: Metric::outcome(metric), sure: true };
        let ranged = |n: &&str| self.metric(n).filter(|m| m.ranges.is_some()).map(of);
        let first = self.proven();
        // If the slowest are gone and the median is slower by a thousandth of that, the kind is better.
        let slight = |f: &Finding| self.moved.is_some_and(|moved| moved.is_slight(f.outcome));
        let proven = match &first[..] {
            [_, _] => first.into_iter().filter(|f| !slight(f)).collect(),
            _ => first,
        };
        if proven.iter().any(|f| !slight(f)) {
            return proven;
        }
        let other_way = |f: &Finding| proven.iter().all(|p| p.outcome != f.outcome);
        let by_chance = self.by_chance(least).filter(other_way);
        // A lack of outliers says nothing about the usual latencies.
        let drawn = |n: &&str| ranged(n).filter(|f| f.metric.name != OUTLIERS);
        let nothing_else = || BY.iter().find_map(drawn).filter(|_| proven.is_empty());
        by_chance.or_else(nothing_else).into_iter().chain(proven).collect()
    }

    /// The findings that are proven, at most one in each direction, by the most informative number.
    fn proven(&self) -> Vec<Finding<'_>> {
        // A p99 at the edge of stalls scatters over the whole distance between stall and none; the share of slow operations does not. If neither is
        // proven, another number of the kind may be. Shares say less if they include most operations.
        let of_few = |m: &&Metric| m.threshold.is_none() || m.values.iter().all(|share| *share < MOSTLY);
        let shown = |m: &&Metric| matches!(m.outcome(), Outcome::Better | Outcome::Worse);
        let ranged = |n: &&str| self.metric(n).filter(|m| m.ranges.is_some()).filter(shown);
        let mut all: Vec<&Metric> = BY.iter().filter_map(ranged).collect();
        all.sort_by_key(|m| (!m.is_firm(), !of_few(m)));
        let mut told: Vec<Finding> = vec![];
        for metric in all {
            let outcome = metric.outcome();
            if told.iter().all(|f| f.outcome != outcome) {
                told.push(Finding { row: self, metric, outcome, sure: metric.is_firm() });
            }
        }
        told
    }

    /// A number that differs by a large factor but rests on too few operations to be sure.
    fn by_chance(&self, least: u64) -> Option<Finding<'_>> {
        let by_far = |m: &&Metric| {
            let ratio = m.ratio().unwrap_or(1.0);
            m.ranges.is_none() && !(1.0 / BY_FAR..BY_FAR).contains(&ratio)
        };
        let is_slow =
            || self.metric("max").is_some_and(|m| m.values.iter().any(|max| *max >= NOT_SLOW.0 as f64));
        let p99 = self.metric("p99").filter(|m| least >= ENOUGH && by_far(m));
        let mean = || self.metric("mean").filter(|m| least >= MIN_SAMPLES && by_far(m) && is_slow());
        let metric = p99.or_else(mean)?;
        Some(Finding { row: self, metric, outcome: metric.outcome(), sure: false })
    }

    fn summarized(&self) -> Vec<Finding<'_>> {
        let of = |metric| Finding { row: self, metric, outcome: Metric::outcome(metric), sure: true };
        let percentiles: Vec<&Metric> = PERCENTILES.iter().filter_map(|n| self.metric(n)).collect();
        let Some(first) = percentiles.first() else {
            return ELSE.iter().find_map(|n| self.metric(n)).map(of).into_iter().collect();
        };
        let ratio = |m: &&&Metric| m.ratio().unwrap_or(1.0);
        let worst = percentiles.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let best = percentiles.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let differing = worst.into_iter().chain(best).map(|m| of(*m));
        let mut found: Vec<Finding> = differing.filter(|f| f.outcome != Outcome::NoDifference).collect();
        // If both are the same or go the same way, the one that differs most is reported.
        found.sort_by(|a, b| far(b).total_cmp(&far(a)));
        found.dedup_by_key(|f| f.outcome);
        if found.is_empty() {
            found.push(of(first));
        }
        found
    }
}

/// The distance of a ratio from 1, on a logarithmic scale.
fn far(f: &Finding) -> f64 {
    f.metric.ratio().map_or(0.0, |r| r.ln().abs())
}

impl Comparison {
    /// The findings for the verdict: proven differences first, then the rest; each by weight of the kind.
    pub(super) fn findings(&self) -> Vec<Finding<'_>> {
        let of = |counts: bool| {
            self.rows.iter().filter(move |r| r.counts == counts).flat_map(Row::findings).collect::<Vec<_>>()
        };
        let mut found = of(true);
        if found.is_empty() {
            found = of(false);
        }
        // A proven difference says more than a heavier kind that shows none.
        let shown = |f: &Finding| matches!(f.outcome, Outcome::Better | Outcome::Worse);
        found.sort_by_key(|f| !(shown(f) && f.sure));
        found
    }

    /// The outcome, from the findings that the sentence mentions.
    pub fn outcome(&self) -> Outcome {
        if self.elsewhere.is_some() {
            return Outcome::CannotTell;
        }
        let findings = self.findings();
        let has = |o: Outcome| findings.iter().take(MOST).any(|f| f.outcome == o);
        match (has(Outcome::Better), has(Outcome::Worse)) {
            (true, true) => Outcome::Mixed,
            (true, false) => Outcome::Better,
            (false, true) => Outcome::Worse,
            _ if has(Outcome::NoDifference) => Outcome::NoDifference,
            _ => Outcome::CannotTell,
        }
    }

    /// Whether the sentence mentions a row.
    pub fn tells(&self, row: &Row) -> bool {
        self.findings().iter().take(MOST).any(|f| std::ptr::eq(f.row, row))
    }

    /// Whether chance is an unlikely explanation of the outcome; `None` for summaries, which do not tell.
    pub fn is_sure(&self) -> Option<bool> {
        let measured = self.rows.iter().any(|r| r.least.is_some());
        measured.then(|| self.elsewhere.is_none() && self.findings().iter().take(MOST).all(|f| f.sure))
    }

    /// The verdict in one sentence.
    pub fn verdict(&self) -> String {
        let findings = self.findings();
        if findings.is_empty() {
            return "Cannot tell: no kind of operation that both sides have enough of".into();
        }
        if let Some(elsewhere) = &self.elsewhere {
            let most = findings.first().map(|f| format!("; besides: {} {}", f.row.what, f.metric.told()));
            let most = most.unwrap_or_default();
            return format!(
                "Cannot tell: most of what was waited for is on one side alone: {elsewhere}{most}"
            );
        }
        let doubts = [
            (self.is_unlike(), "the loads differ"),
            (self.levels_differ, "one side has whole operations, the other the bios below them"),
            (self.is_sure() == Some(false), "it may be chance"),
        ];
        let doubts: Vec<&str> = doubts.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
        let but = match doubts[..] {
            [] => String::new(),
            _ => format!(", but {}", doubts.join(", and ")),
        };
        let told = |f: &Finding| {
            let same = f.outcome == Outcome::NoDifference && findings.len() > 1;
            let nothing = if same { ", no difference shown" } else { "" };
            format!("{} {}{nothing}", f.row.what, f.metric.told())
        };
        let each: Vec<String> = findings.iter().take(MOST).map(told).collect();
        let more = match findings.len() {
            n if n > MOST => format!("; and {} more below", n - MOST),
            _ => String::new(),
        };
        let summaries = match self.is_sure() {
            None => "; no interval is possible from summaries",
            Some(_) => "",
        };
        format!("{}{but}: {}{more}{summaries}", self.outcome().words(), each.join("; "))
    }
}
