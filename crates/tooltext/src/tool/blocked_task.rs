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
/// Guesses that count as a stack: an older kernel's lines of the registers may hold one.
const LEAST_GUESSES: usize = 3;
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
        let (frames, length, guessed) = frames(&words[from..]);
        // Without a task's line, the stack may be that of an oops or a warning, unless it is of a sleeping task.
        let sleeps = frames.first().is_some_and(|(name, _)| SLEEPING.contains(name));
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
        reading.settings.push(setting("waits for", Wait::of_task(&reading.name, &stack).words(), head.at));
        reading.settings.push(setting("in", Wait::function_of(&stack), head.at));
        reading.settings.extend(frames.iter().map(|(name, at)| setting("frame", name, *at)));
        let only_guesses = frames.is_empty() && guessed > 0;
        reading.settings.extend(only_guesses.then(|| setting("guesses", &guessed.to_string(), head.at)));
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

/// A stack without a task: after `Call Trace:` alone, or only the frames of a task that sleeps, as people quote them.
fn nobodys(words: &[Word]) -> Option<Head> {
    let [call, trace] = texts(words)?;
    let begins = call == "Call" && trace.eq_ignore_ascii_case("trace:");
    let frames = || words.len() >= LEAST_FRAMES && words.iter().take(LEAST_FRAMES).all(|w| is_frame(w.text));
    let sleeps =
        || SLEEPING.iter().any(|name| call.strip_prefix(name).is_some_and(|rest| rest.starts_with('+')));
    let only_frames = words[0].first && sleeps() && frames();
    let used = if begins { 2 } else { 0 };
    (begins || only_frames).then(|| Head { task: NOBODY.into(), seconds: None, at: words[0].spot, used })
}

/// Where the stack of a task that sleeps begins.
const SLEEPING: [&str; 3] = ["__schedule", "__switch_to", "schedule"];
/// Frames that make a stack where nothing announces one.
const LEAST_FRAMES: usize = 3;

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

/// The frames at the start of `words`, innermost first, their number of words, and the number of guesses if nothing else is there. Guesses of
/// the unwinder (`?`) are left out, unless no frame is certain but the scheduler's: then those from the scheduler on are used. If no frame is
/// certain at all, they count only if they have a wait that is known.
fn frames<'a>(words: &[Word<'a>]) -> (Vec<(&'a str, Spot)>, usize, usize) {
    let (mut all, mut guesses, mut used, mut guessed) = (vec![], vec![], 0, 0);
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
        } else {
            guesses.push((name, word.spot));
        }
        used += before + 1;
        let module = words.get(used).is_some_and(|w| {
            let inner = w.text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            inner.is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()) && !t.starts_with("T"))
        });
        used += usize::from(module);
    }
    let from = guesses.iter().position(|(name, _)| name.starts_with("schedule"));
    match (all.is_empty(), from) {
        (true, _) if guesses.len() < LEAST_GUESSES => {}
        (true, from) => {
            let from = from.unwrap_or(0);
            guessed = guesses.len();
            let stack: Vec<&str> = guesses[from..].iter().map(|(name, _)| *name).collect();
            // A guess is no place; that a known wait is among them is hardly chance.
            if Wait::of_stack(&stack.join("\n")) != Wait::Unknown {
                all.extend(guesses.drain(from..));
            }
        }
        (false, Some(from)) if all.len() == 1 && all[0].0 == "__schedule" => {
            all.extend(guesses.drain(from..));
        }
        (false, _) => {}
    }
    (all, used, guessed)
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
mod tests;
