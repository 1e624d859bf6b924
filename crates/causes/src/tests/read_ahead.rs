//! Too little read ahead, and too much.

use super::*;
use crate::told::Told;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);

/// 300 calls of 4 KiB, three of them slow: they waited for a page. The device read ahead so many KiB, `times` over.
fn reads(kib: u64, times: u64, in_order: bool, settings: &str) -> Told {
    let mut story = Story::default();
    for i in 0..times {
        story.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, kib, in_order);
    }
    if !settings.is_empty() {
        story.settings(settings);
    }
    let mut told = Told::default();
    told.quick(READ, 297);
    for _ in 0..3 {
        told.slow(READ, 100, &[(Wait::PageRead, Reason::Device, 90)]);
    }
    told.over(story);
    told
}

const SHORT: &str = "sda/queue/read_ahead_kb: 16\n";

#[test]
fn little_read_ahead_in_order() {
    let v = reads(16, 75, true, SHORT).verdict("read-ahead-short");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.remedies[0].command, "echo 512 > /sys/block/sda/queue/read_ahead_kb");
    assert!(rejected(&reads(16, 75, false, SHORT).verdict("read-ahead-short")).contains("follow one another"));
    let default = reads(16, 75, true, "sda/queue/read_ahead_kb: 128\n").verdict("read-ahead-short");
    assert!(rejected(&default).contains("read_ahead_kb of sda is 128"));
    assert!(cannot_tell(&reads(16, 75, true, "").verdict("read-ahead-short")).contains("was not recorded"));
}

#[test]
fn much_read_ahead_for_nobody() {
    // The calls got 300 times 4 KiB.
    let v = reads(128, 100, false, "sda/queue/read_ahead_kb: 1024\n").verdict("read-ahead-waste");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.remedies[0].command, "echo 128 > /sys/block/sda/queue/read_ahead_kb");
    assert!(rejected(&reads(16, 149, false, "").verdict("read-ahead-waste")).contains("reads got 1.17 MiB"));
    found(&reads(16, 151, false, "").verdict("read-ahead-waste"));
    let mut blocks = Story::default();
    quick_reads(&mut blocks, 0, 200);
    cannot_tell(&blocks.verdict("read-ahead-waste"));
}
