//! No scheduler: requests go to the device in the order in which they got a tag (`blk_mq_submit_bio` and
//! `blk_mq_dispatch_list` in block/blk-mq.c of Linux 6.18). Those that find the device full wait in that order.

use super::{Queued, Scheduler, Slot};
use std::collections::VecDeque;

/// A first-in, first-out queue.
#[derive(Default)]
pub struct Fifo(VecDeque<Slot>);

impl Scheduler for Fifo {
    fn insert(&mut self, _now: u64, request: Queued) {
        self.0.push_back(request.slot);
    }

    fn dispatch(&mut self, _now: u64) -> Option<Slot> {
        self.0.pop_front()
    }
}
