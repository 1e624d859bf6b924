//! Real recordings of known causes: the numbers that verdicts must give. Set `CAPTURES` to the folder that holds them.

use causes::{Answer, Case, Confidence, Verdict};
use evidence::System;
use stats::{Analysis, Flow, Focus};
use std::path::PathBuf;
use trace::{Batch, DevId};

/// What all causes say of a recording; `None` (and a word on the terminal) where it is not there.
fn verdicts(name: &str) -> Option<Vec<Verdict>> {
    let Some(folder) = std::env::var_os("CAPTURES").map(|c| PathBuf::from(c).join(name)) else {
        eprintln!("SKIPPED: set CAPTURES to a folder of captures to have {name} judged");
        return None;
    };
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    let mut recording = trace::open(&folder).expect("a recording");
    let (mut flow, mut analysis, mut batch) = (Flow::default(), Analysis::default(), Batch::default());
    while recording.source.fill(&mut batch).expect("readable") {
        flow.feed(&batch);
        analysis.feed(&batch);
    }
    let (facts, quality) = (analysis.finish(flow), recording.source.quality());
    let (focus, system) = (Focus::of(&facts), System::read(&folder));
    let called = |dev: DevId| {
        let from_file = recording.names.iter().find(|(d, _)| *d == dev).map(|(_, n)| n.as_str());
        from_file.or(system.device_name(dev)).map_or(dev.to_string(), str::to_string)
    };
    let verdicts = causes::judge(&mut Case::new(&facts, &focus, &system, &quality, &called));
    let sum: f64 = verdicts.iter().map(|v| v.share).sum();
    assert!(sum <= 1.0 + 1e-9, "{name}: {sum}");
    Some(verdicts)
}

fn of<'a>(verdicts: &'a [Verdict], cause: &str) -> &'a Verdict {
    verdicts.iter().find(|v| v.cause == cause).expect("judged")
}

/// The only causes found, in order.
fn assert_found(verdicts: &[Verdict], causes: &[&str]) {
    let found: Vec<_> = verdicts.iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause).collect();
    assert_eq!(found, causes, "{verdicts:#?}");
}

fn says(lines: &[causes::Proof], what: &str) -> bool {
    lines.iter().any(|l| l.sentence().contains(what))
}

#[test]
fn a_busy_disk_alone() {
    let Some(v) = verdicts("randread-baseline") else { return };
    assert_found(&v, &["device-saturated"]);
    let saturated = of(&v, "device-saturated");
    assert!(saturated.share > 0.5, "{saturated:#?}");
    // 7.0 at once, 1,006 a second: 6.92 ms.
    assert!(says(&saturated.evidence, "6.92 ms each (Little's law)"), "{saturated:#?}");
}

#[test]
fn reads_behind_writeback() {
    let Some(v) = verdicts("randread-vs-bufferedwrite") else { return };
    assert_found(&v, &["writeback-flood"]);
    let flood = of(&v, "writeback-flood");
    assert!(flood.share > 0.97 && flood.confidence == Some(Confidence::High), "{flood:#?}");
    assert!(says(&flood.evidence, "477 of the 478 writes on vda"), "{flood:#?}");
    assert!(says(&flood.evidence, "all requests together 54.7 ms"), "{flood:#?}");
    assert!(says(&flood.evidence, "wbt_lat_usec is 0 (queue-vda.txt:33)"), "{flood:#?}");
}

#[test]
fn reads_and_fdatasync_in_the_scheduler() {
    let Some(v) = verdicts("deadline-starved") else { return };
    assert_found(&v, &["scheduler-starvation", "writeback-flood"]);
    let starved = of(&v, "scheduler-starvation");
    assert!(starved.share > 0.6, "{starved:#?}");
    assert!(
        starved.evidence[0].sentence().contains("slowest reads")
            && starved.evidence[0].sentence().contains("13 background"),
        "{starved:#?}"
    );
    for command in ["fifo_batch", "read_expire"] {
        let remedy = starved.remedies.iter().find(|r| r.command().contains(command)).expect("a remedy");
        assert!(remedy.what.contains("fdatasync") || remedy.what.contains("same warning"), "{remedy:?}");
    }
}

#[test]
fn small_requests_and_large_ones() {
    let Some(v) = verdicts("seqwrite-max32k") else { return };
    assert_found(&v, &["request-size"]);
    let cut = of(&v, "request-size");
    assert!(cut.share > 0.9 && says(&cut.evidence, "631 of 631 synchronous writes were split"), "{cut:#?}");
    assert!(cut.remedies[0].what.contains("max_sectors_kb 32 -> 1280"), "{cut:#?}");
    let Some(v) = verdicts("seqwrite-max1024k") else { return };
    assert_found(&v, &["device-saturated"]);
    assert!(says(&of(&v, "request-size").refutes, "0 of 5,024"));
}

#[test]
fn small_writes_on_raid5() {
    let Some(v) = verdicts("raid5-randwrite8k") else { return };
    // The machine that ran it let 300 operations a second through to each member.
    assert_found(&v, &["raid-read-modify-write", "rate-limit"]);
    assert!(says(&of(&v, "rate-limit").evidence, "evenly spaced: 300 a second"), "{v:#?}");
    let rmw = of(&v, "raid-read-modify-write");
    assert!(rmw.share > 0.6 && says(&rmw.evidence, "18,222 read-modify-writes"), "{rmw:#?}");
    let bitmap = of(&v, "raid-bitmap");
    assert!(bitmap.verdict == Answer::Rejected && says(&bitmap.refutes, "3 bitmap updates"), "{bitmap:#?}");
}

#[test]
fn small_writes_on_raid5_with_a_fine_bitmap() {
    let Some(v) = verdicts("raid5-bitmap64k") else { return };
    assert_found(&v, &["raid-bitmap", "raid-read-modify-write"]);
    let bitmap = of(&v, "raid-bitmap");
    assert!(bitmap.share > 0.6 && says(&bitmap.evidence, "1,299 times"), "{bitmap:#?}");
    assert!(says(&bitmap.evidence, "1,303 times for itself"), "{bitmap:#?}");
}

#[test]
fn fsync_after_each_write() {
    let Some(v) = verdicts("fsync-heavy-j4") else { return };
    assert_found(&v, &["flush-cost"]);
    let flush = of(&v, "flush-cost");
    assert!(flush.share > 0.8 && says(&flush.evidence, "13,316 times"), "{flush:#?}");
}

#[test]
fn commits_behind_a_small_flood() {
    for name in ["logappend-slow-plain-ext4", "logappend-stable-ext4"] {
        let Some(v) = verdicts(name) else { return };
        assert_found(&v, &["writeback-flood"]);
        let flood = of(&v, "writeback-flood");
        assert!(flood.share > 0.8 && flood.confidence == Some(Confidence::Medium), "{flood:#?}");
        assert_eq!(says(&flood.missing, "stable_writes is 1"), name.contains("stable"), "{flood:#?}");
    }
}

/// Latencies of processors, not of a device.
#[test]
fn a_device_that_is_none() {
    let Some(v) = verdicts("big-nullblk") else { return };
    assert_found(&v, &["healthy"]);
    assert!(says(&of(&v, "healthy").evidence, "that is processors at work"));
}

/// A throttled disk below LVM: what is said must be no more than that it was busy.
#[test]
fn a_mixture_below_lvm() {
    let Some(v) = verdicts("misc-events") else { return };
    assert_found(&v, &["device-saturated"]);
    // Single reads of 38 ms had several ahead, and others that came later were done before them.
    let stall = of(&v, "device-stall");
    assert!(
        stall.verdict == Answer::Rejected && says(&stall.refutes, "8 to 15 others in the device"),
        "{stall:#?}"
    );
    assert_eq!(of(&v, "device-saturated").confidence, Some(Confidence::Medium));
}

/// The settings show 128 tags, four are ever taken.
#[test]
fn waits_for_a_tag() {
    let Some(v) = verdicts("j_nrreq_4") else { return };
    let tags = of(&v, "tag-exhaustion");
    assert_eq!((tags.verdict, tags.confidence), (Answer::Found, Some(Confidence::High)), "{tags:#?}");
    assert!(says(&tags.evidence, "4 requests were in loop0"), "{tags:#?}");
    assert!(says(&tags.evidence, "nr_requests shows 128"), "{tags:#?}");
    assert!(tags.remedies[0].command().contains("/sys/block/loop0/queue/nr_requests"), "{tags:#?}");
    let Some(v) = verdicts("a_randread_alone") else { return };
    assert_eq!(of(&v, "tag-exhaustion").verdict, Answer::Rejected);
}

/// Recorded through tracefs with everything on: of all causes these explain most.
#[test]
fn a_flood_and_a_scheduler_through_tracefs() {
    let Some(v) = verdicts("c_dd_buffered") else { return };
    assert_eq!((v[0].cause, v[0].verdict), ("writeback-flood", Answer::Found), "{v:#?}");
    assert!(v[0].share > 0.9, "{v:#?}");
    let Some(v) = verdicts("g_deadline_default") else { return };
    assert_eq!((v[0].cause, v[0].verdict), ("scheduler-starvation", Answer::Found), "{v:#?}");
    assert!(v[0].share > 0.4, "{v:#?}");
}
