//! What is true of a condition: what helps when it is taken away.
//!
//! Invariant: only what the application reported decides, never what iowhy computes.

use super::catalogue::Catalogue;
use super::condition::{Condition, Thing};
use serde::{Deserialize, Serialize};

/// What helps, or why it cannot be told.
pub type Helps = Result<Vec<Thing>, String>;

/// A run with one thing taken away; of [`Truth::alone`] with all others taken away.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rerun {
    pub without: Thing,
    /// Mean latency of an operation, in microseconds.
    pub mean: f64,
}

/// The runs of a condition as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    /// Of the run that was recorded.
    pub recorded: f64,
    /// Of its repeats.
    pub repeats: Vec<f64>,
    /// How many operations each run had.
    pub operations: u64,
    /// Mean latency of the operations that ended while a part of the run was recorded, where the application tells each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<f64>,
    /// Whether the processors were emulated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emulated: bool,
}

/// What an answer is compared with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Truth {
    pub condition: Condition,
    pub versions: Vec<String>,
    pub baseline: Baseline,
    pub reruns: Vec<Rerun>,
    /// Where nothing alone helps: runs with only one thing left.
    #[serde(default)]
    pub alone: Vec<Rerun>,
    /// Where only neighbours help: the mean latency beside neighbours that use another disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<f64>,
    /// What helps most, several where they are alike within noise; none: healthy.
    pub helps: Vec<Thing>,
    /// Which causes are accepted.
    pub causes: Vec<String>,
    /// Of which one must be named; none where it is no neighbour's fault.
    pub culprits: Vec<String>,
    pub victims: Vec<String>,
    /// Why nothing is decided, if so.
    pub undecided: Option<String>,
}

/// What is saved must be at least this share of an operation's time, and this long (microseconds) in all, to be noticed.
const NOTICED: f64 = 0.2;
const NOTICED_US: f64 = 50_000.0;
/// What an operation saves must be as long as the quickest thing that any disk of the catalogue does.
pub(super) const QUICKEST_US: f64 = 20.0;
/// A client less on few processors saves microseconds, which is nothing about a disk.
const DEPTH_US: f64 = 500.0;
/// How much slower emulated processors are (lab/src/machine.rs).
const EMULATED: f64 = 15.0;
/// Two that save nearly the same are alike.
const ALIKE: f64 = 0.1;

impl Baseline {
    /// The middle of the repeats.
    pub fn mean(&self) -> f64 {
        self.repeats.iter().sum::<f64>() / self.repeats.len().max(1) as f64
    }

    /// How far repeats are apart.
    pub fn noise(&self) -> f64 {
        let low = self.repeats.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.repeats.iter().copied().fold(0.0, f64::max);
        (high - low).max(0.0)
    }

    /// How much a client less must save.
    fn depth(&self) -> f64 {
        DEPTH_US * self.processors()
    }

    /// How much slower than real ones the processors were.
    fn processors(&self) -> f64 {
        if self.emulated {
            EMULATED
        } else {
            1.0
        }
    }

    /// How much must be saved.
    fn least(&self) -> f64 {
        let noticed = (NOTICED_US / self.operations.max(1) as f64).max(NOTICED * self.mean());
        noticed.max(QUICKEST_US * self.processors())
    }

    /// Whether a run without something was faster than noise and notice.
    pub fn helped(&self, without: f64) -> bool {
        self.mean() - without >= self.least().max(self.noise())
    }
}

/// What helps: the best, and what is alike within noise. One client instead of `clients` counts only where the work is done as soon; if it
/// saves too little to count by itself, it does where it saves more than the best. An error says why it cannot be told.
pub fn helping(baseline: &Baseline, reruns: &[Rerun], clients: u32) -> Helps {
    let as_soon = |r: &&Rerun| {
        r.without != Thing::Depth || r.mean * f64::from(clients) <= (1.0 + NOTICED) * baseline.mean()
    };
    let reruns: Vec<Rerun> = reruns.iter().filter(as_soon).cloned().collect();
    let counts = |r: &&Rerun| r.without != Thing::Depth || baseline.mean() - r.mean >= baseline.depth();
    let depth = reruns.iter().find(|r| !counts(r));
    let reruns: Vec<&Rerun> = reruns.iter().filter(counts).collect();
    let best = reruns.iter().map(|r| r.mean).fold(f64::INFINITY, f64::min);
    let saved = baseline.mean() - best;
    if reruns.is_empty() || saved < baseline.least() {
        return Ok(vec![]);
    }
    if !baseline.helped(best) {
        return Err(format!("repeats are {:.0} us apart, the best saves {saved:.0} us", baseline.noise()));
    }
    let off = (baseline.recorded - baseline.mean()).abs();
    if off > baseline.noise().max(0.6 * saved) {
        return Err(format!(
            "the recorded run took {:.0} us an operation, its repeats {:.0}",
            baseline.recorded,
            baseline.mean()
        ));
    }
    let alike = |r: &&&Rerun| {
        baseline.helped(r.mean) && r.mean <= best + baseline.noise().min(0.3 * saved).max(ALIKE * saved)
    };
    let of_depth = depth.filter(|r| r.mean <= best).into_iter();
    Ok(reruns.iter().filter(alike).copied().chain(of_depth).map(|r| r.without.clone()).collect())
}

/// Each of several is enough alone where it costs this share of what all cost together.
const ENOUGH: f64 = 0.7;

/// What is enough alone: several such hide each other, and each of them is true.
pub fn enough(baseline: &Baseline, everything: f64, alone: &[Rerun]) -> Helps {
    let least = everything + ENOUGH * (baseline.mean() - everything);
    let things: Vec<Thing> = alone.iter().filter(|r| r.mean >= least).map(|r| r.without.clone()).collect();
    match things.is_empty() {
        true => Err(format!("only several together help ({everything:.0} us without everything)")),
        false => Ok(things),
    }
}

/// What helps, if most of it is the disk's doing, if it shows in what was recorded, and if neighbours were there: operations quicker than
/// `over_before` are all over before these begin.
pub fn decided(
    baseline: &Baseline,
    reruns: &[Rerun],
    helps: Helps,
    sharing: Option<f64>,
    over_before: Option<f64>,
) -> Helps {
    let helps = helps?;
    if helps.is_empty() {
        return Ok(helps);
    }
    met_neighbours(baseline, reruns, &helps, over_before.unwrap_or(0.0))?;
    let counts = |r: &&Rerun| helps.contains(&r.without) || r.without == Thing::Everything;
    let without = reruns.iter().filter(counts).map(|r| r.mean).fold(f64::INFINITY, f64::min);
    sharing.map_or(Ok(()), |mean| by_the_disk(baseline, without, mean))?;
    baseline.window.map_or(Ok(()), |mean| was_recorded(baseline, without, mean))?;
    Ok(helps)
}

/// A run without something else than neighbours that ended before these began was also one without them: where these are in the way, it does
/// not say which of both helps.
fn met_neighbours(
    baseline: &Baseline,
    reruns: &[Rerun],
    helps: &[Thing],
    over_before: f64,
) -> Result<(), String> {
    let is_of_neighbours =
        |thing: &Thing| matches!(thing, Thing::Neighbour(_) | Thing::Neighbours | Thing::Everything);
    let in_the_way =
        reruns.iter().any(|r| matches!(r.without, Thing::Neighbour(_)) && baseline.helped(r.mean));
    let counts = |r: &&Rerun| in_the_way && helps.contains(&r.without) && !is_of_neighbours(&r.without);
    match reruns.iter().filter(counts).find(|r| r.mean < over_before) {
        Some(r) => Err(format!("the run without {} was over before the neighbours began", r.without)),
        None => Ok(()),
    }
}

/// Of what is saved without neighbours this share must be saved by another disk.
const MOSTLY: f64 = 0.5;

/// What neighbours take that help by not being there is the disk, if most of what is saved without them is saved where they use another one
/// of its kind. Else it is processors, which the model of a disk needs, too, as no disk does: that says nothing about I/O.
fn by_the_disk(baseline: &Baseline, without: f64, apart: f64) -> Result<(), String> {
    match baseline.mean() - apart < MOSTLY * (baseline.mean() - without) {
        true => Err(format!(
            "neighbours on another disk are nearly as much in the way ({apart:.0} us): what they take is processors"
        )),
        false => Ok(()),
    }
}

/// A part of a run that was recorded shows what helps, if its operations took longer than without that, by as much as is noticed. Else
/// what was slow lies outside.
fn was_recorded(baseline: &Baseline, without: f64, window: f64) -> Result<(), String> {
    match window - without < (NOTICED * window).max(QUICKEST_US * baseline.processors()) {
        true => Err(format!(
            "what was recorded took {window:.0} us an operation, {without:.0} without what helps: the slow part is outside"
        )),
        false => Ok(()),
    }
}

/// Causes and culprits that stand for what helps.
pub fn accepted(condition: &Condition, helps: &[Thing], catalogue: &Catalogue) -> (Vec<String>, Vec<String>) {
    if helps.is_empty() {
        return (vec!["healthy".into()], vec![]);
    }
    let mut causes: Vec<String> = helps.iter().flat_map(|t| condition.causes(t, catalogue)).collect();
    if helps.iter().all(|t| condition.is_cheap(t, catalogue)) {
        causes.push("healthy".into());
    }
    causes.sort();
    causes.dedup();
    let of = |t: &Thing| match t {
        Thing::Neighbour(n) => Some(catalogue.neighbour[n].culprits.clone()),
        Thing::Neighbours => {
            Some(condition.neighbours.iter().flat_map(|n| catalogue.neighbour[n].culprits.clone()).collect())
        }
        _ => None,
    };
    // Where something else is as true as a neighbour, nobody need be named.
    let culprits: Option<Vec<Vec<String>>> = helps.iter().map(of).collect();
    (causes, culprits.unwrap_or_default().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(thing: Thing, mean: f64) -> Rerun {
        Rerun { without: thing, mean }
    }

    #[test]
    fn neighbours_that_are_in_the_way_on_another_disk_take_no_part_of_this_one() {
        let quiet = Baseline {
            recorded: 100.0,
            repeats: vec![100.0, 104.0],
            operations: 10_000,
            window: None,
            emulated: false,
        };
        let copy = Thing::Neighbour("copy".into());
        let (reruns, helps) = ([without(copy.clone(), 42.0)], vec![copy]);
        let told = |sharing| decided(&quiet, &reruns, Ok(helps.clone()), sharing, None);
        assert_eq!((told(None), told(Some(72.0))), (Ok(helps.clone()), Ok(helps.clone())));
        assert!(told(Some(73.0)).is_err());
    }

    #[test]
    fn a_run_that_is_over_before_the_neighbours_begin_decides_nothing() {
        let baseline =
            Baseline { recorded: 100.0, repeats: vec![100.0], operations: 10_000, ..Baseline::default() };
        let copy = || Thing::Neighbour("copy".into());
        let told = |thing: Thing, beside: f64, over_before| {
            let reruns = [without(copy(), beside), without(thing.clone(), 10.0)];
            decided(&baseline, &reruns, Ok(vec![thing]), None, over_before).is_ok()
        };
        let limit = || Thing::Setting("group-iops".into());
        assert_eq!([None, Some(9.0), Some(11.0)].map(|over| told(limit(), 50.0, over)), [true, true, false]);
        assert!(told(limit(), 95.0, Some(11.0)), "they are not in the way");
        assert!(told(copy(), 10.0, Some(11.0)));
    }

    #[test]
    fn what_helps_is_not_decided_where_the_slow_part_was_not_recorded() {
        let copy = Thing::Neighbour("copy".into());
        let reruns = [without(copy.clone(), 40.0)];
        let told = |window| {
            let baseline = Baseline {
                recorded: 100.0,
                repeats: vec![100.0],
                operations: 10_000,
                window,
                emulated: false,
            };
            decided(&baseline, &reruns, Ok(vec![copy.clone()]), None, None).is_ok()
        };
        assert_eq!([None, Some(60.0), Some(59.0)].map(told), [true, true, false], "20 us, as any disk takes");
    }

    #[test]
    fn what_saves_most_is_true_and_what_noise_could_be_is_not_decided() {
        let of = |recorded, repeats| Baseline {
            recorded,
            repeats,
            operations: 400,
            window: None,
            emulated: false,
        };
        let quiet = of(10_200.0, vec![10_000.0, 10_100.0]);
        let reruns = [
            without(Thing::Wbt, 9_800.0),
            without(Thing::Part("flush".into()), 900.0),
            without(Thing::Depth, 1_000.0),
        ];
        let helping = |of: &Baseline, reruns: &[Rerun]| helping(of, reruns, 1);
        assert_eq!(helping(&quiet, &reruns), Ok(vec![Thing::Part("flush".into()), Thing::Depth]));
        // Ten clients did in 10 ms what one does in 1.1.
        let of_ten = |mean| super::helping(&quiet, &[without(Thing::Depth, mean)], 10);
        assert_eq!((of_ten(1_100.0), of_ten(1_300.0)), (Ok(vec![Thing::Depth]), Ok(vec![])));
        assert_eq!(helping(&quiet, &reruns[..1]), Ok(vec![]));
        let quick = Baseline { operations: 10_000, ..of(1200.0, vec![1200.0, 1210.0]) };
        let [neighbour, depth] = [900.0, 813.0];
        let part = Thing::Part("flush".into());
        assert_eq!(helping(&quick, &[without(Thing::Depth, depth)]), Ok(vec![]));
        let both = [without(part.clone(), neighbour), without(Thing::Depth, depth)];
        assert_eq!(helping(&quick, &both), Ok(vec![part.clone(), Thing::Depth]));
        let less = [without(part.clone(), neighbour), without(Thing::Depth, 950.0)];
        assert_eq!(helping(&quick, &less), Ok(vec![part.clone()]));
        let loud = of(10_000.0, vec![6_000.0, 14_000.0]);
        assert!(helping(&loud, &[without(Thing::Wbt, 5_000.0)]).is_err());
        let cached = Baseline { operations: 40_000, ..of(30.0, vec![30.0, 30.0]) };
        assert_eq!(helping(&cached, &[without(part.clone(), 15.0)]), Ok(vec![]), "no disk is so quick");
        // What a client less saves on emulated processors is more, and still nothing about a disk.
        let emulated = Baseline { emulated: true, ..of(10_000.0, vec![10_000.0, 10_000.0]) };
        assert_eq!(helping(&emulated, &[without(Thing::Depth, 3_000.0)]), Ok(vec![]));
        let unlike = Baseline { recorded: 30_000.0, ..quiet };
        assert!(helping(&unlike, &reruns).is_err());
    }
}
