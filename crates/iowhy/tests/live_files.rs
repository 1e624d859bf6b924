//! Live, as root: which file an operation was about, on ext4, XFS and btrfs.
//!
//! A shell that was there before the recording has files open. In the recording it reads and writes them through copies of
//! its descriptors (that is how a shell redirects), gives a number to another file, deletes a file and makes a new one, and
//! starts programs that inherit descriptors. Each write has a size of its own, which says what the file must have been.

use crate::lab::{Case, Recorded};
use serde_json::Value as Json;

/// The shell: `$1` says when to begin. 5 and 6 are files, and so is 7, on another subvolume of btrfs with the same number.
const SHELL: &str = r#"
    folder=mnt; other=mnt
    if [ "$FS" = btrfs ]; then
        btrfs -q subvolume create mnt/one; btrfs -q subvolume create mnt/two; folder=mnt/one; other=mnt/two
    fi
    export folder other
    until_there() { for i in $(seq 400); do [ ! -e $1 ] || return 0; sleep 0.05; done; echo "no $1" >&2; return 1; }
    export -f until_there
    echo > $folder/before; echo > $other/first; echo > $other/twin; echo > $folder/gone
    cat > shell.sh <<'SHELL'
        exec 5>>$folder/before 6>>$folder/gone 7>>$other/twin
        touch ready; until_there go
        # Inherited by a program, through a copy.
        head -c 1000 /dev/zero >&5
        # A copy that is left when the first is closed.
        exec 8>&5 5>&-
        head -c 2000 /dev/zero >&8
        # The number is another file's now.
        exec 5>>$folder/other
        head -c 3000 /dev/zero >&5
        # No longer there; a new file may get its number.
        exec 6>&-; rm $folder/gone
        exec 6>>$folder/new
        head -c 3500 /dev/zero >&6
        sync $folder/new
        head -c 3700 /dev/zero >&6
        head -c 3900 /dev/zero >&7
        touch done; until_there stop
SHELL
    bash shell.sh &
    until_there ready
    stat -c '%n %d %i' $folder/before $other/twin $folder/gone > numbers
    whole() { touch go; until_there done; }
    export -f whole
    record capture whole
    stat -c '%n %d %i' $folder/new >> numbers
    touch stop; wait %2 2>/dev/null || wait %1 2>/dev/null || true"#;

/// The path that `iowhy slow` gives the write of so many bytes. One on a file of which nothing at all is known is none on
/// storage.
fn path_of(writes: &[Json], bytes: i64) -> Option<&str> {
    let of: Vec<&Json> = writes.iter().filter(|w| w["result"] == bytes).collect();
    let files: Vec<Option<&str>> = of.iter().map(|w| w["file"].as_str()).collect();
    assert!(files.iter().all(|f| f == &files[0]), "{bytes}: {files:?}");
    files.first().copied().flatten()
}

fn named(fs: &'static str) {
    let needs: &[&str] = if fs == "btrfs" { &["btrfs"] } else { &[] };
    let disk = Some("--channels 4 --read-us 100 --write-us 100");
    let run: &'static str = SHELL;
    let case = Case { disk, fs, setup: "", run, needs };
    let Some(r) = case.run() else { return };
    let writes = writes(&r);
    println!("{fs}: {}", r.text("numbers").replace('\n', "; "));
    for (bytes, is, may_be_unknown) in [
        (1000, "before", false),
        (2000, "before", false),
        (3000, "other", true),
        (3500, "new", true),
        (3700, "new", true),
        // On btrfs a file of another subvolume that was open too has the same number.
        (3900, "twin", fs == "btrfs"),
    ] {
        let path = path_of(&writes, bytes);
        println!("{fs}: {bytes} bytes to {is}: {path:?}");
        match path {
            Some(path) => assert!(path.ends_with(&format!("/{is}")), "{bytes}: {path}, not {is}"),
            None => assert!(may_be_unknown, "{bytes} bytes to {is}: unknown"),
        }
    }
}

fn writes(r: &Recorded) -> Vec<Json> {
    let all = r.iowhy(&["slow", "--op", "write", "-n", "5000"], "capture");
    all["slowest"].as_array().unwrap().iter().filter(|w| w["task"] == "head").cloned().collect()
}

fn files_on_ext4() {
    named("ext4");
}

fn files_on_xfs() {
    named("xfs");
}

/// Where each subvolume numbers its files anew, and events do not say which it is.
fn files_on_btrfs() {
    named("btrfs");
}

crate::lab::tried!(files_on_ext4, files_on_xfs, files_on_btrfs);
