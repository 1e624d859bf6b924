//! Ratio of the frequencies of rare events, if one side has too few cases to draw from.
//!
//! Example: twelve stalls before and none after. No draw from the side without any has one, so a bootstrap says nothing, and only the two
//! counts remain. Events are counted in blocks: a stall that makes a hundred neighbours slow is one event. Of two Poisson counts `b` and
//! `a` with a given sum, `a` is binomial, whatever their rate (Przyborowski and Wilenski, 1940). The ends of its share (Clopper and
//! Pearson, 1934) give those of the ratio of rates.

use super::{Range, Table, FEWEST_BLOCKS, MOST_DRAWN, SIGNIFICANT, TAIL, TAIL_OF_99};
use crate::blocks::Blocks;
use std::borrow::Cow;

/// How often something rare happened on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rare {
    /// The share of values that are as slow, before and after.
    pub shares: [f64; 2],
    /// 95 % ranges of these shares.
    pub each: [Range; 2],
    /// 95 % range of the ratio of after to before; its upper end is infinite if there were none before.
    pub ratio: Range,
    /// 99 % range of this ratio.
    pub ratio_99: Range,
    /// Number of blocks on each side, and number of values in each block.
    pub blocks: [(usize, u64); 2],
}

/// How often values are at least `threshold`, before and after; `None` if neither side has any.
pub fn rare(sides: [&Blocks; 2], threshold: u64) -> Option<Rare> {
    let mut sides = sides.map(|blocks| independent(blocks, threshold));
    let longest = sides.iter().map(|b| b.length()).max()?;
    for side in &mut sides {
        while side.length() < longest {
            *side = Cow::Owned(side.doubled());
        }
    }
    let seen = sides.each_ref().map(|blocks| {
        let slow = |b: &crate::distribution::Distribution| -> u64 {
            b.buckets().filter(|bucket| bucket.upper >= threshold).map(|bucket| bucket.count).sum()
        };
        let each = blocks.each();
        let events = each.iter().filter(|b| slow(b) > 0).count();
        let [some, all] = [each.iter().map(slow).sum::<u64>(), each.iter().map(|b| b.count()).sum()];
        (events, some, all)
    });
    let [(before, some_before, all_before), (after, some_after, all_after)] = seen;
    if before + after == 0 || all_before == 0 || all_after == 0 {
        return None;
    }
    let shares = [some_before as f64 / all_before as f64, some_after as f64 / all_after as f64];
    // Values per event on each side, so that the ends are those of shares of values; without events it is that of the other side.
    let of_event = |events: usize, some: u64| (events > 0).then(|| some as f64 / events as f64);
    let (of_before, of_after) = (of_event(before, some_before), of_event(after, some_after));
    let of_events = [of_before.or(of_after), of_after.or(of_before)].map(|each| each.unwrap_or(1.0));
    let scale = of_events[1] / of_events[0] * all_before as f64 / all_after as f64;
    let odds = |share: f64| if share < 1.0 { share / (1.0 - share) * scale } else { f64::INFINITY };
    let [ratio, ratio_99] = [TAIL, TAIL_OF_99].map(|tail| {
        let (from, to) = share_of(after as u64, (before + after) as u64, tail);
        Range { from: odds(from), to: odds(to) }
    });
    let blocks = sides.each_ref().map(|b| (b.each().len(), b.length()));
    let each = [(before, all_before), (after, all_after)].map(|(events, all)| (events as u64, all as f64));
    let each = std::array::from_fn(|side| {
        let ((events, all), many) = (each[side], blocks[side].0 as f64);
        let (from, to) = share_of(events, blocks[side].0 as u64, TAIL);
        let share = |of_blocks: f64| (of_blocks * many * of_events[side] / all).min(1.0);
        Range { from: share(from), to: share(to) }
    });
    Some(Rare { shares, each, ratio, ratio_99, blocks })
}

/// Blocks so long that slow values in one do not predict the next, or as few blocks as allowed.
fn independent(blocks: &Blocks, threshold: u64) -> Cow<'_, Blocks> {
    let limits: Vec<(u64, u64)> = blocks.all().buckets().map(|b| (b.lower, b.upper)).collect();
    let mut blocks = Cow::Borrowed(blocks);
    if limits.is_empty() {
        return blocks;
    }
    loop {
        let table = Table::of(blocks.each(), &limits);
        let many = table.rows.len();
        let alone =
            table.correlation(threshold.saturating_sub(1) as f64) <= SIGNIFICANT / (many as f64).sqrt();
        if alone && many <= MOST_DRAWN || many / 2 < FEWEST_BLOCKS {
            return blocks;
        }
        blocks = Cow::Owned(blocks.doubled());
    }
}

/// Range of the share of which `of` in `all` were seen: beyond each end, the probability of that many or that few is below `tail`.
fn share_of(of: u64, all: u64, tail: f64) -> (f64, f64) {
    let at_most = |k: u64, p: f64| binomial_up_to(k, all, p);
    let solve = |holds: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if holds(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        low
    };
    let from = if of == 0 { 0.0 } else { solve(&|p| 1.0 - at_most(of - 1, p) < tail) };
    let to = if of == all { 1.0 } else { solve(&|p| at_most(of, p) > tail) };
    (from, to)
}

/// The probability of `k` or fewer of `n`; `p` is between 0 and 1, ends excluded.
fn binomial_up_to(k: u64, n: u64, p: f64) -> f64 {
    // The next number is (n - i) / (i + 1) times the odds as likely. Logarithms are used because the first may be too small for a float.
    let (mut likely, odds) = (n as f64 * (1.0 - p).ln(), (p / (1.0 - p)).ln());
    let mut sum = 0.0;
    for i in 0..=k {
        sum += likely.exp();
        likely += ((n - i) as f64 / (i + 1) as f64).ln() + odds;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of Clopper and Pearson: 0 of 10, 3 of 10, 12 of 12.
    #[test]
    fn ends_are_those_of_the_tables() {
        let close =
            |(from, to): (f64, f64), (f, t): (f64, f64)| (from - f).abs() < 5e-4 && (to - t).abs() < 5e-4;
        assert!(close(share_of(0, 10, TAIL), (0.0, 0.3085)), "{:?}", share_of(0, 10, TAIL));
        assert!(close(share_of(3, 10, TAIL), (0.0667, 0.6525)), "{:?}", share_of(3, 10, TAIL));
        assert!(close(share_of(12, 12, TAIL), (0.7354, 1.0)), "{:?}", share_of(12, 12, TAIL));
    }

    fn row(values: impl Iterator<Item = u64>) -> Blocks {
        let mut blocks = Blocks::default();
        values.for_each(|v| blocks.record(v));
        blocks
    }

    #[test]
    fn twelve_stalls_and_none_differ_and_a_burst_of_twelve_does_not() {
        let apart = row((0..360u64).map(|i| if i % 30 == 7 { 60 } else { 3 }));
        let burst = row((0..360u64).map(|i| if (100..112).contains(&i) { 60 } else { 3 }));
        let none = row((0..500u64).map(|_| 3));
        let fewer = rare([&apart, &none], 6).expect("some");
        assert!(fewer.ratio.from == 0.0 && fewer.ratio.to < 0.5 && fewer.shares[1] == 0.0, "{fewer:?}");
        let [before, after] = fewer.each;
        assert!(before.from < 12.0 / 360.0 && 12.0 / 360.0 < before.to && before.to < 0.1, "{fewer:?}");
        assert!(after.from == 0.0 && after.to < before.from, "{fewer:?}");
        let more = rare([&none, &apart], 6).expect("some");
        assert!(more.ratio.from > 2.0 && more.ratio.to == f64::INFINITY, "{more:?}");
        let one = rare([&burst, &none], 6).expect("some");
        assert!(one.ratio.to > 1.0, "twelve neighbours are one event: {one:?}");
        assert_eq!(rare([&none, &none], 6), None);
        assert_eq!(rare([&Blocks::default(), &apart], 6), None);
    }
}
