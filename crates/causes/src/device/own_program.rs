//! What to do about another process of the victim's own program.

use crate::remedy::Action;
use crate::verdict::Verdict;
use trace::{program, program_and_process, Tid};

/// Adds a look at the process, if the task is another process of the victim's program: what it does says more than its name.
pub(crate) fn see_what_it_does(v: Verdict, task: &str, victim: &str) -> Verdict {
    let Some(process) = other_process(task, victim) else { return v };
    let (number, name) = (process.0, program(task));
    v.try_this(
        format!("see what process {number} of {name} does: PostgreSQL's say so in their title"),
        Action::look(format!("ps -o pid,etime,args -p {number}")),
    )
}

/// Whether a task is another process of the victim's program, by the number in its name.
pub(crate) fn is_another_process(task: &str, victim: &str) -> bool {
    other_process(task, victim).is_some()
}

/// The number of the process, if a task is another process of the victim's program.
fn other_process(task: &str, victim: &str) -> Option<Tid> {
    let (name, process) = program_and_process(task);
    process.filter(|_| name == program(victim))
}

#[cfg(test)]
#[test]
fn only_a_numbered_process_of_the_same_program_is_another_of_it() {
    let of = |task| is_another_process(task, "postgres:812");
    assert_eq!(["postgres:4711", "postgres", "cp:4711"].map(of), [true, false, false]);
}
