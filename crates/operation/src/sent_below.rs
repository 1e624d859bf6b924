//! Stacked devices: the bios that a bio of dm or md sent to the devices below, and which of them it waited for.
//!
//! A bio may be cut into many (raid0), doubled (raid1), or read old data before it writes new data (raid5). What it
//! waited for is found backward from its end, as with tasks: the bio below that was completed last, from when it was
//! queued; then what was in flight just before that; and so on. These steps touch or leave gaps, and never overlap.
//!
//! ```text
//! dm-0   R 16 KiB  |-----------------------------|
//! sda    R  8 KiB    |---------------|               in flight when the second was queued: explains what is before it
//! sdb    R  8 KiB        |---------------------|     completed last
//! steps              |sda|--------sdb---------|
//! ```

use crate::served::Entry;
use life::BioNumber;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use trace::Nanos;

/// Largest number of completed children kept in total; 20 MB. They wait for the completion of their parent. If there
/// are more, that completion was lost.
const MAX: usize = 1 << 16;

/// Number of children kept for one bio, the last ones: 1 MiB on raid5 in stripes of 4 KiB has about 500. If there are
/// more, the time of the first ones stays "reads" or "writes on the devices below".
const MAX_CHILDREN: usize = 512;

/// Largest number of orphans in each of two generations. A stripe is written as soon as it is read, so few are needed:
/// md's stripe cache has 256 entries (`NR_STRIPES`, drivers/md/raid5.h), 32768 at most.
const MAX_ORPHANS: usize = 1 << 13;

/// Completed bios by the bio that sent them.
#[derive(Debug, Default)]
pub(crate) struct SentBelow {
    by_parent: FxHashMap<BioNumber, Vec<Entry>>,
    /// Number of children, with all below them.
    weight: usize,
    /// Completed bios whose parent is not known: the newer generation and the older one.
    orphans: [FxHashMap<BioNumber, Entry>; 2],
}

impl SentBelow {
    /// A bio that `parent` had sent was completed.
    pub fn add(&mut self, parent: BioNumber, child: Entry) {
        if self.weight >= MAX {
            self.by_parent.clear();
            self.weight = 0;
        }
        let children = self.by_parent.entry(parent).or_default();
        if children.len() >= 2 * MAX_CHILDREN {
            self.weight -= children.drain(..MAX_CHILDREN).map(|c| c.weight()).sum::<usize>();
        }
        self.weight += child.weight();
        children.push(child);
    }

    /// A bio sent by an unknown parent was completed: [`adopted`](Self::adopted) may name the parent.
    pub fn add_orphan(&mut self, number: BioNumber, child: Entry) {
        if self.orphans[0].len() >= MAX_ORPHANS {
            self.orphans.swap(0, 1);
            self.orphans[0].clear();
        }
        self.orphans[0].insert(number, child);
    }

    /// The parent of an orphan is found, or one more parent that waited for it.
    pub fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        let [young, old] = &self.orphans;
        if let Some(entry) = young.get(&child).or_else(|| old.get(&child)).cloned() {
            self.add(parent, entry);
        }
    }

    /// Removes the children of a completed bio, in the order of completion or adoption.
    pub fn of(&mut self, parent: BioNumber) -> Option<Arc<[Entry]>> {
        if self.by_parent.is_empty() {
            return None;
        }
        let children = self.by_parent.remove(&parent)?;
        self.weight -= children.iter().map(Entry::weight).sum::<usize>();
        let last = children.len().saturating_sub(MAX_CHILDREN);
        Some(children[last..].into())
    }
}

/// An interval, and the bio below that was waited for in it.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub entry: &'a Entry,
    pub from: Nanos,
    pub to: Nanos,
}

/// The bios below that were waited for from `from` to `to`, in order of time.
pub(crate) fn critical(below: &[Entry], from: Nanos, to: Nanos) -> SmallVec<[Step<'_>; 4]> {
    let mut steps = SmallVec::new();
    let mut end = to;
    // Each step ends where the step found before it begins, so no bio is taken twice and the loop ends.
    while end > from {
        let began = |e: &&Entry| queued(e) < end && e.done.timeline().completed > from;
        let last = below.iter().filter(began).max_by_key(|e| {
            let completed = e.done.timeline().completed;
            (completed.min(end), completed)
        });
        let Some(entry) = last else { break };
        let step =
            Step { entry, from: queued(entry).max(from), to: entry.done.timeline().completed.min(end) };
        if step.to <= step.from {
            break;
        }
        end = step.from;
        steps.push(step);
    }
    steps.reverse();
    steps
}

fn queued(entry: &Entry) -> Nanos {
    entry.done.timeline().start()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::Done;
    use life::{Bio, Timeline};

    fn bio(queued: u64, completed: u64) -> Entry {
        let time =
            Timeline { queued: Some(Nanos(queued)), completed: Nanos(completed), ..Timeline::default() };
        Entry::of(Done::Bio(Box::new(Bio { time, ..Bio::default() })))
    }

    fn told(below: &[Entry], from: u64, to: u64) -> Vec<(u64, u64)> {
        critical(below, Nanos(from), Nanos(to)).iter().map(|s| (s.from.0, s.to.0)).collect()
    }

    #[test]
    fn what_ended_last_is_waited_for_from_its_beginning() {
        let two = [bio(10, 50), bio(20, 80)];
        assert_eq!(told(&two, 0, 100), [(10, 20), (20, 80)]);
        // One child after the other, with a gap.
        assert_eq!(told(&[bio(10, 30), bio(40, 60)], 0, 70), [(10, 30), (40, 60)]);
        // Only part of the time is asked for.
        assert_eq!(told(&two, 30, 60), [(30, 60)]);
        assert_eq!(told(&[], 0, 10), []);
        // A clock that steps back.
        assert_eq!(told(&[bio(50, 40)], 0, 100), []);
    }
}
