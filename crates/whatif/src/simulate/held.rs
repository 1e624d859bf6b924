//! The calls of the simulation to writeback throttling ([`crate::wbt`]): before a tag is taken, and when a request completes.

use super::{Simulation, What};
use crate::load::Item;

impl Simulation<'_> {
    /// Whether writeback throttling admits the request at once.
    pub(super) fn enters(&mut self, slot: u32, item: &Item) -> bool {
        let Some(wbt) = &mut self.wbt else { return true };
        if !item.write {
            wbt.read_queued(self.now);
        }
        if !wbt.holds(item.write, item.sync) || item.bytes == 0 {
            return true;
        }
        let (entered, window) = wbt.enter(self.now, slot, item.sync);
        window.into_iter().for_each(|ends| self.at(ends, What::Window));
        entered
    }

    /// A window of throttling has ended.
    pub(super) fn window(&mut self) {
        let mut woken = std::mem::take(&mut self.woken);
        let next = self.wbt.as_mut().and_then(|wbt| wbt.look(self.now, &mut woken));
        next.into_iter().for_each(|ends| self.at(ends, What::Window));
        self.wake(woken, What::Entered);
    }

    /// Data was completed after this many nanoseconds in the device.
    pub(super) fn came_back(&mut self, slot: u32, item: &Item, device: u64) {
        match &mut self.wbt {
            Some(wbt) if item.write => wbt.write_done(),
            Some(wbt) => wbt.read_done(self.now, slot, device),
            None => {}
        }
    }

    /// A request is done: a waiter may get its place.
    pub(super) fn leaves(&mut self, item: &Item) {
        let Some(wbt) = self.wbt.as_mut().filter(|w| w.holds(item.write, item.sync) && item.bytes > 0) else {
            return;
        };
        let mut woken = std::mem::take(&mut self.woken);
        wbt.leave(self.now, &mut woken);
        self.wake(woken, What::Entered);
    }
}
