//! Reads fio's output other than results: the job's parameters, its version, its progress (`fio_progress.rs`); also job files (fio(1)).
//!
//! ```text
//! randread: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1
//! ...
//! fio-2.1.11
//! Starting 20 processes
//! ^Cbs: 20 (f=20): [r(20)] [3.8% done] [312.1MB/0KB/0KB /s] [80.2K/0/0 iops] [eta 28m:52s]
//! fio: terminating on signal 2
//! ```
//!
//! **Versions**: fio 2.0 to 3.42.

use super::fio_progress;
use super::reader::{texts, Found, Tool};
use crate::output::reading::{Reading, Setting};
use crate::output::words::Word;

pub struct FioCommand;

/// Limit on parameters in a job file; fio(1) knows about 500.
const MOST_PARAMETERS: usize = 500;

impl Tool for FioCommand {
    fn read(&self, words: &[Word]) -> Option<Found> {
        parameters(words)
            .or_else(|| job_file(words))
            .or_else(|| noise(words))
            .or_else(|| fio_progress::read(words))
    }
}

/// Parses `NAME: (g=0): rw=..., bs=..., ...`.
fn parameters(words: &[Word]) -> Option<Found> {
    let [name, group] = texts(words)?;
    if !name.ends_with(':') || !group.starts_with("(g=") || !group.ends_with("):") {
        return None;
    }
    let mut reading = Reading { tool: "fio job", name: name.trim_end_matches(':').into(), ..at(words) };
    let mut used = 2;
    // fio 3: `bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B,`: words without a name continue the value.
    while let Some(word) = words.get(used) {
        let text = word.text.trim_end_matches(',');
        match text.split_once('=') {
            Some((key, value)) => {
                let setting = Setting { name: key.into(), value: value.into(), at: word.spot };
                reading.settings.push(setting);
            }
            None if text == "(R)" || text == "(W)" || text == "(T)" || text.ends_with('B') => {
                let Some(last) = reading.settings.last_mut() else { break };
                last.value.push(' ');
                last.value.push_str(text);
            }
            None => break,
        }
        used += 1;
        if !word.text.ends_with(',') && text.starts_with("iodepth=") {
            break;
        }
    }
    // `...` stands for further processes of the same job.
    used += usize::from(words.get(used).is_some_and(|w| w.text == "..."));
    Found::all(reading, used)
}

/// Parses `[global]` and the following parameters.
fn job_file(words: &[Word]) -> Option<Found> {
    if words.first()?.text != "[global]" {
        return None;
    }
    let mut reading = Reading { tool: "fio job file", ..at(words) };
    let mut used = 1;
    while let Some(word) = words.get(used).filter(|_| reading.settings.len() < MOST_PARAMETERS) {
        let parameter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let text = word.text;
        if let Some(section) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            reading.name = section.into();
        } else if let Some((key, value)) = text.split_once('=').filter(|(key, _)| key.chars().all(parameter))
        {
            reading.settings.push(Setting { name: key.into(), value: value.into(), at: word.spot });
        } else if FLAGS.contains(&text) {
            reading.settings.push(Setting { name: text.into(), value: "1".into(), at: word.spot });
        } else {
            break;
        }
        used += 1;
    }
    Found::all(reading, used)
}

/// Parameters that may have no value.
const FLAGS: [&str; 11] = [
    "group_reporting",
    "time_based",
    "thread",
    "norandommap",
    "stonewall",
    "exitall",
    "new_group",
    "create_on_open",
    "do_verify",
    "end_fsync",
    "fsync_on_close",
];

/// Words of a line about a file that is written before the test.
const MOST_OF_LAYING_OUT: usize = 10;

fn noise(words: &[Word]) -> Option<Found> {
    let first = words.first()?.text;
    if let Some(version) = first.strip_prefix("fio-").filter(|v| v.starts_with(|c: char| c.is_ascii_digit()))
    {
        let setting = Setting { name: "version".into(), value: version.into(), at: words[0].spot };
        return Found::all(Reading { tool: "fio job", settings: vec![setting], ..at(words) }, 1);
    }
    // `job: Laying out IO file (1 file / 1024MiB)`, fio 2: `file(s) (1 file(s) / 1024MB)`.
    if matches!(texts(words), Some([name, "Laying", "out", "IO"]) if name.ends_with(':')) {
        let end = words.iter().take(MOST_OF_LAYING_OUT).position(|w| w.text.ends_with("B)"));
        return Found::noise(end.map_or(4, |end| end + 1));
    }
    match texts(words) {
        Some(["Starting", n, unit]) if n.parse::<u32>().is_ok() => {
            let known = ["process", "processes", "thread", "threads"].contains(&unit);
            return known.then_some(()).and_then(|()| Found::noise(3));
        }
        Some(["fio:", "terminating", "on"]) => return Found::noise(words.len().min(5)),
        _ => {}
    }
    // A word left where the reader of a job's results stopped.
    (first == "...").then_some(()).and_then(|()| Found::noise(1))
}

fn at(words: &[Word]) -> Reading {
    Reading { at: words[0].spot, ..Reading::default() }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    /// What fio prints before its results belongs to the same run, and nothing of it is left out.
    #[test]
    fn what_is_said_before_the_results_is_of_one_run() {
        for (laying, file) in [("file", "(1 file / 1024MiB)"), ("file(s)", "(1 file(s) / 10240MB)")] {
            let text = format!(
                "test: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=1\nfio-2.2.8\nStarting 10 threads\n\
                 test: Laying out IO {laying} {file}\n\
                 Jobs: 10 (f=10): [w(10)] [100.0% done] [0KB/311.2MB/0KB /s] [0/39.9K/0 iops] [eta 00m:00s]\n\
                 test: (groupid=0, jobs=10): err= 0: pid=56594: Thu Apr 20 09:26:20 2017\n  \
                 write: io=12484MB, bw=213061KB/s, iops=26632, runt= 60001msec\n"
            );
            let output = ToolOutput::read("fio.txt", text.as_bytes());
            assert_eq!((output.runs.len(), output.left_out), (1, 0), "{text}");
            let version = output.runs[0].readings.iter().find_map(|r| r.setting("version"));
            assert_eq!(version, Some("2.2.8"), "{text}");
        }
    }
}
