//! How many there were at once: in the device, with a tag.

use crate::arrival::Recorded;
use crate::done::Done;

/// The most requests in the device at once, and for how long it was busy with two or more (with one or more, where it
/// never was), in nanoseconds.
pub fn crowd(r: &Recorded) -> (u32, f64) {
    let mut steps: Vec<(u64, i32)> = Vec::with_capacity(r.arrivals.len() * 2);
    for a in r.arrivals.iter().filter(|a| !a.joined) {
        steps.push((a.issued.0, 1));
        steps.push((a.completed.0.max(a.issued.0), -1));
    }
    steps.sort_unstable();
    let (mut now, mut most, mut last) = (0i32, 0, 0);
    let mut busy = [0u64; 2];
    for (time, step) in steps {
        busy[0] += if now >= 1 { time - last } else { 0 };
        busy[1] += if now >= 2 { time - last } else { 0 };
        (now, last) = (now + step, time);
        most = most.max(now);
    }
    let time = if busy[1] > busy[0] / 10 { busy[1] } else { busy[0] };
    (most.max(0) as u32, time as f64)
}

/// The most requests in the device at once.
pub fn most_in_device(r: &Recorded) -> u32 {
    crowd(r).0
}

/// The most requests with a tag at once.
pub fn most_with_tag(r: &Recorded) -> u32 {
    let mut steps: Vec<(u64, i32)> = Vec::with_capacity(r.arrivals.len() * 2);
    for a in r.arrivals.iter().filter(|a| !a.joined) {
        steps.push((a.got.0, 1));
        steps.push((a.completed.0.max(a.got.0), -1));
    }
    steps.sort_unstable();
    let mut now = 0i32;
    let each = steps.iter().map(|(_, s)| {
        now += s;
        now
    });
    each.max().unwrap_or(0).max(0) as u32
}

/// The most requests in the device at once, in a simulation.
pub fn most_simulated(done: &[Done]) -> u32 {
    let mut steps: Vec<(u64, i32)> = Vec::with_capacity(done.len() * 2);
    for d in done.iter().filter(|d| d.bytes > 0 && !d.joined) {
        steps.push((d.issued, 1));
        steps.push((d.data.max(d.issued), -1));
    }
    steps.sort_unstable();
    let mut now = 0i32;
    steps
        .iter()
        .map(|(_, s)| {
            now += s;
            now
        })
        .max()
        .unwrap_or(0)
        .max(0) as u32
}
