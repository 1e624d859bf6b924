//! A device that takes long for some requests, and not because others stand in line.

use super::*;
use crate::told::Told;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);

/// Reads of 1 ms, and five that take longer, none of them after a pause.
fn stalls(longest: u64, ahead: bool) -> Story {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    for i in 0..5 {
        let at = (1000 + 500 * i) * MS;
        story.read(at, at, at + MS);
        let at = at + MS + 100;
        if ahead {
            for j in 0..20 {
                story.read(at, at, at + (j + 1) * longest / 21);
            }
        }
        story.read(at + 1, at + 1, at + longest);
    }
    story
}

#[test]
fn a_device_that_stalls_without_a_queue() {
    let v = stalls(80 * MS, false).verdict("device-stall");
    assert!(found(&v) > 0.9, "{v:?}");
    assert!(v.evidence[0].sentence().contains("80 ms"), "{v:?}");
    rejected(&stalls(29 * MS, false).verdict("device-stall"));
    found(&stalls(31 * MS, false).verdict("device-stall"));
    let queue = stalls(80 * MS, true).verdict("device-stall");
    rejected(&queue);
}

#[test]
fn too_few_to_say_what_is_usual() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 50);
    story.read(500 * MS, 500 * MS, 600 * MS);
    assert!(rejected(&story.verdict("device-stall")).contains("too few"));
}

/// 300 reads that take so long, and five of so long.
fn beside_usual(usual: u64, longest: u64) -> Verdict {
    let mut story = Story::default();
    for i in 0..300 {
        story.read(i * 20 * MS, i * 20 * MS, i * 20 * MS + usual);
    }
    for i in 0..5 {
        let at = (7000 + 500 * i) * MS;
        story.read(at, at, at + MS).read(at + MS + 100, at + MS + 100, at + MS + 100 + longest);
    }
    story.verdict("device-stall")
}

#[test]
fn five_times_what_is_usual_is_the_threshold() {
    assert!(is_found(&beside_usual(10 * MS, 51 * MS)));
    assert!(rejected(&beside_usual(10 * MS, 49 * MS))
        .contains("took up to 49 ms in sda, half of all 10 ms or less"));
}

/// 300 reads of 1 ms, and five of 80 ms behind so many that came with them and are done first.
fn behind(ahead: u64) -> Verdict {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    for i in 0..5 {
        let at = (1000 + 500 * i) * MS;
        story.read(at, at, at + MS);
        for k in 0..ahead {
            story.read(at + MS + 100, at + MS + 100, at + 2 * MS + k);
        }
        story.read(at + MS + 101, at + MS + 101, at + 81 * MS);
    }
    story.verdict("device-stall")
}

#[test]
fn half_of_its_time_behind_others_is_a_queue() {
    // One ahead is one of two turns, two are two of three.
    assert!(is_found(&behind(1)));
    assert!(rejected(&behind(2)).contains("stood behind others for 67 % of their time"));
}

/// 300 reads of 1 ms alone and 20 groups of eight, side by side, of so long. Seven of 40 ms have so many ahead, and 13 that came
/// later are done before them.
fn passed_over(group: u64, ahead: u64) -> Verdict {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    for i in 0..20 {
        let at = (1000 + 20 * i) * MS;
        for k in 0..8 {
            story.read(at + k, at + k, at + group + k);
        }
    }
    for i in 0..7 {
        let at = (2000 + 100 * i) * MS;
        for k in 0..ahead {
            story.read(at + k, at + k, at + 2 * MS + k);
        }
        story.read(at + 10, at + 10, at + 40 * MS);
        for k in 0..13 {
            let later = at + 2 * MS + 100 + k * 2 * MS;
            story.read(later, later, later + MS);
        }
    }
    story.verdict("device-stall")
}

/// Who has several ahead and is passed over for later ones is compared with what the device takes with many in it.
#[test]
fn a_request_passed_over_in_a_busy_device_is_no_stall() {
    let v = passed_over(9 * MS, 6);
    assert!(
        rejected(&v).contains("took up to 40 ms in sda; with 4 to 7 others in the device reads took 10.2 ms"),
        "{v:?}"
    );
    // With many in it, these seven included, it takes 6.2 ms.
    assert!(is_found(&passed_over(4 * MS, 6)));
    // One ahead is no crowd, and a device that takes as long with few is none either.
    assert!(is_found(&passed_over(9 * MS, 1)));
    assert!(is_found(&passed_over(MS, 6)));
}

/// Three reads of so many KiB took 80 ms each, others of 4 KiB 1 ms.
fn of_size(kib: u64) -> Verdict {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    let mut told = Told::default();
    told.over(story).quick(READ, 297);
    for _ in 0..3 {
        told.on_disk(READ, 80_000, |read| read.bytes = Bytes(kib << 10));
    }
    told.verdict("device-stall")
}

#[test]
fn four_times_the_usual_size_is_slow_for_its_size() {
    assert!(is_found(&of_size(16)));
    assert!(rejected(&of_size(17)).contains("are of 17 KiB, all of 4 KiB on average"));
}

/// Three reads of 300 ms, of which 36 were in a device that takes so long for half of its requests.
fn partly(usual: u64) -> Verdict {
    let mut story = Story::default();
    for i in 0..200 {
        story.read(i * 20 * MS, i * 20 * MS, i * 20 * MS + usual);
    }
    story.read(5000 * MS, 5000 * MS, 5036 * MS);
    let mut told = Told::default();
    told.quick(READ, 297);
    for _ in 0..3 {
        told.slow(READ, 300, &[(Wait::DirectIo, Reason::Device, 36), (Wait::Input, Reason::Sleep, 260)]);
    }
    told.over(story).verdict("device-stall")
}

/// What the device takes anyway is no stall.
#[test]
fn a_tenth_beyond_the_usual_is_the_threshold() {
    assert!(is_found(&partly(5500)));
    let v = partly(6500);
    assert!(rejected(&v).contains("no waiting in a device is left") && v.minor, "{v:?}");
}
