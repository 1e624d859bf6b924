//! A checkup from beginning to end.
//!
//! Everything that can be refused is refused before anything is written. Then our own folder is made, and whatever
//! happens from there on, dropping it removes it.

use crate::error::{Error, Result};
use crate::fio::Fio;
use crate::home::{Home, JOURNAL};
use crate::judge;
use crate::lay::{lay, Laid};
use crate::load::Load;
use crate::place::Place;
use crate::plan::Plan;
use crate::result::{Checkup, Found, Remedy, Scenario, Step, SCHEMA};
use crate::scenario::{self, Rate};
use crate::settings::Setting;
use crate::trial::{setting_of, Trial, Tried};
use record::{Host, Snapshot};
use report::Explanation;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The data file's name in the job files.
const DATA: &str = "data";
/// Part of the disk that a writer beside others takes: it leaves two thirds.
const BESIDE: f64 = 0.3;
/// As a busy log grows.
const LOG: u64 = 2 << 20;
/// Part of what one reader at a time could read.
const READERS: f64 = 0.3;
/// As many readers as the job files have, which share that.
const READERS_AT_ONCE: f64 = 4.0;
/// Part of a second (or of a shorter step) whose buffered data are written out at once: the kernel writes out in bursts,
/// by its usual settings every 5 s (vm.dirty_writeback_centisecs).
const BURST: f64 = 0.5;
/// More reads a second measure nothing more.
const MOST_READS: f64 = 500.0;

/// SIGINT, SIGTERM and SIGHUP from now on.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Catches them: they end a checkup, and all is removed.
    pub fn catch() -> Signals {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // Can fail for forbidden signals only, which these are not.
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        Signals(flag)
    }

    /// Whether one has come.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A recording of a step, before it is removed.
#[derive(Debug)]
pub struct Captured<'a> {
    /// The scenario's number.
    pub scenario: u8,
    /// The step's name.
    pub step: &'a str,
    /// The folder.
    pub folder: &'a Path,
}

/// Says why a recording is slow.
pub type Explain<'a> = dyn FnMut(&Captured) -> std::result::Result<Explanation, String> + 'a;

/// Asks whether a remedy's setting may be tried.
pub type Confirm<'a> = dyn FnMut(&Remedy, &Setting) -> bool + 'a;

/// Runs a plan in a place. `explain` says why a recording is slow; `tell` hears how it goes. With
/// `confirm` a remedy's setting is tried in the end, if it says yes.
pub fn run(
    plan: &Plan,
    place: &Place,
    fio: &Fio,
    signals: &Signals,
    explain: &mut Explain,
    tell: &mut dyn FnMut(&str),
    confirm: Option<&mut Confirm>,
) -> Result<Checkup> {
    let began = Instant::now();
    let mut checkup = begin(plan, place, fio);
    let host = recorder(place, &mut checkup);
    let home = Home::make(&place.dir)?;
    tell(&format!("laying a data file of up to {}", crate::units::bytes(plan.size)));
    let laid = lay(&home.file(DATA), plan.size, plan.lay, signals)?;
    checkup.written_bytes = laid.size;
    (checkup.probe.size, checkup.probe.write_bytes_per_second) = (laid.size, laid.bandwidth);
    let mut runner = Runner {
        plan,
        fio,
        signals,
        home: &home,
        host: host.as_ref(),
        place,
        began,
        until: plan.most_time,
        laid,
    };
    for s in &plan.scenarios {
        tell(&format!("{} {}: {}", s.number, s.name, s.about));
        let scenario = runner.scenario(s, &mut checkup, explain)?;
        checkup.scenarios.push(scenario);
    }
    checkup.remedies = judge::remedies(&checkup.scenarios);
    if let Some(confirm) = confirm {
        match runner.trial(&mut checkup, explain, tell, confirm)? {
            Some(trial) => checkup.trial = Some(trial),
            None => tell("no setting was tried: no remedy is one that may be, or it was not confirmed"),
        }
    }
    checkup.seconds = began.elapsed().as_secs_f64();
    Ok(checkup)
}

fn begin(plan: &Plan, place: &Place, fio: &Fio) -> Checkup {
    let now = Snapshot::take(Path::new("/sys"), Path::new("/proc"));
    let mut settings = BTreeMap::new();
    if let Some(disk) = place.disk.as_ref().and_then(|d| now.disks.get(d)) {
        settings.extend(disk.queue.iter().map(|(k, v)| (format!("queue/{k}"), v.clone())));
        settings.extend(
            disk.device
                .iter()
                .filter(|(k, _)| !k.contains("cnt"))
                .map(|(k, v)| (format!("device/{k}"), v.clone())),
        );
        settings.extend(
            disk.md
                .iter()
                .filter(|(k, _)| {
                    ["level", "chunk_size", "raid_disks", "stripe_cache_size"].contains(&k.as_str())
                })
                .map(|(k, v)| (format!("md/{k}"), v.clone())),
        );
    }
    settings.extend(
        now.vm.iter().filter(|(k, _)| k.starts_with("dirty")).map(|(k, v)| (format!("vm/{k}"), v.clone())),
    );
    Checkup {
        schema: SCHEMA.into(),
        when: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        iowhy: env!("CARGO_PKG_VERSION").into(),
        kernel: now.kernel.release.clone(),
        fio: fio.version.clone(),
        place: place.clone(),
        settings,
        recorded: true,
        most_bytes: plan.most_bytes,
        ..Checkup::default()
    }
}

/// The recorder's host, or why there is none.
fn recorder(place: &Place, checkup: &mut Checkup) -> Option<Host> {
    let why = if !nix::unistd::geteuid().is_root() {
        "recording needs root: only what fio and /proc tell was seen, not why; run it with sudo".to_string()
    } else if place.device.is_none() {
        format!("{} is on no block device of this machine: only what fio tells was seen", place.dir.display())
    } else {
        match Host::here() {
            Ok(host) => return Some(host),
            Err(e) => format!("nothing was recorded, only what fio tells was seen: {e}"),
        }
    };
    checkup.recorded = false;
    checkup.not_seen.push(why);
    None
}

/// What the settings say of a scenario.
fn remark(s: &mut Scenario, c: &Checkup) {
    let get = |name: &str| c.settings.get(&format!("queue/{name}"));
    match s.number {
        2 => s.remarks.push(match get("wbt_lat_usec").map(String::as_str) {
            None => "writeback throttling: this kernel or disk has none that can be read".into(),
            Some("0") => "writeback throttling is off (wbt_lat_usec 0)".into(),
            Some(us) => format!("writeback throttling is on (wbt_lat_usec {us}); it was not changed"),
        }),
        3 => s.remarks.extend(get("stable_writes").map(|v| {
            format!(
                "the disk {} stable pages (stable_writes {v})",
                if v == "1" { "asks for" } else { "does not ask for" }
            )
        })),
        4 => {
            let words: Vec<String> = ["max_sectors_kb", "max_hw_sectors_kb", "optimal_io_size"]
                .iter()
                .filter_map(|n| Some(format!("{n} {}", get(n)?)))
                .collect();
            if !words.is_empty() {
                s.remarks.push(words.join(", "));
            }
        }
        _ => {}
    }
}

struct Runner<'a> {
    plan: &'a Plan,
    fio: &'a Fio,
    signals: &'a Signals,
    home: &'a Home,
    host: Option<&'a Host>,
    place: &'a Place,
    began: Instant,
    /// Since then; nothing is begun that would end later.
    until: Duration,
    laid: Laid,
}

impl Runner<'_> {
    fn scenario(
        &mut self,
        s: &scenario::Scenario,
        checkup: &mut Checkup,
        explain: &mut Explain,
    ) -> Result<Scenario> {
        let mut scenario =
            Scenario { number: s.number, name: s.name.into(), about: s.about.into(), ..Scenario::default() };
        let mut ended = false;
        for step in s.steps {
            let done = if ended {
                let trouble = Some("not run: the load before it did not end by itself".to_string());
                Step { name: step.name.into(), job: step.job.into(), trouble, ..Step::default() }
            } else {
                self.step(s.number, step, checkup, explain, &mut ended)?
            };
            scenario.steps.push(done);
        }
        if s.number == 1 {
            judge::probe(&scenario, &mut checkup.probe);
        }
        remark(&mut scenario, checkup);
        judge::judge(&mut scenario, &checkup.probe, checkup.place.disk.as_deref(), &checkup.settings);
        Ok(scenario)
    }

    /// Tries the first remedy that is a setting of the disk, once confirmed, for the length of its scenario.
    fn trial(
        &mut self,
        checkup: &mut Checkup,
        explain: &mut Explain,
        tell: &mut dyn FnMut(&str),
        confirm: &mut Confirm,
    ) -> Result<Option<Trial>> {
        let disk = self.place.disk.as_deref().unwrap_or_default();
        let first = checkup.remedies.iter().find_map(|r| Some((r.clone(), setting_of(r, disk)?)));
        let Some((remedy, setting)) = first else { return Ok(None) };
        let Some(s) = scenario::ALL.iter().find(|s| s.number == remedy.scenario) else { return Ok(None) };
        let of = checkup.scenarios.iter().filter(|c| c.number == s.number).flat_map(|c| &c.findings);
        let Some(finding) =
            of.filter(|f| f.causes.contains(&remedy.cause)).max_by_key(|f| f.measured_ns).cloned()
        else {
            return Ok(None);
        };
        if !confirm(&remedy, &setting) {
            return Ok(None);
        }
        let tried = Tried::set(&setting, self.home.file(JOURNAL))?;
        tell(&format!(
            "{} is {} instead of {} now; {} {} again",
            setting.path.display(),
            setting.value,
            tried.was,
            s.number,
            s.name
        ));
        // As long as the scenario took before, whatever time is left.
        self.until = Duration::MAX;
        let name =
            setting.path.file_name().map(|n| format!("queue/{}", n.to_string_lossy())).unwrap_or_default();
        let known = checkup.settings.insert(name.clone(), setting.value.clone());
        let scenario = self.scenario(s, checkup, explain)?;
        checkup.settings.extend(known.map(|v| (name, v)));
        let was = tried.was.clone();
        tried.restore()?;
        tell(&format!("{} is {was} again", setting.path.display()));
        let helped = scenario.findings.iter().all(|f| (&f.name, &f.step) != (&finding.name, &finding.step));
        Ok(Some(Trial {
            remedy,
            setting: setting.path,
            was,
            tried: setting.value,
            finding: finding.name,
            before_ns: finding.measured_ns,
            scenario,
            helped,
        }))
    }

    fn step(
        &mut self,
        scenario: u8,
        step: &scenario::Step,
        checkup: &mut Checkup,
        explain: &mut Explain,
        ended: &mut bool,
    ) -> Result<Step> {
        let mut done = Step { name: step.name.into(), job: step.job.into(), ..Step::default() };
        if self.signals.came() {
            return Err(Error::Interrupted);
        }
        let time = self.plan.time_of(step) * scenario::jobs_in_turn(step.job);
        if self.began.elapsed() + time > self.until {
            done.trouble = Some("not run: the time was up".into());
            return Ok(done);
        }
        done.variables = self.variables(step, checkup);
        let record = self.host.zip(self.place.device.as_deref()).filter(|_| step.recorded);
        let load = Load {
            fio: self.fio,
            text: crate::job::text(step.job).unwrap_or_default(),
            variables: &done.variables,
            time,
            most_bytes: step.writes * self.laid.size,
            record,
        };
        let loaded = load.run(self.home, self.signals)?;
        *ended = loaded.ended;
        done.measured = loaded.measured;
        done.trouble = loaded.trouble;
        checkup.written_bytes +=
            done.measured.iter().filter(|m| m.op == "write").map(|m| m.bytes).sum::<u64>();
        if let Some(why) = loaded.not_recorded {
            checkup.recorded = false;
            let said = format!("not recorded: {why}");
            if !checkup.not_seen.contains(&said) {
                checkup.not_seen.push(said);
            }
        }
        if let Some(folder) = loaded.capture {
            match explain(&Captured { scenario, step: step.name, folder: &folder }) {
                Ok(explanation) => {
                    done.recorded = true;
                    done.causes = causes_of(&explanation);
                    let lost = explanation.subject.quality.lost_total();
                    if lost > 0 {
                        checkup
                            .not_seen
                            .push(format!("{} / {}: {lost} events were lost", scenario, step.name));
                    }
                }
                Err(why) => checkup
                    .not_seen
                    .push(format!("{} / {}: the recording could not be read: {why}", scenario, step.name)),
            }
        }
        self.home.tidy(&[DATA]);
        Ok(done)
    }

    fn variables(&self, step: &scenario::Step, checkup: &Checkup) -> BTreeMap<String, String> {
        let text = crate::job::text(step.job).unwrap_or_default();
        let time = self.plan.time_of(step);
        let size = self.laid.size;
        let floor = checkup.probe.floor.p50_ns.max(1) as f64;
        let reads = (READERS * 1e9 / floor).clamp(1.0, MOST_READS);
        let fair = (BESIDE * self.laid.bandwidth as f64) as u64;
        let rate = match step.rate {
            Rate::None => 0,
            // It lasts as long as the step, however fast the disk is.
            Rate::Beside => fair.min((size as f64 / time.as_secs_f64()) as u64).max(1 << 20),
            Rate::Log => fair.clamp(64 << 10, LOG),
        };
        // Rounded down to whole pages.
        let most = match step.job {
            "appends.fio" => (rate as f64 * time.as_secs_f64() * 1.5) as u64,
            _ => size / u64::from(step.many),
        };
        let all = [
            ("SIZE", size.to_string()),
            ("TIME", format!("{}ms", time.max(Duration::from_millis(50)).as_millis())),
            ("DEPTH", step.many.to_string()),
            ("THREADS", step.many.to_string()),
            ("IOPS", format!("{:.0}", (reads / READERS_AT_ONCE).max(1.0))),
            ("BURST", ((rate as f64 * time.as_secs_f64().min(1.0) * BURST) as u64 >> 20).max(1).to_string()),
            ("RATE", rate.to_string()),
            ("MOST", (most.min(size).max(4096) >> 12 << 12).to_string()),
            ("FEW", (size / 4).to_string()),
        ];
        all.into_iter()
            .filter(|(name, _)| text.contains(&format!("${{{name}}}")))
            .map(|(n, v)| (n.to_string(), v))
            .collect()
    }
}

/// The causes found in a recording.
fn causes_of(e: &Explanation) -> Vec<Found> {
    let found = e.verdicts.iter().filter(|v| v.verdict == causes::Answer::Found);
    found
        .map(|v| Found {
            cause: v.cause.into(),
            title: causes::all().iter().find(|c| c.name() == v.cause).map_or(v.cause, |c| c.title()).into(),
            share: v.share,
            confidence: v
                .confidence
                .and_then(|c| serde_json::to_value(c).ok()?.as_str().map(str::to_string))
                .unwrap_or_default(),
            evidence: v.evidence.clone(),
            remedies: v
                .remedies
                .iter()
                .map(|r| Remedy { what: r.what.clone(), command: r.command.clone(), ..Remedy::default() })
                .collect(),
        })
        .collect()
}
