//! Counts requests that are in flight at once: in the device, or with a tag.

use crate::arrival::Recorded;
use crate::done::Done;

/// Begins (1) and ends (-1) of spans, in order of time.
fn steps(spans: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, i32)> {
    let mut steps: Vec<(u64, i32)> = spans.flat_map(|(from, to)| [(from, 1), (to.max(from), -1)]).collect();
    steps.sort_unstable();
    steps
}

/// The maximal number of spans at once.
fn most(steps: &[(u64, i32)]) -> u32 {
    let mut now = 0i32;
    let each = steps.iter().map(|(_, step)| {
        now += step;
        now
    });
    each.max().unwrap_or(0).max(0) as u32
}

fn in_device(r: &Recorded) -> Vec<(u64, i32)> {
    steps(r.arrivals.iter().filter(|a| !a.joined).map(|a| (a.issued.0, a.completed.0)))
}

/// The maximal number of requests in the device at once, and the nanoseconds for which it had two or more. If that is at most a tenth of
/// its busy time: the nanoseconds with one or more.
pub fn most_and_time(r: &Recorded) -> (u32, f64) {
    let steps = in_device(r);
    let (mut now, mut last) = (0i32, 0);
    let mut busy = [0u64; 2];
    for (time, step) in &steps {
        busy[0] += if now >= 1 { time - last } else { 0 };
        busy[1] += if now >= 2 { time - last } else { 0 };
        (now, last) = (now + step, *time);
    }
    let time = if busy[1] > busy[0] / 10 { busy[1] } else { busy[0] };
    (most(&steps), time as f64)
}

/// The maximal number of requests in the device at once.
pub fn most_in_device(r: &Recorded) -> u32 {
    most(&in_device(r))
}

/// The maximal number of requests with a tag at once.
pub fn most_with_tag(r: &Recorded) -> u32 {
    most(&steps(r.arrivals.iter().filter(|a| !a.joined).map(|a| (a.got.0, a.completed.0))))
}

/// The maximal number of requests in the device at once in a simulation.
pub fn most_simulated(done: &[Done]) -> u32 {
    most(&steps(done.iter().filter(|d| d.bytes > 0 && !d.joined).map(|d| (d.issued, d.data))))
}
