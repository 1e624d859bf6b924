//! The job files: what is run is what `--print-jobs` prints and what is in the repository.
//!
//! They are plain fio. Values that are scaled to the disk appear as `${NAME}`, which fio itself takes from the environment;
//! the first lines of each file say how to run it by hand.

/// The name and text of each job file, in the order of the scenarios.
pub const JOBS: &[(&str, &str)] = &[
    ("quiet.fio", include_str!("../jobs/quiet.fio")),
    ("pauses.fio", include_str!("../jobs/pauses.fio")),
    ("readers-alone.fio", include_str!("../jobs/readers-alone.fio")),
    ("beside-direct.fio", include_str!("../jobs/beside-direct.fio")),
    ("beside-buffered.fio", include_str!("../jobs/beside-buffered.fio")),
    ("beside-synced.fio", include_str!("../jobs/beside-synced.fio")),
    ("appends.fio", include_str!("../jobs/appends.fio")),
    ("sizes.fio", include_str!("../jobs/sizes.fio")),
    ("large-reads.fio", include_str!("../jobs/large-reads.fio")),
    ("fsync.fio", include_str!("../jobs/fsync.fio")),
    ("fsync-beside.fio", include_str!("../jobs/fsync-beside.fio")),
    ("heartbeat.fio", include_str!("../jobs/heartbeat.fio")),
    ("small-writes.fio", include_str!("../jobs/small-writes.fio")),
];

/// All job files as one text, each after its name.
pub fn printed() -> String {
    JOBS.iter().map(|(name, text)| format!("# {name}\n{text}\n")).collect()
}

/// The text of a job file; `None` if there is none with this name.
pub fn text(name: &str) -> Option<&'static str> {
    JOBS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fio itself bounds wear and time: every job has a time, and every job that writes has a number of bytes.
    #[test]
    fn every_job_is_bounded() {
        for (name, text) in JOBS {
            for section in text.split("\n[").skip(1) {
                let has = |word: &str| {
                    section.contains(word)
                        || text.split("\n\n").any(|s| s.contains("[global]") && s.contains(word))
                };
                assert!(has("runtime=${TIME}"), "{name}: {section}");
                let writes = section.contains("rw=write") || section.contains("rw=randwrite");
                assert_eq!(
                    writes,
                    !has("time_based"),
                    "{name}: fio forgets io_size where time_based is given"
                );
                // A log never grows beyond its size, which limits it.
                let limited = ["io_size=${MOST}", "io_size=${FEW}", "size=${MOST}"].iter().any(|l| has(l));
                assert!(!writes || limited, "{name}: {section}");
            }
        }
    }

    #[test]
    fn every_file_in_the_folder_is_shown() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), JOBS.len());
    }
}
