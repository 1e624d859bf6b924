//! Writes on an array of one disk.

use super::*;

fn array(waiting: u64, reading: u64, writing: u64, note: &str) -> Story {
    let mut story = Story::default();
    for i in 0..50 {
        story.raid_write(100 * i * MS, waiting * MS, reading * MS, writing * MS);
        if !note.is_empty() {
            story.note(100 * i * MS, note);
        }
    }
    story
}

#[test]
fn reads_before_a_write_are_found_with_the_kernels_notes() {
    let v = array(1, 12, 7, "raid5 rmw 645120 2").verdict("raid-read-modify-write");
    assert!((found(&v) - 0.6).abs() < 0.01, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.evidence.iter().any(|e| e.contains("50 read-modify-writes")), "{v:?}");
}

#[test]
fn without_notes_the_reads_alone_are_less_sure() {
    let v = array(1, 12, 7, "").verdict("raid-read-modify-write");
    found(&v);
    assert_eq!(v.confidence, Some(Confidence::Medium));
}

#[test]
fn no_reads_no_read_modify_write() {
    let v = array(1, 0, 19, "raid5 rcw 8 1 2 0").verdict("raid-read-modify-write");
    assert!(rejected(&v).contains("0 % of their time"), "{v:?}");
}

#[test]
fn an_array_alone_cannot_tell_how_long_the_reads_took() {
    let mut story = array(20, 0, 0, "raid5 rmw 645120 2");
    assert!(cannot_tell(&story.verdict("raid-read-modify-write")).contains("50 raid5 rmw"));
    assert!(cannot_tell(&story.verdict("device-saturated")).contains("blktrace -d /dev/md0"));
    assert!(cannot_tell(&story.verdict("raid-bitmap")).contains("members of md0 were not recorded"));
}

#[test]
fn waiting_in_md_with_many_bitmap_updates_is_the_bitmap() {
    let v = array(10, 0, 10, "md bitmap_unplug").verdict("raid-bitmap");
    assert!((found(&v) - 0.5).abs() < 0.01, "{v:?}");
    assert!(v.evidence[0].contains("50 times"), "{v:?}");
}

#[test]
fn a_bitmap_that_is_seldom_written_or_costs_nothing_is_not_it() {
    let v = array(10, 0, 10, "raid5 rcw 8 1 2 0").verdict("raid-bitmap");
    assert!(rejected(&v).starts_with("0 bitmap updates"), "{v:?}");
    let v = array(0, 0, 20, "md bitmap_unplug").verdict("raid-bitmap");
    assert!(rejected(&v).contains("waited in md for 0 %"), "{v:?}");
}

#[test]
fn without_notes_a_wait_in_md_cannot_be_told() {
    assert!(cannot_tell(&array(10, 0, 10, "").verdict("raid-bitmap")).contains("notes"));
}
