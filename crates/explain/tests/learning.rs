//! What requests take alone is known of the first ones, too, where only later ones show it.

use explain::Input;
use std::fmt::Write;
use trace::Nanos;

/// Reads of 0.6 ms: 300 times two side by side, then a hundred alone.
fn side_by_side_then_alone() -> String {
    let mut events = Vec::new();
    let mut read = |sector: u64, at: u64| {
        for (step, us, tid) in [("Q", 0, 100), ("G", 1, 100), ("I", 2, 100), ("D", 3, 100), ("C", 603, 0)] {
            let who = if tid == 0 { "0" } else { "java" };
            events.push((at + us, format!("{tid} {step} R {sector} + 8 [{who}]")));
        }
    };
    for i in 0..300 {
        read(i * 8000, i * 2000);
        read(i * 8000 + 4_000_000, i * 2000 + 10);
    }
    (300..400).for_each(|i| read(i * 8000, i * 2000));
    events.sort_by_key(|(us, _)| *us);
    let mut text = String::new();
    for (number, (us, event)) in events.iter().enumerate() {
        let _ = writeln!(text, "8,0 0 {number} {}.{:06}000 {event}", us / 1_000_000, us % 1_000_000);
    }
    text
}

#[test]
fn the_first_requests_are_split_by_what_later_ones_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, side_by_side_then_alone()).unwrap();
    let group = |e: &explain::Explanation| e.focus.groups[0].clone();
    let whole = group(&Input::recording(&path).unwrap().explain().unwrap());
    assert_eq!((whole.operations, whole.unknown), (700, Nanos(0)));
    assert!(whole.lost < Nanos(100 * 700 * 1000), "served side by side, none waits: {:?}", whole.lost);
    // Of the beginning alone nothing shows what one takes.
    let window = events::Window::parse("0:0.5").ok();
    assert!(window.is_some());
    let begun = group(&Input::recording(&path).unwrap().window(window).explain().unwrap());
    assert!(begun.is_mostly_unknown(), "{begun:?}");
}

/// A request of 4 KiB as ftrace's text has it: `rw` at `sector`, queued by python3 `pid` at `from` us and completed at `to`.
fn request(rw: &str, pid: u32, sector: u64, from: u64, to: u64) -> [(u64, String); 4] {
    let line = |us: u64, task: &str, what: &str, of: &str| {
        let at = format!("{task} [000] {}.{:06}", us / 1_000_000, us % 1_000_000);
        (us, format!("{at}: {what} 8,0 {rw} {of}\n"))
    };
    let (own, of) = (format!("python3-{pid}"), format!("{sector} + 8 [python3]"));
    [
        line(from, &own, "block_bio_queue:", &of),
        line(from + 1, &own, "block_getrq:", &of),
        line(from + 2, &own, "block_rq_issue:", &format!("4096 () {of}")),
        line(to, "<idle>-0", "block_rq_complete:", &format!("() {sector} + 8 [0]")),
    ]
}

/// Two processes of one script, one after the other in the device: each round a write of `of_8` us by process 8, and a read of 500 us by 7 that
/// comes right behind it, or in turn before it; then one of each alone, so that it is known what they take.
fn two_processes(of_8: u64, turns: bool) -> String {
    let mut all = Vec::new();
    for round in 0..200_u64 {
        let at = 1_000_000 + round * 20_000;
        let (write, read) = match turns && round % 2 == 0 {
            true => ((at + 10, at + 500 + of_8), (at, at + 500)),
            false => ((at, at + of_8), (at + 10, at + of_8 + 500)),
        };
        all.extend(request("WS", 8, 1 << 20 | round << 11, write.0, write.1));
        all.extend(request("R", 7, round * 8000, read.0, read.1));
        all.extend(request("WS", 8, 1 << 24 | round << 11, at + 8600, at + 8600 + of_8));
        all.extend(request("R", 7, round * 8000 + 4000, at + 17_000, at + 17_500));
    }
    all.sort();
    all.into_iter().map(|(_, line)| line).collect()
}

/// Who the reader is and behind whom it is, of such a recording, where it is known which `processes` there were, as in JSON, with their threads.
fn told(text: &str, processes: &str) -> (String, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trace.txt"), text).unwrap();
    let system =
        format!(r#"{{"schema": "iowhy.system/1", "before": {{"processes": {{"list": {{{processes}}}}}}}}}"#);
    std::fs::write(folder.path().join("system.json"), system).unwrap();
    let e = Input::recording(&folder.path().join("trace.txt")).unwrap().explain().unwrap();
    let answer = explain::answer::Answer::of(&e);
    let culprit = answer.culprit.and_then(|c| c.name.map(String::from));
    (answer.victims[0].task.clone(), culprit)
}

#[test]
fn a_process_that_is_in_the_way_of_one_of_its_name_is_told_apart() {
    let way = two_processes(8000, false);
    let two = r#""7": {}, "8": {}"#;
    assert_eq!(told(&way, two), ("python3".into(), Some("python3:8".into())));
    assert_eq!(told(&way, "").1, None, "it is not known which thread is which");
    assert_eq!(told(&two_processes(500, true), two).1, None, "they are in each other's way alike");
    let threads = r#""7": {"threads": [8]}"#;
    assert_eq!(told(&way, threads), ("python3".into(), Some("python3:8".into())));
    assert_eq!(told(&two_processes(500, true), threads).1, None, "they are in each other's way alike");
}

/// Ten reads behind 100 writes of 1 MiB that were in the device when recording began; later a kernel thread sends one like these, and reads
/// are alone.
fn begun_in_a_flood() -> String {
    let mut all: Vec<(u64, String)> = (0..100_u64)
        .map(|i| {
            let at = 1_000_000 + i * 10_000;
            let time = format!("{}.{:06}", at / 1_000_000, at % 1_000_000);
            let what = format!("8,0 W () {} + 2048 [0]", 1_000_000 + i * 2048);
            (at, format!("<idle>-0 [000] {time}: block_rq_complete: {what}\n"))
        })
        .collect();
    (0..10).for_each(|i| all.extend(request("R", 7, i * 8000, 1_000_000 + i * 1000, 2_000_000 + i * 1000)));
    (0..20).for_each(|i| {
        all.extend(request("R", 7, 400_000 + i * 8000, 2_100_000 + i * 2000, 2_100_400 + i * 2000))
    });
    let sent = request("W", 9, 1 << 24, 2_200_000, 2_201_000);
    all.extend(sent.map(|(at, line)| (at, line.replace("python3", "kworker/u4:2"))));
    all.sort();
    all.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn reads_behind_a_flood_that_had_begun_before_are_behind_writeback() {
    let cause = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.txt");
        std::fs::write(&path, text).unwrap();
        let e = Input::recording(&path).unwrap().explain().unwrap();
        explain::answer::Answer::of(&e).cause.map(String::from)
    };
    let text = begun_in_a_flood();
    assert_eq!(cause(&text).as_deref(), Some("writeback-flood"));
    let lines = text.lines().filter(|line| !line.contains(" W ") || line.contains("kworker"));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    assert_ne!(cause(&without).as_deref(), Some("writeback-flood"));
}
