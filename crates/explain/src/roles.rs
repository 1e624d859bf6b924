//! The roles of tasks: server, job, recorder.

use capture::Role;
use std::collections::BTreeMap;
use trace::{is_kernel_thread, program};

/// Roles by task name in a redacted copy, which stores them because the names are replaced; `None` for an original recording.
#[derive(Clone, Debug, Default)]
pub struct Roles(pub Option<BTreeMap<String, Role>>);

impl Roles {
    /// The server that a task belongs to, if any. Example: `postgres`; `server` in a redacted copy.
    pub(crate) fn server(&self, task: &str) -> Option<&'static str> {
        let task = program(task);
        match &self.0 {
            Some(told) => {
                matches!(told.get(task), Some(Role::Server | Role::WritesBehind)).then_some("server")
            }
            None => capture::server(task),
        }
    }

    /// Whether a task is a server whose clients hardly wait for its asynchronous writes.
    pub(crate) fn writes_behind(&self, task: &str) -> bool {
        let task = program(task);
        match &self.0 {
            Some(told) => told.get(task) == Some(&Role::WritesBehind),
            None => capture::server(task).is_some_and(capture::writes_behind),
        }
    }

    /// Whether a task is a job, which runs as long as it takes: victims that it delays rank first. Kernel threads are jobs, too.
    pub(crate) fn is_job(&self, task: &str) -> bool {
        let task = program(task);
        let by_name = || capture::is_job(task);
        let is_told = |told: &BTreeMap<String, Role>| told.get(task) == Some(&Role::Job);
        is_kernel_thread(task) || self.0.as_ref().map_or_else(by_name, is_told)
    }

    /// Whether a task is a recorder: it ranks after all other victims. Always false in a redacted copy.
    pub(crate) fn is_recorder(&self, task: &str) -> bool {
        self.0.is_none() && capture::is_recorder(program(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_that_looks_like_a_program_is_none() {
        let told = [("dd", Role::Server), ("qk", Role::Job)].map(|(name, role)| (name.to_string(), role));
        let roles = Roles(Some(told.into()));
        assert_eq!((roles.server("dd"), roles.is_job("dd")), (Some("server"), false));
        assert!(roles.is_job("qk") && roles.is_job("kworker/0:1") && !roles.is_job("tar"));
        assert_eq!(
            (roles.server("postgres"), Roles::default().server("postgres")),
            (None, Some("postgresql"))
        );
        assert!(Roles::default().is_job("tar"));
        let behind = Roles(Some([("x".to_string(), Role::WritesBehind)].into()));
        assert_eq!((behind.server("x"), behind.writes_behind("x")), (Some("server"), true));
        assert!(Roles::default().writes_behind("mariadbd:7") && !roles.writes_behind("dd"));
        let recorder = |roles: &Roles| roles.is_recorder("trace-cmd:812");
        assert!(recorder(&Roles::default()) && !recorder(&roles));
    }
}
