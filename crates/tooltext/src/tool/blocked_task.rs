//! Reads blocked tasks with their stacks from the kernel's log: hung tasks (`check_hung_task`, kernel/hung_task.c), and the output of
//! `echo w > /proc/sysrq-trigger` (`show_state_filter`, kernel/sched/core.c).
//!
//! ```text
//! [ 967.72] INFO: task jbd2/sda1-8:1234 blocked for more than 120 seconds.
//! [ 967.72]       Not tainted 5.12.0 #1
//! [ 967.72] task:jbd2/sda1-8     state:D stack:    0 pid: 1234 ppid:  2 flags:0x00004000       older: jbd2/sda1-8 D ffff88 0 1234 2 0x00
//! [ 967.72] Call Trace:
//! [ 967.72]  __schedule+0x2de/0x890
//! [ 967.72]  ? pci_pm_restore+0x30/0x30                                                         a guess of the unwinder's
//! [ 967.72]  wbt_wait+0x82/0xf0 [module]
//! ```
//!
//! Stacks of an oops, a warning or a lockup are ignored: they belong to a running task. Any prefix of lines (times, `kernel:`, the host)
//! is allowed. The wait of a task is derived with the same rules as for stacks in recordings ([`Wait`]).
//!
//! **Versions**: Linux 2.6.32 to 6.1 by logs that people mailed: the line of the state is another from 5.11 on.

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;
use operation::Wait;

pub struct BlockedTask;

/// Limit on frames of a stack, as in the kernel (`MAX_STACK_TRACE_DEPTH`).
const MOST_FRAMES: usize = 64;
/// Limit on words before a frame: `Jun 26 12:23:15 host kernel: [87603.066216][ T3721]`, a line without a frame, a mark of the unwinder.
const MOST_BEFORE: usize = 24;
/// Limit on words of a task's name.
const MOST_OF_NAME: usize = 4;
/// Limit on words between the first line and the stack: taint flags, how to disable the message, the task's line, its work queue.
const MOST_OF_HEAD: usize = 200;
/// As [`MOST_OF_HEAD`], for an oops: modules, registers, code.
const MOST_OF_OOPS: usize = 500;

/// The data in the first line.
struct Head {
    task: String,
    seconds: Option<f64>,
    at: Spot,
    used: usize,
}

impl Tool for BlockedTask {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let head = hung(words).or_else(|| state(words)).or_else(|| oops(words)).or_else(|| nobodys(words))?;
        let from = head.used + before_trace(&words[head.used..])?;
        let (frames, length) = frames(&words[from..]);
        // Without a task's line, the stack may be that of an oops or a warning, unless it is of a sleeping task.
        let sleeps =
            frames.first().is_some_and(|(name, _)| ["__schedule", "__switch_to", "schedule"].contains(name));
        if head.task == NOBODY && !sleeps {
            return None;
        }
        if head.task == OTHER {
            return Found::noise(from + length);
        }
        if frames.is_empty() && head.seconds.is_none() {
            return None;
        }
        let stack = frames.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n");
        let mut reading =
            Reading { tool: "blocked task", name: head.task.clone(), at: head.at, ..Reading::default() };
        let setting = |name: &str, value: &str, at| Setting { name: name.into(), value: value.into(), at };
        reading.settings.push(setting("waits for", Wait::of_stack(&stack).words(), head.at));
        reading.settings.push(setting("in", Wait::function_of(&stack), head.at));
        reading.settings.extend(frames.iter().map(|(name, at)| setting("frame", name, *at)));
        let mut row = Row::of(head.task);
        if let Some(seconds) = head.seconds {
            row.values.put("blocked", seconds * 1e9, Unit::Nanoseconds, head.at);
        }
        row.values.put("frames", frames.len() as f64, Unit::Count, head.at);
        reading.rows.push(row);
        Found::all(reading, from + length)
    }
}

/// Name of a task whose stack was pasted without a name.
const NOBODY: &str = "a task";

/// Marks a task that is not blocked; task names are never empty.
const OTHER: &str = "";

/// A stack without a task: `Call Trace:` alone.
fn nobodys(words: &[Word]) -> Option<Head> {
    let [call, trace] = texts(words)?;
    let begins = call == "Call" && trace.eq_ignore_ascii_case("trace:");
    begins.then(|| Head { task: NOBODY.into(), seconds: None, at: words[0].spot, used: 2 })
}

/// A stack of a task that is not blocked, after `BUG: ...`, `Oops: ...`, `general protection fault`, `WARNING: ...` or `RIP: 0010:...`.
fn oops(words: &[Word]) -> Option<Head> {
    let [first, second] = texts(words)?;
    let begins = match first {
        "BUG:" | "Oops:" | "WARNING:" => true,
        "general" => second == "protection",
        "RIP:" => second.starts_with("0010:"),
        _ => false,
    };
    begins.then_some(())?;
    let of_it = |i: &usize| {
        let word = &words[*i];
        let other = word.paragraph || word.text.ends_with("INFO:") || state(&words[*i..]).is_some();
        *i == 0 || !other
    };
    let end = words.len().min(MOST_OF_OOPS);
    let trace = (0..end).take_while(of_it).find(|i| nobodys(&words[*i..]).is_some())?;
    Some(Head { task: OTHER.into(), seconds: None, at: words[0].spot, used: trace + 2 })
}

/// Parses `INFO: task NAME:PID blocked for more than 120 seconds.`
fn hung(words: &[Word]) -> Option<Head> {
    let [info, task] = texts(words)?;
    if !info.ends_with("INFO:") || task != "task" {
        return None;
    }
    let end = (3..3 + MOST_OF_NAME).find(|i| words.get(*i).is_some_and(|w| w.text == "blocked"))?;
    let [_, "for", "more", "than", seconds, _] = texts(words.get(end..)?)? else { return None };
    let task = words[2..end].iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
    // Other texts describe the message: `task <process>:<pid> blocked`.
    task.rsplit_once(':')?.1.parse::<u32>().ok()?;
    let seconds: u32 = seconds.parse().ok()?;
    Some(Head { task, seconds: Some(f64::from(seconds)), at: words[0].spot, used: end + 6 })
}

/// Parses `task:NAME state:D stack:0 pid:1234`, or `NAME D ffff8800 0 1234 2 0x00000080` before a stack.
fn state(words: &[Word]) -> Option<Head> {
    let at = words.first()?.spot;
    if let Some(first) = words[0].text.strip_prefix("task:") {
        let end = (1..=MOST_OF_NAME).find(|i| words.get(*i).is_some_and(|w| w.text.starts_with("state:")))?;
        let blocked = words[end].text.starts_with("state:D");
        let more = words[1..end].iter().map(|w| w.text);
        let name = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
        let pid = words[end..].iter().take(6).enumerate().find_map(|(i, w)| {
            let digits = w.text.strip_prefix("pid:")?;
            let digits = if digits.is_empty() { words.get(end + i + 1)?.text } else { digits };
            digits.parse::<u32>().ok()
        })?;
        let task = if blocked { format!("{name}:{pid}") } else { OTHER.into() };
        return Some(Head { task, seconds: None, at, used: end + 1 });
    }
    old_state(words).or_else(|| state_without_address(words))
}

/// Parses `NAME D ffff8800 0 1234 2 0x00000080`: the address is where the task sleeps; newer kernels do not print it.
fn old_state(words: &[Word]) -> Option<Head> {
    let [name, "D", address, stack, pid, parent, flags] = texts(words)? else { return None };
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    hex(address).then_some(())?;
    named(words, name, [stack, pid, parent, flags], 7)
}

/// Parses `NAME D 0 7088 2 0x80000000`.
fn state_without_address(words: &[Word]) -> Option<Head> {
    let [name, "D", stack, pid, parent, flags] = texts(words)? else { return None };
    named(words, name, [stack, pid, parent, flags], 6)
}

fn named(words: &[Word], name: &str, [stack, pid, parent, flags]: [&str; 4], used: usize) -> Option<Head> {
    let number = |text: &str| text.parse::<u32>().ok();
    let fits = number(stack).is_some() && number(parent).is_some() && flags.starts_with("0x");
    let task = format!("{name}:{}", number(pid).filter(|_| fits)?);
    Some(Head { task, seconds: None, at: words[0].spot, used })
}

/// Number of words before the first frame: up to `Call Trace:`, or up to the frame if a mailer lost that line.
fn before_trace(words: &[Word]) -> Option<usize> {
    for (i, word) in words.iter().enumerate().take(MOST_OF_HEAD) {
        let next_task = word.text.ends_with("INFO:") && i > 0;
        if next_task {
            break;
        }
        let trace = word.text.eq_ignore_ascii_case("trace:") && i > 0 && words[i - 1].text.ends_with("Call");
        if trace {
            return Some(i + 1);
        }
        if is_frame(word.text) {
            return Some(i);
        }
    }
    // A line without a stack.
    Some(0)
}

/// Whether a word is a frame: `wbt_wait+0x82/0xf0`; on ARM `(wbt_wait+0x82/0xf0)` until Linux 5.15 (arch/arm/kernel/traps.c,
/// `dump_backtrace_entry`).
pub(super) fn is_frame(text: &str) -> bool {
    text.trim_matches(['(', ')']).split_once("+0x").is_some_and(|(name, rest)| {
        !name.is_empty()
            && rest.split_once("/0x").is_some_and(|(a, b)| {
                let hex = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_hexdigit());
                hex(a) && hex(b)
            })
    })
}

/// The frames at the start of `words`, innermost first, and their number of words. Guesses of the unwinder (`?`) are left out, unless
/// the only certain frame is the scheduler's: then the guesses from `schedule` on are used.
fn frames<'a>(words: &[Word<'a>]) -> (Vec<(&'a str, Spot)>, usize) {
    let (mut all, mut guesses, mut used) = (vec![], vec![], 0);
    while all.len() + guesses.len() < 2 * MOST_FRAMES && all.len() < MOST_FRAMES {
        let rest = &words[used..];
        let before = rest.iter().take(MOST_BEFORE).take_while(|w| !is_frame(w.text) && !ends(w)).count();
        let Some(word) = rest.get(before).filter(|w| is_frame(w.text)) else { break };
        let guessed = before > 0 && rest[before - 1].text == "?";
        let name = word.text.trim_start_matches('(').split("+0x").next().unwrap_or("");
        // Compilers add suffixes to the names of modified functions.
        let name = name.split('.').next().filter(|n| !n.is_empty()).unwrap_or(name);
        if !guessed {
            all.push((name, word.spot));
        } else if !guesses.is_empty() || name == "schedule" {
            guesses.push((name, word.spot));
        }
        used += before + 1;
        let module = words.get(used).is_some_and(|w| {
            let inner = w.text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            inner.is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()) && !t.starts_with("T"))
        });
        used += usize::from(module);
    }
    if all.len() == 1 && all[0].0 == "__schedule" {
        all.append(&mut guesses);
    }
    (all, used)
}

/// Whether a word starts something other than a frame.
fn ends(word: &Word) -> bool {
    let text = word.text;
    word.paragraph
        || text.ends_with("INFO:")
        || text.starts_with("task:")
        || text.starts_with("RIP:")
        || ["</TASK>", "Showing", "Sched", "Kernel", "Code:", "INFO:", "D"].contains(&text)
}

#[cfg(test)]
mod tests {
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
        for prefix in [
            "",
            "[ 2268.057017] ",
            "> > [19647.696042][ T3721] ",
            "Jun 26 12:23:15 host kernel: [87603.066176] ",
        ] {
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
        let text = "6,172,1121675639,-;sh              D    0  4170      2 0x80004000\n4,173,1121675640,-;Call Trace:\n\
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
}
