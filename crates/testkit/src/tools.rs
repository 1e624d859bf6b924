//! Runs the real blkparse and btt on a script, so that tests compare with their actual output.

use crate::binary::Layout;
use crate::script::Script;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Output of btt for a script.
pub struct Btt {
    /// Its report (`OUT.avg`).
    pub report: String,
    /// What blkparse printed on standard error before that.
    pub complaints: String,
}

impl Btt {
    /// A row of the table "All Devices" in microseconds: minimum, mean, maximum, and the count; `None` if btt has no
    /// such row.
    pub fn all_devices(&self, row: &str) -> Option<[f64; 4]> {
        let table = self.report.split("= All Devices =").nth(1)?;
        let table = table.split("= Device Overhead =").next()?;
        let cells: Vec<&str> = table
            .lines()
            .map(|l| l.split_whitespace().collect())
            .find(|c: &Vec<&str>| c.first() == Some(&row))?;
        let number = |i: usize| cells.get(i)?.parse::<f64>().ok();
        let micros = |i| number(i).map(|s| (s * 1e9).round() / 1e3);
        Some([micros(1)?, micros(2)?, micros(3)?, number(4)?])
    }

    /// Lines of a section that begin with a device: `( 8, 0) | ...`, with runs of blanks joined.
    pub fn device_rows(&self, section: &str) -> Vec<String> {
        let Some(body) = self.report.split(&format!("= {section} =")).nth(1) else { return vec![] };
        let body = body.trim_start_matches('=');
        let body = &body[..body.find("====").unwrap_or(body.len())];
        let plain = |l: &str| l.split_whitespace().collect::<Vec<_>>().join(" ");
        body.lines().map(plain).filter(|l| l.starts_with('(')).collect()
    }
}

/// Runs blkparse and btt on a script; `None`, and a line on the terminal, if they are not installed.
pub fn btt(script: &Script) -> Option<Btt> {
    btt_as(script, Layout::USUAL)
}

/// The same with another version or byte order of the records.
pub fn btt_as(script: &Script, layout: Layout) -> Option<Btt> {
    if !installed("blkparse", &["-V"]) || !installed("btt", &["-V"]) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let merged = folder.path().join("merged.bin");
    let mut blkparse = Command::new("blkparse");
    for name in script.files(folder.path(), layout) {
        blkparse.arg("-i").arg(name);
    }
    let parsed = blkparse.args(["-q", "-O", "-d"]).arg(&merged).output().expect("running blkparse");
    let out = folder.path().join("out");
    // It leaves files of its own choice in the current folder.
    let mut btt = Command::new("btt");
    btt.current_dir(folder.path()).arg("-A").arg("-i").arg(&merged).arg("-o").arg(&out);
    btt.output().expect("running btt");
    let report = std::fs::read_to_string(out.with_extension("avg")).unwrap_or_default();
    Some(Btt { report, complaints: String::from_utf8_lossy(&parsed.stderr).into_owned() })
}

/// Output of blkparse for a script, one line per event; `None`, and a line on the terminal, if it is not installed.
pub fn blkparse(script: &Script) -> Option<String> {
    if !installed("blkparse", &["-V"]) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut blkparse = Command::new("blkparse");
    for name in script.files(folder.path(), Layout::USUAL) {
        blkparse.arg("-i").arg(name);
    }
    let printed = blkparse.arg("-q").output().expect("running blkparse");
    Some(String::from_utf8_lossy(&printed.stdout).into_owned())
}

/// Whether a program can be run. If not, this is printed on the terminal, past the test runner's capture.
pub fn installed(program: &str, args: &[&str]) -> bool {
    let there = Command::new(program).args(args).output().is_ok();
    if !there {
        skipped(&format!("{program} is not installed"));
    }
    there
}

/// Prints on the terminal that part of the running test is skipped. A test that is skipped silently looks like one
/// that passed.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// The recording `name` in the folder that env `CAPTURES` names; `None`, and a line on the terminal, without it.
pub fn capture(name: &str) -> Option<std::path::PathBuf> {
    let Some(folder) = std::env::var_os("CAPTURES") else {
        skipped(&format!("CAPTURES names no folder of recordings (wanted: {name})"));
        return None;
    };
    let path = Path::new(&folder).join(name);
    if !path.exists() {
        skipped(&format!("{} does not exist", path.display()));
        return None;
    }
    Some(path)
}
