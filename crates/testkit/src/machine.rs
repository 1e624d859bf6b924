//! The machine itself, where tests record it or measure disks of their own: whoever needs it quiet has it alone, and programs of tests that
//! run at the same time (`scripts/test`) wait for each other.

use rustix::fs::{flock, FlockOperation};
use std::fs::File;
use std::sync::OnceLock;

/// Locked while somebody uses the machine. Each test program opens it, so that the lock ends with it, however that ends.
const LOCK: &str = "iowhy-tests-of-this-machine.lock";

/// The machine, until it is dropped.
pub struct Machine(#[expect(dead_code, reason = "its lock ends with it")] Option<File>);

/// Has the machine alone: waits until no other test program records it or measures on it.
pub fn alone_on_machine() -> Machine {
    lock(FlockOperation::LockExclusive)
}

/// Keeps those away who want the machine alone, until this test program ends.
pub fn share_machine() {
    static SHARED: OnceLock<Machine> = OnceLock::new();
    SHARED.get_or_init(|| lock(FlockOperation::LockShared));
}

/// A file that somebody else owns cannot be locked; then it is as if these tests were the only ones.
fn lock(how: FlockOperation) -> Machine {
    let file = File::options().create(true).append(true).open(std::env::temp_dir().join(LOCK)).ok();
    Machine(file.filter(|file| flock(file, how).is_ok()))
}
