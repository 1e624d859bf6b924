//! Reads that are sent page by page, because the device has no read-ahead.
//!
//! With `read_ahead_kb` 0 the kernel reads only the page that is missing, and waits for it before it looks at the next
//! (`page_cache_sync_ra`, mm/readahead.c). So a read of several pages waits for as many requests, one after the other, whether or not the
//! reads of the file are in order.
//!
//! Example: a database that reads pages of 8 KiB at random waits for two requests of 4 KiB each time; with 128 KiB it took 3.1 ms instead
//! of 7.5.

use crate::case::Case;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use evidence::Fact;
use life::Class;
use trace::Bytes;

/// The reads of a group that need more than one request each.
pub(super) struct PageByPage {
    requests: u64,
    /// Number of reads that missed the cache.
    missed: u64,
    setting: Fact<Bytes>,
}

impl PageByPage {
    /// `None` unless the device has no read-ahead and most of the group's reads that missed the cache needed a second page.
    pub fn of(case: &Case, slow: &Slow) -> Option<PageByPage> {
        let setting = case.settings(slow.on.id)?.read_ahead_kb().filter(|s| s.value == Bytes(0))?;
        let sent = case.requests_by_task(slow.on.id, &[Class::Read]);
        let requests = sent.get(&*slow.group.task).copied().unwrap_or(0);
        let (missed, _) = slow.group.in_devices(&case.facts.waits);
        // Half of those that missed need a second page.
        (missed > 0 && 2 * requests >= 3 * missed).then_some(PageByPage { requests, missed, setting })
    }

    /// The part of the time in the device that one request for each read saves, 0 to 1.
    pub fn saved(&self) -> f64 {
        1.0 - self.missed as f64 / self.requests as f64
    }

    pub fn proof(&self, name: &str) -> Proof {
        proof!(
            "{requests} requests for {missed} reads that missed the cache: read_ahead_kb of {name} is 0 ({at}), so each page is read by itself",
            requests = Count(self.requests),
            missed = Count(self.missed),
            name,
            at = self.setting.at
        )
    }
}
