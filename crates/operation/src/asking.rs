//! Questions to a recording: whose waits are asked about.

/// Criteria of a question. Among several values of one criterion, any may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A block device.
    Device,
    /// The mount point of a file system.
    Mount,
    /// A task's name.
    Task,
    /// The number of a process or thread.
    Pid,
    /// A control group's path.
    Cgroup,
    /// A kind of operation.
    Op,
    /// A file's path.
    File,
}

impl By {
    /// All criteria.
    pub const ALL: [By; 7] = [By::Device, By::Mount, By::Task, By::Pid, By::Cgroup, By::Op, By::File];

    /// The criterion in words, for messages.
    pub fn words(self) -> &'static str {
        match self {
            By::Device => "device",
            By::Mount => "mount",
            By::Task => "task",
            By::Pid => "process",
            By::Cgroup => "cgroup",
            By::Op => "operation",
            By::File => "file",
        }
    }

    /// Whether something named `name` matches the wanted value. For a file the last components of its path suffice; a
    /// control group includes the groups below it.
    fn is_called(self, name: &str, wanted: &str) -> bool {
        if self == By::Cgroup {
            let below = name.strip_prefix(wanted.trim_end_matches('/'));
            return below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        let wanted = match self {
            By::File => wanted.trim_start_matches("./"),
            _ => wanted,
        };
        let is_end = || name.strip_suffix(wanted).is_some_and(|folders| folders.ends_with('/'));
        name == wanted || self == By::File && !wanted.is_empty() && is_end()
    }

    /// What is missing if a recording has no values for this criterion, for messages.
    pub(crate) fn untold(self) -> &'static str {
        match self {
            By::Mount => "which device is mounted where is not known: no mounts lie beside the recording",
            By::Cgroup => "which control groups tasks were in was not recorded",
            By::File => "no paths of files were recorded for these operations: known are those that were open when the recording began or ended",
            _ => "there are none",
        }
    }
}

/// A question: the wanted values for each [`By`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    wanted: [Vec<String>; By::ALL.len()],
}

impl Asking {
    /// Adds values of which any may match.
    pub fn any_of(mut self, by: By, values: &[String]) -> Asking {
        self.wanted[by as usize].extend_from_slice(values);
        self
    }

    /// Whether there is no criterion, so that everything is asked about.
    pub fn is_all(&self) -> bool {
        self.wanted.iter().all(Vec::is_empty)
    }

    /// Whether the question is about whole devices: it has no criterion that selects tasks or operations.
    pub fn is_of_devices(&self) -> bool {
        let narrow = [By::Task, By::Pid, By::Cgroup, By::Op, By::File];
        narrow.into_iter().all(|by| self.of(by).is_empty())
    }

    /// Whether any of these names matches a wanted value.
    pub(crate) fn wants(&self, by: By, names: &[String]) -> bool {
        names.iter().any(|name| self.of(by).iter().any(|wanted| by.is_called(name, wanted)))
    }

    /// The wanted values of a criterion; empty if there are none.
    pub fn of(&self, by: By) -> &[String] {
        &self.wanted[by as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_the_end_of_its_path() {
        let of = |by, wanted: &str| Asking::default().any_of(by, &[wanted.into()]);
        let is = |wanted: &str| of(By::File, wanted).wants(By::File, &["/data/base/16384/2601".into()]);
        assert!(is("/data/base/16384/2601") && is("2601") && is("16384/2601") && is("./base/16384/2601"));
        assert!(!is("601") && !is("/2601") && !is("") && !is("base"));
        assert!(!of(By::Mount, "data").wants(By::Mount, &["/data".into()]));
    }

    #[test]
    fn a_control_group_has_those_below_it() {
        let of = |wanted: &str| Asking::default().any_of(By::Cgroup, &[wanted.into()]);
        let is = |wanted: &str| of(wanted).wants(By::Cgroup, &["/system.slice/db.service".into()]);
        assert!(is("/system.slice/db.service") && is("/system.slice") && is("/system.slice/") && is("/"));
        assert!(!is("/system") && !is("/system.slice/db.service/worker") && !is("db.service"));
    }
}
