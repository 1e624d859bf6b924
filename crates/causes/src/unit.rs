//! The systemd unit or control group that a limit on a task acts on.
//!
//! A limit must not slow the victim. So the unit has all processes of the task and none of the victim; otherwise only a start of the
//! task in a unit of its own (`systemd-run`) can be limited.

use crate::case::Case;
use crate::io_max::Limit;
use crate::target::{is_over, living_parent, one_of};
use trace::Tid;
use units::words::shell;

/// What a limit on a task acts on.
#[derive(Debug, PartialEq)]
pub(crate) enum Unit {
    /// A systemd unit, quoted for the shell.
    Named(String),
    /// A control group that no systemd unit manages: its path, which starts with a slash.
    Group(String),
    /// The unit of a process, if the recording does not name it: the process as a number or a shell expression.
    Of(String),
    /// The task when it is started again: it had ended, or it shares its unit with the victim.
    Next,
}

impl Unit {
    /// A unit that the user has to name.
    pub fn unknown() -> Unit {
        Unit::Named("SERVICE".into())
    }

    /// The unit of a task, without the victim.
    pub fn of(case: &Case, task: &str, victim: &str) -> Unit {
        if task == victim {
            return Unit::unknown();
        }
        let operations = &case.facts.operations;
        let processes: Vec<Tid> = match living_parent(case, task) {
            // Whoever starts it again lives on in the same unit.
            Some((parent, _)) if is_over(case, task) => vec![parent],
            None if is_over(case, task) => return Unit::Next,
            _ => operations.processes_of(task).collect(),
        };
        let groups =
            |of: &[Tid]| of.iter().map(|process| operations.cgroup(*process)).collect::<Option<Vec<_>>>();
        let Some(its) = groups(&processes).filter(|all| !all.is_empty()) else {
            return Unit::Of(match processes[..] {
                [one] => one.0.to_string(),
                _ => one_of(case, task),
            });
        };
        let others = operations.processes_of(victim).filter_map(|process| operations.cgroup(process));
        of_groups(&its, &others.collect::<Vec<_>>())
    }

    /// Whether a running unit is known.
    pub fn is_known(&self) -> bool {
        matches!(self, Unit::Named(_) | Unit::Group(_)) && *self != Unit::unknown()
    }

    /// The beginning of a sentence about a limit: `limit its unit backup.service`.
    pub fn limited(&self, task: &str) -> String {
        match self {
            Unit::Named(unit) => format!("limit its unit {unit}"),
            Unit::Group(path) => format!("limit its control group {path}"),
            Unit::Of(_) => "limit its unit".into(),
            Unit::Next => format!("when {task} is started again, limit it"),
        }
    }

    /// The command that sets a limit for the device `dev`.
    pub fn set(&self, limit: &Limit, dev: &str, task: &str) -> String {
        let properties = limit.properties(dev);
        let unit = match self {
            Unit::Named(unit) => unit.clone(),
            Unit::Of(process) => format!("\"$(ps -o unit= -p {process})\""),
            Unit::Group(path) => {
                let limits = limit.of_group();
                let file = shell(&format!("/sys/fs/cgroup{path}/io.max"));
                return format!("echo \"$(cat /sys/block/{dev}/dev) {limits}\" > {file}");
            }
            Unit::Next => {
                let properties = properties.iter().map(|p| format!("-p {p} ")).collect::<String>();
                return format!("systemd-run --scope {properties}COMMAND  # {}", shell(task));
            }
        };
        format!("systemctl set-property --runtime {unit} {}", properties.join(" "))
    }
}

/// The unit of a task whose processes are in the groups `its`, at least one, while the victim's are in `others`.
fn of_groups(its: &[&str], others: &[&str]) -> Unit {
    let path = unit_of(its[0]).unwrap_or(its[0]);
    let is_below =
        |group: &&str| group.strip_prefix(path).is_some_and(|r| r.is_empty() || r.starts_with('/'));
    if path == "/" || !its.iter().all(&is_below) || others.iter().any(is_below) {
        return Unit::Next;
    }
    match unit_of(its[0]) {
        Some(path) => Unit::Named(shell(path.rsplit('/').next().unwrap_or(path))),
        None => Unit::Group(path.into()),
    }
}

/// The path of the innermost service or scope of the system's systemd; units below a user's own systemd are not the system's.
fn unit_of(group: &str) -> Option<&str> {
    let is_unit = |name: &str| name.ends_with(".service") || name.ends_with(".scope");
    let (mut innermost, mut end) = (None, 0);
    for name in group.split('/') {
        end += name.len();
        if is_unit(name) {
            innermost = Some(&group[..end]);
        }
        if name.starts_with("user@") {
            break;
        }
        end += 1;
    }
    innermost
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKUP: &str = "/system.slice/backup.service";
    const DB: &str = "/system.slice/db.service";

    #[test]
    fn a_unit_is_the_tasks_own() {
        let named = |unit: &str| Unit::Named(unit.into());
        assert_eq!(of_groups(&[BACKUP], &[DB]), named("backup.service"));
        assert_eq!(of_groups(&["/system.slice/backup.service/copy", BACKUP], &[DB]), named("backup.service"));
        assert_eq!(of_groups(&[BACKUP], &["/system.slice/backup.service2"]), named("backup.service"));
        assert_eq!(
            of_groups(&["/kubepods.slice/cri-containerd-1a.scope"], &[DB]),
            named("cri-containerd-1a.scope")
        );
        let desktop = "/user.slice/user-1000.slice/user@1000.service/app.slice/app.scope";
        assert_eq!(of_groups(&[desktop], &[DB]), named("user@1000.service"));
    }

    #[test]
    fn a_unit_that_is_shared_is_not_limited() {
        assert_eq!(of_groups(&[DB], &[DB]), Unit::Next);
        assert_eq!(of_groups(&[DB], &["/system.slice/db.service/workers"]), Unit::Next);
        assert_eq!(of_groups(&[BACKUP, "/user.slice/user-0.slice/session-3.scope"], &[DB]), Unit::Next);
        assert_eq!(of_groups(&["/"], &[DB]), Unit::Next);
    }

    #[test]
    fn each_kind_of_unit_has_its_command() {
        let of = |unit: Unit| unit.set(&Limit::Bytes([5, 6]), "sda", "my dd");
        let properties = "IOReadBandwidthMax=\"/dev/sda 5\" IOWriteBandwidthMax=\"/dev/sda 6\"";
        let set = "systemctl set-property --runtime";
        assert_eq!(of(of_groups(&[BACKUP], &[])), format!("{set} backup.service {properties}"));
        assert_eq!(of(Unit::Of("683".into())), format!("{set} \"$(ps -o unit= -p 683)\" {properties}"));
        assert_eq!(
            of(of_groups(&["/docker/1a"], &[DB])),
            "echo \"$(cat /sys/block/sda/dev) rbps=5 wbps=6\" > /sys/fs/cgroup/docker/1a/io.max"
        );
        assert_eq!(
            of(Unit::Next),
            "systemd-run --scope -p IOReadBandwidthMax=\"/dev/sda 5\" -p IOWriteBandwidthMax=\"/dev/sda 6\" \
             COMMAND  # 'my dd'"
        );
    }
}
