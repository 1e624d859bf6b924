//! One run of fio, recorded if possible, and ended if it does not end by itself.
//!
//! This program starts itself with a hidden command ([`become_load`]): that process makes a process group, asks the kernel to be
//! killed when its parent dies (PR_SET_PDEATHSIG, which outlives exec), changes to the checkup's folder and becomes fio. All
//! jobs are its threads. A watchdog ends the group if it takes longer or writes more than allowed, or if a signal came.

use crate::error::{Error, Result};
use crate::fio::Fio;
use crate::home::Home;
use crate::output::results;
use crate::result::Measured;
use crate::signals::Signals;
use record::{At, Detail, Host, Output, Stop};
use rustix::process::{kill_process_group, set_parent_process_death_signal, setpgid, Pid, Signal};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use units::words;

/// The hidden command that starts this program as fio.
const HIDDEN: &str = "checkup-load";
/// The interval at which the watchdog checks the load.
const LOOK: Duration = Duration::from_millis(25);
/// The time that fio has to write its result after SIGINT, before it is killed.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Bytes that a load may write beyond its limit: the block that was begun, fio's own files.
const SLACK: u64 = 8 << 20;

const PID: &str = "load.pid";
const JOB: &str = "job.fio";
const RESULT: &str = "fio.json";
const SAID: &str = "fio.txt";
/// The name of the recording's folder.
const CAPTURE: &str = "capture";

/// A load to run.
pub struct Load<'a> {
    /// The program.
    pub fio: &'a Fio,
    /// The text of the job file.
    pub text: &'a str,
    /// The values of `${NAME}` in the job file.
    pub variables: &'a BTreeMap<String, String>,
    /// The time that it should take.
    pub time: Duration,
    /// The interval at which fio reports what it has measured so far.
    pub interval: Duration,
    /// The number of bytes that it may write.
    pub most_bytes: u64,
    /// The number of bytes that it wrote, as seen by the watchdog.
    pub wrote: AtomicU64,
    /// The host that records, and the device; `None`: no recording.
    pub record: Option<(&'a Host, &'a str)>,
}

/// The outcome of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The measurements of each job; empty without a result.
    pub measured: Vec<Measured>,
    /// The folder of the recording; `None` if it was not recorded.
    pub capture: Option<PathBuf>,
    /// What went wrong; `None` if nothing did.
    pub trouble: Option<String>,
    /// Whether it did not end by itself.
    pub ended: bool,
    /// Number of bytes that it wrote, as counted by fio, or by the kernel if fio was ended.
    pub written: u64,
    /// Why it was not recorded although it should have been.
    pub not_recorded: Option<String>,
}

/// Becomes the load; returns only if that failed, with the reason. `words` are `NAME=VALUE`s, the program and its
/// arguments.
pub fn become_load(folder: &Path, words: &[OsString]) -> io::Error {
    let prepare = || -> io::Result<Command> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        setpgid(None, None)?;
        std::env::set_current_dir(folder)?;
        let is_variable = |w: &&OsString| w.to_str().is_some_and(|w| w.contains('=') && !w.contains('/'));
        let variables = words.iter().take_while(is_variable).count();
        let Some(program) = words.get(variables) else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(&words[variables + 1..]).stdin(std::process::Stdio::null());
        for variable in words[..variables].iter().filter_map(|w| w.to_str()) {
            let (name, value) = variable.split_once('=').unwrap_or_default();
            command.env(name, value);
        }
        let said = File::create(SAID)?;
        command.stdout(said.try_clone()?).stderr(said);
        fs::write(PID, std::process::id().to_string())?;
        Ok(command)
    };
    match prepare() {
        Ok(mut command) => command.exec(),
        Err(e) => e,
    }
}

impl Load<'_> {
    /// Runs the load. Fails only if it could not be started, or a signal came.
    pub fn run(&self, home: &Home, signals: &Signals) -> Result<Loaded> {
        let job = home.file(JOB);
        fs::write(&job, self.text).at("writing a job file", &job)?;
        let mut loaded = Loaded::default();
        let mut ended = None;
        if let Some((host, device)) = self.record {
            match self.recorded(home, signals, host, device)? {
                Ok((capture, why)) => (loaded.capture, ended) = (capture, Some(why)),
                Err(why) => loaded.not_recorded = Some(why),
            }
        }
        let why = match ended {
            Some(why) => why,
            None => self.plain(home, signals)?,
        };
        if signals.came() {
            return Err(Error::Interrupted);
        }
        loaded.ended = why.is_some();
        loaded.written = self.wrote.load(Ordering::Relaxed);
        match results(&home.file(RESULT)) {
            Ok(measured) => {
                loaded.trouble = why.or_else(|| {
                    measured
                        .iter()
                        .find_map(|m| Some(format!("fio's job {} ended: {}", m.job, m.error.as_ref()?)))
                });
                let by_fio = measured.iter().filter(|m| m.op == "write").map(|m| m.bytes).sum();
                loaded.written = if loaded.ended { loaded.written.max(by_fio) } else { by_fio };
                loaded.measured = measured;
            }
            Err(e) => loaded.trouble = Some(why.unwrap_or_else(|| said(home, e))),
        }
        Ok(loaded)
    }

    fn words(&self, home: &Home) -> Result<Vec<OsString>> {
        let me = std::env::current_exe().at("finding this program", Path::new("/proc/self/exe"))?;
        let mut words: Vec<OsString> = vec![me.into(), HIDDEN.into(), home.path().into(), "--".into()];
        words.extend(self.variables.iter().map(|(name, value)| format!("{name}={value}").into()));
        words.push(self.fio.path.clone().into());
        words.push(format!("--status-interval={}ms", self.interval.as_millis()).into());
        words.extend(["--output-format=json+", "--output", RESULT, JOB].map(OsString::from));
        Ok(words)
    }

    /// Runs the load with a recording. Returns its folder, and why the load was ended; or why nothing was recorded or run.
    #[allow(clippy::type_complexity)]
    fn recorded(
        &self,
        home: &Home,
        signals: &Signals,
        host: &Host,
        device: &str,
    ) -> Result<std::result::Result<(Option<PathBuf>, Option<String>), String>> {
        let plan = record::Plan {
            detail: Detail::Path,
            devices: vec![device.to_string()],
            buffer_kib: None,
            output: Output::Folder(home.file(CAPTURE)),
            stop: Stop::Command(self.words(home)?),
        };
        let (outcome, why) = self.watched(home, signals, || record::record(host, &plan, &mut |_| {}));
        match outcome {
            Ok(recorded) => {
                let died = recorded.capture.exit_status.and_then(died);
                Ok(Ok((recorded.folder, why.or(died))))
            }
            // The load ran; only the recording could not be finished.
            Err(e) if home.file(RESULT).exists() => {
                Ok(Ok((None, why.or(Some(format!("the recording failed: {e}"))))))
            }
            Err(_) if signals.came() => Err(Error::Interrupted),
            Err(e) => Ok(Err(e.to_string())),
        }
    }

    /// Runs the load without a recording. Returns why it was ended; `None` if it ended by itself.
    fn plain(&self, home: &Home, signals: &Signals) -> Result<Option<String>> {
        let words = self.words(home)?;
        let (outcome, why) =
            self.watched(home, signals, || Command::new(&words[0]).args(&words[1..]).status());
        let status = outcome.at("starting", Path::new(&words[0]))?;
        Ok(why.or_else(|| died(128 + status.signal()?)))
    }

    /// Calls `run` while the watchdog watches. Returns its result, and why the watchdog ended the load.
    fn watched<T>(&self, home: &Home, signals: &Signals, run: impl FnOnce() -> T) -> (T, Option<String>) {
        let (over, why) = (AtomicBool::new(false), Mutex::new(None));
        self.wrote.store(0, Ordering::Relaxed);
        let _ = fs::remove_file(home.file(PID));
        let out = std::thread::scope(|scope| {
            scope.spawn(|| self.watch(home, signals, &over, &why));
            let out = run();
            over.store(true, Ordering::Relaxed);
            out
        });
        (out, why.into_inner().unwrap_or_default())
    }

    fn watch(&self, home: &Home, signals: &Signals, over: &AtomicBool, why: &Mutex<Option<String>>) {
        // The time begins when the load starts: setting up a recording takes a moment.
        let (mut began, most_time) = (None, self.time + self.fio.grace);
        let mut asked: Option<Instant> = None;
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            let pid = fs::read_to_string(home.file(PID)).ok().and_then(|t| t.parse::<i32>().ok());
            let Some((pid, group)) = pid.filter(|p| *p > 1).and_then(|p| Some((p, Pid::from_raw(p)?))) else {
                continue;
            };
            let began = *began.get_or_insert_with(Instant::now);
            let wrote = written(pid).unwrap_or(0);
            self.wrote.fetch_max(wrote, Ordering::Relaxed);
            let reason = if signals.came() {
                Some("a signal came".to_string())
            } else if began.elapsed() > most_time {
                let limit = humantime::format_duration(Duration::from_secs(most_time.as_secs()));
                Some(format!("the load did not end within {limit} and was killed"))
            } else {
                (wrote > self.most_bytes + SLACK).then(|| {
                    format!("the load wrote {}, more than its limit, and was killed", words::bytes(wrote))
                })
            };
            match (reason, asked) {
                (None, _) => {}
                (Some(reason), None) => {
                    why.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(reason);
                    let _ = kill_process_group(group, Signal::INT);
                    asked = Some(Instant::now());
                }
                (Some(_), Some(when)) if when.elapsed() > LAST_WORDS => {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                _ => {}
            }
        }
    }
}

/// Why fio died, from its exit status: as in shells, 128 plus the number of the signal that killed it.
fn died(status: i32) -> Option<String> {
    (status > 128).then(|| format!("fio was killed by signal {}", status - 128))
}

/// Number of bytes that a process has written so far (`/proc/PID/io`, proc(5)), into the page cache or past it.
fn written(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    text.lines().find_map(|l| l.strip_prefix("write_bytes:")?.trim().parse().ok())
}

/// Appends the first line that fio printed, if there is one.
fn said(home: &Home, otherwise: String) -> String {
    let text = fs::read_to_string(home.file(SAID)).unwrap_or_default();
    match text.lines().map(str::trim).find(|l| !l.is_empty()) {
        Some(line) => format!("{otherwise}; it printed: {}", line.chars().take(200).collect::<String>()),
        None => otherwise,
    }
}
