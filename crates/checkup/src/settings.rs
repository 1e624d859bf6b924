//! Settings of the disk that a trial may change, and the journal that restores them.
//!
//! Invariant: before a setting is written, its path and old value are synced to disk in the journal. Whoever finds the
//! journal of a dead checkup restores the setting. Only a few settings of block queues are ever
//! written, whatever a journal says.

use crate::error::{Error, Result};
use record::At;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A setting with a value: the one to try, or in the journal the one to restore.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Setting {
    /// The path of its file.
    pub path: PathBuf,
    /// The content to write.
    pub value: String,
}

/// Settings of a queue that may be tried: they lose no data, and writing the old value restores them completely. (A
/// scheduler has settings of its own, `dirty_bytes` resets `dirty_ratio`, `write_cache` affects the safety of data.)
const MAY: &[&str] =
    &["max_sectors_kb", "nomerges", "nr_requests", "read_ahead_kb", "rq_affinity", "wbt_lat_usec"];

/// Whether a path is a setting that may be tried: `/sys/block/NAME/queue/SETTING` with one of a few settings.
pub fn may_change(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let words: Vec<&str> = text.split('/').collect();
    let plain = |w: &str| !w.is_empty() && w != "." && w != "..";
    match words.as_slice() {
        ["", "sys", "block", name, "queue", setting] => plain(name) && MAY.contains(setting),
        _ => false,
    }
}

/// The current value of a setting, as it must be written to restore it: for `[mq-deadline] none`, the selected one.
pub fn current(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).at("reading a setting", path)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    Ok(chosen.unwrap_or(text.trim()).to_string())
}

/// Writes the setting to restore into the journal, and syncs file and folder.
pub fn note(journal: &Path, setting: &Setting) -> Result<()> {
    let mut file = File::create(journal).at("writing the journal", journal)?;
    let json = serde_json::to_vec(setting).unwrap_or_default();
    file.write_all(&json).and_then(|()| file.sync_all()).at("writing the journal", journal)?;
    let folder = journal.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|f| f.sync_all()).at("writing the journal", folder)?;
    Ok(())
}

/// Restores the setting in a journal, removes the journal, and returns a sentence on it; `None` without a journal.
pub fn restore(journal: &Path) -> Result<Option<String>> {
    let text = match fs::read(journal) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.at("reading the journal", journal)?,
    };
    // A journal that is cut short was never acted upon: the setting is changed only after the journal is synced.
    let Ok(setting) = serde_json::from_slice::<Setting>(&text) else {
        let _ = fs::remove_file(journal);
        return Ok(None);
    };
    if !may_change(&setting.path) {
        return Err(Error::refused(
            format!("{} names {}, which no checkup changes", journal.display(), setting.path.display()),
            "someone else wrote it; remove it by hand",
        ));
    }
    let said = format!("{} is {} again", setting.path.display(), setting.value);
    // The device may be gone, and its setting with it.
    if setting.path.exists() {
        fs::write(&setting.path, &setting.value).at("restoring a setting", &setting.path)?;
    }
    fs::remove_file(journal).at("removing the journal", journal)?;
    Ok(Some(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_storage() {
        assert!(may_change(Path::new("/sys/block/sda/queue/wbt_lat_usec")));
        for bad in [
            "/etc/passwd",
            "/sys/block/../../etc/x",
            "/sys/block/sda/queue/../x",
            "/proc/sys/vm/drop_caches",
            "/sys/block/sda/queue/write_cache",
            "/sys/block/sda/queue/",
        ] {
            assert!(!may_change(Path::new(bad)), "{bad}");
        }
    }

    #[test]
    fn a_journal_that_names_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (journal, victim) = (dir.path().join("j"), dir.path().join("victim"));
        fs::write(&victim, "kept").unwrap();
        note(&journal, &Setting { path: victim.clone(), value: "overwritten".into() }).unwrap();
        assert!(restore(&journal).is_err());
        assert_eq!(fs::read_to_string(victim).unwrap(), "kept");
        fs::write(&journal, "{\"path\": \"/sys/blo").unwrap();
        assert_eq!(restore(&journal).unwrap(), None);
        assert!(!journal.exists());
    }
}
