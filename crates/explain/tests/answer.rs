//! Who is told first, and what block events alone do not decide.

use causes::{Action, Acts, Remedy};
use explain::answer::{in_the_way, without_somebody, Absent, Answer, Kind, Predicted};
use explain::{Explanation, Input};
use std::fmt::Write;
use trace::Nanos;
use waits::{Culprit, CulpritKind};

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
    printed_on(&[("8,0", all)])
}

/// The same on several devices.
fn printed_on(devices: &[(&str, &[Sent])]) -> String {
    let mut lines: Vec<(u64, &str, String)> = vec![];
    let sent = devices.iter().flat_map(|(dev, all)| (0..).zip(*all).map(move |of| (dev, of)));
    for (dev, (i, (task, tid, kind, at, took))) in sent {
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
            lines.push((ns, dev, line));
        }
    }
    lines.sort();
    let numbered = lines.iter().enumerate().map(|(n, (_, dev, line))| format!("{dev} 0 {n} {line}\n"));
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

/// Of what a limit holds back hardly anything is seen: 135 writes a second that are not held, 15 that are, and a journal that lost far more.
#[test]
fn who_is_held_back_by_a_limit_comes_before_who_lost_less_than_that() {
    let sends = |task, tid, every| Load { task, tid, kind: "WS", every, turn: 2, usual: 150, long: 160 };
    let loads = [sends("redis-server", 500, 7_407), sends("kworker/0:2", 501, 66_667), COMMITS];
    let said = |limit: u64| {
        let set = format!(r#"{{"blkio.throttle.write_iops_device": "8:0 {limit}"}}"#);
        let text =
            format!(r#"{{"before": {{"cgroups": {{"list": [{{"path": "/db", "settings": {set}}}]}}}}}}"#);
        let e = explained(&recorded(&loads), &[("system.json", &text)]);
        let a = Answer::of(&e);
        let lifts = a.remedies(&e).iter().any(|t| t.remedy.action.changes() && t.tested.is_some());
        (a.victims[0].task.clone(), a.cause, lifts)
    };
    assert_eq!(said(150), ("redis-server".into(), Some("cgroup-limit"), true));
    let (victim, cause, _) = said(300);
    assert_eq!(victim, "jbd2/sda-8");
    assert_ne!(cause, Some("cgroup-limit"));
}

/// Forty in flight are waited for together: 160 s of them passed within four.
#[test]
fn who_keeps_many_requests_in_flight_waits_for_none_of_them() {
    let queue = Load { task: "fio", tid: 400, kind: "R", every: 1_000, turn: 2, usual: 40_000, long: 40_500 };
    assert_eq!(first(&recorded(&[queue])), "fio");
    assert_eq!(first(&recorded(&[queue, READER])), "java");
    // As many threads, each of which waits: for one another, and who shares their disk waits for them.
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
    assert_eq!(first(&recorded(&threads)), "fio");
    let beside_them =
        Load { task: "vlc", tid: 500, kind: "R", every: 125_000, turn: 2, usual: 30_000, long: 31_000 };
    for other in [READER, beside_them] {
        assert_eq!(first(&recorded(&[threads.clone(), vec![other]].concat())), other.task);
    }
    let backends: Vec<Load> = threads.iter().map(|thread| Load { task: "postgres", ..*thread }).collect();
    let beside_clients = recorded(&[backends, vec![READER]].concat());
    assert_eq!(first(&beside_clients), "postgres", "clients wait for one another");
}

/// Whoever waits for somebody may have that one paused, unless clients wait for it.
#[test]
fn a_server_is_not_paused_for_somebody_else() {
    let pauses = |task| {
        let deep = Load { task, tid: 400, kind: "R", every: 1_000, turn: 2, usual: 12_000, long: 12_100 };
        let e = explained(&recorded(&[deep, READER]), &[]);
        let victim = Answer::of(&e).victims.iter().position(|v| v.task == "java");
        let mut a = Answer::of(&e);
        a.victims.rotate_left(victim.expect("a reader"));
        a.cause = Some("background-task");
        let all = a.remedies(&e);
        assert!(!all.is_empty(), "{:?}", a.victims);
        all.iter().any(|t| t.remedy.command().starts_with("kill -STOP"))
    };
    assert!(pauses("backup") && !pauses("postgres"));
}

/// Whose requests lie behind a visible cause may be paused, but first comes what helps against that cause, unless it is a known job.
#[test]
fn who_is_no_job_is_paused_last() {
    let first_pauses = |task| {
        let deep = Load { task, tid: 400, kind: "R", every: 1_000, turn: 2, usual: 12_000, long: 12_100 };
        let e = explained(&recorded(&[deep, READER]), &[]);
        let mut a = Answer::of(&e);
        let victim = a.victims.iter().position(|v| v.task == "java").expect("a reader");
        a.victims.rotate_left(victim);
        (a.cause, a.root) = (Some("device-saturated"), Some("background-task"));
        let pauses = |t: &explain::answer::Try| t.remedy.command().starts_with("kill -STOP");
        let all = a.remedies(&e);
        all.first().is_some_and(pauses)
    };
    assert_eq!((first_pauses("dd"), first_pauses("lookupd")), (true, false));
}

/// A culprit that still runs is paused first; one that had ended, after what helps at once.
#[test]
fn whose_next_run_would_be_paused_is_not_first() {
    let deep =
        Load { task: "backup", tid: 400, kind: "R", every: 1_000, turn: 2, usual: 12_000, long: 12_100 };
    let mut e = explained(&recorded(&[deep, READER]), &[]);
    let mut a = Answer::of(&e);
    let victim = a.victims.iter().position(|v| v.task == "java").expect("a reader");
    a.victims.rotate_left(victim);
    a.cause = Some("background-task");
    a.culprit =
        Some(Culprit { name: Some("backup".into()), kind: CulpritKind::Task, dirtied_by: None, io: None });
    let found = e.verdicts.iter().position(|v| v.cause == "background-task").expect("is asked");
    let pause =
        e.verdicts[found].remedies.iter().find(|r| r.command().starts_with("kill")).expect("a pause").clone();
    let mut first_pauses = |had_ended| {
        let action = Action::Pause { who: "1".into(), had_ended };
        let set = Remedy {
            action: Action::set("sda", "queue/nr_requests", 64),
            acts: Acts::Device,
            ..pause.clone()
        };
        e.verdicts[found].remedies = vec![set, Remedy { action, ..pause.clone() }];
        a.remedies(&e)[0].remedy.command() == "kill -STOP 1"
    };
    assert_eq!((first_pauses(false), first_pauses(true)), (true, false));
}

/// A hundred and twenty that each lose as much.
#[test]
fn of_many_alike_one_is_told() {
    let of = |n: u32| Load {
        task: format!("app{n:03}").leak(),
        tid: 400 + n,
        kind: "R",
        every: 119_000,
        turn: 2,
        usual: 109_000,
        long: 110_000,
    };
    let e = explained(&recorded(&(0..120).map(of).collect::<Vec<_>>()), &[]);
    let a = Answer::of(&e);
    assert!(a.kind != Kind::Healthy && a.victims[0].task.starts_with("app"), "{:?}", a.kind);
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

/// When the device is done with each of so many reads that it serves one after the other, in microseconds: most of them take 1.2 ms,
/// the others less, in another order after each `begin`.
fn in_turn(begin: u64, reads: u64) -> impl Iterator<Item = u64> {
    const TAKES: [u64; 7] = [600, 1200, 700, 1200, 800, 1200, 1200];
    (0..reads).scan(0, move |done, n| {
        *done += TAKES[(begin / 1000 + n).pow(2) as usize * 7919 % 10_007 % TAKES.len()];
        Some(*done)
    })
}

/// A task's reads are slow on both disks. On sda they lose more, to discards and to pauses; on sdb less, but nearly all to one cause.
#[test]
fn causes_on_one_disk_are_not_weighed_against_those_on_another() {
    let (mut sda, mut sdb): (Vec<Sent>, Vec<Sent>) = Default::default();
    for turn in (0..40).map(|n| n * 100_000) {
        for at in (0..10).map(|n| turn + n * 4000) {
            sda.push(("java", 100, "R", at, 300));
            sdb.push(("java", 100, "R", at, 300));
        }
        let at = turn + 40_000;
        sda.push(("fstrim", 200, "D", at, 25_000));
        sda.push(("java", 100, "R", at + 10, 25_300));
        sda.push(("java", 100, "R", at + 30_000, 20_300));
        sdb.extend(in_turn(turn, 35).map(|took| ("rsync", 300, "R", at, took)));
        sdb.push(("java", 100, "R", at + 10, 35_300));
    }
    let e = explained(&printed_on(&[("8,0", &sda), ("8,16", &sdb)]), &[]);
    let victims = Answer::of(&e).victims;
    let its: Vec<_> = victims.iter().filter(|v| v.task == "java").collect();
    let [first, second] = its[..] else { panic!("{its:?}") };
    assert_eq!([first, second].map(|v| e.name(e.focus.groups[v.group].dev)), ["sda", "sdb"]);
    assert!(first.lost > second.lost);
    assert!(first.lost_to("discard-stall").0 > 0);
    assert!(first.lost_to("discard-stall") < second.lost_to("background-task"));
}

/// dd has a read in the device whenever java has every other one: java's takes as long as without it, or 1 ms longer.
#[test]
fn who_was_only_in_the_device_was_in_nobodys_way() {
    let costs = |beside: u64| {
        let mut all: Vec<Sent> = vec![];
        for turn in (0..200).map(|n| n * 10_000) {
            all.push(("java", 100, "R", turn, 500));
            all.push(("dd", 200, "R", turn + 4800, 1000));
            all.push(("java", 100, "R", turn + 5000, beside));
        }
        in_the_way(&explained(&printed(&all), &[])).into_iter().find(|(who, _)| who == "dd")
    };
    assert_eq!(costs(500), None);
    let (_, cost) = costs(1500).expect("java waited");
    assert!(cost > Nanos(100_000_000), "{cost:?}");
}

/// Of 17 reads 16 are in line behind each other and behind a write of dd's, and one needs no time in the device. If dd were gone they
/// still wait for as many of their own as there are at a time.
#[test]
fn without_somebody_a_read_waits_for_its_own_queue() {
    let (every, written) = (37_000, 20_000);
    let mut all: Vec<Sent> = vec![];
    for turn in (0..110).map(|n| n * every) {
        all.push(("dd", 200, "W", turn, written));
        all.extend(in_turn(turn, 16).map(|took| ("java", 100, "R", turn + 10, written + took - 10)));
        all.push(("java", 100, "R", turn + every - 500, 3));
    }
    let e = explained(&printed(&all), &[]);
    let told = without_somebody(&e, &Absent::Task("dd".into()));
    let [(group, without)] = &told[..] else { panic!("{told:?}") };
    let then = without.then.expect("nothing else decides");
    let at_once = e.focus.groups[*group].all.time.total.0 as f64 / e.facts.duration().0 as f64;
    let least = 1.2e6 * at_once;
    let is_about = |told: Predicted, ns: f64| (told.value.0 as f64 - ns).abs() < 0.01 * ns;
    assert!(is_about(then.p50, least), "{then:?}, {at_once} at a time");
    assert!(is_about(then.mean, least * 16.0 / 17.0), "{then:?}, {at_once} at a time");
}
