//! The job files, in the open: what is run is what `--print-jobs` prints and what lies in the repository.
//!
//! They are plain fio. What is scaled to the disk stands in them as `${NAME}`, which fio itself takes from the environment;
//! the first lines of each say how to run it by hand.

/// Name and text of each, in the order of the scenarios.
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

/// All of them as one text, each after its name.
pub fn printed() -> String {
    JOBS.iter().map(|(name, text)| format!("# {name}\n{text}\n")).collect()
}

/// The text of one.
pub fn text(name: &str) -> Option<&'static str> {
    JOBS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wear and time are bounded by fio itself: every job has a time, and every one that writes has a number of bytes.
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
                // A log is never longer than its size, which is its limit.
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
