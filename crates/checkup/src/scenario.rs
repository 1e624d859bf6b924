//! The scenarios: which loads others suffered from, and the steps that each is made of.
//!
//! A step is one run of fio with one job file. Scenarios are numbered as the documents number them; a step that is not
//! recorded only measures (what the disk can do at most is not a fault of it).

/// One scenario.
#[derive(Debug)]
pub struct Scenario {
    /// Its number.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    /// What is tried, in a sentence.
    pub about: &'static str,
    /// In this order.
    pub steps: &'static [Step],
}

/// One run of fio.
#[derive(Debug)]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// The job file.
    pub job: &'static str,
    /// What `DEPTH` or `THREADS` is.
    pub many: u32,
    /// Whether it is recorded, where that is possible.
    pub recorded: bool,
    /// How much it may write, in parts of the data file's size.
    pub writes: u64,
    /// How long it takes, in parts of a step's time.
    pub time: f64,
    /// The bytes/s of its writer.
    pub rate: Rate,
}

/// How fast a writer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// It has no rate.
    None,
    /// A part of what the disk can do: a good one has time for others beside it.
    Beside,
    /// As a log grows.
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

/// All, in order.
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
            // What holds a disk back is seen when all that it can do is asked for.
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
            // Eight jobs, one after the other.
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

/// How many jobs a job file runs one after the other: each takes the step's time.
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
