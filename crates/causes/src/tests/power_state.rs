//! Remedies for a device that sleeps are those that its kind supports.

use super::*;

/// Reads of a millisecond, and after every pause of 50 ms one of 20 ms, on a device of this name.
fn of(name: &'static str, settings: &str) -> Vec<String> {
    let mut recording = TraceBuilder::default();
    recording.on(name).settings(settings);
    let mut at = 0;
    for _ in 0..30 {
        for _ in 0..10 {
            recording.read(at, at, at + MS);
            at += MS + 10;
        }
        at += 50 * MS;
        recording.read(at, at, at + 20 * MS);
        at += 20 * MS + 10;
    }
    let v = recording.verdict("power-state");
    found(&v);
    v.remedies.iter().for_each(|r| assert!(!r.command().contains("command line"), "{r:?}"));
    commands(&v)
}

#[test]
fn each_kind_of_device_is_kept_awake_in_its_own_way() {
    let nvme = "echo 0 > /sys/class/nvme/nvme12/power/pm_qos_latency_tolerance_us";
    assert_eq!(of("nvme12n1", ""), [nvme]);
    let sata = of("sda", "");
    assert!(
        sata[0].contains("readlink /sys/block/sda/device") && sata[1] == "hdparm -S 0 /dev/sda",
        "{sata:?}"
    );
    let flash = of("sda", "sda/queue/rotational: 0\n");
    assert!(flash.len() == 2 && !flash[1].contains("hdparm"), "{flash:?}");
    assert_eq!(of("mmcblk0", ""), ["echo on > /sys/block/mmcblk0/device/power/control"]);
    for name in ["loop0", "dm-1", "md0", "vda", "zram0", "nbd1", "nullb0"] {
        let looks = of(name, "");
        assert!(looks.len() == 1 && !looks[0].contains("echo"), "{looks:?}");
    }
}

/// Reads of half a second, each after a pause; or some without a pause, as slow.
#[test]
fn what_always_pauses_may_sleep() {
    let of = |together: u64| {
        let mut recording = TraceBuilder::default();
        let mut at = 0;
        for _ in 0..30 {
            for _ in 0..together {
                recording.read(at, at, at + 500 * MS);
                at += 500 * MS + 10;
            }
            at += 250 * MS;
        }
        [recording.verdict("power-state"), recording.verdict("slow-device")]
    };
    let [sleeps, slow] = of(1);
    assert_eq!(sleeps.verdict, Answer::CannotTell, "{sleeps:?}");
    assert!(says(&slow, "it may sleep meanwhile (power-state)"), "{slow:?}");
    assert!(commands(&slow)[0].starts_with("for n in 0 1; do dd if=/dev/sda "), "{slow:?}");
    let [sleeps, slow] = of(4);
    assert!(rejected(&sleeps).contains("took no longer than others"), "{sleeps:?}");
    assert!(!says(&slow, "it may sleep"), "{slow:?}");
}
