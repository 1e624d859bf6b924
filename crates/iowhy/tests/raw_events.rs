//! `iowhy slow --events` shows the raw events of an operation's stretch, all of them that its task did, and nothing that
//! belongs to others. The witness reads the recording by itself.

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::{Batch, Nanos, TaskEvent, Tid, What};

const RECORDINGS: &[&str] =
    &["fsync-journal-cpu", "fsync-log-force", "fsync-ordered-data", "append-stable-page", "cgroup-200-iops"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn slow(folder: &Path, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iowhy"));
    let out = command.args(["slow", "--events", "-n", "5"]).args(args).arg(folder).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn all(folder: &Path) -> Vec<TaskEvent> {
    let mut source = trace::open(folder).unwrap().source;
    let (mut all, mut batch) = (Vec::new(), Batch::default());
    while source.fill(&mut batch).unwrap() {
        all.extend(batch.tasks.iter().filter(|e| !matches!(e.what, What::Text { .. })));
    }
    all
}

fn ns(v: &Json) -> u64 {
    v.as_u64().unwrap_or_else(|| panic!("a whole number, not {v}"))
}

/// Tasks of the ledger, each with the times in which it is a part of it.
fn members(o: &Json) -> Vec<(u64, u64, u64)> {
    let parts = o["parts"].as_array().unwrap().iter().filter(|p| p.get("request").is_none());
    let tasks = parts.filter_map(|p| {
        let from = ns(&p["from_ns"]);
        Some((p["tid"].as_u64()?, from, from + ns(&p["ns"])))
    });
    tasks.chain([(ns(&o["tid"]), ns(&o["from_ns"]), ns(&o["to_ns"]))]).collect()
}

#[test]
fn the_events_of_the_stretch_and_no_others() {
    let mut looked_at = 0;
    for name in RECORDINGS {
        let folder = folder(name);
        let said: Json = serde_json::from_slice(&slow(&folder, &["--json"])).unwrap();
        let recorded = all(&folder);
        for o in said["slowest"].as_array().unwrap() {
            let (from, to, tid) = (ns(&o["from_ns"]), ns(&o["to_ns"]), ns(&o["tid"]));
            let events = o["events"].as_array().unwrap_or_else(|| panic!("{name}: no events: {o}"));
            let members = members(o);
            let is_member =
                |tid: u64, t: u64| members.iter().any(|(who, a, b)| *who == tid && *a <= t && t <= *b);
            assert!(events.windows(2).all(|w| ns(&w[0]["time_ns"]) <= ns(&w[1]["time_ns"])), "{name}");
            for e in events {
                let t = ns(&e["time_ns"]);
                assert!((from..=to).contains(&t), "{name}: {e} is not within {from}..{to}");
                // What another task or an interrupt does is shown if it is a step of a request, wakes, or switches to one of
                // the ledger's tasks.
                let words = e["event"].as_str().unwrap();
                let step = words
                    .split(' ')
                    .next()
                    .is_some_and(|w| w.len() <= 2 && w.chars().all(char::is_uppercase));
                let hands_over =
                    ["wakes ", "runs ", "preempted by ", "LOST"].iter().any(|w| words.contains(w));
                assert!(step || hands_over || is_member(ns(&e["tid"]), t), "{name}: {e} is others'");
            }
            if o["events_left_out"] != 0 {
                continue;
            }
            // All that its own task did, by the witness's count.
            let own = |e: &&TaskEvent| {
                let hands = matches!(e.what, What::Wake(_) | What::Switch { .. });
                e.tid == Tid(tid as u32)
                    && (Nanos(from)..=Nanos(to)).contains(&e.time)
                    && !e.context.is_interrupt()
                    && !hands
            };
            let expected = recorded.iter().filter(own).count();
            let is_own = |e: &&Json| {
                let words = e["event"].as_str().unwrap();
                let kind = |w: &str| words.starts_with(w);
                let hands = kind("wakes")
                    || kind("an interrupt")
                    || kind("sleeps")
                    || kind("is preempted")
                    || kind("stops");
                let step = words
                    .split(' ')
                    .next()
                    .is_some_and(|w| w.len() <= 2 && w.chars().all(char::is_uppercase));
                ns(&e["tid"]) == tid && !hands && !step
            };
            assert_eq!(events.iter().filter(is_own).count(), expected, "{name}: {}", o["op"]);
            looked_at += 1;
        }
        let text = String::from_utf8(slow(&folder, &["--all"])).unwrap();
        let of_all: usize =
            said["slowest"].as_array().unwrap().iter().map(|o| o["events"].as_array().unwrap().len()).sum();
        let lines =
            text.lines().filter(|l| l.contains(" cpu ") && l.contains(" s ") && l.contains(" ms  ")).count();
        assert_eq!(lines, of_all, "{name}: the screen shows the same events");
    }
    assert!(looked_at >= 15, "{looked_at}");
}
