//! A victim of an answer: whose operations lost time, how much, and because of what.

use super::because::Because;
use super::thresholds::{MOSTLY, WORTH_SEEING};
use super::without::{Latencies, Without};
use crate::explanation::Explanation;
use causes::WBT_FLASH;
use life::Class;
use std::collections::BTreeMap;
use trace::Nanos;
use waits::CulpritKind;

/// A victim: one task's operations of one kind on one device, with their lost time.
#[derive(Clone, Debug)]
pub struct Sufferer {
    /// Index into the groups of the explanation's focus.
    pub group: usize,
    /// The task's name. Example: `fio`.
    pub task: String,
    /// The server that the task belongs to, by its name. Example: `postgres`.
    pub role: Option<&'static str>,
    /// The cgroup of its processes; `None` if it is unknown or they are in several.
    pub cgroup: Option<String>,
    /// Number of operations.
    pub count: u64,
    /// Number of operations that were in a device, and their time.
    pub in_devices: (u64, Nanos),
    /// Time that flash takes for an operation of the mean size.
    pub(super) at_once: Nanos,
    /// Whether the operations make data durable, such as fsync.
    pub(super) commits: bool,
    /// Number of selected operations: all, or the slowest 1 %.
    pub asked: u64,
    /// Sum over the selected operations.
    pub time: Nanos,
    /// The part of `time` that was lost.
    pub lost: Nanos,
    /// The part of `lost` that is within the normal variation of such requests.
    pub noise: Nanos,
    /// Whether the service time of its requests is unknown: `lost` is then an upper bound.
    pub is_bound: bool,
    /// Whether it has too few operations to draw conclusions.
    pub is_thin: bool,
    /// Median, p99 and longest latency of all operations.
    pub latency: [Nanos; 3],
    /// Number of sampled slowest operations that had not ended at the end of the recording.
    pub still_out: u64,
    /// Whether the longest sampled operation began before the recording: it took longer than recorded.
    pub begun_before: bool,
    /// Median and p99 of the operations alone, without interference; `None` if that is unknown.
    pub alone: Option<[Nanos; 2]>,
    /// `lost` by cause and culprit; sums to `lost`.
    pub because: Vec<Because>,
    /// All claimed time by cause, lost or not: a log's write that takes only its own time still belongs to the log.
    pub(super) due: BTreeMap<&'static str, Nanos>,
    /// Predicted latencies without one culprit each.
    pub without: Vec<Without>,
    /// Predicted latencies without each cause, by the cause's name.
    pub relieved: BTreeMap<&'static str, Latencies>,
}

impl Sufferer {
    /// The part of its lost time that has neither a cause nor a known culprit, 0 to 1.
    pub fn unexplained(&self) -> f64 {
        let unknown = |b: &&Because| b.cause.is_none() && b.culprit.kind == CulpritKind::Unknown;
        let time: Nanos = self.because.iter().filter(unknown).map(|b| b.time).sum();
        time.0 as f64 / self.lost.0.max(1) as f64
    }

    /// Whether at most a fifth of its time was lost ([`WORTH_SEEING`]).
    pub fn lost_little(&self) -> bool {
        self.lost.0 as f64 <= WORTH_SEEING * self.time.0 as f64
    }

    /// Whether at least half of its lost time is unexplained.
    pub fn is_mostly_unexplained(&self) -> bool {
        self.unexplained() >= MOSTLY
    }

    /// Whether 99 of 100 operations took no longer than Linux expects of flash, and it is known what they waited for.
    pub fn is_as_expected(&self) -> bool {
        let [_, p99, _] = self.latency;
        self.count >= 100 && p99 < WBT_FLASH && self.still_out == 0 && !self.is_mostly_unexplained()
    }

    /// Whether most of its lost time is a wait whose end was not recorded: the recording shows where it waits, not why.
    pub fn waits_without_end(&self) -> bool {
        let unknown = self.because.iter().filter(|b| b.culprit.kind == CulpritKind::Unknown);
        let of_nobody: u64 = unknown.map(|b| b.time.0).sum();
        self.still_out > 0 && of_nobody as f64 >= MOSTLY * self.lost.0 as f64
    }

    /// The class of its operations.
    pub(super) fn class(&self, e: &Explanation) -> Option<Class> {
        e.focus.groups.get(self.group).map(|g| g.class)
    }

    /// The part of its lost time that a cause explains, 0 to 1.
    pub fn share_of(&self, cause: &str) -> f64 {
        self.lost_to(cause).0 as f64 / self.lost.0.max(1) as f64
    }

    /// Its time that a cause explains, lost or not.
    pub(super) fn due_to(&self, cause: &str) -> Nanos {
        self.due.get(cause).copied().unwrap_or_default().max(self.lost_to(cause))
    }

    /// Its lost time that a cause explains.
    pub fn lost_to(&self, cause: &str) -> Nanos {
        self.because.iter().filter(|b| b.cause == Some(cause)).map(|b| b.time).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::worth::tests::{flushes, victim};
    use super::*;
    use waits::Culprit;

    /// A victim that lost the given times to flushes and, without a cause, to a culprit of this kind.
    fn lost(to_flushes: u64, to: CulpritKind, time: u64) -> Sufferer {
        let culprit = Culprit::of(to);
        let other = Because { cause: None, culprit, ..flushes(time) };
        Sufferer { because: vec![flushes(to_flushes), other], ..victim(1000, to_flushes + time, 2000) }
    }

    #[test]
    fn unexplained_is_what_has_neither_cause_nor_culprit() {
        assert!((lost(70, CulpritKind::Unknown, 30).unexplained() - 0.3).abs() < 1e-9);
        assert_eq!(lost(70, CulpritKind::Device, 30).unexplained(), 0.0, "somebody had it");
        assert_eq!(
            Sufferer { because: vec![], ..victim(1000, 0, 2000) }.unexplained(),
            0.0,
            "nothing was lost"
        );
        let mostly = |time| lost(100 - time, CulpritKind::Unknown, time).is_mostly_unexplained();
        let most = (MOSTLY * 100.0).ceil() as u64;
        assert!(mostly(most) && mostly(100) && !mostly(most - 1) && !mostly(0));
    }

    #[test]
    fn what_takes_as_long_as_flash_may_is_as_expected() {
        let of = |p99_us: u64, unknown: u64| {
            let v = lost(100 - unknown, CulpritKind::Unknown, unknown);
            Sufferer { latency: [200, p99_us, 9000].map(|us| Nanos(us * 1000)), ..v }
        };
        assert!(of(1999, 0).is_as_expected() && !of(2000, 0).is_as_expected());
        assert!(!of(1999, 100).is_as_expected(), "nobody knows what it waited for");
        assert!(!Sufferer { count: 99, ..of(1999, 0) }.is_as_expected());
        assert!(!Sufferer { still_out: 1, ..of(1999, 0) }.is_as_expected());
    }

    /// The end of a wait shows its reason; for a wait that had not ended only its place is known.
    #[test]
    fn a_wait_without_end_is_mostly_nobodys() {
        let of = |still_out, unknown: u64| {
            let culprit = Culprit::of(CulpritKind::Unknown);
            let rest = Because { cause: Some("log-force"), culprit, ..flushes(unknown) };
            let because = vec![flushes(100 - unknown), rest];
            Sufferer { still_out, because, ..victim(1000, 100, 2000) }.waits_without_end()
        };
        assert!(of(1, 50) && !of(1, 49) && !of(0, 100));
    }
}
