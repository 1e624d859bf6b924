//! Requests that are requeued, lost or failed.

use super::{TraceBuilder, DISK, READER};
use trace::{Action, Detail, Flags};

impl TraceBuilder {
    /// A read of 4 KiB through a scheduler that the driver requeues at once: queued, first issued, issued again, completed.
    pub fn read_requeued(&mut self, queued: u64, first: u64, again: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, READER);
        for (at, action) in [
            (queued, Action::Queue),
            (queued, Action::Get),
            (queued, Action::Insert),
            (first, Action::Issue),
            (first, Action::Requeue),
            (again, Action::Issue),
            (done, Action::Complete),
        ] {
            self.tell(at, action, x, Detail::None);
        }
        self
    }

    /// A read of 4 KiB that the device does not answer: queued, aborted, issued again, completed.
    pub fn lost_read(&mut self, queued: u64, aborted: u64, again: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, READER);
        self.tell(queued, Action::Queue, x, Detail::None);
        self.tell(queued, Action::Get, x, Detail::None);
        self.tell(queued, Action::Issue, x, Detail::None);
        self.tell(aborted, Action::Requeue, x, Detail::None);
        self.tell(again, Action::Issue, x, Detail::None);
        self.tell(done, Action::Complete, x, Detail::None);
        self
    }

    /// A read that fails with an I/O error.
    pub fn failed_read(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        self.read(queued, issued, done);
        self.events.last_mut().unwrap().0.error = 5;
        self
    }

    /// A discard that the device does not support.
    pub fn failed_discard(&mut self, issued: u64, done: u64) -> &mut TraceBuilder {
        self.discard(issued, done);
        self.events.last_mut().unwrap().0.error = 95;
        self
    }
}
