//! Writes with flushes around them.

use super::*;

#[test]
fn found_with_the_part_of_the_flushes() {
    let mut story = Story::default();
    for i in 0..50 {
        story.flushed_write(20 * i * MS, 4 * MS, 2 * MS);
    }
    story.settings("sda/queue/write_cache: write back\n");
    let v = story.verdict("flush-cost");
    assert!((found(&v) - 0.8).abs() < 0.01, "{v:?}");
    assert!(v.evidence.iter().any(|e| e.contains("flushed 100 times for 50 synchronous writes")), "{v:?}");
    let risky = v.remedies.iter().find(|r| r.command.contains("write through")).expect("a remedy");
    assert!(risky.what.contains("loses data"), "{risky:?}");
}

#[test]
fn rejected_where_the_data_is_slow() {
    let mut story = Story::default();
    for i in 0..50 {
        story.flushed_write(200 * i * MS, MS, 100 * MS);
    }
    assert!(rejected(&story.verdict("flush-cost")).contains("2.0 %"));
}
