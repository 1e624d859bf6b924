//! `trace-cmd record` with the events, filters and triggers of an iowhy capture.
//!
//! trace-cmd sets up function tracing even if nobody asked for it, and gives up where that is refused (a kernel whose
//! `ftrace_enabled` cannot be written). There it runs in a mount namespace in which empty files lie over those it would
//! write; events are not touched by that.

use crate::outcome::Outcome;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What trace-cmd writes and no event needs.
const FUNCTION_TRACING: &[&str] = &[
    "/proc/sys/kernel/ftrace_enabled",
    "/sys/kernel/tracing/set_ftrace_filter",
    "/sys/kernel/tracing/set_ftrace_notrace",
    "/sys/kernel/tracing/set_graph_function",
    "/sys/kernel/tracing/set_graph_notrace",
    "/sys/kernel/tracing/set_ftrace_pid",
];

/// How trace-cmd can be run here.
pub struct TraceCmd {
    scratch: PathBuf,
    hidden: bool,
}

impl TraceCmd {
    /// Tries it.
    pub fn new(scratch: &Path) -> Outcome<TraceCmd> {
        fs::write(scratch.join("one"), "1\n")?;
        let mut this = TraceCmd { scratch: scratch.into(), hidden: false };
        let event = serde_json::json!([{ "system": "block", "name": "block_rq_issue" }]);
        let command = ["true".to_string()];
        if this.record(&event, 1024, &command).is_err() {
            this.hidden = true;
            this.record(&event, 1024, &command)?;
        }
        Ok(this)
    }

    /// A sentence on how it is run.
    pub fn how(&self) -> &'static str {
        match self.hidden {
            false => "trace-cmd records with `-b` and `-C mono` as iowhy does, uncompressed.",
            true => {
                "trace-cmd records with `-b` and `-C mono` as iowhy does, uncompressed; as this kernel refuses it the files of \
                 function tracing (which it writes without need), it runs in a mount namespace where empty files lie over them."
            }
        }
    }

    /// Records while a command runs, and says how many events were lost.
    pub fn record(&self, events: &Value, buffer_kib: u64, command: &[String]) -> Outcome<u64> {
        let out = self.scratch.join("trace-cmd.dat");
        let mut words: Vec<String> =
            ["trace-cmd", "record", "-C", "mono", "--compression", "none", "-b"].map(String::from).into();
        words.extend([buffer_kib.to_string(), "-o".into(), out.display().to_string()]);
        for event in events.as_array().into_iter().flatten() {
            let text = |key: &str| event[key].as_str();
            let (Some(system), Some(name)) = (text("system"), text("name")) else { continue };
            words.extend(["-e".into(), format!("{system}:{name}")]);
            for (option, key) in [("-f", "filter"), ("-R", "trigger")] {
                words.extend(text(key).into_iter().flat_map(|t| [option.to_string(), t.to_string()]));
            }
        }
        words.extend_from_slice(command);
        let done = self.start(&words)?;
        let said =
            format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        let written = fs::metadata(&out).map_or(0, |m| m.len());
        let _ = fs::remove_file(&out);
        if !done.status.success() || written == 0 {
            return Err(format!("trace-cmd record: {}: {}", done.status, said.trim()).into());
        }
        // It prints the kernel's counts, `overrun: 0`, once for each CPU.
        let counts = |key: &str| -> u64 {
            said.lines().filter_map(|l| l.trim().strip_prefix(key)?.trim().parse::<u64>().ok()).sum()
        };
        Ok(counts("overrun:") + counts("commit overrun:") + counts("dropped events:"))
    }

    fn start(&self, words: &[String]) -> Outcome<Output> {
        if !self.hidden {
            return Ok(Command::new(&words[0]).args(&words[1..]).output()?);
        }
        let one = self.scratch.join("one");
        let binds: Vec<String> = FUNCTION_TRACING
            .iter()
            .map(|f| format!("if [ -e {f} ]; then mount --bind {} {f}; fi; ", one.display()))
            .collect();
        let script = format!("{}exec \"$@\"", binds.concat());
        let mut c = Command::new("unshare");
        c.args(["-m", "--propagation", "private", "sh", "-euc", &script, "sh"]).args(words);
        Ok(c.output()?)
    }
}
