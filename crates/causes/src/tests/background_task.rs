//! Somebody else's requests in the device.

use super::*;
use crate::background_task::works_for_others;
use crate::told::Told;
use operation::Kind;
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);
const SMALL: Bytes = Bytes(4096);

/// Three reads of 40 ms behind three requests of a task each; the device moved so many MiB of the task, and 10 of others.
fn behind(task: &str, ahead: u32, each: Bytes, its_mib: u64) -> Verdict {
    let mut story = Story::default();
    story.called("reader", task);
    for i in 0..its_mib {
        story.writeback(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, MIB);
    }
    for i in 0..2560 {
        story.read(MS * (1000 + i), MS * (1000 + i), MS * (1000 + i) + 100);
    }
    let mut told = Told::default();
    told.over(story).quick(READ, 297);
    for _ in 0..3 {
        told.behind(READ, 40, ahead, task, each);
    }
    told.verdict("background-task")
}

#[test]
fn a_backup_is_named() {
    let v = behind("tar", 3, SMALL, 100);
    // Of each, what is kept by itself met nobody: half of three in four turns.
    assert!((found(&v) - 0.375).abs() < 0.02, "{v:?}");
    assert!(v.evidence[0].contains("completed 9 requests of tar"), "{v:?}");
    assert!(v.evidence[1].contains("tar moved 91 % of all that sda moved (100 MiB"), "{v:?}");
    assert_eq!(v.remedies[0].command, "kill -STOP $(pgrep -x 'tar')");
}

#[test]
fn large_requests_take_more_turns() {
    // Three of 1 MiB are twelve turns of thirteen.
    let v = behind("tar", 3, Bytes(1 << 20), 100);
    let few = behind("tar", 3, SMALL, 100);
    // As long as it stood in line, which is three of four turns.
    assert!(found(&v) > found(&few), "{v:?}");
}

#[test]
fn it_moves_most_of_the_bytes() {
    found(&behind("tar", 3, SMALL, 11));
    assert!(rejected(&behind("tar", 3, SMALL, 9)).contains("47 % of the bytes"));
}

#[test]
fn who_works_for_others_is_no_background_task() {
    for helper in ["kworker/u8:3", "jbd2/sda-8", "xfsaild/sda", "?"] {
        rejected(&behind(helper, 3, SMALL, 100));
    }
    found(&behind("ext4lazyinit", 3, SMALL, 100));
}

#[test]
fn a_device_to_itself_is_nobodys() {
    rejected(&behind("tar", 0, SMALL, 100));
}

#[test]
fn cannot_tell_from_the_block_layer_alone() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    assert!(cannot_tell(&story.verdict("background-task")).contains("iowhy record"));
}

#[test]
fn an_fsync_is_not_about_a_device_that_nothing_was_written_to() {
    let of = |writes: u64, elsewhere: bool| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 200);
        for i in 0..writes {
            story.sync_write((1000 + i) * MS, (1000 + i) * MS, (1001 + i) * MS);
        }
        let mut told = Told::default();
        told.over(story);
        if elsewhere {
            told.elsewhere();
        }
        told.behind(Kind::Call(Call::Fdatasync), 40, 3, "fio", SMALL).in_focus()
    };
    assert_eq!(of(0, true), []);
    assert_eq!(of(1, true), [Kind::Call(Call::Fdatasync)]);
    assert_eq!(of(0, false), [Kind::Call(Call::Fdatasync)]);
}

#[test]
fn what_the_kernels_threads_move_is_not_their_own() {
    for helper in [
        "kworker",
        "kworker/0:1H",
        "jbd2/sda1-8",
        "md0_raid5",
        "loop0",
        "btrfs-transacti",
        "dmcrypt_write/253:0",
    ] {
        assert!(works_for_others(helper), "{helper}");
    }
    for own in ["cp", "md0_resync", "md5sum", "loop", "looper", "ext4lazyinit", "fio"] {
        assert!(!works_for_others(own), "{own}");
    }
}
