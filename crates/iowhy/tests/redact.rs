//! What `iowhy pack --redact` makes of every bundled recording holds none of its names, in no byte: neither of tasks, nor of files,
//! nor of the host. What cannot be redacted is refused, and then nothing is left.
//!
//! Which names there are is found out in another way than the redaction does: by reading the recording as `explain` does, and by
//! taking every path and word of the settings.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trace::{Action, Batch};

/// A shorter one may be part of anything: of a number in the pages, of another word.
const SHORTEST: usize = 5;
/// What kernel threads are called, all or the beginning; their names stay (SECURITY.md). So does
/// that of the recorder, which capture.json says.
const KERNELS: [&str; 27] = [
    "kworker",
    "ksoftirqd",
    "migration",
    "rcu",
    "irq/",
    "swapper",
    "<idle>",
    "kswapd",
    "kdamond.",
    "kcompactd",
    "jbd2/",
    "xfsaild",
    "xfs-",
    "xfs_",
    "btrfs-",
    "loop",
    "md",
    "kcryptd",
    "dmcrypt_write",
    "kthreadd",
    "ext4",
    "writeback",
    "nvme",
    "scsi_eh",
    "khugepaged",
    "iou-",
    "kauditd",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folders that hold a capture: as they are, or unpacked into `to`.
fn captures(to: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["fixtures", "lab/corpus"] {
        let mut inside: Vec<PathBuf> =
            fs::read_dir(root().join(folder)).unwrap().flatten().map(|e| e.path()).collect();
        inside.sort();
        for path in inside {
            let packed = if path.is_dir() { path.join("capture.tar.zst") } else { path.clone() };
            if packed.to_string_lossy().ends_with(".tar.zst") && packed.exists() {
                let to = to.join(format!("{}", found.len()));
                capture::open_packed(&packed).unwrap().unpack(&to).unwrap();
                found.extend(fs::read_dir(&to).unwrap().flatten().map(|e| e.path()));
            } else if path.join(capture::TRACE).exists() {
                found.push(path);
            }
        }
    }
    found
}

/// Words of a text, and all that lies between slashes.
fn words(text: &str, into: &mut BTreeSet<String>) {
    let parts = text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ',' | '=' | ':' | '"'));
    into.extend(parts.map(str::to_string));
}

/// What a settings document names: values that are paths, and those of fields that hold names.
fn in_document(value: &Value, key: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let devices = ["/dev/", "/proc/", "/sys/"].iter().any(|start| text.starts_with(start));
            if !devices && (text.starts_with('/') || matches!(key, "host" | "command" | "cgroup" | "path")) {
                words(text, into);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| in_document(v, key, into)),
        Value::Object(fields) => fields.iter().for_each(|(key, v)| in_document(v, key, into)),
        _ => {}
    }
}

/// All names of a capture.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in [capture::SYSTEM_JSON, capture::CAPTURE_JSON] {
        if let Ok(text) = fs::read(folder.join(file)) {
            in_document(&serde_json::from_slice(&text).unwrap(), "", &mut names);
        }
    }
    let mut recording = trace::open(folder).unwrap();
    let mut batch = Batch::default();
    while recording.source.fill(&mut batch).unwrap() {
        for event in batch.events.iter().filter(|e| e.action == Action::TaskName) {
            names.insert(String::from_utf8_lossy(batch.text(event)).into_owned());
        }
    }
    // A number is no name: PostgreSQL's folder 16384 is told by nobody from a size.
    let is_number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
    let stays = |name: &str| {
        name == "iowhy" || is_number(name) || KERNELS.iter().any(|kernel| name.starts_with(kernel))
    };
    names.retain(|name| name.len() >= SHORTEST && !stays(name));
    names
}

/// Every file in a pack, with its name.
fn unpacked(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in capture::open_packed(path).unwrap().entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(name, bytes);
    }
    files
}

/// What the kernel itself says: how events are laid out, names of its functions. A program may be called like one of its words.
fn of_the_kernel(trace: &Path) -> Option<Vec<u8>> {
    let (head, _) = capture::Head::read(&mut File::open(trace).unwrap(), trace).ok()?;
    let systems =
        head.systems.into_iter().flat_map(|(name, formats)| [vec![name.into_bytes()], formats].concat());
    let texts = [
        vec![head.header_page, head.header_event, head.symbols, head.printk, head.clock.into_bytes()],
        head.ftrace,
    ];
    Some(texts.concat().into_iter().chain(systems).flatten().collect())
}

/// Names of settings, as the kernel calls their files.
fn keys(value: &Value, into: &mut Vec<u8>) {
    match value {
        Value::Array(list) => list.iter().for_each(|v| keys(v, into)),
        Value::Object(fields) => {
            for (key, v) in fields {
                into.extend(key.as_bytes());
                into.push(b'\n');
                keys(v, into);
            }
        }
        _ => {}
    }
}

fn holds(bytes: &[u8], word: &str) -> bool {
    memchr::memmem::find(bytes, word.as_bytes()).is_some()
}

fn redacted_to(folder: &Path, to: &Path) -> Output {
    let mut pack = Command::new(env!("CARGO_BIN_EXE_iowhy"));
    pack.args(["pack", "--redact", "-o"]).args([to, folder]).output().unwrap()
}

/// Redacts a capture: how many names were looked for and how many of them stood in it; nothing if it was refused.
fn redacted(folder: &Path, to: &Path) -> Option<(usize, usize)> {
    let out = redacted_to(folder, to);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if !out.status.success() {
        let refused = ["only captures that `iowhy record` made", "not written by iowhy"];
        assert!(refused.iter().any(|words| said.contains(words)), "{}: {said}", folder.display());
        let left: Vec<_> =
            fs::read_dir(to.parent().unwrap()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains("redacted")), "{left:?} is left");
        return None;
    }
    let original = fs::read(folder.join(capture::TRACE)).unwrap();
    let settings = fs::read_to_string(folder.join(capture::SYSTEM_JSON)).unwrap_or_default();
    let mut kernels = of_the_kernel(&folder.join(capture::TRACE))?;
    keys(&serde_json::from_str(&settings).unwrap_or_default(), &mut kernels);
    // Which events were recorded, and which this kernel lacks.
    let about = fs::read_to_string(folder.join(capture::CAPTURE_JSON)).unwrap_or_default();
    let about: Value = serde_json::from_str(&about).unwrap_or_default();
    for list in ["recorded", "missing", "absent"] {
        kernels.extend(about[list].to_string().into_bytes());
    }
    let names: Vec<String> = names(folder).into_iter().filter(|name| !holds(&kernels, name)).collect();
    let there = names.iter().filter(|name| holds(&original, name) || settings.contains(*name)).count();
    for (file, bytes) in unpacked(to) {
        for name in &names {
            assert!(
                !holds(&bytes, name) && !file.contains(name),
                "{}: {name} is in {file}",
                folder.display()
            );
        }
    }
    fs::remove_file(to).unwrap();
    Some((names.len(), there))
}

#[test]
fn no_byte_of_a_redacted_bundled_recording_holds_a_name() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(dir.path().join("unpacked")).unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    let (mut done, mut refused, mut looked_for, mut stood) = (0, 0, 0, 0);
    for folder in captures(&dir.path().join("unpacked")) {
        match redacted(&folder, &dir.path().join("out/redacted.tar.zst")) {
            Some((names, there)) => {
                done += 1;
                looked_for += names;
                stood += there;
            }
            None => refused += 1,
        }
    }
    println!(
        "{done} recordings, {looked_for} names, {stood} of them in what was recorded; {refused} refused"
    );
    // The test can fail: there were names, and most of them stood in the recordings themselves.
    assert!(done > 100 && looked_for > 3 * done && 2 * stood > looked_for, "{done} {looked_for} {stood}");
}

/// The parts of an answer that hold no names.
fn judged(capture: &Path) -> Value {
    let out =
        Command::new(env!("CARGO_BIN_EXE_iowhy")).args(["explain", "--json"]).arg(capture).output().unwrap();
    let document: Value = serde_json::from_slice(&out.stdout).unwrap();
    let answer = &document["answer"];
    let victims = document["victims"].as_array().unwrap();
    let victims = victims.iter().flat_map(|v| ["op", "count", "lost_ns"].map(|key| v[key].clone()));
    let answer = ["kind", "cause", "root", "op", "explained"].map(|key| answer[key].clone()).to_vec();
    Value::Array(answer.into_iter().chain(victims).collect())
}

#[test]
fn a_redacted_recording_is_judged_as_before() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(dir.path().join("unpacked")).unwrap();
    let mut compared = 0;
    for folder in captures(&dir.path().join("unpacked")).iter().step_by(10) {
        let to = dir.path().join(format!("{compared}.tar.zst"));
        if redacted_to(folder, &to).status.success() {
            assert_eq!(judged(&to), judged(folder), "{}", folder.display());
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}
