//! `iowhy checkup`.

use crate::failure::Failure;
use crate::stdout::print;
use checkup::{
    compare, Captured, Checkup as Outcome, Confirm, Fio, Length, Place, Plan, Remedy, Setting, Signals, Wish,
};
use clap::Args;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run known problem workloads on a disk and report weaknesses
///
/// THIS LOADS THE DISK that DIR is on, for a minute or ten, with fio. Everything is written in a folder of its own in DIR
/// and removed at the end. As root it records what the kernel does and says why; without, it measures only.
#[derive(Args)]
pub struct Checkup {
    /// A directory on the file system to try; never a device
    #[arg(value_name = "DIR", required_unless_present = "print_jobs")]
    pub dir: Option<PathBuf>,
    /// One minute (the default)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Ten minutes
    #[arg(long)]
    pub full: bool,
    /// Only these scenarios, 1 to 7; the first is always run, others are judged by it
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    pub only: Vec<u8>,
    /// Write no more than this: 500M, 2G [default: 4G, with --full 32G]
    #[arg(long, value_name = "SIZE", value_parser = super::record::bytes)]
    pub write_at_most: Option<u64>,
    /// Run it even on a network file system, in memory, or where it is nearly full
    #[arg(long, alias = "anyway")]
    pub force: bool,
    /// Compare with this result of an earlier checkup
    #[arg(long, value_name = "LAST.json")]
    pub compare: Option<PathBuf>,
    /// File for the result, to keep (schema iowhy.checkup/1) [default: iowhy-checkup-DATE-TIME.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result as a page too: one file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Keep the recordings in this folder, to look at them with the other commands
    #[arg(long, value_name = "FOLDER")]
    pub keep_recordings: Option<PathBuf>,
    /// Print the job files for fio and do nothing
    #[arg(long)]
    pub print_jobs: bool,
    /// At the end, once you confirm: set the first remedy that is a setting of the disk's queue, run its
    /// scenario again, restore the setting
    #[arg(long)]
    pub apply_trial: bool,
    /// Seconds of each step, for tests
    #[arg(long, hide = true)]
    pub seconds: Option<f64>,
}

impl Checkup {
    /// Runs the scenarios, judges them, prints the result and saves it.
    pub fn run(self) -> Result<(), Failure> {
        if self.print_jobs {
            return print(&checkup::job::printed());
        }
        let dir = self.dir.clone().unwrap_or_default();
        let last = self.compare.as_deref().map(read).transpose()?;
        let signals = Signals::catch();
        let place = Place::look(&dir, self.force)?;
        for said in checkup::sweep(&place.dir)? {
            remark!("iowhy: {said}");
        }
        let fio = Fio::find()?;
        let wish = Wish {
            length: if self.full { Length::Full } else { Length::Quick },
            step: self.seconds.map(|s| Duration::from_secs_f64(s.clamp(0.1, 60.0))),
            most_bytes: self.write_at_most,
            only: self.only.clone(),
        };
        let plan = Plan::of(&wish, &place)?;
        let _ = write!(
            std::io::stderr(),
            "{}",
            crate::clean::clean(&checkup::announce(&plan, &place, self.apply_trial))
        );
        let keep = self.keep_recordings.as_deref();
        let mut copied = |c: &Captured| {
            if let Some(folder) = keep {
                let to = folder.join(format!("{}-{}", c.scenario, c.step.replace(' ', "-")));
                copy(c.folder, &to).map_err(|e| format!("{}: {e}", to.display()))?;
            }
            Ok(())
        };
        let mut tell = |words: &str| remark!("iowhy: {words}");
        let outcome = checkup::run(
            &plan,
            &place,
            &fio,
            &signals,
            &mut copied,
            &mut tell,
            self.apply_trial.then_some(&mut confirm as &mut Confirm),
        )?;
        let file = self.output.unwrap_or_else(default_file);
        let json = serde_json::to_string_pretty(&outcome).unwrap_or_default() + "\n";
        std::fs::write(&file, json).map_err(Failure::write(&file.display().to_string()))?;
        let changes = last.as_ref().map(|last| (compare::compare(last, &outcome), last));
        if let Some(page) = self.html {
            let html = checkup::html(&outcome, changes.as_ref().map(|(c, last)| (c, *last)));
            std::fs::write(&page, html).map_err(Failure::write(&page.display().to_string()))?;
        }
        print(&checkup::render(&outcome))?;
        if let Some((changes, last)) = changes {
            print(&compare::render(&changes, last))?;
        }
        remark!("iowhy: all of it is in {}; next time: --compare {}", file.display(), file.display());
        Ok(())
    }
}

/// Asks the user on the terminal before a setting is tried; only `yes` confirms.
fn confirm(remedy: &Remedy, setting: &Setting) -> bool {
    let now = std::fs::read_to_string(&setting.path).unwrap_or_default();
    remark!("iowhy: {} ({})", crate::clean::clean(&remedy.what), remedy.cause);
    remark!(
        "       {} is {}; it would be {} for one scenario",
        setting.path.display(),
        now.trim(),
        setting.value
    );
    let _ = write!(std::io::stderr(), "       try it? Type yes: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}

/// Reads the result of an earlier checkup.
fn read(file: &Path) -> Result<Outcome, Failure> {
    let wrong = |what: String| Failure::Other {
        what,
        help: Some("give the file that an earlier checkup wrote".into()),
    };
    let text = std::fs::read(file).map_err(|e| wrong(format!("{}: {e}", file.display())))?;
    let outcome: Outcome =
        serde_json::from_slice(&text).map_err(|e| wrong(format!("{}: {e}", file.display())))?;
    match outcome.schema.starts_with("iowhy.checkup/1") {
        true => Ok(outcome),
        false => Err(wrong(format!("{} is not a checkup result", file.display()))),
    }
}

/// Copies a recording, whose folder contains only files.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn default_file() -> PathBuf {
    let name = super::record::default_folder().display().to_string();
    format!("{}.json", name.replacen("iowhy-", "iowhy-checkup-", 1)).into()
}

/// What a checkup starts itself as, to become fio: not for people.
#[derive(Args)]
pub struct Load {
    /// Where
    pub folder: PathBuf,
    /// Variables, program, arguments
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

impl Load {
    /// Replaces this process by the load.
    pub fn run(self) -> Result<(), Failure> {
        let e = checkup::become_load(&self.folder, &self.words);
        Err(Failure::Other { what: format!("the load cannot be run: {e}"), help: None })
    }
}

/// What a checkup starts itself as, to restore a setting should it be killed: not for people.
#[derive(Args)]
pub struct Guard {
    /// The journal that says what to restore
    pub journal: PathBuf,
}

impl Guard {
    /// Waits for the end of the process that started it, then restores what the journal says.
    pub fn run(self) -> Result<(), Failure> {
        Ok(checkup::stand_guard(&self.journal)?)
    }
}
