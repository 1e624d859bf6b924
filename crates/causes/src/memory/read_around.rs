//! What is read around a page that a fault waits for, although the pages of the file are touched at random.
//!
//! Not a cause of its own: it says why each fault takes as long as a large read. The kernel reads `read_ahead_kb`
//! around the page (`do_sync_mmap_readahead`, mm/filemap.c), unless `madvise` says that a mapping is read at random.
//!
//! Example: 800 random faults, each of which reads 124 KiB from a device that moves 60 MB/s: with 16 KiB they take a quarter of the time.

use crate::case::{Case, MIN_SAMPLES};
use crate::device::expected::rotational;
use crate::memory::read_ahead_short::in_order_by;
use crate::memory::read_ahead_waste::less_than;
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::read_ahead_short::{DISK_BYTES_A_SECOND, IN_ORDER};
use crate::thresholds::HALF_A_TURN;
use crate::verdict::Verdict;
use life::Op;
use stats::{Group, Phases};
use trace::{Bytes, Nanos};

/// Adds how much each fault read, if most of that is of no use, and how to reduce it.
pub(crate) fn told(v: Verdict, case: &Case, group: &Group) -> Verdict {
    let Some(device) = case.facts.device(group.dev).filter(|_| group.operations >= MIN_SAMPLES) else {
        return v;
    };
    let is_its = |task: u32| case.facts.tasks.name(task) == group.task;
    let reads =
        case.facts.cells.iter().filter(|(k, _)| k.dev == group.dev && k.op == Op::Read && is_its(k.task));
    let (count, bytes) = reads.fold((0, 0), |(n, sum), (_, p): (_, &Phases)| (n + p.count, sum + p.bytes.0));
    let in_order = in_order_by(case, device, &group.task);
    let Some(now) = case.settings(group.dev).and_then(|s| s.read_ahead_kb()) else { return v };
    let less = less_than(now.value);
    let each = bytes / count.max(1);
    // Only if more is read than is proposed, and not sequentially.
    if each < 2 * 1024 * less || in_order > 1.0 - IN_ORDER {
        return v;
    }
    // A rotating disk seeks for longer than it reads.
    let reads = Nanos(each.saturating_mul(1_000_000_000) / DISK_BYTES_A_SECOND);
    if reads < HALF_A_TURN && rotational(case, group.dev).is_some_and(|turns| turns.value) {
        return v;
    }
    let name = case.name(group.dev);
    v.because(proof!(
        "each had {each} read around its page, and {in_order} of the reads of {task} follow one another: read_ahead_kb of {name} is {now} ({at})",
        each = Bytes(each),
        in_order = Share(in_order),
        task = group.task,
        name,
        now = Text((now.value.0 / 1024).to_string()),
        at = now.at
    ))
    .try_in_part(
        format!(
            "read_ahead_kb {} -> {less}: less is read around a page that is touched at random (madvise(MADV_RANDOM) does it for one \
             mapping); sequential readers of this disk become slower",
            now.value.0 / 1024
        ),
        Action::set(&name, "queue/read_ahead_kb", less),
    )
}
