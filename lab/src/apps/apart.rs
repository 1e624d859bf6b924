//! How rig.sh is begun, on this machine and in a guest.

/// Before usual tasks, with mounts of its own.
pub const APART: [&str; 7] = ["nice", "-n", "-10", "unshare", "-m", "--propagation=private", "bash"];
