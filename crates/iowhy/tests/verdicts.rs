//! Real recordings, and what must be said of them: which causes are found and which are rejected, as scripts read it
//! from `iowhy explain --json`.
//!
//! The bundled recordings are always judged. With env `CAPTURES=DIR`, so are the long ones they were cut from, and the
//! numbers known of those.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What must be said of a recording.
struct Known {
    recording: &'static str,
    found: &'static [&'static str],
    rejected: &'static [&'static str],
}

const KNOWN: &[Known] = &[
    Known {
        recording: "nullblk-randrw",
        found: &["healthy"],
        rejected: &["device-saturated", "writeback-flood"],
    },
    Known {
        recording: "randread-baseline",
        found: &["device-saturated"],
        rejected: &["healthy", "writeback-flood", "request-size", "scheduler-starvation"],
    },
    Known {
        recording: "randread-vs-bufferedwrite",
        found: &["writeback-flood"],
        rejected: &["healthy", "request-size", "scheduler-starvation", "flush-cost"],
    },
    Known {
        recording: "deadline-starved",
        found: &["scheduler-starvation"],
        rejected: &["request-size", "flush-cost"],
    },
    Known {
        recording: "hidden-tags",
        found: &["tag-exhaustion"],
        rejected: &["healthy", "device-saturated", "scheduler-starvation", "request-size"],
    },
    Known {
        recording: "seqwrite-max32k",
        found: &["request-size"],
        rejected: &["writeback-flood", "flush-cost"],
    },
    Known {
        recording: "seqwrite-max1024k",
        found: &[],
        rejected: &["request-size", "scheduler-starvation", "writeback-flood"],
    },
    Known {
        recording: "raid5-randwrite8k",
        found: &["raid-read-modify-write"],
        rejected: &["raid-bitmap", "writeback-flood"],
    },
    Known {
        recording: "raid5-bitmap64k",
        found: &["raid-bitmap"],
        rejected: &["writeback-flood", "flush-cost", "scheduler-starvation"],
    },
    Known {
        recording: "fsync-heavy-j4",
        found: &["flush-cost"],
        rejected: &["writeback-flood", "raid-read-modify-write", "raid-bitmap"],
    },
    Known {
        recording: "fsync-ordered-data",
        found: &["journal-ordered", "writeback-flood"],
        rejected: &["healthy", "stable-page", "log-force", "cgroup-limit"],
    },
    Known {
        recording: "fsync-log-force",
        found: &["log-force", "cpu-wait"],
        rejected: &["healthy", "journal-ordered", "writeback-flood", "stable-page"],
    },
    Known {
        recording: "append-stable-page",
        found: &["stable-page"],
        rejected: &["healthy", "journal-ordered", "cgroup-limit"],
    },
    Known {
        recording: "cgroup-200-iops",
        found: &["cgroup-limit"],
        rejected: &["healthy", "device-saturated", "cpu-wait", "writeback-flood"],
    },
    Known {
        recording: "fsync-writeback-throttle",
        found: &["writeback-throttle", "device-saturated"],
        rejected: &["healthy", "dirty-throttling", "journal-cpu", "flush-cost", "cgroup-limit"],
    },
    Known {
        recording: "fsync-slow-mirror",
        found: &[],
        rejected: &["healthy", "raid-bitmap", "raid-read-modify-write", "flush-cost", "journal-cpu"],
    },
    Known {
        recording: "dm-delay/capture.tar.zst",
        found: &[],
        rejected: &["healthy", "device-saturated", "device-stall", "rate-limit", "cpu-wait"],
    },
    Known {
        recording: "fsync-journal-cpu",
        found: &["journal-cpu", "cpu-wait"],
        rejected: &["healthy", "writeback-throttle", "flush-cost", "device-saturated", "journal-ordered"],
    },
    Known {
        recording: "postgres-beside-copy/capture.tar.zst",
        // A flush of 1.2 ms in each commit is a fifth of what all of them lost.
        found: &["background-task", "flush-cost"],
        rejected: &["healthy", "device-stall", "cpu-wait"],
    },
    Known { recording: "volume-249-iops/capture.tar.zst", found: &["rate-limit"], rejected: &["healthy"] },
    Known { recording: "misc-events", found: &[], rejected: &["scheduler-starvation"] },
];

/// What operations must tell of a long recording, in numbers.
struct Expected {
    recording: &'static str,
    /// A cause, the least share of the tail's time that it explains, and words of what proves it.
    found: &'static [(&'static str, f64, &'static str)],
    /// A cause, and words of what speaks against it.
    rejected: &'static [(&'static str, &'static str)],
}

/// No slow operation waited so at all.
const NOBODY: &str = "no slow operation waited for this";

const TOLD: &[Expected] = &[
    Expected {
        recording: "a_randread_alone",
        found: &[("cpu-wait", 0.15, "of their 830 ms waiting for a processor")],
        rejected: &[
            ("stable-page", NOBODY),
            ("journal-ordered", NOBODY),
            ("dirty-throttling", NOBODY),
            ("cgroup-limit", NOBODY),
            ("log-force", NOBODY),
            ("tag-exhaustion", "waited 1.34 us for a request (Q2G p99)"),
            ("writeback-flood", "no writeback"),
            ("outside-io", "for up to 11.2 ms, 40.6 ms in all"),
        ],
    },
    Expected {
        recording: "c_dd_buffered",
        found: &[("writeback-flood", 0.9, "reads took 919 ms in the device (p99)")],
        rejected: &[
            ("flush-cost", "0 % of the time of the slowest writes"),
            ("log-force", NOBODY),
            ("dirty-throttling", NOBODY),
        ],
    },
    Expected {
        recording: "e2_append_ext4_stable0",
        found: &[("outside-io", 0.0, "for up to 74.4 ms, 951 ms in all")],
        rejected: &[("stable-page", NOBODY), ("journal-cpu", "0.2 % of their time")],
    },
    Expected {
        recording: "e2_append_ext4_stable1",
        found: &[
            ("stable-page", 0.65, "74 % of their 530 ms"),
            ("stable-page", 0.65, "what it was at the mount holds"),
        ],
        rejected: &[("cpu-wait", "0.4 % of their time"), ("journal-ordered", NOBODY)],
    },
    Expected {
        recording: "f_fsync_xfs_j4",
        found: &[
            ("cpu-wait", 0.4, "44 % of their 1.23 s"),
            ("flush-cost", 0.35, "for 39 % of their time"),
            ("log-force", 0.02, "41 % of their 1.23 s waiting until the log was on disk"),
        ],
        rejected: &[("journal-ordered", NOBODY), ("journal-cpu", NOBODY)],
    },
    Expected {
        recording: "g_deadline_default",
        found: &[
            ("scheduler-starvation", 0.4, "writeback was sent to loop0 before them"),
            ("dirty-throttling", 0.15, "96 % of their 397 ms asleep in balance_dirty_pages"),
        ],
        rejected: &[("stable-page", NOBODY), ("writeback-throttle", NOBODY)],
    },
    Expected {
        recording: "i_ordered_dioread_lock",
        found: &[
            ("journal-ordered", 0.15, "37 % of their 2.4 s"),
            ("journal-ordered", 0.15, "of which 977 ms while the journal's commit waited"),
        ],
        rejected: &[("log-force", NOBODY), ("flush-cost", "0.3 % of the time"), ("journal-cpu", "0.3 %")],
    },
    Expected {
        recording: "j_nrreq_4",
        found: &[("tag-exhaustion", 0.2, "4 requests were in loop0")],
        rejected: &[("cgroup-limit", NOBODY), ("writeback-flood", "0 % of their time")],
    },
    Expected {
        recording: "k_throttle_200",
        found: &[("cgroup-limit", 0.95, "99.1 % of their 1.43 s")],
        rejected: &[("device-saturated", "0.6 % of their time in the device"), ("tag-exhaustion", "5.54 us")],
    },
];

/// Of the tail's time this part may stay unexplained.
const MOST_UNEXPLAINED: f64 = 0.01;

/// Names that scripts rely on; more may be added.
const CAUSES: &str = "healthy device-saturated device-stall rate-limit device-errors device-busy power-state \
    completion-cpu writeback-flood stable-page dirty-throttling writeback-throttle reclaim swap page-fault-read \
    read-ahead-waste read-ahead-short scheduler-starvation scheduler-idling scheduler-throttle tag-exhaustion \
    queue-freeze request-size lost-merging misaligned cgroup-limit flush-cost discard-stall journal-ordered \
    journal-space journal-cpu log-force log-space inode-lock access-time raid-read-modify-write raid-bitmap \
    raid-stripe-cache raid-resync crypt-queue loop-double-cache background-task cpu-wait outside-io cold-reads slow-device \
    frozen worker-cpu journal-commit";

fn iowhy(arguments: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy")).args(arguments).output().expect("running iowhy");
    assert!(out.status.success(), "iowhy {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

fn explain(recording: &Path) -> Value {
    let text = iowhy(&["explain", "--json", recording.to_str().expect("a plain path")]);
    serde_json::from_str(&text).expect("one JSON object")
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The folder of long recordings, if there is one. Without it says on the terminal that a part is skipped.
fn captures() -> Option<PathBuf> {
    let folder = std::env::var_os("CAPTURES").map(PathBuf::from);
    if folder.is_none() {
        skipped("CAPTURES names no folder: the long recordings were not judged");
    }
    folder
}

fn skipped(why: &str) {
    let thread = std::thread::current();
    // Past the test runner's capture: a test that is silently skipped looks like one that passed.
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

fn number(v: &Value) -> u64 {
    v.as_u64().unwrap_or_else(|| panic!("a whole number, not {v}"))
}

fn list<'a>(v: &'a Value, key: &str) -> &'a Vec<Value> {
    v[key].as_array().unwrap_or_else(|| panic!("{key} is a list"))
}

/// What holds for every recording, whatever is wrong with it.
fn assert_keeps_the_contract(name: &str, e: &Value) {
    assert_eq!(e["schema"], "iowhy.explain/2", "{name}");
    let tail = &e["tail"];
    let reasons: u64 = list(tail, "by_reason").iter().map(|r| number(&r["ns"])).sum();
    assert_eq!(reasons, number(&tail["total_ns"]), "{name}: the tail's time by reason sums to all of it");
    let known: BTreeSet<&str> = CAUSES.split_whitespace().collect();
    let mut order = Vec::new();
    let mut shares = 0.0;
    for c in list(e, "causes") {
        let cause = c["cause"].as_str().expect("a name");
        assert!(known.contains(cause), "{name}: {cause} is a name that scripts know");
        let share = c["share"].as_f64().expect("a share");
        let found = c["verdict"] == "found";
        match c["verdict"].as_str() {
            Some("found") => assert!(!list(c, "evidence").is_empty(), "{name}: {cause} has evidence"),
            Some("rejected") => assert!(!list(c, "refutes").is_empty(), "{name}: {cause} has a refutation"),
            Some("cannot-tell") => {
                assert!(!list(c, "missing").is_empty(), "{name}: {cause} says what is missing")
            }
            other => panic!("{name}: {cause}: verdict {other:?}"),
        }
        assert!(found || share == 0.0, "{name}: {cause} is not found and claims {share}");
        shares += share;
        order.push((found, share));
    }
    assert!(shares <= 1.0 + 1e-9, "{name}: the causes claim {shares} of the tail's time");
    let falling = order.windows(2).all(|w| w[0] >= w[1]);
    assert!(falling, "{name}: found ones first, by share: {order:?}");
    for o in list(e, "operations") {
        let l = &o["latency_ns"];
        let rising: Vec<u64> =
            ["min", "p50", "p90", "p99", "p999", "max"].iter().map(|k| number(&l[k])).collect();
        assert!(rising.is_sorted(), "{name}: {} {} {}: {rising:?}", o["name"], o["op"], o["level"]);
    }
}

fn assert_judged(known: &Known, e: &Value) {
    for (causes, verdict) in [(known.found, "found"), (known.rejected, "rejected")] {
        for cause in causes {
            let said = said(known.recording, e, cause);
            assert_eq!(said["verdict"], verdict, "{}: {said:#}", known.recording);
        }
    }
}

#[test]
fn bundled_recordings_are_judged_right() {
    for known in KNOWN {
        let e = explain(&fixtures().join(known.recording));
        assert_keeps_the_contract(known.recording, &e);
        assert_judged(known, &e);
        assert_eq!(e["quality"]["verdict"], "good", "{}", known.recording);
    }
}

#[test]
fn long_recordings_are_judged_right() {
    let Some(captures) = captures() else { return };
    for known in KNOWN {
        let folder = captures.join(known.recording);
        if !folder.is_dir() {
            skipped(&format!("{} is not there", folder.display()));
            continue;
        }
        let e = explain(&folder);
        assert_keeps_the_contract(known.recording, &e);
        assert_judged(known, &e);
        assert_eq!(number(&e["quality"]["lost"]), 0, "{}", known.recording);
        assert_eq!(
            number(&e["quality"]["unmatched"]),
            0,
            "{}: every event belongs to something",
            known.recording
        );
    }
}

/// What `explain` says of one cause.
fn said<'a>(recording: &str, e: &'a Value, cause: &str) -> &'a Value {
    let said = list(e, "causes").iter().find(|c| c["cause"] == cause);
    said.unwrap_or_else(|| panic!("{recording}: {cause} was not judged"))
}

#[track_caller]
fn assert_says(recording: &str, said: &Value, key: &str, words: &str) {
    let there = list(said, key).iter().any(|l| l.as_str().is_some_and(|l| l.contains(words)));
    assert!(there, "{recording}: no {key} has {words:?}: {said:#}");
}

#[test]
fn operations_of_long_recordings_are_judged_by_number() {
    let Some(captures) = captures() else { return };
    for told in TOLD {
        let (name, folder) = (told.recording, captures.join(told.recording));
        if !folder.is_dir() {
            skipped(&format!("{} is not there", folder.display()));
            continue;
        }
        let e = explain(&folder);
        assert_keeps_the_contract(name, &e);
        for (cause, share, words) in told.found {
            let c = said(name, &e, cause);
            assert_eq!(c["verdict"], "found", "{name}: {c:#}");
            assert!(c["share"].as_f64().is_some_and(|s| s >= *share), "{name}: {c:#}");
            assert_says(name, c, "evidence", words);
        }
        for (cause, words) in told.rejected {
            let c = said(name, &e, cause);
            assert_eq!(c["verdict"], "rejected", "{name}: {c:#}");
            assert_says(name, c, "refutes", words);
        }
        let reasons = list(&e["tail"], "by_reason").iter();
        let unexplained: u64 =
            reasons.filter(|r| r["reason"] == "unexplained").map(|r| number(&r["ns"])).sum();
        let share = unexplained as f64 / number(&e["tail"]["total_ns"]) as f64;
        assert!(share <= MOST_UNEXPLAINED, "{name}: {share} of the tail's time is unexplained");
        assert_eq!(number(&e["quality"]["lost"]), 0, "{name}");
        assert_eq!(number(&e["quality"]["unmatched"]), 0, "{name}");
    }
}

/// Requests of an operation, and the mean of their time in the device in nanoseconds.
fn requests(e: &Value, wanted: impl Fn(&Value) -> bool) -> (u64, f64) {
    let (mut count, mut time) = (0, 0.0);
    for o in list(e, "operations").iter().filter(|o| o["level"] == "request" && wanted(o)) {
        count += number(&o["count"]);
        time += number(&o["count"]) as f64 * o["phases"]["d2c"]["mean"].as_f64().unwrap_or(0.0);
    }
    (count, time / count.max(1) as f64)
}

/// btt follows 1 of the 478 writes of this recording, because the bios of the others were split, and gives 10.75 ms
/// as the mean time in the device of all requests. Counted by hand over D and C of the same sector, it is 54.7 ms.
#[test]
fn the_writes_that_btt_hides_are_counted() {
    let Some(captures) = captures() else { return };
    let e = explain(&captures.join("randread-vs-bufferedwrite"));
    let (writes, _) = requests(&e, |o| o["op"] == "write");
    assert_eq!(writes, 478);
    let (_, mean) = requests(&e, |o| o["op"] == "read" || o["op"] == "write");
    assert!((mean / 1e6 - 54.7).abs() < 0.1, "{mean} ns");
}
