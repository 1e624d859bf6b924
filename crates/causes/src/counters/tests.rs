//! What the authors of five mails found out is found in their texts, with the same numbers.
//!
//! `MAILS=DIR` also reads the whole mails, `000...txt` to `004...txt`; without it only the bundled excerpts are read.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Verdict};
use std::io::Write;
use std::path::Path;
use tooltext::ToolOutput;

/// The excerpt, and the whole mail if there is one.
fn texts(excerpt: &str, number: &str) -> Vec<ToolOutput> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    let content = std::fs::read(fixtures.join(excerpt)).unwrap();
    let mut all = vec![ToolOutput::read(excerpt, &content)];
    match std::env::var_os("MAILS") {
        Some(folder) => {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let name = entry.file_name().into_string().unwrap();
                if name.starts_with(number) {
                    all.push(ToolOutput::read(&name, &std::fs::read(entry.path()).unwrap()));
                }
            }
        }
        None => {
            let _ =
                writeln!(std::io::stderr(), "SKIPPED the whole of {excerpt}: MAILS names no folder of mails");
        }
    }
    all
}

/// The verdict of one cause; its sentences must contain all these words.
fn says(output: &ToolOutput, cause: &str, answer: Answer, words: &[&str]) -> Verdict {
    let verdicts = judge_counters(std::slice::from_ref(output));
    let verdict =
        verdicts.iter().find(|v| v.cause == cause).unwrap_or_else(|| panic!("{}: no {cause}", output.file));
    assert_eq!(verdict.verdict, answer, "{}: {cause}", output.file);
    let all = verdict.evidence.iter().chain(&verdict.refutes).chain(&verdict.missing);
    let text = all.map(crate::proof::Proof::sentence).collect::<Vec<_>>().join("\n");
    for word in words {
        assert!(text.contains(word), "{}: {cause} lacks {word:?}:\n{text}", output.file);
    }
    verdict.clone()
}

#[test]
fn reads_beside_buffered_writes() {
    for output in texts("writeback.txt", "000") {
        let v = says(
            &output,
            "writeback-flood",
            Answer::Found,
            &[
                // Alone, beside direct writes, beside buffered ones.
                "79,453 a second",
                "p99.99 940 us",
                "p99 2.67 ms",
                "max 14.1 ms",
                "p99.95 64.3 ms",
                "max 129 ms",
                // The second part.
                "80 to 110 reads/s",
                "13,000",
                "162 times at the low end",
                "max 553 ms",
                "max 9.53 ms",
                // The histograms agree, and say where it shows.
                "1,310 of 894,185 reads took 16 ms or more, 0 of 820,702",
                "shows in read and not in write",
                "574 s for 2,048 writes: 280 ms each",
            ],
        );
        assert_eq!(v.confidence, Some(crate::verdict::Confidence::High));
        assert!(v.remedies.iter().any(|r| r.command().contains("/sys/block/sdb/queue/wbt_lat_usec")));
    }
}

#[test]
fn rare_long_stalls() {
    for output in texts("stable-page.txt", "001") {
        says(
            &output,
            "stable-page",
            Answer::CannotTell,
            &[
                "max 226 ms",
                "14.6 ms",
                "15 times",
                "max 636 ms",
                "20.9 ms",
                "30 times",
                "room for 2.05 such stalls among 614,401 writes",
                "constant rate",
                "stable_writes",
            ],
        );
    }
}

#[test]
fn small_requests_and_starved_ones() {
    for output in texts("request-size.txt", "002") {
        says(
            &output,
            "request-size",
            Answer::Found,
            &[
                "(87 sectors), 58.6 MiB/s",
                "(995 sectors), 172 MiB/s",
                "730 us / 87.1 = 8.38 us",
                "2.84 ms / 995 = 2.85 us",
                "the text says 2.8 ms/sector for this",
                "a thousand times too much, it is 2.85 us",
                "1.72 ms would be expected for a request of 511 sectors, 1.76 ms was measured",
                "1 MiB in one case and 4 MiB in the other",
                "the device reports 256 KiB as optimal",
            ],
        );
        says(
            &output,
            "scheduler-starvation",
            Answer::Found,
            &[
                "journal write of 4 KiB by kjournald",
                "5.01 s in the scheduler",
                "2.09 s in the device",
                "took 1.21 s",
            ],
        );
    }
}

#[test]
fn faster_log_slower_fsync() {
    for output in texts("log-completion.txt", "003") {
        says(
            &output,
            "log-force",
            Answer::Found,
            &[
                "-54.1 % at 1 thread ",
                "with nr_cpus = 48",
                "+36.7 % at 1",
                "with nr_cpus = 16",
                "the curves cross between 4 and 8 threads",
                "do not cross",
                "the time is not in the device",
                // The author's own column is wrong in one place.
                "1 of the 14 differences",
                "32 threads +1.0 % (it is +0.7 %)",
            ],
        );
    }
}

#[test]
fn array_slower_than_its_members() {
    for output in texts("raid-bitmap.txt", "004") {
        says(
            &output,
            "raid-read-modify-write",
            Answer::Rejected,
            &["12 times the size of its members'", "about 1/5", "mostly full stripes"],
        );
        let bitmap = says(
            &output,
            "raid-bitmap",
            Answer::Found,
            &["506 ms with the bitmap", "331 ms without", "bitmap_unplug"],
        );
        assert!((bitmap.share - 0.35).abs() < 0.01);
        says(
            &output,
            "raid-stripe-cache",
            Answer::CannotTell,
            &[
                "the members wait 34.9 ms to 104 ms, md4 506 ms and 331 ms",
                "at least 129 ms (39 %) is spent in neither",
                "stripe_cache",
                "blktrace -d",
            ],
        );
    }
}

#[test]
fn each_mail_is_about_its_own() {
    let all = [
        ("writeback.txt", "writeback-flood"),
        ("stable-page.txt", "stable-page"),
        ("request-size.txt", "request-size"),
        ("log-completion.txt", "log-force"),
        ("raid-bitmap.txt", "raid-bitmap"),
    ];
    for (excerpt, cause) in all {
        let output = &texts(excerpt, "none")[0];
        let verdicts = judge_counters(std::slice::from_ref(output));
        assert_eq!(verdicts.first().map(|v| v.cause), Some(cause), "{excerpt}");
        let others = verdicts.iter().filter(|v| v.verdict == Answer::Found && v.cause != cause);
        let others: Vec<&str> = others.map(|v| v.cause).collect();
        let expected: &[&str] = if cause == "request-size" { &["scheduler-starvation"] } else { &[] };
        assert_eq!(others, expected, "{excerpt}");
    }
    assert!(judge_counters(&[]).is_empty());
    assert!(judge_counters(&[ToolOutput::read("nothing", b"Hello, my disk is slow.")]).is_empty());
}

/// With direct writes in the place of buffered ones nothing is claimed.
#[test]
fn no_flood_without_a_difference() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/writeback.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let calm = text
        .replace("64256", "4456")
        .replace("75264", "4780")
        .replace("214016", "8400")
        .replace("325632", "8700");
    let calm = calm.replace("[ 2736]", "[ 2700]");
    let verdicts = judge_counters(&[ToolOutput::read("calm", calm.as_bytes())]);
    let flood = verdicts.iter().find(|v| v.cause == "writeback-flood").unwrap();
    assert_eq!(flood.verdict, Answer::Rejected, "{flood:?}");
}

/// Settings pasted beside the numbers: the sentence that a cause makes of them.
fn told(text: &str, cause: &str, answer: Answer, words: &[&str]) -> Verdict {
    says(&ToolOutput::read("mail", text.as_bytes()), cause, answer, words)
}

const DD: &str = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, ";

#[test]
fn limits_that_are_pasted_are_compared_by_the_runs_under_each() {
    let limit = |kib: u32| format!("/sys/block/sda/queue/max_sectors_kb:{kib}\n");
    let optimal = "/sys/block/sda/queue/optimal_io_size:262144\n";
    let text = format!(
        "{optimal}{}Before:\n{DD}5.0 s, 215 MB/s\n\n{}After it:\n{DD}6.0 s, 179 MB/s\n",
        limit(1024),
        limit(4096)
    );
    let v = told(
        &text,
        "request-size",
        Answer::Found,
        &[
            "the limit is 1 MiB in one case (sda/queue/max_sectors_kb is 1024 (mail:2)) and 4 MiB in the other",
            "the device reports 256 KiB as optimal (sda/queue/optimal_io_size is 262144 (mail:1))",
            "dd copy: 205 MiB/s with 1 MiB (mail:4), 171 MiB/s with 4 MiB (mail:8)",
        ],
    );
    assert_eq!(v.remedies[0].command(), "echo 1024 > /sys/block/sda/queue/max_sectors_kb");
    // All in one line, as an archive leaves it.
    let flat = text.replace('\n', " ") + &"word ".repeat(100);
    told(&flat, "request-size", Answer::Found, &["the limit is 1 MiB", "dd copy: 205 MiB/s with 1 MiB"]);
    // Two limits without a measurement prove nothing.
    let alone = [limit(1024), limit(4096)].concat();
    told(&alone, "request-size", Answer::CannotTell, &["the limit is 1 MiB", "which limit is faster"]);
    let two_disks = limit(1024) + &limit(4096).replace("sda", "sdb");
    assert!(judge_counters(&[ToolOutput::read("mail", two_disks.as_bytes())]).is_empty());
}

#[test]
fn what_throttles_writeback_is_quoted_where_it_is_pasted() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/writeback.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let queue = |wbt: u32| {
        format!("> /sys/block/sdb/queue/scheduler:noop [deadline] cfq\n> /sys/block/sdb/queue/wbt_lat_usec:{wbt}\n> vm.dirty_background_ratio = 10\n> vm.dirty_background_bytes = 0\n> /dev/sdb1 on /cache2 type xfs (rw,noatime)\n{text}")
    };
    let v = told(
        &queue(0),
        "writeback-flood",
        Answer::Found,
        &[
            "sdb/queue/scheduler is deadline (mail:1)",
            "writeback throttling is off: sdb/queue/wbt_lat_usec is 0 (mail:2)",
            "the timing of writeback is set by vm.dirty_background_ratio is 10 (mail:3)",
            "/cache2 is xfs (rw,noatime; mail:5)",
        ],
    );
    assert!(
        v.missing.is_empty()
            && v.remedies[0].command().contains("echo 2000 > /sys/block/sdb/queue/wbt_lat_usec")
    );
    let v = told(&queue(2000), "writeback-flood", Answer::Found, &["writeback throttling is on"]);
    assert!(v.remedies.iter().all(|r| !r.command().contains("wbt")));
}

#[test]
fn stable_writes_that_are_pasted_tell_which_run_is_which() {
    let job = |max: u32, n: u32| {
        format!(
            "log-append: (groupid=0, jobs=1): err= 0: pid={n}: Tue Dec 11 14:41:27 2012\n  write: io=614401KB, bw=5119.1KB/s, iops=5119 , runt=120001msec\n    clat (usec): min=3 , max={max} , avg= 7.32, stdev=411.95\n    clat percentiles (usec):\n     | 99.00th=[ 15], 99.99th=[ 25]\nDisk stats (read/write):\n  sda: ios=79/1287, merge=5/151907, ticks=702/147202, in_queue=147861, util=6.25%\n\n"
        )
    };
    let set = |value: u32| format!("/sys/block/sda/queue/stable_writes:{value}\n");
    let text = format!("{}Today:\n{}{}Then I tried:\n{}", set(1), job(225_702, 1), set(0), job(14_565, 2));
    told(
        &text,
        "stable-page",
        Answer::CannotTell,
        &["max 226 ms", "14.6 ms", "sda/queue/stable_writes is 1 (mail:1): writers do wait"],
    );
}

#[test]
fn the_scheduler_and_its_limits_are_quoted() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/request-size.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let set = "sda/queue/scheduler:noop [deadline] cfq\nsda/queue/iosched/write_expire:5000\n\n";
    told(
        &format!("{set}{text}"),
        "scheduler-starvation",
        Answer::Found,
        &["sda/queue/scheduler is deadline (mail:1)", "sda/queue/iosched/write_expire is 5000 (mail:2)"],
    );
}

#[test]
fn a_stripe_cache_that_is_told_to_be_full_is_found() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/raid-bitmap.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let set =
        |active: u32| format!("md4/md/stripe_cache_size:1024\nmd4/md/stripe_cache_active:{active}\n\n{text}");
    let words = ["md4/md/stripe_cache_size is 1024 (mail:1)"];
    told(
        &set(1020),
        "raid-stripe-cache",
        Answer::Found,
        &[words[0], "it is full: md4/md/stripe_cache_active is 1020"],
    );
    told(&set(200), "raid-stripe-cache", Answer::CannotTell, &words);
}

/// If few reads are slow, but very slow, the rate of all is the same, a little more or less.
#[test]
fn the_bandwidth_is_the_same_where_it_is_a_tenth_more_or_less() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/writeback.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let same = |kib: u32| {
        let text = text.replace("bw=255500KB", &format!("bw={kib}KB"));
        let verdicts = judge_counters(&[ToolOutput::read("mail", text.as_bytes())]);
        let v = verdicts.into_iter().find(|v| v.cause == "writeback-flood").unwrap();
        v.evidence.iter().any(|e| e.sentence().contains("and the bandwidth is the same"))
    };
    assert_eq!([200_000, 240_000, 255_500, 270_000, 300_000].map(same), [false, true, true, true, false]);
}

/// A device that has not enough to do waits between requests: then the time of each says nothing about its size.
#[test]
fn requests_are_compared_by_size_only_while_the_queue_is_full() {
    let row = |name: &str, rate: f64, kib: f64, sectors: f64, queue: f64, service: f64| {
        format!(
            "{name} 0.00 0.00 0.00 {rate:.2} 0.00 {kib:.2} {sectors:.2} {queue:.2} 20.00 {service:.2}\n\n"
        )
    };
    let header = "Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm\n";
    let of = |rate: f64, queue: f64| {
        let large = row("sdb", 354.0, 176_128.0, 995.07, 31.97, 2.84);
        let small = row("sdd", rate, rate * 43.5, 87.0, queue, 0.73);
        let text = format!("Host direct write:\n\n{header}{large}Write via Xen:\n\n{header}{small}");
        let verdicts = judge_counters(&[ToolOutput::read("mail", text.as_bytes())]);
        verdicts.iter().any(|v| v.cause == "request-size" && v.verdict == Answer::Found)
    };
    // A queue of 4 and ten requests a second are enough.
    assert_eq!([of(1377.0, 31.0), of(1377.0, 4.1), of(11.0, 31.0)], [true; 3]);
    assert_eq!([of(1377.0, 3.9), of(1377.0, 0.5), of(9.0, 31.0)], [false; 3]);
}
