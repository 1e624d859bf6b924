//! Tasks in state D in a listing of ps, or on a screen of top: suspected `hung` if several sleep where the kernel waits for storage or for what others do with it.
//!
//! A listing is one moment, and a task may be in that state for a millisecond: never more than a suspicion. Without the kernel function
//! (`wchan`), or with one that no rule knows ([`Wait`]), the state says nothing of what is waited for: without one, who is in that state is told,
//! and how to see the function.

use super::place::{readings, In};
use super::tasks::listed;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use operation::Wait;
use tooltext::{Reading, Setting, ToolOutput};

const NAME: &str = "hung";
/// A single task may have waited for a moment only.
const LEAST: usize = 2;
/// The most waits that are told.
const MOST: usize = 4;
/// Waits that are no sign of slow storage.
const OTHERS: [Wait; 4] = [Wait::Unknown, Wait::Timer, Wait::Rcu, Wait::Tracing];

/// Tasks that sleep for one reason.
struct Asleep<'a> {
    wait: Wait,
    tasks: Vec<&'a Setting>,
    place: In<'a>,
}

fn listings(outputs: &[ToolOutput]) -> impl Iterator<Item = (In<'_>, &Reading)> {
    readings(outputs, "ps").chain(readings(outputs, "top"))
}

/// Suspected if several tasks in state D are in waits that are known.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut all: Vec<Asleep> = vec![];
    for (place, reading) in listings(outputs) {
        for task in &reading.settings {
            let function = task.value.split(':').next().unwrap_or("");
            let wait = Wait::of_stack(function.strip_prefix("call_").unwrap_or(function));
            if OTHERS.contains(&wait) {
                continue;
            }
            match all.iter_mut().find(|known| known.wait == wait) {
                // The same task in another listing is one task.
                Some(known) if known.tasks.iter().any(|other| other.name == task.name) => {}
                Some(known) => known.tasks.push(task),
                None => all.push(Asleep { wait, tasks: vec![task], place }),
            }
        }
    }
    if all.iter().map(|a| a.tasks.len()).sum::<usize>() < LEAST {
        return without_places(outputs);
    }
    all.sort_by_key(|a| std::cmp::Reverse(a.tasks.len()));
    let missing = "whether they stay there: the same listing some seconds later, and their stacks: echo w > /proc/sysrq-trigger; dmesg";
    let v = Verdict::cannot_tell(NAME, missing);
    let v = all.iter().take(MOST).map(Asleep::told).fold(v, Verdict::because);
    Some(v.try_this(
        "what each blocked task waits for, with its stack",
        Action::look("echo w > /proc/sysrq-trigger; dmesg | tail -500"),
    ))
}

/// The tasks in state D of listings without functions: no suspicion, since each wait for a disk looks so for a moment.
fn without_places(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut all: Vec<(In, &Setting)> = vec![];
    for (place, reading) in listings(outputs) {
        for task in reading.settings.iter().filter(|task| task.value.starts_with(WITHOUT_PLACE)) {
            if all.iter().all(|(_, known)| known.name != task.name) {
                all.push((place, task));
            }
        }
    }
    let (first, task) = all.first().filter(|_| all.len() >= LEAST)?;
    let said = proof!(
        "{tasks} in state D: {names} ({at})",
        tasks = Counted(all.len() as u64, "task is", "tasks are"),
        names = listed(all.iter().map(|(_, task)| command(&task.name))),
        at = Source(first.output.at(task.at).to_string())
    );
    let missing = "what they wait for, and whether they stay there: ps -eo pid,stat,wchan:32,cmd several times, and their stacks: \
                   echo w > /proc/sysrq-trigger; dmesg";
    let v = Verdict::cannot_tell(NAME, missing).because(said);
    Some(v.unless("whoever waits for a disk is in this state for a moment").confirmed_by("iowhy record"))
}

/// How a setting of ps begins that has no function.
const WITHOUT_PLACE: &str = "in state D";

impl Asleep<'_> {
    fn told(&self) -> crate::proof::Proof {
        let commands = self.tasks.iter().map(|task| command(&task.name));
        proof!(
            "{tasks} in state D, waiting for {what}: {names} ({at})",
            tasks = Counted(self.tasks.len() as u64, "task is", "tasks are"),
            what = self.wait.words(),
            names = listed(commands),
            at = Source(self.place.output.at(self.tasks[0].at).to_string())
        )
    }
}

/// The program of a task's command, without its number: `postgres` of `postgres: writer:1234`, `bash` of `/bin/bash a:7`.
fn command(task: &str) -> &str {
    let command = task.rsplit_once(':').map_or(task, |(name, _)| name);
    let program = command.split(' ').next().unwrap_or(command).trim_end_matches(':');
    // Threads of the kernel have a slash as well, but not at the beginning.
    if program.starts_with('/') {
        program.rsplit('/').next().unwrap_or(program)
    } else {
        program
    }
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn said(text: &str) -> Option<String> {
        let all = judge_counters(&[ToolOutput::read("ps", text.as_bytes())]);
        all.into_iter().find(|v| v.cause == "hung").map(|v| v.evidence[0].sentence())
    }

    #[test]
    fn several_tasks_in_a_known_wait_are_suspicious() {
        let heading = "  PID STAT WCHAN                            COMMAND\n";
        let one = " 1234 D    jbd2_log_wait_commit             postgres: writer\n";
        let two = " 1235 D    jbd2_log_wait_commit             postgres: walwriter\n";
        assert_eq!(
            said(&format!("{heading}{one}{two}")).as_deref(),
            Some("2 tasks are in state D, waiting for the journal's commit: postgres (2) (ps:2)")
        );
        assert_eq!(said(&format!("{heading}{one}")), None, "one task may have waited for a moment");
        let unknown = "2770 D my_wait_for_group [my_io/0]\n2771 D my_wait_for_group [my_io/1]\n";
        assert_eq!(said(unknown), None);
        let tasks = " 2726 ?        D      4:38  \\_ [btrfs-transacti]\n  457 ? D 0:00 /bin/bash /opt/check\n  484 ? D 0:00 /bin/bash /opt/check\n";
        let unnamed = format!("  PID TTY      STAT   TIME COMMAND\n{tasks}");
        assert_eq!(
            said(&unnamed).as_deref(),
            Some("3 tasks are in state D: bash (2), btrfs-transacti (ps:2)")
        );
        let places = "root 3377  0.0  0.0  11980  3352 ?        D    Jan24   0:00 blkid -o export\n";
        assert_eq!(said(&places.repeat(3)), None, "it is one task");
    }
}
