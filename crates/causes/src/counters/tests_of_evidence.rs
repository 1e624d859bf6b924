//! With less than the stated minimum nothing is found, with the minimum it is; and the minima are in `docs/texts.md`.

use super::thresholds::evidence::LEAST;
use crate::counters::judge_counters;
use crate::verdict::Answer;
use std::path::Path;
use tooltext::ToolOutput;

fn answer(text: &str, cause: &str) -> Option<Answer> {
    let output = ToolOutput::read("text", text.as_bytes());
    judge_counters(&[output]).into_iter().find(|v| v.cause == cause).map(|v| v.verdict)
}

/// A text with `n` of what a cause is judged by, and nothing else against it; `None` if one less is not possible.
fn with(cause: &str, n: usize) -> Option<String> {
    let report = |rows: &str| format!("Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n{rows}\n");
    let row = |name: &str, rate: f64, wait: f64, queue: f64, util: f64| {
        format!(
            "{name} {rate:.2} {rate:.2} {0:.2} {0:.2} {wait:.2} {wait:.2} {queue:.2} {util:.2}\n",
            4.0 * rate
        )
    };
    let members = ["sda", "sdb", "sdc"].map(|name| row(name, 100.0, 8.0, 1.0, 40.0)).concat();
    let each = |text: String| Some(text.repeat(n));
    match cause {
        "device-saturated" => each(report(&row("sda", 70.0, 350.0, 200.0, 100.0))),
        "device-stall" => each(report("sda 0.00 0.00 0.00 0.00 0.00 0.00 200.00 100.00\n")),
        "slow-member" => each(report(&(members + &row("sdd", 100.0, 218.0, 20.0, 99.0)))),
        "raid-read-modify-write" => {
            each(report(&("md0 0.00 50.00 0.00 200.00 0.00 9.00 1.00 50.00\n".to_owned() + &members)))
        }
        "swap" => {
            let heading =
                " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
            let row = " 1 7 900000 8000 100 2000 9000 4000 9000 100 600 300 1 2 10 87 0\n";
            Some(heading.to_owned() + &row.repeat(1 + n))
        }
        "device-errors" => each("[  1.0] blk_update_request: I/O error, dev sdb, sector 8\n".to_owned()),
        "link-reset" => each("[  1.0] ata3: hard resetting link\n".to_owned()),
        "file-system-error" => each(
            "[  1.0] XFS (sdb1): Metadata CRC error detected at xfs_agi_read_verify+0xcb/0xf0 [xfs], xfs_agi block 0x2\n"
                .to_owned(),
        ),
        "hung" => each(
            "INFO: task dd:7 blocked for more than 120 seconds.\nCall Trace:\n __schedule+0x1/0x2\n \
             blk_mq_get_tag+0x12/0x34\n\n"
                .to_owned(),
        ),
        "flush-cost" => each("fsync(9) = 0 <0.012000>\nwrite(9) = 0 <0.000031>\n".to_owned()),
        "log-force" => {
            let row = |threads: usize| format!("{threads} 90,000 / 90,000 45,000 / 135,000 -50.0% / 50.0%\n");
            Some(
                "Threads Baseline Fake-Completions Diff%\n".to_owned()
                    + &(1..=n).map(row).collect::<String>(),
            )
        }
        "rate-limit" => {
            let job = |i: usize| {
                let of = if i % 2 == 0 { "read" } else { "write" };
                format!("j{i}: (groupid=0, jobs=1): err= 0: pid={i}\n  {of}: IOPS=333{i}, BW=13.0MiB/s (13.6MB/s)(390MiB/30001msec)\n")
            };
            Some((0..n).map(job).collect())
        }
        _ => None,
    }
}

#[test]
fn less_than_the_minimum_finds_nothing() {
    let mut tried = 0;
    for (cause, least, of) in LEAST {
        let n = least as usize;
        let Some(enough) = with(cause, n) else { continue };
        assert_eq!(answer(&enough, cause), Some(Answer::Found), "{cause}: {n} {of}\n{enough}");
        let less = with(cause, n - 1).unwrap_or_default();
        assert_ne!(answer(&less, cause), Some(Answer::Found), "{cause}: {} {of}\n{less}", n - 1);
        tried += 1;
    }
    assert_eq!(tried, 12);
}

/// Reads of a run of fio beside buffered writes, with few of them.
#[test]
fn a_percentile_of_a_few_reads_is_none() {
    let outputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/writeback.txt");
    let text = std::fs::read_to_string(outputs).unwrap();
    assert_eq!(answer(&text, "writeback-flood"), Some(Answer::Found));
    let few: String = text
        .lines()
        .map(|line| match line.split_once("read : io=") {
            Some((before, _)) => format!("{before}read : io=320KB, bw=128KB/s, iops=8 , runt=  2500msec\n"),
            None => line.replace("total=r=", "sum=r=") + "\n",
        })
        .collect();
    assert_ne!(answer(&few, "writeback-flood"), Some(Answer::Found));
}

#[test]
fn the_document_has_the_minima() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/texts.md");
    let document = std::fs::read_to_string(document).unwrap();
    for (cause, least, of) in LEAST {
        let row = format!("| [{cause}](causes/{cause}.md) | {least} {of} |");
        assert!(document.contains(&row), "docs/texts.md lacks\n{row}");
    }
}

/// A processor that waits for I/O is idle: that alone finds nothing, however long it lasts.
#[test]
fn time_that_processors_wait_for_io_is_no_cause() {
    let many = |head: &str, row: &str| head.to_owned() + &row.repeat(20);
    let texts = [
        many(
            "12:00:01 AM CPU %user %nice %system %iowait %steal %idle\n",
            "12:10:01 AM all 1.00 0.00 1.00 97.00 0.00 1.00\n",
        ),
        many(
            "12:00:01 CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle\n",
            "12:10:01 all 1.00 0.00 1.00 97.00 0.00 0.00 0.00 0.00 0.00 1.00\n",
        ),
        many(
            "",
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 1.00 0.00 1.00 97.00 0.00 1.00\n\n",
        ),
        many(
            " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n",
            " 0 9 0 8000 100 2000 0 0 9000 100 600 300 1 1 1 97 0\n",
        ),
    ];
    for text in texts {
        let output = ToolOutput::read("text", text.as_bytes());
        assert!(output.has_readings(), "{text}");
        let verdicts = judge_counters(&[output]);
        let found: Vec<_> =
            verdicts.iter().filter(|v| v.verdict == Answer::Found).map(|v| &v.cause).collect();
        assert!(found.is_empty(), "{found:?} in\n{text}");
    }
}
