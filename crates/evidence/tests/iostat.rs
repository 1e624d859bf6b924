//! Number by number against sysstat's iostat, fed with the same samples.
//!
//! `iostat -p ALL` reads /proc/diskstats, /proc/stat and /proc/uptime, and looks whether /sys/block knows a device. It
//! runs in a mount namespace of its own, where files of the test lie in their place; each time it begins to print a
//! report, the next sample is written into them.

use evidence::{Iostat, Rates, Samples};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED in against_sysstat: {why}");
}

/// A sample: time in hundredths of a second, devices, processors.
struct Sample {
    uptime: u64,
    disks: BTreeMap<&'static str, Vec<u64>>,
    cpu: [u64; 10],
}

/// Devices and how many numbers the kernel prints of them.
const DISKS: [(&str, usize); 3] = [("iowhy-a", 17), ("iowhy-b", 15), ("iowhy-c", 11)];
/// Steps from sample to sample in hundredths of a second.
const STEPS: [u64; 5] = [100, 137, 100, 201, 50];

fn samples() -> Vec<Sample> {
    let mut state = 12345u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut now = Sample {
        uptime: 500_000,
        disks: BTreeMap::new(),
        cpu: [1000, 20, 3000, 90_000, 400, 0, 50, 7, 0, 0],
    };
    for (i, (name, numbers)) in DISKS.iter().enumerate() {
        let mut start: Vec<u64> = (0..*numbers).map(|_| random(1_000_000)).collect();
        // This one is about to go around: it is printed as 32 bits.
        start[10] = if i == 0 { u32::MAX as u64 - 1000 } else { start[10] };
        now.disks.insert(name, start);
    }
    let mut all = vec![];
    for step in std::iter::once(0).chain(STEPS) {
        now.uptime += step;
        for (device, numbers) in now.disks.values_mut().enumerate() {
            // The last device does nothing every other time; that must not divide by zero.
            let still = device == 2 && step % 2 == 0;
            for (i, n) in numbers.iter_mut().enumerate().filter(|_| step > 0 && !still) {
                let by = match i {
                    0 | 4 | 11 | 15 => random(2000),
                    2 | 6 | 13 => random(1 << 20),
                    8 => 0,
                    9 => random(step * 10),
                    _ => random(5000),
                };
                *n = if i == 10 { (*n + by) % (1 << 32) } else { *n + by };
            }
            numbers[8] = random(30);
        }
        for (i, n) in now.cpu.iter_mut().enumerate().take(8) {
            // Guests' time is part of user time; there are none.
            *n += if step > 0 && i != 5 { random(60) } else { 0 };
        }
        all.push(Sample { uptime: now.uptime, disks: now.disks.clone(), cpu: now.cpu });
    }
    all
}

impl Sample {
    /// As `samples.jsonl` has it.
    fn line(&self) -> String {
        let disks: Vec<_> = self.disks.iter().map(|(name, n)| format!("{name:?}: {n:?}")).collect();
        let ns = self.uptime * 10_000_000;
        format!(
            "{{\"mono_ns\": {ns}, \"disks\": {{{}}}, \"cpus\": {{\"cpu\": {:?}}}}}\n",
            disks.join(","),
            self.cpu
        )
    }

    /// As /proc has it.
    fn put(&self, dir: &Path) {
        let words = |n: &[u64]| n.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let mut disks = String::new();
        for (minor, (name, n)) in self.disks.iter().enumerate() {
            writeln!(disks, " 240 {minor:7} {name} {}", words(n)).unwrap();
        }
        let put = |name: &str, text: String| fs::write(dir.join(name), text).unwrap();
        put("diskstats", disks);
        put("stat", format!("cpu  {0}\ncpu0 {0}\n", words(&self.cpu)));
        put("uptime", format!("{}.{:02} 0.00\n", self.uptime / 100, self.uptime % 100));
    }
}

/// A report: columns by device, and `cpu`.
type Report = BTreeMap<String, BTreeMap<String, f64>>;

/// What iostat says, one report for each sample; or why it cannot be asked.
fn sysstat(samples: &[Sample]) -> Result<Vec<Report>, String> {
    let dir = tempfile::tempdir().unwrap();
    samples[0].put(dir.path());
    for (name, _) in DISKS {
        fs::create_dir_all(dir.path().join("block").join(name)).unwrap();
    }
    let script = format!(
        "for f in diskstats stat uptime; do mount --bind {dir}/$f /proc/$f; done; \
         mount --bind {dir}/block /sys/block; exec stdbuf -oL iostat -x -c -d -p ALL 1 {n}",
        dir = dir.path().display(),
        n = samples.len()
    );
    let mut iostat = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-euc", &script])
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("unshare: {e}"))?;
    let mut reports: Vec<Report> = vec![];
    let mut heads: Vec<String> = vec![];
    let mut section = "";
    for line in BufReader::new(iostat.stdout.take().unwrap()).lines() {
        let line = line.map_err(|e| e.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["avg-cpu:", ref names @ ..] => {
                // All files were read before this line, and will be again in a second.
                let came = Instant::now();
                if let Some(next) = samples.get(reports.len() + 1) {
                    next.put(dir.path());
                }
                if came.elapsed() > Duration::from_millis(500) {
                    let _ = iostat.kill();
                    let _ = iostat.wait();
                    return Err("this machine is too busy to keep step with iostat".into());
                }
                reports.push(Report::new());
                heads = names.iter().map(|n| n.to_string()).collect();
                section = "cpu";
            }
            ["Device", ref names @ ..] => {
                heads = names.iter().map(|n| n.to_string()).collect();
                section = "";
            }
            [] => {}
            _ => {
                let Some(report) = reports.last_mut() else { continue };
                let (name, numbers) =
                    if section == "cpu" { ("cpu", &words[..]) } else { (words[0], &words[1..]) };
                let numbers = numbers.iter().map(|n| n.parse::<f64>().unwrap());
                report.insert(name.into(), heads.iter().cloned().zip(numbers).collect());
            }
        }
    }
    let out = iostat.wait_with_output().map_err(|e| e.to_string())?;
    match out.status.success() && reports.len() == samples.len() {
        true => Ok(reports),
        false => Err(format!("iostat: {}", String::from_utf8_lossy(&out.stderr).trim())),
    }
}

/// Our numbers under sysstat's names.
fn named(io: &Iostat) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::from([("aqu-sz".to_string(), io.queue), ("%util".to_string(), io.util_percent)]);
    let mut put = |letter: &str, rates: Option<Rates>| {
        let r = rates.unwrap_or_default();
        all.insert(format!("{letter}/s"), r.per_s);
        all.insert(format!("{letter}_await"), r.await_ms);
        if letter != "f" {
            all.insert(format!("{letter}kB/s"), r.kib_per_s);
            all.insert(format!("{letter}rqm/s"), r.merged_per_s);
            all.insert(format!("%{letter}rqm"), r.merged_percent);
            all.insert(format!("{letter}areq-sz"), r.request_kib);
        }
    };
    put("r", Some(io.read));
    put("w", Some(io.write));
    put("d", io.discard);
    put("f", io.flush);
    all
}

#[test]
fn against_sysstat() {
    let samples = samples();
    let reports = match sysstat(&samples) {
        Ok(reports) => reports,
        Err(why) => return skip(&format!("{why} (needs root, unshare, stdbuf and sysstat)")),
    };
    let text: String = samples.iter().map(Sample::line).collect();
    let ours = Samples::from_reader(text.as_bytes()).unwrap();
    assert_eq!((ours.intervals.len(), ours.quality.wrapped, ours.quality.began_anew), (STEPS.len(), 1, 0));
    let mut compared = 0;
    let mut compare = |what: String, ours: f64, theirs: f64| {
        // Two decimals are printed.
        assert!((ours - theirs).abs() < 0.005_001, "{what}: {ours} here, {theirs} by iostat");
        compared += 1;
    };
    // The first report is about the time since boot.
    for (i, (interval, report)) in ours.intervals.iter().zip(&reports[1..]).enumerate() {
        for (name, disk) in &interval.disks {
            let (ours, theirs) = (named(&Iostat::from(disk)), &report[&**name]);
            assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
            for (column, value) in ours {
                compare(format!("interval {i}, {name} {column}"), value, theirs[&column]);
            }
        }
        let cpu = &interval.cpus["cpu"];
        for (column, ticks) in [
            ("%user", cpu.user),
            ("%nice", cpu.nice),
            ("%system", cpu.system + cpu.irq + cpu.softirq),
            ("%iowait", cpu.iowait),
            ("%steal", cpu.steal),
            ("%idle", cpu.idle),
        ] {
            compare(format!("interval {i}, {column}"), 100.0 * cpu.share(ticks), report["cpu"][column]);
        }
    }
    assert_eq!(compared, STEPS.len() * (3 * 22 + 6));
}
