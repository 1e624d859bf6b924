//! A process that restores a tried setting when the checkup dies, however it dies.
//!
//! It holds the reading end of a pipe whose other end only the checkup has: the kernel closes that when the checkup
//! is gone, killed or not, and then the [journal](crate::settings) is read. What was restored has none any more.

use crate::error::Result;
use crate::settings;
use record::At;
use rustix::process::setsid;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What this program is called with to stand guard. Not for people.
const HIDDEN: &str = "checkup-guard";

/// The guard of one setting. Dropped, it ends.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts it.
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

/// Becomes the guard: waits until the process that started it is gone, and restores what a journal says.
pub fn stand_guard(journal: &Path) -> Result<()> {
    // Ctrl-C and the end of a terminal are for the checkup, which restores by itself.
    let _ = setsid();
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    settings::restore(journal).map(|_| ())
}
