//! A kernel stack, as /proc/PID/stack, sysrq and perf print it: functions, the innermost first.
//!
//! ```text
//! [<ffffffff81569f05>] md_super_wait+0x55/0x90
//! [<0>] md_super_wait+0x55/0x90 [md_mod]
//! ```

use super::{Found, Tool};
use crate::mail::reading::{Reading, Setting};
use crate::mail::words::Word;

pub struct KernelStack;

/// The kernel saves at most 64 (`MAX_STACK_TRACE_DEPTH`, fs/proc/base.c).
const MOST_FRAMES: usize = 64;

impl Tool for KernelStack {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "kernel stack", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while reading.settings.len() < MOST_FRAMES {
            let Some(address) = words.get(used).filter(|w| is_address(w.text)) else { break };
            let Some(function) = words.get(used + 1) else { break };
            let name = function.text.split("+0x").next().unwrap_or("");
            // The last is an address only: the end of the stack.
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
        Found::all(reading, used)
    }
}

/// `[<ffffffff81569f05>]` or `[<0>]`
fn is_address(text: &str) -> bool {
    text.strip_prefix("[<")
        .and_then(|t| t.strip_suffix(">]"))
        .is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}
