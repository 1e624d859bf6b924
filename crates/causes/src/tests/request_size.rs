//! Writes that are split.

use super::*;
use crate::op_builder::{OpBuilder, READER};
use device::{Behind, Split};
use life::Io;
use operation::Kind;
use trace::{Bytes, Call};

fn cut(piece: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.cut_write(200 * i * MS, (200 * i + 100) * MS, MIB, piece);
    }
    recording
}

#[test]
fn found_where_large_writes_are_cut_small() {
    let mut recording = cut(32);
    recording.settings("sda/queue/max_sectors_kb: 32\nsda/queue/max_hw_sectors_kb: 32767\n");
    let v = recording.verdict("request-size");
    assert!((found(&v) - 31.0 / 32.0).abs() < 0.01, "{v:?}");
    assert!(v.evidence[0].sentence().contains("from 1 MiB into 32 requests"), "{v:?}");
    assert!(v.remedies[0].what.contains("max_sectors_kb 32 -> 1280"), "{v:?}");
}

#[test]
fn without_settings_it_says_so() {
    let v = cut(32).verdict("request-size");
    assert!(found(&v) > 0.9 && v.missing[0].sentence().contains("max_sectors_kb"), "{v:?}");
}

#[test]
fn requests_of_256_kib_are_large_enough() {
    assert!(rejected(&cut(256).verdict("request-size")).contains("large enough"));
    found(&cut(128).verdict("request-size"));
}

#[test]
fn rejected_where_the_hardware_takes_no_more() {
    let mut recording = cut(32);
    recording.settings("sda/queue/max_sectors_kb: 32\nsda/queue/max_hw_sectors_kb: 32\n");
    assert!(rejected(&recording.verdict("request-size")).contains("near the 32 KiB"));
}

#[test]
fn rejected_where_nothing_is_cut() {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.sync_write(200 * i * MS, 200 * i * MS, (200 * i + 100) * MS);
    }
    assert!(rejected(&recording.verdict("request-size")).contains("0 of 50"));
}

#[test]
fn what_a_large_limit_leaves_over_is_no_cut() {
    let mut recording = cut(64);
    found(&recording.verdict("request-size"));
    // One of 512 KiB was sent whole: so no limit cuts at 64.
    recording.cut_write(20_000 * MS, 20_010 * MS, 512, 512);
    assert!(rejected(&recording.verdict("request-size")).contains("requests of up to 512 KiB were sent"));
}

/// Beside 50 writes that are cut, so many as slow that are not, and alone in the device.
fn beside_whole(whole: u64) -> Verdict {
    let mut recording = cut(32);
    for i in 0..whole {
        let at = (20_000 + 200 * i) * MS;
        recording.sync_write(at, at, at + 100 * MS);
    }
    recording.verdict("request-size")
}

#[test]
fn half_of_the_time_in_line_is_the_threshold() {
    // 31 of 32 turns of the cut ones.
    assert!(is_found(&beside_whole(45)));
    assert!(rejected(&beside_whole(50)).contains("queued behind others for only 48 % of their time"));
}

#[test]
fn cut_writes_that_are_not_the_slow_ones_are_no_cause() {
    let mut recording = cut(32);
    recording.sync_write(20_000 * MS, 20_000 * MS, 40_000 * MS);
    assert!(rejected(&recording.verdict("request-size")).contains("50 of 51 synchronous writes were split"));
}

#[test]
fn what_is_proposed_is_what_the_kernel_and_the_device_allow() {
    let of = |settings: &str| {
        let mut recording = cut(32);
        let v = recording.settings(&format!("sda/queue/rotational: 0\n{settings}")).verdict("request-size");
        found(&v);
        (commands(&v).first().map(|c| c.replace(" > /sys/block/sda/queue/max_sectors_kb", "")), v)
    };
    let set = |hardware: u64, optimal: u64| {
        format!(
            "sda/queue/max_sectors_kb: 32\nsda/queue/max_hw_sectors_kb: {hardware}\nsda/queue/optimal_io_size: {optimal}\n"
        )
    };
    for (hardware, optimal, expected) in [
        (32_767, 0, "1280"),
        (1279, 0, "1279"),
        (512, 0, "512"),
        (32_767, 786_432, "768"),
        (512, 786_432, "512"),
    ] {
        assert_eq!(of(&set(hardware, optimal)).0, Some(format!("echo {expected}")), "{hardware} {optimal}");
    }
    // Not recorded: what the kernel allows by itself, or the device.
    assert_eq!(of("").0.as_deref(), Some("echo 1280"));
    assert_eq!(of("sda/queue/max_hw_sectors_kb: 64\n").0.as_deref(), Some("echo 64"));
    // The file is older than the recording: the sizes that were sent show the limit.
    let v = of("sda/queue/max_sectors_kb: 1280\nsda/queue/max_hw_sectors_kb: 32767\n").1;
    assert!(says(&v, "another limit held when this was recorded"), "{v:?}");
}

/// Pieces fill the tags: who waits for a tag behind them waits because of the cuts, so those are asked first.
#[test]
fn pieces_come_before_the_tags_that_they_fill() {
    let place = |name: &str| all().iter().position(|c| c.name == name);
    assert!(place("request-size") < place("tag-exhaustion"));
}

/// A hundred reads of 10 ms that are cut, so much of that behind their own pieces, and one that was behind another task for 300 ms besides.
fn cut_throughout(own_ms: u64) -> Verdict {
    let mut recording = TraceBuilder::of_any_kind();
    for at in (0..200).map(|i| i * 10 * MS) {
        recording.read(at, at, at + 5 * MS);
    }
    let mut built = OpBuilder::default();
    built.over(recording);
    let [tar, own] = ["tar", READER].map(|task| built.holder(task, Io::Read));
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    for n in 0..101 {
        let mut split = Split { known: true, own: ms(10 - own_ms), ..Split::default() };
        split.behind[0] = Behind { holder: own, time: ms(own_ms) };
        split.behind[1] = Behind { holder: tar, time: ms(if n == 50 { 300 } else { 0 }) };
        built.on_disk(Kind::Call(Call::Read), split.total().0 / 1000, |read| {
            (read.split, read.piece, read.contention.split) = (own_ms > 0, Bytes(32 << 10), split);
        });
    }
    built.verdict("request-size")
}

#[test]
fn what_is_cut_throughout_is_found_although_the_slowest_waited_for_others() {
    assert!(is_found(&cut_throughout(9)), "{:?}", cut_throughout(9));
    rejected(&cut_throughout(0));
}
