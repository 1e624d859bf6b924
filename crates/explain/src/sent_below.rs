//! The slowest bios of stacked devices (md, dm), each as a tree of the bios that it sent to the devices below.
//!
//! ```text
//! md0   write 8 KiB      91 ms
//!   vdb   read 4 KiB     40 ms      sent by it, down to the disks
//!   vdc   write 4 KiB    50 ms
//! ```
//!
//! Bios below end before the bio that sent them, so they are stored here by their parent's number until it ends.

use crate::slowest::Slowest;
use life::{Bio, BioNumber, Names};
use std::collections::HashMap;
use trace::Nanos;

/// Maximal number of ended bios that wait for their parent; if there are more, the parent's completion was lost.
const MAX_WAITING: usize = 1 << 16;

/// Maximal number of bios that are kept per parent, the first ones: 1 MiB on raid5 in stripes of 4 KiB are about 500.
const MAX_OF_ONE: usize = 512;

/// Maximal number of ended bios with a still unknown parent: md's stripe cache has 256 entries (`NR_STRIPES`, drivers/md/raid5.h), at most
/// 32768.
const MAX_ORPHANS: usize = 1 << 13;

/// A bio and the bios that it sent below.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The bio.
    pub bio: Bio,
    /// The name of its task.
    pub task: String,
    /// The bios it sent, in the order in which they were queued.
    pub below: Vec<Sent>,
    /// Number of further bios that were not kept.
    pub left_out: u64,
}

/// Ended bios of a parent that has not ended.
#[derive(Default)]
struct Waiting {
    bios: Vec<Sent>,
    left_out: u64,
}

/// Collects the slowest bios of stacked devices in a recording.
pub struct SlowestStacked {
    slowest: Slowest<Sent>,
    waiting: HashMap<BioNumber, Waiting>,
    /// Number of bios in `waiting`.
    number: usize,
    orphans: HashMap<BioNumber, Sent>,
}

impl SlowestStacked {
    /// Starts empty; keeps at most `number` bios.
    pub fn new(number: usize) -> SlowestStacked {
        let (waiting, orphans) = Default::default();
        SlowestStacked { slowest: Slowest::new(number), waiting, number: 0, orphans }
    }

    /// Whether there was no such bio.
    pub fn is_empty(&self) -> bool {
        self.slowest.is_empty()
    }

    /// Adds an ended bio; `asked`: whether it is a candidate for the slowest.
    pub fn bio(&mut self, bio: &Bio, names: &Names, asked: bool) {
        if bio.by_request && !bio.is_child() {
            return;
        }
        let Waiting { bios: mut below, left_out } = self.waiting.remove(&bio.number).unwrap_or_default();
        self.number -= below.len();
        below.sort_by_key(|sent| sent.bio.time.start());
        let task = names.text(bio.task).to_string();
        let sent = Sent { bio: bio.clone(), task, below, left_out };
        match bio.parent {
            Some(parent) => self.wait(parent, sent),
            None if bio.orphan => {
                if self.orphans.len() >= MAX_ORPHANS {
                    self.orphans.clear();
                }
                self.orphans.insert(bio.number, sent);
            }
            None if asked => self.slowest.add(bio.time.total(), || sent),
            None => {}
        }
    }

    /// The parent of an ended bio is now known.
    pub fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        if let Some(sent) = self.orphans.get(&child).cloned() {
            self.wait(parent, sent);
        }
    }

    fn wait(&mut self, parent: BioNumber, sent: Sent) {
        if self.number >= MAX_WAITING {
            self.waiting.clear();
            self.number = 0;
        }
        let waiting = self.waiting.entry(parent).or_default();
        if waiting.bios.len() >= MAX_OF_ONE {
            waiting.left_out += 1;
            return;
        }
        waiting.bios.push(sent);
        self.number += 1;
    }

    /// The slowest bios, unsorted.
    pub fn into_all(self) -> impl Iterator<Item = Sent> {
        self.slowest.into_all()
    }
}

impl Sent {
    /// The time from the bio's start to its completion.
    pub fn total(&self) -> Nanos {
        self.bio.time.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Timeline;

    fn bio(number: u64, parent: Option<u64>, (from, to): (u64, u64), by_request: bool) -> Bio {
        let time = Timeline { queued: Some(Nanos(from)), completed: Nanos(to), ..Timeline::default() };
        let parent = parent.map(BioNumber);
        Bio { number: BioNumber(number), parent, time, by_request, ..Bio::default() }
    }

    fn told(bios: &[Bio], adopted: &[(u64, u64)]) -> Vec<Sent> {
        let mut stacked = SlowestStacked::new(2);
        for b in bios {
            stacked.bio(b, &Names::default(), true);
            let of = adopted.iter().filter(|(child, _)| *child == b.number.0);
            of.for_each(|(child, parent)| stacked.adopted(BioNumber(*child), BioNumber(*parent)));
        }
        stacked.into_all().collect()
    }

    #[test]
    fn each_has_what_it_sent_through_all_levels() {
        let all = told(
            &[
                bio(3, Some(2), (20, 50), true),
                bio(4, Some(2), (10, 40), true),
                bio(2, Some(1), (5, 60), false),
                bio(1, None, (0, 70), false),
                // A request of a plain disk does not belong to a stacked device.
                bio(9, None, (0, 900), true),
            ],
            &[],
        );
        let [top] = &all[..] else { panic!("{all:?}") };
        assert_eq!((top.bio.number.0, top.total(), top.below.len()), (1, Nanos(70), 1));
        let below: Vec<u64> = top.below[0].below.iter().map(|s| s.bio.number.0).collect();
        assert_eq!(below, [4, 3]);
    }

    #[test]
    fn an_orphan_is_of_those_that_waited_for_it() {
        let orphan = Bio { orphan: true, ..bio(5, None, (1, 4), true) };
        let all =
            told(&[orphan, bio(1, None, (0, 9), false), bio(2, None, (0, 9), false)], &[(5, 1), (5, 2)]);
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|sent| sent.below.len() == 1 && sent.below[0].bio.number.0 == 5));
    }

    #[test]
    fn of_very_many_the_rest_is_counted() {
        let mut bios: Vec<Bio> = (2..1000).map(|n| bio(n, Some(1), (n, n + 1), true)).collect();
        bios.push(bio(1, None, (0, 2000), false));
        let all = told(&bios, &[]);
        assert_eq!((all[0].below.len() as u64 + all[0].left_out, all[0].below.len()), (998, MAX_OF_ONE));
    }
}
