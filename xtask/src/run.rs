//! Runs a program and measures it: wall time, time on processors, and the most memory it had resident at once.
//!
//! Linux counts the memory of whoever starts a program as the program's own peak (`exec_mmap` in fs/exec.c keeps the
//! larger of both in `ru_maxrss`). So the program is started by a fresh, small process of this same tool
//! (`xtask measure`, 3 MB), which hands on what it measured.

use crate::outcome::Outcome;
use clap::Args;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// From start to end.
    pub wall: Duration,
    /// On processors, all threads together, user and system: what other programs of the machine disturb less.
    pub cpu: Duration,
    /// Peak of resident memory in bytes (`ru_maxrss`, getrusage(2)).
    pub resident: u64,
}

impl Cost {
    /// One after the other: times add up, of the memory the larger counts.
    pub fn then(self, next: Cost) -> Cost {
        Cost {
            wall: self.wall + next.wall,
            cpu: self.cpu + next.cpu,
            resident: self.resident.max(next.resident),
        }
    }
}

/// Runs `command` in `scratch`, where its output and whatever files it makes go (btt leaves some in the current folder),
/// so its paths must be absolute. An unhappy end is an error with what it said.
///
/// What the run before has written goes to the disk first: 300 MB being written back slow down whoever comes next.
pub fn measure(command: &Command, scratch: &Path) -> Outcome<Cost> {
    Command::new("sync").status()?;
    let result = scratch.join("cost.txt");
    let mut small = Command::new(std::env::current_exe()?);
    small.arg("measure").arg("--scratch").arg(scratch).arg("--").arg(command.get_program());
    let status = small.args(command.get_args()).status()?;
    if !status.success() {
        return Err("it could not be measured".into());
    }
    let text = fs::read_to_string(&result)?;
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [wall, cpu, resident] = numbers[..] else { return Err("cost.txt holds three numbers".into()) };
    Ok(Cost { wall: Duration::from_nanos(wall), cpu: Duration::from_nanos(cpu), resident })
}

/// Run one program and write wall time and processor time (ns) and peak memory (bytes) into SCRATCH/cost.txt
#[derive(Args)]
pub struct Measure {
    /// Where it runs, and its output goes
    #[arg(long)]
    scratch: PathBuf,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

impl Measure {
    /// Runs it.
    pub fn run(&self) -> Outcome {
        let said = self.scratch.join("stderr.txt");
        let (name, arguments) = self.command.split_first().ok_or("no program")?;
        let mut command = Command::new(name);
        command.args(arguments).current_dir(&self.scratch).stdin(Stdio::null());
        command.stdout(File::create(self.scratch.join("stdout.txt"))?).stderr(File::create(&said)?);
        let began = Instant::now();
        let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
        let end = child.wait4()?;
        let wall = began.elapsed().as_nanos();
        if !end.status.success() {
            let said = fs::read_to_string(said).unwrap_or_default();
            return Err(format!("{name} ended with {}: {}", end.status, said.trim()).into());
        }
        let cpu = (end.rusage.utime + end.rusage.stime).as_nanos();
        fs::write(self.scratch.join("cost.txt"), format!("{wall} {cpu} {}\n", end.rusage.maxrss))?;
        Ok(())
    }
}

/// The middle one by time with the largest memory of all, and the shortest and longest time.
pub fn median(mut runs: Vec<Cost>) -> (Cost, Duration, Duration) {
    runs.sort_by_key(|c| c.wall);
    let resident = runs.iter().map(|c| c.resident).max().unwrap_or(0);
    let middle = runs[runs.len() / 2];
    (Cost { resident, ..middle }, runs[0].wall, runs[runs.len() - 1].wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_by_time_with_the_largest_memory() {
        let cost = |ms, resident| Cost { wall: Duration::from_millis(ms), resident, ..Cost::default() };
        let (middle, low, high) = median(vec![cost(30, 1), cost(10, 9), cost(20, 5)]);
        assert_eq!(middle, cost(20, 9));
        assert_eq!((low.as_millis(), high.as_millis()), (10, 30));
    }
}
