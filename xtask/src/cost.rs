//! `cost`: what a recording costs the machine, beside `trace-cmd record` with the same events and filters.
//!
//! fio reads from a loop device in memory, as fast as the machine can; without a recording, with iowhy's and with
//! trace-cmd's it takes turns, so that a busy moment of the machine hits all. The loss is that of each round against
//! the run without a recording in the same round; the median of the rounds is told.

use crate::document;
use crate::load::{Flood, Paced};
use crate::machine::{about, loop_disk, LoopDisk};
use crate::outcome::Outcome;
use crate::run::measure;
use crate::tracecmd::TraceCmd;
use clap::Args;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::words::count;

/// Size of the disk.
const DISK_MIB: u64 = 256;
/// How long many events are made.
const MANY_SECONDS: u32 = 10;
/// How many of them a second, if it is not as many as can be.
const PACED: u64 = 1_000_000;

/// Measure what a recording costs, beside trace-cmd record; as root
#[derive(Args)]
pub struct RecordingCost {
    /// The iowhy to measure
    #[arg(long)]
    iowhy: PathBuf,
    /// A folder in memory for what is made (2 GB at most, removed at the end)
    #[arg(long, default_value = "/dev/shm/iowhy-cost")]
    scratch: PathBuf,
    /// Rounds of fio
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Seconds of each of fio's runs
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// The document to write the tables into
    #[arg(long)]
    out: PathBuf,
}

/// Who records, and how much.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Nobody,
    Iowhy(&'static str),
    TraceCmd(&'static str),
}

const TURNS: [Who; 5] =
    [Who::Nobody, Who::Iowhy("block"), Who::TraceCmd("block"), Who::Iowhy("path"), Who::TraceCmd("path")];

impl RecordingCost {
    /// Measures, prints and writes the tables.
    pub fn run(&self) -> Outcome {
        document::measured((&self.out, "recording"), &self.scratch, |scratch| {
            let iowhy = fs::canonicalize(&self.iowhy)?;
            let own = RecordingCost { iowhy, out: self.out.clone(), scratch: scratch.into(), ..*self };
            own.tables()
        })
    }

    fn tables(&self) -> Outcome<String> {
        let mut text = format!(
            "# Benchmarks: recording\n\nWritten by `make bench-recording`, as root; everything lies in memory. {}\n",
            about(&[(&self.iowhy.to_string_lossy(), "--version"), ("fio", "--version")])
        );
        let trace_cmd = TraceCmd::new(&self.scratch)?;
        let disk = loop_disk(&self.scratch.join("disk"), DISK_MIB)?;
        text += &self.loss(&disk, &trace_cmd)?;
        text += &self.many()?;
        text += &self.reading(&disk)?;
        Ok(text)
    }

    fn loss(&self, disk: &LoopDisk, trace_cmd: &TraceCmd) -> Outcome<String> {
        let fio = self.fio(disk);
        let (mut iops, mut lost, mut events) =
            (vec![Vec::new(); TURNS.len()], [0u64; TURNS.len()], [0u64; TURNS.len()]);
        // What iowhy records here, event by event, for trace-cmd to record as well.
        let chosen = |detail: &str| -> Outcome<Value> {
            self.record(&["--detail", detail], &["true".into()])?;
            self.capture()
        };
        let same = [("block", chosen("block")?), ("path", chosen("path")?)];
        for round in 0..=self.rounds {
            eprintln!("round {round} of {}{}", self.rounds, if round == 0 { " (not measured)" } else { "" });
            // Each round begins with another, so that none always follows the same.
            for turn in (0..TURNS.len()).map(|at| (at + round) % TURNS.len()) {
                match TURNS[turn] {
                    Who::Nobody => quiet(&fio)?,
                    Who::Iowhy(detail) => {
                        self.record(&["--detail", detail], &fio)?;
                        let capture = self.capture()?;
                        lost[turn] += number(&capture["lost"]);
                        events[turn] += number(&capture["events"]);
                    }
                    Who::TraceCmd(detail) => {
                        let (_, capture) = same.iter().find(|(d, _)| *d == detail).ok_or("no such detail")?;
                        let kib = number(&capture["buffer_kib_per_cpu"]);
                        lost[turn] += trace_cmd.record(&capture["recorded"], kib, &fio)?;
                    }
                }
                if round > 0 {
                    iops[turn].push(self.iops()?);
                }
            }
        }
        let mut text = format!(
            "\n## Loss of IOPS\n\n`{}` on a loop device over a file in memory, {} rounds. {}\n\n\
             | recorded by | IOPS, median | loss, median of the rounds (quarter to three quarters) | events a second | lost |\n|---|---|---|---|---|\n",
            fio[..fio.len() - 2].join(" "),
            self.rounds,
            trace_cmd.how()
        );
        let mut medians = [0.0; TURNS.len()];
        for (turn, who) in TURNS.iter().enumerate() {
            let name = match who {
                Who::Nobody => "nothing".to_string(),
                Who::Iowhy(detail) => format!("`iowhy record --detail {detail}`"),
                Who::TraceCmd(detail) => format!("`trace-cmd record`, the events and filters of `{detail}`"),
            };
            let losses: Vec<f64> = iops[turn]
                .iter()
                .zip(&iops[0])
                .map(|(with, without)| 100.0 * (1.0 - with / without))
                .collect();
            medians[turn] = quantile(&losses, 0.5);
            // Of all rounds, the one not measured too.
            let rounds = (self.rounds as u64 + 1) * u64::from(self.seconds);
            let rate = match events[turn] {
                0 => "".to_string(),
                n => count(n / rounds),
            };
            let _ = writeln!(
                text,
                "| {name} | {} | {:.1} % ({:.1} to {:.1}) | {rate} | {} |",
                count(quantile(&iops[turn], 0.5) as u64),
                medians[turn],
                quantile(&losses, 0.25),
                quantile(&losses, 0.75),
                lost[turn]
            );
        }
        let _ = writeln!(
            text,
            "\nBy these medians of the loss, iowhy's `path` loses {:.2} times what trace-cmd loses with the same events, its `block` {:.2} times \
             what trace-cmd loses with the events of `block`, and {:.2} times what it loses with those of `path`.",
            medians[3] / medians[4],
            medians[1] / medians[2],
            medians[1] / medians[4]
        );
        Ok(text)
    }

    /// A million events a second, and as many as system calls can make, with default buffers.
    fn many(&self) -> Outcome<String> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let each = PACED / cores as u64;
        let mut text = "\n## Many events\n\n".to_string();
        let paced: Vec<Paced> = (0..cores).map(|_| Paced::start(each)).collect::<Outcome<_>>()?;
        text += &self.of_all(&format!(
            "{cores} threads that read one byte of /dev/zero 500,000 times a second in all"
        ))?;
        drop(paced);
        let _flood: Vec<Flood> = (0..cores).map(|_| Flood::start()).collect::<Outcome<_>>()?;
        text += &self.of_all(&format!("{cores} `dd if=/dev/zero of=/dev/null bs=1`"))?;
        text += &format!("Buffers are as they are by default ({} MiB for each CPU). While recording: without what comes before and \
            after (symbols, putting trace.dat together).\n", number(&self.capture()?["buffer_kib_per_cpu"]) >> 10);
        Ok(text)
    }

    /// What is kept of what others do meanwhile.
    fn of_all(&self, beside: &str) -> Outcome<String> {
        let mut recorder = Command::new(&self.iowhy);
        let out = self.scratch.join("c");
        let _ = fs::remove_dir_all(&out);
        recorder.arg("record").arg("-o").arg(&out).args(["--for", &format!("{MANY_SECONDS}s")]);
        measure(&recorder, &self.scratch)?;
        let c = self.capture()?;
        let seconds = (number(&c["end"]["mono_ns"]) - number(&c["start"]["mono_ns"])) as f64 / 1e9;
        let busy = number(&c["recorder_cpu_ns"]) as f64 / 1e9;
        let (events, bytes) = (number(&c["events"]) as f64 / seconds, number(&c["bytes"]) as f64 / seconds);
        Ok(format!(
            "`iowhy record --for {MANY_SECONDS}s` beside {beside}: {} events and {:.1} MB a second, **{} lost**. While recording \
             the recorder took **{:.1} % of one core**, {:.1} % for each 60 MB a second.\n\n",
            count(events as u64),
            bytes / 1e6,
            count(number(&c["lost"])),
            100.0 * busy / seconds,
            100.0 * busy / seconds * 60e6 / bytes,
        ))
    }

    /// A recording of everything is read by both.
    fn reading(&self, disk: &LoopDisk) -> Outcome<String> {
        self.record(&["--detail", "path"], &self.fio(disk))?;
        let capture = self.capture()?;
        let events = number(&capture["events"]) as f64 / 1e6;
        let trace = self.scratch.join("c/trace.dat");
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let mut explain = Command::new(&self.iowhy);
            explain.arg("explain").arg(&trace);
            ours.push(measure(&explain, &self.scratch)?);
            let mut report = Command::new("trace-cmd");
            report.args(["report", "-i"]).arg(&trace);
            theirs.push(measure(&report, &self.scratch)?);
        }
        let [(ours, ..), (theirs, ..)] = [ours, theirs].map(crate::run::median);
        let per = |wall: f64| wall / events;
        let [a, b] = [ours, theirs].map(|c| per(c.wall.as_secs_f64()));
        Ok(format!(
            "\n## Reading it\n\nOf the same recording with everything on ({:.2} million events, {:.0} MB), median of 3 runs in turn:\n\n\
             | | wall time per million events | time on processors | resident memory |\n|---|---|---|---|\n\
             | `iowhy explain` | {a:.3} s | {:.2} s | {:.1} MiB |\n| `trace-cmd report` | {b:.3} s | {:.2} s | {:.1} MiB |\n\n\
             `iowhy` is **{:.1} times** faster per event.\n",
            events,
            number(&capture["bytes"]) as f64 / 1e6,
            ours.cpu.as_secs_f64(),
            ours.resident as f64 / f64::from(1 << 20),
            theirs.cpu.as_secs_f64(),
            theirs.resident as f64 / f64::from(1 << 20),
            b / a
        ))
    }

    fn fio(&self, disk: &LoopDisk) -> Vec<String> {
        let words = [
            "fio",
            "--name=read",
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            "--ioengine=libaio",
            "--iodepth=32",
            "--time_based",
            "--nice=-20",
        ];
        let more = [
            format!("--runtime={}", self.seconds),
            format!("--filename={}", disk.device),
            "--output-format=json".to_string(),
            format!("--output={}", self.scratch.join("fio.json").display()),
        ];
        words.iter().map(|w| w.to_string()).chain(more).collect()
    }

    fn record(&self, options: &[&str], command: &[String]) -> Outcome {
        let out = self.scratch.join("c");
        let _ = fs::remove_dir_all(&out);
        let mut all =
            vec![self.iowhy.display().to_string(), "record".into(), "-o".into(), out.display().to_string()];
        all.extend(options.iter().map(|o| o.to_string()));
        all.push("--".into());
        all.extend_from_slice(command);
        quiet(&all)
    }

    fn capture(&self) -> Outcome<Value> {
        json(&self.scratch.join("c/capture.json"))
    }

    fn iops(&self) -> Outcome<f64> {
        let file = self.scratch.join("fio.json");
        let said = json(&file)?;
        fs::remove_file(file)?;
        said["jobs"][0]["read"]["iops"].as_f64().ok_or_else(|| "fio says no iops".into())
    }
}

/// Runs a command; what it says is an error's text.
fn quiet(words: &[String]) -> Outcome {
    let out = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output()?;
    match out.status.success() {
        true => Ok(()),
        false => {
            Err(format!("{}: {}: {}", words[0], out.status, String::from_utf8_lossy(&out.stderr).trim())
                .into())
        }
    }
}

fn json(file: &Path) -> Outcome<Value> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    // fio puts its warnings before it.
    Ok(serde_json::from_str(&text[text.find('{').unwrap_or(0)..])?)
}

fn number(v: &Value) -> u64 {
    v.as_u64().unwrap_or(0)
}

/// The value below which that part of the values lies, the nearest one.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().saturating_sub(1)) as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}
