//! Background writes beside reads.

use super::*;

/// A read of 100 ms issued into so many writes of 1 MiB, which are done one after the other.
fn flood(story: &mut Story, at_ms: u64, writes: u64) {
    let at = at_ms * MS;
    for i in 0..writes {
        story.writeback(at, at, at + (i + 1) * 10 * MS, MIB);
    }
    story.read(at, at, at + 100 * MS);
}

#[test]
fn found_where_reads_are_slow_only_beside_it() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    for i in 0..120 {
        flood(&mut story, 1000 + 200 * i, 10);
    }
    let v = story.verdict("writeback-flood");
    assert!(found(&v) > 0.8, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.missing[0].contains("wbt_lat_usec was not recorded"), "{v:?}");
    rejected(&story.verdict("device-saturated"));
    rejected(&story.verdict("healthy"));
}

#[test]
fn begins_with_four_mebibytes_in_flight() {
    let verdict = |writes: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 200);
        for i in 0..120 {
            flood(&mut story, 1000 + 200 * i, writes);
        }
        story.verdict("writeback-flood")
    };
    rejected(&verdict(3));
    found(&verdict(4));
}

#[test]
fn rejected_where_reads_are_as_slow_without_it() {
    let mut story = Story::default();
    for i in 0..120 {
        flood(&mut story, 200 * i, 10);
        let at = (30_000 + 200 * i) * MS;
        story.read(at, at, at + 100 * MS);
    }
    let v = story.verdict("writeback-flood");
    assert!(rejected(&v).contains("as slow without"), "{v:?}");
}

#[test]
fn says_what_the_settings_are_and_where_that_is_written() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    for i in 0..120 {
        flood(&mut story, 1000 + 200 * i, 10);
    }
    story.settings("sda/queue/rotational: 1\nsda/queue/wbt_lat_usec: 0\n");
    let v = story.verdict("writeback-flood");
    assert!(v.evidence.iter().any(|e| e.contains("wbt_lat_usec is 0 (queue-sda.txt:2)")), "{v:?}");
    // Reads alone took 1 ms: it says that it turns, but it does not.
    assert_eq!(v.remedies[0].command, "echo 2000 > /sys/block/sda/queue/wbt_lat_usec");
}
