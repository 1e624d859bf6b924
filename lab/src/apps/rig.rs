//! One run: a condition becomes the variables of lab/apps/rig.sh, and what the application reported comes back.
//!
//! Invariant: a run leaves nothing behind but what it reported and, if it was recorded, the recording.

use super::catalogue::{folder, Catalogue, Setting};
use super::condition::Condition;
use crate::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Size of the disk in MiB.
const SIZE: &str = "1200";
/// After so many seconds a run is given up.
const GIVE_UP: &str = "50";
const TIMED_OUT: i32 = 124;
/// How the message about that begins.
pub const TOO_LONG: &str = "a run takes";
/// How long a load is meant to last, in seconds.
const LONG: f64 = 4.0;
/// A load that lasts less is recorded from before it to its end, whatever was drawn: a recorder needs half a second to begin.
const SHORT: f64 = 1.5;
/// How much earlier than the load a recording begins, in ms (rig.sh sleeps as long).
const BEFORE: u64 = 700;

/// Programs and folders.
pub struct Rig {
    /// Who records.
    pub iowhy: PathBuf,
    /// The slow disk.
    pub slowdisk: PathBuf,
    /// Where data of applications is kept between runs.
    pub stores: PathBuf,
}

/// What an application said of its work.
#[derive(Clone, Copy, Debug)]
pub struct Reported {
    pub operations: u64,
    /// Of an operation, in microseconds.
    pub mean: f64,
}

/// How much is to be done, and whether it is recorded.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    /// As much as the time holds: it says how much a fixed amount is.
    Measure,
    /// So many operations.
    Fixed(u64),
    /// So many, recorded into a folder; how long they take is known.
    Recorded { operations: u64, seconds: f64, capture: &'a Path },
}

impl Rig {
    /// What the application is.
    pub fn versions(&self, catalogue: &Catalogue, c: &Condition) -> Outcome<Vec<String>> {
        let out = self.command(catalogue, c, "versions").output()?;
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).lines().map(str::to_string).collect()),
            false => Err(format!("{} is not installed: {}", c.workload, said(&out)).into()),
        }
    }

    /// The application's data, made at the first time.
    fn store(&self, catalogue: &Catalogue, c: &Condition) -> Outcome<PathBuf> {
        let app = &catalogue.workload[&c.workload].app;
        let key = if ["files", "store"].contains(&app.as_str()) { &c.workload } else { app };
        let store = self.stores.join(key);
        if !store.is_dir() {
            let making = self.stores.join(format!("{key}.making"));
            let _ = std::fs::remove_dir_all(&making);
            let out = self.command(catalogue, c, "store").arg(&making).env("DIR", &making).output()?;
            if !out.status.success() {
                return Err(format!("the data of {key}: {}", said(&out)).into());
            }
            std::fs::rename(making, &store)?;
        }
        Ok(store)
    }

    /// The disk as it is before every run of a condition.
    pub fn image(&self, catalogue: &Catalogue, c: &Condition) -> Outcome<tempfile::TempDir> {
        let store = self.store(catalogue, c)?;
        let dir = crate::bench::folder()?;
        let image = dir.path().join("image");
        let mut command = self.command(catalogue, c, "image");
        command
            .arg(&image)
            .env("DIR", dir.path())
            .env("STORE", store)
            .env("NEIGHBOURS", c.neighbours.join(" "));
        let out = command.output()?;
        match out.status.success() {
            true => Ok(dir),
            false => Err(format!("the disk: {}", said(&out)).into()),
        }
    }

    /// Runs it once.
    pub fn run(&self, catalogue: &Catalogue, c: &Condition, image: &Path, work: Work) -> Outcome<Reported> {
        let dir = crate::bench::folder()?;
        let mut command = self.command(catalogue, c, "run");
        command.env("DIR", dir.path()).env("IMAGE", image.join("image"));
        let operations = match work {
            Work::Measure => 0,
            Work::Fixed(n) | Work::Recorded { operations: n, .. } => n,
        };
        command.env("OPS", operations.to_string());
        let made = dir.path().join("capture");
        if let Work::Recorded { seconds, .. } = work {
            let when = if seconds < SHORT { "before" } else { &c.recorded.when };
            command
                .env("RECORD", when)
                .env("WHEN", when)
                .env("MIDDLE", format!("{:.2}", seconds * 0.3))
                .env("RECORD_LONG", format!("{}ms", recorded_ms(when, seconds)))
                .env("WHOLE_MACHINE", if c.recorded.whole_machine { "yes" } else { "" })
                .env("DETAIL", &c.recorded.detail)
                .env("CAPTURE", &made);
        }
        let out = command.output()?;
        if out.status.code() == Some(TIMED_OUT) {
            return Err(format!("{TOO_LONG} more than {GIVE_UP} s").into());
        }
        if !out.status.success() {
            return Err(said(&out).into());
        }
        if let Work::Recorded { capture, .. } = work {
            copy(&made, capture)?;
        }
        let text = std::fs::read_to_string(dir.path().join("reported"))
            .map_err(|e| format!("it reported nothing: {e}"))?;
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(n)), Some(Ok(mean))) if n >= 1.0 => Ok(Reported { operations: n as u64, mean }),
            _ => Err(format!("it reported {:?}", text.trim()).into()),
        }
    }

    /// rig.sh with a condition's variables; niceness keeps what else the machine does behind.
    fn command(&self, catalogue: &Catalogue, c: &Condition, task: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args([
            "-k",
            "20",
            GIVE_UP,
            "nice",
            "-n",
            "-10",
            "unshare",
            "-m",
            "--propagation",
            "private",
            "bash",
        ]);
        command.arg(folder().join("rig.sh")).arg(task);
        let options: Vec<String> = c.options.iter().map(|(name, n)| format!("--{name} {n}")).collect();
        let settings: Vec<&Setting> = c.settings.iter().map(|s| &catalogue.setting[s]).collect();
        let texts = |of: fn(&Setting) -> &str| settings.iter().map(|s| of(s)).collect::<Vec<_>>().join("\n");
        let wbt = if c.wbt { "" } else { "echo 0 > $queue/wbt_lat_usec\n" };
        let neighbours: BTreeMap<&str, &str> =
            c.neighbours.iter().map(|n| (n.as_str(), catalogue.neighbour[n].command.as_str())).collect();
        let rotational = if catalogue.disk[&c.disk].rotational { "1" } else { "0" };
        command
            .env("APPS", folder())
            .env("APP", &catalogue.workload[&c.workload].app)
            .env("WORKLOAD", &c.workload)
            .env("CLIENTS", c.clients.to_string())
            .env("SECONDS_LONG", LONG.to_string())
            .env("SEED", (c.seed % 100_000).to_string())
            .env("SIZE", SIZE)
            .env("FS", &c.fs)
            .env("MKFS", "")
            .env("MOUNT", &c.mount)
            .env("DISK", options.join(" "))
            .env("ROTATIONAL", rotational)
            .env("SETUP", format!("{wbt}{}", texts(|s| &s.setup)))
            .env("BLKIO", texts(|s| &s.blkio))
            .env("MEMORY", texts(|s| &s.memory))
            .env("HOGS", settings.iter().map(|s| s.hogs).sum::<u32>().to_string())
            .env("NEIGHBOURS", c.neighbours.join(" "))
            .env("NEIGHBOUR_COMMANDS", serde_json::to_string(&neighbours).unwrap_or_default())
            .env("BEGIN", c.neighbours_begin.to_string())
            .env("RECORD", "no")
            .env("WHEN", &c.recorded.when)
            .env("IOWHY", &self.iowhy)
            .env("SLOWDISK", &self.slowdisk);
        command
    }
}

/// How long a recording takes that ends before the load does. One that is cut off begins [`BEFORE`] the load.
fn recorded_ms(when: &str, seconds: f64) -> u64 {
    let of_load = (seconds * 600.0).max(500.0) as u64;
    of_load + if when == "cut" { BEFORE } else { 0 }
}

/// How long a fixed amount of work takes where so much is done in the time that is measured.
pub fn seconds(operations: u64, measured: u64) -> f64 {
    LONG * operations as f64 / measured.max(1) as f64
}

/// The end of what a failed run said.
fn said(out: &Output) -> String {
    let text = String::from_utf8_lossy(&out.stderr);
    let lines: Vec<&str> = text.trim().lines().collect();
    format!("{}: {}", out.status, lines[lines.len().saturating_sub(3)..].join(" / "))
}

/// A folder of files.
fn copy(from: &Path, to: &Path) -> Outcome {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).map_err(|e| format!("it was not recorded: {e}"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
