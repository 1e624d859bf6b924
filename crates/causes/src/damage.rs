//! How damaged a recording is: the one rule that lowers the confidence of findings and the trust in results.
//!
//! Example: of 100,000 events 200 are missing. That is 0.2 %, more than [`DAMAGED`]: data is missing, the confidence of
//! each finding drops by one step, and the screen says `degraded`.

use crate::thresholds::damage::BEGAN_BEFORE;
pub use crate::thresholds::damage::{DAMAGED, TOO_DAMAGED};
use stats::Facts;
use trace::Quality;
use units::words::percent;

/// How to record without losing events.
const LARGER_BUFFERS: &str = "record again with larger buffers: blktrace -b 2048 -n 16";

/// How damaged a recording is, with the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Practically complete: nothing odd was seen.
    None,
    /// The reader noted faults, but too few events are affected to make a finding less sure.
    Odd,
    /// Some data is missing, and why; the numbers are close to the truth.
    Some(String),
    /// Too much is missing to judge anything, and why.
    TooMuch(String),
}

impl Damage {
    /// Judges by what the reader of the trace (`quality`) and the tracker of its lives (`facts.tally`) have counted.
    pub fn of(quality: &Quality, facts: &Facts) -> Damage {
        let (q, t) = (quality, &facts.tally);
        let bad = q.lost_total() + t.unmatched() + t.backward_steps + q.out_of_order;
        let part = bad as f64 / (q.events + q.lost_total()).max(1) as f64;
        let halves = t.began_before as f64 > BEGAN_BEFORE * q.events as f64;
        // Whatever is not an event, such as the words around a trace in a mail, does not count as missing.
        let strange = q.unknown as f64 >= DAMAGED * q.events as f64;
        let odd = strange || q.damaged_bytes > 0 || q.clock_steps > 0 || !q.notes.is_empty();
        let why = || match q.lost_total() {
            0 => format!("{} of the events are out of order or unmatched", percent(part)),
            _ => format!("{} of the events are missing; {LARGER_BUFFERS}", percent(part)),
        };
        if q.events == 0 {
            Damage::TooMuch("there are no events".into())
        } else if part >= TOO_DAMAGED {
            Damage::TooMuch(why())
        } else if part >= DAMAGED {
            Damage::Some(why())
        } else if halves {
            Damage::Some(
                "the start of much of the I/O was not recorded: masked (blktrace -a) or cut off?".into(),
            )
        } else if q.files_missing {
            Damage::Some("files of processors are missing, and what happened there".into())
        } else if odd {
            Damage::Odd
        } else {
            Damage::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Cpu, DevId, Nanos};

    fn with(change: impl FnOnce(&mut Quality, &mut Facts)) -> Damage {
        let (mut quality, mut facts) = (Quality { events: 10_000, ..Quality::default() }, Facts::default());
        change(&mut quality, &mut facts);
        Damage::of(&quality, &facts)
    }

    fn says(damage: &Damage, words: &str) -> bool {
        matches!(damage, Damage::Some(why) | Damage::TooMuch(why) if why.contains(words))
    }

    #[test]
    fn everything_that_is_wrong_counts_once() {
        assert_eq!(with(|_, _| {}), Damage::None);
        let lost = |n| with(|q, _| q.lose(DevId(1), Cpu(0), Nanos(0), n));
        assert_eq!(lost(9), Damage::None);
        assert!(says(&lost(20), "0.2 % of the events are missing; record again with larger buffers"));
        assert!(matches!(lost(2000), Damage::TooMuch(_)));
        for wrong in [
            with(|_, f| f.tally.completions_unmatched = 20),
            with(|_, f| f.tally.backward_steps = 20),
            with(|q, _| q.out_of_order = 20),
        ] {
            assert!(says(&wrong, "0.2 % of the events are out of order or unmatched"), "{wrong:?}");
        }
        assert!(says(&with(|q, _| q.events = 0), "no events"));
    }

    #[test]
    fn a_busy_beginning_is_no_damage_and_half_of_each_life_is() {
        assert_eq!(with(|_, f| f.tally.began_before = 500), Damage::None);
        let masked = with(|_, f| f.tally.began_before = 501);
        assert!(matches!(masked, Damage::Some(_)) && says(&masked, "blktrace -a"), "{masked:?}");
    }

    #[test]
    fn faults_of_few_events_are_odd() {
        assert_eq!(with(|q, _| q.note("the last record is cut off".into())), Damage::Odd);
        assert_eq!(with(|q, _| q.damaged_bytes = 1), Damage::Odd);
        assert_eq!(with(|q, _| q.unknown = 9), Damage::None);
        assert_eq!(with(|q, _| q.unknown = 9000), Damage::Odd);
        assert_eq!(with(|q, _| q.clock_steps = 1), Damage::Odd);
    }
}
