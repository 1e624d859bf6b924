//! Reads that are sent page by page, because the device has no read-ahead.
//!
//! Not a cause of its own: it says why one read waits for several requests, one after the other. With `read_ahead_kb` 0 the kernel reads
//! only the page that is missing, and waits for it before it looks at the next (`page_cache_sync_ra`, mm/readahead.c).
//!
//! Example: a database that reads pages of 8 KiB at random waits for two requests of 4 KiB each time; with 128 KiB it took 3.1 ms instead
//! of 7.5.

use crate::case::Case;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::verdict::Verdict;
use life::Class;
use trace::Bytes;

/// The default of Linux, in KiB (`VM_READAHEAD_PAGES`, include/linux/mm.h).
const DEFAULT_KIB: u64 = 128;

/// Adds that the device has no read-ahead, if that makes most reads wait for more than one request.
pub(crate) fn told(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let Some(now) = case.settings(slow.on.id).and_then(|s| s.read_ahead_kb()).filter(|s| s.value == Bytes(0))
    else {
        return v;
    };
    let sent = case.requests_by_task(slow.on.id, &[Class::Read]);
    let requests = sent.get(&*slow.group.task).copied().unwrap_or(0);
    let (missed, _) = slow.group.in_devices(&case.facts.waits);
    // Half of those that missed need a second page.
    if missed == 0 || 2 * requests < 3 * missed {
        return v;
    }
    let name = case.name(slow.on.id);
    v.because(proof!(
        "{requests} requests for {missed} reads that missed the cache: read_ahead_kb of {name} is 0 ({at}), so each page is read by itself",
        requests = Count(requests),
        missed = Count(missed),
        name,
        at = now.at
    ))
    .try_this(
        format!("read_ahead_kb 0 -> {DEFAULT_KIB}, the default: the pages of one read are read at once"),
        Action::set(&name, "queue/read_ahead_kb", DEFAULT_KIB),
    )
}
