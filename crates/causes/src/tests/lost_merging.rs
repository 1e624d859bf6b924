//! Small adjacent requests.

use super::*;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

/// Groups of 16 reads at once that lie side by side.
fn neighbours(settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    for group in 0..40u64 {
        let at = group * 20 * MS;
        for i in 0..16 {
            recording.read_on(at, at + i, at + (i + 1) * MS);
        }
    }
    recording.settings(settings).verdict("lost-merging")
}

#[test]
fn neighbours_that_were_not_joined() {
    let v = neighbours("sda/queue/nomerges: 2\n");
    assert!(found(&v) > 0.5, "{v:?}");
    assert_eq!(v.remedies[0].command(), "echo 0 > /sys/block/sda/queue/nomerges");
    assert!(rejected(&neighbours("sda/queue/nomerges: 0\n")).contains("merging is on"));
    assert!(cannot_tell(&neighbours("sda/queue/nr_requests: 64\n")).contains("nomerges was not recorded"));
    // They are as large as requests may be.
    let limit = |kib| neighbours(&format!("sda/queue/nomerges: 2\nsda/queue/max_sectors_kb: {kib}\n"));
    assert!(rejected(&limit(4)).contains("only 1.0 at a time could have been merged"));
    assert!(found(&limit(64)) > 0.5);
    let mut apart = TraceBuilder::default();
    quick_reads(&mut apart, 0, 300);
    apart.settings("sda/queue/nomerges: 2\n");
    rejected(&apart.verdict("lost-merging"));
}

/// Groups of so many reads of so many KiB at once: of ten groups so many lie side by side, of a hundred so many were joined.
fn grouped(at_once: u64, kib: u64, beside: u64, joined: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    for group in 0..40u64 {
        let at = group * 100 * MS;
        for i in 0..at_once {
            let done = at + (i + 1) * MS * 16 / at_once;
            match group % 10 < beside {
                true => recording.read_beside(at, at + i, done, kib, (group * at_once + i) % 100 < joined),
                false => recording.large_read(at + i, done, kib),
            };
        }
    }
    recording.settings("sda/queue/nomerges: 2\n").verdict("lost-merging")
}

#[test]
fn who_lies_side_by_side_is_small_and_was_not_joined() {
    assert!(is_found(&grouped(16, 4, 10, 0)));
    // Of the sixteen of a group the first lies beside the last one of the group before.
    assert!(is_found(&grouped(16, 4, 8, 0)));
    assert!(rejected(&grouped(16, 4, 6, 0))
        .contains("of the reads on sda are adjacent to the one before, 0 % were merged"));
    assert!(is_found(&grouped(16, 60, 10, 0)));
    assert!(rejected(&grouped(16, 64, 10, 0)).contains("no slow request was small"));
    assert!(is_found(&grouped(16, 4, 10, 9)));
    assert!(rejected(&grouped(16, 4, 10, 14)).contains("were merged"));
}

#[test]
fn little_time_in_the_device_is_not_for_want_of_merging() {
    let of = |ms: u64| {
        let mut recording = TraceBuilder::default();
        for group in 0..40u64 {
            let at = group * 20 * MS;
            for i in 0..16 {
                recording.read_on(at, at + i, at + (i + 1) * MS);
            }
        }
        recording.settings("sda/queue/nomerges: 2\n");
        super::paths::built(Kind::Call(Call::Read), Wait::DirectIo, Reason::Device, ms)
            .over(recording)
            .verdict("lost-merging")
    };
    let v = of(9);
    assert!(rejected(&v).contains("no slow request was small") && v.minor, "{v:?}");
    assert!(rejected(&of(11)).contains("at a time could have been merged"));
}

#[test]
fn one_at_a_time_cannot_be_joined() {
    let v = grouped(1, 4, 10, 0);
    assert!(rejected(&v).contains("but only 1.0 at a time could have been merged"), "{v:?}");
}
