//! Which processes a remedy acts on: those that were recorded under a task's name. If they are unknown, or too many to
//! list, all processes that now have the name; these may include others.

use crate::case::Case;
use crate::remedy::{Action, Acts};
use crate::verdict::Verdict;
use operation::Kind;
use stats::Group;
use trace::{program, program_and_process, works_in_ring_of, Call, Tid};
use units::words::{counted, shell};

/// The most processes that a command lists by number; more are addressed by name.
const MOST: usize = 8;

/// The calls by which a group's task makes data safe: of single files, or of whole file systems if it waited for such a call.
pub(crate) fn syncs(group: &Group) -> &'static str {
    match group.op.map(|op| op.kind) {
        Some(Kind::Call(Call::Sync | Call::Syncfs)) => "sync,syncfs,fsync",
        _ => "fsync,fdatasync,msync",
    }
}

/// Counts how often a group's task syncs; syncs that it submits through io_uring are no system calls (opcode 3 is `IORING_OP_FSYNC`).
pub(crate) fn count_syncs(case: &Case, group: &Group, task: Option<&str>) -> Action {
    let by_ring = task.and_then(works_in_ring_of).is_some();
    match group.op.map(|op| op.kind) {
        kind if by_ring || kind == Some(Kind::RingSync) => {
            Action::look("perf stat -a -e io_uring:io_uring_submit_req --filter 'opcode == 3' sleep 10")
        }
        _ => strace(case, "-fc", syncs(group), task),
    }
}

/// Why the syncs of a task are counted.
pub(crate) fn fewer_syncs(task: &str) -> String {
    format!("count the fsyncs of {task}: one for several writes costs no more than one for one")
}

/// Counts or shows (`options`) a task's system calls, by the name of its threads, including those that begin meanwhile. A task that
/// had ended by the end of the recording is traced from the process that starts it, or started under strace.
pub(crate) fn strace(case: &Case, options: &str, calls: &str, task: Option<&str>) -> Action {
    let who = match task {
        Some(task) if is_over(case, task) => afterwards(task, living_parent(case, task)),
        Some(task) => format!("-p \"$(pgrep -wx {})\"", pattern(task)),
        None => "-p PID".into(),
    };
    Action::look(format!("strace {options} -e {calls} {who}"))
}

/// What strace attaches to if a task had ended: the process that starts it, if that had not ended.
fn afterwards(task: &str, parent: Option<(Tid, &str)>) -> String {
    match parent {
        Some((pid, name)) => format!("-p {}  # {}, which starts {}", pid.0, shell(name), shell(task)),
        None => format!("COMMAND  # {}, which had ended", shell(task)),
    }
}

#[cfg(test)]
#[test]
fn what_had_ended_is_not_looked_for() {
    assert_eq!(afterwards("dd", None), "COMMAND  # dd, which had ended");
    assert_eq!(afterwards("my dd", Some((Tid(7), "bash"))), "-p 7  # bash, which starts 'my dd'");
}

/// Whether all processes of a task had ended before the recording did.
pub(crate) fn is_over(case: &Case, task: &str) -> bool {
    let operations = &case.facts.operations;
    let mut all = operations.processes_of(task).peekable();
    all.peek().is_some() && all.all(|process| operations.has_ended(process))
}

/// The ID of a process of a task that had not ended, or a shell expression that finds one.
pub(crate) fn one_of(case: &Case, task: &str) -> String {
    let operations = &case.facts.operations;
    let living = operations.processes_of(task).find(|process| !operations.has_ended(*process));
    living.map_or_else(|| format!("$(pgrep -ox {})", pattern(task)), |process| process.0.to_string())
}

/// The process that started all processes of a task, unless it had ended.
pub(crate) fn living_parent<'c>(case: &'c Case, task: &str) -> Option<(Tid, &'c str)> {
    parent(case, task).filter(|(pid, _)| !case.facts.operations.has_ended(*pid))
}

/// A task's name as an argument for pgrep, which takes an extended regular expression.
pub(crate) fn pattern(task: &str) -> String {
    let mut words = if task.starts_with('-') { "-- ".to_string() } else { String::new() };
    let escaped = program(task).chars().fold(String::new(), |mut all, c| {
        all.extend(".[]{}()*+?^$|\\".contains(c).then_some('\\'));
        all.push(c);
        all
    });
    words += &shell(&escaped);
    words
}

/// Whether other tasks have the same program name: a command by name would affect them, too.
fn has_namesakes(case: &Case, task: &str) -> bool {
    case.facts.operations.tasks().any(|other| other != task && program(other) == program(task))
}

/// The recording program itself: it ends with the recording.
const RECORDER: &str = "iowhy";
/// PID 1, which starts services and is never paused.
const FIRST: Tid = Tid(1);

/// The processes that a command acts on.
pub(crate) struct Target {
    /// Process IDs: `683`, or a shell expression for them.
    pub pids: String,
    /// A shell comment that follows the command and names the task.
    pub remark: String,
    /// The processes in words.
    pub who: String,
    /// The task, quoted for the shell.
    name: String,
    /// Whether its processes have more than one thread each.
    has_threads: bool,
    /// If the task had ended: the processes to choose from, since others of its name may be unrelated.
    over: Option<String>,
}

impl Target {
    /// The processes of a task; if most of them ended during the recording, their parent, if it is known and had not ended.
    pub fn of(case: &Case, task: &str) -> Target {
        let operations = &case.facts.operations;
        let known: Vec<Tid> = operations.processes_of(task).collect();
        let ended = known.iter().filter(|p| operations.has_ended(**p)).count();
        let has_threads =
            case.facts.threads.get(task).is_some_and(|n| !known.is_empty() && *n > known.len() as u64);
        match living_parent(case, task) {
            // Of commands that are started again and again, the last one may still run.
            Some((pid, name)) if 2 * ended > known.len() => {
                let times = counted(known.len() as u64, "time", "times");
                return Target {
                    pids: pid.0.to_string(),
                    remark: format!("  # {}, which starts {}", shell(name), shell(task)),
                    who: format!("{name}, PID {}, which started {task} {times}, if it still runs", pid.0),
                    name: shell(task),
                    has_threads,
                    over: None,
                };
            }
            _ if known.is_empty() || (ended > 0 || known.len() > MOST) && !has_namesakes(case, task) => {
                let is_over = ended == known.len() && ended > 0;
                return Target {
                    pids: format!("$(pgrep -x {})", pattern(task)),
                    remark: String::new(),
                    who: match is_over {
                        true => format!("{task} when it is started again"),
                        false => format!("{task}, every process of that name"),
                    },
                    name: shell(task),
                    has_threads,
                    over: is_over.then(|| format!("PID  # one of: pgrep -ax {}", pattern(task))),
                };
            }
            _ => {}
        }
        let pids = known.iter().map(|tid| tid.0.to_string()).collect::<Vec<_>>().join(" ");
        let (word, verb) = if known.len() == 1 { ("PID", "runs") } else { ("PIDs", "run") };
        let still = if known.len() == 1 { "it" } else { "they" };
        Target {
            remark: format!("  # {}", shell(task)),
            who: format!("{task}, {word} {}, if {still} still {verb}", pids.replace(' ', ", ")),
            pids,
            name: shell(task),
            has_threads,
            over: None,
        }
    }

    /// Whether the task had ended, and so had the process that starts it.
    pub fn has_ended(&self) -> bool {
        self.over.is_some()
    }

    /// The command that gives the processes an I/O priority, each thread its own (ioprio_set(2)); if they had ended, their next run. `class` is
    /// that of ionice(1): `-c 3` is the idle class.
    pub fn ionice(&self, class: &str) -> String {
        match &self.over {
            Some(_) => format!("ionice {class} COMMAND  # {}", self.name),
            None => format!("ionice {class} -p {}{}", self.threads(), self.remark),
        }
    }

    /// The same for the processes of two tasks.
    pub fn ionice_both(&self, other: &Target, class: &str) -> String {
        match (&self.over, &other.over) {
            (None, None) => format!(
                "ionice {class} -p {} {}  # {}, {}",
                self.threads(),
                other.threads(),
                self.name,
                other.name
            ),
            (Some(_), None) => other.ionice(class),
            (_, Some(_)) => self.ionice(class),
        }
    }

    fn threads(&self) -> String {
        match self.has_threads {
            true => format!("$(ps -Lo lwp= {})", self.pids),
            false => self.pids.clone(),
        }
    }
}

/// Adds a remedy that pauses a task that the victim waits for.
pub(crate) fn pause(v: Verdict, case: &Case, victim: &str, task: &str) -> Verdict {
    stop(v, case, victim, task, "")
}

/// Adds a remedy that pauses a task whose data is written back.
pub(crate) fn pause_writer(v: Verdict, case: &Case, victim: &str, task: &str) -> Verdict {
    stop(v, case, victim, task, ", and what it has written already is written out first")
}

fn stop(v: Verdict, case: &Case, victim: &str, task: &str, but: &str) -> Verdict {
    if let Some(process) = case.facts.operations.process_of_both(task, victim) {
        return of_a_thread(v, case, task, process);
    }
    let (acts, target) = (Acts::Culprit(task.into()), Target::of(case, task));
    if let Some(who) = target.over {
        return v.try_on(
            acts,
            format!(
                "{task} had exited: if it runs again, pause the right one (kill -CONT resumes it): it finishes that \
                     much later{but}"
            ),
            Action::Pause { who, had_ended: true },
        );
    }
    v.try_on(
        acts,
        format!("pause {} (kill -CONT resumes it): it finishes that much later{but}", target.who),
        Action::Pause { who: target.pids + &target.remark, had_ended: false },
    )
}

/// The calls by which a thread reads and writes.
const MOVES: &str = "read,write,pread64,pwrite64,fsync,fdatasync";

/// For a thread of the victim's own process: pausing it would pause the victim, and only its program can set its priority.
pub(crate) fn of_a_thread(v: Verdict, case: &Case, task: &str, process: Tid) -> Verdict {
    let (name, number) = program_and_process(task);
    let thread = number.filter(|thread| *thread != process);
    let id = if name == "mysqld" { "PROCESSLIST_ID" } else { "ID" };
    if let Some(statement) = thread.and_then(|thread| statement_of(name, thread)) {
        return v.try_this(
            format!(
                "{task} is a thread of the same process, {}: see what its connection executes (KILL QUERY and its {id} ends that; no row: none of a connection)",
                process.0
            ),
            Action::look(statement),
        );
    }
    let see = match thread {
        Some(thread) => Action::look(format!("strace -y -e {MOVES} -p {}", thread.0)),
        None => strace(case, "-fy", MOVES, Some(task)),
    };
    v.try_this(
        format!(
            "{task} is a thread of the same process, {}: only its program can have it do less at a time; see what it does",
            process.0
        ),
        see,
    )
}

/// The query that shows what a database's thread executes: by MariaDB's column TID, MySQL's THREAD_OS_ID; `None` for other programs.
fn statement_of(program: &str, thread: Tid) -> Option<String> {
    let n = thread.0;
    match program {
        "mariadbd" => Some(format!(
            "mariadb information_schema -e 'SELECT ID, TIME, INFO FROM PROCESSLIST WHERE TID = {n}'"
        )),
        "mysqld" => {
            Some(format!("mysql performance_schema -e 'SELECT * FROM threads WHERE THREAD_OS_ID = {n}\\G'"))
        }
        _ => None,
    }
}

#[cfg(test)]
#[test]
fn a_database_is_asked_what_its_thread_executes() {
    let of = |program| statement_of(program, Tid(4_194_304)).unwrap_or_default();
    assert!(of("mariadbd").ends_with("FROM PROCESSLIST WHERE TID = 4194304'"));
    assert!(of("mysqld").ends_with("FROM threads WHERE THREAD_OS_ID = 4194304\\G'"));
    assert_eq!(of("mongod"), "");
    // What is quoted is not broken into lines.
    let quoted = ["mariadbd", "mysqld"].map(|program| of(program).split_once('\'').unwrap().1.len());
    assert!(quoted.iter().all(|len| *len < 70), "{quoted:?}");
}

#[cfg(test)]
#[test]
fn a_name_is_no_expression() {
    for (task, word) in [
        ("dd", "dd"),
        ("kworker/u8:1", "kworker/u8:1"),
        ("node.js", "'node\\.js'"),
        (".*", "'\\.\\*'"),
        ("a+b(c", "'a\\+b\\(c'"),
        ("-9", "-- '-9'"),
    ] {
        assert_eq!(pattern(task), word, "{task}");
    }
}

/// The one process that started all processes of a task during the recording, and its name; `None` if there is no such process.
pub(crate) fn parent<'c>(case: &'c Case, task: &str) -> Option<(Tid, &'c str)> {
    let operations = &case.facts.operations;
    let mut all = operations.processes_of(task).map(|process| operations.parent(process));
    let first = all.next()??;
    let is_somebody = first.0 != FIRST && first.1 != RECORDER && first.1 != "?";
    (is_somebody && all.all(|other| other == Some(first))).then_some(first)
}
