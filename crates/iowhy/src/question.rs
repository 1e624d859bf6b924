//! The filter of a command: whose waits, in which window of time, and whether of all operations or the slowest. The same options
//! belong to every command that analyses waits.

use crate::failure::Failure;
use crate::part::Part;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::Args;
use explain::blame::Which;
use explain::{device_name, names, Asking, By, Input};
use life::Op;
use std::path::Path;

/// The heading of these options in every command's help.
pub const QUESTION: &str = "Filters";

/// Whose waits are asked about, and when. Every option narrows; given several times, any of its values holds.
#[derive(Args, Clone, Default)]
pub struct Question {
    /// Only on this device, by name or major,minor
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Only on the file system mounted here
    #[arg(long, value_name = "FOLDER")]
    pub mount: Vec<String>,
    /// Only of tasks with this name
    #[arg(long, value_name = "NAME")]
    pub task: Vec<String>,
    /// Only of this process or thread
    #[arg(long, value_name = "NUMBER")]
    pub pid: Vec<u32>,
    /// Only of processes in this control group or below it, by its path: /system.slice/db.service
    #[arg(long, value_name = "PATH")]
    pub cgroup: Vec<String>,
    /// Only these operations: read, write, fsync (through libaio and io_uring, too), page-fault, journal-commit, writeback, ...; of requests: read, write,
    /// flush, discard, passthrough
    #[arg(long, value_name = "OP", ignore_case = true, hide_possible_values = true, value_parser = PossibleValuesParser::new(operations()).map(|op| op.to_lowercase()))]
    pub op: Vec<String>,
    /// Only on this file, by its path or the end of it: base/16384/2601
    #[arg(long, value_name = "PATH")]
    pub file: Vec<String>,
    /// Only this span of time
    #[command(flatten)]
    pub part: Part,
    /// Ask about all operations (the default)
    #[arg(long, conflicts_with = "tail")]
    pub for_all: bool,
    /// Ask about the slowest 1 % of each victim's operations
    #[arg(long)]
    pub tail: bool,
}

impl Question {
    /// The filter by device, mount, task, process, control group, operation and file.
    pub fn asking(&self) -> Asking {
        let devices: Vec<String> = self.device.iter().map(|name| device_name(name)).collect();
        // Shells complete a mount with a slash at its end.
        let mounts: Vec<String> = self.mount.iter().map(|name| without_slash(name).to_string()).collect();
        let pids: Vec<String> = self.pid.iter().map(u32::to_string).collect();
        Asking::default()
            .any_of(By::Device, &devices)
            .any_of(By::Mount, &mounts)
            .any_of(By::Task, &self.task)
            .any_of(By::Pid, &pids)
            .any_of(By::Cgroup, &self.cgroup)
            .any_of(By::Op, &self.op)
            .any_of(By::File, &self.file)
    }

    /// The same question, only for this device or mount and this task; `None` if the question excludes them.
    pub fn narrowed(&self, place: Option<&str>, task: Option<&str>) -> Option<Question> {
        let mut narrow = self.clone();
        if let Some(place) = place {
            let is_mount = place.starts_with('/') && !place.starts_with("/dev/");
            only(if is_mount { &mut narrow.mount } else { &mut narrow.device }, place)?;
        }
        task.map_or(Some(()), |task| only(&mut narrow.task, task))?;
        Some(narrow)
    }

    /// Whether it covers less than the whole recording.
    pub fn is_narrow(&self) -> bool {
        !self.asking().is_all() || self.part.window.is_some()
    }

    /// Which operations it is about: all, or each victim's slowest.
    pub fn which(&self) -> Which {
        match self.tail {
            true => Which::Slowest,
            false => Which::All,
        }
    }

    /// Applies the question to an input.
    pub fn of<'a>(&self, input: Input<'a>) -> Input<'a> {
        input.window(self.part.window).asks(self.asking()).which(self.which())
    }

    /// Opens a recording and applies the question.
    pub fn of_recording<'a>(&self, path: &Path) -> Result<Input<'a>, Failure> {
        Ok(self.of(Input::recording(path)?))
    }

    /// An error if anything but a window of time is given, for formats that cannot be filtered; `why` says why.
    pub fn only_a_part(&self, why: &str) -> Result<(), Failure> {
        let given: Vec<String> = By::ALL
            .into_iter()
            .filter(|by| !self.asking().of(*by).is_empty())
            .map(|by| format!("--{}", option(by)))
            .chain(self.tail.then(|| "--tail".to_string()))
            .collect();
        match given.is_empty() {
            true => Ok(()),
            false => Err(Failure::Usage {
                what: format!("{} does not apply here: {why}", given.join(", ")),
                help: Some("--window does".into()),
            }),
        }
    }

    /// An error if --tail is given where every percentile is shown anyway.
    pub fn not_of_the_tail(&self) -> Result<(), Failure> {
        match self.tail {
            false => Ok(()),
            true => Err(Failure::Usage {
                what: "--tail does not apply here: every percentile is shown, the slowest included".into(),
                help: Some("iowhy explain --tail CAPTURE says what the slowest 1 % waited for".into()),
            }),
        }
    }
}

/// Removes slashes at the end of a mount: `/data/` becomes `/data`; `/` stays.
fn without_slash(mount: &str) -> &str {
    match mount.trim_end_matches('/') {
        "" => mount,
        path => path,
    }
}

/// Restricts alternatives to one value; `None` if it is not among them. No values mean any.
fn only(values: &mut Vec<String>, wanted: &str) -> Option<()> {
    let has = values.is_empty() || values.iter().any(|v| v == wanted);
    *values = vec![wanted.to_string()];
    has.then_some(())
}

fn option(by: By) -> &'static str {
    match by {
        By::Device => "device",
        By::Mount => "mount",
        By::Task => "task",
        By::Pid => "pid",
        By::Cgroup => "cgroup",
        By::Op => "op",
        By::File => "file",
    }
}

/// The operation of requests with this name, if there is one.
pub fn request_op(name: &str) -> Option<Op> {
    Op::ALL.into_iter().find(|o| o.name() == name)
}

/// The names of operations and requests, each once.
fn operations() -> Vec<String> {
    let requests = Op::ALL.into_iter().map(Op::name).filter(|o| names::no_operation_is_called(o));
    names::all_names().chain(requests.map(str::to_string)).collect()
}
