//! A scenario: what is set up, the load, the truth, and how the healthy twin differs.
//!
//! One TOML file in `lab/scenarios` is a cause; its `shape` tables are other loads of the same cause (block size, depth,
//! file system, disk), each a scenario of its own. A table says only what differs from the one it is laid over:
//!
//! ```text
//! the file                  the scenario           `tag-exhaustion`
//! + its twin                the twin               `tag-exhaustion.twin`
//! + shape.deep              another scenario       `tag-exhaustion-deep`
//! + twin + shape.deep.twin  its twin               `tag-exhaustion-deep.twin`
//! ```
//!
//! Thresholds are set on one half of the scenarios. Which half is no choice: of the scenarios of a cause, in the order of
//! their names, the first, third, ... are for tuning, the second, fourth, ... are held out.

use crate::folder::folder;
use crate::outcome::Outcome;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::{Table, Value};

/// One recording's worth: a disk, a load, the truth.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// What happens, in a sentence.
    pub about: String,
    /// What makes it slow: any of these may be said first. A twin's default is `healthy`.
    pub truth: Vec<String>,
    /// What is true besides, and may be found too.
    pub also: Vec<String>,
    /// Disks of a virtual machine in which it is made (`make lab-vm`); none: on this machine.
    pub machine: u32,
    /// Options of `slowdisk`; in a machine QEMU's limits of each disk (`iops-total=300`; `throttling.` in qemu(1)) and
    /// options of virtio-blk-pci (`device.indirect_desc=off`).
    pub disk: String,
    /// Its size in MiB.
    pub size: u32,
    /// Options of losetup beside the file.
    pub losetup: String,
    /// `none`, or the type of a file system and options of its mkfs.
    pub fs: String,
    /// Options of mount.
    pub mount: String,
    /// bash, before the file system is made: settings of `$queue`; `on DEVICE` if another one is to be recorded.
    pub setup: String,
    /// bash, once, after it is mounted on `mnt`. Where other devices than the disk are to be recorded it sets `devices`, options of
    /// `iowhy record`.
    pub before: String,
    /// bash, beside the load; begins `lead` seconds before the recording.
    pub beside: String,
    /// See `beside`.
    pub lead: f64,
    /// A recording of the repository that was made elsewhere (in a virtual machine), instead of all that.
    pub recorded: String,
    /// fio's jobs; `${dev}` is the disk.
    pub load: String,
    /// bash, where fio is not the load.
    pub run: String,
    /// bash, in the end.
    pub after: String,
    /// The processors are meant to be busy: no quieter moment is waited for.
    pub busy: bool,
    /// Programs that are needed beside those of every scenario.
    pub needs: Vec<String>,
    /// Which of the printed remedies is tried.
    pub remedy: Option<Remedy>,
    /// Of a cause none of whose remedies can be tried in the lab: why not.
    pub no_proof: String,
}

/// Which remedy is tried: the first that iowhy prints of the scenario's cause and whose command has these words.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Remedy {
    /// Words of the command. Nothing in a shape: there none is tried.
    pub command: String,
    /// What stands for something only the user knows, and what it is in the lab (bash).
    pub fill: BTreeMap<String, String>,
    /// The command is about what runs beside the load: it is run when that has begun.
    pub beside: bool,
    /// What is different of the scenario where it is tried.
    pub on: Table,
    /// bash, after the command: what it says itself that it needs, such as a new mount.
    pub then: String,
    /// The operations that it should make faster, as `compare` calls them: `reads`, `fsyncs`.
    pub helps: String,
    /// By which of `compare`'s metrics, where a remedy makes the whole faster and not the slowest: `p50`. Else by the p99.
    pub by: String,
    /// Those that it makes slower, and must say so.
    pub harms: String,
}

/// Whether the cause is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is.
    Scenario,
    /// All but the cause is.
    Twin,
}

/// What a scenario is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// Thresholds may be set on it.
    Tuning,
    /// They may not.
    HeldOut,
}

/// A scenario with its twin.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: the cause's, with the shape's.
    pub name: String,
    /// The cause.
    pub cause: String,
    /// What it is used for.
    pub half: Half,
    /// With the cause.
    pub sick: Setting,
    /// Without.
    pub twin: Setting,
    /// On what its remedy is tried, if one is: the scenario, made once more, with what `remedy.on` says.
    pub tried: Option<Setting>,
}

impl Setting {
    /// Where its recording lies in the repository.
    pub fn recording(&self, name: &str) -> PathBuf {
        match self.recorded.as_str() {
            "" => crate::folder::kept(name),
            elsewhere => folder().join("..").join(elsewhere),
        }
    }
}

impl Scenario {
    /// Both recordings, with their names.
    pub fn recordings(&self) -> [(String, Role, &Setting); 2] {
        [
            (self.name.clone(), Role::Scenario, &self.sick),
            (format!("{}.twin", self.name), Role::Twin, &self.twin),
        ]
    }
}

/// All scenarios, by cause and name.
pub fn all() -> Outcome<Vec<Scenario>> {
    let dir = folder().join("scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&dir)?.map(|e| Ok(e?.path())).collect::<Outcome<_>>()?;
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut scenarios = Vec::new();
    for file in files {
        let cause = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let text = std::fs::read_to_string(&file)?;
        let of_file = read(cause, &text).map_err(|e| format!("{}: {e}", file.display()))?;
        scenarios.extend(of_file);
    }
    Ok(scenarios)
}

/// The scenarios of one file.
fn read(cause: &str, text: &str) -> Outcome<Vec<Scenario>> {
    let mut base: Table = text.parse()?;
    let shapes = table(base.remove("shape"))?;
    let twin = table(base.remove("twin"))?;
    let mut all = vec![scenario(cause, cause.into(), &base, twin.clone())?];
    for (shape, differs) in shapes {
        let mut differs = table(Some(differs))?;
        let own_twin = table(differs.remove("twin"))?;
        let name = format!("{cause}-{shape}");
        all.push(scenario(cause, name, &over(&base, &differs), over(&twin, &own_twin))?);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    for (i, scenario) in all.iter_mut().enumerate() {
        scenario.half = if i % 2 == 0 { Half::Tuning } else { Half::HeldOut };
    }
    Ok(all)
}

fn scenario(cause: &str, name: String, sick: &Table, twin: Table) -> Outcome<Scenario> {
    let mut with_cause = setting(sick)?;
    if with_cause.truth.is_empty() {
        with_cause.truth = vec![cause.into()];
    }
    let tried = match with_cause.remedy.take().filter(|r| !r.command.is_empty()) {
        None => None,
        Some(remedy) => {
            let mut made_here = over(sick, &remedy.on);
            made_here.remove("recorded");
            Some(Setting { remedy: Some(remedy), ..setting(&made_here)? })
        }
    };
    let mut healthy = sick.clone();
    for of_the_cause in ["truth", "also", "remedy", "no_proof", "about"] {
        healthy.remove(of_the_cause);
    }
    let mut without = setting(&over(&healthy, &twin))?;
    if without.truth.is_empty() {
        without.truth = vec!["healthy".into()];
    }
    Ok(Scenario { name, cause: cause.into(), half: Half::Tuning, sick: with_cause, twin: without, tried })
}

fn setting(from: &Table) -> Outcome<Setting> {
    let mut s: Setting = from.clone().try_into()?;
    if s.fs.is_empty() {
        s.fs = "none".into();
    }
    if s.size == 0 {
        s.size = 512;
    }
    if !s.recorded.is_empty() {
        return Ok(s);
    }
    if s.load.is_empty() == s.run.is_empty() {
        return Err("a scenario has a load for fio or something to run, one of them".into());
    }
    Ok(s)
}

fn table(value: Option<Value>) -> Outcome<Table> {
    match value {
        None => Ok(Table::new()),
        Some(Value::Table(t)) => Ok(t),
        Some(other) => Err(format!("a table, not {other}").into()),
    }
}

/// What `differs` says, and what it leaves as it is.
fn over(base: &Table, differs: &Table) -> Table {
    let mut out = base.clone();
    for (key, value) in differs {
        let laid = match (out.get(key), value) {
            (Some(Value::Table(a)), Value::Table(b)) => Value::Table(over(a, b)),
            _ => value.clone(),
        };
        out.insert(key.clone(), laid);
    }
    // One of them is the load.
    for (own, other) in [("run", "load"), ("load", "run")] {
        if differs.contains_key(own) {
            out.remove(other);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: &str = r#"
        disk = "--channels 4"
        setup = "echo 4 > $queue/nr_requests"
        load = "[read]"
        also = ["device-saturated"]
        [twin]
        setup = ""
        [shape.file]
        fs = "xfs"
        [shape.file.twin]
        truth = ["device-saturated"]
    "#;

    #[test]
    fn tables_are_laid_over_each_other() {
        let all = read("tags", TAGS).unwrap();
        let names: Vec<_> = all.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["tags", "tags-file"]);
        assert_eq!((all[0].half, all[1].half), (Half::Tuning, Half::HeldOut));
        assert_eq!(all[0].sick.truth, ["tags"]);
        assert_eq!(all[0].sick.also, ["device-saturated"]);
        assert_eq!(all[0].twin.truth, ["healthy"]);
        assert_eq!((all[0].twin.setup.as_str(), all[0].twin.fs.as_str()), ("", "none"));
        assert!(all[0].twin.also.is_empty());
        assert_eq!((all[1].sick.fs.as_str(), all[1].sick.setup.is_empty()), ("xfs", false));
        assert_eq!(all[1].twin.truth, ["device-saturated"]);
        assert_eq!((all[1].twin.fs.as_str(), all[1].twin.disk.as_str()), ("xfs", "--channels 4"));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(read("x", "load = \"a\"\nlaod = \"b\"").is_err());
        assert!(read("x", "about = \"no load\"").is_err());
        assert!(read("x", "load = \"a\"\nrun = \"b\"").is_err());
    }

    #[test]
    fn every_scenario_of_the_lab_is_understood() {
        assert!(!all().unwrap().is_empty());
    }
}
