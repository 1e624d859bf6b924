//! Plans a checkup: sizes, times and bytes, which are announced before anything is written.
//!
//! ```text
//! quick: at most 4 GiB are written. Laying the file and the steps that write are 12 parts, so a part, the data file's size,
//! is at most 4 GiB / 12 = 341 MiB; no more than 256 MiB; no more than an eighth of what is free.
//! ```

use crate::error::{Error, Result};
use crate::place::Place;
use crate::scenario::{self, Scenario, Step};
use std::time::Duration;
use units::words;

/// The minimal size of files: smaller ones fit into a disk's own cache.
const SMALLEST: u64 = 8 << 20;
/// A file has at most 1/8 of the free space: three files of the data's size exist at the same time.
const OF_FREE: u64 = 8;
/// Time of a step beside its load: starting fio and the recording, judging it.
const BETWEEN: Duration = Duration::from_millis(1_500);

/// How thorough a checkup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// One minute.
    Quick,
    /// Ten minutes.
    Full,
}

/// The user's options.
#[derive(Clone, Debug)]
pub struct Wish {
    /// How thorough the checkup is.
    pub length: Length,
    /// Time of a step; `None`: the default of the length.
    pub step: Option<Duration>,
    /// Maximal number of bytes to write; `None`: the default of the length.
    pub most_bytes: Option<u64>,
    /// Only these scenarios, by number; empty: all. The first one is always run, because it is the reference for others.
    pub only: Vec<u8>,
}

/// A checkup that is scaled to its place.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenarios, in the order in which they are run.
    pub scenarios: Vec<&'static Scenario>,
    /// How thorough it is.
    pub length: Length,
    /// The time of a step's load; a step may take a part or a multiple of it.
    pub step: Duration,
    /// Nothing is started that would end later than this after the start.
    pub most_time: Duration,
    /// Maximal number of bytes that the loads and writing the data file may write.
    pub most_bytes: u64,
    /// The maximal size of the data file, and of what one writer writes.
    pub size: u64,
    /// The time for writing the data file; on a slow disk the file becomes smaller.
    pub lay: Duration,
}

impl Plan {
    /// Scales the scenarios to a place; an error if there is too little space, or no such scenario.
    pub fn of(wish: &Wish, place: &Place) -> Result<Plan> {
        let wanted = |s: &&Scenario| s.number == 1 || wish.only.is_empty() || wish.only.contains(&s.number);
        let scenarios: Vec<_> = scenario::ALL.iter().filter(wanted).collect();
        if let Some(n) = wish.only.iter().find(|n| scenario::ALL.iter().all(|s| s.number != **n)) {
            return Err(Error::refused(format!("there is no scenario {n}"), "there are 1 to 7"));
        }
        let (usual_step, usual_bytes, largest, least_time, lay) = match wish.length {
            Length::Quick => (Duration::from_millis(1_400), 4u64 << 30, 256u64 << 20, 60, 3),
            Length::Full => (Duration::from_secs(22), 32 << 30, 2 << 30, 600, 20),
        };
        let step = wish.step.unwrap_or(usual_step);
        let parts = 1 + scenarios.iter().flat_map(|s| s.steps).map(|s| s.writes).sum::<u64>();
        let most = wish.most_bytes.unwrap_or(usual_bytes);
        // A multiple of the largest request, 4 MiB.
        let size = (most / parts).min(largest).min(place.free / OF_FREE) >> 22 << 22;
        if size < SMALLEST {
            let needed = (SMALLEST * parts).max(SMALLEST * OF_FREE);
            return Err(Error::refused(
                format!(
                    "a checkup needs to write {} and needs {} free",
                    words::bytes(SMALLEST * parts),
                    words::bytes(SMALLEST * OF_FREE)
                ),
                format!("free some space, or allow more: --write-at-most {}M", needed >> 20),
            ));
        }
        let lay = Duration::from_secs(lay).min(step * 2);
        let usual = Duration::from_secs(least_time);
        let most_time = match wish.step {
            None => usual,
            Some(_) => usual.max(needs(&scenarios, step, lay) * 2),
        };
        Ok(Plan { scenarios, length: wish.length, step, most_time, most_bytes: size * parts, size, lay })
    }

    /// The time that a step's load takes.
    pub fn time_of(&self, step: &Step) -> Duration {
        self.step.mul_f64(step.time)
    }

    /// The time that the whole checkup takes, roughly.
    pub fn needs(&self) -> Duration {
        needs(&self.scenarios, self.step, self.lay).min(self.most_time)
    }
}

fn needs(scenarios: &[&Scenario], step: Duration, lay: Duration) -> Duration {
    let one = |s: &Step| {
        let load = step.mul_f64(s.time) * scenario::jobs_in_turn(s.job);
        load + if s.recorded { BETWEEN } else { BETWEEN / 3 }
    };
    lay + scenarios.iter().flat_map(|s| s.steps).map(one).sum::<Duration>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(free: u64) -> Place {
        Place { free, total: 1 << 40, ..Place::default() }
    }

    fn wish(length: Length) -> Wish {
        Wish { length, step: None, most_bytes: None, only: vec![] }
    }

    #[test]
    fn a_minute_and_ten() {
        for (length, limit) in [(Length::Quick, 60), (Length::Full, 600)] {
            let plan = Plan::of(&wish(length), &place(1 << 40)).unwrap();
            assert!(
                needs(&plan.scenarios, plan.step, plan.lay).as_secs() < limit,
                "{:?}",
                needs(&plan.scenarios, plan.step, plan.lay)
            );
            assert_eq!(plan.most_time.as_secs(), limit);
        }
    }

    #[test]
    fn what_is_written_is_bounded() {
        let plan = Plan::of(&wish(Length::Quick), &place(1 << 40)).unwrap();
        assert!(plan.most_bytes <= 4 << 30 && plan.size == 256 << 20);
        let small = Plan::of(&wish(Length::Quick), &place(128 << 20)).unwrap();
        assert_eq!(small.size, 16 << 20);
        let little = Wish { most_bytes: Some(200 << 20), ..wish(Length::Quick) };
        assert!(Plan::of(&little, &place(1 << 40)).unwrap().most_bytes <= 200 << 20);
        assert!(
            Plan::of(&Wish { most_bytes: Some(1 << 20), ..wish(Length::Quick) }, &place(1 << 40)).is_err()
        );
        assert!(Plan::of(&Wish { only: vec![9], ..wish(Length::Quick) }, &place(1 << 40)).is_err());
    }
}
