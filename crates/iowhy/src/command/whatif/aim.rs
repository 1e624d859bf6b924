//! `--suggest`: settings of mq-deadline that reach an aim, and which classes they slow down.
//!
//! One setting after the other is tried at a few values, the best is kept, twice around. A candidate counts if the aim's
//! number is predicted, and none that is predicted for others becomes worse by more than the bound; what is refused for
//! others is said.

use report::Supposed;
use std::fmt::Write;
use std::str::FromStr;
use whatif::metric::{name_of, words_of, Metric, Phase};
use whatif::predict::{humane, Cell, Lab};
use whatif::settings::{Kind, Settings};

/// What is wanted.
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

/// Settings with their values.
type Set = Vec<(String, String)>;

/// What was found.
pub struct Suggestion {
    set: Set,
    cells: Vec<Cell>,
    aim: Aim,
    reached: bool,
}

/// Searches. `harm` is how much worse others may become.
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
                let Some(cell) =
                    cells.iter().find(|c| c.metric == aim.metric && c.percentile == aim.percentile)
                else {
                    return Err(format!("too few of {} were recorded", words_of(aim.metric.class)));
                };
                let Some(p) = cell.predicted else {
                    why = cell.refused.clone();
                    continue;
                };
                let value = p.value as f64;
                // Not a hair better at the cost of one more setting.
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

/// By which factor the worst off of the others becomes worse.
fn worst(cells: &[Cell], aim: &Aim) -> f64 {
    let others = cells.iter().filter(|c| c.metric.phase == Phase::Q2C && c.metric.class != aim.metric.class);
    let factor = |c: &Cell| Some(c.predicted?.value as f64 / c.recorded.max(1) as f64);
    others.filter_map(factor).fold(0.0, f64::max)
}

impl Suggestion {
    /// The commands, and their effect on each class.
    pub fn render(&self, name: &str, lab: &Lab) -> String {
        let now = &lab.settings.deadline;
        let mut out = match self.reached {
            true => format!("{name}: the aim would be reached with\n\n"),
            false => format!("{name}: the aim would not be reached; the best that was found is\n\n"),
        };
        for (key, value) in &self.set {
            let _ = writeln!(out, "  echo {value} > /sys/block/{name}/queue/iosched/{key}");
        }
        let _ = writeln!(
            out,
            "\nrecorded with read_expire {}, write_expire {}, writes_starved {}, fifo_batch {}\n",
            now.read_expire / 1_000_000,
            now.write_expire / 1_000_000,
            now.writes_starved,
            now.fifo_batch
        );
        for cell in self.cells.iter().filter(|c| c.metric.phase == Phase::Q2C) {
            let (class, at) = (words_of(cell.metric.class), cell.percentile);
            let mark =
                if cell.metric == self.aim.metric && at == self.aim.percentile { "  <- the aim" } else { "" };
            let _ = match (&cell.predicted, &cell.refused) {
                (Some(p), _) => {
                    let factor = p.value as f64 / cell.recorded.max(1) as f64;
                    let word = match factor {
                        f if f < 0.95 => "gain",
                        f if f > 1.05 => "harm",
                        _ => "same",
                    };
                    writeln!(
                        out,
                        "  {word}  {class} {at}: {} -> {} ({} to {}){mark}",
                        humane(cell.recorded as f64),
                        humane(p.value as f64),
                        humane(p.from as f64),
                        humane(p.to as f64)
                    )
                }
                (None, why) => {
                    let why = why.as_deref().unwrap_or_default();
                    writeln!(
                        out,
                        "  ?     {class} {at}: {} -> no prediction: {why}",
                        humane(cell.recorded as f64)
                    )
                }
            };
        }
        out
    }

    /// For programs.
    pub fn to_json<'a>(&'a self, name: &'a str) -> Supposed<'a> {
        Supposed::suggested(name, &self.set, self.reached, &self.cells)
    }
}
