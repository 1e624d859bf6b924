//! Live, as root: operations on a slow disk, recorded, and their accounts compared with what fio measured itself.
//!
//! Each recording is read twice: through the program (`explain`), and operation by operation, where every account must
//! cover its operation exactly. What fio says is the independent witness: how many operations there were, and how long
//! they took. Says loudly what it could not test.

use crate::lab::{All, Case, Recorded};
use ledger::Reason;
use operation::{Account, Kind, Operation, Part, Wait};
use serde_json::Value as Json;
use std::collections::HashMap;
use trace::{Call, Nanos};

/// 0.2 ms for a read, 0.3 ms for a write, four at a time.
const SSD: &str = "--channels 4 --read-us 200 --write-us 300";
/// 1 ms for a write, 1.5 ms for a flush.
const FLUSHED: &str = "--channels 4 --read-us 200 --write-us 1000 --flush-us 1500";

/// fio takes the time before and after each call, and counts: 1 to 30 us, of which most are in user space. On a machine
/// that is busy with other tests an interrupt may come in between.
const CLOSE: Nanos = Nanos(200_000);

/// And of half of all calls no more than this.
const MOSTLY: Nanos = Nanos(20_000);

/// What is asked for with io_uring is over for fio when it looks at the ring in its memory, for which it needs a processor.
const COLLECTED: Nanos = Nanos(500_000);

type One = (Operation, Account, String);

/// Whether some part of an operation waited so.
fn waited(account: &Account, waits: &[Wait]) -> bool {
    account.nodes.iter().any(|n| matches!(n.part, Part::Wait { wait, .. } if waits.contains(&wait)))
}

fn whole(v: &Json) -> u64 {
    v.as_u64().unwrap_or_else(|| panic!("a whole number, not {v}"))
}

fn mean(all: &[&One]) -> f64 {
    all.iter().map(|(o, ..)| o.total().0 as f64).sum::<f64>() / all.len().max(1) as f64
}

/// Part of the operations, 0 to 1.
fn part(all: &[&One], is: impl Fn(&One) -> bool) -> f64 {
    all.iter().filter(|o| is(o)).count() as f64 / all.len().max(1) as f64
}

/// Time of one reason, as a part of all.
fn share(all: &[&One], reason: Reason) -> f64 {
    let sum = |of: &dyn Fn(&Account) -> Nanos| all.iter().map(|(_, a, _)| of(a).0 as f64).sum::<f64>();
    sum(&|a| a.of(reason)) / sum(&|a| a.total())
}

/// As many operations as fio did, and on average as long as fio says, but for what fio adds.
#[track_caller]
fn as_fio_says(all: &[&One], count: &Json, latency: &Json, added: Nanos) {
    // By descriptor and result: what fio does besides has others.
    let mut alike: HashMap<_, usize> = HashMap::new();
    all.iter().for_each(|(o, ..)| *alike.entry((o.fd, o.result)).or_default() += 1);
    assert_eq!(all.len() as u64, whole(count), "descriptors and results: {alike:?}");
    let (traced, fio) = (mean(all), latency["mean"].as_f64().unwrap());
    println!("{} operations, mean {traced:.0} ns, fio says {fio:.0} ns", all.len());
    assert!(traced <= fio && fio - traced < added.0 as f64, "traced {traced} ns, fio {fio} ns");
}

#[track_caller]
fn is(r: &Recorded, capture: &str, cause: &str, verdict: &str) {
    let said = r.verdict(capture, cause);
    println!("{cause}: {} {} {}", said["verdict"], said["share"], said["evidence"]);
    assert_eq!(said["verdict"], verdict, "{said:#}\nfound: {:#?}", r.found(capture));
}

const FSYNC: &str =
    "record capture fio --output=fio.json --name=sync --directory=mnt --rw=write --bs=4k --size=4M \
    --ioengine=psync --fsync=1 --numjobs=2 --group_reporting --runtime=1 --time_based";

/// fio's fsyncs; nearly none is over without one of the waits.
fn fsyncs<'a>(r: &Recorded, all: &'a All, waits: &[Wait]) -> Vec<&'a One> {
    let fsyncs = all.of_fio(Kind::Call(Call::Fsync));
    let sync = &r.fio("fio.json", "sync")["sync"];
    as_fio_says(&fsyncs, &sync["total_ios"], &sync["lat_ns"], CLOSE);
    let waiting = part(&fsyncs, |(_, a, _)| waited(a, waits));
    assert!(waiting > 0.95, "{waiting} of them waited so");
    let unexplained = share(&fsyncs, Reason::Unexplained);
    assert!(unexplained < 0.01, "{unexplained} of their time");
    fsyncs
}

/// From fio to the flusher of the log and back: seven tasks and interrupts pass an fsync on.
fn fsync_on_xfs() {
    let case = Case { disk: Some(FLUSHED), fs: "xfs", setup: "", run: FSYNC, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let fsyncs = fsyncs(&r, &all, &[Wait::LogForce, Wait::LogPush]);
    let mut hops: Vec<usize> = fsyncs.iter().map(|(_, a, _)| a.hops.len()).collect();
    hops.sort_unstable();
    let median = hops[hops.len() / 2];
    println!("hops: median {median}");
    assert!((4..=10).contains(&median), "{hops:?}");
    is(&r, "capture", "log-force", "found");
    is(&r, "capture", "flush-cost", "found");
    is(&r, "capture", "journal-ordered", "rejected");
}

fn fsync_on_ext4() {
    let case = Case { disk: Some(FLUSHED), fs: "ext4", setup: "", run: FSYNC, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let fsyncs = fsyncs(&r, &all, &[Wait::JournalCommit]);
    let commit = |o: &Operation| o.kind == Kind::JournalCommit && o.dev == r.dev();
    let commits = all.operations.iter().filter(|(o, ..)| commit(o)).count();
    println!("commits: {commits}");
    assert!(commits * 4 > fsyncs.len(), "{commits}");
    is(&r, "capture", "flush-cost", "found");
    is(&r, "capture", "log-force", "rejected");
    is(&r, "capture", "journal-ordered", "rejected");
}

/// Appends of 1 KiB while somebody else has what was appended written again and again; then the same without stable
/// pages, which hold from the mount on.
const APPENDS: &str = "
    append() {
        while :; do sync -d mnt/log || sleep 0.01; done 2>/dev/null &
        fio --output=$1.json --name=append --filename=mnt/log --rw=write --bs=1k --size=64M --rate=4m --ioengine=psync \
          --fallocate=none --runtime=1 --time_based
        kill $!
    }
    export -f append; touch mnt/log
    record stable append stable
    umount mnt; echo 0 > $queue/stable_writes; mount $dev mnt
    record free append free";

fn stable_pages() {
    let disk = Some("--channels 2 --read-us 200 --write-us 4000");
    let setup = "echo 1 > $queue/stable_writes";
    let case = Case { disk, fs: "ext4", setup, run: APPENDS, needs: &["sync"] };
    let Some(r) = case.run() else { return };
    for (capture, expected) in [("stable", "found"), ("free", "rejected")] {
        let all = r.operations(capture);
        let writes = all.of_fio(Kind::Call(Call::Write));
        let write = &r.fio(&format!("{capture}.json"), "append")["write"];
        as_fio_says(&writes, &write["total_ios"], &write["clat_ns"], CLOSE);
        let waiting = part(&writes, |(_, a, _)| waited(a, &[Wait::StablePage]));
        println!("{capture}: {waiting} of the writes waited for their page");
        assert_eq!(waiting > 0.0, capture == "stable", "{waiting}");
        is(&r, capture, "stable-page", expected);
    }
}

fn four_tags() {
    let run =
        "record capture fio --output=fio.json --name=read --filename=$dev --rw=randread --bs=4k --direct=1 \
        --ioengine=libaio --iodepth=16 --numjobs=2 --group_reporting --runtime=500ms --time_based";
    let setup = "echo 4 > $queue/nr_requests";
    let case = Case { disk: Some("--channels 4 --read-us 1000"), fs: "none", setup, run, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let reads = all.of_fio(Kind::AioRead);
    assert_eq!(reads.len() as u64, whole(&r.fio("fio.json", "read")["read"]["total_ios"]));
    let waiting = part(&reads, |(_, a, _)| a.of(Reason::GetRequest) > Nanos(0));
    println!("{} reads, {waiting} of them waited for a tag", reads.len());
    assert!(waiting > 0.05, "{waiting}");
    is(&r, "capture", "tag-exhaustion", "found");
    is(&r, "capture", "cgroup-limit", "rejected");
}

/// `blkio.throttle` of cgroup v1, or `io.max` of v2.
const HELD: &str = r#"
    number=$(cat dev); v1=/sys/fs/cgroup/blkio; v2=/sys/fs/cgroup
    if [ -e $v1/blkio.throttle.read_iops_device ]; then
        group=$v1/iowhy-$name; mkdir $group; echo "$number 100" > $group/blkio.throttle.read_iops_device
    elif grep -qw io $v2/cgroup.subtree_control 2>/dev/null; then
        group=$v2/iowhy-$name; mkdir $group; echo "$number riops=100" > $group/io.max
    else
        echo 'CANNOT: no cgroup here limits I/O' >&2; exit 1
    fi
    held() {
        echo $BASHPID > $group/cgroup.procs
        fio --output=fio.json --name=read --filename=$dev --rw=randread --bs=4k --direct=1 --ioengine=psync \
          --number_ios=100
    }
    export group; export -f held
    (record capture held); status=$?
    rmdir $group; exit $status"#;

fn a_cgroup_held_to_100_reads() {
    let case = Case { disk: Some(SSD), fs: "none", setup: "", run: HELD, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let reads = all.of_fio(Kind::Call(Call::Read));
    let read = &r.fio("fio.json", "read")["read"];
    as_fio_says(&reads, &read["total_ios"], &read["clat_ns"], CLOSE);
    let held = share(&reads, Reason::CgroupLimit);
    println!("held back for {held} of their time");
    assert!(held > 0.9, "{held}");
    is(&r, "capture", "cgroup-limit", "found");
    is(&r, "capture", "device-saturated", "rejected");
    let lift = r.verdict("capture", "cgroup-limit")["remedies"][0]["command"].to_string();
    assert!(
        lift.contains("/iowhy-loop") && lift.contains(&format!("echo '{} ", r.text("dev").trim())),
        "{lift}"
    );
    // It began and ended while recording.
    let victim = r.iowhy(&["explain"], "capture")["victims"][0].clone();
    let group = victim["cgroup"].as_str().unwrap_or_else(|| panic!("in no group: {victim}"));
    assert!(group.starts_with("/iowhy-loop"), "{group}");
    let in_it = &r.iowhy(&["explain", "--cgroup", group], "capture")["victims"][0];
    assert_eq!((&in_it["task"], &in_it["count"]), (&victim["task"], &victim["count"]));
}

/// The worker that lets them go does not say for whom.
fn libaio_in_a_cgroup_held_to_100_reads() {
    let run = HELD.replace("--ioengine=psync", "--ioengine=libaio --iodepth=8");
    let case = Case { disk: Some(SSD), fs: "none", setup: "", run: run.leak(), needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let reads = all.of_fio(Kind::AioRead);
    let read = &r.fio("fio.json", "read")["read"];
    assert_eq!(reads.len() as u64, whole(&read["total_ios"]));
    let (traced, fio) = (mean(&reads), read["lat_ns"]["mean"].as_f64().unwrap());
    println!("{} reads, mean {traced:.0} ns, fio says {fio:.0} ns", reads.len());
    // What the throttle lets go together fio collects one after the other.
    assert!(traced <= fio && traced > 0.9 * fio, "traced {traced} ns, fio {fio} ns");
    let held = share(&reads, Reason::CgroupLimit);
    assert!(held > 0.9, "{held}");
    is(&r, "capture", "cgroup-limit", "found");
}

/// fsyncs of much data beside a reader on a disk slower than wbt aims at; then without wbt.
const HELD_BACK: &str = "
    fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=16M --direct=1 --output=lay.json
    both() {
        fio --output=$1.json --name=read --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 --ioengine=psync \
          --runtime=1 --time_based --name=sync --directory=mnt --rw=randwrite --bs=4k --size=16M --ioengine=psync \
          --fsync=32 --numjobs=2 --group_reporting --runtime=1 --time_based
    }
    export -f both
    record on both on
    echo 0 > $queue/wbt_lat_usec
    record off both off";

fn writeback_throttling() {
    let disk = Some("--channels 1 --read-us 3000 --write-us 2000 --mbps 100");
    let setup = "[ -e $queue/wbt_lat_usec ] || { echo 'CANNOT: no wbt' >&2; exit 1; }";
    let case = Case { disk, fs: "ext4", setup, run: HELD_BACK, needs: &[] };
    let Some(r) = case.run() else { return };
    for (capture, verdict) in [("on", "found"), ("off", "rejected")] {
        let all = r.operations(capture);
        let fsyncs = all.of_fio(Kind::Call(Call::Fsync));
        let held = share(&fsyncs, Reason::WritebackThrottle);
        println!("wbt {capture}: {} fsyncs, held back for {held} of their time", fsyncs.len());
        assert_eq!(held > 0.2, capture == "on", "{held}");
        is(&r, capture, "writeback-throttle", verdict);
    }
}

fn reads_through_io_uring_and_libaio() {
    let run = "fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=16M --direct=1 --output=lay.json
        record capture fio --output=fio.json --name=ring --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 \
        --ioengine=io_uring --iodepth=4 --runtime=500ms --time_based \
        --name=aio --stonewall --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 --ioengine=libaio --iodepth=4 \
        --runtime=500ms --time_based";
    let setup = "fio --enghelp | grep -qw io_uring || { echo 'CANNOT: fio has no io_uring' >&2; exit 1; }
        [ \"$(cat /proc/sys/kernel/io_uring_disabled || echo 0)\" = 0 ] || { echo 'CANNOT: io_uring is off' >&2; exit 1; }";
    let case = Case { disk: Some(SSD), fs: "ext4", setup, run, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    for (kind, job, added) in [(Kind::RingRead, "ring", COLLECTED), (Kind::AioRead, "aio", CLOSE)] {
        let reads = all.of_fio(kind);
        let read = &r.fio("fio.json", job)["read"];
        as_fio_says(&reads, &read["total_ios"], &read["lat_ns"], added);
        let (device, unexplained) = (share(&reads, Reason::Device), share(&reads, Reason::Unexplained));
        println!("{job}: {device} of the time in the device");
        assert!(device > 0.5 && unexplained < 0.01, "{job}: {device}, {unexplained}");
    }
}

/// 4 MiB are mapped and touched at random: each page once, and each has to be read.
fn page_faults() {
    let run = "fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=4M --direct=1 --output=lay.json
        umount mnt; mount $dev mnt
        record capture fio --output=fio.json --name=map --filename=mnt/f --rw=randread --bs=4k --size=4M --ioengine=mmap";
    let case = Case { disk: Some(SSD), fs: "ext4", setup: "", run, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let here =
        |a: &Account| a.nodes.iter().any(|n| matches!(&n.part, Part::Request(e) if e.done.dev() == r.dev()));
    let faults: Vec<&One> = all.of_fio(Kind::PageFault).into_iter().filter(|(_, a, _)| here(a)).collect();
    let read = &r.fio("fio.json", "map")["read"];
    // On a busy machine fio was seen to end a little early; what it did is what must be found.
    assert!(whole(&read["total_ios"]) > 500, "{read}");
    // The device is fast: on idle processors up to a third of the reads are over before the task sleeps, or on its way to
    // sleep. Then there is no sleep that the request could be found by.
    let (found, all) = (faults.len() as u64, whole(&read["total_ios"]));
    println!("{found} faults slept, of {all}");
    assert!(found <= all && found * 2 > all, "{found} faults of {all}");
}

/// A file on the file system of the folder for tests, under a loop device with a file system.
fn a_loop_device_on_a_file_system_is_followed_down() {
    let run = "fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=16M --direct=1 --output=lay.json
        record capture fio --output=fio.json --name=read --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 \
        --ioengine=psync --runtime=1 --time_based --rate_iops=500";
    let setup = "[ \"$(stat -c %Hd .)\" != 0 ] || { echo 'CANNOT: the folder for tests lies on no single disk' >&2; exit 1; }";
    let case = Case { disk: None, fs: "ext4", setup, run, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let reads = all.of_fio(Kind::Call(Call::Read));
    let read = &r.fio("fio.json", "read")["read"];
    as_fio_says(&reads, &read["total_ios"], &read["clat_ns"], CLOSE);
    let on = |a: &Account, own: bool| {
        let is =
            |n: &operation::Node| matches!(&n.part, Part::Request(e) if (e.done.dev() == r.dev()) == own);
        a.nodes.iter().any(is)
    };
    let followed = part(&reads, |(_, a, _)| on(a, true) && on(a, false));
    println!("{followed} of the reads were followed down to the disk below");
    assert!(followed > 0.99, "{followed}");
}

/// Each of a thousand reads and more, as fio logged it and as it was traced. What fio says beyond the call is the time in
/// which fio had no processor around it, as the recording shows, and up to [`CLOSE`].
fn fios_log_read_by_read() {
    let run =
        "record capture fio --output=fio.json --name=read --filename=$dev --rw=randread --bs=4k --direct=1 \
        --ioengine=psync --runtime=1 --time_based --write_lat_log=log";
    let case = Case { disk: Some(SSD), fs: "none", setup: "", run, needs: &[] };
    let Some(r) = case.run() else { return };
    let all = r.operations("capture");
    let mut reads = all.of_fio(Kind::Call(Call::Read));
    // The job's own, which come last: fio has another task, which may read, too.
    let tid = reads.last().expect("the job reads").0.tid;
    reads.retain(|(o, ..)| o.tid == tid);
    let log = r.text("log_clat.1.log");
    let log: Vec<u64> = log.lines().map(|l| l.split(", ").nth(1).unwrap().trim().parse().unwrap()).collect();
    assert_eq!(reads.len(), log.len());
    let mine = || all.outside.iter().filter(|o| o.tid == tid);
    let before: HashMap<Nanos, Nanos> = mine().map(|o| (o.to, o.wait_cpu)).collect();
    let after: HashMap<Nanos, Nanos> = mine().map(|o| (o.from, o.wait_cpu)).collect();
    let mut apart = Vec::new();
    for ((o, ..), fio) in reads.iter().zip(&log) {
        let traced = o.total().0;
        let without: u64 =
            [before.get(&o.from), after.get(&o.to)].into_iter().flatten().map(|wait| wait.0).sum();
        assert!(traced <= *fio, "traced {traced} ns, fio {fio} ns");
        assert!(
            fio - traced <= CLOSE.0 + without,
            "traced {traced} ns, fio {fio} ns, no processor {without} ns"
        );
        apart.push(fio - traced);
    }
    apart.sort_unstable();
    let at = |part: usize| apart[(apart.len() - 1) * part / 100];
    println!(
        "{} reads, fio more by {} to {} ns, median {}, p99 {}",
        apart.len(),
        at(0),
        at(100),
        at(50),
        at(99)
    );
    assert!(at(50) < MOSTLY.0, "{} ns", at(50));
    assert!(apart.len() > 500, "fio did only {} reads", apart.len());
}

crate::lab::tried!(
    fsync_on_xfs,
    fsync_on_ext4,
    stable_pages,
    four_tags,
    a_cgroup_held_to_100_reads,
    libaio_in_a_cgroup_held_to_100_reads,
    writeback_throttling,
    reads_through_io_uring_and_libaio,
    page_faults,
    a_loop_device_on_a_file_system_is_followed_down,
    fios_log_read_by_read
);
