//! Two recordings side by side: of what only one of them has nothing is compared.

use explain::compare::{Comparison, First, RunOf};
use explain::{Explanation, Input};
use std::fmt::Write;

/// 200 reads of 4 KiB, one each millisecond, of which these steps were recorded.
fn explained(steps: &str) -> Explanation {
    let mut text = String::new();
    for i in 0..200_u64 {
        for (step, us) in [("Q", 0), ("G", 1), ("I", 2), ("D", 3), ("C", 300)] {
            if steps.contains(step) {
                let (tid, who) = if step == "C" { (0, "0") } else { (100, "java") };
                let time = format!("0.{:09}", i * 1_000_000 + us * 1000);
                let _ = writeln!(text, "8,0 0 {} {time} {tid} {step} R {} + 8 [{who}]", i * 5 + us, i * 800);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, text).unwrap();
    Input::recording(&path).unwrap().explain().unwrap()
}

/// The numbers of reads that are compared.
fn numbers(before: &str, after: &str) -> Vec<String> {
    let names = ["before".into(), "after".into()];
    let compared = Comparison::of_recordings(names, &explained(before), &explained(after));
    let reads = compared.rows.iter().find(|row| row.op == "read").expect("both have reads");
    reads.metrics.iter().map(|metric| metric.name.clone()).collect()
}

/// Without a scheduler there is no time in one: that is not a time of 0, nor an improvement.
#[test]
fn a_step_that_one_side_alone_has_is_not_compared() {
    let has = |numbers: &[String], phase: &str| numbers.iter().any(|name| name.starts_with(phase));
    let both = numbers("QGIDC", "QGIDC");
    assert!(has(&both, "p99") && has(&both, "i2d.p99") && has(&both, "d2c.p99"), "{both:?}");
    for (before, after) in [("QGIDC", "QGDC"), ("QGDC", "QGIDC")] {
        let numbers = numbers(before, after);
        assert!(has(&numbers, "p99") && has(&numbers, "d2c.p99") && !has(&numbers, "i2d"), "{numbers:?}");
    }
}

/// Each kind weighs what its own slowest took, and is compared with its own.
#[test]
fn kinds_come_in_the_order_of_what_their_slowest_took() {
    let explained = |write_us: u64| {
        let mut text = String::new();
        for i in 0..400_u64 {
            let (kind, took) = if i % 2 == 0 { ("R", 300) } else { ("WS", write_us) };
            for (n, (step, us)) in
                [("Q", 0), ("G", 1), ("I", 2), ("D", 3), ("C", took)].into_iter().enumerate()
            {
                let (tid, who) = if step == "C" { (0, "0") } else { (100, "java") };
                let time = format!("0.{:09}", i * 2_000_000 + us * 1000);
                let sector = i * 800;
                let _ = writeln!(
                    text,
                    "8,0 0 {} {time} {tid} {step} {kind} {sector} + 8 [{who}]",
                    i * 5 + n as u64
                );
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.txt");
        std::fs::write(&path, text).unwrap();
        Input::recording(&path).unwrap().explain().unwrap()
    };
    for (write_us, order) in [(900, ["synchronous writes", "reads"]), (150, ["reads", "synchronous writes"])]
    {
        let (before, after) = (explained(write_us), explained(write_us));
        let c = Comparison::of_recordings(["before".into(), "after".into()], &before, &after);
        let whats: Vec<&str> = c.rows.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(whats.len(), 2, "{whats:?}");
        assert!(whats.iter().zip(order).all(|(what, of)| what.contains(of)), "{whats:?}");
        let [first, second] = [0, 1].map(|at| c.rows[at].weight);
        assert!(first > 1.5 * second, "{first} {second}");
    }
}

/// What fio says it took is what its system calls took, where these were recorded, and not what the bios below them did.
#[test]
fn a_run_of_fio_is_compared_with_operations_in_its_own_order() {
    let side = |of: &str| {
        format!(
            "  {of}: IOPS=512, BW=2048KiB/s (2097kB/s)(4096KiB/2001msec)\n    clat (usec): min=3, max=71000, avg=40.00, stdev=14.73\n"
        )
    };
    let syncs =
        "  fsync/fdatasync/sync_file_range:\n    sync (usec): min=66, max=5138, avg=900.76, stdev=241.57\n";
    let text = format!("j: (groupid=0, jobs=1): err= 0: pid=1\n{}{}{syncs}", side("write"), side("read"));
    let output = tooltext::ToolOutput::read("fio.txt", text.as_bytes());
    let compared = |e: &Explanation| {
        Comparison::of_run_and_recording(RunOf { output: &output, run: 0 }, e, None, "it".into(), First::Run)
    };
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/append-stable-page");
    let c = compared(&Input::recording(&fixture).unwrap().explain().unwrap());
    let whats: Vec<&str> = c.rows.iter().map(|row| row.what.as_str()).collect();
    assert!(!whats.is_empty() && whats.iter().all(|what| !what.contains("bios of")), "{whats:?}");
    assert!(!c.notes.iter().any(|note| note.contains("the levels differ")), "{:?}", c.notes);
    // The text's first one weighs most.
    let ops: Vec<&str> = c.rows.iter().map(|row| row.op.as_str()).collect();
    assert_eq!(ops, ["write", "read", "sync"]);
    assert!(c.rows.windows(2).all(|two| two[0].weight > two[1].weight), "{whats:?}");
    // Of blocks alone there are only bios, and that is said.
    let c = compared(&explained("QGIDC"));
    assert!(
        c.rows[0].what.contains("bios of reads") && c.notes[0].contains("the levels differ"),
        "{:?}",
        c.notes
    );
}

/// Of quick operations the slowest may take a little of the time of all slowest, and nobody waits for them: opens are 4 % of that here.
#[test]
fn a_kind_that_hardly_anybody_waits_for_is_not_judged_unless_its_slowest_take_much() {
    let of_itself = |name: &str| {
        let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
        let explained = || Input::recording(&fixture).unwrap().in_order().explain().unwrap();
        Comparison::of_recordings(["a".into(), "b".into()], &explained(), &explained())
    };
    let counts = |c: &Comparison, op: &str| c.rows.iter().find(|row| row.op == op).map(|row| row.counts);
    let c = of_itself("append-stable-page");
    assert_eq!(
        ["fdatasync", "write", "open"].map(|op| counts(&c, op)),
        [Some(true), Some(true), Some(false)]
    );
    // Writes are 12 % of the time of all slowest, and less than 2 % of all time.
    let c = of_itself("fsync-journal-cpu");
    assert_eq!(["fsync", "write", "close"].map(|op| counts(&c, op)), [Some(true), Some(true), Some(false)]);
}
