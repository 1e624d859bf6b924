//! Tries a remedy's setting for the length of one scenario, and restores it, killed or not.
//!
//! Only settings of the disk's queue that lose no data and come back as they were ([`settings::may_change`]); what
//! changes the whole machine or the safety of data is left to a person.

use crate::error::Result;
use crate::guard::Guard;
use crate::result::{Remedy, Scenario};
use crate::settings::{self, Setting};
use causes::Action;
use record::At;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What was tried, and what came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Trial {
    /// The remedy.
    pub remedy: Remedy,
    /// The setting's file.
    pub setting: PathBuf,
    /// The value before, restored afterwards.
    pub was: String,
    /// What was tried.
    pub tried: String,
    /// The finding.
    pub finding: String,
    /// What had been measured of it.
    pub before_ns: u64,
    /// The scenario again, with the setting.
    pub scenario: Scenario,
    /// Whether the finding is gone.
    pub helped: bool,
}

/// The setting that a remedy changes, if it is one that may be tried on this disk.
pub fn setting_of(remedy: &Remedy, disk: &str) -> Option<Setting> {
    let Some(Action::Set { dev, file, to }) = &remedy.action else { return None };
    let path = Path::new("/sys/block").join(dev).join(file);
    let plain = !to.is_empty() && to.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let of_queue = dev == disk && file.starts_with("queue/");
    (plain && of_queue && settings::may_change(&path)).then(|| Setting { path, value: to.clone() })
}

/// A setting that is tried as long as this value lives.
#[derive(Debug)]
pub struct Tried {
    journal: PathBuf,
    /// Restores it if this process cannot. Ends last: fields are dropped in their order, after [`Drop::drop`].
    _guard: Guard,
    /// What it was.
    pub was: String,
}

impl Tried {
    /// Writes down what to restore, then sets it.
    pub fn set(setting: &Setting, journal: PathBuf) -> Result<Tried> {
        let was = settings::current(&setting.path)?;
        settings::note(&journal, &Setting { path: setting.path.clone(), value: was.clone() })?;
        let guard = Guard::start(&journal)?;
        // From here on it is restored, also if the write fails half-way.
        let tried = Tried { journal, _guard: guard, was };
        fs::write(&setting.path, &setting.value).at("trying a setting", &setting.path)?;
        Ok(tried)
    }

    /// Restores it, and says if that failed.
    pub fn restore(self) -> Result<()> {
        settings::restore(&self.journal).map(|_| ())
    }
}

impl Drop for Tried {
    fn drop(&mut self) {
        // Restored already, there is no journal any more.
        if let Err(e) = settings::restore(&self.journal) {
            let _ = writeln!(std::io::stderr(), "iowhy: {e}; set it by hand to {}", self.was);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_remedies_can_be_tried() {
        let of = |action| setting_of(&Remedy { action: Some(action), ..Remedy::default() }, "sda");
        let good = of(Action::set("sda", "queue/wbt_lat_usec", 2000)).unwrap();
        assert_eq!(
            (good.value.as_str(), good.path.to_str().unwrap()),
            ("2000", "/sys/block/sda/queue/wbt_lat_usec")
        );
        for bad in [
            Action::set("sdb", "queue/wbt_lat_usec", 2000),
            Action::set("sda", "queue/write_cache", "write"),
            Action::set("sda", "queue/../../../../proc/sysrq-trigger", 1),
            Action::set("sda", "queue/nr_requests", "$(reboot)"),
            "echo 63 > /sys/block/sda/queue/nr_requests; echo 64 > /sys/block/sda/queue/nr_requests".into(),
            Action::Sysctl(&[("vm.dirty_bytes", 1)]),
        ] {
            assert_eq!(of(bad.clone()), None, "{bad:?}");
        }
    }
}
