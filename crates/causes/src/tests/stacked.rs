//! What operations wait for in md and dm-crypt: their settings, and which remedies follow.

use super::paths::built;
use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);
const WRITE: Kind = Kind::Call(Call::Write);

/// Three of 300 writes waited in the stripe cache for 60 of 100 ms, and for so many more while md reckoned. The member of md0 is
/// busy for so many of 100 ms.
fn in_cache(reckoning: u64, busy: u64, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.raid_write(100 * i * MS, 0, 0, busy * MS);
    }
    recording.document("queue-md0.txt", &format!("md0/md/level: raid5\n{settings}"));
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..3 {
        let sleeps = [
            (Wait::StripeCache, Reason::Device, 60),
            (Wait::StripeCache, Reason::OnCpu, reckoning),
            (Wait::Input, Reason::Sleep, 39 - reckoning),
        ];
        built.slow(WRITE, 100, &sleeps);
    }
    let v = built.over(recording).verdict("raid-stripe-cache");
    assert!(found(&v) > 0.5, "{v:?}");
    v
}

#[test]
fn a_larger_cache_is_proposed_up_to_what_the_kernel_takes() {
    let of = |entries: &str| {
        let v = in_cache(0, 50, &format!("md0/md/stripe_cache_size: {entries}\n"));
        assert!(
            says(&v, &format!("the stripe cache of md0 has {entries} stripe heads (queue-md0.txt:2)")),
            "{v:?}"
        );
        commands(&v).first().map(|c| c.replace(" > /sys/block/md0/md/stripe_cache_size", ""))
    };
    for (entries, larger) in [
        ("256", Some("echo 4096")),
        ("4095", Some("echo 4096")),
        ("4096", Some("echo 16384")),
        ("8193", Some("echo 32768")),
        ("32767", Some("echo 32768")),
        ("32768", None),
    ] {
        assert_eq!(of(entries).as_deref(), larger, "{entries}");
    }
    assert_eq!(commands(&in_cache(0, 50, ""))[0], "echo 4096 > /sys/block/md0/md/stripe_cache_size");
    // The name of an array that was not recorded is not known.
    let unknown = built(WRITE, Wait::StripeCache, Reason::Device, 80).verdict("raid-stripe-cache");
    assert_eq!(commands(&unknown), ["echo 4096 > /sys/block/mdN/md/stripe_cache_size"]);
}

#[test]
fn members_that_are_busy_all_the_time_make_less_sure() {
    let of = |busy: u64| in_cache(0, busy, "").confidence;
    assert_eq!((of(89), of(91)), (Some(Confidence::High), Some(Confidence::Medium)));
}

#[test]
fn threads_are_for_an_array_that_reckons_for_a_tenth_of_the_time() {
    let of = |reckoning: u64, settings: &str| {
        commands(&in_cache(reckoning, 50, settings))
            .contains(&"echo 4 > /sys/block/md0/md/group_thread_cnt".to_string())
    };
    assert_eq!((of(9, ""), of(11, "")), (false, true));
    assert_eq!(
        (of(11, "md0/md/group_thread_cnt: 0\n"), of(11, "md0/md/group_thread_cnt: 1\n")),
        (true, false)
    );
}

/// Stripes that wait for the bitmap are another cause's.
#[test]
fn the_bitmap_is_named_with_its_array() {
    let mut recording = TraceBuilder::default();
    recording.raid_write(0, 0, 0, 10 * MS);
    let mut known = built(WRITE, Wait::RaidBitmap, Reason::Device, 80);
    let v = known.over(recording).verdict("raid-bitmap");
    assert_eq!(commands(&v).last().map(String::as_str), Some("mdadm --grow --bitmap=none /dev/md0"));
    assert_eq!(v.remedies.len(), 2);
    let v = built(WRITE, Wait::RaidBitmap, Reason::Device, 80).verdict("raid-bitmap");
    assert_eq!(commands(&v).last().map(String::as_str), Some("mdadm --grow --bitmap=none /dev/mdN"));
    assert_eq!(v.remedies.len(), 2);
}

/// The slowest below are nearly, not exactly, those that the slow operations above waited for.
#[test]
fn what_was_done_below_is_less_sure() {
    let mut recording = TraceBuilder::default();
    for i in 0..100 {
        recording.stacked_read(10 * i * MS, (10 * i + 1) * MS);
    }
    for i in 0..100 {
        for k in 0..8 {
            recording.stacked_read((1000 + 20 * i) * MS + k, (1000 + 20 * i + 2 * (k + 1)) * MS);
        }
    }
    let v = recording.verdict("device-saturated");
    assert!(found(&v) > 0.7 && says(&v, "sda was busy") && v.confidence == Some(Confidence::Medium), "{v:?}");
    assert!(commands(&v)[0].contains("IOReadIOPSMax=\"/dev/dm-0 "), "{v:?}");
}

/// What crypt-queue says of an operation that lay in the queues for 60 of 100 ms and was worked on for so many.
fn encrypted(kinds: &[Kind], worked: u64, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    recording.settings(&format!("sda/queue/rotational: 0\n{settings}"));
    let mut built = OpBuilder::default();
    for kind in kinds {
        built.quick(*kind, 297);
        for _ in 0..3 {
            let sleeps = [
                (Wait::Crypt, Reason::WorkQueue, 60),
                (Wait::Crypt, Reason::OnCpu, worked),
                (Wait::Input, Reason::Sleep, 39 - worked),
            ];
            built.slow(*kind, 100, &sleeps);
        }
    }
    let v = built.over(recording).verdict("crypt-queue");
    assert!(found(&v) > 0.5, "{v:?}");
    v
}

#[test]
fn the_flags_of_dm_crypt_are_for_what_waited() {
    let named = "sda/dm/name: my crypt\n";
    let below = "cryptsetup refresh --perf-submit_from_crypt_cpus";
    for (kinds, settings, expected) in [
        (&[READ][..], "", vec!["cryptsetup refresh --perf-no_read_workqueue NAME".to_string()]),
        (&[READ], "sda/dm/name: db\n", vec!["cryptsetup refresh --perf-no_read_workqueue db".into()]),
        (
            &[WRITE],
            "",
            vec!["cryptsetup refresh --perf-no_write_workqueue NAME".into(), format!("{below} NAME")],
        ),
        (
            &[READ, WRITE],
            "",
            vec![
                "cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue NAME".into(),
                format!("{below} NAME"),
            ],
        ),
    ] {
        assert_eq!(commands(&encrypted(kinds, 0, settings)), expected, "{kinds:?}");
    }
    let v = encrypted(&[READ], 0, named);
    assert!(
        says(&v, "dm-crypt's workers held the slowest reads for 0 % of their time while running"),
        "{v:?}"
    );
}

#[test]
fn small_sectors_matter_where_encrypting_takes_a_tenth() {
    let anew = "cryptsetup reencrypt --sector-size 4096 /dev/BELOW";
    let of = |worked: u64, size: u64| {
        let v = encrypted(&[READ], worked, &format!("sda/queue/logical_block_size: {size}\n"));
        commands(&v).contains(&anew.to_string())
    };
    assert_eq!((of(9, 512), of(11, 512), of(11, 4096)), (false, true, false));
    assert!(!of(11, 1024) && !of(11, 256));
}

/// With block events alone, only a stacked device that is of no other kind may be encrypted.
#[test]
fn which_device_may_be_encrypted() {
    let of = |settings: &str| {
        let mut recording = TraceBuilder::default();
        recording.stacked_read(0, 20 * MS).document("queue-dm-0.txt", settings);
        recording.verdict("crypt-queue")
    };
    assert!(cannot_tell(&of("")).contains("iowhy record"));
    assert!(cannot_tell(&of("dm-0/dm/uuid: CRYPT-LUKS2-12\n")).contains("iowhy record"));
    for other in ["LVM-12", "mpath-12"] {
        let v = of(&format!("dm-0/dm/uuid: {other}\n"));
        assert!(rejected(&v).contains("no encrypted device was recorded") && v.minor, "{other}");
    }
    // An array is not.
    let mut array = TraceBuilder::default();
    array.raid_write(0, 0, 0, 20 * MS);
    assert!(rejected(&array.verdict("crypt-queue")).contains("no encrypted device was recorded"));
}
