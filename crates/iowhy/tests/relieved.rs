//! Latencies that are predicted without a cause, beside those of the twin, which was recorded without it: what is said of them is true, and
//! what nobody can know is not said.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn first_victim(recording: &str) -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/corpus").join(format!("{recording}.tar.zst"));
    let out =
        Command::new(env!("CARGO_BIN_EXE_iowhy")).args(["explain", "--json"]).arg(path).output().unwrap();
    serde_json::from_slice::<Value>(&out.stdout).unwrap()["victims"][0].clone()
}

/// Whether what is predicted without a cause has the twin's latency in its interval; `None` if nothing is.
fn is_true(recording: &str, cause: &str, latency: &str) -> Option<bool> {
    let (sick, twin) = (first_victim(recording), first_victim(&format!("{recording}.twin")));
    assert_eq!(sick["op"], twin["op"], "{recording}");
    let relieved = sick["relieved"].as_array().unwrap().iter().find(|r| r["cause"] == cause);
    let predicted = &relieved.unwrap_or_else(|| panic!("{recording}: {sick}"))[format!("{latency}_ns")];
    let at = |key: &str| predicted[key].as_u64();
    let measured = twin["latency_ns"][latency].as_u64().unwrap();
    Some((at("low")?..=at("high")?).contains(&measured))
}

#[test]
fn a_cause_of_some_operations_is_not_taken_from_the_others() {
    for recording in ["device-stall", "device-stall-ring"] {
        for latency in ["mean", "p50", "p99"] {
            assert_eq!(is_true(recording, "device-stall", latency), Some(true), "{recording} {latency}");
        }
    }
    for (cause, latency) in [("power-state", "p50"), ("power-state", "p99"), ("misaligned", "p50")] {
        assert_eq!(is_true(cause, cause, latency), Some(true), "{cause} {latency}");
    }
}

#[test]
fn where_there_is_less_work_only_a_bound_is_predicted() {
    for latency in ["mean", "p50", "p99"] {
        assert_eq!(is_true("read-ahead-waste", "read-ahead-waste", latency), Some(true), "{latency}");
    }
    assert_eq!(is_true("scheduler-idling", "scheduler-idling", "p99"), Some(true));
}

/// Reading ahead further leaves few waits, each for more.
#[test]
fn of_waits_that_become_rarer_and_longer_the_longest_are_not_predicted() {
    for recording in ["read-ahead-short", "read-ahead-short-xfs"] {
        let of = |latency| is_true(recording, "read-ahead-short", latency);
        assert_eq!([of("mean"), of("p50"), of("p99")], [Some(true), Some(true), None], "{recording}");
    }
}
