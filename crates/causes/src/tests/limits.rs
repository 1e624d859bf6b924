//! Limits that hold tasks back before the device has any of their requests: dirty pages, writeback throttling, cgroups, memory.

use super::paths::built;
use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);
const WRITE: Kind = Kind::Call(Call::Write);

/// Three of 300 operations waited like this for 80 of 100 ms, and a file beside the recording has these settings.
fn beside(cause: &str, kind: Kind, wait: Wait, reason: Reason, file: &str, text: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    recording.document(file, text);
    let mut built = built(kind, wait, reason, 80);
    let v = built.over(recording).verdict(cause);
    assert!(found(&v) > 0.7, "{v:?}");
    v
}

#[test]
fn the_limits_of_dirty_pages_that_are_set_are_quoted() {
    let text = "vm.dirty_background_bytes = 0\nvm.dirty_bytes = 1048576\nvm.dirty_background_ratio = 10\nvm.dirty_ratio = 0\n";
    let v = beside("dirty-throttling", WRITE, Wait::DirtyThrottle, Reason::DirtyThrottle, "vm.txt", text);
    assert!(says(&v, "vm.dirty_bytes is 1048576 (vm.txt:2)"), "{v:?}");
    assert!(says(&v, "vm.dirty_background_ratio is 10 (vm.txt:3)"), "{v:?}");
    // 0 is none: its other half holds.
    assert!(!says(&v, "vm.dirty_background_bytes is") && !says(&v, "vm.dirty_ratio is"), "{v:?}");
}

#[test]
fn writeback_throttling_is_told_to_aim_four_times_as_high() {
    let first = |text: &str| {
        let v = beside(
            "writeback-throttle",
            WRITE,
            Wait::WritebackThrottle,
            Reason::WritebackThrottle,
            "queue-sda.txt",
            text,
        );
        (
            v.remedies[0].command(),
            says(&v, "wbt_lat_usec of sda targets a read latency of 2 ms (queue-sda.txt:1)"),
        )
    };
    let file = "/sys/block/sda/queue/wbt_lat_usec";
    assert_eq!(first("sda/queue/wbt_lat_usec: 2000\n"), (format!("echo 8000 > {file}"), true));
    // Turned off since: something throttled them, and its target is not known.
    assert_eq!(first("sda/queue/wbt_lat_usec: 0\n"), (format!("echo 4 > {file}"), false));
    assert_eq!(first("sda/queue/rotational: 0\n"), (format!("echo 75000 > {file}"), false));
}

/// Always eight reads, 1.8 ms apart as by a clock, after some that a device that does not turn had alone and that took so many us; then writes
/// that were throttled by wbt for 60 of 100 ms, and in the device for 30.
fn throttled_at_a_clocks_pace(alone: u64) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for i in 0..40 {
        recording.read(i * 20_000, i * 20_000, i * 20_000 + alone);
    }
    for i in 0..400 {
        let done = |n: u64| 1_000_000 + n * 1800;
        recording.read(done(i), done(i), done(i + 8));
    }
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..3 {
        let waits = [
            (Wait::WritebackThrottle, Reason::WritebackThrottle, 60),
            (Wait::DirectIo, Reason::Device, 30),
            (Wait::Input, Reason::Sleep, 9),
        ];
        built.slow(WRITE, 100, &waits);
    }
    built.over(recording);
    built
}

#[test]
fn wbts_budget_is_a_limits_only_where_the_device_was_seen_to_be_faster() {
    let mut faster = throttled_at_a_clocks_pace(300);
    assert!(found(&faster.verdict("rate-limit")) > 0.8);
    rejected(&faster.verdict("writeback-throttle"));
    // A pace that flash does not have, and nothing that was faster.
    let mut never = throttled_at_a_clocks_pace(1800);
    assert!((found(&never.verdict("rate-limit")) - 0.3).abs() < 0.05);
    assert!((found(&never.verdict("writeback-throttle")) - 0.6).abs() < 0.05);
}

#[test]
fn the_limit_of_the_cgroup_is_lifted_where_it_is_set() {
    let of = |settings: &str| {
        let text = format!(
            r#"{{"before": {{"cgroups": {{"list": [{{"path": "/db", "id": 7, "settings": {settings}}}]}}}}}}"#
        );
        beside("cgroup-limit", READ, Wait::CgroupLimit, Reason::CgroupLimit, "system.json", &text)
    };
    let all = "riops=max wiops=max rbps=max wbps=max";
    let unknown = format!("echo '8:0 {all}' > /sys/fs/cgroup/CGROUP/io.max");
    for (settings, said, first) in [
        (r#"{"io.max": "8:0 riops=100"}"#, true, format!("echo '8:0 {all}' > /sys/fs/cgroup/db/io.max")),
        (
            r#"{"blkio.throttle.read_iops_device": "8:0 100"}"#,
            true,
            "echo '8:0 0' > /sys/fs/cgroup/db/blkio.throttle.read_iops_device".to_string(),
        ),
        (
            r#"{"blkio.throttle.read_iops_device": "8:0 100", "blkio.throttle.write_iops_device": "8:0 100"}"#,
            true,
            "echo '8:0 0' > /sys/fs/cgroup/db/blkio.throttle.read_iops_device; \
             echo '8:0 0' > /sys/fs/cgroup/db/blkio.throttle.write_iops_device"
                .to_string(),
        ),
        // Not what holds it back: of another disk, of a kind that is no file to lift it in, not set, no limit.
        (r#"{"io.max": "8:16 riops=100"}"#, true, unknown.clone()),
        (r#"{"io.latency": "8:0 target=100"}"#, true, unknown.clone()),
        (r#"{"io.max": "max"}"#, false, unknown.clone()),
        (r#"{"io.weight": "default 100"}"#, false, unknown),
    ] {
        let v = of(settings);
        assert_eq!((says(&v, "/sys/fs/cgroup/db/"), &v.remedies[0].command()), (said, &first), "{settings}");
    }
}

/// Freeing memory is told by the sleep in it, or by the kernel's own events.
#[test]
fn freeing_memory_is_a_sleep_or_told_by_the_kernel() {
    assert!(is_found(&built(WRITE, Wait::Reclaim, Reason::Device, 80).verdict("reclaim")));
    assert!(is_found(&built(WRITE, Wait::Unknown, Reason::Reclaim, 80).verdict("reclaim")));
    assert!(!is_found(&built(WRITE, Wait::Unknown, Reason::Device, 80).verdict("reclaim")));
}

#[test]
fn the_memory_of_a_cgroup_is_where_its_version_has_it() {
    for (mounts, limit) in [
        ("/dev/sda / ext4 rw 0 0\n", "echo MORE > /sys/fs/cgroup/GROUP/memory.max"),
        ("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "echo MORE > /sys/fs/cgroup/GROUP/memory.max"),
        ("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", "echo MORE > /sys/fs/cgroup/GROUP/memory.max"),
        ("cgroup /my/mem cgroup rw,memory 0 0\n", "echo MORE > /my/mem/GROUP/memory.limit_in_bytes"),
    ] {
        for (cause, kind, wait) in [("reclaim", WRITE, Wait::Reclaim), ("swap", Kind::PageFault, Wait::Swap)]
        {
            let v = beside(cause, kind, wait, Reason::Device, "mounts.txt", mounts);
            assert_eq!(commands(&v)[1], limit, "{cause}: {mounts}");
        }
        let used = if limit.ends_with("in_bytes") {
            "C=/my/mem$(sed -n 's/^[0-9]*:memory://p' /proc/1000/cgroup); grep -H . $C/memory.usage_in_bytes $C/memory.limit_in_bytes"
        } else {
            "C=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/1000/cgroup); grep -H . $C/memory.current $C/memory.max"
        };
        let v = beside("reclaim", WRITE, Wait::Reclaim, Reason::Device, "mounts.txt", mounts);
        assert_eq!(commands(&v)[0], format!("grep -H . /proc/pressure/memory; {used}"));
    }
}

/// A control group with process 1000, who waits in these tests, that may have 1 MiB of memory and half a processor, before and after.
fn limited(met: u64, throttled: u64) -> String {
    let at = |met: u64, throttled: u64| {
        format!(
            r#"{{"limited": [{{"path": "db", "members": [1000], "memory": {{"file": "memory.max", "bytes": 1048576, "met": {met}}},
                "cpu": {{"file": "cpu.max", "quota_us": 50000, "period_us": 100000, "throttled": {throttled}, "throttled_ns": {}}}}}]}}"#,
            throttled * 1_000_000
        )
    };
    format!(r#"{{"before": {}, "after": {}}}"#, at(3, 4), at(3 + met, 4 + throttled))
}

#[test]
fn a_limit_on_memory_that_was_met_is_raised() {
    for (cause, kind, wait) in [("reclaim", WRITE, Wait::Reclaim), ("swap", Kind::PageFault, Wait::Swap)] {
        let of = |met| beside(cause, kind, wait, Reason::Device, "system.json", &limited(met, 0));
        let v = of(7);
        assert_eq!(commands(&v)[0], "echo 2097152 > /sys/fs/cgroup/db/memory.max", "{cause}");
        assert!(says(&v, "(/sys/fs/cgroup/db/memory.max), and met that limit 7 times meanwhile"), "{v:?}");
        let v = of(0);
        assert!(!says(&v, "met that limit") && !commands(&v)[0].contains("/db/"), "{v:?}");
    }
}

/// Version 1 refuses a limit above that of memory and swap together, and version 2 kills at `memory.max`.
#[test]
fn a_limit_above_moves_with_the_one_that_was_met() {
    let of = |file: &str, above: &str, bytes: u64| {
        let above = format!(r#""bytes": 1048576, "above": {{"file": "{above}", "bytes": {bytes}}}"#);
        let text = limited(7, 0).replace(r#""bytes": 1048576"#, &above).replace("memory.max", file);
        let text = text.replace("ABOVE", "memory.max");
        commands(&beside("reclaim", WRITE, Wait::Reclaim, Reason::Device, "system.json", &text))[0].clone()
    };
    let db = "/sys/fs/cgroup/db";
    let near = format!("echo 2200000 > {db}/memory.max; echo 2097152 > {db}/memory.high");
    assert_eq!(of("memory.high", "ABOVE", 2_200_000 - 1_048_576), near);
    assert_eq!(of("memory.high", "ABOVE", 1 << 30), format!("echo 2097152 > {db}/memory.high"));
    let swap = "memory.memsw.limit_in_bytes";
    let both = format!("echo 2097152 > {db}/{swap}; echo 2097152 > {db}/memory.limit_in_bytes");
    assert_eq!(of("memory.limit_in_bytes", swap, 1 << 20), both);
}

#[test]
fn a_quota_of_processor_time_that_was_used_up_is_raised() {
    let of = |throttled| {
        beside("cpu-wait", WRITE, Wait::DirectIo, Reason::WaitCpu, "system.json", &limited(0, throttled))
    };
    let v = of(6000);
    assert_eq!(commands(&v)[0], "echo \"100000 100000\" > /sys/fs/cgroup/db/cpu.max");
    assert!(says(&v, "may run 0.50 processors (/sys/fs/cgroup/db/cpu.max) and had used that up 6,000 times: its threads were stopped for 6 s in all"), "{v:?}");
    for little in [0, 6] {
        assert!(!commands(&of(little)).iter().any(|command| command.contains("/db/")), "{little} ms");
    }
}

/// One in so many is read or written by another task, which is none of the limited one's I/O, unless it is the kernel's worker that sends what the
/// limit held back.
#[test]
fn what_a_limit_lets_through_is_counted_with_what_it_held_back() {
    let of = |others: u64, called: &str, writes: bool| {
        let mut recording = TraceBuilder::default();
        recording.called("fio", called);
        let text = r#"{"before": {"cgroups": {"list": [{"path": "/db", "id": 7, "settings": {"io.max": "8:0 riops=100 wiops=100"}}]}}}"#;
        recording.document("system.json", text);
        for i in 0..500 {
            let at = i * 10 * MS;
            match (i % others, writes) {
                (0, false) => recording.read_by_another(at, at, at + MS),
                (0, true) => recording.writeback(at, at, at + MS, 4),
                (_, false) => recording.read(at, at, at + MS),
                (_, true) => recording.sync_write(at, at, at + MS),
            };
        }
        recording.verdict("cgroup-limit").verdict
    };
    assert_eq!([of(100, "tar", false), of(10, "tar", false)], [Answer::Found, Answer::CannotTell]);
    let writes_back = "kworker/u8:1";
    assert_eq!([of(100, writes_back, true), of(10, writes_back, true)], [Answer::Found, Answer::CannotTell]);
    for worker in ["kworker/0:2", "kworker/11:1"] {
        assert_eq!([of(10, worker, true), of(2, worker, false)], [Answer::Found, Answer::Found], "{worker}");
    }
}

/// In a recording of little more than a second each tenth begins with a read that a worker sends, nine more follow: a hundred a second.
#[test]
fn a_second_shows_a_limit_by_what_it_lets_go() {
    let of = |slices: u64, limit: u64, called: &str| {
        let mut recording = TraceBuilder::default();
        recording.called("fio", called);
        let settings = format!(r#"{{"io.max": "8:0 riops={limit}"}}"#);
        let groups = format!(r#"{{"list": [{{"path": "/db", "id": 7, "settings": {settings}}}]}}"#);
        recording.document("system.json", &format!(r#"{{"before": {{"cgroups": {groups}}}}}"#));
        for read in 0..slices * 10 {
            let at = read / 10 * 100 * MS + read % 10 * 2 * MS;
            match read % 10 {
                0 => recording.read_by_another(at, at, at + MS),
                _ => recording.read(at, at, at + MS),
            };
        }
        recording.verdict("cgroup-limit")
    };
    let v = of(12, 100, "kworker/0:2");
    assert_eq!(v.verdict, Answer::Found);
    let pace = "what a limit lets through (100 operations; counted from one release of held requests by a kernel worker to another)";
    assert!(says(&v, pace), "{v:?}");
    for [slices, limit] in [[12, 120], [8, 100]] {
        assert_eq!(of(slices, limit, "kworker/0:2").verdict, Answer::CannotTell, "{limit}, {slices} slices");
    }
    assert_eq!(of(12, 100, "tar").verdict, Answer::CannotTell, "of nobody is known that it was held");
}

/// How long a limit held them is not recorded, so it is only suspected: from reads of a bound worker, of no other, and not from a few.
#[test]
fn what_a_bound_worker_reads_may_have_been_held() {
    let of = |others: u64, called: &str| {
        let mut recording = TraceBuilder::default();
        recording.called("fio", called);
        for i in 0..200 {
            let at = i * 10 * MS;
            if i < others {
                recording.read_by_another(at, at, at + MS);
            } else {
                recording.read(at, at, at + MS);
            }
        }
        let v = recording.verdict("cgroup-limit");
        assert_eq!(v.verdict, Answer::CannotTell);
        says(&v, "of 200 reads and synchronous writes")
    };
    assert_eq!([of(10, "kworker/0:2"), of(9, "kworker/0:2")], [true, false]);
    assert_eq!([of(100, "kworker/u8:2"), of(100, "tar")], [false, false]);
}

#[test]
fn blocks_that_come_at_just_the_rate_of_a_limit_show_it() {
    let beside_a_gap = |gap: std::ops::Range<u64>, apart: u64, took: u64, file: &str, limit: &str| {
        let mut recording = TraceBuilder::default();
        recording.called("fio", "kworker/u8:1");
        let settings = format!(r#"{{"{file}": "{limit}"}}"#);
        let text = format!(
            r#"{{"before": {{"cgroups": {{"list": [{{"path": "/db", "id": 7, "settings": {settings}}}]}}}}}}"#
        );
        recording.document("system.json", &text);
        let sent = (0..5000 / apart).map(|i| i * apart).filter(|ms| !gap.contains(ms));
        sent.for_each(|ms| {
            recording.read(ms * MS, ms * MS, ms * MS + took);
        });
        recording.verdict("cgroup-limit")
    };
    let of = |apart, took, file: &str, limit: &str| beside_a_gap(0..0, apart, took, file, limit);
    assert_ne!(beside_a_gap(2000..3000, 10, MS, "io.max", "8:0 riops=100").verdict, Answer::Found);
    let v = of(10, MS, "io.max", "8:0 riops=100");
    assert!(v.verdict == Answer::Found && says(&v, "100 operations a second"), "{v:?}");
    assert_eq!(of(10, MS, "blkio.throttle.read_iops_device", "8:0 104").verdict, Answer::Found);
    for (apart, took, limit) in [
        (10, MS, "8:0 riops=106"),
        (10, MS, "8:0 wiops=100"),
        (10, MS, "8:16 riops=100"),
        // The device itself may be as slow.
        (10, 6 * MS, "8:0 riops=100"),
    ] {
        assert_ne!(of(apart, took, "io.max", limit).verdict, Answer::Found, "{limit}");
    }
}

/// 297 reads that a limit holds for so many of 10 ms, and three of 130 ms in which the device stalls.
#[test]
fn what_holds_all_is_found_though_the_slowest_waited_for_something_else() {
    let of = |of_10: u64| {
        let mut built = OpBuilder::default();
        for _ in 0..297 {
            built.slow(
                READ,
                10,
                &[(Wait::CgroupLimit, Reason::CgroupLimit, of_10), (Wait::Input, Reason::Sleep, 10 - of_10)],
            );
        }
        for _ in 0..3 {
            built.slow(READ, 130, &[(Wait::PageRead, Reason::Device, 130)]);
        }
        built.verdict("cgroup-limit")
    };
    let v = of(6);
    assert!(says(&v, "all reads (300) spent 53 % of their 3.36 s throttled"), "{v:?}");
    assert_eq!((v.claims.len(), v.throughout.len(), v.of_all.len()), (0, 1, 1));
    assert_eq!(of(5).verdict, Answer::Rejected, "not most of their time");
}

#[test]
fn whose_data_most_of_the_writeback_is_is_limited_for_who_waits() {
    let first = |writers: &[(&str, u64)]| {
        let mut built = built(WRITE, Wait::DirtyThrottle, Reason::DirtyThrottle, 80);
        for (task, mib) in writers {
            built.sent_for(
                stats::Whose::Tasks((*task).into()),
                operation::Purpose::FileData,
                trace::Bytes(mib << 20),
            );
        }
        commands(&built.verdict("dirty-throttling")).remove(0)
    };
    let limits = |command: &str| command.contains("IOReadBandwidthMax=\"/dev/sda ");
    assert!(limits(&first(&[("dd", 300), ("db", 100)])), "{}", first(&[("dd", 300), ("db", 100)]));
    // None has most of it; or it is the one that waits; or nobody knows which of two it is.
    for writers in [
        &[("dd", 100), ("db", 100)][..],
        &[(crate::op_builder::READER, 300), ("db", 100)],
        &[("cp, dd", 300)],
    ] {
        assert!(!limits(&first(writers)), "{writers:?}");
    }
}

/// A proposal to start earlier does not start later, nor does one to allow more allow less.
#[test]
fn limits_of_dirty_pages_are_only_moved_the_way_that_is_said() {
    let of = |text: &str| {
        let v = beside("dirty-throttling", WRITE, Wait::DirtyThrottle, Reason::DirtyThrottle, "vm.txt", text);
        let all = commands(&v);
        let has = |setting: &str| all.iter().any(|command| command.contains(setting));
        (has("vm.dirty_background_bytes="), has("vm.dirty_bytes="))
    };
    assert_eq!(of("vm.swappiness = 60\n"), (true, true), "nothing is known");
    assert_eq!(of("vm.dirty_background_bytes = 67108865\nvm.dirty_bytes = 4294967295\n"), (true, true));
    assert_eq!(of("vm.dirty_background_bytes = 67108864\nvm.dirty_bytes = 4294967296\n"), (false, false));
    // The kernel takes half of the limit for a background limit that is not below it.
    assert_eq!(of("vm.dirty_background_bytes = 100000000\nvm.dirty_bytes = 67108864\n"), (false, true));
}
