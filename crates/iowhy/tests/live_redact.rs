//! Live, as root: what `iowhy pack --redact` made holds none of the names that were given to a program, its files, its
//! control group and its mount, in no byte of it.

use crate::lab::Case;
use std::io::Read;
use std::process::Command;

/// Names that occur nowhere else. The program's are at most 15 bytes long, as the kernel keeps them.
const TASK: &str = "Zqvtask";
const FILE: &str = "Zqvfile";
const GROUP: &str = "Zqvgroup";
const MOUNT: &str = "Zqvmount";

/// A program with a name and files with names, in a folder with a name, in a control group with a name and a limit, on a mount
/// with a name. It has a file open before, during and after; it is run by name, and it prints its name.
const RUN: &str = r#"
    mkdir mnt/Zqvmount; mount --bind mnt/Zqvmount mnt/Zqvmount
    cp $(command -v bash) Zqvtask; cp $(command -v dd) Zqvtaskdd
    v1=/sys/fs/cgroup/blkio; v2=/sys/fs/cgroup; group=
    if [ -e $v1/blkio.throttle.read_iops_device ]; then
        group=$v1/Zqvgroup; mkdir $group; echo "$(cat dev) 100000" > $group/blkio.throttle.read_iops_device
    elif grep -qw io $v2/cgroup.subtree_control 2>/dev/null; then
        group=$v2/Zqvgroup; mkdir $group; echo "$(cat dev) riops=100000" > $group/io.max
    fi
    [ -z "$group" ] || echo 1 > made-group
    cat > Zqvfile.sh <<'SCRIPT'
        exec 5>>mnt/Zqvmount/Zqvfile
        touch ready; for i in $(seq 400); do [ ! -e stop ] || exit 0; echo x >&5; sync mnt/Zqvmount/Zqvfile; sleep 0.05; done
SCRIPT
    ./Zqvtask Zqvfile.sh & mine=$!
    [ -z "$group" ] || echo $mine > $group/cgroup.procs
    for i in $(seq 200); do [ ! -e ready ] || break; sleep 0.05; done
    whole() {
        ./Zqvtaskdd if=/dev/zero of=mnt/Zqvmount/Zqvfile2 bs=4k count=64 conv=fsync 2>/dev/null
        mv mnt/Zqvmount/Zqvfile2 mnt/Zqvmount/Zqvfile3; rm mnt/Zqvmount/Zqvfile3
        sleep 1.2
    }
    export -f whole
    record capture ./Zqvtask -c whole
    touch stop; wait $mine || true
    umount mnt/Zqvmount
    [ -z "$group" ] || { for i in $(seq 20); do rmdir $group 2>/dev/null && break; sleep 0.1; done; }
    echo "$(hostname) was here" > capture/notes.txt
    "$IOWHY" pack capture -o open.tar.zst
    "$IOWHY" pack --redact capture -o redacted.tar.zst"#;

/// The files in a pack, unpacked, with their names, and their bytes.
fn unpacked(path: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in capture::open_packed(path).unwrap().entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.push((name, bytes));
    }
    files
}

fn holds(bytes: &[u8], word: &str) -> usize {
    bytes.windows(word.len()).filter(|w| *w == word.as_bytes()).count()
}

fn no_byte_of_a_redacted_pack_holds_a_name() {
    let disk = Some("--channels 4 --read-us 100 --write-us 300");
    let Some(r) = (Case { disk, fs: "ext4", setup: "", run: RUN, needs: &["hostname"] }).run() else {
        return;
    };
    let (open, redacted) = (unpacked(&r.path("open.tar.zst")), unpacked(&r.path("redacted.tar.zst")));
    let count = |files: &[(String, Vec<u8>)], word: &str| -> usize {
        files.iter().map(|(name, bytes)| holds(bytes, word) + holds(name.as_bytes(), word)).sum()
    };
    // The test can fail: all of them are in what was recorded.
    let mut words = vec![TASK, FILE, MOUNT];
    words.extend(r.path("made-group").exists().then_some(GROUP));
    for word in words {
        let (before, after) = (count(&open, word), count(&redacted, word));
        println!("{word}: {before} times in what was recorded, {after} times when redacted");
        assert!(before > 0, "{word} was not recorded");
        for (name, bytes) in &redacted {
            assert_eq!(holds(bytes, word), 0, "{word} in {name}");
        }
        assert_eq!(after, 0);
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    // A short one may be part of any word.
    if host.trim().len() > 6 {
        assert_eq!(count(&redacted, host.trim()), 0, "{host}");
    }
    // And it still is a recording: the same operations by other names.
    let path = r.path("redacted.tar.zst");
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .args(["slow", "--op", "fsync"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(String::from_utf8_lossy(&out.stdout).contains("fsync by "), "{out:?}");
}

crate::lab::tried!(no_byte_of_a_redacted_pack_holds_a_name);
