//! Runs a program and measures it: wall time and the most memory it had resident at once.

use crate::Outcome;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// From start to end.
    pub wall: Duration,
    /// Peak of resident memory in bytes (`ru_maxrss`, getrusage(2)).
    pub resident: u64,
}

impl Cost {
    /// One after the other: times add up, of the memory the larger counts.
    pub fn then(self, next: Cost) -> Cost {
        Cost { wall: self.wall + next.wall, resident: self.resident.max(next.resident) }
    }
}

/// Runs `command` with its output into files in `scratch`; an unhappy end is an error with what it said.
pub fn measure(command: &mut Command, scratch: &Path) -> Outcome<Cost> {
    let said = scratch.join("stderr.txt");
    command
        .stdin(Stdio::null())
        .stdout(File::create(scratch.join("stdout.txt"))?)
        .stderr(File::create(&said)?);
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let end = child.wait4()?;
    let wall = began.elapsed();
    if !end.status.success() {
        let said = std::fs::read_to_string(said).unwrap_or_default();
        return Err(format!("{name} ended with {}: {}", end.status, said.trim()).into());
    }
    Ok(Cost { wall, resident: end.rusage.maxrss })
}

/// The middle one by time, and the fastest and slowest.
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
        let cost = |ms, resident| Cost { wall: Duration::from_millis(ms), resident };
        let (middle, low, high) = median(vec![cost(30, 1), cost(10, 9), cost(20, 5)]);
        assert_eq!(middle, cost(20, 9));
        assert_eq!((low.as_millis(), high.as_millis()), (10, 30));
    }
}
