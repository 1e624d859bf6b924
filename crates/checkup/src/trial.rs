//! Tries the setting of a remedy for the length of one scenario, and restores it, even if the checkup is killed.
//!
//! Only settings of the disk's queue are tried that lose no data and can be restored completely
//! ([`settings::may_change`]); settings of the whole machine, or that affect the safety of data, are left to the user.

use crate::error::Result;
use crate::guard::Guard;
use crate::result::Remedy;
use crate::settings::{self, Setting};
use causes::Action;
use record::At;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The setting that a remedy changes; `None` if it must not be tried on this disk.
pub fn setting_of(remedy: &Remedy, disk: &str) -> Option<Setting> {
    let Some(Action::Set { dev, file, to }) = &remedy.action else { return None };
    let path = Path::new("/sys/block").join(dev).join(file);
    let plain = !to.is_empty() && to.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let of_queue = dev == disk && file.starts_with("queue/");
    (plain && of_queue && settings::may_change(&path)).then(|| Setting { path, value: to.clone() })
}

/// A setting under trial; dropping it restores the old value.
#[derive(Debug)]
pub struct Tried {
    journal: PathBuf,
    /// Restores it if this process cannot. It ends last: fields are dropped in their order, after [`Drop::drop`].
    _guard: Guard,
    /// The old value.
    pub was: String,
}

impl Tried {
    /// Saves the old value in the journal, then writes the new one.
    pub fn set(setting: &Setting, journal: PathBuf) -> Result<Tried> {
        let was = settings::current(&setting.path)?;
        settings::note(&journal, &Setting { path: setting.path.clone(), value: was.clone() })?;
        let guard = Guard::start(&journal)?;
        // From here on the drop restores it, even if the write fails half-way.
        let tried = Tried { journal, _guard: guard, was };
        fs::write(&setting.path, &setting.value).at("trying a setting", &setting.path)?;
        Ok(tried)
    }

    /// Restores the old value; an error if that failed.
    pub fn restore(self) -> Result<()> {
        settings::restore(&self.journal).map(|_| ())
    }
}

impl Drop for Tried {
    fn drop(&mut self) {
        // If it was restored before, there is no journal any more.
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
