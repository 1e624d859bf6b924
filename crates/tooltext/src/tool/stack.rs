//! Reads a kernel stack as in /proc/PID/stack, sysrq and perf: functions, innermost first. The wait of its task is derived with
//! the same rules as for stacks in recordings ([`Wait`]); the stack alone does not show that the task is blocked.
//!
//! Two frames or more are a stack by their form alone, whatever their functions; a single one only if its wait is known.
//!
//! ```text
//! [<ffffffff81569f05>] md_super_wait+0x55/0x90
//! [<0>] md_super_wait+0x55/0x90 [md_mod]
//! ```
//!
//! **Versions**: Linux 2.6.32 to 6.1, whose form is `%pB`.

use super::blocked_task::is_frame;
use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use operation::Wait;

pub struct KernelStack;

/// Fewer frames of an unknown wait are no stack: a line of a log may quote one.
const LEAST_FRAMES: usize = 2;
/// Innermost functions of tasks that print their own stack, in an oops or a warning (lib/dump_stack.c, kernel/panic.c): these run.
const PRINTING: [&str; 6] =
    ["dump_stack", "dump_stack_lvl", "show_stack", "__warn", "warn_slowpath_fmt", "warn_slowpath_common"];
/// Limit on frames, as in the kernel (`MAX_STACK_TRACE_DEPTH`, fs/proc/base.c).
const MOST_FRAMES: usize = 64;

impl Tool for KernelStack {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "kernel stack", at: words.first()?.spot, ..Reading::default() };
        let (mut used, mut guesses) = (0, false);
        while reading.settings.len() < MOST_FRAMES {
            let Some(address) = words.get(used).filter(|w| is_address(w.text)) else { break };
            // `? f+0x1/0x2` is a guess of the unwinder's.
            let guess = words.get(used + 1).is_some_and(|w| w.text == "?");
            used += usize::from(guess);
            guesses |= guess;
            let Some(function) = words.get(used + 1) else { break };
            let name = function.text.split("+0x").next().unwrap_or("");
            // The last entry is only an address: the end of the stack.
            if is_frame(function.text) && guess {
                // Of what was on the stack before.
            } else if is_frame(function.text) {
                reading.settings.push(Setting {
                    name: "frame".into(),
                    value: name.to_owned(),
                    at: address.spot,
                });
            } else if !function.text.starts_with("0x") {
                break;
            }
            used += 2;
            let module = words.get(used).is_some_and(|w| w.text.starts_with('[') && !is_address(w.text));
            used += usize::from(module);
        }
        if used == 0 || guesses && reading.settings.is_empty() {
            return None;
        }
        let stack = reading.settings.iter().map(|s| own_name(&s.value)).collect::<Vec<_>>().join("\n");
        let wait = Wait::of_stack(&stack);
        let of = match wait {
            Wait::Unknown if reading.settings.len() < LEAST_FRAMES => None,
            Wait::Unknown if PRINTING.contains(&reading.settings[0].value.as_str()) => None,
            Wait::Unknown => Some(format!("in {}", Wait::function_of(&stack))),
            wait => Some(format!("{} ({})", wait.words(), Wait::function_of(&stack))),
        };
        if let Some(of) = of {
            let mut row = Row::of(of);
            row.values.put("frames", reading.settings.len() as f64, Unit::Count, reading.at);
            reading.rows.push(row);
        }
        Found::all(reading, used)
    }
}

/// The name of a function without what compilers add to those that they modify: `bitmap_unplug.part.21`.
fn own_name(function: &str) -> &str {
    function.split('.').next().filter(|name| !name.is_empty()).unwrap_or(function)
}

/// Whether a word is an address: `[<ffffffff81569f05>]` or `[<0>]`.
fn is_address(text: &str) -> bool {
    text.strip_prefix("[<")
        .and_then(|t| t.strip_suffix(">]"))
        .is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn a_stack_tells_what_its_task_sleeps_for() {
        let text = "# cat /proc/1290/stack\n[<0>] rq_qos_wait+0xb9/0x130\n[<0>] wbt_wait+0xa4/0x100\n[<0>] ksys_write+0x4f/0xb0 [mod]\n";
        let row = one(text, "kernel stack").rows.remove(0);
        assert_eq!(row.of, "writeback throttling (wbt) (wbt_wait)");
        assert_eq!(row.value("frames"), Some(3.0));
    }

    #[test]
    fn frames_are_a_stack_whatever_their_functions() {
        let text = "# cat /proc/812/stack\n\n[<0>] my_wait_for_reply+0x148/0x2e0 [my_fs]\n[<0>] my_read_iter+0x12/0x150 [my_fs]\n[<0>] do_syscall_64+0x61/0x12d0\n";
        let row = one(text, "kernel stack").rows.remove(0);
        assert_eq!((row.of.as_str(), row.value("frames")), ("in my_wait_for_reply", Some(3.0)));
        let old = "[<ffffffff8107a5c6>] my_wait.isra.3+0x16/0x20\n[<ffffffffa02c1b4d>] my_read+0x1d/0x40 [my_fs]\n[<ffffffffffffffff>] 0xffffffffffffffff\n";
        let row = one(old, "kernel stack").rows.remove(0);
        assert_eq!((row.of.as_str(), row.value("frames")), ("in my_wait", Some(2.0)));
    }

    #[test]
    fn guesses_do_not_end_a_stack() {
        let text = "[<ffffffff815a2173>] io_schedule+0x73/0xc0\n[<ffffffff812a2f3c>] get_request_wait+0xcc/0x1a0\n\
                    [<ffffffff8107f080>] ? autoremove_wake_function+0x0/0x40\n[<ffffffff812a30a3>] __make_request+0x93/0x4b0\n";
        let row = one(text, "kernel stack").rows.remove(0);
        assert_eq!(
            (row.of.as_str(), row.value("frames")),
            ("a request, a tag (get_request_wait)", Some(3.0))
        );
    }

    #[test]
    fn other_lines_with_addresses_are_no_stack() {
        for text in [
            "[<0>] some_module_of_mine+0x1/0x2\n",
            "[<ffffffffffffffff>] 0xffffffffffffffff\n",
            "[<0>] chapter+0x1 of\n[<1>] chapter+0x2 of\n",
            "[<ffffffff8107a5c6>] dump_stack+0x19/0x1b\n[<ffffffff8107a5c7>] my_check+0x61/0x80\n",
        ] {
            assert!(all(text, "kernel stack").is_empty(), "{text}");
        }
    }
}
