//! Finds other users of the disk during a measurement: with them, the measurement is not of the disk alone.
//!
//! ```text
//! requests of fio                                 ours
//! requests of kworker, charged to fio, or nobody  ours, or not known: not counted
//! requests of cp; of kworker, charged to cp       another's
//! ```
//!
//! Another fio is not distinguished from the checkup's own.

use causes::works_for_others;
use serde::{Deserialize, Serialize};
use stats::{Facts, Whose, OTHERS};
use std::collections::BTreeMap;
use units::words;

/// Others with at least this part of the bytes make a measurement unusable.
const MUCH: f64 = 0.1;
/// Prefixes of the names of the load and the recorder.
const OURS: [&str; 2] = ["fio", "iowhy"];
/// Maximal number of tasks that are named.
const NAMED: usize = 2;

/// I/O of other tasks during a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OtherUsers {
    /// Names of the tasks, most bytes first.
    pub tasks: Vec<String>,
    /// Bytes that they moved, in all.
    pub bytes: u64,
    /// The part of all bytes that were moved, 0 to 1.
    pub share: f64,
}

impl OtherUsers {
    /// In words: `cp, tar and 2 more moved 3.2 GiB meanwhile, 43 % of all`.
    pub fn words(&self) -> String {
        let mut who = self.tasks.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if let Some(more) = self.tasks.len().checked_sub(NAMED).filter(|n| *n > 0) {
            who += &format!(" and {more} more");
        }
        format!("{who} moved {} meanwhile, {:.0} % of all", words::bytes(self.bytes), self.share * 100.0)
    }
}

/// Other users of the disk, if they moved at least a tenth of the bytes.
pub fn other_users(facts: &Facts) -> Option<OtherUsers> {
    let (mut all, mut others) = (0, BTreeMap::<&str, u64>::new());
    for (task, phases) in &facts.cells.sum(|key| Some(key.task)) {
        let name = facts.tasks.name(*task);
        all += phases.bytes.0;
        if *task != OTHERS && !is_ours(name) && !works_for_others(name) {
            *others.entry(name).or_default() += phases.bytes.0;
        }
    }
    for ((_, _, whose), sent) in &facts.operations.sent_for {
        match whose {
            Whose::Tasks(names) if !names.split(", ").any(is_ours) => {
                *others.entry(names).or_default() += sent.bytes.0;
            }
            _ => {}
        }
    }
    let bytes: u64 = others.values().sum();
    let share = bytes as f64 / (all.max(1) as f64);
    let mut tasks: Vec<(&str, u64)> = others.into_iter().collect();
    tasks.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let tasks = tasks.into_iter().map(|(name, _)| name.to_string()).collect();
    (share >= MUCH).then_some(OtherUsers { tasks, bytes, share: share.min(1.0) })
}

fn is_ours(name: &str) -> bool {
    OURS.iter().any(|ours| name.starts_with(ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Script;

    /// The result for a read of 64 KiB by fio and a read of this many sectors by cp.
    fn beside(sectors: u64) -> Option<OtherUsers> {
        let script = Script::of(&format!(
            "0      name fio tid=7
             0      name cp tid=8
             0      name kworker/0:1H tid=9
             1ms    Q R 0+128 tid=7
             1ms    G R 0+128 tid=7
             1.1ms  D R 0+128 tid=7
             2ms    C R 0+128
             3ms    Q R 1000+{sectors} tid=8
             3ms    G R 1000+{sectors} tid=8
             3.1ms  D R 1000+{sectors} tid=8
             4ms    C R 1000+{sectors}
             5ms    Q W 5000+256 tid=9
             5ms    G W 5000+256 tid=9
             5.1ms  D W 5000+256 tid=9
             6ms    C W 5000+256"
        ));
        other_users(&Facts::of(&script.batches(1 << 10)))
    }

    #[test]
    fn who_else_moved_much_is_named() {
        // 128 + 256 sectors are from fio and a worker.
        let found = beside(128).unwrap();
        assert_eq!((found.tasks.as_slice(), found.bytes), (&["cp".to_string()][..], 128 * 512));
        assert_eq!(found.words(), "cp moved 64 KiB meanwhile, 25 % of all");
        assert_eq!(beside(40), None, "less than a tenth");
        assert!(beside(48).is_some());
    }

    #[test]
    fn few_are_named() {
        let tasks = ["a", "b", "c", "d"].map(String::from).to_vec();
        let words = OtherUsers { tasks, bytes: 1 << 20, share: 0.5 }.words();
        assert_eq!(words, "a, b and 2 more moved 1 MiB meanwhile, 50 % of all");
    }
}
