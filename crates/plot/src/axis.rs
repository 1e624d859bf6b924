//! Positions of values on an axis, and the values that are labelled.

use crate::picture::{Axis, Scale};

/// The rarest value on a scale of percentiles, in powers of ten: one in ten million.
const RAREST: f64 = 7.0;

impl Axis {
    /// An axis with a linear scale.
    pub fn linear(range: (f64, f64), words: fn(f64) -> String) -> Axis {
        Axis { scale: Scale::Linear, range, words, binary: false }
    }

    /// An axis with a logarithmic scale; both ends are raised above 0.
    pub fn log(range: (f64, f64), words: fn(f64) -> String) -> Axis {
        let low = range.0.max(f64::MIN_POSITIVE);
        Axis { scale: Scale::Log, range: (low, range.1.max(low * 1.001)), words, binary: false }
    }

    /// The same axis with labels at multiples of powers of two.
    pub fn binary(self) -> Axis {
        Axis { binary: true, ..self }
    }

    /// The position of a value: 0 at the start, 1 at the end; a value outside the range is at the nearest edge.
    pub fn place(&self, value: f64) -> f64 {
        let of = |v: f64| match self.scale {
            Scale::Linear => v,
            Scale::Log => v.max(f64::MIN_POSITIVE).log10(),
            Scale::Tail => nines(v),
        };
        let (low, high) = (of(self.range.0), of(self.range.1));
        let place = (of(value) - low) / (high - low);
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// About `most` round values with their labels; fewer if two labels would be equal.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let told = |most| -> Vec<(f64, String)> {
            self.values(most).into_iter().map(|v| (v, (self.words)(v))).collect()
        };
        let differ = |ticks: &Vec<(f64, String)>| ticks.windows(2).all(|two| two[0].1 != two[1].1);
        let most = most.max(2);
        let fewer = (2..most).rev().map(told).find(differ);
        Some(told(most)).filter(differ).or(fewer).unwrap_or_else(|| told(most).into_iter().take(1).collect())
    }

    fn values(&self, most: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear if self.binary => binary(self.range, most),
            Scale::Linear => linear(self.range, most),
            Scale::Log => log(self.range, most),
            Scale::Tail => {
                let all = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
                all.into_iter().filter(|q| nines(*q) <= nines(self.range.1) + 1e-9).collect()
            }
        }
    }
}

/// The rarity of the values above a part, in powers of ten: 3 for 0.999.
fn nines(part: f64) -> f64 {
    (-(1.0 - part).max(0.0).log10()).min(RAREST)
}

/// Multiples of 1, 2 or 5 times a power of ten within a range.
fn linear((low, high): (f64, f64), most: usize) -> Vec<f64> {
    let rough = (high - low) / most as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![low];
    }
    let ten = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * ten).find(|s| *s >= rough).unwrap_or(ten * 10.0);
    multiples(low, high, step)
}

fn binary((low, high): (f64, f64), most: usize) -> Vec<f64> {
    let step = 2f64.powf(((high - low) / most as f64).max(1.0).log2().ceil());
    multiples(low, high, step)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).take(100).map(|i| i as f64 * step).collect()
}

fn log((low, high): (f64, f64), most: usize) -> Vec<f64> {
    let (a, b) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |v: &f64| *v >= low * 0.999 && *v <= high * 1.001;
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0]] {
        let all = (a..=b).flat_map(|e| steps.iter().map(move |m| m * 10f64.powi(e)));
        let all: Vec<f64> = all.filter(within).collect();
        if all.len() <= most {
            return all;
        }
    }
    let every = ((b - a) as usize).div_ceil(most).max(1);
    (a..=b).step_by(every).map(|e| 10f64.powi(e)).filter(within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(v: f64) -> String {
        format!("{v}")
    }

    #[test]
    fn round_values() {
        let told = |axis: Axis, most| axis.ticks(most).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(told(Axis::linear((0.0, 9.7), plain), 6), "0 2 4 6 8");
        assert_eq!(told(Axis::linear((0.0, 700.0), plain).binary(), 4), "0 256 512");
        assert_eq!(told(Axis::log((150.0, 9e6), plain), 6), "1000 10000 100000 1000000");
        let whole = |v: f64| format!("{v:.0} G");
        assert_eq!(told(Axis::linear((0.0, 2.1), whole), 6), "0 G 1 G 2 G", "no two alike");
        let tail = Axis { scale: Scale::Tail, range: (0.0, 0.9995), words: plain, binary: false };
        assert_eq!(told(tail.clone(), 9), "0 0.5 0.9 0.99 0.999");
        assert!((tail.place(0.9) - 1.0 / 3.301).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn any_value_has_a_place(low in any::<f64>(), high in any::<f64>(), v in any::<f64>(), log in any::<bool>()) {
            let axis = if log { Axis::log((low.abs(), high.abs()), plain) } else { Axis::linear((low, high), plain) };
            let place = axis.place(v);
            prop_assert!((0.0..=1.0).contains(&place));
            prop_assert!(axis.ticks(8).len() <= 100);
        }
    }
}
