//! A recording made here and now: own tracefs instance, loop device, fio; read as raw pages, and as the trace.dat
//! that `trace-cmd restore` makes of them, and compared with trace-cmd and with what fio says it did.

use crate::{have, report, skip};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trace::tracedat::{self, Raw};
use trace::{Action, Batch, Cpu, DevId, Event, Flags, Source};

const TRACING: &str = "/sys/kernel/tracing";
const PAGE: usize = 4096;

/// Runs a command and gives what it printed; `None` if it failed.
fn run(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).stderr(Stdio::null()).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// A tracing instance of our own, gone when dropped.
struct Instance(PathBuf);

impl Instance {
    fn new() -> Option<Instance> {
        testkit::share_machine();
        let path = Path::new(TRACING).join(format!("instances/iowhy-test-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Instance(path))
    }

    fn set(&self, file: &str, value: &str) -> Option<()> {
        fs::write(self.0.join(file), value).ok()
    }

    /// The pages of all CPUs, drained into files.
    fn pages(&self, into: &Path) -> Vec<(Cpu, PathBuf)> {
        let mut out = Vec::new();
        for cpu in 0.. {
            let pipe = self.0.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            if !pipe.exists() {
                return out;
            }
            let file = into.join(format!("cpu{cpu}.raw"));
            let (from, to) = (format!("if={}", pipe.display()), format!("of={}", file.display()));
            // dd ends with an error when the pipe is empty: it is opened so as not to wait.
            let _ = run("dd", &[&from, &to, &format!("bs={PAGE}"), "iflag=nonblock"]);
            out.push((Cpu(cpu), file));
        }
        out
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("events/enable"), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

/// A loop device over a file, detached when dropped.
struct Loop(String);

impl Loop {
    fn new(file: &Path) -> Option<Loop> {
        fs::File::create(file).ok()?.set_len(32 << 20).ok()?;
        run("losetup", &["-f", "--show", file.to_str()?]).map(Loop)
    }

    fn dev(&self) -> Option<DevId> {
        let name = self.0.rsplit('/').next()?;
        let text = fs::read_to_string(format!("/sys/class/block/{name}/dev")).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some(DevId::new(major.parse().ok()?, minor.parse().ok()?))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = run("losetup", &["-d", &self.0]);
    }
}

fn events(dat: &mut tracedat::TraceDat) -> Vec<Event> {
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while dat.fill(&mut batch).unwrap() {
        all.extend(batch.events.iter().copied().filter(|e| !e.action.is_note()));
    }
    assert_eq!(dat.quality().lost_total(), 0);
    all
}

/// The device that was written to, and the pages of each CPU.
type Recorded = (DevId, Vec<(Cpu, PathBuf)>);

/// Records; or says what is missing here.
fn record(dir: &Path) -> Result<Recorded, &'static str> {
    for tool in ["trace-cmd", "fio", "losetup", "dd"] {
        if !have(tool) {
            return Err("trace-cmd, fio, losetup and dd are needed for a live recording");
        }
    }
    let instance = Instance::new().ok_or("no tracefs instance can be made (root? tracefs mounted?)")?;
    let disk = Loop::new(&dir.join("disk")).ok_or("no loop device can be made")?;
    let dev = disk.dev().ok_or("the loop device has no number in /sys")?;
    instance.set("tracing_on", "0");
    instance.set("trace_clock", "mono");
    // Whatever else runs on the machine switches tasks too: room for all of it.
    instance.set("buffer_size_kb", "16384");
    instance.set("events/block/enable", "1").ok_or("block events cannot be enabled")?;
    instance.set("events/sched/sched_switch/enable", "1");
    instance.set("tracing_on", "1");
    let name = format!("--filename={}", disk.0);
    let fio = ["--name=live", &name, "--rw=randwrite", "--bs=8k", "--direct=1", "--io_size=1m", "--size=16m"];
    let ran = run("fio", &[&fio[..], &["--fsync=16", "--randrepeat=1"]].concat());
    instance.set("tracing_on", "0");
    let pages = instance.pages(dir);
    ran.ok_or("fio failed")?;
    Ok((dev, pages))
}

#[test]
fn recorded_here_and_now() {
    let dir = tempfile::tempdir().unwrap();
    let (dev, pages) = match record(dir.path()) {
        Ok(recorded) => recorded,
        Err(why) => return skip(why),
    };
    // The kernel gives these two texts only to a first read that is large enough for all of it.
    let read = |name: &str| {
        let mut text = vec![0; PAGE];
        let n = fs::File::open(Path::new(TRACING).join(name)).and_then(|mut f| f.read(&mut text)).unwrap();
        text.truncate(n);
        text
    };
    let mut formats = Vec::new();
    for (system, only) in [("block", None), ("sched", Some("sched_switch"))] {
        for event in fs::read_dir(Path::new(TRACING).join("events").join(system)).unwrap().flatten() {
            let name = event.file_name().into_string().unwrap();
            if only.is_none_or(|o| o == name) {
                formats.extend(fs::read(event.path().join("format")).map(|text| (system.to_string(), text)));
            }
        }
    }
    let raw = Raw {
        header_page: read("events/header_page"),
        header_event: read("events/header_event"),
        formats,
        pages: pages.clone(),
        ..Raw::default()
    };
    let mut dat = raw.open(dir.path()).unwrap();
    let from_raw = events(&mut dat);
    assert_eq!(dat.quality().unknown, 0);

    // 1 MiB in writes of 8 KiB, each queued, issued and completed.
    let bytes = |action| {
        let mine =
            from_raw.iter().filter(|e| e.dev == dev && e.action == action && e.flags.has(Flags::WRITE));
        mine.map(|e| e.bytes.0).sum::<u64>()
    };
    assert_eq!(
        (bytes(Action::Queue), bytes(Action::Issue), bytes(Action::Complete)),
        (1 << 20, 1 << 20, 1 << 20)
    );

    let (head, file) = (dir.path().join("head.dat"), dir.path().join("live.dat"));
    let text = |p: &Path| p.to_str().unwrap().to_owned();
    let (head, file_text) = (text(&head), text(&file));
    let cpus: Vec<_> = pages.iter().map(|p| text(&p.1)).collect();
    let made = run("trace-cmd", &["restore", "-c", "-o", &head]).and_then(|_| {
        let mut args = vec!["restore", "-i", &head, "-o", &file_text];
        args.extend(cpus.iter().map(|c| &**c));
        run("trace-cmd", &args)
    });
    if made.is_none() {
        return skip("trace-cmd restore failed: only the raw pages were read");
    }
    assert!(report::compare(&file, &[]) > 300);
    assert_eq!(events(&mut tracedat::open(&file).unwrap()), from_raw);
    for (version, codec) in [("6", "none"), ("7", "zstd"), ("7", "zlib")] {
        let other = text(&dir.path().join(format!("v{version}-{codec}.dat")));
        let args =
            ["convert", "-i", &file_text, "-o", &other, "--file-version", version, "--compression", codec];
        match run("trace-cmd", &args) {
            Some(_) => assert_eq!(events(&mut tracedat::open(Path::new(&other)).unwrap()), from_raw),
            None => skip(&format!("this trace-cmd cannot convert to version {version} with {codec}")),
        }
    }
}
