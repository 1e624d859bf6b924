//! Reads a kernel stack as in /proc/PID/stack, sysrq and perf: functions, innermost first. The wait of its task is derived with
//! the same rules as for stacks in recordings ([`Wait`]); the stack alone does not show that the task is blocked.
//!
//! ```text
//! [<ffffffff81569f05>] md_super_wait+0x55/0x90
//! [<0>] md_super_wait+0x55/0x90 [md_mod]
//! ```
//!
//! **Versions**: Linux 2.6.32 to 6.1, whose form is `%pB`.

use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use operation::Wait;

pub struct KernelStack;

/// Limit on frames, as in the kernel (`MAX_STACK_TRACE_DEPTH`, fs/proc/base.c).
const MOST_FRAMES: usize = 64;

impl Tool for KernelStack {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "kernel stack", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while reading.settings.len() < MOST_FRAMES {
            let Some(address) = words.get(used).filter(|w| is_address(w.text)) else { break };
            let Some(function) = words.get(used + 1) else { break };
            let name = function.text.split("+0x").next().unwrap_or("");
            // The last entry is only an address: the end of the stack.
            if function.text.contains("+0x") {
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
        if used == 0 {
            return None;
        }
        let stack = reading.settings.iter().map(|s| s.value.as_str()).collect::<Vec<_>>().join("\n");
        let wait = Wait::of_stack(&stack);
        if wait != Wait::Unknown {
            let mut row = Row::of(format!("{} ({})", wait.words(), Wait::function_of(&stack)));
            row.values.put("frames", reading.settings.len() as f64, Unit::Count, reading.at);
            reading.rows.push(row);
        }
        Found::all(reading, used)
    }
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
        assert!(all("[<0>] some_module_of_mine+0x1/0x2\n", "kernel stack").is_empty());
    }
}
