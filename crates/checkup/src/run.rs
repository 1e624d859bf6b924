//! Runs a checkup from start to end.
//!
//! All checks that may refuse it come before anything is written. Then the checkup's folder is created; whatever
//! happens after that, dropping it removes the folder.

use crate::error::{Error, Result};
use crate::fio::Fio;
use crate::home::{Home, JOURNAL};
use crate::judge;
use crate::lay::{lay, Laid};
use crate::load::Load;
use crate::other_users::other_users;
use crate::output;
use crate::place::Place;
use crate::plan::Plan;
use crate::processors::Watch;
use crate::result::{Checkup, Found, Remedy, Scenario, Step, Trial};
use crate::scenario;
use crate::settings::Setting;
use crate::signals::Signals;
use crate::surroundings::{begin, recorder, remark};
use crate::trial::{setting_of, Tried};
use crate::variables::variables;
use explain::{Explanation, Input};
use record::Host;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use units::words;

/// The name of the data file in the job files.
const DATA: &str = "data";

/// The recording of a step, before it is removed.
#[derive(Debug)]
pub struct Captured<'a> {
    /// The number of the scenario.
    pub scenario: u8,
    /// The name of the step.
    pub step: &'a str,
    /// The folder of the recording.
    pub folder: &'a Path,
}

/// Called with each recording before it is explained and removed, to keep a copy.
pub type Keep<'a> = dyn FnMut(&Captured) -> std::result::Result<(), String> + 'a;

/// Asks whether the setting of a remedy may be tried.
pub type Confirm<'a> = dyn FnMut(&Remedy, &Setting) -> bool + 'a;

/// Runs a plan in a place. `keep` gets each recording, `tell` each message about the progress. With
/// `confirm`, the setting of a remedy is tried at the end if it returns true.
pub fn run(
    plan: &Plan,
    place: &Place,
    fio: &Fio,
    signals: &Signals,
    keep: &mut Keep,
    tell: &mut dyn FnMut(&str),
    confirm: Option<&mut Confirm>,
) -> Result<Checkup> {
    let began = Instant::now();
    let mut checkup = begin(plan, place, fio);
    let host = recorder(place, &mut checkup);
    let home = Home::make(&place.dir)?;
    tell(&format!("writing a data file of up to {}", words::bytes(plan.size)));
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
        beside: Duration::ZERO,
        laid,
    };
    for s in &plan.scenarios {
        tell(&format!("{} {}: {}", s.number, s.name, s.about));
        let scenario = runner.scenario(s, &mut checkup, keep)?;
        checkup.scenarios.push(scenario);
    }
    checkup.remedies = judge::remedies(&checkup.scenarios);
    if let Some(confirm) = confirm {
        match runner.trial(&mut checkup, keep, tell, confirm)? {
            Some(trial) => checkup.trial = Some(trial),
            None => tell("no setting was tried: no remedy could be, or none was confirmed"),
        }
    }
    checkup.seconds = began.elapsed().as_secs_f64();
    Ok(checkup)
}

struct Runner<'a> {
    plan: &'a Plan,
    fio: &'a Fio,
    signals: &'a Signals,
    home: &'a Home,
    host: Option<&'a Host>,
    place: &'a Place,
    began: Instant,
    /// Since `began`: nothing is started that would end later.
    until: Duration,
    /// Longest time so far of a step beside its load: starting fio and the recording, explaining it.
    beside: Duration,
    laid: Laid,
}

impl Runner<'_> {
    fn scenario(
        &mut self,
        s: &scenario::Scenario,
        checkup: &mut Checkup,
        keep: &mut Keep,
    ) -> Result<Scenario> {
        let mut scenario =
            Scenario { number: s.number, name: s.name.into(), about: s.about.into(), ..Scenario::default() };
        let mut ended = false;
        for step in s.steps {
            let done = if ended {
                let trouble = Some("not run: the load before it did not end by itself".to_string());
                Step { name: step.name.into(), job: step.job.into(), trouble, ..Step::default() }
            } else {
                self.step(s.number, step, checkup, keep, &mut ended)?
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

    /// Tries the first remedy that is a setting of the disk, if confirmed, while its scenario is run again.
    fn trial(
        &mut self,
        checkup: &mut Checkup,
        keep: &mut Keep,
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
        // The scenario takes as long as before, whatever time is left.
        self.until = Duration::MAX;
        let name =
            setting.path.file_name().map(|n| format!("queue/{}", n.to_string_lossy())).unwrap_or_default();
        let known = checkup.settings.insert(name.clone(), setting.value.clone());
        let scenario = self.scenario(s, checkup, keep)?;
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
        keep: &mut Keep,
        ended: &mut bool,
    ) -> Result<Step> {
        let mut done = Step { name: step.name.into(), job: step.job.into(), ..Step::default() };
        if self.signals.came() {
            return Err(Error::Interrupted);
        }
        let time = self.plan.time_of(step) * scenario::jobs_in_turn(step.job);
        let begun = Instant::now();
        if self.began.elapsed() + time + self.beside > self.until {
            done.trouble = Some("not run: the time limit was reached".into());
            return Ok(done);
        }
        done.variables = variables(step, self.plan, &self.laid, &checkup.probe.floor);
        let record = self.host.zip(self.place.device.as_deref()).filter(|_| step.recorded);
        let load = Load {
            fio: self.fio,
            text: crate::job::text(step.job).unwrap_or_default(),
            variables: &done.variables,
            time,
            interval: output::interval(self.plan.time_of(step)),
            most_bytes: step.writes * self.laid.size,
            wrote: AtomicU64::new(0),
            record,
        };
        let processors = Watch::begin();
        let loaded = load.run(self.home, self.signals)?;
        done.processors = Some(processors.end());
        *ended = loaded.ended;
        done.measured = loaded.measured;
        done.trouble = loaded.trouble;
        checkup.written_bytes += loaded.written;
        if let Some(why) = loaded.not_recorded {
            checkup.recorded = false;
            let said = format!("not recorded: {why}");
            if !checkup.not_seen.contains(&said) {
                checkup.not_seen.push(said);
            }
        }
        if let Some(folder) = loaded.capture {
            let kept = keep(&Captured { scenario, step: step.name, folder: &folder });
            match kept.and_then(|()| explained(&folder)) {
                Ok(explanation) => {
                    done.recorded = true;
                    done.causes = causes_of(&explanation);
                    done.other_users = other_users(&explanation.facts);
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
        self.beside = self.beside.max(begun.elapsed().saturating_sub(time));
        Ok(done)
    }
}

fn explained(folder: &Path) -> std::result::Result<Explanation, String> {
    Input::recording(folder).and_then(Input::explain).map_err(|e| e.to_string())
}

/// The causes found in a recording, each with proofs and remedies.
fn causes_of(e: &Explanation) -> Vec<Found> {
    let found = e.verdicts.iter().filter(|v| v.verdict == causes::Answer::Found);
    found
        .map(|v| Found {
            cause: v.cause.into(),
            title: causes::all().iter().find(|c| c.name == v.cause).map_or(v.cause, |c| c.title).into(),
            share: v.share,
            confidence: v
                .confidence
                .and_then(|c| serde_json::to_value(c).ok()?.as_str().map(str::to_string))
                .unwrap_or_default(),
            evidence: v.evidence.iter().map(causes::Proof::sentence).collect(),
            remedies: v
                .remedies
                .iter()
                .map(|r| Remedy {
                    what: r.what.clone(),
                    command: r.command(),
                    action: Some(r.action.clone()),
                    ..Remedy::default()
                })
                .collect(),
        })
        .collect()
}
