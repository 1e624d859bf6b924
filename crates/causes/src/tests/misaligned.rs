//! Writes of partial blocks.

use super::*;

/// So many writes of whole blocks of 1 ms each, and of parts of blocks that take so long.
fn writes(whole: u64, parts: u64, took: u64) -> TraceBuilder {
    writes_of(MS, whole, parts, took)
}

/// The same with whole blocks that take so long.
fn writes_of(usual: u64, whole: u64, parts: u64, took: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..whole {
        recording.write_at(2 * i * usual, (2 * i + 1) * usual, 0, 4096);
    }
    for i in 0..parts {
        let at = 2000 * MS + i * (took + MS);
        recording.write_at(at, at + took, 512, 4096);
    }
    recording
}

#[test]
fn found_with_what_they_took_longer() {
    let v = writes(200, 50, 10 * MS).verdict("misaligned");
    assert!((found(&v) - 0.9).abs() < 0.01, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(
        v.evidence[0]
            .sentence()
            .contains("50 of 250 writes to sda were not whole blocks of 4 KiB; they took 10 ms"),
        "{v:?}"
    );
    let mut sure = writes(200, 50, 10 * MS);
    let v = sure.settings("sda/queue/physical_block_size: 4096\n").verdict("misaligned");
    assert_eq!((found(&v) > 0.8, v.confidence), (true, Some(Confidence::High)));
}

#[test]
fn half_as_long_again_is_the_threshold() {
    found(&writes_of(4 * MS, 200, 50, 6040).verdict("misaligned"));
    assert!(rejected(&writes_of(4 * MS, 200, 50, 5960).verdict("misaligned")).contains("they took 5.96 ms"));
}

#[test]
fn one_in_twenty_is_a_habit() {
    found(&writes(570, 30, 10 * MS).verdict("misaligned"));
    assert!(rejected(&writes(571, 30, 10 * MS).verdict("misaligned")).contains("30 of 601 writes"));
}

#[test]
fn without_whole_ones_to_compare_with_only_the_device_can_rule_it_out() {
    assert!(cannot_tell(&writes(24, 50, 10 * MS).verdict("misaligned")).contains("too few comparable"));
    let mut small = writes(24, 50, 10 * MS);
    small.settings("sda/queue/physical_block_size: 512\n");
    assert!(rejected(&small.verdict("misaligned")).contains("physical_block_size is 512"));
}

#[test]
fn whole_blocks_are_no_concern_of_it() {
    rejected(&writes(200, 0, 0).verdict("misaligned"));
    let mut reads = TraceBuilder::default();
    quick_reads(&mut reads, 0, 200);
    rejected(&reads.verdict("misaligned"));
    cannot_tell(&writes(200, 50, 10 * MS).lost(500).verdict("misaligned"));
}

/// Three of 200 are slow for another reason, too; what half-blocks cost is so much of it.
#[test]
fn a_tenth_of_the_time_is_the_threshold() {
    let of = |whole: u64| {
        let mut recording = writes_of(4 * MS, 200, 50, 8 * MS);
        for i in 0..whole {
            recording.write_at((4000 + 20 * i) * MS, (4000 + 20 * i) * MS + 8 * MS, 0, 65536);
        }
        recording.verdict("misaligned")
    };
    // Half of their time is the price: of 50 in 200 as slow, and of 50 in 300.
    assert!(is_found(&of(150)));
    assert!(rejected(&of(250))
        .contains("they took 8 ms (mean D2C), whole blocks of about their size 4 ms: that is 8.3 %"));
}

/// Only the matching remedy is proposed: the place is wrong for all of them, the length is a program's choice.
#[test]
fn a_place_is_the_partitions_and_a_length_the_programs() {
    let misplaced = commands(&writes(200, 50, 10 * MS).verdict("misaligned"));
    assert!(
        misplaced.len() == 1 && misplaced[0].starts_with("grep . /sys/block/sda/*/start"),
        "{misplaced:?}"
    );
    let short = |whole: u64, name: &str, mounts: &str| {
        let mut recording = TraceBuilder::default();
        recording.called(name, "flusher");
        for i in 0..200 {
            recording.write_at(2 * i * MS, (2 * i + 1) * MS, 0, 4096);
        }
        for i in 0..50 {
            let at = (2000 + i * 11) * MS;
            let bytes = if i < whole { 4096 } else { 3584 };
            recording.write_at(at, at + 10 * MS, 512, bytes);
        }
        recording.settings("sda/queue/rotational: 0\n").document("mounts.txt", mounts);
        let v = recording.verdict("misaligned");
        found(&v);
        commands(&v)
    };
    assert_eq!(short(25, "db", "")[0][..4], *"grep", "half of them are only misplaced");
    let (of_program, xfs) = (short(24, "db", ""), "/dev/sda /mnt xfs rw 0 0\n");
    assert!(of_program.len() == 1 && of_program[0].starts_with("strace"), "{of_program:?}");
    assert_eq!(short(0, "db", "/dev/sda /mnt ext4 rw 0 0\n"), of_program);
    assert_eq!(short(0, "mysqld", "")[0], "mysql -e 'SET GLOBAL innodb_log_write_ahead_size=4096'");
    // Requests alone do not show whose log it is.
    assert_eq!(short(0, "db", xfs)[1], "mkfs.xfs -s size=4096 /dev/NEW");
}

#[test]
fn little_time_in_the_device_says_nothing() {
    let mut recording = writes(570, 30, 10 * MS);
    for i in 0..7 {
        let at = (5000 + 200 * i) * MS;
        recording.write_without_tag(at, at + 95 * MS, at + 100 * MS);
    }
    let v = recording.verdict("misaligned");
    assert!(rejected(&v).contains("no slow operation wrote a partial block") && v.minor, "{v:?}");
}
