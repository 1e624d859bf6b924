//! One run: a condition becomes the variables of lab/apps/rig.sh, and what the application reported comes back.
//!
//! Invariant: a run leaves nothing behind but what it reported and, if it was recorded, the recording.

use super::apart::APART;
use super::catalogue::{folder, Catalogue, Setting};
use super::condition::Condition;
use super::in_guest;
use crate::guest::Guest;
use crate::machine::Machine;
use crate::outcome::Outcome;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Size of the disk in MiB.
const SIZE: &str = "1200";
const TIMED_OUT: i32 = 124;
/// How the message about a run that was given up begins.
pub const TOO_LONG: &str = "a run takes";
/// A load that lasts less is recorded from before it to its end, whatever was drawn: a recorder needs half a second to begin.
const SHORT: f64 = 1.5;

/// How long things take where a condition is run.
struct Pace {
    /// How long a load is meant to last, in seconds.
    long: f64,
    /// How much earlier than the load a recording begins, in ms (rig.sh sleeps as long).
    before: u64,
    /// After so many seconds a run is given up.
    give_up: u64,
}
const HERE: Pace = Pace { long: 4.0, before: 700, give_up: 50 };
/// Emulated processors need seconds to begin a recording, or an application.
const EMULATED: Pace = Pace { long: 8.0, before: 3000, give_up: 240 };

/// Programs and folders.
pub struct Rig {
    /// Who records.
    pub iowhy: PathBuf,
    /// The slow disk.
    pub slowdisk: PathBuf,
    /// Where data of applications is kept between runs.
    pub stores: PathBuf,
    /// Where it all happens, if not here.
    pub machine: Option<Machine>,
}

/// The disk as it is before every run of a condition: an image here, or in a virtual machine.
pub struct Disk {
    dir: tempfile::TempDir,
    guest: Option<RefCell<Guest>>,
}

/// What an application said of its work.
#[derive(Clone, Copy, Debug)]
pub struct Reported {
    pub operations: u64,
    /// Of an operation, in microseconds.
    pub mean: f64,
    /// Of those that ended while a part of the run was recorded, if the application tells each.
    pub window: Option<f64>,
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
        let out = self.command(self.variables(catalogue, c), &["versions"]).output()?;
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
            let mut command = self.command(self.variables(catalogue, c), &["store"]);
            let out = command.arg(&making).env("DIR", &making).output()?;
            if !out.status.success() {
                return Err(format!("the data of {key}: {}", said(&out)).into());
            }
            std::fs::rename(making, &store)?;
        }
        Ok(store)
    }

    /// The disk as it is before every run of a condition.
    pub fn image(&self, catalogue: &Catalogue, c: &Condition) -> Outcome<Disk> {
        let store = self.store(catalogue, c)?;
        let dir = crate::bench::folder()?;
        let mut variables = self.variables(catalogue, c);
        variables.push(("STORE", store.into()));
        if let Some(machine) = &self.machine {
            let guest = Some(RefCell::new(Guest::new(machine, in_guest::image(variables)?)?));
            return Ok(Disk { dir, guest });
        }
        let mut command = self.command(variables, &["image"]);
        let out = command.arg(dir.path().join("image")).env("DIR", dir.path()).output()?;
        match out.status.success() {
            true => Ok(Disk { dir, guest: None }),
            false => Err(format!("the disk: {}", said(&out)).into()),
        }
    }

    /// Runs it once.
    pub fn run(&self, catalogue: &Catalogue, c: &Condition, disk: &Disk, work: Work) -> Outcome<Reported> {
        let mut variables = self.variables(catalogue, c);
        let operations = match work {
            Work::Measure => 0,
            Work::Fixed(n) | Work::Recorded { operations: n, .. } => n,
        };
        variables.push(("OPS", operations.to_string().into()));
        if let Work::Recorded { seconds, .. } = work {
            variables.extend(self.recorded(c, seconds));
        }
        let here = crate::bench::folder()?;
        let (status, stderr, left) = match &disk.guest {
            Some(guest) => {
                let mut guest = guest.borrow_mut();
                let ended = guest.run(&in_guest::run(variables)?, in_guest::limit(self.pace().give_up))?;
                (Some(ended.status), ended.stderr, guest.share().join(in_guest::LEFT))
            }
            None => {
                variables.push(("IMAGE", disk.dir.path().join("image").into()));
                variables.push(("CAPTURE", here.path().join("capture").into()));
                let out = self.command(variables, &["run"]).env("DIR", here.path()).output()?;
                (out.status.code(), String::from_utf8_lossy(&out.stderr).into(), here.path().to_path_buf())
            }
        };
        if status == Some(TIMED_OUT) {
            return Err(format!("{TOO_LONG} more than {} s", self.pace().give_up).into());
        }
        if status != Some(0) {
            return Err(format!("exit status {status:?}: {}", end_of(&stderr)).into());
        }
        if let Work::Recorded { capture, .. } = work {
            copy(&left.join("capture"), capture)?;
        }
        reported(&left)
    }

    /// Options of mkfs: what this machine's kernel mounts, the oldest kernel of a virtual one may not.
    fn old_kernels(&self, fs: &str) -> &'static str {
        match fs {
            "ext4" if self.machine.is_some() => "-O ^orphan_file",
            "xfs" if self.machine.is_some() => "-i nrext64=0",
            _ => "",
        }
    }

    fn pace(&self) -> &'static Pace {
        if self.machine.is_some() {
            &EMULATED
        } else {
            &HERE
        }
    }

    /// How long a fixed amount of work takes where so much is done in the time that is measured.
    pub fn seconds(&self, operations: u64, measured: u64) -> f64 {
        self.pace().long * operations as f64 / measured.max(1) as f64
    }

    /// A condition's variables of rig.sh.
    fn variables(&self, catalogue: &Catalogue, c: &Condition) -> Vec<(&'static str, OsString)> {
        let options: Vec<String> = c.options.iter().map(|(name, n)| format!("--{name} {n}")).collect();
        let settings: Vec<&Setting> = c.settings.iter().map(|s| &catalogue.setting[s]).collect();
        let texts = |of: fn(&Setting) -> &str| settings.iter().map(|s| of(s)).collect::<Vec<_>>().join("\n");
        let wbt = if c.wbt { "" } else { "echo 0 > $queue/wbt_lat_usec\n" };
        let neighbours: BTreeMap<&str, &str> =
            c.neighbours.iter().map(|n| (n.as_str(), catalogue.neighbour[n].command.as_str())).collect();
        let rotational = if catalogue.disk[&c.disk].rotational { "1" } else { "0" };
        vec![
            ("APPS", folder().into()),
            ("APP", catalogue.workload[&c.workload].app.clone().into()),
            ("WORKLOAD", c.workload.clone().into()),
            ("CLIENTS", c.clients.to_string().into()),
            ("SECONDS_LONG", self.pace().long.to_string().into()),
            ("SEED", (c.seed % 100_000).to_string().into()),
            ("SIZE", SIZE.into()),
            ("FS", c.fs.clone().into()),
            ("MKFS", self.old_kernels(&c.fs).into()),
            ("MOUNT", c.mount.clone().into()),
            ("DISK", options.join(" ").into()),
            ("ROTATIONAL", rotational.into()),
            ("SETUP", format!("{wbt}{}", texts(|s| &s.setup)).into()),
            ("BLKIO", texts(|s| &s.blkio).into()),
            ("MEMORY", texts(|s| &s.memory).into()),
            ("HOGS", settings.iter().map(|s| s.hogs).sum::<u32>().to_string().into()),
            ("NEIGHBOURS", c.neighbours.join(" ").into()),
            ("NEIGHBOUR_COMMANDS", serde_json::to_string(&neighbours).unwrap_or_default().into()),
            ("MOVED", c.moved.join(" ").into()),
            ("BEGIN", c.neighbours_begin.to_string().into()),
            ("RECORD", "no".into()),
            ("WHEN", c.recorded.when.clone().into()),
            ("BEFORE", format!("{:.1}", self.pace().before as f64 / 1000.0).into()),
            ("GIVE_UP", self.pace().give_up.to_string().into()),
            ("IOWHY", self.iowhy.clone().into()),
            ("SLOWDISK", self.slowdisk.clone().into()),
        ]
    }

    /// How a run of so many seconds is recorded.
    fn recorded(&self, c: &Condition, seconds: f64) -> [(&'static str, OsString); 6] {
        let when = if seconds < SHORT { "before" } else { &c.recorded.when };
        let whole_machine = if c.recorded.whole_machine { "yes" } else { "" };
        // One that is cut off begins before the load.
        let before = if when == "cut" { self.pace().before } else { 0 };
        let long = (seconds * 600.0).max(500.0) as u64 + before;
        [
            ("RECORD", when.into()),
            ("WHEN", when.into()),
            ("MIDDLE", format!("{:.2}", seconds * 0.3).into()),
            ("RECORD_LONG", format!("{long}ms").into()),
            ("WHOLE_MACHINE", whole_machine.into()),
            ("DETAIL", c.recorded.detail.clone().into()),
        ]
    }

    /// rig.sh; niceness keeps what else the machine does behind.
    fn command(&self, variables: Vec<(&'static str, OsString)>, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "20", &self.pace().give_up.to_string()]).args(APART);
        command.arg(folder().join("rig.sh")).args(words).envs(variables);
        command
    }
}

/// What an application wrote into its folder in the end.
fn reported(folder: &Path) -> Outcome<Reported> {
    let text =
        std::fs::read_to_string(folder.join("reported")).map_err(|e| format!("it reported nothing: {e}"))?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(n)), Some(Ok(mean))) if n >= 1.0 => {
            let read = |file| std::fs::read_to_string(folder.join(file)).ok();
            let window = read("window").zip(read("timeline")).and_then(|(w, t)| in_window(&w, &t));
            Ok(Reported { operations: n as u64, mean, window })
        }
        _ => Err(format!("it reported {:?}", text.trim()).into()),
    }
}

/// The mean latency of the operations that ended between two times: lines of when they ended and how long they took, in us.
fn in_window(window: &str, timeline: &str) -> Option<f64> {
    let mut ends = window.split_whitespace().map(str::parse::<f64>);
    let (from, to) = (ends.next()?.ok()?, ends.next()?.ok()?);
    let each = timeline.lines().filter_map(|line| {
        let (ended, took) = line.split_once(' ')?;
        let ended: f64 = ended.parse().ok()?;
        (from <= ended && ended <= to).then(|| took.parse::<f64>().ok())?
    });
    let (count, sum) = each.fold((0.0, 0.0), |(count, sum), took| (count + 1.0, sum + took));
    (count > 0.0).then(|| sum / count)
}

/// The end of what a failed run said.
fn said(out: &Output) -> String {
    format!("{}: {}", out.status, end_of(&String::from_utf8_lossy(&out.stderr)))
}

fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_count_for_a_part_of_a_run_if_they_end_in_it() {
        let timeline = "100 10\n200 20\n300 60\n301 900\n";
        assert_eq!(in_window("150\n300\n", timeline), Some(40.0));
        assert_eq!((in_window("310\n400\n", timeline), in_window("150\n", timeline)), (None, None));
    }
}
