//! The scenarios: loads that are known to cause problems, and the steps of each.
//!
//! A step is one run of fio with one job file. The documents use the same numbers of scenarios. A step that is not
//! recorded only measures: the limits of what a disk can do are not a fault.

/// One scenario.
#[derive(Debug)]
pub struct Scenario {
    /// Its number, from 1.
    pub number: u8,
    /// Its name on the screen.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Its steps, in the order in which they are run.
    pub steps: &'static [Step],
}

/// One run of fio.
#[derive(Debug)]
pub struct Step {
    /// Its name on the screen.
    pub name: &'static str,
    /// The name of the job file.
    pub job: &'static str,
    /// The value of `DEPTH` or `THREADS` in the job file.
    pub many: u32,
    /// Whether it is recorded, if recording is possible.
    pub recorded: bool,
    /// Maximal number of bytes that it writes, as a multiple of the data file's size.
    pub writes: u64,
    /// The time of each of its jobs, as a part of the plan's step time.
    pub time: f64,
    /// The rate of its writer.
    pub rate: Rate,
}

/// The rate of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// It has no limit.
    None,
    /// A part of what the disk can write: a good disk has time for others beside it.
    Beside,
    /// The rate at which a log grows.
    Log,
}

const fn step(name: &'static str, job: &'static str) -> Step {
    Step { name, job, many: 1, recorded: true, writes: 0, time: 1.0, rate: Rate::None }
}

const fn deep(name: &'static str, many: u32) -> Step {
    Step { many, recorded: false, time: 0.4, ..step(name, "quiet.fio") }
}

const fn beside(name: &'static str, job: &'static str) -> Step {
    Step { writes: 1, rate: Rate::Beside, ..step(name, job) }
}

const fn fsync(name: &'static str, many: u32, recorded: bool) -> Step {
    Step { many, recorded, writes: 1, ..step(name, "fsync.fio") }
}

/// All scenarios, in the order in which they are run.
pub const ALL: &[Scenario] = &[
    Scenario {
        number: 1,
        name: "quiet",
        about: "random reads of 4 KiB on a quiet disk, one at a time, more, and with pauses",
        steps: &[
            step("depth 1", "quiet.fio"),
            deep("depth 2", 2),
            deep("depth 4", 4),
            deep("depth 8", 8),
            deep("depth 16", 16),
            // A limit on the disk shows only when the load asks for all that the disk can do.
            Step { recorded: true, ..deep("depth 32", 32) },
            step("pauses", "pauses.fio"),
        ],
    },
    Scenario {
        number: 2,
        name: "writeback",
        about: "readers alone, then beside a writer that takes a third of the disk",
        steps: &[
            Step { recorded: false, ..step("alone", "readers-alone.fio") },
            beside("beside direct", "beside-direct.fio"),
            beside("beside buffered", "beside-buffered.fio"),
            beside("beside synced", "beside-synced.fio"),
        ],
    },
    Scenario {
        number: 3,
        name: "appends",
        about: "a log that grows at a constant rate: does an append ever wait?",
        steps: &[Step { writes: 1, rate: Rate::Log, ..step("appends", "appends.fio") }],
    },
    Scenario {
        number: 4,
        name: "sizes",
        about: "requests from 4 KiB to 4 MiB, in order and at random",
        steps: &[
            // It has eight jobs, one after the other.
            Step { recorded: false, time: 0.25, ..step("sizes", "sizes.fio") },
            step("large reads", "large-reads.fio"),
        ],
    },
    Scenario {
        number: 5,
        name: "fsync",
        about: "threads that write 4 KiB and wait until it is safe, alone and beside a big writer",
        steps: &[
            fsync("1 thread", 1, true),
            fsync("8 threads", 8, false),
            fsync("64 threads", 64, false),
            Step { writes: 2, ..beside("beside a writer", "fsync-beside.fio") },
        ],
    },
    Scenario {
        number: 6,
        name: "heartbeat",
        about: "a heartbeat that reads cold pages while a tarball is unpacked",
        steps: &[beside("beside a tarball", "heartbeat.fio")],
    },
    Scenario {
        number: 7,
        name: "small writes",
        about: "random writes of 4 KiB in a file that is there",
        steps: &[Step { writes: 1, ..step("one at a time", "small-writes.fio") }],
    },
];

/// Number of jobs that a job file runs one after the other; each takes the step's time.
pub fn jobs_in_turn(job: &str) -> u32 {
    crate::job::text(job).map_or(1, |t| t.matches("\nstonewall").count().max(1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_job() {
        for step in ALL.iter().flat_map(|s| s.steps) {
            let text = crate::job::text(step.job).unwrap_or_else(|| panic!("{}", step.job));
            assert_eq!(text.contains("${RATE}"), step.rate != Rate::None, "{}", step.job);
            assert_eq!(text.contains("${MOST}"), step.writes > 0, "{}", step.job);
        }
        assert_eq!(jobs_in_turn("sizes.fio"), 8);
        assert_eq!(jobs_in_turn("quiet.fio"), 1);
    }
}
