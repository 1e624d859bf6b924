//! What the kernel's log shows: which tasks are blocked on what, and which device fails.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Confidence, Verdict};
use tooltext::ToolOutput;

fn verdict(text: &str, cause: &str) -> Option<Verdict> {
    let output = ToolOutput::read("dmesg", text.as_bytes());
    judge_counters(&[output]).into_iter().find(|v| v.cause == cause)
}

/// A hung task with its stack, the innermost first.
fn hung(task: &str, seconds: u32, stack: &[&str]) -> String {
    let frames: String = stack.iter().map(|f| format!(" {f}+0x12/0x34\n")).collect();
    format!("INFO: task {task} blocked for more than {seconds} seconds.\n      Not tainted 6.1.0\nCall Trace:\n __schedule+0x1/0x2\n{frames}\n")
}

#[test]
fn those_nearest_to_the_device_are_told_first() {
    let commit = ["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync"];
    let text = [
        hung("postgres:11", 120, &commit),
        hung("postgres:12", 241, &commit),
        hung("jbd2/sda1-8:5", 120, &["blk_mq_get_tag", "submit_bio", "jbd2_journal_commit_transaction"]),
    ]
    .concat();
    let v = verdict(&text, "hung").unwrap();
    let said: Vec<String> = v.evidence.iter().map(|e| e.sentence()).collect();
    assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(Confidence::Medium)));
    assert!(
        said[0].contains("1 task is blocked, waiting for a request, a tag (blk_mq_get_tag): jbd2/sda1-8"),
        "{said:?}"
    );
    assert!(said[1].contains("2 tasks are blocked, waiting for the journal's commit"), "{said:?}");
    assert!(said[1].contains("postgres (2)") && said[1].contains("for more than 241 s"), "{said:?}");
}

#[test]
fn a_task_that_is_reported_again_is_one_task() {
    let commit = ["btrfs_commit_transaction", "btrfs_sync_file", "do_fsync"];
    let text: String = [120, 241, 362].map(|seconds| hung("sshd:77", seconds, &commit)).concat();
    let v = verdict(&(text + &hung("sshd:78", 120, &commit)), "hung").unwrap();
    let said = v.evidence[0].sentence();
    assert!(said.starts_with("2 tasks are blocked") && said.contains("sshd (2)"), "{said}");
    assert!(said.ends_with("for more than 362 s"), "{said}");
}

#[test]
fn the_wait_for_btrfs_transaction_names_no_other_journal() {
    let v = verdict(&hung("cp:7", 120, &["wait_current_trans", "start_transaction"]), "hung").unwrap();
    assert!(!v.evidence[0].sentence().contains("jbd2"), "{:?}", v.evidence);
}

#[test]
fn a_task_without_a_stack_is_told_and_not_explained() {
    let v = verdict("INFO: task dd:7 blocked for more than 120 seconds.\n", "hung").unwrap();
    assert_eq!(v.verdict, Answer::CannotTell);
    assert!(verdict("All is well.", "hung").is_none());
}

#[test]
fn resets_are_of_the_link_and_errors_of_the_device() {
    let reset =
        "ata3: hard resetting link\nata3.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen\n";
    let v = verdict(reset, "link-reset").unwrap();
    assert!(v.verdict == Answer::Found && v.evidence[0].sentence().starts_with("ata3: 1 reset, 1 exception"));
    assert!(verdict(reset, "device-errors").is_none());
    let error =
        |sector: u32| format!("blk_update_request: I/O error, dev sdb, sector {sector} op 0x0:(READ)\n");
    let v = verdict(&(error(12) + &error(4012)), "device-errors").unwrap();
    assert!(v.remedies[0].command().contains("smartctl -a /dev/sdb"));
}

#[test]
fn a_drive_that_says_it_fails_is_told_and_one_that_had_errors_is_not() {
    let of = |text: &str| verdict(text, "device-errors");
    let failed = of("SMART overall-health self-assessment test result: FAILED!\n").unwrap();
    assert_eq!((failed.verdict, failed.confidence), (Answer::Found, Some(Confidence::Medium)));
    assert_eq!(failed.evidence[0].sentence(), "the drive reports that it is failing (dmesg:1)");
    let hot = of("critical_warning                    : 0x2\n").unwrap();
    assert!(hot.evidence[0].sentence().contains("too hot"), "{:?}", hot.evidence[0].sentence());
    let heading = "ID# ATTRIBUTE_NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW_VALUE\n";
    let pending =
        of(&format!("{heading}197 Current_Pending_Sector 0x0012 100 100 000 Old_age Always - 8\n")).unwrap();
    assert_eq!(pending.confidence, Some(Confidence::Low));
    for quiet in [
        "SMART overall-health self-assessment test result: PASSED\nCritical Warning: 0x00\n".to_owned(),
        format!("{heading}5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - 16\n"),
        "Percentage Used: 3%\nMedia and Data Integrity Errors: 0\n".to_owned(),
    ] {
        assert!(of(&quiet).is_none(), "{quiet}");
    }
    let nvme = |hours: u32| of(&format!("Power On Hours: {hours}\nMedia and Data Integrity Errors: 7\n"));
    assert!(nvme(169).is_none());
    assert_eq!(nvme(167).unwrap().verdict, Answer::CannotTell);
}

#[test]
fn a_single_line_may_be_of_another_day() {
    let line = "[  1.0] blk_update_request: I/O error, dev sdb, sector 8\n";
    let of = |n| verdict(&line.repeat(n), "device-errors").unwrap();
    assert_eq!(of(1).verdict, Answer::CannotTell);
    assert_eq!([2, 6].map(|n| of(n).confidence), [Confidence::Medium, Confidence::High].map(Some));
}
