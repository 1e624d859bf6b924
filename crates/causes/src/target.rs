//! Which processes a remedy acts on: those that were recorded under a task's name. Only where they are not known, or too many to be
//! listed, all that are called so now: others may be among these.

use crate::case::Case;
use crate::remedy::Action;
use crate::words::shell;
use trace::Tid;

/// Processes that are listed in a command; more are told by their name.
const MOST: usize = 8;

/// Counts a task's system calls, or shows them (`options`), while it runs: threads by their name, those that begin meanwhile included.
pub(crate) fn strace(options: &str, calls: &str, task: Option<&str>) -> Action {
    let who = match task {
        Some(task) => format!("\"$(pgrep -wx {})\"", shell(task)),
        None => "PID".into(),
    };
    Action::look(format!("strace {options} -e {calls} -p {who}"))
}

/// What a command is given.
pub(crate) struct Target {
    /// Numbers of processes: `683`, or the shell's command for them.
    pub pids: String,
    /// What stands behind the command, so that it says whom it is about.
    pub remark: String,
    /// Who that is, in words.
    pub who: String,
    /// The processes, where they are known.
    pub known: Vec<Tid>,
}

impl Target {
    /// The processes of a task.
    pub fn of(case: &Case, task: &str) -> Target {
        let mut known: Vec<Tid> = case.facts.operations.processes_of(task).take(MOST + 1).collect();
        if known.is_empty() || known.len() > MOST {
            known.clear();
            return Target {
                pids: format!("$(pgrep -x {})", shell(task)),
                remark: String::new(),
                who: format!("{task}, every process of that name"),
                known,
            };
        }
        let pids = known.iter().map(|tid| tid.0.to_string()).collect::<Vec<_>>().join(" ");
        let (word, verb) = if known.len() == 1 { ("PID", "runs") } else { ("PIDs", "run") };
        let still = if known.len() == 1 { "it" } else { "they" };
        Target {
            remark: format!("  # {}", shell(task)),
            who: format!("{task}, {word} {}, if {still} still {verb}", pids.replace(' ', ", ")),
            pids,
            known,
        }
    }

    /// The systemd service that all of them are in, and that another task is not in; nothing where they are not known.
    pub fn service<'c>(&self, case: &'c Case, somebody_else: &str) -> Option<&'c str> {
        let of = |process: &Tid| case.system.processes.cgroup(*process);
        let first = of(self.known.first()?)?;
        let mut others = case.facts.operations.processes_of(somebody_else);
        let alone = self.known.iter().all(|p| of(p) == Some(first)) && others.all(|p| of(&p) != Some(first));
        first.rsplit('/').next().filter(|unit| alone && unit.ends_with(".service"))
    }
}
