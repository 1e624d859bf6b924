//! Somebody else's requests in the device.

use super::*;
use crate::device::background_task::works_for_others;
use crate::told::Told;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);
const SMALL: Bytes = Bytes(4096);

/// Three reads of 40 ms behind three requests of a task each; the device moved so many MiB of the task, and 10 of others.
fn behind(task: &str, ahead: u32, each: Bytes, its_mib: u64) -> Verdict {
    let mut told = moved(task, its_mib, "");
    for _ in 0..3 {
        told.behind(READ, 40, ahead, task, each);
    }
    told.verdict("background-task")
}

fn moved(task: &str, its_mib: u64, settings: &str) -> Told {
    let mut story = Story::default();
    story.settings(settings);
    story.called("reader", task);
    for i in 0..its_mib {
        story.writeback(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, MIB);
    }
    for i in 0..2560 {
        story.read(MS * (1000 + i), MS * (1000 + i), MS * (1000 + i) + 100);
    }
    let mut told = Told::default();
    told.over(story).quick(READ, 297);
    told
}

#[test]
fn a_backup_is_named() {
    let v = behind("tar", 3, SMALL, 100);
    // Of each, what is kept by itself met nobody: half of three in four turns.
    assert!((found(&v) - 0.375).abs() < 0.02, "{v:?}");
    assert!(v.evidence[0].sentence().contains("completed 9 requests of tar"), "{v:?}");
    assert!(v.evidence[1].sentence().contains("tar moved 91 % of all that sda moved (100 MiB"), "{v:?}");
    assert_eq!(v.remedies[0].command(), "kill -STOP $(pgrep -x 'tar')");
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
        "xfsaild/sda1",
        "kswapd0",
        "swapper/0",
        "ksoftirqd/1",
        "?",
    ] {
        assert!(works_for_others(helper), "{helper}");
    }
    for own in ["cp", "md0_resync", "md5sum", "loop", "looper", "ext4lazyinit", "fio"] {
        assert!(!works_for_others(own), "{own}");
    }
}

#[test]
fn a_tenth_behind_it_is_the_threshold() {
    // Three and so many as slow behind nobody.
    let of = |alone: u32| {
        let mut told = moved("tar", 100, "");
        for i in 0..3 + alone {
            told.behind(READ, 40, if i < 3 { 3 } else { 0 }, "tar", SMALL);
        }
        told.verdict("background-task")
    };
    assert!(is_found(&of(7)));
    assert!(rejected(&of(9))
        .contains("stood behind requests of tar, of other tasks the one they met most, for 9.4 %"));
    let mut elsewhere = moved("tar", 100, "");
    elsewhere.slow(READ, 100, &[(Wait::DirectIo, Reason::Device, 9), (Wait::Input, Reason::Sleep, 90)]);
    elsewhere.behind(READ, 1, 3, "tar", SMALL);
    let v = elsewhere.verdict("background-task");
    assert!(rejected(&v).contains("served no other task's requests") && v.minor, "{v:?}");
}

#[test]
fn one_task_is_most_of_what_was_met() {
    let of = |these: &[(&str, u32)]| {
        let mut told = moved("tar", 100, "");
        for _ in 0..3 {
            told.behind_all("db", READ, 40, these, SMALL);
        }
        told.verdict("background-task")
    };
    assert!(is_found(&of(&[("tar", 4), ("cp", 2), ("dd", 1)])));
    assert!(rejected(&of(&[("tar", 4), ("cp", 3), ("dd", 3)]))
        .contains("no task besides the waiting ones did most of it"));
    // Two kinds of requests of one task are met by one operation.
    assert!(says(
        &of(&[("tar", 2), ("tar", 1)]),
        "completed 9 requests of tar (36 KiB) while it had 3 slow operations of others"
    ));
}

/// Who finds the task's own operations slow need not look further.
#[test]
fn its_own_operations_stand_behind_its_own_requests() {
    let of = |slow: u32, by: &str| {
        let mut told = moved("tar", 100, "");
        for _ in 0..3 {
            told.behind_all("db", READ, 40, &[("tar", 3)], SMALL);
        }
        let writes = Kind::Call(Call::Write);
        told.quick(writes, 297);
        for i in 0..20 {
            told.behind_all(if i < slow { by } else { "db" }, writes, 40, &[("cp", 3)], SMALL);
        }
        let v = told.verdict("background-task");
        found(&v);
        says(&v, "of the time of the slowest writes in the device is tar's own, behind its own requests")
    };
    // Of 32 that are kept, the 20 that are known by name are; of their time three of four turns are behind others.
    assert_eq!((of(5, "tar"), of(4, "tar"), of(5, "cp")), (true, false, false));
}

#[test]
fn a_scheduler_that_knows_priorities_is_kept() {
    let of = |scheduler: &str| {
        let mut told = moved("tar", 100, &format!("sda/queue/scheduler: {scheduler}\n"));
        for _ in 0..3 {
            told.behind(READ, 40, 3, "tar", SMALL);
        }
        let v = told.verdict("background-task");
        found(&v);
        (commands(&v)[1].to_string(), v.remedies[1].what.contains(", sda has "))
    };
    let idle = "ionice -c 3 -p $(pgrep -x tar)".to_string();
    assert_eq!((of("[bfq] none"), of("[mq-deadline] none")), ((idle.clone(), false), (idle.clone(), false)));
    assert_eq!(of("[none] bfq"), (format!("echo bfq > /sys/block/sda/queue/scheduler; {idle}"), true));
}
