//! What sums alone show of a disk, a member, a limit, a sync: found, and not found if they are as they should be.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Verdict};
use std::fmt::Write;
use tooltext::ToolOutput;

fn verdict(text: &str, cause: &str) -> Option<Verdict> {
    let output = ToolOutput::read("text", text.as_bytes());
    judge_counters(&[output]).into_iter().find(|v| v.cause == cause)
}

fn found(text: &str, cause: &str) -> bool {
    verdict(text, cause).is_some_and(|v| v.verdict == Answer::Found)
}

/// A report of iostat: disks with their reads and writes a second, waits in ms, queue, utilisation.
fn iostat(rows: &[(&str, f64, f64, f64, f64)]) -> String {
    let mut text = "Device r/s w/s await r_await w_await aqu-sz %util\n".to_owned();
    for (name, rate, wait, queue, util) in rows {
        let _ = writeln!(text, "{name} {rate:.2} 1.00 {wait:.2} {wait:.2} {wait:.2} {queue:.2} {util:.2}");
    }
    text + "\n"
}

#[test]
fn a_disk_that_completes_nothing_hangs_and_one_that_is_slow_is_full() {
    let stopped = "Device r/s w/s r_await w_await aqu-sz %util\nsda 0.00 0.00 0.00 0.00 200.00 100.00\n\n";
    assert!(found(&stopped.repeat(6), "device-stall"));
    assert!(!found(stopped, "device-stall"));
    // Newer kernels count a request's time when it is completed: the queue of a disk that completes nothing is 0.
    let no_queue = stopped.replace("200.00 100", "0.00 100");
    assert!(found(&(stopped.repeat(2) + &no_queue.repeat(3)), "device-stall"), "some reports show one");
    let v = verdict(&no_queue.repeat(2), "device-stall").unwrap();
    assert_eq!(v.verdict, Answer::CannotTell);
    assert!(v.evidence[0]
        .sentence()
        .starts_with("sda is busy in 2 consecutive reports but completes nothing"));
    let full = iostat(&[("sda", 570.0, 350.0, 200.0, 100.0)]);
    let v = verdict(&full.repeat(2), "device-saturated").unwrap();
    assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(crate::verdict::Confidence::Medium)));
    assert!(v.evidence[0].sentence().contains(
        "sda is busy 100 % of the time with 200 requests in flight; its reads take 350 ms on average"
    ));
    // The few reads that take longest do not fill the disk.
    let mixed = "Device r/s w/s r_await w_await aqu-sz %util\nsda 2.00 300.00 900.00 200.00 60.00 100.00\n\n";
    let v = verdict(&mixed.repeat(2), "device-saturated").unwrap();
    assert!(v.evidence[0].sentence().contains("its writes take 200 ms on average"), "{v:?}");
    // A quick SSD, a stacked device, a short queue.
    for row in [
        ("nvme0n1", 9e4, 0.9, 120.0, 100.0),
        ("dm-3", 570.0, 350.0, 200.0, 100.0),
        ("sda", 57.0, 80.0, 2.0, 100.0),
    ] {
        assert!(!found(&iostat(&[row]).repeat(2), "device-saturated"), "{row:?}");
    }
    // Rates that are missing are not known to be 0.
    let no_rates = "Device r_await w_await aqu-sz %util\nsda 0.00 0.00 75.38 100.00\n\n";
    assert!(!found(&no_rates.repeat(6), "device-stall"));
    // Two reports of eleven.
    let burst = full.repeat(2) + &iostat(&[("sda", 10.0, 5.0, 0.1, 4.0)]).repeat(9);
    assert!(!found(&burst, "device-saturated"));
}

#[test]
fn a_busy_disk_is_suspected_for_its_queue_or_for_a_few_long_requests() {
    let suspected = |row: (&str, f64, f64, f64, f64), cause: &str| {
        let v = verdict(&iostat(&[row]).repeat(2), cause).filter(|v| v.verdict == Answer::CannotTell)?;
        Some(v.evidence[0].sentence())
    };
    assert_eq!(
        suspected(("sda", 29_695.0, 8.07, 240.0, 98.2), "device-saturated").as_deref(),
        Some("sda is busy 98.2 %: 240 requests in flight at 29,696 a second, so reads take 8.07 ms (text:5)")
    );
    assert_eq!(
        suspected(("sdf", 3.0, 754.67, 2.7, 100.0), "device-stall").as_deref(),
        Some(
            "sdf is busy 100 % of the time and completes only 4 requests a second (text:5): 250 ms for each"
        )
    );
    // On average one request waits behind another: twice, or once, which may be a burst.
    assert_eq!(
        suspected(("sda", 97.0, 22.0, 2.2, 99.2), "device-saturated").as_deref(),
        Some("sda is busy 99.2 %: 2.2 requests in flight at 98 a second, so reads take 22 ms (text:5)")
    );
    let once = verdict(&iostat(&[("sda", 97.0, 22.0, 2.2, 99.2)]), "device-saturated");
    assert!(once.is_none_or(|v| v.verdict == Answer::Rejected));
    // As fast as flash, not full, one at a time; stacked on others.
    for row in [
        ("nvme0n1", 9e4, 0.9, 120.0, 100.0),
        ("sda", 29_695.0, 8.07, 240.0, 90.0),
        ("sda", 57.0, 17.0, 1.0, 100.0),
        ("dm-3", 3.0, 754.67, 2.7, 100.0),
    ] {
        assert_eq!(
            [suspected(row, "device-saturated"), suspected(row, "device-stall")],
            [None, None],
            "{row:?}"
        );
    }
}

/// vmstat: the mean since the start of the machine, then intervals with so many blocked, KiB a second in and out of swap.
fn vmstat(intervals: &[(u64, u64, u64)]) -> String {
    let mut text =
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n".to_owned();
    for (blocked, read, written) in [&[(0, 0, 0)], intervals].concat() {
        let _ =
            writeln!(text, " 1 {blocked} 900000 8000 100 2000 {read} {written} 9000 100 600 300 1 2 10 87 0");
    }
    text
}

#[test]
fn memory_that_comes_back_from_swap_while_tasks_are_blocked_is_found() {
    let v = verdict(&vmstat(&[(7, 9000, 4000), (5, 7000, 0), (6, 8000, 2000)]), "swap").unwrap();
    assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(crate::verdict::Confidence::Medium)));
    assert!(v.evidence[0].sentence().starts_with("7.81 MiB/s came back from swap"), "{v:?}");
    // Swapped out only, back only once, no task blocked; and too little.
    for intervals in [
        [(7, 0, 9000), (7, 0, 9000), (7, 0, 9000)],
        [(7, 9000, 0), (0, 0, 0), (0, 0, 0)],
        [(0, 9000, 0), (0, 9000, 0), (0, 9000, 0)],
        [(7, 100, 0), (7, 100, 0), (7, 100, 0)],
    ] {
        assert_eq!(verdict(&vmstat(&intervals), "swap").unwrap().verdict, Answer::Rejected, "{intervals:?}");
    }
    // The mean since the start of the machine alone, or one interval.
    let alone = vmstat(&[]).replace(" 0 900000 8000 100 2000 0 0 ", " 7 900000 8000 100 2000 9000 4000 ");
    assert!(alone.contains(" 9000 4000 9000 "), "{alone}");
    for text in [alone, vmstat(&[(7, 9000, 4000)])] {
        assert_eq!(verdict(&text, "swap"), None, "{text}");
    }
}

#[test]
fn pressure_of_memory_is_found_and_that_of_io_is_told() {
    let of = |resource: &str, part: f64| {
        format!(
            "==> /proc/pressure/{resource} <==\nsome avg10={part:.2} avg60=5.00 avg300=1.00 total=123456789\n\
             full avg10=2.00 avg60=1.00 avg300=0.50 total=1000000\n\n"
        )
    };
    let memory = verdict(&of("memory", 42.0), "reclaim").unwrap();
    assert_eq!((memory.verdict, memory.confidence), (Answer::Found, Some(crate::verdict::Confidence::Low)));
    let io = verdict(&of("io", 62.5), "device-saturated").unwrap();
    assert_eq!(io.verdict, Answer::CannotTell);
    assert!(
        io.evidence[0].sentence().starts_with("tasks waited for I/O for 62.5 % of the last 10 s"),
        "{io:?}"
    );
    assert_eq!(verdict(&of("cpu", 62.5), "cpu-wait").unwrap().verdict, Answer::CannotTell);
    for (resource, cause) in [("memory", "reclaim"), ("io", "device-saturated"), ("cpu", "cpu-wait")] {
        assert_eq!(verdict(&of(resource, 1.0), cause).unwrap().verdict, Answer::Rejected, "{resource}");
    }
    // All at once, of the same time.
    let rising = "==> /proc/pressure/io <==\nsome avg10=0.00 avg60=20.00 avg300=30.00 total=1\n\
        full avg10=40.00 avg60=15.00 avg300=25.00 total=1\n";
    let rising = verdict(rising, "device-saturated").unwrap().evidence[0].sentence();
    assert!(
        rising.contains("30 % of the last 300 s") && rising.ends_with("all of them at once for 25 %"),
        "{rising}"
    );
    // Each resource is judged by its own numbers.
    assert_eq!(verdict(&(of("io", 62.5) + &of("memory", 1.0)), "reclaim").unwrap().verdict, Answer::Rejected);
}

#[test]
fn one_member_is_slow_only_beside_others_with_the_same_work() {
    let others =
        [("sda", 100.0, 8.0, 1.0, 40.0), ("sdb", 104.0, 9.0, 1.0, 41.0), ("sdc", 99.0, 7.0, 1.0, 39.0)];
    let with = |slow| iostat(&[&others[..], &[slow]].concat()).repeat(2);
    let v = verdict(&with(("sdd", 98.0, 218.0, 20.0, 99.0)), "slow-member").unwrap();
    assert_eq!((v.verdict, v.evidence[0].text("name")), (Answer::Found, Some("sdd")));
    for slow in
        [("sdd", 98.0, 16.0, 2.0, 60.0), ("sdd", 900.0, 218.0, 90.0, 99.0), ("md0", 98.0, 218.0, 20.0, 99.0)]
    {
        assert!(!found(&with(slow), "slow-member"), "{slow:?}");
    }
    // Another one in each report is chance.
    let chance = with(("sdd", 98.0, 218.0, 20.0, 99.0)) + &with(("sdd", 98.0, 9.0, 1.0, 40.0)).repeat(4);
    assert!(!found(&chance, "slow-member"));
}

fn job(name: &str, of: &str, iops: u32) -> String {
    format!(
        "{name}: (groupid=0, jobs=1): err= 0: pid={iops}: Mon Jan  1 00:00:00 2024\n  {of}: IOPS={iops}, BW=13.0MiB/s (13.6MB/s)(390MiB/30001msec)\n\
         clat (usec): min=40, max=9000, avg=300.20, stdev=11.00\n"
    )
}

#[test]
fn the_same_rate_of_all_kinds_is_a_limit() {
    let all = |rates: [u32; 4]| {
        let [a, b, c, d] = rates;
        let kinds = [
            ("seqread", "read", "read", a),
            ("randread", "read", "randread", b),
            ("seqwrite", "write", "write", c),
            ("randwrite", "write", "randwrite", d),
        ];
        kinds
            .map(|(name, of, rw, n)| {
                format!("{name}: (g=0): rw={rw}, bs=4K-4K, ioengine=libaio, iodepth=32\n{}", job(name, of, n))
            })
            .join("\nthen\n")
    };
    let v = verdict(&all([3330, 3325, 3341, 3329]), "rate-limit").unwrap();
    assert!(v.evidence[0].sentence().contains("4 jobs of 4 kinds"), "{}", v.evidence[0]);
    assert!(!found(&all([3330, 3325, 3341, 5000]), "rate-limit"));
    assert!(!found(&(job("a", "read", 3330) + "then" + &job("b", "write", 3331)), "rate-limit"));
}

fn syncs(count: u32, mean: f64) -> String {
    format!(
        "wal: (groupid=0, jobs=1): err= 0: pid=99: Mon Jan  1 00:00:00 2024\n  write: IOPS=112, BW=252KiB/s (258kB/s)(21.9MiB/89012msec)\n\
         clat (usec): min=3, max=912, avg=12.80, stdev=16.20\n lat (usec): min=3, max=913, avg=12.95, stdev=16.30\n\
         fsync/fdatasync/sync_file_range:\n sync (usec): min=1, max=214011, avg={mean}, stdev=9.0\n\
         issued rwts: total=0,10000,0,{count} short=0,0,0,0 dropped=0,0,0,0\n"
    )
}

#[test]
fn syncs_that_take_the_run_are_its_cause() {
    // As many as it says, or one behind each write where that fits.
    for count in [10_000, 0] {
        let v = verdict(&syncs(count, 8_880.0), "flush-cost").unwrap();
        assert_eq!(v.verdict, Answer::Found, "{count}");
        assert!(v.share > 0.99, "{}", v.share);
    }
    assert!(verdict(&syncs(10_000, 20.0), "flush-cost").is_some_and(|v| v.verdict == Answer::Rejected));
    assert!(verdict(&syncs(0, 20.0), "flush-cost").is_none());
}

/// An excerpt has no run time and no number of syncs: one sync after each write fits, or nothing is said.
#[test]
fn syncs_of_an_excerpt_are_so_many_a_second() {
    let text = |iops: u32, mean: u32| {
        format!(
            "  write: IOPS={iops}, BW=390KiB/s (399kB/s)\n    sync (usec): min=12, max=48211, avg={mean}.10, stdev=2211.40\n\
             \x20   sync percentiles (usec):\n     | 50.00th=[{mean}], 99.00th=[17957]\n"
        )
    };
    let v = verdict(&text(97, 10_083), "flush-cost").unwrap();
    assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(crate::verdict::Confidence::Low)));
    assert!(v.evidence[0].sentence().contains("98 % of its time"), "{}", v.evidence[0]);
    for (iops, mean) in [(97, 50), (97, 90_083), (3, 330_000)] {
        assert!(verdict(&text(iops, mean), "flush-cost").is_none(), "{iops} {mean}");
    }
    assert!(
        verdict("    sync (usec): min=12, max=48211, avg=10083.10, stdev=2211.40\n", "flush-cost").is_none()
    );
}

/// JSON of the same, by jobs of their own and as a group; and by versions that print 0 syncs.
#[test]
fn syncs_in_json_are_found_whatever_their_number() {
    let job = |jobs: u32, count: u32, syncs: u32| {
        format!(
            "{{\"jobname\": \"wal\", \"job options\": {{\"numjobs\": \"{jobs}\", \"fsync\": \"1\"}}, \"write\": {{\"io_bytes\": 4096, \"iops\": {}.0, \
             \"runtime\": 10000, \"total_ios\": {count}, \"lat_ns\": {{\"min\": 9, \"max\": 99000, \"mean\": 12000.0}}}}, \
             \"sync\": {{\"lat_ns\": {{\"min\": 9, \"max\": 99000000, \"mean\": 9800000.0, \"N\": {count}}}, \"total_ios\": {syncs}}}}}",
            count / 10
        )
    };
    let document =
        |jobs: &[String]| format!("{{\"fio version\": \"fio-3.33\", \"jobs\": [{}]}}", jobs.join(", "));
    for (of, jobs) in [
        ("one job", vec![job(1, 1000, 1000)]),
        ("one that counts none", vec![job(1, 1000, 0)]),
        ("two, each by itself", vec![job(2, 1000, 1000), job(2, 1000, 1000)]),
        ("two as a group", vec![job(2, 2000, 2000)]),
    ] {
        let v = verdict(&document(&jobs), "flush-cost").unwrap_or_else(|| panic!("{of}"));
        assert!(v.verdict == Answer::Found && (v.share - 0.98).abs() < 0.001, "{of}: {}", v.share);
    }
    // Of two as a group half of the time is somebody's else.
    assert!(verdict(&document(&[job(2, 1000, 1000)]), "flush-cost").is_none());
}

/// Terse output has no syncs: its operations take no time, and it does not say where the time went.
#[test]
fn of_terse_output_it_is_said_what_is_missing() {
    let of = |mean: f64, iops: u32, runtime: u32| {
        let part = |count: u32| {
            let percentiles = "0%=0;".repeat(20);
            format!(
                "{};390;{iops};{runtime};1;9;2.0;1.0;3;912;{mean};16.2;{percentiles}4;921;{mean};16.3;1;2;100%;3;4",
                4 * count
            )
        };
        format!("3;fio-3.33;wal;0;0;{};{};1.0%;2.0%;100;0;5\n", part(0), part(5821))
    };
    let terse = |mean: f64| of(mean, 97, 60_012);
    let v = verdict(&terse(12.8), "flush-cost").unwrap();
    assert_eq!(v.verdict, Answer::CannotTell);
    assert!(v.missing[0].sentence().contains("0.1 % of its time"), "{}", v.missing[0]);
    assert!(verdict(&terse(9_900.0), "flush-cost").is_none());
    // Eight writes prove nothing.
    assert!(verdict(&of(12.8, 5, 1_600), "flush-cost").is_none());
}

#[test]
fn a_bitmap_that_is_taken_away_tells_its_cost() {
    let text = |after: u32| {
        format!(
            "RAID5 of 5 disks, random writes:\n{}\nThe same with mdadm --grow --bitmap=none:\n{}",
            job("rw", "write", 174),
            job("rw", "write", after)
        )
    };
    let v = verdict(&text(20_600), "raid-bitmap").unwrap();
    assert!(
        v.verdict == Answer::Found && v.evidence[0].sentence().contains("118 times"),
        "{}",
        v.evidence[0]
    );
    assert!(verdict(&text(181), "raid-bitmap").is_some_and(|v| v.verdict == Answer::Rejected));
}

/// Three operations, ten milliseconds, a request in a second: facts and no verdict.
#[test]
fn of_next_to_nothing_nothing_is_found() {
    let short = |text: String| {
        text.replace("390MiB/30001msec", "4KiB/10msec").replace("21.9MiB/89012msec", "4KiB/27msec")
    };
    assert!(verdict(&short(syncs(3, 8_880.0)), "flush-cost").is_none());
    let same =
        ["a", "b", "c"].map(|name| job(name, if name == "c" { "write" } else { "read" }, 3330)).concat();
    assert!(found(&same, "rate-limit") && !found(&short(same), "rate-limit"));
    let bitmap = format!(
        "RAID5:\n{}\nThe same with mdadm --grow --bitmap=none:\n{}",
        job("rw", "write", 174),
        job("rw", "write", 999)
    );
    assert!(found(&bitmap, "raid-bitmap") && verdict(&short(bitmap), "raid-bitmap").is_none());
    let idle = ["sda", "sdb", "sdc", "sdd"]
        .map(|name| (name, 1.0, if name == "sdd" { 90.0 } else { 8.0 }, 0.1, 9.0));
    assert!(!found(&iostat(&idle), "slow-member") && found(&iostat(&idle).repeat(6), "slow-member"));
    // sar's mean of a single interval is no second report.
    let sar = "10:00:01 DEV r/s w/s await aqu-sz %util\n10:10:01 sda 0.00 0.00 0.00 9.00 100.00\n\n";
    let mean = sar.replace("10:00:01", "Average:").replace("10:10:01", "Average:");
    assert!(!found(&format!("{sar}{mean}"), "device-stall"));
}

/// Each result of fio is looked at a bounded number of times, however many results there are.
#[test]
fn thousands_of_jobs_take_time_in_proportion() {
    let one = |i: usize| {
        format!(
            "j{i}: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1\n\n\
             j{i}: (groupid=0, jobs=1): err= 0: pid={i}\n  write: IOPS={}, BW=18.3MiB/s (19.2MB/s)(36.7MiB/2001msec)\n\
             \x20   clat (usec): min=3, max=710, avg={}.68, stdev=14.73\n",
            1000 + i,
            6 + i % 90
        )
    };
    let text: String = (0..5000).map(one).collect();
    let output = ToolOutput::read("jobs", text.as_bytes());
    assert!(output.runs.iter().map(|run| run.of("fio").count()).sum::<usize>() >= 4000);
    judge_counters(&[output]);
}

/// Three intervals of vmstat in which the processors were idle, or waited for I/O, for this part of the time.
#[test]
fn processors_without_idle_time_are_told_and_found_guilty_of_nothing() {
    let of = |idle: u32, waiting: u32| {
        let heading = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
             r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
        let row = format!(" 5  0      0 11899704 103748 11817632    0    0     9  2144 2328 3184 67 23 {idle} {waiting}  0\n");
        verdict(&format!("{heading}{}", row.repeat(4)), "cpu-wait")
    };
    let v = of(5, 4).unwrap();
    assert_eq!(v.verdict, Answer::CannotTell);
    assert!(v.evidence[0].sentence().starts_with("processors were idle for 9.0 % of the time"), "{v:?}");
    assert!(of(5, 5).is_none() && of(10, 0).is_none());
}

/// The first row is the mean since boot: of no time that somebody looked at.
#[test]
fn processors_that_had_no_idle_time_since_boot_are_not_suspected() {
    let of = |rows: &[u32]| {
        let heading = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
             r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
        let row = |idle: &u32| {
            format!(
                " 3  0      0 118990 10374 118176    0    0     7  211 2321 3181 {} 30 {idle} 0  0\n",
                70 - idle
            )
        };
        let rows: String = rows.iter().map(row).collect();
        verdict(&format!("{heading}{rows}"), "cpu-wait").is_some()
    };
    assert!(!of(&[1]) && !of(&[1, 60]));
    assert!(of(&[60, 1]));
}
