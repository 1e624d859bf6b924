//! Writes that are cut.

use super::*;

fn cut(piece: u64) -> Story {
    let mut story = Story::default();
    for i in 0..50 {
        story.cut_write(200 * i * MS, (200 * i + 100) * MS, MIB, piece);
    }
    story
}

#[test]
fn found_where_large_writes_are_cut_small() {
    let mut story = cut(32);
    story.settings("sda/queue/max_sectors_kb: 32\nsda/queue/max_hw_sectors_kb: 32767\n");
    let v = story.verdict("request-size");
    assert!((found(&v) - 31.0 / 32.0).abs() < 0.01, "{v:?}");
    assert!(v.evidence[0].contains("from 1 MiB into 32 requests"), "{v:?}");
    assert!(v.remedies[0].what.contains("max_sectors_kb 32 -> 1280"), "{v:?}");
}

#[test]
fn without_settings_it_says_so() {
    let v = cut(32).verdict("request-size");
    assert!(found(&v) > 0.9 && v.missing[0].contains("max_sectors_kb"), "{v:?}");
}

#[test]
fn requests_of_256_kib_are_large_enough() {
    assert!(rejected(&cut(256).verdict("request-size")).contains("large enough"));
    found(&cut(128).verdict("request-size"));
}

#[test]
fn rejected_where_the_hardware_takes_no_more() {
    let mut story = cut(32);
    story.settings("sda/queue/max_sectors_kb: 32\nsda/queue/max_hw_sectors_kb: 32\n");
    assert!(rejected(&story.verdict("request-size")).contains("near the 32 KiB"));
}

#[test]
fn rejected_where_nothing_is_cut() {
    let mut story = Story::default();
    for i in 0..50 {
        story.sync_write(200 * i * MS, 200 * i * MS, (200 * i + 100) * MS);
    }
    assert!(rejected(&story.verdict("request-size")).contains("0 of 50"));
}

#[test]
fn what_a_large_limit_leaves_over_is_no_cut() {
    let mut story = cut(64);
    found(&story.verdict("request-size"));
    // One of 512 KiB was sent whole: so no limit cuts at 64.
    story.cut_write(20_000 * MS, 20_010 * MS, 512, 512);
    assert!(rejected(&story.verdict("request-size")).contains("requests of up to 512 KiB were sent"));
}
