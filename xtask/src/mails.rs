//! Reads folders of mails, one a file or many in an mbox, as `iowhy explain` reads each, and prints what was made of them.
//!
//! The table says how many were recognised, of which tools; how many of those in which a tool's own words stand; what was named and
//! from how much; which numbers are impossible; and what took long. It fails if reading one of them panics.

use crate::outcome::Outcome;
use causes::{Answer, Verdict};
use clap::Args;
use explain::{Explanation, Input};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Read folders of mails and print what was made of them
#[derive(Args)]
pub struct Mails {
    /// Folders of mails, or of folders of them
    #[arg(required = true)]
    folders: Vec<PathBuf>,
}

/// Files that are read at most.
const MOST: usize = 1_000_000;
/// A mail that takes longer than this is told.
const SLOW: Duration = Duration::from_secs(1);
/// Names that are told of each kind.
const MOST_NAMED: usize = 10;

/// Words that only a tool prints; a mail with one of them should be recognised.
const SIGNS: [(&str, &[&str]); 41] = [
    ("hung task", &["blocked for more than", "seconds."]),
    ("sysrq-w", &["state:D", "Call Trace"]),
    ("ata, scsi, nvme errors", &["hard resetting link"]),
    ("I/O errors", &["I/O error, dev "]),
    ("fio", &["(groupid=", "err="]),
    ("fio's lines", &["IOPS=", "BW="]),
    ("iostat", &["rrqm/s", "%util"]),
    ("blkparse", &["  Q  ", "  C  ", " + "]),
    ("ftrace", &["block_rq_issue:"]),
    ("histograms", &[": count", "distribution"]),
    ("fs_mark", &["FSUse%", "Files/sec"]),
    ("mdstat", &["blocks super", "algorithm"]),
    ("vmstat", &["procs ---", "swpd"]),
    ("vmstat -s", &["K total memory", "pages swapped in"]),
    ("dd", &["records out", "copied,"]),
    ("strace -c", &["usecs/call", "syscall"]),
    ("smartctl", &["ATTRIBUTE_NAME", "RAW_VALUE"]),
    ("sysbench", &["fsyncs/s:"]),
    ("dbench", &["max_latency="]),
    ("bonnie++", &["Sequential Output", "Random"]),
    ("hdparm", &["Timing buffered disk reads"]),
    ("nfsiostat", &["avg RTT (ms)"]),
    ("sar -d", &["DEV", "wr_sec/s"]),
    ("pidstat -d", &["kB_ccwr/s"]),
    ("iotop", &["DISK READ", "COMMAND"]),
    ("pressure", &["avg10=", "avg300="]),
    ("io.stat", &["rbytes=", "wios="]),
    ("zpool iostat", &["capacity", "operations", "bandwidth"]),
    ("mdadm -D", &["Raid Level :", "Raid Devices :"]),
    ("pgbench", &["latency average", "tps ="]),
    ("biosnoop and kin", &["COMM", "LAT(ms)"]),
    ("perf script", &["block:block_rq_complete:"]),
    ("dstat", &["-dsk/", "writ"]),
    ("iozone", &["reclen", "rewrite"]),
    ("ps with places", &["PID", "WCHAN"]),
    ("rados bench", &["Total time run:", "Average Latency"]),
    ("pgbench -P", &["progress:", " tps, lat "]),
    ("sysbench's intervals", &["] thds:", "lat (ms,"]),
    ("etcd's metrics", &["etcd_disk_wal_fsync_duration_seconds_bucket{"]),
    ("ioping", &["min/avg/max/mdev =", "ioping statistics"]),
    ("bonnie++'s line", &["+++++,+++,+++++,+++"]),
];

#[derive(Default)]
struct Table {
    files: usize,
    recognised: usize,
    recordings: usize,
    runs: usize,
    impossible: usize,
    /// Mails by tool.
    tools: BTreeMap<String, usize>,
    /// Mails with a sign, and those of them that were recognised.
    signs: BTreeMap<&'static str, (usize, usize)>,
    with_sign: (usize, usize),
    /// Causes found, by name and confidence.
    causes: BTreeMap<(String, String), usize>,
    /// Mails in which a cause was found, by how much there is to judge by.
    by_evidence: BTreeMap<usize, (usize, usize)>,
    missed: Vec<PathBuf>,
    slow: Vec<(Duration, PathBuf)>,
    panics: Vec<PathBuf>,
}

impl Mails {
    pub fn run(self) -> Outcome {
        let mut files = vec![];
        for folder in &self.folders {
            collect(folder, &mut files)?;
        }
        files.sort();
        if files.is_empty() {
            return Err("no file in these folders".into());
        }
        let mut table = Table::default();
        let folder = tempfile::tempdir()?;
        for file in &files {
            if !each_of_mbox(file, folder.path(), |mail| table.add(mail))? {
                table.add(file);
            }
        }
        table.print();
        match table.panics.len() {
            0 => Ok(()),
            n => {
                Err(format!("reading {n} of them panicked; the first: {}", table.panics[0].display()).into())
            }
        }
    }
}

/// All files below a folder; links are not followed.
fn collect(path: &Path, into: &mut Vec<PathBuf>) -> Outcome {
    let what = path.symlink_metadata().map_err(|e| format!("{}: {e}", path.display()))?;
    if what.is_file() && into.len() < MOST {
        into.push(path.to_owned());
    } else if what.is_dir() {
        for entry in std::fs::read_dir(path)? {
            collect(&entry?.path(), into)?;
        }
    }
    Ok(())
}

/// Gives each mail of an mbox as a file of its own, named by the mbox and its number, which is gone afterwards; `false` of any other
/// file. Mails begin with a line `From `, behind a blank one (RFC 4155).
fn each_of_mbox(path: &Path, folder: &Path, mut each: impl FnMut(&Path)) -> Result<bool, std::io::Error> {
    let mut lines = BufReader::new(File::open(path)?);
    if !lines.fill_buf()?.starts_with(BEGINS) {
        return Ok(false);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (mut mail, mut line, mut number, mut blank) = (vec![], vec![], 0, false);
    loop {
        line.clear();
        let end = lines.read_until(b'\n', &mut line)? == 0;
        if !mail.is_empty() && (end || blank && line.starts_with(BEGINS)) {
            number += 1;
            let one = folder.join(format!("{name}-{number}"));
            File::create(&one)?.write_all(&mail)?;
            each(&one);
            std::fs::remove_file(&one)?;
            mail.clear();
        }
        if end {
            return Ok(true);
        }
        blank = line.trim_ascii().is_empty();
        if mail.len() < MOST_OF_MAIL {
            mail.extend_from_slice(&line);
        }
    }
}

/// How mails in an mbox begin.
const BEGINS: &[u8] = b"From ";
/// Bytes of a mail that are read; what is attached to it may be longer.
const MOST_OF_MAIL: usize = 64 << 20;

impl Table {
    fn add(&mut self, file: &Path) {
        self.files += 1;
        let begun = Instant::now();
        let read = catch_unwind(|| Input::open(&[file.to_owned()]).and_then(Input::explain).ok());
        let took = begun.elapsed();
        if took >= SLOW {
            self.slow.push((took, file.to_owned()));
        }
        let Ok(read) = read else { return self.panics.push(file.to_owned()) };
        let known = read.is_some();
        self.signs_of(file, known);
        let Some(e) = read else { return };
        self.recognised += 1;
        self.recordings += usize::from(!e.is_of_texts());
        let runs = || e.texts.outputs.iter().flat_map(|mail| &mail.runs);
        self.runs += runs().count();
        self.impossible += e.texts.outputs.iter().map(|mail| mail.doubts.len()).sum::<usize>();
        let format = e.subject.sources.first().cloned();
        for tool in explain::texts::tools(&e.texts.outputs).into_iter().map(str::to_owned).chain(format) {
            *self.tools.entry(tool).or_default() += 1;
        }
        let found: Vec<&Verdict> = e.verdicts.iter().filter(|v| v.verdict == Answer::Found).collect();
        for v in &found {
            let sure = v.confidence.map_or(String::new(), |c| format!("{c:?}").to_lowercase());
            *self.causes.entry((v.cause.to_owned(), sure)).or_default() += 1;
        }
        let (all, judged) = self.by_evidence.entry(evidence(&e)).or_default();
        *all += 1;
        *judged += usize::from(!found.is_empty());
    }

    fn signs_of(&mut self, file: &Path, known: bool) {
        let Ok(bytes) = std::fs::read(file) else { return };
        let text = String::from_utf8_lossy(&bytes);
        let has = |words: &[&str]| words.iter().all(|w| text.contains(w));
        let mut any = false;
        for (name, _) in SIGNS.iter().filter(|(_, words)| has(words)) {
            any = true;
            let (all, read) = self.signs.entry(name).or_default();
            *all += 1;
            *read += usize::from(known);
        }
        self.with_sign.0 += usize::from(any);
        self.with_sign.1 += usize::from(any && known);
        if any && !known {
            self.missed.push(file.to_owned());
        }
    }

    fn print(&self) {
        let share = |part: usize, all: usize| format!("{:.0} %", 100.0 * part as f64 / all.max(1) as f64);
        println!("mails                 {:>8}", self.files);
        println!("recognised            {:>8}  {}", self.recognised, share(self.recognised, self.files));
        println!("  as recordings       {:>8}", self.recordings);
        println!("runs                  {:>8}", self.runs);
        println!("impossible numbers    {:>8}", self.impossible);
        let (all, read) = self.with_sign;
        println!("with a tool's words   {all:>8}, recognised {read} ({})", share(read, all));
        for (name, (all, read)) in &self.signs {
            println!("  {name:<24} {all:>6}  {read:>6}  {}", share(*read, *all));
        }
        println!("\nmails by tool");
        for (tool, n) in &self.tools {
            println!("  {tool:<24} {n:>6}");
        }
        println!("\ncauses named");
        for ((cause, sure), n) in &self.causes {
            println!("  {cause:<24} {sure:<8} {n:>6}");
        }
        println!("\nreadings, or I/Os of a recording: mails with so many, with a cause named");
        for (size, (all, judged)) in &self.by_evidence {
            println!(
                "  {:<24} {all:>6}  {judged:>6}",
                if *size == 0 { "0".into() } else { format!("{size} and more") }
            );
        }
        for (what, files) in [("not recognised", &self.missed), ("panicked", &self.panics)] {
            for file in files.iter().take(MOST_NAMED) {
                println!("{what}: {}", file.display());
            }
        }
        for (took, file) in self.slow.iter().take(MOST_NAMED) {
            println!("took {:.1} s: {}", took.as_secs_f64(), file.display());
        }
    }
}

/// How much there is to judge by, as the power of ten below it.
fn evidence(e: &Explanation) -> usize {
    let readings: usize = e.texts.outputs.iter().flat_map(|m| &m.runs).map(|run| run.readings.len()).sum();
    let requests = e.facts.tally.requests as usize;
    match readings.max(requests) {
        0 => 0,
        n => 10usize.pow(n.ilog10()),
    }
}
