//! A private tracefs instance: its own buffers, clock, events and filters, removed when the recorder ends.
//!
//! Nothing outside `instances/iowhy-*` is ever written. Three mechanisms keep tracing from outliving the recorder:
//! dropping an [`Instance`] removes it; if the process is killed, the kernel closes its `free_buffer`,
//! which stops the recording and frees the buffers; and the empty instance that then remains is
//! removed by the next recording or by [`clean`].
//!
//! The name identifies the owner: `iowhy-PID-START-NAMESPACE`, with the process's start time (in ticks since
//! boot, /proc/PID/stat field 22), because pids are reused, and its pid namespace, because pids of another
//! namespace mean nothing here. In addition, the kernel refuses to remove an instance that a process has open.

use crate::tracefs::Tracefs;
use capture::Chosen;
use capture::{At, Error, Result};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::Cpu;

/// Prefix of the names of our instances.
const PREFIX: &str = "iowhy-";
/// Attempts to remove a busy instance: the kernel needs a moment to release
/// the buffers that were spliced from it.
const REMOVE_TRIES: u32 = 40;
/// Pause between two attempts.
const REMOVE_PAUSE: Duration = Duration::from_millis(50);

/// A tracefs instance that lives as long as this value.
#[derive(Debug)]
pub struct Instance {
    dir: PathBuf,
    /// Closing it stops recording and frees the buffers, also when the kernel closes it at process exit.
    free_buffer: Option<File>,
    removed: bool,
}

/// The kernel's counters for one CPU (`per_cpu/cpuN/stats`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuStats {
    /// Events recorded so far, whether or not they were read yet.
    pub events: u64,
    /// Events that were overwritten or dropped because the buffer was full.
    pub lost: u64,
}

impl Instance {
    /// Creates an instance that does not record yet.
    pub fn create(tracefs: &Tracefs) -> Result<Instance> {
        let dir = tracefs.instances().join(Owner::me()?.name());
        match fs::create_dir(&dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::refused(
                    "this kernel's tracefs has no instances",
                    "Linux 3.10 or later with CONFIG_TRACING is needed",
                ))
            }
            other => other.at("making a tracing instance", &dir)?,
        }
        let mut instance = Instance { dir, free_buffer: None, removed: false };
        // A new instance is on by default; recording must start only when everything is configured.
        instance.write("tracing_on", "0")?;
        // Old kernels (before 4.x) lack this option; after kill -9, only the next recording then cleans up.
        if instance.write("options/disable_on_free", "1").is_ok() {
            let path = instance.dir.join("free_buffer");
            instance.free_buffer = OpenOptions::new().write(true).open(path).ok();
        }
        Ok(instance)
    }

    /// Its folder in tracefs.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the kernel stops the recording if this process is killed.
    pub fn stops_when_killed(&self) -> bool {
        self.free_buffer.is_some()
    }

    /// Writes `value` to a file of the instance.
    pub fn write(&self, file: &str, value: &str) -> Result<()> {
        let path = self.dir.join(file);
        let mut f = OpenOptions::new().write(true).open(&path).at("opening", &path)?;
        f.write_all(value.as_bytes()).at("writing", &path)
    }

    /// Sets the size of the buffer per CPU.
    pub fn set_buffer(&self, kib: u64) -> Result<()> {
        self.write("buffer_size_kb", &kib.to_string()).map_err(|e| match e {
            Error::Io { source, .. } if source.raw_os_error() == Some(Errno::NOMEM.raw_os_error()) => {
                Error::refused(
                    format!("the kernel has no memory for buffers of {kib} KiB for each CPU"),
                    "give a smaller --buffer",
                )
            }
            other => other,
        })
    }

    /// Sets filter and trigger, then enables the event. An error describes what failed: an event without its
    /// trigger is still useful; one without its filter could flood the recording and stays disabled.
    pub fn enable(&self, event: &Chosen) -> std::result::Result<(), String> {
        let folder = event.folder();
        if let Some(filter) = &event.filter {
            if let Err(e) = self.write(&format!("{folder}/filter"), filter) {
                return Err(format!(
                    "{}:{} is not recorded: its filter was refused: {e}",
                    event.system, event.name
                ));
            }
        }
        let trigger = event.trigger.as_ref().map(|t| self.write(&format!("{folder}/trigger"), t));
        if let Err(e) = self.write(&format!("{folder}/enable"), "1") {
            return Err(format!("{}:{} is not recorded: {e}", event.system, event.name));
        }
        match trigger {
            Some(Err(e)) => Err(format!("{}:{} is recorded without stacks: {e}", event.system, event.name)),
            _ => Ok(()),
        }
    }

    /// Turns recording on or off.
    pub fn switch(&self, on: bool) -> Result<()> {
        self.write("tracing_on", if on { "1" } else { "0" })
    }

    /// The CPUs with a buffer, in ascending order.
    pub fn cpus(&self) -> Result<Vec<Cpu>> {
        let path = self.dir.join("per_cpu");
        let entries = fs::read_dir(&path).at("listing", &path)?;
        let number = |name: &str| name.strip_prefix("cpu")?.parse().ok().map(Cpu);
        let mut cpus: Vec<Cpu> =
            entries.flatten().filter_map(|e| number(&e.file_name().to_string_lossy())).collect();
        cpus.sort_unstable();
        Ok(cpus)
    }

    /// Path of the file to read raw pages from.
    pub fn raw_pipe(&self, cpu: Cpu) -> PathBuf {
        self.dir.join(format!("per_cpu/cpu{}/trace_pipe_raw", cpu.0))
    }

    /// Text of the kernel's counters for a CPU.
    pub fn stats_text(&self, cpu: Cpu) -> Result<String> {
        let path = self.dir.join(format!("per_cpu/cpu{}/stats", cpu.0));
        fs::read_to_string(&path).at("reading", &path)
    }

    /// Size of a sub-buffer in bytes, the unit of raw data.
    pub fn page_size(&self, header_page: &str) -> usize {
        let kib = fs::read_to_string(self.dir.join("buffer_subbuf_size_kb")).ok();
        let own = kib.and_then(|t| t.trim().parse::<usize>().ok()).map(|k| k * 1024);
        own.or_else(|| page_size(header_page)).unwrap_or(4096)
    }

    /// Stops recording and removes the instance. Its files must be closed before.
    pub fn remove(mut self) -> Result<()> {
        self.take_down()
    }

    fn take_down(&mut self) -> Result<()> {
        if self.removed {
            return Ok(());
        }
        let _ = self.switch(false);
        let _ = self.write("events/enable", "0");
        self.free_buffer = None;
        let mut tries = 0;
        loop {
            match fs::remove_dir(&self.dir) {
                Ok(()) => break,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => break,
                Err(e) if tries == REMOVE_TRIES => {
                    self.removed = true;
                    return Err(e).at("removing the tracing instance", &self.dir);
                }
                Err(_) => {
                    tries += 1;
                    std::thread::sleep(REMOVE_PAUSE);
                }
            }
        }
        self.removed = true;
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}

impl CpuStats {
    /// Parses the kernel's text. Event counters are 64 bits wide but printed as `long`.
    pub fn parse(text: &str) -> CpuStats {
        let get = |key: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':'));
            line.and_then(|v| v.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let lost = get("overrun").saturating_add(get("commit overrun")).saturating_add(get("dropped events"));
        CpuStats { events: get("entries").saturating_add(get("read events")), lost }
    }
}

/// The size of a sub-buffer from `events/header_page`: offset of its data plus size of its data.
pub fn page_size(header_page: &str) -> Option<usize> {
    let data = header_page.lines().find(|l| l.contains(" data;"))?;
    let number = |key: &str| {
        let rest = &data[data.find(key)? + key.len()..];
        rest.split(';').next()?.trim().parse::<usize>().ok()
    };
    let size = number("offset:")?.checked_add(number("size:")?)?;
    (size.is_power_of_two() && size >= 1024).then_some(size)
}

/// The owner of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    pid: i32,
    start: u64,
    namespace: u64,
}

impl Owner {
    fn me() -> Result<Owner> {
        let path = Path::new("/proc/self/ns/pid");
        let namespace = fs::metadata(path).at("reading", path)?.ino();
        let pid = std::process::id() as i32;
        let path = PathBuf::from(format!("/proc/{pid}/stat"));
        let start = start_time(Path::new("/proc"), pid);
        let gone = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        Ok(Owner { pid, start: start.ok_or_else(gone).at("reading", &path)?, namespace })
    }

    fn name(&self) -> String {
        format!("{PREFIX}{}-{}-{}", self.pid, self.start, self.namespace)
    }

    fn parse(name: &str) -> Option<Owner> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let owner = Owner {
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
            namespace: parts.next()?.parse().ok()?,
        };
        // Only names exactly as we would write them are ours.
        (owner.name() == name).then_some(owner)
    }
}

/// The start time of a process in ticks since boot: field 22 of its stat (proc(5)). The name before it may contain
/// anything, so fields are counted from the last `)`.
fn start_time(proc_root: &Path, pid: i32) -> Option<u64> {
    let stat = fs::read(proc_root.join(pid.to_string()).join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat[stat.rfind(')')? + 1..].split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Result of removing leftover instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Names of removed instances, whose process is gone.
    pub removed: Vec<String>,
    /// Names of instances that were kept, with the reason.
    pub kept: Vec<(String, String)>,
}

/// Removes our own instances whose process is gone.
///
/// `proc_root` is /proc. Instances with other names are never touched.
pub fn clean(tracefs: &Tracefs, proc_root: &Path) -> Result<Cleaned> {
    let dir = tracefs.instances();
    let here = fs::metadata(proc_root.join("self/ns/pid")).map(|m| m.ino()).unwrap_or(0);
    let mut cleaned = Cleaned::default();
    for entry in fs::read_dir(&dir).at("listing", &dir)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(owner) = Owner::parse(&name) else { continue };
        if owner.namespace != here {
            let why = format!("made in another container; if that is gone: rmdir {}", entry.path().display());
            cleaned.kept.push((name, why));
        } else if start_time(proc_root, owner.pid) == Some(owner.start) {
            cleaned.kept.push((name, format!("process {} is still recording", owner.pid)));
        } else {
            // One call disables all its events. The kernel refuses while a process has the instance open.
            match fs::remove_dir(entry.path()) {
                Ok(()) => cleaned.removed.push(name),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => cleaned.kept.push((name, e.to_string())),
            }
        }
    }
    cleaned.removed.sort();
    cleaned.kept.sort();
    Ok(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake() -> (tempfile::TempDir, Tracefs, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("t/instances")).unwrap();
        fs::create_dir_all(dir.path().join("proc/self/ns")).unwrap();
        fs::write(dir.path().join("proc/self/ns/pid"), "").unwrap();
        let t = Tracefs::at(dir.path().join("t"));
        let p = dir.path().join("proc");
        (dir, t, p)
    }

    fn process(proc_root: &Path, pid: i32, start: u64) {
        let d = proc_root.join(pid.to_string());
        fs::create_dir_all(&d).unwrap();
        fs::write(
            d.join("stat"),
            format!("{pid} (a ) (b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 1 1"),
        )
        .unwrap();
    }

    #[test]
    fn only_dead_ones_of_ours_are_removed() {
        let (_dir, tracefs, proc_root) = fake();
        let here = fs::metadata(proc_root.join("self/ns/pid")).unwrap().ino();
        process(&proc_root, 10, 500);
        process(&proc_root, 11, 900);
        let make = |n: &str| fs::create_dir(tracefs.instances().join(n)).unwrap();
        let alive = format!("iowhy-10-500-{here}");
        let reused = format!("iowhy-11-500-{here}");
        let dead = format!("iowhy-12-500-{here}");
        let elsewhere = format!("iowhy-12-500-{}", here + 1);
        for n in [&alive, &reused, &dead, &elsewhere] {
            make(n);
        }
        for other in ["mine", "iowhy-12", "iowhy-012-500-1", "iowhy-x-1-1", "trace-cmd-12", "iowhy-12-1-1-1"]
        {
            make(other);
        }
        let cleaned = clean(&tracefs, &proc_root).unwrap();
        assert_eq!(cleaned.removed, [reused, dead]);
        let kept: Vec<_> = cleaned.kept.iter().map(|k| k.0.clone()).collect();
        assert_eq!(kept, [alive, elsewhere]);
        assert_eq!(fs::read_dir(tracefs.instances()).unwrap().count(), 8);
    }

    #[test]
    fn what_the_kernel_refuses_to_remove_is_kept() {
        let (_dir, tracefs, proc_root) = fake();
        let here = fs::metadata(proc_root.join("self/ns/pid")).unwrap().ino();
        let busy = format!("iowhy-12-500-{here}");
        fs::create_dir_all(tracefs.instances().join(&busy).join("in-use")).unwrap();
        let cleaned = clean(&tracefs, &proc_root).unwrap();
        assert_eq!(cleaned.kept[0].0, busy);
        assert!(cleaned.removed.is_empty());
    }

    #[test]
    fn names_come_back() {
        let me = Owner::me().unwrap();
        assert_eq!(Owner::parse(&me.name()), Some(me));
        assert_eq!(start_time(Path::new("/proc"), me.pid), Some(me.start));
    }

    #[test]
    fn stats_are_read() {
        let text = "entries: 5\noverrun: 2\ncommit overrun: 1\nbytes: 100\noldest event ts:  1.0\n\
                    now ts: 2.0\ndropped events: 4\nread events: 7\n";
        assert_eq!(CpuStats::parse(text), CpuStats { events: 12, lost: 7 });
        assert_eq!(CpuStats::parse(""), CpuStats::default());
    }

    #[test]
    fn page_size_from_the_header() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        assert_eq!(page_size(text), Some(4096));
        assert_eq!(page_size("field: char data;\toffset:16;\tsize:18446744073709551615;"), None);
        assert_eq!(page_size(""), None);
    }
}
