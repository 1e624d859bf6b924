//! The same loads on several kernels, in virtual machines (`make lab-kernels`): whether recording works there, loses nothing and leaves
//! nothing, whether every wait has a name, and whether the answer is right.
//!
//! One boot does all cases of a kernel, one after the other, on the disks that scenarios have on this machine
//! ([`bench`](crate::bench)).

use crate::bench::{self, Tools};
use crate::machine::{exports, Machine};
use crate::outcome::Outcome;
use crate::Setting;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All cases of a kernel take less than this in an emulated machine.
const SECONDS: u32 = 3000;

/// One processor: with two that are emulated, switching recording on and off again and again has hung (see checkup.rs).
const PROCESSORS: u32 = 1;

/// How `export --to folded` begins the name of a function that no rule knows.
const NAMELESS: &str = "an unknown wait (";

/// What is said of recordings that were judged before.
const KEPT: &str =
    "These recordings are older than the program that is judged (`lab kernels --kept`), which was fixed with their help: they do not show
how it does on unseen ones.\n\n";

/// What is done on every kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// A load, and what is true of it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Case {
    name: String,
    about: String,
    truth: Vec<String>,
    victim: String,
    culprits: Vec<String>,
    disk: String,
    fs: String,
    before: String,
    beside: String,
    load: String,
    run: String,
    /// An application of lab/apps instead, what it does, and how many do it at once.
    app: String,
    workload: String,
    clients: u32,
}

/// bash: a file system with an application's data, nothing of it in memory, and its server.
const START: &str =
    "\n. $APPS/lib.sh; . $APPS/$APP.sh; cp -a $STORE/. mnt/; sync -f mnt; umount mnt; mount $dev mnt; start";

/// bash: what it does.
const LOAD: &str = ". $APPS/lib.sh; . $APPS/$APP.sh; load";

/// A tenth of the data that applications have elsewhere, and half as long again: guests have little memory, and are slow.
const SCALE: &str = "1";
const SECONDS_LONG: &str = "6";

impl Case {
    fn setting(&self) -> Setting {
        let app = !self.app.is_empty();
        let of_app = |text: &str| if app { text.to_string() } else { String::new() };
        Setting {
            about: self.about.clone(),
            truth: self.truth.clone(),
            disk: self.disk.clone(),
            fs: self.fs.clone(),
            before: [self.before.clone(), of_app(START)].concat(),
            beside: self.beside.clone(),
            lead: if self.beside.is_empty() { 0.0 } else { 2.0 },
            load: self.load.clone(),
            run: if app { LOAD.into() } else { self.run.clone() },
            after: of_app("stop"),
            size: 400,
            ..Setting::default()
        }
    }

    /// What the files of applications are told. The guest sees them where this machine does.
    fn of_app(&self, stores: &Path) -> Vec<(&'static str, OsString)> {
        let apps = crate::apps::folder();
        vec![
            ("APPS", apps.into()),
            ("APP", self.app.clone().into()),
            ("WORKLOAD", self.workload.clone().into()),
            ("CLIENTS", self.clients.to_string().into()),
            ("STORE", self.store(stores).into()),
            ("SCALE", SCALE.into()),
            ("SECONDS_LONG", SECONDS_LONG.into()),
            ("OPS", "0".into()),
            ("SEED", "1".into()),
        ]
    }

    /// Where its data lies: an application's, or of tools that have some for each workload.
    fn store(&self, stores: &Path) -> PathBuf {
        let of_workload = ["files", "store"].contains(&self.app.as_str());
        stores.join(if of_workload { &self.workload } else { &self.app })
    }

    /// The application's data, made on this machine at the first time.
    fn make_store(&self, stores: &Path) -> Outcome {
        let (store, making) = (self.store(stores), stores.join("making"));
        if self.app.is_empty() || store.is_dir() {
            return Ok(());
        }
        let _ = std::fs::remove_dir_all(&making);
        let mut command = Command::new("bash");
        command.arg(crate::apps::folder().join("rig.sh")).arg("store").arg(&making);
        let out = command.envs(self.of_app(stores)).env("DIR", &making).output()?;
        match out.status.success() {
            true => Ok(std::fs::rename(making, store)?),
            false => {
                Err(format!("the data of {}: {}", self.name, String::from_utf8_lossy(&out.stderr)).into())
            }
        }
    }
}

/// What came of a case on a kernel.
#[derive(Debug)]
struct Row {
    kernel: String,
    case: String,
    truth: String,
    said: String,
    wrong: Vec<String>,
}

/// bash that the guest runs: every case in a folder of its own.
const EACH: &str = r#"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t tracefs trace /sys/kernel/tracing
chroot /proc/1/root /bin/busybox ip link set lo up
for module in fuse loop ext4 xfs btrfs; do chroot /proc/1/root modprobe $module || true; done
export HOME=/tmp
for case in /mnt/share/*.case; do
  name=$(basename $case .case); export DIR=/tmp/lab-$name; mkdir $DIR
  timeout 150 bash -eu $case > /mnt/share/$name.out 2> /mnt/share/$name.err && status=0 || status=$?
  ls /sys/kernel/tracing/instances > /mnt/share/$name.left
  [ ! -d $DIR/capture ] || cp -r $DIR/capture /mnt/share/$name
  echo $status > /mnt/share/$name.status
  # One that failed may have left what it made.
  cd /; for at in mnt m data; do ! mountpoint -q $DIR/$at || umount -l $DIR/$at; done; rm -rf --one-file-system $DIR
done
"#;

/// Boots each machine below a folder (`lab/machine/make FOLDER/SUITE SUITE`), or takes what an earlier run has `kept` there, judges what
/// it recorded, and writes the table.
pub fn kernels(machines: &Path, only: &[String], kept: bool, tools: &Tools, out: &Path) -> Outcome {
    let cases: Cases = toml::from_str(&std::fs::read_to_string(folder().join("kernels.toml"))?)?;
    let stores = machines.canonicalize()?.join("stores");
    std::fs::create_dir_all(&stores)?;
    let mut rows = Vec::new();
    for suite in suites(machines)?.iter().filter(|s| only.is_empty() || only.contains(s)) {
        let place = machines.join(suite);
        let kernel = std::fs::read_to_string(place.join("version"))?.trim().to_string();
        let share = place.join("share");
        if !kept {
            for case in &cases.case {
                case.make_store(&stores)?;
            }
            record(&place, &share, tools, &cases.case, &stores)?;
        }
        for case in &cases.case {
            let row = judge(&kernel, case, &share, &tools.iowhy)?;
            println!("{:<22} {:<18} {:<24} {}", row.kernel, row.case, row.said, row.wrong.join("; "));
            rows.push(row);
        }
    }
    std::fs::write(out, table(&rows, kept))?;
    Ok(())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// The machines that are there, the oldest kernel first.
fn suites(machines: &Path) -> Outcome<Vec<String>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(machines).map_err(|e| format!("{}: {e}", machines.display()))? {
        let path = entry?.path();
        if let (Ok(version), Some(name)) = (std::fs::read_to_string(path.join("version")), path.file_name()) {
            let numbers =
                version.split(['.', '-', '+']).map_while(|n| n.trim().parse().ok()).collect::<Vec<u32>>();
            all.push((numbers, name.to_string_lossy().into_owned()));
        }
    }
    all.sort();
    Ok(all.into_iter().map(|(_, name)| name).collect())
}

/// Boots the machine in `place`; its recordings are in `share` then.
fn record(place: &Path, share: &Path, tools: &Tools, cases: &[Case], stores: &Path) -> Outcome {
    if share.exists() {
        std::fs::remove_dir_all(share)?;
    }
    std::fs::create_dir(share)?;
    write_scripts(share, tools, cases, stores)?;
    eprintln!("{}: {} cases", place.display(), cases.len());
    Machine::at(place)?.boot(share, &[], PROCESSORS, SECONDS)
}

/// The programs go with them: the guest does not see this machine's folders in memory.
fn write_scripts(share: &Path, tools: &Tools, cases: &[Case], stores: &Path) -> Outcome {
    std::fs::write(share.join("script"), EACH)?;
    let there = |program: &Path, name: &str| -> Outcome<PathBuf> {
        std::fs::copy(program, share.join(name))?;
        Ok(Path::new("/mnt/share").join(name))
    };
    let tools = &Tools {
        iowhy: there(&tools.iowhy, "iowhy")?,
        slowdisk: there(&tools.slowdisk, "slowdisk")?,
        lab: tools.lab.clone(),
    };
    for case in cases {
        let of_app = if case.app.is_empty() { vec![] } else { case.of_app(stores) };
        let variables =
            exports(bench::variables(tools, &case.name, &case.setting()).into_iter().chain(of_app))?;
        let text = [&variables, bench::ON, bench::DISK, bench::BODY].concat();
        std::fs::write(share.join(format!("{}.case", case.name)), text)?;
    }
    Ok(())
}

/// What iowhy says of a recording, and what is wrong with it.
fn judge(kernel: &str, case: &Case, share: &Path, iowhy: &Path) -> Outcome<Row> {
    let left =
        |what: &str| std::fs::read_to_string(share.join(format!("{}.{what}", case.name))).unwrap_or_default();
    let mut row = Row {
        kernel: kernel.into(),
        case: case.name.clone(),
        truth: case.truth.join(" or "),
        said: "nothing".into(),
        wrong: vec![],
    };
    if left("status").trim() != "0" {
        row.wrong.push(format!("it failed: {}", left("err").trim().lines().last().unwrap_or("no word")));
        return Ok(row);
    }
    if !left("left").trim().is_empty() {
        row.wrong.push(format!("left behind: {}", left("left").trim()));
    }
    let capture = share.join(&case.name);
    let told = ask(iowhy, &["explain", "--json"], &capture)?;
    let told: Value = serde_json::from_str(&told)?;
    let answer = &told["answer"];
    let word = |key: &str| answer[key].as_str().unwrap_or_default();
    row.said =
        [word("cause"), word("culprit")].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ");
    if told["quality"]["lost"].as_u64() != Some(0) {
        row.wrong.push(format!("events lost: {}", told["quality"]["lost"]));
    }
    if ![word("cause"), word("root")].iter().any(|said| case.truth.iter().any(|t| t == said)) {
        row.wrong.push("another cause".into());
    }
    if !case.victim.is_empty() && word("victim") != case.victim {
        row.wrong.push(format!("victim {}", word("victim")));
    }
    if !case.culprits.is_empty() && !case.culprits.iter().any(|c| word("culprit") == c) {
        row.wrong.push("another culprit".into());
    }
    let nameless = nameless(&ask(iowhy, &["export", "--to", "folded"], &capture)?);
    if !nameless.is_empty() {
        row.wrong
            .push(format!("waits without a name: {}", nameless.into_iter().collect::<Vec<_>>().join(", ")));
    }
    Ok(row)
}

fn ask(iowhy: &Path, what: &[&str], capture: &Path) -> Outcome<String> {
    let out = Command::new(iowhy).args(what).arg(capture).output()?;
    match out.status.success() {
        true => Ok(String::from_utf8(out.stdout)?),
        false => Err(String::from_utf8_lossy(&out.stderr).trim().to_string().into()),
    }
}

/// Functions in which something waited and that no rule knows.
fn nameless(folded: &str) -> BTreeSet<String> {
    let of_link = |link: &str| Some(link.strip_prefix(NAMELESS)?.split(')').next()?.to_string());
    folded.lines().flat_map(|line| line.split(';')).filter_map(of_link).collect()
}

fn table(rows: &[Row], kept: bool) -> String {
    let right = rows.iter().filter(|r| r.wrong.is_empty()).count();
    let mut text = include_str!("kernels-head.md").to_string();
    if kept {
        text += KEPT;
    }
    let _ = writeln!(text, "{right} of {} are right in all of that.\n", rows.len());
    text += "| kernel | case | truth | said | wrong |\n|---|---|---|---|---|\n";
    for r in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            r.kernel,
            r.case,
            r.truth,
            r.said,
            r.wrong.join("; ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_without_a_name_are_found_in_folded_stacks() {
        let folded = "fio reads;a page (f);read 10\nfio;an unknown wait (new_thing);device 3\n";
        assert_eq!(nameless(folded).into_iter().collect::<Vec<_>>(), ["new_thing"]);
    }

    #[test]
    fn every_case_has_a_truth_that_is_a_cause() {
        let cases: Cases =
            toml::from_str(&std::fs::read_to_string(folder().join("kernels.toml")).unwrap()).unwrap();
        let known = include_str!("cause-names.txt");
        assert!(cases.case.len() >= 12);
        for truth in cases.case.iter().flat_map(|c| &c.truth) {
            assert!(known.split_ascii_whitespace().any(|name| name == truth), "{truth}");
        }
    }
}
