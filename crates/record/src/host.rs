//! The machine that is recorded.

use crate::tracefs::Tracefs;
use capture::Result;
use std::path::PathBuf;

/// Roots of the machine's virtual file systems. Tests use folders of their own.
#[derive(Clone, Debug)]
pub struct Host {
    /// The tracefs to record with.
    pub tracefs: Tracefs,
    /// Root of /proc.
    pub proc: PathBuf,
    /// Root of /sys.
    pub sys: PathBuf,
}

impl Host {
    /// Those of this machine.
    pub fn here() -> Result<Host> {
        Ok(Host { tracefs: Tracefs::find()?, proc: "/proc".into(), sys: "/sys".into() })
    }
}
