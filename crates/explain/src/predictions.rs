//! Predicts what remedies that set the I/O scheduler would have done.

use crate::arrivals::Arrivals;
use crate::error::{Error, Result};
use crate::progress::Fitting;
use causes::{Action, Answer, Remedy, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use units::words::ns;
use whatif::metric::{words_of, Phase};
use whatif::predict::{Cell, Lab};
use whatif::settings::{Refusal, MQ_DEADLINE, QUEUE};
use whatif::simulate::Work;

/// Seed of the random numbers, as in `iowhy whatif`.
const SEED: u64 = 1;

/// A remedy's predicted effect.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// The remedy's command.
    pub command: String,
    /// The device whose setting the remedy changes. Example: `sda`.
    pub device: String,
    /// The changed settings with their new values.
    pub set: BTreeMap<String, String>,
    /// The predicted latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<Cell>>,
    /// Why there is no prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// The device, setting and value that an action sets. Example: `sda`, `fifo_batch`, `1` for `queue/iosched/fifo_batch`. `None` if the setting
/// is not modelled.
fn sets(action: &Action) -> Option<(&str, &str, &str)> {
    let Action::Set { dev, file, to } = action else { return None };
    let key = file.rsplit('/').next()?;
    let known = MQ_DEADLINE.contains(&key) || QUEUE.contains(&key);
    known.then_some((dev, key, to))
}

/// Predicts the remedies of the causes found, appends the predictions to their texts and returns them. `arrivals` reads the recording once
/// more; it is called only if a remedy is predictable.
pub fn predict(
    verdicts: &mut [Verdict],
    arrivals: impl FnOnce() -> Result<Arrivals>,
) -> Result<Vec<Prediction>> {
    let found = verdicts.iter_mut().filter(|v| v.verdict == Answer::Found);
    let mut remedies: Vec<&mut Remedy> =
        found.flat_map(|v| &mut v.remedies).filter(|r| sets(&r.action).is_some()).collect();
    if remedies.is_empty() {
        return Ok(Vec::new());
    }
    // If the recording cannot be read again, the answer stays as it is, with the reason in place of predictions.
    let arrivals = match arrivals() {
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        arrivals => arrivals.map_err(|e| e.to_string()),
    };
    let mut labs: BTreeMap<String, std::result::Result<Lab, Refusal>> = BTreeMap::new();
    let mut told = Vec::new();
    for remedy in &mut remedies {
        let (command, action) = (remedy.command(), remedy.action.clone());
        let Some((device, key, value)) = sets(&action) else { continue };
        let lab = labs.entry(device.into()).or_insert_with(|| fit(arrivals.as_ref()?, device));
        let change = [(key.to_string(), value.to_string())];
        let cells =
            lab.as_ref().map_err(Clone::clone).and_then(|lab| Ok(lab.predict(&lab.settings.with(&change)?)));
        remedy.what += &words(&cells);
        let (cells, refused) = match cells {
            Ok(cells) => (Some(cells), None),
            Err(why) => (None, Some(why)),
        };
        let device = device.to_string();
        told.push(Prediction { device, set: BTreeMap::from(change), cells, refused, command });
    }
    Ok(told)
}

fn fit(arrivals: &Arrivals, device: &str) -> std::result::Result<Lab, Refusal> {
    let asked = arrivals.of(Some(device)).map_err(|e| e.to_string())?;
    let settings = arrivals.settings(asked, &[])?;
    let bar = Fitting::begin();
    let lab = Lab::new(&asked.recorded, settings, Work::Time, SEED, &|part| bar.at(part));
    bar.end();
    lab
}

/// Example: `; predicted: read p99 332 ms -> 48 ms (90 %: 40 ms to 60 ms)`, for better or worse; or why there is none.
fn words(cells: &std::result::Result<Vec<Cell>, Refusal>) -> String {
    let cells = match cells {
        Ok(cells) => cells,
        Err(why) => return format!("; no prediction: {why}"),
    };
    let whole: Vec<&Cell> = cells.iter().filter(|c| c.metric.phase == Phase::Q2C).collect();
    let said: Vec<String> = whole
        .iter()
        .filter_map(|c| {
            let p = c.predicted?;
            let (class, at) = (words_of(c.metric.class), c.percentile);
            let now = ns(c.recorded);
            let [value, from, to] = [p.value, p.from, p.to].map(ns);
            Some(format!("{class} {at} {now} -> {value} (90 %: {from} to {to})"))
        })
        .collect();
    match said.is_empty() {
        true => {
            let why = whole.iter().find_map(|c| c.refused.clone());
            format!("; no prediction: {}", why.unwrap_or_else(|| "too few requests".into()))
        }
        false => format!(
            "; predicted: {}; none for {} of {} numbers (iowhy whatif)",
            said.join(", "),
            whole.len() - said.len(),
            whole.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::sets;
    use causes::Action;

    #[test]
    fn only_what_is_modelled_is_predicted() {
        assert_eq!(
            sets(&Action::set("sda", "queue/iosched/fifo_batch", 1)),
            Some(("sda", "fifo_batch", "1"))
        );
        assert_eq!(
            sets(&Action::set("nvme0n1", "queue/scheduler", "none")),
            Some(("nvme0n1", "scheduler", "none"))
        );
        assert_eq!(
            sets(&Action::set("sda", "queue/wbt_lat_usec", 2000)),
            Some(("sda", "wbt_lat_usec", "2000"))
        );
        assert_eq!(sets(&Action::Sysctl(&[("vm.dirty_background_bytes", 33_554_432)])), None);
    }
}
