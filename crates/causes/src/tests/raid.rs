//! Writes to an array of one disk.

use super::*;

/// The same, each write behind the one before.
fn sequential(waiting: u64, reading: u64, writing: u64, note: &str) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.raid_write_on(100 * i * MS, waiting * MS, reading * MS, writing * MS);
        recording.note(100 * i * MS, note);
    }
    recording
}

fn array(waiting: u64, reading: u64, writing: u64, note: &str) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.raid_write(100 * i * MS, waiting * MS, reading * MS, writing * MS);
        if !note.is_empty() {
            recording.note(100 * i * MS, note);
        }
    }
    recording
}

#[test]
fn reads_before_a_write_are_found_with_the_kernels_notes() {
    let v = array(1, 12, 7, "raid5 rmw 645120 2").verdict("raid-read-modify-write");
    assert!((found(&v) - 0.6).abs() < 0.01, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.evidence.iter().any(|e| e.sentence().contains("50 read-modify-writes")), "{v:?}");
}

#[test]
fn without_notes_the_reads_alone_are_less_sure() {
    let v = array(1, 12, 7, "").verdict("raid-read-modify-write");
    found(&v);
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(
        !says(&v, "the kernel reported")
            && v.missing[0].sentence().contains("the kernel's messages about md0"),
        "{v:?}"
    );
}

#[test]
fn no_reads_no_read_modify_write() {
    let v = array(1, 0, 19, "raid5 rcw 8 1 2 0").verdict("raid-read-modify-write");
    assert!(rejected(&v).contains("0 % of their time"), "{v:?}");
}

#[test]
fn an_array_alone_cannot_tell_how_long_the_reads_took() {
    let mut recording = array(20, 0, 0, "raid5 rmw 645120 2");
    assert!(cannot_tell(&recording.verdict("raid-read-modify-write")).contains("50 raid5 rmw"));
    assert!(cannot_tell(&recording.verdict("device-saturated")).contains("blktrace -d /dev/md0"));
    assert!(cannot_tell(&recording.verdict("raid-bitmap")).contains("members of md0 were not recorded"));
}

#[test]
fn waiting_in_md_with_many_bitmap_updates_is_the_bitmap() {
    let v = array(10, 0, 10, "md bitmap_unplug").verdict("raid-bitmap");
    assert!((found(&v) - 0.5).abs() < 0.01, "{v:?}");
    assert!(v.evidence[0].sentence().contains("50 times"), "{v:?}");
}

#[test]
fn a_bitmap_that_is_seldom_written_or_costs_nothing_is_not_it() {
    let v = array(10, 0, 10, "raid5 rcw 8 1 2 0").verdict("raid-bitmap");
    assert!(rejected(&v).starts_with("0 bitmap updates"), "{v:?}");
    let v = array(0, 0, 20, "md bitmap_unplug").verdict("raid-bitmap");
    assert!(rejected(&v).contains("waited in md for 0 %"), "{v:?}");
}

#[test]
fn without_notes_a_wait_in_md_cannot_be_told() {
    assert!(cannot_tell(&array(10, 0, 10, "").verdict("raid-bitmap")).contains("messages"));
}

#[test]
fn what_md_writes_for_itself_is_told_with_its_time() {
    let mut recording = array(10, 0, 10, "md bitmap_unplug");
    for i in 0..50 {
        recording.bitmap_write((100 * i + 1) * MS, (100 * i + 9) * MS);
    }
    let v = recording.verdict("raid-bitmap");
    found(&v);
    let told = "md wrote its bitmap and superblock to sda 50 times, 8 ms each (mean Q2C), 400 ms of";
    assert!(v.evidence[1].sentence().starts_with(told), "{v:?}");
}

const SETTINGS: &str = "md0/md/level: raid5\nmd0/md/chunk_size: 65536\nmd0/md/raid_disks: 5\n\
    md0/md/stripe_cache_size: 256\nmd0/md/group_thread_cnt: 0\n";
const NEW_ARRAY: &str =
    "mdadm --create /dev/mdNEW --level=10 --raid-devices=5 NEW_DISKS  # in place of /dev/md0";

#[test]
fn cheap_remedies_come_first_and_the_new_array_last() {
    let mut recording = sequential(0, 13, 7, "raid5 rmw 645120 2");
    recording.document("queue-md0.txt", SETTINGS);
    let expected = [
        "echo 4096 > /sys/block/md0/md/stripe_cache_size",
        "cat /sys/block/md0/queue/optimal_io_size",
        NEW_ARRAY,
    ];
    assert_eq!(commands(&recording.verdict("raid-read-modify-write")), expected);
    // Of small scattered writes neither a cache nor a file system makes whole stripes.
    let mut recording = array(0, 13, 7, "raid5 rmw 645120 2");
    recording.document("queue-md0.txt", SETTINGS);
    let v = recording.verdict("raid-read-modify-write");
    assert_eq!(commands(&v), [NEW_ARRAY]);
    assert!(v.remedies[0].what.ends_with("; destroys all data on NEW_DISKS"), "{v:?}");
}

#[test]
fn threads_are_for_writes_that_wait_in_md_itself() {
    let threads = "echo 4 > /sys/block/md0/md/group_thread_cnt";
    let mut recording = array(5, 10, 5, "raid5 rmw 645120 2");
    recording.document("queue-md0.txt", SETTINGS);
    assert_eq!(commands(&recording.verdict("raid-read-modify-write"))[0], threads);
    // Where the bitmap explains that wait, they do not help.
    let mut recording = array(5, 10, 5, "raid5 rmw 645120 2");
    for i in 0..50 {
        recording.note(100 * i * MS, "md bitmap_unplug");
    }
    assert!(!commands(&recording.verdict("raid-read-modify-write")).contains(&threads.to_string()));
}

#[test]
fn a_file_system_that_is_mounted_is_told_how_wide_a_stripe_is() {
    let with = |mounts: &str| {
        let mut recording = sequential(0, 13, 7, "raid5 rmw 645120 2");
        recording.document("queue-md0.txt", SETTINGS).document("mounts.txt", mounts);
        commands(&recording.verdict("raid-read-modify-write"))[1].to_string()
    };
    let ext4 = with("/dev/md0 /mnt ext4 rw,relatime 0 0\n");
    assert_eq!(ext4, "tune2fs -E stride=16,stripe_width=64 /dev/md0");
    let xfs = with("/dev/md0 /srv xfs rw,relatime 0 0\n");
    assert_eq!(xfs, "umount /srv && mount -o sunit=128,swidth=512 /dev/md0 /srv");
}

#[test]
fn a_tenth_is_the_threshold_of_what_waited_in_md_or_below() {
    let rmw =
        |reading: u64| array(0, reading, 100 - reading, "raid5 rmw 8 1").verdict("raid-read-modify-write");
    assert!(is_found(&rmw(11)));
    assert!(rejected(&rmw(9)).contains("waited for reads on the members of md0 for 9.0 % of their time"));
    let bitmap = |waiting: u64| array(waiting, 0, 100 - waiting, "md bitmap_unplug").verdict("raid-bitmap");
    assert!(is_found(&bitmap(11)));
    assert!(rejected(&bitmap(9)).contains("waited in md for 9.0 % of their time"));
}

#[test]
fn reads_that_are_none_of_a_stripe_are_not_its() {
    let v = array(1, 12, 7, "md bitmap_unplug").verdict("raid-read-modify-write");
    assert_eq!(rejected(&v), "the kernel reported no raid5 rmw or rcw on md0");
    let mut none = TraceBuilder::default();
    quick_reads(&mut none, 0, 200);
    for cause in ["raid-read-modify-write", "raid-bitmap"] {
        let v = none.verdict(cause);
        assert!(rejected(&v).contains("no slow write passed through a RAID array") && v.minor, "{v:?}");
    }
}

#[test]
fn one_bitmap_update_for_a_thousand_writes_is_the_threshold() {
    let of = |writes: u64| {
        let mut recording = TraceBuilder::default();
        recording.note(0, "md bitmap_unplug");
        for i in 0..writes {
            recording.raid_write(20 * i * MS, 5 * MS, 0, 5 * MS);
        }
        recording.verdict("raid-bitmap")
    };
    assert!(is_found(&of(1000)));
    assert_eq!(rejected(&of(1001)), "1 bitmap update (md bitmap_unplug) for 1,001 writes on md0");
}

#[test]
fn an_array_without_a_bitmap_waits_for_none() {
    let mut recording = array(10, 0, 10, "md bitmap_unplug");
    recording.document("queue-md0.txt", "md0/md/consistency_policy: resync\n");
    assert!(rejected(&recording.verdict("raid-bitmap"))
        .starts_with("md0 has no bitmap (consistency_policy, queue-md0.txt:1)"));
}

/// A larger cache collects neighbours; it is not proposed if writes are scattered.
#[test]
fn half_of_the_writes_beside_the_one_before_is_hope() {
    let hope = |beside: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..100 {
            match i % 20 < beside {
                true => recording.raid_write_on(50 * i * MS, 0, 13 * MS, 7 * MS),
                false => recording.raid_write(50 * i * MS, 0, 13 * MS, 7 * MS),
            };
        }
        let v = recording.verdict("raid-read-modify-write");
        found(&v);
        let cache = v.remedies.iter().find(|r| r.command().contains("stripe_cache_size"));
        cache.map(|r| r.what.rsplit("; ").next().unwrap_or_default().to_string())
    };
    assert_eq!(hope(11).as_deref(), Some("55 % of the writes here follow the one before"));
    assert_eq!(hope(9), None, "a remedy that helps little is not offered");
}

#[test]
fn two_disks_of_a_raid6_hold_no_data() {
    let mut recording = array(0, 13, 7, "raid5 rmw 645120 2");
    recording.document("queue-md0.txt", &SETTINGS.replace("raid5", "raid6"));
    let v = recording.verdict("raid-read-modify-write");
    assert!(says(&v, "a whole stripe 192 KiB (chunk 64 KiB (queue-md0.txt:2), 3 of 5 disks)"), "{v:?}");
    let unknown = array(0, 13, 7, "raid5 rmw 645120 2").verdict("raid-read-modify-write");
    assert!(
        unknown.missing.iter().any(|m| m.sentence().contains("chunk_size and raid_disks of md0")),
        "{unknown:?}"
    );
}

#[test]
fn what_the_array_has_already_is_not_proposed() {
    let of = |cache: u64, threads: u64| {
        let mut recording = sequential(5, 10, 5, "raid5 rmw 645120 2");
        let settings = SETTINGS.replace("size: 256", &format!("size: {cache}"));
        recording.document("queue-md0.txt", &settings.replace("cnt: 0", &format!("cnt: {threads}")));
        let v = recording.verdict("raid-read-modify-write");
        ["stripe_cache_size", "group_thread_cnt"].map(|file| commands(&v).iter().any(|c| c.contains(file)))
    };
    assert_eq!(of(4095, 0), [true, true]);
    assert_eq!(of(4096, 1), [false, false]);
}

/// md may have read for a write, which is not seen, as long as the write is in md itself: then it cannot be told.
#[test]
fn reads_for_which_no_write_is_known_leave_it_open() {
    let of = |waiting: u64, reads: u64| {
        let mut recording = array(waiting, 0, 100 - waiting, "raid5 rmw 8 1");
        for i in 0..reads {
            let at = 100 * i * MS;
            recording.raid_read(at, at + 20 * MS);
        }
        recording.verdict("raid-read-modify-write")
    };
    let v = of(12, 50);
    assert!(
        cannot_tell(&v)
            .ends_with("for which writes md0 sent 50 reads more to its members is unknown, 1 s together"),
        "{v:?}"
    );
    // That is nothing to the bitmap: it reads nothing.
    let mut bitmap = array(9, 0, 91, "md bitmap_unplug");
    for i in 0..50 {
        bitmap.raid_read(100 * i * MS, (100 * i + 20) * MS);
    }
    rejected(&bitmap.verdict("raid-bitmap"));
    // As long as they took, or as long as the writes were in md, is not a tenth.
    for v in [of(9, 50), of(12, 0), of(12, 4)] {
        assert!(
            rejected(&v).contains("waited for reads on the members of md0 for 0 % of their time"),
            "{v:?}"
        );
    }
}
