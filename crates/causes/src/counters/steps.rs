//! The step in which requests spend most of their time, from btt: a suspicion, since means say nothing of single requests.
//!
//! `Q2G` is the wait for a free request: the queue's tags, writeback throttling's budget or a control group's limit
//! (`blk_mq_submit_bio`, block/blk-mq.c). `I2D` is the time in the scheduler, and `D2C` that in the device.
//!
//! Example: 30,331 requests wait 4.58 ms each for a free one, 96 % of the time up to their completion.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::busy::LONG_WAIT;
use super::thresholds::evidence::REQUESTS;
use crate::proof::{proof, Proof};
use crate::thresholds::WBT_FLASH;
use crate::verdict::Verdict;
use tooltext::{Number, Reading, ToolOutput};
use trace::Nanos;

/// A step: its name; what is suspected if it takes most of the time; from which mean on; what requests do in it; what is missing.
type Step = (&'static str, Option<(&'static str, Nanos, &'static str, &'static str)>);

const STEPS: [Step; 4] = [
    (
        "Q2G",
        Some((
            "tag-exhaustion",
            WBT_FLASH,
            "wait for a free request",
            "what holds them back: the queue's tags (nr_requests), writeback throttling (wbt_lat_usec) or a control group's limit",
        )),
    ),
    ("G2I", None),
    (
        "I2D",
        Some((
            "device-saturated",
            WBT_FLASH,
            "wait in the scheduler",
            "whether the device takes no more (requests in flight at its limit) or the scheduler holds them back",
        )),
    ),
    (
        "D2C",
        Some((
            "slow-device",
            LONG_WAIT,
            "are in the device",
            "whether each takes so long alone, or waits behind others there",
        )),
    ),
];

/// Suspected if one step takes more than half of the time of the requests, and long.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    readings(outputs, "btt").filter(|(_, reading)| reading.name.is_empty()).find_map(of)
}

fn of((place, reading): (In, &Reading)) -> Option<Verdict> {
    let step = |name: &str| {
        let row = reading.row(name)?;
        Some((row.get("mean")?, row.value("count")?))
    };
    let time = |(mean, count): (Number, f64)| mean.value * count;
    let all: f64 = STEPS.iter().filter_map(|(name, _)| step(name)).map(time).sum();
    let (name, suspected) =
        STEPS.iter().find(|(name, _)| step(name).is_some_and(|step| 2.0 * time(step) > all))?;
    let (cause, least, does, missing) = (*suspected)?;
    let (mean, count) = step(name)?;
    if count < REQUESTS || mean.value < least.0 as f64 {
        return None;
    }
    let said: Proof = proof!(
        "{n} requests {does} for {mean} on average ({name}), {share} of the time up to their completion ({at})",
        n = Count(count as u64),
        does,
        mean = number(mean),
        name = *name,
        share = Share(time((mean, count)) / all),
        at = Source(place.at(mean))
    );
    Some(Verdict::cannot_tell(cause, missing).confirmed_by("iowhy explain FILE.blktrace.0").because(said))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    /// Means in ms, of a thousand requests.
    fn judged(q2g: f64, i2d: f64, d2c: f64) -> Vec<(&'static str, String)> {
        let row = |name: &str, ms: f64| {
            let mean = ms / 1e3;
            format!("{name}               0.000000100   {mean:.9}   1.000000000        1000\n")
        };
        let text = "            ALL           MIN           AVG           MAX           N\n--------------- ------------- ------------- ------------- -----------\n".to_owned()
            + &row("Q2G", q2g)
            + &row("I2D", i2d)
            + &row("D2C", d2c)
            + &row("Q2C", q2g + i2d + d2c);
        let all = judge_counters(&[ToolOutput::read("sda.avg", text.as_bytes())]);
        all.into_iter().map(|v| (v.cause, v.evidence[0].sentence())).collect()
    }

    #[test]
    fn the_step_that_takes_most_of_the_time_is_suspected() {
        let tags = "1,000 requests wait for a free request for 4.58 ms on average (Q2G), 96 % of the time up to their completion (sda.avg:3)";
        assert_eq!(judged(4.58, 0.01, 0.17), [("tag-exhaustion", tags.to_owned())]);
        assert_eq!(judged(0.01, 12.0, 8.0)[0].0, "device-saturated");
        assert_eq!(judged(0.01, 2.0, 900.0)[0].0, "slow-device");
    }

    #[test]
    fn short_steps_and_a_disk_at_its_pace_are_not() {
        assert_eq!(judged(0.9, 0.0, 0.1), [], "under a millisecond");
        assert_eq!(judged(0.0, 0.0, 60.0), [], "a disk may take that long");
        assert_eq!(judged(4.0, 4.0, 4.0), [], "no step takes most");
    }
}
