//! What is slow at all, and what is worth reporting.

use super::*;

/// Nothing below 0.1 ms is slow.
#[test]
fn a_tenth_of_a_millisecond_is_what_flash_takes() {
    let of = |us: u64, cause: &str| {
        let mut recording = TraceBuilder::default();
        for i in 0..200 {
            recording.read(i * MS, i * MS, i * MS + us);
        }
        rejected(&recording.verdict(cause)).to_string()
    };
    assert_eq!(of(97, "flush-cost"), "no slow operation waited for a flush or behind one");
    assert_eq!(of(103, "flush-cost"), "no slow operation waited for a flush or behind one");
    assert_eq!(of(97, "writeback-flood"), "no slow operation waited in a device");
    assert_eq!(of(103, "writeback-flood"), "no writeback in flight beside slow operations");
}

/// A group with 1/50 of the time of all tails is reported.
#[test]
fn two_parts_in_a_hundred_are_worth_a_word() {
    let of = |us: u64| {
        let mut recording = TraceBuilder::default();
        recording.read(0, 0, 1000 * MS);
        for i in 0..10 {
            recording.flushed_write((2000 + 100 * i) * MS, (us - 200) / 2, 200);
        }
        recording.verdict("flush-cost")
    };
    // Ten of them, beside one read of a second.
    assert!(is_found(&of(2200)));
    let v = of(1900);
    assert!(rejected(&v).contains("no slow operation waited for a flush") && v.minor, "{v:?}");
}

/// Many that each take somewhat longer: the slowest of them are little beside one long read, all of them are not. Whoever waits for them is kept
/// waiting for a fiftieth of the recording.
#[test]
fn a_tenth_of_all_that_was_lost_or_a_fiftieth_of_the_recording_is_worth_a_word_too() {
    let of = |read_s: u64| {
        let mut recording = TraceBuilder::default();
        recording.read(0, 0, 1000 * read_s * MS);
        for i in 0..1000 {
            recording.flushed_write((1000 * read_s + 20 * i) * MS, 1000 + 20 * (i % 100), 200);
        }
        recording.verdict("flush-cost")
    };
    // They take 4 s in all.
    assert!(is_found(&of(20)));
    assert!(is_found(&of(170)));
    assert!(!is_found(&of(190)));
}

/// A hundred are enough for a percentile.
#[test]
fn fewer_than_a_hundred_do_not_say_what_is_usual() {
    let of = |reads: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, reads - 1);
        recording.read(500 * MS, 500 * MS, 600 * MS);
        recording.verdict("device-stall")
    };
    assert!(
        !rejected(&of(99)).is_empty()
            && rejected(&of(99)).contains("99 reads are too few to say what is usual")
    );
    assert!(!of(100).refutes[0].sentence().contains("too few"));
}
