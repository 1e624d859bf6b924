//! `iowhy compare`.

use super::style::style;
use crate::clean::clean;
use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::{print, print_json};
use clap::Args;
use explain::compare::{choose, Comparison, Condition, First, RunOf, Tested, Untried};
use explain::{texts, Explanation};
use report::compare;
use std::path::{Path, PathBuf};
use tooltext::ToolOutput;
use trace::similar_words;

/// Compare two recordings or benchmark outputs: one verdict, and each percentile with its range.
#[derive(Args)]
pub struct Compare {
    /// Two recordings, two texts, or one of each; texts with one run each, or FILE:RUN, a run's number from 1 or words of its label; or one
    /// text with two runs. before= and after= say which is which: `output.txt before=2 after=3`
    #[arg(value_name = "BEFORE AFTER", required = true, num_args = 1..=3)]
    pub sides: Vec<String>,
    /// Exit with status 1 if this holds: 'read.p99 > 1.1x' (after is more than 1.1 times before, and not by chance), 'fsync.max > 20ms'
    /// (after alone), 'fsync.p99 > 20ms on /var of postgres' (on a device or mount, of a task); with status 3 if it can
    /// never hold, as neither side has what it names; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// Print one JSON object (schema iowhy.compare/1)
    #[arg(long)]
    pub json: bool,
    /// What of both recordings is compared
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

/// One side of a comparison.
enum Side {
    Recording(PathBuf),
    Text(Box<ToolOutput>, Option<String>),
}

impl Compare {
    /// Reads both sides, prints the comparison, checks the conditions.
    pub fn run(&self) -> Result<(), Failure> {
        let comparison = self.comparison()?;
        if self.json {
            print_json(&compare::json(&comparison))?;
        } else {
            print(&compare::render(&comparison, style()))?;
        }
        self.fail_if.iter().try_for_each(|condition| self.try_one(condition, &comparison))
    }

    /// An error if a condition holds, or cannot be checked.
    fn try_one(&self, condition: &Condition, whole: &Comparison) -> Result<(), Failure> {
        let named;
        let comparison = match (condition.place(), condition.task()) {
            (None, None) => whole,
            _ => {
                named = self.named_by(condition)?;
                &named
            }
        };
        let (what, never) = match condition.test(comparison) {
            Ok(Tested { holds: false, because }) => {
                remark!("iowhy: '{}' does not hold: {}", condition.text(), clean(&because));
                return Ok(());
            }
            Ok(Tested { because, .. }) => (format!("'{}' holds: {because}", condition.text()), false),
            Err(Untried::Here(why)) => (format!("'{}' cannot be checked: {why}", condition.text()), false),
            Err(Untried::Never(why)) => (format!("'{}' can never hold: {why}", condition.text()), true),
        };
        Err(if never { Failure::Never { what, help: None } } else { Failure::Other { what, help: None } })
    }

    /// Compares both recordings again, filtered by the device, mount and task that a condition names.
    fn named_by(&self, condition: &Condition) -> Result<Comparison, Failure> {
        let never = |why: &str, help: Option<String>| Failure::Never {
            what: format!("'{}' can never hold: {why}", condition.text()),
            help,
        };
        let [Side::Recording(before), Side::Recording(after)] = sides(&self.sides)? else {
            return Err(never("only recordings tell devices, mounts and tasks apart", None));
        };
        let question = self
            .question
            .narrowed(condition.place(), condition.task())
            .ok_or_else(|| never("the comparison is about others: see --device, --mount, --task", None))?;
        let explain = |path: &Path| match question.of_recording(path)?.in_order().explain() {
            Ok(explanation) => Ok(Ok(explanation)),
            Err(explain::Error::NotThere(why)) => Ok(Err(why)),
            Err(other) => Err(Failure::from(other)),
        };
        let names = [&before, &after].map(|p| p.display().to_string());
        match (explain(&before)?, explain(&after)?) {
            (Ok(before), Ok(after)) => Ok(Comparison::of_recordings(names, &before, &after)),
            (Ok(before), Err(_)) => Ok(Comparison::of_one(names, &before, 0)),
            (Err(_), Ok(after)) => Ok(Comparison::of_one(names, &after, 1)),
            (Err(why), Err(_)) => Err(never(&why.what, Some(why.there))),
        }
    }

    fn comparison(&self) -> Result<Comparison, Failure> {
        self.question.not_of_the_tail()?;
        let [before, after] = sides(&self.sides)?;
        if matches!((&before, &after), (Side::Text(..), Side::Text(..))) && self.question.is_narrow() {
            return Err(Failure::Usage {
                what: "texts hold totals: they cannot be filtered by device, task, operation or time".into(),
                help: Some("TEXT:RUN chooses one run".into()),
            });
        }
        match (before, after) {
            (Side::Recording(before), Side::Recording(after)) => {
                let names = [&before, &after].map(|p| p.display().to_string());
                let (b, a) = (self.explain(&before)?, self.explain(&after)?);
                Ok(Comparison::of_recordings(names, &b, &a))
            }
            (Side::Text(before, of_before), Side::Text(after, of_after)) => {
                let b = run_of(&before, of_before.as_deref())?;
                let a = run_of(&after, of_after.as_deref())?;
                let [b, a] = [RunOf { output: &before, run: b }, RunOf { output: &after, run: a }];
                Ok(Comparison::of_runs(b, a))
            }
            (Side::Text(output, run), Side::Recording(path)) => {
                self.mixed(&output, run.as_deref(), &path, First::Run)
            }
            (Side::Recording(path), Side::Text(output, run)) => {
                self.mixed(&output, run.as_deref(), &path, First::Recording)
            }
        }
    }

    fn explain(&self, path: &Path) -> Result<Explanation, Failure> {
        Ok(self.question.of_recording(path)?.in_order().explain()?)
    }

    /// Explains a recording for one task only; `None` if the filter excludes this task, or the recording has none with this name.
    fn of_task(&self, path: &Path, task: &str) -> Result<Option<Explanation>, Failure> {
        let Some(question) = self.question.narrowed(None, Some(task)) else { return Ok(None) };
        match question.of_recording(path)?.in_order().explain() {
            Ok(explanation) => Ok(Some(explanation)),
            Err(explain::Error::NotThere(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Compares a text with a recording: what both have. A note names fio's own results beside the recording, if there are any.
    fn mixed(
        &self,
        output: &ToolOutput,
        wanted: Option<&str>,
        path: &Path,
        first: First,
    ) -> Result<Comparison, Failure> {
        let number = run_of(output, wanted)?;
        let run = RunOf { output, run: number };
        let explanation = self.explain(path)?;
        let of_fio = match output.runs[number].of("fio").next() {
            Some(_) if !explanation.facts.operations.is_empty() => self.of_task(path, FIO)?,
            _ => None,
        };
        let name = path.display().to_string();
        let mut comparison =
            Comparison::of_run_and_recording(run, &explanation, of_fio.as_ref(), name, first);
        if of_fio.is_some() {
            comparison.notes.push("fio's rows are compared with what the tasks called fio did".into());
        }
        let fio = |m: &ToolOutput| m.runs.iter().any(|run| run.of("fio").any(|r| !r.rows.is_empty()));
        if let Some(beside) = Some(path)
            .filter(|p| p.is_dir() && fio(output))
            .and_then(|p| texts::in_folder(p).into_iter().find(fio))
            .filter(|beside| beside.file != output.file)
        {
            let (before, after) = match first {
                First::Run => (&output.file, &beside.file),
                First::Recording => (&beside.file, &output.file),
            };
            comparison.notes.push(format!(
                "fio's own results lie beside the recording, which are of the same level: iowhy compare {before} {after}"
            ));
        }
        if comparison.rows.is_empty() {
            return Err(Failure::Other {
                what: format!("{} and {} have nothing in common to compare", output.file, path.display()),
                help: Some(
                    "of texts fio's results and iostat's tables can be compared with a recording".into(),
                ),
            });
        }
        Ok(comparison)
    }
}

/// The name of fio's processes and threads, whatever its jobs are called.
const FIO: &str = "fio";

/// How to give two sides.
const TWO_SIDES: &str = "iowhy compare BEFORE AFTER: two recordings, two texts, or one of each;\n\
of one text with two runs: iowhy compare TEXT before=RUN after=RUN";

/// The two sides, before and after, from the arguments.
fn sides(given: &[String]) -> Result<[Side; 2], Failure> {
    let labelled = |label: &str| given.iter().find_map(|g| g.strip_prefix(label));
    let (before, after) = (labelled("before="), labelled("after="));
    let plain: Vec<&str> = given
        .iter()
        .map(String::as_str)
        .filter(|g| !g.starts_with("before=") && !g.starts_with("after="))
        .collect();
    match (before, after, &plain[..]) {
        (None, None, [before, after]) => Ok([side(before)?, side(after)?]),
        (Some(before), Some(after), []) => Ok([side(before)?, side(after)?]),
        (Some(before), None, [after]) => Ok([side(before)?, side(after)?]),
        (None, Some(after), [before]) => Ok([side(before)?, side(after)?]),
        (Some(before), Some(after), [document]) => {
            let output = text(document)?;
            Ok([
                Side::Text(Box::new(output.clone()), Some(before.into())),
                Side::Text(Box::new(output), Some(after.into())),
            ])
        }
        (None, None, [document]) => {
            let output = alone(document)?;
            let runs = runs(&output);
            let [before, after] = runs[..] else { return Err(several(&output)) };
            let number = |i: usize| Some((i + 1).to_string());
            Ok([
                Side::Text(Box::new(output.clone()), number(before)),
                Side::Text(Box::new(output), number(after)),
            ])
        }
        _ => Err(Failure::Usage {
            what: format!("two sides are needed, and these are none: {}", given.join(" ")),
            help: Some(TWO_SIDES.into()),
        }),
    }
}

/// A text that contains both sides; for anything else, an error says that the second side is missing.
fn alone(path: &str) -> Result<ToolOutput, Failure> {
    texts::read(Path::new(path)).filter(ToolOutput::has_readings).ok_or_else(|| {
        let (what, similar) = match trace::is_there(Path::new(path)) {
            true => ("a second recording or text to compare it with is missing", None),
            false => (
                "no such file or folder, and a second one to compare with is missing",
                similar_words(Path::new(path)),
            ),
        };
        let help = similar.map_or(TWO_SIDES.into(), |similar| format!("{similar}\n{TWO_SIDES}"));
        Failure::Usage { what: format!("{path}: {what}"), help: Some(help) }
    })
}

fn text(path: &str) -> Result<ToolOutput, Failure> {
    if !trace::is_there(Path::new(path)) {
        return Err(explain::Error::from(trace::Error::missing(Path::new(path))).into());
    }
    texts::read(Path::new(path)).filter(ToolOutput::has_readings).ok_or_else(|| Failure::Other {
        what: format!("{path} holds no output of a tool that is recognised"),
        help: Some("two recordings are compared by iowhy compare BEFORE AFTER".into()),
    })
}

/// Reads a side from `PATH`, or from `PATH:RUN` for a run of a text.
fn side(given: &str) -> Result<Side, Failure> {
    let path = Path::new(given);
    if !path.exists() {
        if let Some((file, run)) = given.rsplit_once(':').filter(|(file, _)| Path::new(file).is_file()) {
            return Ok(Side::Text(Box::new(text(file)?), Some(run.into())));
        }
    }
    Ok(match texts::read(path).filter(ToolOutput::has_readings) {
        Some(output) => Side::Text(Box::new(output), None),
        None => Side::Recording(path.into()),
    })
}

/// The indexes of a text's runs that have numbers.
fn runs(output: &ToolOutput) -> Vec<usize> {
    let with_numbers = |i: &usize| output.runs[*i].readings.iter().any(|r| !r.rows.is_empty());
    (0..output.runs.len()).filter(with_numbers).collect()
}

fn run_of(output: &ToolOutput, wanted: Option<&str>) -> Result<usize, Failure> {
    match (wanted, &runs(output)[..]) {
        (Some(wanted), _) => {
            choose(output, wanted).map_err(|what| Failure::Other { what, help: Some(list(output)) })
        }
        (None, [one]) => Ok(*one),
        (None, _) => Err(several(output)),
    }
}

fn several(output: &ToolOutput) -> Failure {
    let number = runs(output).len();
    Failure::Other { what: format!("{} has {number} runs", output.file), help: Some(list(output)) }
}

/// Maximal number of runs that an error lists.
const MOST_LISTED: usize = 20;

fn list(output: &ToolOutput) -> String {
    let one = |i: usize| {
        let label: String = output.runs[i].label.chars().take(60).collect();
        format!("{:>2}  {label}", i + 1)
    };
    let all: Vec<String> = runs(output).into_iter().take(MOST_LISTED).map(one).collect();
    format!(
        "name two: iowhy compare {} before=RUN after=RUN, by number or words of the label:\n       {}",
        output.file,
        all.join("\n       ")
    )
}
