//! A virtual machine that stays: it is booted once, and runs scripts as they come.
//!
//! What it is told and what it leaves goes through one folder, its share: `job-N` is a script of the host's, `status-N` says that it is
//! over. A machine that does not answer in time is turned off; the next script finds a new one, that was prepared in the same way.
//!
//! Invariant: no machine outlives its `Guest`, nor this process.

use crate::bench;
use crate::machine::Machine;
use crate::outcome::Outcome;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Processors: the load and the kernel's workers at once.
const PROCESSORS: u32 = 2;
/// MiB: images of disks and the disks themselves are in memory, and pages of the host's programs.
const MEMORY: u32 = 5120;
/// How long it takes at most to boot.
const BOOT: Duration = Duration::from_secs(120);
/// How long it takes at most to prepare: to make a file system with an application's data.
const PREPARE: Duration = Duration::from_secs(300);
/// How often the host looks whether a script is over.
const LOOK: Duration = Duration::from_millis(100);

/// bash that the guest runs from beginning to end.
const JOBS: &str = r#"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /; n=0
while :; do
  while [ ! -e /mnt/share/job-$n ]; do sleep 0.2; done
  bash /mnt/share/job-$n > /mnt/share/stdout-$n 2> /mnt/share/stderr-$n && status=0 || status=$?
  echo $status > /mnt/share/status; mv /mnt/share/status /mnt/share/status-$n
  n=$((n + 1))
done
"#;

/// What became of a script.
pub struct Ended {
    /// Its exit status.
    pub status: i32,
    /// What it printed as its errors.
    pub stderr: String,
}

/// The machine, and what prepares it.
pub struct Guest {
    machine: Machine,
    first: String,
    folder: tempfile::TempDir,
    running: Option<Child>,
    asked: u32,
}

impl Guest {
    /// A machine that runs `first` once it is booted: nothing happens yet.
    pub fn new(machine: &Machine, first: String) -> Outcome<Guest> {
        Ok(Guest { machine: machine.clone(), first, folder: bench::folder()?, running: None, asked: 0 })
    }

    /// The folder that it sees as /mnt/share.
    pub fn share(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a script of bash in it.
    pub fn run(&mut self, script: &str, limit: Duration) -> Outcome<Ended> {
        if self.running.is_none() {
            self.boot()?;
        }
        self.ask(script, limit)
    }

    fn boot(&mut self) -> Outcome {
        self.folder = bench::folder()?;
        self.asked = 0;
        std::fs::write(self.share().join("script"), JOBS)?;
        // It goes when this process does, whatever becomes of that.
        let mut qemu = Command::new("setpriv");
        qemu.args(["--pdeathsig", "KILL"]).args(self.machine.words(self.share(), PROCESSORS, MEMORY));
        let console = File::create(self.share().join("console"))?;
        qemu.stdin(Stdio::null()).stdout(console.try_clone()?).stderr(console);
        self.running = Some(qemu.spawn()?);
        self.ask(":", BOOT)?;
        let first = self.ask(&self.first.clone(), PREPARE)?;
        match first.status {
            0 => Ok(()),
            _ => {
                self.off();
                Err(format!("the machine is not ready: {}", first.stderr.trim()).into())
            }
        }
    }

    fn ask(&mut self, script: &str, limit: Duration) -> Outcome<Ended> {
        let (n, until) = (self.asked, Instant::now() + limit);
        self.asked += 1;
        let at = |name: &str| self.share().join(format!("{name}-{n}"));
        std::fs::write(at("unfinished"), script)?;
        std::fs::rename(at("unfinished"), at("job"))?;
        while !at("status").is_file() {
            if Instant::now() > until {
                let console = std::fs::read_to_string(self.share().join("console")).unwrap_or_default();
                self.off();
                return Err(
                    format!("the machine does not answer within {limit:?}: {}", console.trim()).into()
                );
            }
            std::thread::sleep(LOOK);
        }
        let status = std::fs::read_to_string(at("status"))?.trim().parse()?;
        let stderr = std::fs::read(at("stderr")).unwrap_or_default();
        Ok(Ended { status, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }

    fn off(&mut self) {
        if let Some(mut qemu) = self.running.take() {
            let _ = qemu.kill();
            let _ = qemu.wait();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.off();
    }
}
