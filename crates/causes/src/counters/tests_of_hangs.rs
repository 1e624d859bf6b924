//! An error of a device and tasks that hang, in one log of the kernel.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Confidence, Verdict};
use tooltext::ToolOutput;

fn verdicts(text: &str) -> Vec<Verdict> {
    judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())])
}

fn found(text: &str) -> Vec<&'static str> {
    verdicts(text).iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause).collect()
}

/// The block layer's line of one request that failed, as Linux 6.1 prints it.
fn error(at: &str, disk: &str) -> String {
    format!(
        "{at}I/O error, dev {disk}, sector 308034072 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2\n"
    )
}

/// Two tasks that hang; the second one waits for the commit of the first one.
fn hung(at: &str) -> String {
    let lines = "INFO: task jbd2/sdb1-8:412 blocked for more than 120 seconds.
      Not tainted 6.1.0-18-amd64 #1 Debian 6.1.76-1
\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.
task:jbd2/sdb1-8     state:D stack:0     pid:412   ppid:2      flags:0x00004000
Call Trace:
 <TASK>
 __schedule+0x34d/0x9e0
 schedule+0x5a/0xd0
 io_schedule+0x42/0x70
 bit_wait_io+0xd/0x60
 __wait_on_bit+0x4b/0x140
 out_of_line_wait_on_bit+0x91/0xb0
 ? var_wake_function+0x20/0x20
 jbd2_journal_commit_transaction+0x11a0/0x1aa0 [jbd2]
 kjournald2+0xa9/0x280 [jbd2]
 kthread+0xd7/0x100
 ret_from_fork+0x1f/0x30
 </TASK>
INFO: task mysqld:1733 blocked for more than 120 seconds.
      Not tainted 6.1.0-18-amd64 #1 Debian 6.1.76-1
\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.
task:mysqld          state:D stack:0     pid:1733  ppid:1      flags:0x00000002
Call Trace:
 <TASK>
 __schedule+0x34d/0x9e0
 schedule+0x5a/0xd0
 jbd2_log_wait_commit+0x113/0x190 [jbd2]
 ? cpuacct_percpu_seq_show+0x10/0x10
 ext4_sync_file+0x1d3/0x380 [ext4]
 __x64_sys_fsync+0x37/0x60
 do_syscall_64+0x55/0xb0
 entry_SYSCALL_64_after_hwframe+0x6e/0xd8
 </TASK>";
    lines.lines().map(|line| format!("{at}{line}\n")).collect()
}

/// What libata, SCSI, the block layer and the page cache say of a sector that cannot be read.
fn medium_errors() -> String {
    let of = |at: &str, tag: u32| {
        format!(
            "[{at}] ata2.00: exception Emask 0x0 SAct 0x3c000 SErr 0x0 action 0x0
[{at}] ata2.00: irq_stat 0x40000008
[{at}] ata2.00: failed command: READ FPDMA QUEUED
[{at}] ata2.00: cmd 60/08:70:18:3a:5c/00:00:12:00:00/40 tag {tag} ncq dma 4096 in
                        res 41/40:08:18:3a:5c/00:00:12:00:00/00 Emask 0x409 (media error) <F>
[{at}] ata2.00: status: {{ DRDY ERR }}
[{at}] ata2.00: error: {{ UNC }}
[{at}] sd 1:0:0:0: [sdb] tag#{tag} FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=31s
[{at}] sd 1:0:0:0: [sdb] tag#{tag} Sense Key : Medium Error [current]
[{at}] sd 1:0:0:0: [sdb] tag#{tag} CDB: Read(10) 28 00 12 5c 3a 18 00 00 08 00
[{at}] I/O error, dev sdb, sector 308034072 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2
[{at}] Buffer I/O error on dev sdb1, logical block 38504003, async page read\n"
        )
    };
    of("86401.105853", 14) + &of("86433.411019", 3)
}

#[test]
fn a_stack_of_guesses_is_told_as_such() {
    let text = "[ 1.1] INFO: task kswapd0:63 blocked for more than 120 seconds.\n[ 1.1] Call Trace:\n[ 1.1]  ? some_fn+0x24/0x39\n\
        [ 1.1]  ? other_fn+0xff/0x164\n[ 1.1]  ? third_fn+0x4a/0xac\n";
    let all = crate::counters::judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())]);
    let said = all.iter().find(|v| v.cause == "hung").expect("a suspicion").evidence[0].sentence();
    assert_eq!(
        said,
        "1 task is blocked, of its stack there are only guesses (?): kswapd0 (dmesg:1), for more than 120 s"
    );
}

#[test]
fn errors_come_before_the_tasks_that_hang_on_them() {
    let text = medium_errors() + &hung("[86540.216011] ");
    assert_eq!(found(&text), ["device-errors", "link-reset", "hung"]);
    let all = verdicts(&text);
    let said = all[0].evidence[0].sentence();
    assert!(said.starts_with("sdb: 2 I/O errors, 2 medium errors in the kernel's log"), "{said}");
}

#[test]
fn errors_with_other_lines_between_them_are_of_one_log() {
    let other: String =
        (0..20).map(|i| format!("[86420.{i:06}] audit: type=1400 apparmor=\"ALLOWED\" pid={i}\n")).collect();
    let text = error("[86401.105853] ", "sdb") + &other + &error("[86431.105853] ", "sdb");
    let first = &verdicts(&text)[0];
    assert_eq!((first.cause, first.verdict), ("device-errors", Answer::Found));
    let said = first.evidence[0].sentence();
    assert_eq!(said, "sdb: 2 I/O errors in the kernel's log (the first at dmesg:1)");
}

#[test]
fn one_error_at_the_time_of_a_hang_is_enough() {
    for (line, report) in [
        ("[86401.105853] ", "[86540.216011] "),
        // The command was given up after the task was reported.
        ("[86610.105853] ", "[86540.216011] "),
        ("[Tue Mar  3 23:58:06 2026] ", "[Wed Mar  4 00:00:16 2026] "),
        ("Mar  3 04:05:06 db1 kernel: ", "Mar  3 04:07:16 db1 kernel: "),
        ("2026-03-03T04:05:06.001+01:00 db1 kernel: ", "2026-03-03T04:07:16.002+01:00 db1 kernel: "),
        ("", ""),
    ] {
        let text = error(line, "sda") + &hung(report);
        assert_eq!(found(&text), ["device-errors", "hung"], "{text}");
        let first = &verdicts(&text)[0];
        let said: Vec<String> = first.evidence.iter().map(|e| e.sentence()).collect();
        assert_eq!(
            said,
            [
                "sda: 1 I/O error in the kernel's log (the first at dmesg:1)",
                "2 tasks hung at that time (the first at dmesg:2)"
            ]
        );
        assert_eq!(first.confidence, Some(Confidence::Medium));
    }
}

#[test]
fn an_error_of_another_day_is_no_cause_of_a_hang_but_on_the_same_disk_a_hint() {
    for report in ["[87540.216011] ", "Mar  3 04:05:06 db1 kernel: "] {
        let hung = hung(report);
        assert_eq!(found(&(error("[86401.105853] ", "sda") + &hung)), ["hung"], "{report}");
        let text = error("[86401.105853] ", "sdb") + &hung;
        let first = &verdicts(&text)[0];
        assert_eq!((first.cause, first.confidence), ("device-errors", Some(Confidence::Low)));
        let said = first.evidence[1].sentence();
        assert_eq!(said, "1 task hung on this disk, at another time (the first at dmesg:2)");
    }
    // Nor is one of another file.
    let outputs = [error("", "sda"), hung("")].map(|text| ToolOutput::read("dmesg", text.as_bytes()));
    assert_eq!(judge_counters(&outputs)[0].cause, "hung");
}

#[test]
fn of_two_single_errors_that_beside_a_hang_is_told_first() {
    let text = error("[1.5] ", "sda") + &error("[86401.105853] ", "sdc") + &hung("[86540.216011] ");
    let first = &verdicts(&text)[0];
    assert!(first.evidence[0].sentence().starts_with("sdc: 1 I/O error"), "{:?}", first.evidence);
    assert!(first.remedies[0].command().contains("/dev/sdc"));
}

#[test]
fn one_reset_at_the_time_of_a_hang_is_enough() {
    let reset = "[86401.102233] ata2: hard resetting link\n";
    assert_eq!(found(&(reset.to_owned() + &hung("[86540.216011] "))), ["link-reset", "hung"]);
    assert!(found(reset).is_empty());
}

#[test]
fn errors_behind_a_controller_that_stops_answering_are_its_consequence() {
    let controller = "[5021.4] nvme nvme3: I/O 21 QID 2 timeout, aborting
[5051.4] nvme nvme3: I/O 21 QID 2 timeout, reset controller
[5112.8] nvme nvme3: Device not ready; aborting reset, CSTS=0x1
[5132.9] nvme nvme3: Disabling device after reset failure: -19
";
    let failed = "[5133.2] md/raid1:md9: Disk failure on nvme3n1p2, disabling device.\n";
    let errors = error("[5133.0] ", "nvme3n1") + &error("[5133.1] ", "nvme3n1") + failed;
    let all = verdicts(&(controller.to_owned() + &errors));
    assert_eq!((all[0].cause, all[0].verdict), ("link-reset", Answer::Found));
    let said: Vec<String> = all[0].evidence.iter().map(|e| e.sentence()).collect();
    let first = "nvme3: 1 reset, 2 timeouts, 1 offline message in the kernel's log (the first at dmesg:1";
    assert!(said[0].starts_with(first), "{said:?}");
    assert_eq!(said[1], "errors of nvme3n1 are its consequence (dmesg:5)");
    assert!(all.iter().all(|v| v.cause != "device-errors"), "{all:?}");
    // Errors before it, errors of another drive, and errors of the medium are the device's own.
    let of_medium =
        "[5133.0] critical medium error, dev nvme3n1, sector 8 op 0x0:(READ) flags 0x0\n".repeat(2);
    let earlier = errors.replace("[5133.", "[5003.");
    for text in [earlier + controller, controller.to_owned() + &errors.replace("nvme3n1", "nvme4n1")] {
        assert_eq!(found(&text), ["device-errors", "link-reset"]);
    }
    assert_eq!(found(&(controller.to_owned() + &of_medium)), ["device-errors", "link-reset"]);
    // md's line alone counts nothing.
    assert_eq!(verdicts(&failed.repeat(3))[0].verdict, Answer::CannotTell);
}

#[test]
fn disks_that_fail_in_one_moment_have_something_in_common() {
    let moment: String = ["sdc", "sdd", "sdf", "sdc", "sdd"].map(|disk| error("[77.1] ", disk)).concat();
    let v = &verdicts(&moment)[0];
    assert_eq!((v.cause, v.verdict), ("device-errors", Answer::CannotTell));
    let said = v.evidence[0].sentence();
    assert!(said.starts_with("3 disks report errors within a second (dmesg:1)"), "{said}");
    let later = error("[99.1] ", "sdx") + &error("[99.9] ", "sdx");
    assert!(verdicts(&(moment + &later))[0].evidence[0].sentence().starts_with("sdx: 2 I/O errors"));
}

#[test]
fn the_first_line_is_that_of_all_kinds() {
    let timeout = "[77.1] nvme nvme3: I/O 21 QID 2 timeout, aborting\n";
    let reset = "[95.4] nvme nvme3: Device not ready; aborting reset, CSTS=0x1\n";
    let said = verdicts(&(timeout.to_owned() + reset))[0].evidence[0].sentence();
    assert!(said.contains("(the first at dmesg:1)"), "{said}");
}

#[test]
fn the_same_errors_in_two_forms_of_one_log_are_told_once() {
    let journal = error("Mar  3 04:05:06 db1 kernel: ", "sda");
    let text = error("[Tue Mar  3 04:05:06 2026] ", "sda") + "\nThe journal has it, too:\n\n" + &journal;
    assert_eq!(verdicts(&text)[0].verdict, Answer::CannotTell);
}

#[test]
fn only_what_has_a_medium_is_copied_from_and_commands_name_devices() {
    let commands = |text: &str| -> String {
        verdicts(text)[0].remedies.iter().map(|r| r.command().to_string() + "\n").collect()
    };
    for disk in ["nbd3", "ublkb0", "loop7", "dm-4", "zram0", "nullb0"] {
        let all = commands(&error("", disk).repeat(2));
        assert!(!all.contains("ddrescue") && !all.contains("smartctl"), "{disk}: {all}");
    }
    let all = commands(&"ata5.00: error: { UNC }\n".repeat(2));
    assert!(all.contains("smartctl -a /dev/$(ls -l") && all.contains("ddrescue /dev/$(ls -l"), "{all}");
}

/// `/proc/PID/stack` shows one moment of a task that somebody chose.
#[test]
fn a_stack_that_somebody_looked_at_shows_a_wait_and_no_hang() {
    let of = |frames: &[&str]| {
        let text: String = frames.iter().map(|frame| format!("[<0>] {frame}+0x46/0x80\n")).collect();
        verdicts(&text).into_iter().find(|v| v.cause == "hung")
    };
    let commit = of(&["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync"]).expect("a verdict");
    assert_eq!(commit.verdict, Answer::CannotTell);
    let said = commit.evidence[0].sentence();
    assert_eq!(
        said,
        "1 task waited for the journal's commit (jbd2_log_wait_commit) when this stack was taken (dmesg:1)"
    );
    assert!(of(&["do_nanosleep", "hrtimer_nanosleep"]).is_none(), "asleep by choice");
    let part = of(&["wait_woken", "raid5_make_request.part.3", "md_handle_request"]).expect("a verdict");
    assert!(part.evidence[0].sentence().contains("md's array"), "{:?}", part.evidence);
    // A cause that is suspected of the same stack says more.
    let bitmap = "[<0>] md_super_wait+0x55/0x90 [md_mod]\n[<0>] md_bitmap_unplug+0x55/0x90 [md_mod]\n";
    assert_eq!(verdicts(bitmap).iter().map(|v| v.cause).collect::<Vec<_>>(), ["raid-bitmap", "hung"]);
}

/// Of a list of tasks that are not running, one that may be asleep for a time.
#[test]
fn a_timer_is_no_hang_unless_the_kernel_says_how_long_it_lasts() {
    let list = "[22147.5] arc_reclaim   D 0000000000000000     0 23352      2 0x00000080\n\
        [22147.5] Call Trace:\n[22147.5]  [<ffffffff81467eb1>] schedule_timeout+0xab/0xe3\n\
        [22147.5]  [<ffffffff81059cf5>] ? process_timeout+0x0/0x10\n";
    assert_eq!(found(list), [""; 0]);
    let long = format!("[22147.5] INFO: task arc_reclaim:23352 blocked for more than 120 seconds.\n{list}");
    assert_eq!(found(&long), ["hung"]);
}

/// `echo w > /proc/sysrq-trigger` lists what waits at one moment: that is no report of a hang, and hides no other suspicion.
#[test]
fn a_list_of_blocked_tasks_is_of_one_moment() {
    let listed = "[ 16.0] task:pool state:D stack:0 pid:26 tgid:26 ppid:2 flags:0x4\n[ 16.0] Call Trace:\n[ 16.0]  __schedule+0x532/0xea0\n\
        [ 16.0]  schedule+0x27/0x80\n[ 16.0]  jbd2_log_wait_commit+0xa6/0x120\n";
    let of = |text: &str| {
        let all = judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())]);
        all.into_iter().map(|v| (v.cause, v.verdict)).collect::<Vec<_>>()
    };
    assert_eq!(of(listed), [("hung", Answer::CannotTell)]);
    let reported = format!("[ 16.0] INFO: task pool:26 blocked for more than 120 seconds.\n{listed}");
    assert_eq!(of(&reported), [("hung", Answer::Found)]);
    let offline = "[ 17.0] sd 2:0:0:0: rejecting I/O to offline device\n";
    assert_eq!(of(&format!("{listed}{offline}")).last(), Some(&("hung", Answer::CannotTell)));
}

/// One task that hangs, with the functions on its stack.
fn told(task: &str, functions: &str) -> (String, Vec<String>) {
    let frames: String = functions.split(' ').map(|f| format!(" {f}+0x10/0x100\n")).collect();
    let text = format!(
        "INFO: task {task}:412 blocked for more than 120 seconds.\n      Not tainted 3.16.0 #1\n{task}  D 0 412 2 0x0\nCall Trace:\n{frames}"
    );
    let hung = verdicts(&text).into_iter().find(|v| v.cause == "hung").expect("a verdict");
    (hung.evidence[0].sentence(), hung.remedies.iter().map(|r| r.what.clone()).collect())
}

#[test]
fn a_journal_waits_for_open_changes_for_its_blocks_or_for_data() {
    let said = |functions: &str| told("jbd2/sdb1-8", functions).0;
    let updates = said("schedule jbd2_journal_commit_transaction kjournald2 kthread");
    assert!(updates.contains("waiting for open handles of the transaction"), "{updates}");
    let page = "schedule io_schedule sleep_on_page __wait_on_bit wait_on_page_bit";
    let data =
        said(&format!("{page} filemap_fdatawait_range filemap_fdatawait jbd2_journal_commit_transaction"));
    let cut = said(page);
    for (said, function) in [(data, "filemap_fdatawait_range"), (cut, "wait_on_page_bit")] {
        assert!(said.contains("data") && said.contains(function) && !said.contains("read"), "{said}");
    }
}

#[test]
fn who_waits_for_a_frozen_file_system_is_told_what_freezes_it() {
    let (said, advice) = told("java", "schedule __sb_start_write mnt_want_write kern_path_create");
    assert!(said.contains("frozen"), "{said}");
    assert!(advice[0].contains("fsfreeze"), "{advice:?}");
}

fn hung_of(text: &str) -> Option<Verdict> {
    verdicts(text).into_iter().find(|v| v.cause == "hung")
}

/// The kernel's report of a task, with the functions on its stack.
fn report(task: &str, functions: &str) -> String {
    let frames: String = functions.split(' ').map(|f| format!(" {f}+0x10/0x100\n")).collect();
    format!("INFO: task {task}:412 blocked for more than 120 seconds.\n      Not tainted 5.3.0 #1\n{task}  D 0 412 2 0x0\nCall Trace:\n{frames}")
}

/// What waits for a pool's I/O waits for disks; the thread that commits btrfs waits for its data, not for itself.
#[test]
fn pools_and_committers_wait_for_disks() {
    for (task, functions, what) in [
        (
            "txg_sync",
            "schedule io_schedule cv_wait_common __cv_wait_io zio_wait dsl_pool_sync spa_sync",
            "the pool's I/O (ZFS) (zio_wait)",
        ),
        (
            "btrfs-transacti",
            "schedule btrfs_start_ordered_extent btrfs_wait_ordered_range __btrfs_wait_cache_io btrfs_commit_transaction",
            "writeback (btrfs_start_ordered_extent)",
        ),
        (
            "btrfs-transacti",
            "schedule schedule_timeout wait_for_completion write_all_supers.isra.50 write_ctree_super btrfs_commit_transaction",
            "a flush of the device's cache (wait_for_completion)",
        ),
    ] {
        let v = hung_of(&report(task, functions)).expect("a verdict");
        let said = v.evidence[0].sentence();
        assert!(said.contains(&format!("waiting for {what}")) || said.contains(what), "{said}");
        assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(Confidence::Medium)), "{said}");
    }
}

/// A hang in a driver of the network makes no I/O slow: it is told, but as no cause.
#[test]
fn what_hangs_elsewhere_is_told_as_no_cause() {
    let pool = report(
        "kworker/2:3",
        "schedule z3fold_zpool_destroy zpool_destroy_pool process_one_work worker_thread",
    );
    let thread = report("kinteractiveup", "__schedule kthread kernel_thread_helper");
    let v = hung_of(&pool).expect("a verdict");
    assert_eq!((v.verdict, v.refutes.len(), v.remedies.len()), (Answer::CannotTell, 1, 0));
    assert_eq!(
        v.evidence[0].sentence(),
        "1 task is blocked in z3fold_zpool_destroy: kworker/2:3 (dmesg:1), for more than 120 s; nothing on the stack is storage"
    );
    let both = hung_of(&(pool.clone() + &thread)).expect("a verdict");
    assert_eq!((both.verdict, both.evidence.len()), (Answer::CannotTell, 2));
    assert!(both.evidence.iter().any(|proof| proof.sentence().contains("before it began (kthread)")));
    // Reported again, without a stack this time.
    let again = pool.clone() + "INFO: task kworker/2:3:412 blocked for more than 241 seconds.\n";
    assert_eq!(hung_of(&again).map(|v| v.verdict), Some(Answer::CannotTell));
    // Another task without a stack may hang in storage; one with a stack does.
    for other in [
        "INFO: task mysqld:7 blocked for more than 120 seconds.\n".to_owned(),
        report("mysqld", "schedule __mutex_lock my_lock xfs_file_fsync do_fsync"),
    ] {
        assert_eq!(found(&(pool.clone() + &other)), ["hung"], "{other}");
    }
}

/// A list of blocked tasks also has threads that sleep from time to time.
#[test]
fn who_sleeps_by_design_is_not_listed_as_blocked() {
    let list = "[22147.5] arc_reclaim   D 0000000000000000     0 23352      2 0x00000080\n[22147.5] Call Trace:\n\
        [22147.5]  [<ffffffff81467eb1>] schedule_timeout+0xab/0xe3\n[22147.5]  [<ffffffffa01ccc00>] __cv_timedwait+0x2a9/0x334 [spl]\n";
    assert!(hung_of(list).is_none());
    let waits = list.replace("__cv_timedwait+", "txg_wait_open+");
    assert_eq!(hung_of(&waits).map(|v| v.verdict), Some(Answer::CannotTell));
}
