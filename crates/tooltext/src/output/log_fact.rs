//! What a kernel's log says of a device besides its errors.

use super::reading::Setting;
use super::tool_output::ToolOutput;
use evidence::Spot;

/// One kind of such a fact. It is kept as a setting of the log's reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFact {
    /// A disk that a target or a host presents; the value says which.
    Virtual,
    /// The only disk of a port, of ATA or USB.
    DiskOf,
    /// A port whose link had been asleep.
    PowerSaving,
    /// A disk or a host that UAS had to help; the value has the IDs of its USB bridge, if known.
    Uas,
    /// The kind of file system on a device: `XFS`, `ext4`.
    FileSystem,
    /// A disk that has another name by now, which is the value.
    NewName,
}

impl LogFact {
    fn name(self, device: &str) -> String {
        let kind = match self {
            LogFact::Virtual => "virtual",
            LogFact::DiskOf => "disk of",
            LogFact::PowerSaving => "power saving",
            LogFact::Uas => "uas",
            LogFact::FileSystem => "file system",
            LogFact::NewName => "new name",
        };
        format!("{kind} {device}")
    }

    /// The setting that keeps it.
    pub(crate) fn setting(self, device: &str, value: impl Into<String>, at: Spot) -> Setting {
        Setting { name: self.name(device), value: value.into(), at }
    }
}

impl ToolOutput {
    /// The value of a fact about a device, from the first log that has it.
    pub fn log_fact(&self, fact: LogFact, device: &str) -> Option<&str> {
        let name = fact.name(device);
        self.runs.iter().flat_map(|run| run.of("kernel log")).find_map(|reading| reading.setting(&name))
    }
}
