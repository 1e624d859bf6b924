//! `iowhy whatif` on bundled recordings: what it refuses, and that the same seed gives the same answer.

use std::path::PathBuf;
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn whatif(name: &str, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iowhy")).arg("whatif").arg(fixture(name)).args(words).output().unwrap()
}

const LOAD: &str = "randread-vs-bufferedwrite";
const WAS: [&str; 3] = ["--was", "scheduler=mq-deadline", "nr_requests=256"];

#[test]
fn what_cannot_be_is_refused_in_words() {
    for (words, why) in [
        (vec![], "nothing is asked"),
        (vec!["--set", "read_expires=3"], "no setting is called read_expires"),
        (vec!["--set", "read_expire=-3"], "not a whole number"),
        (vec!["--set", "fifo_batch=4", "fifo_batch=5"], "contradict"),
        (vec!["--set", "scheduler=bfq"], "bfq is not modelled"),
        (vec!["--set", "max_sectors_kb=64"], "not modelled"),
        (vec!["--set", "nr_requests=5000"], "at most 2048"),
        (vec!["--schedule", "3-2"], "FROM-TO"),
        (vec!["--schedule", "90-91"], "no request went to the device"),
    ] {
        let words: Vec<&str> = words.into_iter().chain(WAS).collect();
        let out = whatif(LOAD, &words);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{words:?}: {said}");
        assert!(out.stdout.is_empty(), "{words:?}");
    }
    let out = whatif(LOAD, &["--stopwatch", "0:0.5", "--set", "read_expire=3", WAS[0], WAS[1], WAS[2]]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("too short"), "{out:?}");
}

/// What is printed as recorded is what `iowhy events` prints of the same stretch: issues, in their order.
#[test]
fn the_recorded_schedule_is_that_of_the_events() {
    let out = whatif(LOAD, &["--schedule", "1-1.05", "--json", WAS[0], WAS[1], WAS[2]]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let said: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let recorded = said["recorded"].as_array().unwrap();
    let sectors: Vec<u64> = recorded.iter().filter_map(|s| s["sector"].as_u64()).collect();
    let events = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("events")
        .arg(fixture(LOAD))
        .args(["-a", "issue", "-f", "%T.%9t %S %n\n", "-q"])
        .output()
        .unwrap();
    let issued: Vec<u64> = String::from_utf8_lossy(&events.stdout)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let at: f64 = words.next()?.parse().ok()?;
            let sector = words.next()?.parse().ok()?;
            ((1.0..1.05).contains(&at) && words.next()? != "0").then_some(sector)
        })
        .collect();
    assert!(sectors.len() > 20, "{said:#}");
    assert_eq!(sectors, issued);
    assert!(said["simulated"].as_array().unwrap().len() > 20, "{said:#}");
}

#[test]
fn the_load_is_told() {
    let out = whatif(LOAD, &["--explain-load"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("because:"), "{said}");
}
