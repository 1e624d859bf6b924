//! The slowest bios of stacked devices (md, dm), each with the bios that it sent to the devices below, and these with theirs.
//!
//! ```text
//! md0   write 8 KiB      91 ms
//!   vdb   read 4 KiB     40 ms      sent by it, down to the disks
//!   vdc   write 4 KiB    50 ms
//! ```
//!
//! Bios below are over before the one that sent them, so they wait here for it: by their parent's number.

use crate::slowest::Slowest;
use life::{Bio, BioNumber, Names};
use std::collections::HashMap;
use trace::Nanos;

/// Completed bios that wait for their parent at most; where there are more, its completion was lost.
const MAX_WAITING: usize = 1 << 16;

/// Bios of one parent that are kept, the first ones: 1 MiB on raid5 in stripes of 4 KiB are about 500.
const MAX_OF_ONE: usize = 512;

/// Bios that are kept at most of which it is not known for whom they were sent: md's stripe cache has 256 entries (`NR_STRIPES`,
/// drivers/md/raid5.h), 32768 at most.
const MAX_ORPHANS: usize = 1 << 13;

/// A bio and what it sent below.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The bio.
    pub bio: Bio,
    /// What its task was called.
    pub task: String,
    /// The bios it sent, in the order in which they were queued.
    pub below: Vec<Sent>,
    /// How many more there were.
    pub left_out: u64,
}

/// Bios that were sent for one that is not over.
#[derive(Default)]
struct Waiting {
    bios: Vec<Sent>,
    left_out: u64,
}

/// The slowest of a recording.
pub struct SlowestStacked {
    slowest: Slowest<Sent>,
    waiting: HashMap<BioNumber, Waiting>,
    /// How many bios wait.
    number: usize,
    orphans: HashMap<BioNumber, Sent>,
}

impl SlowestStacked {
    /// Nothing seen yet; so many are kept at most.
    pub fn new(number: usize) -> SlowestStacked {
        let (waiting, orphans) = Default::default();
        SlowestStacked { slowest: Slowest::new(number), waiting, number: 0, orphans }
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.slowest.is_empty()
    }

    /// A bio is over; `asked` if it is one of those whose slowest are wanted.
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

    /// A bio that was over had been sent for this one.
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

    /// The slowest, in no order.
    pub fn into_all(self) -> impl Iterator<Item = Sent> {
        self.slowest.into_all()
    }
}

impl Sent {
    /// How long it took.
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
                // A request of a plain disk is none of a stacked device.
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
