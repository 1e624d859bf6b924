//! Makes a copy of a capture in which the names of tasks and files are replaced by random ones.
//!
//! A name has the same replacement in every file of the copy, including the trace. Replacements have the length of the
//! names, are drawn at random, and are stored nowhere. Kernel threads keep their names (`kworker/0:1`), and so do devices,
//! because the analysis needs these names and they identify nobody. For other tasks, capture.json says which are servers and which
//! are jobs ([`Role`](crate::Role)), since the verdict depends on it. Files that iowhy cannot fully parse are left out of the
//! copy: output of the workload, recordings by other tools.

mod arguments;
mod gaps;
mod json;
mod names;
mod pages;

pub use names::Names;

use crate::datfile::Head;
use crate::error::{At, Error, Result};
use crate::name::{CAPTURE_JSON, SAMPLES_JSONL, SYSTEM_JSON, TRACE};
use crate::recorded::Capture;
use crate::role::Role;
use pages::Scrubber;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Limit on the size of settings and samples: a day of samples is 200 MB.
const MOST_BYTES: u64 = 512 << 20;

/// Writes a redacted copy of the capture in `from` into the folder `to`. Returns what was left out.
pub fn redact(from: &Path, to: &Path) -> Result<Vec<String>> {
    let mut names = Names::with_roles(roles(&from.join(CAPTURE_JSON)));
    let mut left_out = Vec::new();
    let entries = fs::read_dir(from).at("listing", from)?;
    let mut files: Vec<_> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    // capture.json comes last, because it gets the roles of the trace's tasks.
    files.sort_by_key(|file| (file == CAPTURE_JSON, file.clone()));
    for file in &files {
        let (source, copy) = (from.join(file), to.join(file));
        let plain = fs::symlink_metadata(&source).at("looking at", &source)?;
        if !plain.is_file() {
            left_out.push(format!("{file}: not a plain file"));
            continue;
        }
        if file != TRACE && plain.len() > MOST_BYTES {
            left_out.push(format!("{file}: {} bytes, more than any recorder writes", plain.len()));
            continue;
        }
        match file.as_str() {
            TRACE => trace(&source, &copy, &mut names)?,
            SYSTEM_JSON => settings(&source, &copy, &mut names, None)?,
            CAPTURE_JSON => {
                let roles = names.roles().clone();
                settings(&source, &copy, &mut names, Some(roles))?;
            }
            // Samples have only numbers and device names.
            SAMPLES_JSONL => {
                fs::copy(&source, &copy).at("copying", &source)?;
            }
            _ => left_out.push(format!("{file}: it may hold names")),
        }
    }
    Ok(left_out)
}

/// The roles in a capture that is already redacted. Only a regular file is opened: reading a pipe might never end.
fn roles(capture: &Path) -> Option<BTreeMap<String, Role>> {
    let plain =
        fs::symlink_metadata(capture).ok().filter(|plain| plain.is_file() && plain.len() <= MOST_BYTES);
    let text = plain.and_then(|_| fs::read(capture).ok())?;
    serde_json::from_slice::<Capture>(&text).ok()?.roles
}

fn settings(
    source: &Path,
    copy: &Path,
    names: &mut Names,
    roles: Option<BTreeMap<String, Role>>,
) -> Result<()> {
    let text = fs::read(source).at("reading", source)?;
    let text = json::redacted(&text, names, roles).map_err(|e| not_ours(source, &e))?;
    fs::write(copy, text).at("writing", copy)
}

fn trace(source: &Path, copy: &Path, names: &mut Names) -> Result<()> {
    let mut file = File::open(source).at("opening", source)?;
    let (mut head, regions) = Head::read(&mut file, source).map_err(|e| match e {
        Error::Io { source: why, .. } if why.kind() == io::ErrorKind::InvalidData => {
            not_ours(source, &why.to_string())
        }
        other => other,
    })?;
    head.tasks = head
        .tasks
        .lines()
        .map(|line| match line.split_once(' ') {
            Some((tid, name)) => format!("{tid} {}\n", names.task(name)),
            None => String::new(),
        })
        .collect();
    let uname: Vec<String> = head.uname.split(' ').map(String::from).collect();
    // Format: Linux HOST RELEASE ...
    let renamed = uname.iter().enumerate().map(|(i, w)| if i == 1 { names.word(w) } else { w.clone() });
    head.uname = renamed.collect::<Vec<_>>().join(" ");
    let scrubber = Scrubber::new(&head).map_err(|e| not_ours(source, &e))?;
    let cpus = regions.iter().map(|r| r.cpu.0 + 1).max().unwrap_or(0);
    let mut pages = Vec::new();
    for region in regions {
        pages.push(scrubber.region(&file, region, names).at("replacing names of", source)?);
    }
    let mut out = File::options().read(true).write(true).create_new(true).open(copy).at("making", copy)?;
    head.write(&mut out, copy, cpus, &mut pages)
}

/// An error about a file that iowhy did not write on a machine like this one.
pub(crate) fn not_ours(file: &Path, why: &str) -> Error {
    Error::refused(
        format!("{}: {why}", file.display()),
        "only captures that `iowhy record` made can be redacted; do it on the machine that made it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_recorder_writes_is_left_out_and_said() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = |name: &str| from.path().join(name);
        // A sparse file: it uses no disk space.
        File::create(file(SAMPLES_JSONL)).unwrap().set_len(MOST_BYTES + 1).unwrap();
        fs::write(file(CAPTURE_JSON), r#"{"host": "secret"}"#).unwrap();
        fs::write(file("fio.log"), "secret").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", file(SYSTEM_JSON)).unwrap();
        let left_out = redact(from.path(), to.path()).unwrap();
        let copied: Vec<_> = fs::read_dir(to.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(copied, [CAPTURE_JSON]);
        assert!(!fs::read_to_string(to.path().join(CAPTURE_JSON)).unwrap().contains("secret"));
        let expected = [
            "fio.log: it may hold names",
            "samples.jsonl: 536870913 bytes, more than any recorder writes",
            "system.json: not a plain file",
        ];
        assert_eq!(left_out, expected);
    }

    #[test]
    fn only_a_plain_capture_json_is_opened() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(from.path().join("elsewhere"), r#"{"host": "secret", "roles": {"a": "job"}}"#).unwrap();
        std::os::unix::fs::symlink("elsewhere", from.path().join(CAPTURE_JSON)).unwrap();
        let left_out = redact(from.path(), to.path()).unwrap();
        assert_eq!(left_out, ["elsewhere: it may hold names", "capture.json: not a plain file"]);
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
        assert_eq!(roles(&from.path().join(CAPTURE_JSON)), None);
    }
}
