//! A fragment gives facts and what is missing, never a verdict.

use explain::answer::{Answer, Kind};
use explain::{Explanation, Input, Lack, Trust};
use std::fmt::Write;
use trace::Nanos;

/// What is said of blkparse's text.
fn explained(text: &str) -> Explanation {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, text).unwrap();
    Input::recording(&path).unwrap().explain().unwrap()
}

/// Reads of 4 KiB, one each millisecond, of which only these steps were recorded; `C` of every `nth` one.
fn reads(many: u64, steps: &str, nth: u64) -> String {
    let mut text = String::new();
    for i in 0..many {
        for (step, us) in [("Q", 0), ("G", 1), ("I", 2), ("D", 3), ("C", 300)] {
            if !steps.contains(step) || step == "C" && i % nth != 0 {
                continue;
            }
            let (tid, who) = if step == "C" { (0, "0") } else { (100, "java") };
            let ns = i * 1_000_000 + us * 1000;
            let time = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            let _ = writeln!(text, "8,0 0 {} {time} {tid} {step} R {} + 8 [{who}]", i * 5 + us, i * 800);
        }
    }
    text
}

fn finds_nothing(e: &Explanation) -> bool {
    e.verdicts.iter().all(|v| v.verdict != causes::Answer::Found)
}

#[test]
fn whole_reads_are_judged() {
    let e = explained(&reads(200, "QGIDC", 1));
    assert_eq!((e.lack.as_ref(), e.trust), (None, Trust::Good));
    assert!(!finds_nothing(&e));
}

#[test]
fn reads_that_never_end_are_not_in_flight() {
    let e = explained(&reads(2000, "QGIDC", 40));
    assert_eq!(e.lack, Some(Lack::Ends { begun: 2000, open: 1950 }));
    assert!(finds_nothing(&e) && e.trust == Trust::Unusable);
    let only_queued = explained(&reads(200, "Q", 1));
    assert_eq!(only_queued.lack, Some(Lack::Ends { begun: 200, open: 200 }));
    assert!(finds_nothing(&only_queued) && only_queued.trust == Trust::Unusable);
    let words = |e: &Explanation| e.lack.as_ref().unwrap().words(&|dev| dev.to_string());
    assert!(words(&e).contains("of 2,000 I/Os begun 1,950 (98 %) never complete"), "{}", words(&e));
    assert!(words(&only_queued).contains("none completed"), "{}", words(&only_queued));
    // As many as a queue holds, at the end of a recording, are in flight.
    let queue = reads(500, "QGIDC", 1) + &reads(32, "QGID", 1).replace(" 0.", " 1.");
    assert_eq!(explained(&queue).lack, None);
}

/// One read is issued and never completed, while others are, for longer than people wait. Any recording ends in the middle of some.
#[test]
fn a_read_that_is_out_for_longer_than_any_took_is_no_healthy_device() {
    let at = |line: &str| line.split_whitespace().nth(3).and_then(|t| t.parse::<f64>().ok());
    let sorted = |mut lines: Vec<&str>| {
        lines.sort_by(|a, b| at(a).partial_cmp(&at(b)).expect("times"));
        lines.join("\n") + "\n"
    };
    let of = |begins: &str| {
        let (all, one) = (reads(500, "QGIDC", 1), reads(1, "QGID", 1));
        let one = one.replace(" 0.000", begins).replace("R 0 +", "R 999000 +");
        explained(&sorted(all.lines().chain(one.lines()).collect()))
    };
    let e = of(" 0.010");
    let Some(Lack::End { open: 1, oldest, longest, .. }) = e.lack else { panic!("{:?}", e.lack) };
    assert!(oldest > Nanos(400_000_000) && longest < Nanos(1_000_000), "{oldest:?} {longest:?}");
    assert_ne!(Answer::of(&e).kind, Kind::Healthy);
    let words = e.lack.as_ref().unwrap().words(&|dev| dev.to_string());
    let begins = "1 I/O had not ended when the recording did, the oldest on 8,0 after 489 ms; what ended there took at most 300 us";
    assert!(words.starts_with(begins), "{words}");
    // Sent a moment before the end.
    let e = of(" 0.490");
    assert_eq!((e.lack.as_ref(), Answer::of(&e).kind), (None, Kind::Healthy));
}

/// One disk has a read that never ends; of another five reads of 50 ms are over, after 500 quick ones.
#[test]
fn what_does_not_end_on_one_disk_hides_nothing_on_another() {
    let at = |line: &str| line.split_whitespace().nth(3).and_then(|t| t.parse::<f64>().ok());
    let mut lines: Vec<String> =
        reads(500, "QGIDC", 1).lines().map(|line| line.replacen("8,0", "8,16", 1)).collect();
    for i in 0..5 {
        for (step, after) in [("Q", 0.0), ("G", 0.000_001), ("I", 0.000_002), ("D", 0.000_003), ("C", 0.05)] {
            let time = 0.6 + 0.06 * i as f64 + after;
            let who = if step == "C" { "0" } else { "java" };
            lines.push(format!("8,16 0 9{i} {time:.9} 100 {step} R {} + 8 [{who}]", 900_000 + 800 * i));
        }
    }
    let quick = reads(500, "QGIDC", 1)
        + &reads(1, "QGID", 1).replace(" 0.000", " 0.010").replace("R 0 +", "R 999000 +");
    lines.extend(quick.lines().map(str::to_string));
    lines.sort_by(|a, b| at(a).partial_cmp(&at(b)).expect("times"));
    let e = explained(&(lines.join("\n") + "\n"));
    assert!(matches!(e.lack, Some(Lack::End { open: 1, .. })), "{:?}", e.lack);
    let answer = Answer::of(&e);
    assert_eq!((answer.kind, answer.cause), (Kind::Cause, Some("device-stall")));
}

#[test]
fn issues_and_completions_alone_give_the_time_in_the_device() {
    let e = explained(&reads(400, "DC", 1));
    let Some(Lack::Beginnings(devices)) = &e.lack else { panic!("{:?}", e.lack) };
    assert_eq!((devices[0].count, devices[0].took[2].0), (400, 297_000));
    assert!(finds_nothing(&e));
    assert!(e.notes()[0].contains("400 reads on sda took 297 us (p50)"), "{:?}", e.notes());
}

#[test]
fn eleven_lines_of_a_mail_are_no_recording() {
    for many in [1, 2, 9] {
        let e = explained(&reads(many, "QGIDC", 1));
        assert_eq!(e.lack, Some(Lack::Many { completed: many }));
        assert!(finds_nothing(&e));
    }
    assert_eq!(explained(&reads(10, "QGIDC", 1)).lack, None);
}

/// Of lines in a letter it is not known what its author left out: what is in them may be told, what is not in them may not.
#[test]
fn lines_in_a_letter_do_not_show_that_nothing_was_slow() {
    let letter = "and in the middle of the night it stood still for ten minutes, which is not shown below\n"
        .repeat(150);
    let whole = explained(&reads(20, "QGIDC", 1));
    let healthy = |e: &Explanation| {
        e.verdicts.iter().any(|v| v.cause == "healthy" && v.verdict == causes::Answer::Found)
    };
    assert!(whole.lack.is_none() && healthy(&whole));
    let excerpt = explained(&(letter.clone() + &reads(20, "QGIDC", 1)));
    assert_eq!(excerpt.lack, Some(Lack::Whole));
    assert!(!healthy(&excerpt) && Answer::of(&excerpt).kind == Kind::Unknown);
    // A letter around a recording takes nothing from it.
    assert_eq!(explained(&(letter + &reads(500, "QGIDC", 1))).lack, None);
}

/// What a recorder wrote itself is whole: one read that is long by itself is worth a verdict, a few short ones are not.
#[test]
fn of_a_whole_recording_one_long_read_is_enough() {
    let read = |at: u64, ms: u64| {
        let line = |us: u64, what: &str| {
            format!(
                "fio-683 [001] {}.{:06}: {what} 8,0 R {} + 8 [fio]\n",
                us / 1_000_000,
                us % 1_000_000,
                at * 800
            )
        };
        let (begin, end) = (at * 1_000_000, at * 1_000_000 + ms * 1000);
        line(begin, "block_bio_queue:")
            + &line(begin + 1, "block_getrq:")
            + &line(begin + 2, "block_rq_issue:").replace(" R ", " R 4096 () ")
            + &line(end, "block_rq_complete:").replace(" R ", " R () ").replace("8 [fio]", "8 [0]")
    };
    let lack = |last: u64| explained(&(read(1, 1) + &read(2, 1) + &read(3, last))).lack;
    assert_eq!(lack(1), Some(Lack::Many { completed: 3 }));
    assert_eq!(lack(200), None);
}

/// Two reads in a mail are a fragment; two in a second in which the recorder missed nothing are all that was done.
#[test]
fn a_disk_that_was_watched_and_did_nothing_was_not_slow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    let watched = |text: &str, ms: u64| {
        std::fs::write(&path, text).unwrap();
        let capture =
            format!(r#"{{"start": {{"mono_ns": 1}}, "end": {{"mono_ns": {}}}}}"#, ms * 1_000_000 + 1);
        std::fs::write(folder.path().join("capture.json"), capture).unwrap();
        Input::recording(&path).unwrap().explain().unwrap()
    };
    let e = watched(&reads(2, "QGIDC", 1), 1500);
    assert_eq!(e.lack, Some(Lack::Work { completed: 2, watched: Nanos(1_500_000_000) }));
    assert_eq!(Answer::of(&e).kind, Kind::Healthy);
    let few = Some(Lack::Many { completed: 2 });
    assert_eq!(watched(&reads(2, "QGIDC", 1), 900).lack, few, "for too short a time");
    let switch = "fio-683 [001] 0.000001: sched_switch: prev_comm=fio prev_pid=683 prev_prio=120 prev_state=S ==> next_comm=dd next_pid=2 next_prio=120\n";
    assert_eq!(
        watched(switch, 900).lack,
        Some(Lack::Many { completed: 0 }),
        "it was recorded, and there was none"
    );
    assert_eq!(watched(switch, 1500).lack, Some(Lack::Work { completed: 0, watched: Nanos(1_500_000_000) }));
    let open = watched(&(reads(2, "QGIDC", 1) + &reads(1, "QGID", 1).replace(" 0.", " 1.")), 1500);
    assert_eq!(open.lack, few, "one is still in flight");
}

#[test]
fn a_trace_without_io_has_nothing_to_judge() {
    let switch = "fio-683 [001] 1.000001: sched_switch: prev_comm=fio prev_pid=683 prev_prio=120 prev_state=S ==> next_comm=dd next_pid=2 next_prio=120\n";
    let e = explained(switch);
    assert_eq!((e.lack.as_ref(), e.trust), (Some(&Lack::AnyIo), Trust::Unusable));
    assert!(
        finds_nothing(&e) && e.notes()[0].contains("no block I/O and no system calls"),
        "{:?}",
        e.notes()
    );
}

/// A processor's file is missing behind the last that is there: tasks without a name tell it.
#[test]
fn what_else_was_there_is_not_known_where_a_processors_file_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let explained = |name: &str| {
        let copy = folder.path().join(name);
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(fixtures.join(name)).unwrap().flatten() {
            if !entry.file_name().to_string_lossy().contains("blktrace.1") {
                std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        Input::recording(&copy).unwrap().explain().unwrap()
    };
    // That a device is saturated holds the more with what is missing.
    for (name, kind) in [
        ("randread-baseline", Kind::Cause),
        ("nullblk-randrw", Kind::Unknown),
        ("fsync-heavy-j4", Kind::Cause),
    ] {
        let e = explained(name);
        assert_eq!((e.lack.as_ref(), e.trust), (Some(&Lack::Others), Trust::Degraded), "{name}");
        assert_eq!(Answer::of(&e).kind, kind, "{name}");
        let sure = |v: &causes::Verdict| v.confidence == Some(causes::Confidence::High);
        assert!(!e.verdicts.iter().any(sure), "{name}");
    }
}

/// Two requests are sent and none is completed: their ends may be missing, or the device answers no more, which samples show.
#[test]
fn a_device_that_had_requests_all_the_time_and_completes_none_hangs() {
    let of = |reads_completed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let sample = |second: u64, reads: u64| {
            let disk = [reads, 0, 8 * reads, 9, 0, 0, 0, 0, 2, 9, 9];
            format!(
                "{{\"mono_ns\": {}, \"blocked\": 1, \"disks\": {{\"sda\": {disk:?}}}}}\n",
                second * 1_000_000_000
            )
        };
        put("trace.txt", &reads(2, "QGID", 1));
        put("samples.jsonl", &(sample(0, 7) + &sample(1, 7) + &sample(2, 7 + reads_completed)));
        let disks = r#"{"disks": {"sda": {"dev": "8:0"}}}"#;
        put("system.json", &format!(r#"{{"schema": "iowhy.system/1", "before": {disks}}}"#));
        Input::recording(&folder.path().join("trace.txt")).unwrap().explain().unwrap()
    };
    let hangs = of(0);
    assert_eq!(hangs.lack, Some(Lack::Answers { dev: trace::DevId::new(8, 0) }));
    assert!(finds_nothing(&hangs));
    let words = hangs.lack.as_ref().unwrap().words(&|_| "sda".into());
    assert!(
        words.starts_with("sda had requests in flight all the time and completed none of them"),
        "{words}"
    );
    assert_eq!(Answer::of(&hangs).kind, Kind::Unknown);
    assert!(matches!(of(1).lack, Some(Lack::Ends { .. })));
}
