//! Loads that measure a device: they do what the slow operations did, where that does no harm.

use super::*;
use crate::op_builder::OpBuilder;
use device::Split;
use operation::{Kind, Wait};
use trace::Call;

/// Eight at a time, so large each, one far from the other or one behind the other: the device takes a millisecond for each.
fn eight_at_once(write: bool, bytes: u64, in_order: bool) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..800 {
        let (batch, k) = (i / 8, i % 8);
        let (queued, done) = (8 * batch * MS, (8 * batch + k + 1) * MS);
        match (write, in_order) {
            (true, false) => recording.write_at(queued, done, 0, bytes),
            (true, true) => recording.write_behind(queued, done, bytes),
            (false, _) => recording.large_read(queued, done, bytes >> 10),
        };
    }
    recording
}

fn measured(recording: &mut TraceBuilder, mounts: &str) -> (String, String) {
    recording.settings("sda/queue/rotational: 0\n").document("mounts.txt", mounts);
    let v = recording.verdict("device-saturated");
    found(&v);
    let fio = v.remedies.iter().find(|r| r.command().starts_with("fio")).expect("a measurement");
    commands(&v);
    (fio.command(), fio.what.clone())
}

#[test]
fn what_reads_is_measured_by_reads_of_the_same_size() {
    for (kib, bs) in [(16, "16k"), (256, "256k")] {
        let (command, what) = measured(&mut eight_at_once(false, kib << 10, false), "");
        let expected = format!(
            "fio --name=limit --filename=/dev/sda --readonly --rw=randread --bs={bs} --direct=1 --ioengine=libaio \
             --iodepth=5 --runtime=10 --time_based"
        );
        assert_eq!(command, expected, "all eight are there at first, and one at last");
        assert!(what.contains(&format!("random reads of {kib} KiB, 5 at a time")), "{what}");
        assert!(what.contains("no more than the 1,000 a second"), "{what}");
    }
}

#[test]
fn what_writes_is_measured_by_writes_to_a_file_there() {
    let mounts = "/dev/sda /mnt/a\\040b ext4 rw 0 0\n/dev/sda /bound ext4 rw 0 0\n";
    let (command, what) = measured(&mut eight_at_once(true, 8192, false), mounts);
    assert!(
        command.contains("--directory='/mnt/a b' --size=256M --unlink=1 --rw=randwrite --bs=8k"),
        "{command}"
    );
    assert!(what.contains("needs 256 MiB of space"), "{what}");
    let (command, what) = measured(&mut eight_at_once(true, 8192, true), "");
    assert!(command.contains("--directory=DIR") && command.contains("--rw=write --bs=8k"), "{command}");
    assert!(what.contains("DIR, a directory on it"), "{what}");
}

/// Where mounts are known and none is of this device, it is used without a file system.
#[test]
fn what_writes_to_a_raw_device_is_measured_by_reads() {
    let (command, what) = measured(&mut eight_at_once(true, 4096, false), "/dev/sdb / ext4 rw 0 0\n");
    assert!(command.contains("--filename=/dev/sda --readonly --rw=randread --bs=4k"), "{command}");
    assert!(what.contains("writing to it would destroy what it holds"), "{what}");
}

/// Another partition's file system is not that of the slow operations.
#[test]
fn a_disk_of_two_file_systems_is_none_of_them() {
    let mounts = "/dev/sda1 /boot ext4 rw 0 0\n/dev/sda2 /data ext4 rw 0 0\n";
    let mut recording = eight_at_once(true, 4096, false);
    recording.settings("sda1/size: 8\nsda2/size: 8\n");
    let (command, _) = measured(&mut recording, mounts);
    assert!(!command.contains("/boot") && !command.contains("/data"), "{command}");
}

#[test]
fn a_slow_device_is_measured_by_what_was_slow_on_it() {
    let of_so_many = |kind: Kind, quick: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        let mut at = 400 * MS;
        for i in 0..50 {
            let took = (15 + 7 * i % 11) * MS;
            recording.write_at(at, at + took, 0, 16 << 10);
            at += took + 10;
        }
        recording.settings("sda/queue/rotational: 0\n").document("mounts.txt", "/dev/sda /mnt ext4 rw 0 0\n");
        let mut built = OpBuilder::default();
        built.over(recording).quick(kind, quick).waiting_for(Wait::DirectIo);
        for _ in 0..3 {
            built.inside(kind, Split { known: true, own: Nanos(20 * MS * 1000), ..Split::default() });
        }
        let v = built.verdict("slow-device");
        found(&v);
        v
    };
    let of = |kind: Kind| commands(&of_so_many(kind, 297))[0].clone();
    let (sync, write) = (of(Kind::Call(Call::Fdatasync)), of(Kind::Call(Call::Write)));
    // Three hundred syncs of fifty writes, which no commit followed: what they write has its place.
    assert!(sync.contains("--rw=randwrite --bs=16k --fdatasync=1 --overwrite=1 --runtime"), "{sync}");
    assert!(of(Kind::Call(Call::Syncfs)).contains("--fsync=1 "));
    // Twenty-five syncs of fifty writes.
    let seldom = of_so_many(Kind::Call(Call::Fsync), 22);
    assert!(commands(&seldom)[0].contains("--fsync=2 --overwrite=1 --runtime"), "{seldom:?}");
    // The writes of one sync wait for each other: the time of each alone is not the device's.
    assert!(says(&seldom, "fsyncs waited for 2 writes of 16 KiB each time"), "{seldom:?}");
    let often = of_so_many(Kind::Call(Call::Fsync), 297);
    assert!(!says(&often, "each time"), "{often:?}");
    assert!(write.contains("--directory=/mnt") && write.contains("--bs=16k --direct=1"), "{write}");
}

/// Writes that follow each other, or lie apart, of so many KiB; and syncs.
#[test]
fn small_pieces_in_order_are_to_be_larger() {
    let first = |kind: Kind, in_order: bool, kib: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        let mut at = 0;
        for i in 0..100 {
            let took = (15 + 7 * i % 11) * MS;
            match in_order {
                true => recording.write_behind(at, at + took, kib << 10),
                false => recording.write_at(at, at + took, 0, kib << 10),
            };
            at += took + 10;
        }
        recording.settings("sda/queue/rotational: 0\n").document("mounts.txt", "/dev/sda /mnt ext4 rw 0 0\n");
        let mut built = OpBuilder::default();
        built.over(recording).by("cp").quick(kind, 297).waiting_for(Wait::DirectIo);
        for _ in 0..3 {
            built.inside(kind, Split { known: true, own: Nanos(20 * MS * 1000), ..Split::default() });
        }
        commands(&built.verdict("slow-device")).remove(0)
    };
    let write = Kind::Call(Call::Write);
    assert!(first(write, true, 4).starts_with("strace -fy -e read,pread64,write"));
    assert!(first(write, false, 4).starts_with("fio "), "apart");
    assert!(first(write, true, 64).starts_with("strace") && first(write, true, 128).starts_with("fio "));
    assert!(first(Kind::Call(Call::Fdatasync), true, 4).starts_with("fio "), "a log is written so");
}

/// Libaio whose reads are never in flight together: something waits for each.
#[test]
fn libaio_one_by_one_may_read_through_the_cache() {
    let says_so = |kind: Kind, at_once: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..200 {
            for k in 0..at_once {
                recording.read(i * 40 * MS, i * 40 * MS, (i * 40 + 20 + k) * MS);
            }
        }
        recording.settings("sda/queue/rotational: 0\n");
        let mut built = OpBuilder::default();
        built.over(recording).by("fio").quick(kind, 297).waiting_for(Wait::DirectIo);
        for _ in 0..3 {
            built.inside(kind, Split { known: true, own: Nanos(20 * MS * 1000), ..Split::default() });
        }
        built.verdict("slow-device").remedies.iter().any(|r| r.what.contains("without O_DIRECT"))
    };
    assert!(says_so(Kind::AioRead, 1) && !says_so(Kind::AioRead, 2));
    assert!(!says_so(Kind::Call(Call::Read), 1));
}
