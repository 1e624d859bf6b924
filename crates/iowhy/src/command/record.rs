//! `iowhy record`.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use record::{clean, keep_few, record, Capture, EndedBy, Host, Output, Plan, Progress, Report, Stop};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Record what the kernel does with I/O, and leave the machine as it was
///
/// Ends with COMMAND, after --for, or on Ctrl-C. Needs root and tracefs, no more.
#[derive(Args)]
#[command(
    override_usage = "iowhy record [OPTIONS] [--for TIME]\n       iowhy record [OPTIONS] -- COMMAND..."
)]
pub struct Record {
    /// Record for this long: 30s, 5min
    #[arg(long = "for", value_name = "TIME", value_parser = some_time, conflicts_with = "command")]
    pub duration: Option<Duration>,
    /// Folder for the capture, or - for a stream to standard output [default: iowhy-DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Only this device and those stacked above and below it; repeatable
    #[arg(long, value_name = "DEV")]
    pub device: Vec<String>,
    /// How much to record
    #[arg(long, value_enum, default_value_t = Detail::Path)]
    pub detail: Detail,
    /// The kernel's buffer for each CPU: 8M, 512K [default: 16M, less where memory is short]
    #[arg(long, value_name = "SIZE", value_parser = kib)]
    pub buffer: Option<u64>,
    /// Only remove what killed recordings left
    #[arg(long, conflicts_with_all = ["duration", "output", "device", "buffer", "command"])]
    pub clean: bool,
    /// Record while this command runs; its output and exit status pass through
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Parses a length of time above 0.
pub fn some_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("the time to record must be longer than 0".into()),
        other => other.map_err(|e| e.to_string()),
    }
}

/// How much to record.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Detail {
    /// What blktrace records: the life of every request
    Block,
    /// System calls, sleeps, wake-ups, writeback, file systems and journals too
    Path,
}

impl Record {
    /// Records, then reports the result.
    pub fn run(self) -> Result<(), Failure> {
        let host = Host::here()?;
        if self.clean {
            return clean_up(&host);
        }
        let output = match self.output {
            Some(to) if to.as_os_str() == "-" => Output::Stream,
            Some(to) => Output::Folder(to),
            None => Output::Folder(default_folder()),
        };
        // A live line would interfere with a command that writes to the terminal.
        let quiet = !self.command.is_empty() || !std::io::stderr().is_terminal();
        let stop = match self.duration {
            Some(time) => Stop::After(time),
            None if self.command.is_empty() => Stop::Signal,
            None => Stop::Command(self.command),
        };
        let detail = match self.detail {
            Detail::Block => record::Detail::Block,
            Detail::Path => record::Detail::Path,
        };
        let plan = Plan { detail, devices: self.device, buffer_kib: self.buffer, output, stop };
        let mut line = Line::new(quiet);
        let outcome = record(&host, &plan, &mut |report| {
            // All files are open; the command runs with the rights of the user who started it.
            if let Report::Started = &report {
                if let Err(why) = keep_few() {
                    line.tell(Report::Note(&why));
                }
            }
            line.tell(report);
        });
        line.end();
        let recorded = outcome?;
        say(&recorded.capture, recorded.folder.as_deref());
        match recorded.capture.exit_status {
            _ if recorded.capture.ended_by == EndedBy::OutputFailed => Err(Failure::Status(1)),
            Some(status) if status != 0 => Err(Failure::Status(u8::try_from(status).unwrap_or(1))),
            _ => Ok(()),
        }
    }
}

/// Reports what was recorded on standard error: standard output belongs to the command or the stream.
fn say(capture: &Capture, folder: Option<&Path>) {
    let seconds =
        Duration::from_nanos(capture.end.mono_ns.saturating_sub(capture.start.mono_ns)).as_secs_f64();
    let lost = match capture.lost {
        0 => "none lost".to_string(),
        n => format!("{} LOST: give a larger --buffer, or --detail block", HumanCount(n)),
    };
    remark!(
        "iowhy: recorded {seconds:.1} s, {} events, {}; {lost}",
        HumanCount(capture.events),
        HumanBytes(capture.bytes)
    );
    if let Some(folder) = folder {
        remark!("       next: iowhy explain {}", folder.display());
    }
}

fn clean_up(host: &Host) -> Result<(), Failure> {
    let cleaned = clean(&host.tracefs, &host.proc)?;
    for name in &cleaned.removed {
        println!("removed {name}");
    }
    for (name, why) in &cleaned.kept {
        println!("kept {name}: {why}");
    }
    if cleaned.removed.is_empty() && cleaned.kept.is_empty() {
        println!("nothing was left");
    }
    Ok(())
}

/// The live line on a terminal while recording.
struct Line {
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Line {
    fn new(quiet: bool) -> Line {
        Line { bar: None, quiet }
    }

    fn tell(&mut self, report: Report) {
        match report {
            Report::Note(words) => match &self.bar {
                Some(bar) => bar.suspend(|| remark!("iowhy: {words}")),
                None => remark!("iowhy: {words}"),
            },
            Report::Started if !self.quiet => {
                let bar = ProgressBar::new_spinner();
                if let Ok(style) = ProgressStyle::with_template("{spinner} recording {msg}   Ctrl-C ends it")
                {
                    bar.set_style(style);
                }
                bar.tick();
                self.bar = Some(bar);
            }
            Report::Started => {}
            Report::Progress(p) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(words(&p));
                    bar.tick();
                }
            }
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The text of the live line: `12 s   34,567 events/s   8.12 MiB   none lost`.
fn words(p: &Progress) -> String {
    let lost = match p.lost {
        0 => "none lost".to_string(),
        n => format!("{} LOST", HumanCount(n)),
    };
    format!(
        "{:.0} s   {} events/s   {}   {lost}",
        p.time.as_secs_f64(),
        HumanCount(p.events_per_second as u64),
        HumanBytes(p.bytes.0)
    )
}

/// The default folder of a capture, by the time in UTC: `iowhy-20250131-235959`.
pub fn default_folder() -> PathBuf {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let digits = now.chars().filter_map(|c| match c {
        'T' => Some('-'),
        c => c.is_ascii_digit().then_some(c),
    });
    format!("iowhy-{}", digits.collect::<String>()).into()
}

/// Parses a size such as `8M` as bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    kib(text).map(|k| k.saturating_mul(1024))
}

/// Parses a size such as `8M` as KiB; a unit is required.
fn kib(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is not a size: use for example 8M or 512K");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "K" => 1,
        "M" => 1 << 10,
        "G" => 1 << 20,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(kib("8M"), Ok(8192));
        assert_eq!(kib("512k"), Ok(512));
        assert_eq!(kib("1GiB"), Ok(1 << 20));
        for wrong in ["", "M", "8", "8X", "-1M", "99999999999999999999K", "18446744073709551615G"] {
            assert!(kib(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_default_folder_is_a_name() {
        let name = default_folder().display().to_string();
        assert!(name.starts_with("iowhy-20") && name.len() == "iowhy-20250131-235959".len(), "{name}");
    }
}
