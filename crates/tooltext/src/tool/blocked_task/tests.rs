//! Blocked tasks in logs of many kernels.

use crate::output::ToolOutput;

fn read(text: &str) -> Vec<(String, String, String, usize)> {
    let output = ToolOutput::read("dmesg", text.as_bytes());
    let all = output.runs.iter().flat_map(|r| r.of("blocked task").cloned().collect::<Vec<_>>());
    all.map(|r| {
        let get = |name: &str| r.setting(name).unwrap_or("").to_owned();
        (r.name.clone(), get("waits for"), get("in"), r.settings.len() - 2)
    })
    .collect()
}

const STACK: [&str; 6] = [
    "__schedule+0x2de/0x890",
    "schedule+0x4f/0xc0",
    "? old_guess+0x30/0x30",
    "io_schedule+0x16/0x40",
    "blk_mq_get_tag+0x10c/0x290",
    "submit_bio+0x11/0x22 [mod]",
];

/// With all prefixes that a log, a host and a mailer add.
fn log(head: &[&str], prefix: &str) -> String {
    let lines = head.iter().chain(&["Call Trace:", "<TASK>"]).chain(&STACK).chain(&["</TASK>"]);
    lines.map(|line| format!("{prefix}{line}\n")).collect()
}

#[test]
fn a_task_that_hangs_tells_what_for_however_the_log_was_taken() {
    let hung = [
        "INFO: task kworker/u16:9:7088 blocked for more than 122 seconds.",
        "      Tainted: G W 5.0.0-19-generic #20",
        "\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.",
        "kworker/u16:9   D    0  7088      2 0x80000000",
        "Workqueue: events_unbound something [mod]",
    ];
    let expected =
        ("kworker/u16:9:7088".to_owned(), "a request, a tag".to_owned(), "blk_mq_get_tag".to_owned(), 5);
    for prefix in
        ["", "[ 2268.057017] ", "> > [19647.696042][ T3721] ", "Jun 26 12:23:15 host kernel: [87603.066176] "]
    {
        assert_eq!(read(&log(&hung, prefix)).first(), Some(&expected), "{prefix}");
    }
}

#[test]
fn all_blocked_tasks_of_sysrq_are_told() {
    let new = "task:dnf             state:D stack:    0 pid:  340 ppid:     2 flags:0x00004000";
    let old = "fio             D ffff880234567890     0  4711      1 0x00000080";
    let text = format!("sysrq: Show Blocked State\n{}{}", log(&[new], "[ 1.2] "), log(&[old], ""));
    let middle = "sh              D    0  4170      2 0x80004000";
    let text = format!("{text}{}", log(&[middle], "[ 1.3] "));
    let names: Vec<_> = read(&text).into_iter().map(|t| (t.0, t.2)).collect();
    let tag = || "blk_mq_get_tag".to_owned();
    let expected = ["dnf:340", "fio:4711", "sh:4170"].map(|name| (name.to_owned(), tag()));
    assert_eq!(names, expected);
    // Tasks that sleep in another state are not blocked.
    assert!(read(&log(&[&new.replace("state:D", "state:S")], "")).is_empty());
}

#[test]
fn a_stack_without_its_task_is_of_one_that_sleeps_or_of_none() {
    let stack = log(&[], "[ 1.2] ");
    assert_eq!(
        read(&stack),
        [("a task".to_owned(), "a request, a tag".to_owned(), "blk_mq_get_tag".to_owned(), 5)]
    );
    assert!(read(&stack.replace("__schedule", "dump_stack")).is_empty());
}

#[test]
fn the_stack_of_an_oops_is_of_no_task_that_is_blocked() {
    let stack = log(&[], "[ 1.2] ");
    for head in [
        "BUG: unable to handle page fault for address: 00007f0b00000c3c",
        "Oops: 0000 [#1] SMP NOPTI",
        "general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
        "WARNING: CPU: 1 PID: 77 at block/some.c:12 some_fn+0x2b8/0x3e0",
        "RIP: 0010:some_fn+0x76/0x4e0",
    ] {
        let text = format!("[ 1.1] {head}\n[ 1.1] RAX: 00007f0b16a3c000 RBX: 0000000000000000\n{stack}");
        assert!(read(&text).is_empty(), "{head}");
        // A further task after it, and one mentioned in prose about a bug.
        let task = "fio             D ffff880234567890     0  4711      1 0x00000080";
        assert_eq!(read(&(text + &log(&[task], "[ 1.3] "))).len(), 1, "{head}");
        assert_eq!(read(&format!("{head}\n\n{}", log(&[task], "[ 1.3] "))).len(), 1, "{head}");
    }
}

#[test]
fn where_the_unwinder_knows_nothing_else_its_guesses_name_the_wait() {
    let text = "sh              D    0  4170      2 0x80004000\nCall Trace:\n __schedule+0x1f6/0x560\n \
        ? _cond_resched+0x2d/0x40\n ? schedule+0x4a/0xb0\n ? wait_for_space+0xdb/0x140 [mod]\n \
        ? kthread+0x115/0x140\n";
    assert_eq!(read(text)[0].2, "wait_for_space");
}

/// Stacks of kernels without frame pointers: all of it is what may be left of earlier calls.
#[test]
fn of_guesses_alone_only_a_known_wait_counts() {
    let stack = |inner: &str| {
        format!(
            "[ 1.1] INFO: task kswapd0:63 blocked for more than 120 seconds.\n[ 1.1] kswapd0  D ffff88203f033780  0  63  2 0x00000000\n[ 1.1] Call Trace:\n\
             [ 1.1]  [<ffffffff81040480>] ? {inner}+0x24/0x39\n[ 1.1]  [<ffffffff8134fb74>] ? __mutex_lock_common.isra.5+0xff/0x164\n\
             [ 1.1]  [<ffffffffa0b470fb>] ? some_inactive+0x4a/0xac [some]\n"
        )
    };
    let known = read(&stack("mutex_spin_on_owner"));
    assert_eq!(known, [("kswapd0:63".into(), "a lock".into(), "__mutex_lock_common".into(), 3)]);
    let unknown = read(&stack("clocksource_get").replace("__mutex_lock_common.isra.5", "some_fn"));
    assert_eq!(unknown, [("kswapd0:63".into(), "an unknown wait".into(), String::new(), 1)]);
}

#[test]
fn arm_puts_frames_in_brackets_or_behind_from() {
    let old = "[<808c4124>] (__schedule) from [<808c47d4>] (schedule+0x58/0xb8)\n\
        [<808c47d4>] (schedule) from [<8014be98>] (io_schedule+0x20/0x40)\n\
        [<8014be98>] (io_schedule) from [<802bfd10>] (blk_mq_get_tag+0x108/0x128)\n\
        [<802bfd10>] (blk_mq_get_tag) from [<7f007e80>] (some_queue_work+0x574/0xb98 [loop])\n\
        [<7f007e80>] (some_queue_work [loop]) from [<8013dff4>] (kthread_worker_fn+0xbc/0x1e0)\n";
    let new = " __schedule from schedule+0x58/0xb8\n schedule from io_schedule+0x20/0x40\n \
        io_schedule from blk_mq_get_tag+0x108/0x128\n blk_mq_get_tag from some_queue_work+0x574/0xb98 [loop]\n \
        some_queue_work [loop] from kthread_worker_fn+0xbc/0x1e0\n";
    for stack in [old, new] {
        let all = read(&format!("loop0           D    0  9479      2 0x00000000\n{stack}"));
        let expected = ("loop0:9479".into(), "a request, a tag".into(), "blk_mq_get_tag".into(), 5);
        assert_eq!(all, [expected], "{stack}");
    }
}

#[test]
fn what_devkmsg_puts_before_a_line_is_no_part_of_a_name() {
    let text =
        "6,172,1121675639,-;sh              D    0  4170      2 0x80004000\n4,173,1121675640,-;Call Trace:\n\
        4,174,1121675641,-,caller=T12; __schedule+0x1f6/0x560\n4,175,1121675642,-; schedule+0x4a/0xb0\n\
        4,176,1121675643,c; io_schedule+0x12/0x40\n";
    assert_eq!(read(text)[0].0, "sh:4170");
}

#[test]
fn a_form_of_the_message_is_no_task() {
    for task in ["<process>:<pid>", "`<process>`:`<pid>`", "NAME:PID", "java"] {
        let text = format!("INFO: task {task} blocked for more than 120 seconds.\nThat is all.");
        assert!(read(&text).is_empty(), "{task}");
    }
}

#[test]
fn a_line_alone_is_a_fact_and_words_are_none() {
    let all = read("INFO: task jbd2/sda1-8:12 blocked for more than 120 seconds.\nThat is all I have.");
    assert_eq!(all, [("jbd2/sda1-8:12".into(), "an unknown wait".into(), String::new(), 0)]);
    assert!(read("my task was blocked for more than 120 seconds, D state 0 1 2 0x0").is_empty());
}

/// As people quote them, without the line that announces a stack; a stack that does not sleep is nobody's.
#[test]
fn frames_alone_are_a_stack_of_one_that_sleeps() {
    let frames = " __switch_to+0x1f8/0x350\n __schedule+0x30c/0x990\n schedule+0x48/0xc0\n jbd2_log_wait_commit+0xd4/0x180\n ext4_sync_file+0x88/0x5c0\n";
    let reading = crate::tool::testing::one(&format!("this hangs:\n\n{frames}"), "blocked task");
    assert_eq!(reading.setting("in"), Some("jbd2_log_wait_commit"));
    let runs = frames.replace("__switch_to", "show_stack");
    assert!(crate::tool::testing::all(&format!("this:\n\n{}", &runs[..70]), "blocked task").is_empty());
}
