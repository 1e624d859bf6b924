//! Reading needs no rights: every command that reads works as nobody, on recordings that only root may change, in a folder where
//! nothing can be written. Nothing is left, neither beside the input nor in the folder for temporary files.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Who has no rights at all (nobody and nogroup of Debian; any number will do).
const NOBODY: &str = "65534";

const PACKED: &str = "dm-delay/capture.tar.zst";

/// What is run, in a folder with copies of bundled recordings.
const COMMANDS: &[&[&str]] = &[
    &["explain", "append-stable-page"],
    &["explain", "-vv", "--json", "deadline-starved"],
    &["explain", PACKED],
    &["explain", "mails/raid-bitmap.txt"],
    &["report", "fsync-log-force"],
    &["report", PACKED, "blame"],
    &["slow", "--op", "fsync", "fsync-log-force"],
    &["compare", "seqwrite-max32k", "seqwrite-max1024k"],
    &["dist", "fsync-log-force"],
    &["events", "deadline-starved"],
    &["plot", "append-stable-page"],
    &["whatif", "deadline-starved", "--set", "scheduler=none"],
    &["export", "--to", "folded", "fsync-log-force"],
    &["causes"],
    &["man", "explain"],
    &["completions", "bash"],
];

/// Every file below a folder, with its size and the time of its last change.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let meta = entry.metadata().unwrap();
        if meta.is_dir() {
            all.extend(everything(&entry.path()));
        }
        all.insert(entry.path(), (meta.len(), meta.modified().unwrap()));
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        match entry.metadata().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

fn set_rights(folder: &Path, files: u32, folders: u32) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.metadata().unwrap().is_dir() {
            true => set_rights(&entry.path(), files, folders),
            false => fs::set_permissions(entry.path(), Permissions::from_mode(files)).unwrap(),
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(folders)).unwrap();
}

#[test]
fn reading_needs_no_rights_and_leaves_nothing() {
    let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let (input, spool, program) =
        (dir.path().join("input"), dir.path().join("tmp"), dir.path().join("iowhy"));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for name in COMMANDS.iter().flat_map(|c| c.iter()) {
        let folder = name.split('/').next().unwrap();
        if fixtures.join(folder).is_dir() && !input.join(folder).exists() {
            copy(&fixtures.join(folder), &input.join(folder));
        }
    }
    set_rights(&input, 0o444, 0o555);
    fs::create_dir(&spool).unwrap();
    // As in /var/tmp, anyone may make files there.
    fs::set_permissions(&spool, Permissions::from_mode(0o1777)).unwrap();
    // By another process: what a test beside this one forks holds what is written here for a moment, and the file would be busy.
    let copied =
        Command::new("cp").args([Path::new(env!("CARGO_BIN_EXE_iowhy")), &program]).status().unwrap();
    assert!(copied.success());
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        let _ = writeln!(std::io::stderr(), "not root: tried as who runs the tests");
    }
    let before = everything(&input);
    for arguments in COMMANDS {
        let mut command = match root {
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"])
                    .arg(&program);
                command
            }
            false => Command::new(&program),
        };
        let out = command
            .args(*arguments)
            .current_dir(&input)
            .env("TMPDIR", &spool)
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(!out.stdout.is_empty(), "{arguments:?} says nothing");
        assert_eq!(everything(&input), before, "{arguments:?} changed something beside its input");
        assert_eq!(fs::read_dir(&spool).unwrap().count(), 0, "{arguments:?} left something");
    }
    set_rights(&input, 0o644, 0o755);
}
