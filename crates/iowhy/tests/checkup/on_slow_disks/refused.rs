//! What is refused, with its advice; and what may be seen without root.

use super::disk::{findings, on_disk, skip, GOOD, IOWHY};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A program called fio in a folder of its own.
pub fn fake_fio(script: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fio");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

/// A folder in memory, checked anyway, with this search path.
pub fn with_path(path: &str, more: &[&str]) -> (Output, PathBuf, tempfile::TempDir) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let result = dir.path().join("r.json");
    let target = dir.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let out = Command::new(IOWHY)
        .args(["checkup", "--force", "--seconds", "0.1", "-o"])
        .arg(&result)
        .args(more)
        .arg(&target)
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "something is left");
    (out, result, dir)
}

#[test]
fn without_fio_and_with_an_old_one() {
    let said = |out: &Output| String::from_utf8_lossy(&out.stderr).into_owned();
    let (out, ..) = with_path("", &[]);
    assert!(
        !out.status.success()
            && said(&out).contains("fio is not installed")
            && said(&out).contains("install"),
        "{}",
        said(&out)
    );
    let old = fake_fio("echo fio-2.2.10");
    let (out, ..) = with_path(old.path().to_str().unwrap(), &[]);
    assert!(
        !out.status.success() && said(&out).contains("fio-2.2.10") && said(&out).contains("3.0 or later"),
        "{}",
        said(&out)
    );
    let other = fake_fio("echo something else");
    let (out, ..) = with_path(other.path().to_str().unwrap(), &[]);
    assert!(!out.status.success() && said(&out).contains("does not report fio's version"), "{}", said(&out));
}

#[test]
fn what_is_no_directory_of_a_disk_is_refused() {
    let refused = |dir: &str| {
        let out = Command::new(IOWHY).args(["checkup", dir]).output().unwrap();
        assert!(!out.status.success(), "{dir}");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    assert!(refused("/dev/null").contains("never to a device"));
    assert!(refused("/dev/shm").contains("in memory"));
    assert!(refused("/no/such/folder").contains("No such file"));
    let jobs = Command::new(IOWHY).args(["checkup", "--print-jobs"]).output().unwrap();
    assert!(String::from_utf8_lossy(&jobs.stdout).contains("rw=randread"));
}

/// A script in a mount namespace of its own, as root; its output. `None`, and a word why, where that is not possible.
fn in_namespace(script: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let words = ["-m", "--propagation", "private", "bash", "-uc", script];
    let out = Command::new("unshare").args(words).env("DIR", dir.path()).env("IOWHY", IOWHY).output();
    let Ok(out) = out else {
        skip("unshare is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let not_here = ["Operation not permitted", "failed to setup loop device", "must be superuser"];
    if not_here.iter().any(|m| said.contains(m)) {
        skip(&said);
        return None;
    }
    Some(said)
}

#[test]
fn a_read_only_mount_is_refused_whatever_is_said() {
    let script = r#"mount -t tmpfs -o ro,size=200m x "$DIR" && "$IOWHY" checkup --force "$DIR" && echo DONE; umount "$DIR""#;
    let Some(said) = in_namespace(script) else { return };
    assert!(said.contains("is mounted read-only") && !said.contains("DONE"), "{said}");
}

/// There is no server to mount here: the kernel's table of mounts is shown to it with another type of file system.
#[test]
fn a_network_mount_is_refused() {
    let script = r#"
mount -t tmpfs -o size=200m x "$DIR"; sed "s/ - tmpfs x / - nfs4 nas:\/data /" /proc/self/mountinfo > "$DIR/table"
bash -c 'mount --bind "$DIR/table" /proc/$$/mountinfo; exec "$IOWHY" checkup "$DIR"' && echo DONE; umount "$DIR""#;
    let Some(said) = in_namespace(script) else { return };
    assert!(said.contains("is on another machine (nfs4)") && said.contains("--force"), "{said}");
    assert!(!said.contains("DONE"), "{said}");
}

#[test]
fn a_nearly_full_file_system_is_refused() {
    let script = r#"
cd "$DIR"; mkdir m bin; printf '#!/bin/sh\necho no fio at all\n' > bin/fio; chmod +x bin/fio; export PATH="$DIR/bin:$PATH"
truncate -s 1G image; mkfs.ext4 -q -F -m 0 image; mount -o loop image m; fallocate -l 875M m/fill
"$IOWHY" checkup m; echo; echo ANYWAY; "$IOWHY" checkup --force m; fallocate -l 40M m/more
echo; echo FULLER; "$IOWHY" checkup --force m; ls -A m | wc -l; umount m"#;
    let Some(said) = in_namespace(script) else { return };
    let (refused, rest) = said.split_once("nearly full").unwrap_or_else(|| panic!("{said}"));
    assert!(!refused.contains("fio"), "refused before anything else: {said}");
    assert!(rest.contains("--force runs it anyway"), "{said}");
    // With it the guard is passed, and the next thing is looked at.
    assert!(said.contains("does not report fio's version"), "{said}");
    // Too little for any checkup.
    assert!(said.contains("the smallest checkup needs 64 MiB"), "{said}");
}

/// In a folder of theirs anybody can do it: measured, not recorded, and that is said.
#[test]
fn without_root_less_is_seen_and_that_is_said() {
    let run = r#"
cp "$IOWHY" iowhy; mkdir mnt/theirs mine; chown 65534:65534 mnt/theirs mine
as() { setpriv --reuid=65534 --regid=65534 --clear-groups ./iowhy checkup "$@"; }
as mnt/theirs --only 1,5 --seconds 0.5 -o mine/r.json > said.txt 2> told.txt
as mnt -o mine/no.json 2> refused.txt && exit 9 || true
[ -z "$(ls -A mnt/theirs)" ]; [ ! -e mine/no.json ]; rmdir mnt/theirs; clean 0
"#;
    let Some(done) = on_disk(GOOD, "", run) else { return };
    let json = done.json("mine/r.json");
    assert_eq!(json["recorded"], false);
    assert!(json["not_seen"][0].as_str().unwrap().contains("recording needs root"), "{}", json["not_seen"]);
    for step in json["scenarios"].as_array().unwrap().iter().flat_map(|s| s["steps"].as_array().unwrap()) {
        assert_eq!((&step["recorded"], &step["trouble"]), (&false.into(), &serde_json::Value::Null));
        assert!(step["measured"][0]["latency"]["count"].as_u64().unwrap() > 0, "{step}");
    }
    assert!(json["scenarios"][0]["verdict"] != "cannot-tell", "{:?}", findings(&json));
    let said = done.text("said.txt");
    assert!(said.contains("NOT SEEN") && said.contains("not all was recorded"), "{said}");
    let refused = done.text("refused.txt");
    assert!(
        refused.contains("Permission denied") && refused.contains("allowed to write in the folder"),
        "{refused}"
    );
}
