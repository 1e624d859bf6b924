//! Searches settings of mq-deadline that reach an aim, and reports which classes they slow down.
//!
//! Tries a few values of one setting after the other, keeps the best, and repeats once. A candidate is valid if the aim's
//! number is predicted and no predicted number of other classes becomes worse by more than the bound; numbers of others that are
//! refused are reported.

use crate::metric::{name_of, words_of, Metric, Phase};
use crate::predict::{Cell, Lab};
use crate::question::Set;
use crate::settings::{Kind, Settings};
use std::str::FromStr;

/// The aim of a search. Example: `read.p99 < 20ms`.
#[derive(Clone, Debug)]
pub struct Aim {
    metric: Metric,
    percentile: String,
    below: f64,
}

impl FromStr for Aim {
    type Err = String;

    fn from_str(text: &str) -> Result<Aim, String> {
        let wrong = || format!("'{text}': write it as 'read.p99 < 20ms'");
        let (left, right) = text.split_once('<').ok_or_else(wrong)?;
        let (class, percentile) = left.trim().split_once('.').ok_or_else(wrong)?;
        let class = (0..5).find(|c| [name_of(*c), words_of(*c)].contains(&class)).ok_or_else(wrong)?;
        if !matches!(percentile, "p50" | "p99") {
            return Err(format!("{percentile} is not predicted: p50 or p99"));
        }
        let below = humantime::parse_duration(right.trim()).map_err(|_| wrong())?.as_nanos() as f64;
        Ok(Aim { metric: Metric { class, phase: Phase::Q2C }, percentile: percentile.into(), below })
    }
}

/// Values that are tried, by setting.
const TRIED: [(&str, &[u64]); 5] = [
    ("read_expire", &[20, 50, 100, 200, 500]),
    ("fifo_batch", &[1, 2, 4, 8, 16]),
    ("writes_starved", &[1, 2, 4, 8, 16]),
    ("write_expire", &[500, 1000, 5000, 20_000]),
    ("async_depth", &[8, 32, 128]),
];
const ROUNDS: usize = 2;

/// The result of a search.
pub struct Suggestion {
    /// The settings to change.
    pub set: Set,
    /// The predicted numbers under these settings.
    pub cells: Vec<Cell>,
    /// The aim.
    pub aim: Aim,
    /// Whether the aim would be reached.
    pub reached: bool,
}

impl Aim {
    /// Whether the aim is about this number.
    pub fn is_of(&self, cell: &Cell) -> bool {
        cell.metric == self.metric && cell.percentile == self.percentile
    }
}

/// Searches settings. `harm`: the factor by which other classes may become worse.
pub fn suggest(lab: &Lab, aim: &Aim, harm: f64) -> Result<Suggestion, String> {
    if lab.settings.scheduler != Kind::MqDeadline {
        return Err("the scheduler is not mq-deadline: there is nothing to search".into());
    }
    let mut best: Option<(f64, Set, Vec<Cell>)> = None;
    let mut why = None;
    for _ in 0..ROUNDS {
        for (key, values) in TRIED {
            for value in values {
                let mut set = best.as_ref().map(|(_, set, _)| set.clone()).unwrap_or_default();
                set.retain(|(k, _)| k != key);
                set.push((key.to_string(), value.to_string()));
                let asked: Settings = lab.settings.with(&set)?;
                if asked == lab.settings {
                    continue;
                }
                let cells = lab.predict(&asked);
                let Some(cell) = cells.iter().find(|c| aim.is_of(c)) else {
                    return Err(format!("too few of {} were recorded", words_of(aim.metric.class)));
                };
                let Some(p) = cell.predicted else {
                    why = cell.refused.clone();
                    continue;
                };
                let value = p.value as f64;
                // Slight improvements are not worth a further setting.
                let better =
                    best.as_ref().map_or(value < 0.95 * cell.recorded as f64, |(b, ..)| value < 0.97 * b);
                if better && worst(&cells, aim) <= harm {
                    best = Some((value, set, cells));
                }
            }
        }
    }
    match best {
        Some((value, set, cells)) => {
            let aim = aim.clone();
            Ok(Suggestion { reached: value < aim.below, set, cells, aim })
        }
        None => Err(match why {
            Some(why) => format!("nothing better was found; others cannot be predicted: {why}"),
            None => format!("nothing makes it better without making others worse by more than {harm} times"),
        }),
    }
}

/// The factor by which the most affected of the other classes becomes worse.
fn worst(cells: &[Cell], aim: &Aim) -> f64 {
    let others = cells.iter().filter(|c| c.metric.phase == Phase::Q2C && c.metric.class != aim.metric.class);
    let factor = |c: &Cell| Some(c.predicted?.value as f64 / c.recorded.max(1) as f64);
    others.filter_map(factor).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_is_a_number_that_is_predicted_and_a_bound() {
        let aim: Aim = "read.p99 < 20ms".parse().unwrap();
        assert_eq!((aim.metric.class, &*aim.percentile, aim.below), (0, "p99", 20e6));
        assert_eq!("writeback.p50<1s".parse::<Aim>().unwrap().below, 1e9);
        let refused = |text: &str| text.parse::<Aim>().unwrap_err();
        assert_eq!(refused("read.p99.9 < 1s"), "p99.9 is not predicted: p50 or p99");
        for text in ["", "read", "read.p99", "read < 1s", "nobody.p99 < 1s", "read.p99 < 1 parsec"] {
            assert!(refused(text).contains("write it as"), "{text}");
        }
    }
}
