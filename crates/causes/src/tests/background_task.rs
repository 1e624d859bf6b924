//! Other tasks' requests in the device.

use super::*;
use crate::interfering::leads_to_the_device;
use crate::op_builder::{OpBuilder, READER};
use crate::verdict::Confidence;
use device::{Behind, Split};
use ledger::Reason;
use life::Io;
use operation::{Kind, Wait};
use trace::{works_for_others, Bytes, Call, Nanos};
use waits::Phase;

pub(super) const READ: Kind = Kind::Call(Call::Read);
pub(super) const SMALL: Bytes = Bytes(4096);

/// Three reads of 40 ms behind three requests of a task each; the device moved this many MiB of the task, and 10 of others.
fn behind(task: &str, ahead: u32, each: Bytes, its_mib: u64) -> Verdict {
    let mut built = moved(task, its_mib, "");
    for _ in 0..3 {
        built.behind(READ, 40, ahead, task, each);
    }
    built.verdict("background-task")
}

pub(super) fn moved(task: &str, its_mib: u64, settings: &str) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings(settings);
    recording.called("reader", task);
    for i in 0..its_mib {
        recording.writeback(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, MIB);
    }
    for i in 0..2560 {
        recording.read(MS * (1000 + i), MS * (1000 + i), MS * (1000 + i) + 100);
    }
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    built
}

#[test]
fn a_backup_is_named() {
    let v = behind("tar", 3, SMALL, 100);
    // Three of four turns.
    assert!((found(&v) - 0.75).abs() < 0.02, "{v:?}");
    assert!(
        says(&v, "the slowest reads of (reader) were behind requests of tar on sda for 75 % of their time"),
        "{v:?}"
    );
    assert!(says(&v, "tar moved 100 MiB of the 110 MiB that sda moved"), "{v:?}");
    assert_eq!(v.remedies[0].command(), "kill -STOP $(pgrep -x tar)");
    // 100 MiB in 3.56 s are 28.1 MiB a second.
    let limit = commands(&v).into_iter().find(|c| c.contains("IOReadBandwidthMax")).expect("a limit");
    let half: u64 = limit.split("/dev/sda ").nth(1).and_then(|s| s.split('"').next()?.parse().ok()).unwrap();
    assert!((14_000_000..15_500_000).contains(&half), "{limit}");
}

#[test]
fn a_thread_of_the_kernel_is_not_stopped_and_has_no_unit() {
    let all = commands(&behind("ext4lazyinit", 3, SMALL, 100));
    assert!(all.iter().all(|command| !command.contains("kill") && !command.contains("systemctl")), "{all:?}");
    assert!(all.iter().any(|command| command.contains("ionice")), "{all:?}");
}

/// The slowest met something else, and the cause still reports what it saw.
#[test]
fn what_most_operations_waited_for_is_proven_by_all_of_them() {
    // The slowest are behind the task as well, or only behind others.
    for ahead_of_slowest in ["tar", "cp"] {
        let mut built = moved("tar", 100, "");
        let mut of = |own: u64, slow: u64, ahead: &str| {
            let ms = |n: u64| Nanos(n * 1_000_000);
            let mut split = Split { known: true, own: ms(own), slow: ms(slow), ..Split::default() };
            split.behind[0] = Behind { holder: built.holder(ahead, Io::Read), time: ms(2) };
            split
        };
        let splits = [of(3, 0, "tar"), of(1, 37, ahead_of_slowest)];
        for n in 0..206 {
            built.inside(READ, splits[usize::from(n >= 200)]);
        }
        let v = built.verdict("background-task");
        let said = "all reads of (reader) were behind requests of tar on sda for 32 % of their time";
        assert!(is_found(&v) && says(&v, said), "{v:?}");
        assert!(says(&v, "tar moved 100 MiB"), "{v:?}");
        assert_eq!(v.of_all.is_empty(), ahead_of_slowest == "tar", "waits that the slowest did not have");
        assert!(commands(&v).iter().any(|command| command.contains("tar")), "{v:?}");
    }
}

/// Of two tasks that delay each other, the one that costs the other more is slowed.
#[test]
fn who_loses_more_than_it_costs_is_not_slowed() {
    let write = Kind::Call(Call::Write);
    let mut built = moved("tar", 100, "");
    built.by("db").quick(READ, 297).by("tar").quick(write, 297);
    for _ in 0..3 {
        built.behind_all("db", READ, 40, &[("tar", 1)], SMALL);
        built.behind_all("tar", write, 80, &[("db", 3)], SMALL);
    }
    let v = built.verdict("background-task");
    found(&v);
    let named = |task: &str| commands(&v).iter().any(|c| c.ends_with(&format!("# {task}")));
    assert!(named("db") && !named("tar"), "{:?}", commands(&v));
}

/// Whose flushes they are is one half of the reason, what a flush takes the other.
#[test]
fn behind_a_tasks_flushes_lies_what_a_flush_takes() {
    let root = |io: Io| {
        let mut built = moved("tar", 100, "");
        for _ in 0..3 {
            built.behind_io(READ, 40, "tar", io);
        }
        let v = built.verdict("background-task");
        found(&v);
        v.root
    };
    assert_eq!((root(Io::Flush), root(Io::Read)), (Some("flush-cost"), None));
}

/// What others do at the same time is why a log takes so long, if that is more of it than the caller's own requests are.
#[test]
fn behind_a_log_force_lies_who_has_more_of_it() {
    let root = |tar: u64, own: u64| {
        let fsync = Kind::Call(Call::Fsync);
        let mut built = moved("tar", 100, "");
        let (tar_reads, own_reads) = (built.holder("tar", Io::Read), built.holder(READER, Io::Read));
        built.quick(fsync, 297).waiting_for(Wait::LogForce);
        for _ in 0..3 {
            let mut split = Split { known: true, own: Nanos(10 * MS * 1000), ..Split::default() };
            split.behind[0] = Behind { holder: tar_reads, time: Nanos(tar * MS * 1000) };
            split.behind[1] = Behind { holder: own_reads, time: Nanos(own * MS * 1000) };
            built.inside(fsync, split);
        }
        let v = built.verdict("log-force");
        found(&v);
        v.root
    };
    assert_eq!([root(45, 35), root(35, 45)], [Some("background-task"), None]);
}

/// A commit behind a neighbour's reads, and that one's reads behind the commit's flush.
#[test]
fn a_flush_that_others_wait_for_is_not_why_it_waits_itself() {
    let root = |both: bool| {
        let mut built = moved("postgres", 100, "");
        for _ in 0..3 {
            built.behind_io(READ, 100, "postgres", Io::Flush);
        }
        if both {
            built.by("postgres").quick(READ, 297);
            for _ in 0..3 {
                built.behind_io(READ, 60, "tar", Io::Read);
            }
        }
        built.verdict("background-task").root
    };
    assert_eq!((root(false), root(true)), (Some("flush-cost"), None));
}

#[test]
fn all_that_others_had_is_claimed() {
    let mut built = moved("tar", 100, "");
    for (ahead, task) in [(3, "tar"), (3, "tar"), (3, "cp")] {
        built.behind(READ, 40, ahead, task, SMALL);
    }
    let v = built.verdict("background-task");
    assert!((found(&v) - 0.75).abs() < 0.02, "{v:?}");
    assert!(
        says(&v, "requests of tar on sda for 50 %") && says(&v, "requests of cp on sda for 25 %"),
        "{v:?}"
    );
}

#[test]
fn who_works_for_others_is_no_background_task() {
    for helper in ["kworker/u8:3", "jbd2/sda-8", "xfsaild/sda", "md0_raid5"] {
        rejected(&behind(helper, 3, SMALL, 100));
    }
    found(&behind("cp", 3, SMALL, 100));
}

/// md's synchronising is `raid-resync`'s.
#[test]
fn md_is_no_background_task() {
    rejected(&behind("md0_resync", 3, SMALL, 100));
}

#[test]
fn a_device_to_itself_is_nobodys() {
    let v = behind("tar", 0, SMALL, 100);
    assert!(rejected(&v).contains("served no other task's requests") && v.minor, "{v:?}");
}

/// Its other threads' requests, and what the journal writes of its own changes.
#[test]
fn who_has_the_victims_name_is_nobody_else() {
    rejected(&behind(READER, 3, SMALL, 100));
    let mut built = moved("tar", 100, "");
    for _ in 0..3 {
        built.behind_journal(READ, 40, READER);
    }
    rejected(&built.verdict("background-task"));
    let mut built = moved("tar", 100, "");
    for _ in 0..3 {
        built.behind_journal(READ, 40, "tar");
    }
    assert!((found(&built.verdict("background-task")) - 0.5).abs() < 0.02);
}

/// Writeback for a task is a flood's, discards are `discard-stall`'s.
#[test]
fn writeback_and_discards_are_others_causes() {
    for io in [Io::BackgroundWrite, Io::Discard] {
        let mut built = moved("tar", 100, "");
        for _ in 0..3 {
            built.behind_io(READ, 40, "tar", io);
        }
        rejected(&built.verdict("background-task"));
    }
}

/// Tags, the scheduler and writeback throttling hold requests back because of the tasks that the device served meanwhile.
#[test]
fn what_holds_back_is_the_place_and_not_the_cause() {
    for phase in [
        Phase::Behind,
        Phase::NoTag,
        Phase::Reason(Reason::GetRequest),
        Phase::Reason(Reason::Scheduler),
        Phase::Reason(Reason::WritebackThrottle),
    ] {
        assert!(leads_to_the_device(phase), "{phase:?}");
    }
    for phase in [Phase::Service, Phase::Slow, Phase::Paused, Phase::Flush, Phase::Reason(Reason::Lock)] {
        assert!(!leads_to_the_device(phase), "{phase:?}");
    }
}

#[test]
fn an_fsync_is_not_about_a_device_that_nothing_was_written_to() {
    let of = |writes: u64, elsewhere: bool| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..writes {
            recording.sync_write((1000 + i) * MS, (1000 + i) * MS, (1001 + i) * MS);
        }
        let mut built = OpBuilder::default();
        built.over(recording);
        if elsewhere {
            built.on_fs(trace::Fs::Unknown);
        }
        built.behind(Kind::Call(Call::Fdatasync), 40, 3, "fio", SMALL).in_focus()
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
    // Three behind three others, and this many that are as slow behind no other task.
    let of = |alone: u32| {
        let mut built = moved("tar", 100, "");
        for i in 0..3 + alone {
            built.behind(READ, 40, if i < 3 { 3 } else { 0 }, "tar", SMALL);
        }
        built.verdict("background-task")
    };
    assert!(is_found(&of(19)));
    let v = of(20);
    assert!(rejected(&v).contains("behind tar, the other task they waited for most, for 9.8 %"), "{v:?}");
}

/// Of several tasks, the one with the most time.
#[test]
fn one_task_is_named() {
    let mut built = moved("tar", 100, "");
    for _ in 0..3 {
        built.behind_all("db", READ, 120, &[("cp", 2), ("tar", 4), ("dd", 1)], SMALL);
    }
    let v = built.verdict("background-task");
    assert!(found(&v) > 0.4 && says(&v, "the slowest reads of db were behind requests of tar"), "{v:?}");
}

/// Where no request was ever alone the split says too much: eight at once that take as long as one are behind nobody. If they are all
/// another's, that says how these fare, and not how those of a few ms do that are always beside them.
#[test]
fn a_device_that_serves_side_by_side_keeps_nobody_waiting() {
    let of_wait = |wait: Wait, alone: u64, side_by_side: bool, are_tars: bool, ms: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        recording.called("(reader)", "tar");
        let mut read = |are_tars: bool, from: u64, to: u64| {
            if are_tars {
                recording.read_by_another(from, from, to);
            } else {
                recording.read(from, from, to);
            }
        };
        for i in 0..100 {
            let at = (1000 + 40 * i) * MS;
            if i < alone {
                read(are_tars, at, at + 4 * MS);
            } else {
                read(true, at + 4 * MS, at + 45 * MS);
            }
            for k in 0..8 {
                let done = if side_by_side { 4 * MS + k } else { (k + 1) * 4 * MS + k % 3 * MS };
                read(are_tars, at + 5 * MS, at + 5 * MS + done);
            }
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(wait);
        for _ in 0..3 {
            built.behind_unknown(READ, ms, "tar");
        }
        built.verdict("background-task")
    };
    let of_alone =
        |alone, side_by_side, are_tars, ms| of_wait(Wait::DirectIo, alone, side_by_side, are_tars, ms);
    let of = |side_by_side, are_tars, ms| of_alone(100, side_by_side, are_tars, ms);
    assert!(
        rejected(&of(true, false, 40)).contains("sda takes as long with few requests in flight as with many")
    );
    assert_eq!(of(false, false, 40).confidence, Some(Confidence::High));
    assert_eq!(of(true, true, 40).confidence, Some(Confidence::Medium));
    rejected(&of(true, true, 1));
    // With always some others there it is not known what none would change.
    assert_eq!(of_alone(11, true, false, 40).confidence, Some(Confidence::Medium));
    rejected(&of_alone(13, true, false, 40));
    // A direct read that waits for what somebody else wrote to its file: how fast reads are says nothing of that.
    assert!(is_found(&of_wait(Wait::OwnData, 100, true, false, 40)));
}

/// Block events: a task that syncs its writes does not interfere by its own commits; one that writes more than is committed does not sync them.
#[test]
fn the_journals_thread_commits_for_who_syncs() {
    let of = |writes: u64| {
        let mut recording = TraceBuilder::default();
        recording.called("tar", "jbd2/sda-8");
        for i in 0..150 {
            let at = (200 + 200 * i) * MS;
            for n in 0..writes {
                recording.sync_write(at, at, at + (n + 1) * 20 * MS / writes);
            }
            recording.commit(at + 100, at + 30 * MS);
            // Alone: what such writes take.
            recording.commit(at + 100 * MS, at + 110 * MS);
        }
        recording.verdict("background-task")
    };
    assert!(is_found(&of(4)), "{:?}", of(4));
    assert!(!is_found(&of(1)), "{:?}", of(1));
}
