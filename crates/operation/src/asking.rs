//! What can be asked of a recording: whose waits.

/// What can be asked for; of several values of one, any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A block device.
    Device,
    /// Where a file system is mounted.
    Mount,
    /// A task's name.
    Task,
    /// A process's or thread's number.
    Pid,
    /// A control group's path.
    Cgroup,
    /// A kind of operation.
    Op,
    /// A file's path.
    File,
}

impl By {
    /// All of them.
    pub const ALL: [By; 7] = [By::Device, By::Mount, By::Task, By::Pid, By::Cgroup, By::Op, By::File];

    /// What it is called.
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

    /// Whether something called so is what is asked for. Of a file the last names of its path are enough; a control group has those
    /// below it.
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

    /// What is missing, where a recording has none.
    pub(crate) fn untold(self) -> &'static str {
        match self {
            By::Mount => "which device is mounted where is not known: no mounts lie beside the recording",
            By::Cgroup => "which control groups tasks were in was not recorded",
            By::File => "no paths of files were recorded for these operations: known are those that were open when the recording began or ended",
            _ => "there are none",
        }
    }
}

/// What is asked for, of each [`By`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    wanted: [Vec<String>; By::ALL.len()],
}

impl Asking {
    /// Asks for any of these values.
    pub fn any_of(mut self, by: By, values: &[String]) -> Asking {
        self.wanted[by as usize].extend_from_slice(values);
        self
    }

    /// Whether everything is asked about.
    pub fn is_all(&self) -> bool {
        self.wanted.iter().all(Vec::is_empty)
    }

    /// Whether devices are asked about as a whole: by nothing that tells tasks or operations apart.
    pub fn is_of_devices(&self) -> bool {
        let narrow = [By::Task, By::Pid, By::Cgroup, By::Op, By::File];
        narrow.into_iter().all(|by| self.of(by).is_empty())
    }

    /// Whether something with these names is asked for.
    pub(crate) fn wants(&self, by: By, names: &[String]) -> bool {
        names.iter().any(|name| self.of(by).iter().any(|wanted| by.is_called(name, wanted)))
    }

    /// The values asked for.
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
