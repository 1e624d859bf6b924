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

#[test]
fn the_load_is_told() {
    let out = whatif(LOAD, &["--explain-load"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("because:"), "{said}");
}
