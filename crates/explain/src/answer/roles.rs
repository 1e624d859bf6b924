//! What the tasks of a recording are to their users.

use capture::Role;
use std::collections::BTreeMap;
use trace::{is_kernel_thread, program};

/// By their names; in a redacted copy, where these are stand-ins, as it says itself.
#[derive(Clone, Debug, Default)]
pub struct Roles(pub Option<BTreeMap<String, Role>>);

impl Roles {
    /// What server a task belongs to.
    pub(crate) fn server(&self, task: &str) -> Option<&'static str> {
        let task = program(task);
        match &self.0 {
            Some(told) => {
                matches!(told.get(task), Some(Role::Server | Role::WritesBehind)).then_some("server")
            }
            None => capture::server(task),
        }
    }

    /// Whether it is a server whose clients hardly wait for what it writes asynchronously.
    pub(crate) fn writes_behind(&self, task: &str) -> bool {
        let task = program(task);
        match &self.0 {
            Some(told) => told.get(task) == Some(&Role::WritesBehind),
            None => capture::server(task).is_some_and(capture::writes_behind),
        }
    }

    /// Whether it runs as long as it runs: another that is delayed by it is asked about first. So do kernel threads.
    pub(crate) fn is_job(&self, task: &str) -> bool {
        let task = program(task);
        let by_name = || capture::is_job(task);
        let is_told = |told: &BTreeMap<String, Role>| told.get(task) == Some(&Role::Job);
        is_kernel_thread(task) || self.0.as_ref().map_or_else(by_name, is_told)
    }

    /// Whether it records what others do, and is no victim where there is another.
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
