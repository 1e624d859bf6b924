//! What reports on drives show, and what must not be read into them: warnings, the intervals of sar, one disk beside
//! its peers, limits of requests.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Confidence, Verdict};
use std::path::Path;
use tooltext::ToolOutput;

fn verdict(text: &str, cause: &str) -> Option<Verdict> {
    let output = ToolOutput::read("text", text.as_bytes());
    judge_counters(&[output]).into_iter().find(|v| v.cause == cause)
}

fn fixture(name: &str) -> String {
    let outputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    std::fs::read_to_string(outputs.join(name)).unwrap()
}

/// All that a verdict says for and against, one sentence per line.
fn said(v: &Verdict) -> String {
    v.evidence.iter().chain(&v.refutes).map(|proof| proof.sentence() + "\n").collect()
}

#[test]
fn each_bit_of_a_warning_has_its_meaning_and_no_other() {
    let words = ["spare", "hot", "unreliable", "no more writes", "power backup", "persistent memory"];
    let warning = |bits: u32| {
        let v =
            verdict(&format!("critical_warning                    : {bits:#x}\n"), "device-errors").unwrap();
        said(&v)
    };
    for (bit, word) in words.iter().enumerate() {
        let text = warning(1 << bit);
        assert!(text.contains(word) && !text.contains("; "), "bit {bit}: {text}");
    }
    let both = warning(0b10010);
    assert!(both.contains("hot") && both.contains("power backup") && !both.contains("spare"), "{both}");
    assert!(warning(0x80).contains("of an unknown kind"));
}

#[test]
fn a_drive_that_is_worn_is_not_called_unreliable() {
    let of = |used: u32, errors: u32| {
        let text = format!("critical_warning                    : 0x4\npercentage_used                     : {used}%\nmedia_errors                        : {errors}\n");
        let v = verdict(&text, "device-errors").expect("a verdict");
        (v.confidence, said(&v).contains("written as much as it was made for"))
    };
    assert_eq!(of(100, 0), (Some(Confidence::Low), true));
    assert_eq!([of(99, 0), of(100, 1)], [(Some(Confidence::Medium), false); 2]);
}

#[test]
fn commands_name_the_drive_that_the_text_names() {
    let text = "root@db7:~# smartctl -H /dev/sdb\nsmartctl 7.2 2020-12-30 r5155 [x86_64-linux-6.1.0-18-amd64] (local build)\n\n=== START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: FAILED!\n";
    let v = verdict(text, "device-errors").expect("it fails");
    let commands: Vec<String> = v.remedies.iter().map(|r| r.command()).collect();
    assert_eq!(commands, ["smartctl -a /dev/sdb", "ddrescue /dev/sdb IMAGE MAP"]);
}

/// A copy is for data that may be lost.
#[test]
fn a_hot_drive_is_not_copied() {
    let of = |bits: u8| {
        let text = format!("Smart Log for NVME device:nvme0 namespace-id:ffffffff\ncritical_warning : {bits:#x}\ntemperature : 84 C\navailable_spare : 100%\n");
        let v = verdict(&text, "device-errors").expect("a warning");
        v.remedies.iter().any(|r| r.command().contains("ddrescue"))
    };
    assert!(!of(0x2) && !of(0x10) && of(0x4) && of(0x6));
}

#[test]
fn a_self_test_that_failed_is_a_suspicion() {
    let test = "# 1  Short offline       Completed: read failure       10%     18145         181539\n";
    let v = verdict(test, "device-errors").expect("a verdict");
    assert_ne!(v.verdict, Answer::Rejected);
    assert!(said(&v).starts_with("the last self-test of the drive failed (text:1)\n"), "{v:?}");
}

/// sar's mean over all intervals says nothing that the intervals do not say.
#[test]
fn intervals_of_sar_count_and_their_mean_does_not() {
    let report = |from: &str, to: &str, rate: f64| {
        format!("{from} DEV r/s w/s await aqu-sz %util\n{to} sda {rate:.2} 0.00 0.00 9.00 100.00\n\n")
    };
    let stopped = report("10:00:01", "10:10:01", 0.0) + &report("10:10:01", "10:20:01", 0.0);
    let v = verdict(&(stopped + &report("Average:", "Average:", 0.0)), "device-stall").unwrap();
    assert!(said(&v).contains("sda is busy in 2 consecutive reports"), "{v:?}");
}

fn iostat(rows: &[(&str, f64, f64)]) -> String {
    let row = |(name, rate, wait): &(&str, f64, f64)| format!("{name} {rate:.2} 1.00 {wait:.2} 2.00 50.00\n");
    let rows: String = rows.iter().map(row).collect();
    format!("Device r/s w/s await aqu-sz %util\n{rows}\n")
}

#[test]
fn a_slow_disk_is_compared_with_the_middle_and_the_next_of_its_peers() {
    let with = |others: &[(&str, f64, f64)]| {
        verdict(&iostat(&[others, &[("sdx", 98.0, 218.0)]].concat()).repeat(2), "slow-member")
    };
    let v = with(&[("sda", 100.0, 8.0), ("sdb", 104.0, 9.0), ("sdc", 99.0, 7.0)]).unwrap();
    assert!(said(&v).starts_with("sdx takes 218 ms a request"), "{v:?}");
    assert!(
        said(&v).contains("the median of its 3 peers with the same traffic 8 ms: 27 times longer"),
        "{v:?}"
    );
    for (why, others) in [
        ("two are slow", &[("sda", 100.0, 8.0), ("sdb", 104.0, 9.0), ("sdc", 99.0, 150.0)][..]),
        ("two peers have no middle", &[("sda", 100.0, 8.0), ("sdb", 104.0, 9.0)]),
        ("the others differ", &[("sda", 10.0, 8.0), ("sdb", 104.0, 9.0), ("sdc", 99.0, 7.0)]),
        (
            "the others are not much faster",
            &[("sda", 100.0, 80.0), ("sdb", 104.0, 90.0), ("sdc", 99.0, 70.0)],
        ),
    ] {
        assert!(with(others).is_none(), "{why}");
    }
}

#[test]
fn a_limit_that_is_told_explains_requests_of_its_size_and_no_smaller_ones() {
    let text = format!(
        "sdb/queue/max_sectors_kb:512\nsdd/queue/max_sectors_kb:512\n\n{}",
        fixture("request-size.txt")
    );
    let text = said(&verdict(&text.replace("Sdd", "sdd"), "request-size").unwrap());
    // 995 sectors are the limit; if the mean is 87, there is another reason.
    let sentence =
        |disk: &str| text.lines().find(|l| l.contains(&format!("{disk}/queue/max_sectors_kb is 512")));
    assert!(
        sentence("sdb").is_some_and(|l| l.ends_with("its requests are as large as that allows")),
        "{text}"
    );
    assert!(
        sentence("sdd").is_some_and(|l| l.ends_with("so another limit keeps its requests small")),
        "{text}"
    );
}

/// The command with which the author wrote past the cache, if that was the way without a flood.
#[test]
fn the_gentle_way_to_write_is_the_one_that_was_measured() {
    let direct_only: String =
        fixture("writeback.txt").lines().take(250).map(|l| l.to_owned() + "\n").collect();
    let v = verdict(&direct_only, "writeback-flood").unwrap();
    assert_eq!(v.verdict, Answer::Found);
    assert!(v.remedies.iter().any(|r| r.command().contains("oflag=direct")), "{:?}", v.remedies);
}

#[test]
fn a_device_without_stable_pages_speaks_against_waiting_for_them() {
    let with = |value: u32| {
        let text = format!("/sys/block/sda/queue/stable_writes:{value}\n\n{}", fixture("stable-page.txt"));
        said(&verdict(&text, "stable-page").unwrap())
    };
    assert!(with(0).contains("sda/queue/stable_writes is 0 (text:1): against it"), "{}", with(0));
    assert!(with(1).contains("sda/queue/stable_writes is 1 (text:1): writers do wait"), "{}", with(1));
}

/// A longest write of 50 times the p99.99 is no stall: the longest is always longer than that percentile.
#[test]
fn a_long_tail_is_no_stall() {
    let job = |max: u32, p: u32| {
        format!(
            "log-append: (groupid=0, jobs=1): err= 0: pid={max}: Tue Dec 11 14:41:27 2012\n  write: io=614401KB, bw=5119.1KB/s, iops=5119 , runt=120001msec\n\
             \x20   clat (usec): min=3 , max={max} , avg= 7.32, stdev=411.95\n    clat percentiles (usec):\n     | 99.00th=[ 15], 99.99th=[ {p}]\n\
             Disk stats (read/write):\n  sda: ios=79/1287, merge=5/151907, ticks=702/147202, in_queue=147861, util=6.25%\n\n"
        )
    };
    let text = |p: u32| {
        let set = |value: u32| format!("/sys/block/sda/queue/stable_writes:{value}\n");
        format!("{}Today:\n{}{}Then I tried:\n{}", set(1), job(225_702, p), set(0), job(14_565, p))
    };
    assert!(verdict(&text(25), "stable-page").is_some());
    assert!(verdict(&text(4_500), "stable-page").is_none());
}

#[test]
fn a_log_of_many_tasks_names_the_first() {
    let hung = |task: &str| {
        format!("INFO: task {task} blocked for more than 120 seconds.\nCall Trace:\n __schedule+0x1/0x2\n jbd2_log_wait_commit+0x12/0x34\n\n")
    };
    let told = |n: usize| {
        let log: String = (0..n).map(|i| hung(&format!("worker{i}:{}", 100 + i))).collect();
        let v = verdict(&log, "hung").unwrap();
        said(&v)
    };
    assert!(told(2).contains("worker0, worker1 (text:"), "{}", told(2));
    assert!(told(40).contains(", ... (text:"), "{}", told(40));
}

/// An array and its three members: writes a second to the array, KiB of one of them and of one of a member's. Each member is written
/// to twice as often, and reads as much.
fn array(writes: f64, kib: f64, of_member: f64) -> String {
    let row = |name: &str, reads: f64, writes: f64, kib: f64| {
        let (read, written) = (reads * kib, writes * kib);
        format!("{name} {reads:.2} {writes:.2} {read:.2} {written:.2} 9.00 9.00 2.00 50.00\n")
    };
    let each = f64::max(2.0 * writes, 50.0);
    let members = ["sda", "sdb", "sdc"].map(|name| row(name, each, each, of_member)).concat();
    let heading = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n";
    format!("{heading}{}{members}\n", row("md0", 0.0, writes, kib))
}

#[test]
fn members_that_write_larger_pieces_than_their_array_do_something_else() {
    let of = |text: String| verdict(&text.repeat(2), "raid-read-modify-write").map(|v| v.verdict);
    assert_eq!(of(array(100.0, 4.0, 4.0)), Some(Answer::Found));
    assert_eq!(of(array(100.0, 4.0, 7.0)), Some(Answer::Found), "less than twice as large");
    assert_eq!(of(array(100.0, 4.0, 9.0)), None, "a rebuild");
    assert_eq!(of(array(10.0, 4.0, 4.0)), None, "no load");
    assert_eq!(of(array(0.0, 4.0, 4.0)), None, "nothing is written to it");
}

/// The disk that stands out most is reported, by the report in which it does, with how often it is slower there.
#[test]
fn of_several_reports_the_worst_is_told() {
    let report = |wait: f64| {
        iostat(&[("sda", 100.0, 8.0), ("sdb", 104.0, 9.0), ("sdc", 99.0, 7.0), ("sdx", 98.0, wait)])
    };
    for waits in [[218.0, 400.0], [400.0, 218.0]] {
        let v = verdict(&waits.map(report).concat(), "slow-member").unwrap();
        assert!(
            said(&v).starts_with("sdx takes 400 ms a request") && said(&v).contains("50 times longer"),
            "{v:?}"
        );
    }
}

/// An array of this many members: writes a second to it, KiB of each, ms that it and its members take.
fn waiting_array(members: &[&str], writes: f64, kib: f64, array_ms: f64, member_ms: f64) -> String {
    let row = |name: &str, rate: f64, kib: f64, ms: f64, queue: f64| {
        format!("{name} 0.00 {rate:.2} 0.00 {:.2} {ms:.2} {queue:.2} 50.00\n", rate * kib)
    };
    let each: String = members.iter().map(|name| row(name, 400.0, 4.0, member_ms, 2.0)).collect();
    let heading = "Device r/s w/s rkB/s wkB/s await aqu-sz %util\n";
    format!("{heading}{}{each}\n", row("md0", writes, kib, array_ms, 20.0))
}

/// One member of each stripe holds parity: writes of 64 KiB to three disks need eight stripe heads each, to five disks four.
#[test]
fn a_write_needs_a_stripe_head_for_a_page_of_each_disk_but_one() {
    let needs = |members: &[&str]| {
        let set = "/sys/block/md0/md/stripe_cache_size:256\n\n";
        let text = format!("{set}{}", waiting_array(members, 100.0, 64.0, 500.0, 50.0).repeat(2));
        said(&verdict(&text, "raid-stripe-cache").unwrap())
    };
    let three = needs(&["sda", "sdb", "sdc"]);
    assert!(three.contains("20 writes of 64 KiB at once need about 160 stripe heads of 4 KiB"), "{three}");
    let five = needs(&["sda", "sdb", "sdc", "sdd", "sde"]);
    assert!(five.contains("need about 80 stripe heads"), "{five}");
}

/// Whole stripes write one disk's worth more than the data: of five disks 1.25 bytes for each.
#[test]
fn whole_stripes_write_their_parity_and_no_more() {
    let v = verdict(&fixture("raid-bitmap.txt"), "raid-read-modify-write").unwrap();
    assert!(said(&v).contains("whole stripes of 5 members with one for parity need 1.25"), "{v:?}");
}

/// Waits of an array that is only read from say nothing about writes, although something else writes to its members.
#[test]
fn an_array_that_nobody_writes_to_has_no_slow_writes() {
    let members = ["sda", "sdb", "sdc"];
    let of = |writes: f64| {
        verdict(&waiting_array(&members, writes, 64.0, 500.0, 50.0).repeat(2), "raid-stripe-cache")
    };
    assert!(of(100.0).is_some() && of(0.0).is_none(), "{:?}", of(0.0));
}

#[test]
fn disks_that_sar_calls_by_their_numbers_are_judged() {
    let with = |slow: &str| {
        let others = ["dev8-0", "dev8-16", "dev65-32"].map(|disk| (disk, 100.0, 8.0));
        verdict(&iostat(&[&others[..], &[(slow, 98.0, 218.0)]].concat()).repeat(2), "slow-member")
    };
    let v = with("dev8-96").unwrap();
    assert!(said(&v).starts_with("dev8-96 takes 218 ms a request"), "{v:?}");
    assert_eq!(v.remedies[0].command(), "smartctl -a /dev/block/8:96");
    // A partition, an array, a volume.
    for other in ["dev8-97", "dev9-0", "dev253-3"] {
        assert!(with(other).is_none(), "{other}");
    }
}

#[test]
fn errors_that_a_drive_could_not_correct_in_its_life_are_a_suspicion() {
    let row =
        |id: u32, name: &str, raw: u64| format!("{id:3} {name} 0x0032 001 001 000 Old_age Always - {raw}\n");
    let heading = "ID# ATTRIBUTE_NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW_VALUE\n";
    let of = |uncorrected: u64| {
        let rows = row(9, "Power_On_Hours", 5492)
            + &row(187, "Reported_Uncorrect", uncorrected)
            + &row(5, "Reallocated_Sector_Ct", 76);
        verdict(&(heading.to_owned() + &rows), "device-errors").filter(|v| v.verdict == Answer::CannotTell)
    };
    assert_eq!(
        of(43_496).map(|v| said(&v)).as_deref(),
        Some("the drive had 43,496 errors that it could not correct over its life, more than one a day (text:3)\n")
    );
    assert!(of(0).is_none() && of(228).is_none(), "replaced sectors alone; one in two days");
}

#[test]
fn a_report_in_which_nothing_completes_does_not_hide_those_with_long_requests() {
    let report = |rate: f64, wait: f64| {
        format!(
            "Device r/s w/s r_await w_await aqu-sz %util\nsdf 0.00 {rate:.2} 0.00 {wait:.2} 2.70 100.00\n\n"
        )
    };
    let of = |text: String| said(&verdict(&text, "device-stall").unwrap());
    let told = of(report(7.0, 754.67).repeat(3) + &report(0.0, 0.0));
    assert!(told.contains("sdf is busy 100 % of the time and completes only 7 requests a second"), "{told}");
    assert!(told.contains("so it is in 3 of 4 reports, and in 1 it completes nothing"), "{told}");
    let alone = of(report(0.0, 0.0));
    assert!(alone.contains("sdf is busy in 1 report but completes nothing"), "{alone}");
    let twice = of(report(0.0, 0.0).repeat(2) + &report(7.0, 754.67));
    assert!(twice.contains("in 2 consecutive reports"), "{twice}");
}
