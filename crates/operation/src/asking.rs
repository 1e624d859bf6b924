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

    /// What is missing, where a recording has none.
    pub(crate) fn untold(self) -> &'static str {
        match self {
            By::Mount => "which device is mounted where is not known: no mounts lie beside the recording",
            By::Cgroup => "which control groups tasks were in was not recorded",
            By::File => "no paths of files were recorded for these operations",
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

    /// The values asked for.
    pub fn of(&self, by: By) -> &[String] {
        &self.wanted[by as usize]
    }
}
