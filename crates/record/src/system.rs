//! `system.json`: the machine's settings, before and after a recording.

use serde::Serialize;
use std::path::Path;

/// The whole file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct System {
    /// Before.
    pub before: Option<Snapshot>,
    /// After.
    pub after: Option<Snapshot>,
}

/// Settings at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Snapshot {
    kernel: String,
}
impl Snapshot {
    /// Reads.
    pub fn take(_sys: &Path, proc_root: &Path) -> Snapshot {
        Snapshot { kernel: kernel_release(proc_root) }
    }
}
impl System {
    /// JSON.
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// The host's name. `root` is /proc.
pub fn host_name(root: &Path) -> String {
    crate::text::small(&root.join("sys/kernel/hostname")).unwrap_or_default()
}

/// `uname -r`.
pub fn kernel_release(root: &Path) -> String {
    crate::text::small(&root.join("sys/kernel/osrelease")).unwrap_or_default()
}

/// `uname -a`, without the processor's name.
pub fn uname(root: &Path) -> String {
    let version = crate::text::small(&root.join("sys/kernel/version")).unwrap_or_default();
    format!("Linux {} {} {version}", host_name(root), kernel_release(root))
}
