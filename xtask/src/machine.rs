//! The machine that is measured on: what it is, and disks made for a measurement.

use crate::outcome::Outcome;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A sentence: versions of the programs (each with the argument that makes it say so), processors, kernel, load.
pub fn about(programs: &[(&str, &str)]) -> String {
    let versions: Vec<String> =
        programs.iter().map(|(program, argument)| first_line(program, argument)).collect();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": ").map(|(_, m)| m));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!(
        "Measured with {}, on {cores} cores of {}, Linux {}. The load\naverage when it began was {} (0: an idle machine).",
        versions.join(", "),
        model.unwrap_or("an unknown processor"),
        fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?"),
    )
}

fn first_line(program: &str, argument: &str) -> String {
    let out = Command::new(program).arg(argument).output();
    let text = out.map(|o| [o.stdout, o.stderr].concat()).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or("not found").trim().to_string()
}

/// A loop device; gone with the value.
pub struct LoopDisk {
    /// `/dev/loop3`.
    pub device: String,
}

/// A loop device over a file of zeros, which is made; every block of it is there.
pub fn loop_disk(file: &Path, mib: u64) -> Outcome<LoopDisk> {
    fs::write(file, vec![0; (mib << 20) as usize])?;
    let out = Command::new("losetup").args(["-f", "--show"]).arg(file).output()?;
    if !out.status.success() {
        return Err(format!("losetup: {}", String::from_utf8_lossy(&out.stderr).trim()).into());
    }
    Ok(LoopDisk { device: String::from_utf8_lossy(&out.stdout).trim().to_string() })
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}
