//! Fewer, larger reads ahead for a task that reads in order, on a device that does not rotate: such a device (a volume on a network, a
//! card) may take as long for 128 KiB as for 16.
//!
//! Measured on a device that takes 2 ms a request and moves 200 MB/s: a file is read in 0.6 of the time with `read_ahead_kb` 1024 instead of
//! 128. A device at its full bandwidth gains nothing. Reads of a few pages in the recording, if there are any, tell which it is.

use crate::case::Case;
use crate::device::expected::rotational;
use crate::memory::read_ahead_short::in_order_by;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::larger_reads::{LEAST_SMALL, MOSTLY, PROPOSED, SMALL};
use crate::thresholds::read_ahead_short::IN_ORDER;
use crate::verdict::Verdict;
use life::Op;
use trace::{Bytes, Nanos};

/// Adds that more is to be read at a time, unless the device takes long for the bytes and not for each request.
pub(crate) fn told(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let rests = rotational(case, slow.on.id).is_some_and(|turns| !turns.value);
    let setting = case.settings(slow.on.id).and_then(|s| s.read_ahead_kb());
    let Some(setting) = setting.filter(|now| rests && now.value < PROPOSED) else { return v };
    let requests = slow.requests();
    let size = Bytes(requests.bytes.0 / requests.count.max(1));
    // Smaller ones end where the files end.
    let is_whole = 4 * size.0 >= 3 * setting.value.0.max(SMALL.0 + 1);
    if !is_whole || in_order_by(case, slow.on, &slow.group.task) < IN_ORDER {
        return v;
    }
    let (name, each) = (case.name(slow.on.id), Nanos(requests.d2c.mean() as u64));
    let v = match of_small(case, slow) {
        Some(small) if (small.0 as f64) < MOSTLY * each.0 as f64 => return v,
        Some(small) => v.because(proof!(
            "{name} takes {small} for a read of at most {most}, and {each} for one of {size}: for each, not for the bytes",
            name,
            small,
            most = SMALL,
            each,
            size
        )),
        None => v,
    };
    let kib = |bytes: Bytes| bytes.0 / 1024;
    v.try_in_part(
        format!(
            "read_ahead_kb {} -> {}: the same bytes with fewer requests, which is faster on a device that takes long for each of them; costs memory, \
             and others' time where files are not read in order",
            kib(setting.value),
            kib(PROPOSED)
        ),
        Action::set(&name, "queue/read_ahead_kb", kib(PROPOSED)),
    )
}

/// What the device takes for a small read (mean); `None` if it served too few.
fn of_small(case: &Case, slow: &Slow) -> Option<Nanos> {
    let cells = case.facts.cells.iter().filter(|(key, _)| key.dev == slow.on.id && key.op == Op::Read);
    let small = cells.filter(|(key, _)| key.size.upper() <= SMALL);
    let (mut count, mut time) = (0, 0);
    for (_, phases) in small {
        count += phases.d2c.count();
        time += phases.d2c.sum();
    }
    (count >= LEAST_SMALL).then(|| Nanos((time / u128::from(count)) as u64))
}
