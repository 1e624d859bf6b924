//! Recognises programs by task names: shells, supervisors, and process ids that names carry to tell jobs apart.

use crate::kernel_thread::is_kernel_thread;
use units::Tid;

/// Shells, by the name that the kernel stores (`comm`).
const SHELLS: [&str; 6] = ["bash", "dash", "sh", "zsh", "ksh", "fish"];

/// Programs that start services, containers, scheduled jobs and logins, independent of each other.
const SUPERVISORS: [&str; 19] = [
    "systemd",
    "init",
    "runsv",
    "s6-supervise",
    "supervisord",
    "containerd-shim",
    "conmon",
    "runc",
    "dockerd",
    "cron",
    "crond",
    "atd",
    "anacron",
    "sshd",
    "sshd-session",
    "login",
    "screen",
    "tmux: server",
    "gnome-terminal-",
];

/// Whether a task of this name starts services, containers, scheduled jobs or logins: two of its children are two jobs, even with equal names.
pub fn is_supervisor(name: &str) -> bool {
    SUPERVISORS.contains(&name)
}

/// Whether a task of this name starts unrelated programs: a common parent of this name says nothing about how two tasks are related.
pub fn starts_all_kinds(name: &str) -> bool {
    SHELLS.contains(&name) || is_supervisor(name)
}

/// Splits a task's name into its program and the process id that tells it from others: `dd:4711` is `dd`, process 4711.
pub fn program_and_process(task: &str) -> (&str, Option<Tid>) {
    let parts = task.rsplit_once(':').filter(|(name, _)| !name.is_empty() && !is_kernel_thread(task));
    match parts.and_then(|(name, pid)| Some((name, pid.parse().ok()?))) {
        Some((name, pid)) => (name, Some(Tid(pid))),
        None => (task, None),
    }
}

/// The program of a task, without the process id: `dd` for `dd:4711`.
pub fn program(task: &str) -> &str {
    program_and_process(task).0
}

#[cfg(test)]
#[test]
fn a_process_is_no_part_of_a_program() {
    let names = ["dd:4711", "dd", "tmux: server", "kworker/0:1", "a:b:7", ":7", "dd:"];
    assert_eq!(names.map(program), ["dd", "dd", "tmux: server", "kworker/0:1", "a:b", ":7", "dd:"]);
    assert_eq!(program_and_process("dd:4711"), ("dd", Some(Tid(4711))));
}
