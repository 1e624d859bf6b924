//! What is to be done about a task of the victim's own program: another process of it, or another thread of the same process.

use crate::case::Case;
use crate::remedy::Action;
use crate::target::strace;
use crate::verdict::Verdict;
use trace::{program, program_and_process, Tid};

/// Where a task is another process of the victim's program: what it does says more than its name.
pub(crate) fn see_what_it_does(v: Verdict, task: &str, victim: &str) -> Verdict {
    let Some(process) = other_process(task, victim) else { return v };
    let (number, name) = (process.0, program(task));
    v.try_this(
        format!("see what process {number} of {name} does: PostgreSQL's say so in their title"),
        Action::look(format!("ps -o pid,etime,args -p {number}")),
    )
}

/// Whether it is.
pub(crate) fn is_another_process(task: &str, victim: &str) -> bool {
    other_process(task, victim).is_some()
}

/// The process by which a task is told from the one that waits for it, of the same program.
fn other_process(task: &str, victim: &str) -> Option<Tid> {
    let (name, process) = program_and_process(task);
    process.filter(|_| name == program(victim))
}

/// A thread of the victim's own process: what would stop it stops the victim, and its priority is its program's to set.
pub(crate) fn of_a_thread(v: Verdict, case: &Case, task: &str, process: Tid) -> Verdict {
    let number = process.0;
    v.try_this(
        format!("{task} is a thread of the same process, {number}: only its program can have it do less at a time; see what it does"),
        strace(case, "-fy", "read,write,pread64,pwrite64,fsync,fdatasync", Some(task)),
    )
}
