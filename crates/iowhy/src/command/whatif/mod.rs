//! `iowhy whatif`.

mod without;

use crate::command::style::style;
use crate::failure::Failure;
use crate::part::Part;
use crate::stdout::{print, print_json};
use clap::Args;
use explain::{device_name, Arrivals, Asking, By, Fitting, Input};
use report::what_if::{self, Supposed};
use std::path::PathBuf;
use whatif::predict::{Cell, Lab};
use whatif::question::{alternatives, assignment, stretch, Set, Sweep, Word};
use whatif::schedule::Schedule;
use whatif::settings::Settings;
use whatif::simulate::Work;
use whatif::suggest::{suggest, Aim};

const WHAT_IT_DOES: &str = "--without and --alone assume that operations delayed by the removed I/O would be like those \
     it did not delay; where these are too few, the time attributed to it is subtracted from each operation. With \
     settings, the recorded requests are replayed through a model of scheduler and device, fitted to give the \
     recorded times under the recorded settings. Where that fails, or models that fit equally well disagree, it \
     prints a reason instead of a prediction. p99.9 and the maximum are never predicted. docs/what-if.md shows how \
     often predictions came true.";

/// Predict latencies without a task, or under another setting of the I/O scheduler, or say why that is not possible.
#[derive(Args)]
#[command(after_help = WHAT_IT_DOES)]
pub struct WhatIf {
    /// A folder with a recording (iowhy record), NAME (for NAME.blktrace.0, .1, ...), or a file
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Latencies without these, separated by commas: tasks, control groups (/backup.slice), others' I/O of a kind
    /// (reads, writes, writeback, discards, journal); or `flushes`: if a flush took no time
    #[arg(long, value_name = "WHO", conflicts_with_all = ["set", "sweep", "suggest", "schedule", "explain_load"])]
    pub without: Option<String>,
    /// Latencies of this task with no other task there
    #[arg(long, value_name = "TASK", conflicts_with_all = ["without", "set", "sweep", "suggest", "schedule", "explain_load"])]
    pub alone: Option<String>,
    /// A setting to predict, named as in sysfs: read_expire=200, scheduler=none; several are set together, unless `or`
    /// stands between them: fifo_batch=4 or scheduler=none
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub set: Vec<Word>,
    /// A setting during the recording, where the recording does not have it: scheduler=mq-deadline
    #[arg(long, value_name = "NAME=VALUE", num_args = 1.., value_parser = assignment)]
    pub was: Vec<(String, String)>,
    /// Predict for values of one setting in a range: read_expire=50..1000
    #[arg(long, value_name = "NAME=FROM..TO", conflicts_with = "set")]
    pub sweep: Option<Sweep>,
    /// Search mq-deadline's settings for the aim; print the commands, and what they would slow down
    #[arg(long, requires = "aim", conflicts_with_all = ["set", "sweep"])]
    pub suggest: bool,
    /// The aim: 'read.p99 < 20ms'; of read, sync-write, writeback; p50 or p99
    #[arg(long, value_name = "AIM", requires = "suggest")]
    pub aim: Option<Aim>,
    /// By which factor other classes may become slower
    #[arg(long, alias = "harm", value_name = "FACTOR", default_value_t = 2.0, requires = "suggest")]
    pub max_regression: f64,
    /// Which device, where none has nine of ten requests: sda, 8:0
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Show the order of requests to the device in a span, recorded and simulated, with --set or as recorded;
    /// FROM-TO in seconds since the first event, as 12.3-12.9
    #[arg(long, value_name = "FROM-TO", value_parser = stretch, conflicts_with_all = ["sweep", "suggest", "explain_load"])]
    pub schedule: Option<std::ops::Range<u64>>,
    /// Show the streams found in the load, with the evidence; predict nothing
    #[arg(long)]
    pub explain_load: bool,
    /// Keep the amount of work fixed, not the duration
    #[arg(long)]
    pub fixed_work: bool,
    /// Seed of the random numbers: the same seed gives the same answer
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The part of the recording that is used
    #[command(flatten)]
    pub part: Part,
    /// Print one JSON object (schema iowhy.whatif/1)
    #[arg(long)]
    pub json: bool,
}

impl WhatIf {
    /// Answers one question about the recording.
    pub fn run(&self) -> Result<(), Failure> {
        if let Some(question) = without::Question::of(self.without.as_deref(), self.alone.as_deref()) {
            let devices: Vec<String> = self.device.iter().map(|name| device_name(name)).collect();
            let asking = Asking::default().any_of(By::Device, &devices);
            let open = || Ok(Input::recording(&self.capture)?.window(self.part.window).asks(asking.clone()));
            return question.answer(open, self.json);
        }
        if self.set.is_empty()
            && self.sweep.is_none()
            && self.schedule.is_none()
            && !self.suggest
            && !self.explain_load
        {
            return Err(usage(
                "no question is given".into(),
                "give a setting, --set read_expire=200, or what to take away, --without cp; or --alone, \
                 --sweep, --suggest, --schedule, --explain-load",
            ));
        }
        let arrivals = Arrivals::read(Input::recording(&self.capture)?.window(self.part.window))?;
        let asked_of = arrivals.of(self.device.as_deref())?;
        let (name, recorded) = (&asked_of.name, &asked_of.recorded);
        if self.explain_load {
            let load = whatif::load::infer(recorded);
            return match self.json {
                true => print_json(&Supposed::load(name, &load, recorded)),
                false => print(&what_if::load(name, &load)),
            };
        }
        let settings = arrivals.settings(asked_of, &self.was).map_err(|why| {
            refused(why, "say how it was set: --was scheduler=mq-deadline nr_requests=256 ...")
        })?;
        // The question is checked before the device is fitted, which takes seconds.
        let sets = self.alternatives()?;
        let asked = sets
            .iter()
            .map(|set| settings.with(set))
            .collect::<Result<Vec<_>, String>>()
            .map_err(|why| usage(why, "see iowhy whatif --help"))?;
        let swept = self.swept(&settings)?;
        let order = self.schedule.as_ref().map(|s| Schedule::recorded(recorded, arrivals.began, s));
        let order = order.transpose().map_err(|why| {
            refused(why, "choose a stretch in which requests went to the device (iowhy events shows them)")
        })?;
        let work = if self.fixed_work { Work::Amount } else { Work::Time };
        let bar = Fitting::begin();
        let lab = Lab::new(recorded, settings, work, self.seed, &|part| bar.at(part));
        bar.end();
        let lab = lab.map_err(|why| refused(why, "no prediction can be made from this recording"))?;
        if let Some(Sweep { key, .. }) = &self.sweep {
            let rows: Vec<(u64, Vec<Cell>)> = swept.iter().map(|(v, s)| (*v, lab.predict(s))).collect();
            return match self.json {
                true => print_json(&Supposed::swept(name, key, &rows)),
                false => print(&what_if::sweep(name, key, &rows, style().width)),
            };
        }
        if let Some(aim) = &self.aim {
            return self.suggest(aim, name, &lab);
        }
        if let Some(order) = order {
            let order = order
                .simulated(&lab, &asked[0])
                .map_err(|why| refused(why, "no prediction can be made from this recording"))?;
            return match self.json {
                true => print_json(&Supposed::schedule(name, &sets[0], &order)),
                false => print(&what_if::schedule(name, &sets[0], &order)),
            };
        }
        let told: Vec<Vec<Cell>> = asked.iter().map(|settings| lab.predict(settings)).collect();
        self.tell(name, &lab, &sets, &told)
    }

    /// The settings that a sweep tries, each with its value.
    fn swept(&self, settings: &Settings) -> Result<Vec<(u64, Settings)>, Failure> {
        let Some(sweep) = &self.sweep else { return Ok(Vec::new()) };
        let one = |v: u64| Ok((v, settings.with(&[(sweep.key.clone(), v.to_string())])?));
        let all = sweep.values().into_iter().map(one).collect::<Result<Vec<_>, String>>();
        all.map_err(|why| usage(why, "see iowhy whatif --help"))
    }

    fn suggest(&self, aim: &Aim, name: &str, lab: &Lab) -> Result<(), Failure> {
        let found =
            suggest(lab, aim, self.max_regression).map_err(|why| refused(why, "no command is suggested"))?;
        match self.json {
            true => print_json(&Supposed::suggested(name, &found)),
            false => print(&what_if::suggested(name, &found, lab, style().width)),
        }
    }

    /// Prints the prediction for each alternative.
    fn tell(&self, name: &str, lab: &Lab, sets: &[Set], told: &[Vec<Cell>]) -> Result<(), Failure> {
        let each = sets.iter().zip(told);
        if self.json {
            let mut all: Vec<Supposed> =
                each.map(|(set, cells)| Supposed::predicted(name, set, lab, cells)).collect();
            return match all.len() {
                1 => print_json(&all.remove(0)),
                _ => print_json(&Supposed::alternatives(name, all)),
            };
        }
        let width = style().width;
        let all: Vec<String> =
            each.map(|(set, cells)| what_if::predicted(name, set, lab, cells, width)).collect();
        print(&all.join("\n"))
    }

    /// The alternatives for --set, each with its settings.
    fn alternatives(&self) -> Result<Vec<Set>, Failure> {
        let all = alternatives(&self.set);
        match all.len() {
            0 => Err(usage(
                "`or` stands between two settings".into(),
                "as in --set fifo_batch=4 or scheduler=none",
            )),
            1 => Ok(all),
            _ if self.schedule.is_some() => Err(usage(
                "--schedule shows one order".into(),
                "set one alternative, or none for the order as it was",
            )),
            _ => Ok(all),
        }
    }
}

fn refused(what: String, help: &str) -> Failure {
    Failure::Other { what, help: Some(help.into()) }
}

fn usage(what: String, help: &str) -> Failure {
    Failure::Usage { what, help: Some(help.into()) }
}
