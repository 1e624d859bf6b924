//! A lock on the machine, for tests that record it or measure disks of their own. A test that needs it quiet has it
//! alone; test programs that run at the same time (`scripts/test`) wait for each other.

use rustix::fs::{flock, FlockOperation};
use std::fs::File;
use std::sync::OnceLock;

/// Name of the lock file. Each test program opens it itself, so the lock ends with the program, however that ends.
const LOCK: &str = "iowhy-tests-of-this-machine.lock";

/// The lock on the machine, held until it is dropped.
pub struct Machine(#[expect(dead_code, reason = "its lock ends with it")] Option<File>);

/// Locks the machine exclusively: waits until no other test program records it or measures on it.
pub fn alone_on_machine() -> Machine {
    lock(FlockOperation::LockExclusive)
}

/// Keeps other test programs from locking the machine exclusively, until this one ends.
pub fn share_machine() {
    static SHARED: OnceLock<Machine> = OnceLock::new();
    SHARED.get_or_init(|| lock(FlockOperation::LockShared));
}

/// A file of another user cannot be locked; then the tests run without a lock.
fn lock(how: FlockOperation) -> Machine {
    let file = File::options().create(true).append(true).open(std::env::temp_dir().join(LOCK)).ok();
    Machine(file.filter(|file| flock(file, how).is_ok()))
}
