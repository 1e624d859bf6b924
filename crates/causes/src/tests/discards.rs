//! Discards, and requests beside them.

use super::*;
use crate::op_builder::OpBuilder;
use device::{Behind, Split};
use ledger::Reason;
use life::Io;
use operation::{Kind, Purpose, Wait};
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);

/// Reads of 1 ms, and some that have a discard beside them.
fn discards(beside: u64) -> TraceBuilder {
    so_many(8, 300, beside)
}

fn so_many(discards: u64, clear: u64, beside: u64) -> TraceBuilder {
    so_large(1024, discards, clear, beside)
}

/// The same with discards of so many KiB.
fn so_large(kib: u64, discards: u64, clear: u64, beside: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, clear);
    for i in 0..discards {
        let at = (2 * clear + 500 + 200 * i) * MS;
        recording.discard_of(kib, at, at + beside);
        recording.read(at + 10, at + 10, at + 10 + beside);
    }
    recording
}

#[test]
fn discards_that_hold_others_up() {
    let v = discards(50 * MS).verdict("discard-stall");
    assert!(found(&v) > 0.7, "{v:?}");
    assert!(
        v.evidence[1].sentence().contains("8 discards of 512 KiB")
            || v.evidence[1].sentence().contains("8 discards of"),
        "{v:?}"
    );
    rejected(&discards(MS + MS / 2).verdict("discard-stall"));
    let mut none = TraceBuilder::default();
    quick_reads(&mut none, 0, 300);
    none.read(900 * MS, 900 * MS, 990 * MS);
    let v = none.verdict("discard-stall");
    assert!(rejected(&v).contains("no slow operation had a discard beside it") && v.minor, "{v:?}");
}

#[test]
fn little_time_in_the_device_is_no_discards() {
    let of = |ms: u64| {
        super::paths::built(READ, Wait::DirectIo, Reason::Device, ms)
            .over(discards(50 * MS))
            .verdict("discard-stall")
    };
    let v = of(9);
    assert!(rejected(&v).contains("no slow operation had a discard beside it") && v.minor, "{v:?}");
    assert!(is_found(&of(12)));
}

#[test]
fn twice_as_slow_beside_them_is_the_threshold() {
    assert!(is_found(&discards(2 * MS + 100).verdict("discard-stall")));
    assert!(rejected(&discards(2 * MS - 100).verdict("discard-stall"))
        .contains("requests took 1.9 ms in sda (p50; 8 of them)"));
    // The time that they take without a discard is not due to it.
    let share = found(&discards(2 * MS + 100).verdict("discard-stall"));
    assert!((share - 0.52).abs() < 0.08, "{share}");
}

#[test]
fn five_beside_them_and_five_others_are_no_chance() {
    let of =
        |discards: u64, clear: u64| is_found(&so_many(discards, clear, 50 * MS).verdict("discard-stall"));
    assert_eq!((of(5, 300), of(4, 300)), (true, false));
    assert_eq!((of(8, 5), of(8, 4)), (true, false));
}

/// Requests are slower beside discards, but those that were slow had a task's reads before them.
#[test]
fn what_is_too_little_for_discards_is_left_to_others() {
    let built = || {
        let mut built = OpBuilder::default();
        let mut recording = discards(50 * MS);
        recording.called("reader", "tar");
        built.over(recording).quick(READ, 297);
        for _ in 0..3 {
            built.behind(READ, 40, 3, "tar", Bytes(4096));
        }
        built
    };
    let why = rejected(&built().verdict("discard-stall"));
    assert!(why.contains("were behind discards for 0 % of their time only"), "{why}");
    assert!((found(&built().verdict("background-task")) - 0.75).abs() < 0.02);
}

/// As slow as eight beside discards are so many others, of 6,000.
#[test]
fn a_tenth_of_the_slowest_beside_discards_is_the_threshold() {
    let of = |others: u64| {
        let mut recording = so_many(8, 6000, 50 * MS);
        for i in 0..others {
            let at = (15_000 + 200 * i) * MS;
            recording.read(at, at, at + 50 * MS);
        }
        recording.verdict("discard-stall")
    };
    // 8 of 72, and 8 of 88.
    assert!(is_found(&of(64)));
    assert!(rejected(&of(80)).contains("but those are only 9.1 % of the slowest"));
}

#[test]
fn a_discard_is_made_smaller_or_left_to_the_weekly_trim() {
    let of = |settings: &str, options: &str, mib: u64| {
        let mut recording = so_large(mib << 10, 8, 300, 50 * MS);
        recording.settings(&format!("sda/queue/rotational: 0\n{settings}"));
        recording.document("mounts.txt", &format!("/dev/sda /mnt/a\\040b ext4 {options} 0 0\n"));
        let v = recording.verdict("discard-stall");
        found(&v);
        let all: Vec<String> =
            commands(&v).iter().map(|c| c.replace(" > /sys/block/sda/queue/discard_max_bytes", "")).collect();
        all
    };
    let weekly = "systemctl list-timers fstrim.timer";
    for (max, less) in
        [("4194304", "echo 1048576"), ("134217728", "echo 16777216"), ("2147483648", "echo 67108864")]
    {
        assert_eq!(of(&format!("sda/queue/discard_max_bytes: {max}\n"), "rw", 65), [less, weekly]);
        assert_eq!(
            of(&format!("sda/queue/discard_max_bytes: {max}\n"), "rw", 1),
            [weekly],
            "they are not larger"
        );
    }
    assert_eq!(of("", "rw,discard", 1), ["mount -o remount,nodiscard '/mnt/a b'", weekly]);
    let both = of("sda/queue/discard_max_bytes: 134217728\n", "rw,discard", 65);
    assert_eq!(both[..2], ["mount -o remount,nodiscard '/mnt/a b'", "echo 16777216"]);
    assert_eq!(of("", "rw,nodiscard", 1), [weekly]);
}

#[test]
fn who_discards_is_paused_before_a_setting_is_changed() {
    let mut recording = so_large(65 << 10, 8, 300, 50 * MS);
    recording.called("postgres", "fstrim").settings("sda/queue/discard_max_bytes: 134217728\n");
    let built = commands(&recording.verdict("discard-stall"));
    assert_eq!(
        built[..2],
        ["kill -STOP $(pgrep -x fstrim)", "echo 16777216 > /sys/block/sda/queue/discard_max_bytes"]
    );
}

/// Requests take twice as long beside discards: of reads that were behind nothing else half is not their doing.
#[test]
fn what_requests_take_anyway_is_not_because_of_discards() {
    let mut built = OpBuilder::default();
    built.over(discards(2 * MS + 100)).quick(READ, 297);
    let split = Split {
        known: true,
        behind: {
            let mut behind = Split::default().behind;
            behind[0] = Behind { holder: built.holder("fstrim", Io::Discard), time: Nanos(100_000_000) };
            behind
        },
        ..Split::default()
    };
    for _ in 0..3 {
        built.inside(READ, split);
    }
    let share = found(&built.verdict("discard-stall"));
    assert!((share - 0.52).abs() < 0.08, "{share}");
}

/// After a removal a worker discards: whoever deleted the files is named and can be paused.
#[test]
fn who_deleted_the_files_is_named() {
    let mut built = super::paths::built(READ, Wait::DirectIo, Reason::Device, 40);
    built.over(discards(50 * MS)).sent_for(
        stats::Whose::Tasks("rm".into()),
        Purpose::Discard,
        Bytes(8 << 19),
    );
    let v = built.verdict("discard-stall");
    assert!(says(&v, "8 discards of 1 MiB on average, most for files that rm deleted"), "{v:?}");
    assert!(commands(&v).iter().any(|c| c.contains("kill -STOP") && c.contains("rm")), "{v:?}");
}
