//! Who is told first, and what block events alone do not decide.

use explain::answer::{Answer, Kind};
use explain::{Explanation, Input};
use std::fmt::Write;

/// A thread's requests.
#[derive(Clone, Copy)]
struct Load {
    task: &'static str,
    tid: u32,
    /// `R`, `WS`.
    kind: &'static str,
    /// Each is sent so many microseconds after the one before.
    every: u64,
    /// Of every `turn` one takes `long` microseconds, the others `usual`.
    turn: u64,
    usual: u64,
    long: u64,
}

/// A request: of whom, of which kind, when it was sent, how long it took in microseconds.
type Sent = (&'static str, u32, &'static str, u64, u64);

/// Four seconds of all of them, as blkparse prints it.
fn recorded(loads: &[Load]) -> String {
    let mut all: Vec<Sent> = vec![];
    for (place, load) in loads.iter().enumerate() {
        for i in 0..4_000_000 / load.every {
            let took = if i % load.turn == load.turn - 1 { load.long } else { load.usual };
            all.push((load.task, load.tid, load.kind, i * load.every + place as u64, took));
        }
    }
    printed(&all)
}

/// Requests as blkparse prints them, each thread's in an area of its own.
fn printed(all: &[Sent]) -> String {
    let mut lines: Vec<(u64, String)> = vec![];
    for (i, (task, tid, kind, at, took)) in (0..).zip(all) {
        let sector = u64::from(tid + 1) * 10_000_000 + (i * 7919 % 10_000) * 800;
        for (step, after) in [("Q", 0), ("G", 1), ("I", 2), ("D", 3), ("C", *took)] {
            let (tid, who) = if step == "C" { (0, "0") } else { (*tid, *task) };
            let ns = (at + after) * 1000;
            let mut line = String::new();
            let _ = write!(
                line,
                "{}.{:09} {tid} {step} {kind} {sector} + 8 [{who}]",
                ns / 1_000_000_000,
                ns % 1_000_000_000,
            );
            lines.push((ns, line));
        }
    }
    lines.sort();
    let numbered = lines.iter().enumerate().map(|(n, (_, line))| format!("8,0 0 {n} {line}\n"));
    numbered.collect()
}

/// What is said of a recording with files beside it.
fn explained(trace: &str, beside: &[(&str, &str)]) -> Explanation {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, trace).unwrap();
    for (name, text) in beside {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Input::recording(&path).unwrap().explain().unwrap()
}

fn first(trace: &str) -> String {
    Answer::of(&explained(trace, &[])).victims.first().map_or("nobody".into(), |v| v.task.clone())
}

const READER: Load =
    Load { task: "java", tid: 100, kind: "R", every: 5_000, turn: 10, usual: 300, long: 12_000 };
const COPY: Load =
    Load { task: "rsync", tid: 200, kind: "R", every: 40_000, turn: 2, usual: 300, long: 38_000 };
const COMMITS: Load =
    Load { task: "jbd2/sda-8", tid: 300, kind: "WS", every: 20_000, turn: 4, usual: 500, long: 15_000 };

#[test]
fn who_waits_for_each_operation_comes_before_a_job_that_lost_more() {
    assert_eq!(first(&recorded(&[COPY])), "rsync");
    assert_eq!(first(&recorded(&[COPY, READER])), "java");
}

#[test]
fn where_only_blocks_were_recorded_commits_come_before_jobs_and_after_those_who_are_seen() {
    assert_eq!(first(&recorded(&[COPY, COMMITS])), "jbd2/sda-8");
    assert_eq!(first(&recorded(&[COPY, COMMITS, READER])), "java");
}

/// Forty in flight are waited for together: 160 s of them passed within four.
#[test]
fn who_keeps_many_requests_in_flight_waits_for_none_of_them() {
    let queue = Load { task: "fio", tid: 400, kind: "R", every: 1_000, turn: 2, usual: 40_000, long: 40_500 };
    assert_eq!(first(&recorded(&[queue])), "fio");
    assert_eq!(first(&recorded(&[queue, READER])), "java");
    // As many threads, each of which waits.
    let threads: Vec<Load> = (0..40)
        .map(|n| Load {
            task: "fio",
            tid: 400 + n,
            kind: "R",
            every: 41_000,
            turn: 2,
            usual: 40_000,
            long: 40_500,
        })
        .collect();
    assert_eq!(first(&recorded(&[threads, vec![READER]].concat())), "fio");
}

/// Two servers on a disk that serves one request after the other: one sends four at once, and the other waits behind them.
#[test]
fn who_costs_another_more_than_it_loses_to_that_one_comes_after_it() {
    let crossed = |busy: &'static str, other: &'static str| {
        let mut all: Vec<Sent> = vec![];
        for turn in (0..200).map(|n| n * 20_000) {
            for n in 0..4 {
                all.push((busy, 100, "R", turn + 10 * n, 1000 * (n + 1) - 10 * n));
            }
            all.push((other, 200, "R", turn + 100, 4900));
            // Once the other is first.
            all.push((other, 200, "R", turn + 10_000, 1000));
            all.push((busy, 100, "R", turn + 10_100, 1900));
            all.push((busy, 100, "R", turn + 15_000, 1000));
        }
        first(&printed(&all))
    };
    assert_eq!(crossed("postgres", "mysqld"), "mysqld");
    assert_eq!(crossed("mysqld", "postgres"), "postgres");
}

#[test]
fn quick_requests_do_not_prove_that_no_limit_above_them_holds_anybody() {
    let quick = recorded(&[Load { long: 310, ..READER }]);
    let kind = |beside: &[(&str, &str)]| Answer::of(&explained(&quick, beside)).kind;
    let limit = |dev: &str| {
        format!(
            r#"{{"before": {{"cgroups": {{"list": [{{"path": "/db", "id": 7, "settings": {{"io.max": "{dev} riops=100"}}}}]}}}}}}"#
        )
    };
    assert_eq!(kind(&[]), Kind::Healthy);
    assert_eq!(kind(&[("system.json", &limit("8:0"))]), Kind::Unknown);
    assert_eq!(kind(&[("system.json", &limit("8:16"))]), Kind::Healthy, "another device's");
}

/// Of three tasks five reads each: enough were recorded, but nobody's are enough to say that nobody waits.
#[test]
fn a_few_requests_of_each_task_prove_no_health() {
    let few = |tid: u32, task| Load { task, tid, every: 700_000, turn: 2, usual: 300, long: 310, ..READER };
    let kind = |loads: &[Load]| Answer::of(&explained(&recorded(loads), &[])).kind;
    assert_eq!(kind(&[few(100, "java"), few(101, "sh"), few(102, "vi")]), Kind::Unknown);
    let many = Load { every: 70_000, ..few(100, "java") };
    assert_eq!(kind(&[many, few(101, "sh"), few(102, "vi")]), Kind::Healthy);
}
