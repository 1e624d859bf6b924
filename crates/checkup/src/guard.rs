//! A process that restores a tried setting if the checkup dies, for whatever reason.
//!
//! It holds the read end of a pipe whose write end only the checkup has: the kernel closes that end when the checkup
//! ends or is killed. Then the guard reads the [journal](crate::settings); a setting that was restored has none.

use crate::error::Result;
use crate::settings;
use record::At;
use rustix::process::setsid;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The hidden command that starts this program as the guard.
const HIDDEN: &str = "checkup-guard";

/// The guard of one setting. Dropping it ends the process.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts the process.
    pub fn start(journal: &Path) -> Result<Guard> {
        let me = std::env::current_exe().at("finding this program", Path::new("/proc/self/exe"))?;
        let mut command = Command::new(&me);
        command.arg(HIDDEN).arg(journal).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null());
        Ok(Guard(command.spawn().at("starting a guard for a setting", &me)?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Runs the guard: waits until the process that started it is gone, and restores what the journal says.
pub fn stand_guard(journal: &Path) -> Result<()> {
    // Ctrl-C and the end of a terminal are for the checkup, which then restores the setting itself.
    let _ = setsid();
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    settings::restore(journal).map(|_| ())
}
