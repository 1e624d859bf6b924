//! Live, from end to end, as root: fio writes to a loop device, iowhy records it to a folder, into a pipe and until it
//! is killed, and what iowhy then says agrees with what fio says it did. Says loudly what it could not test.

use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use trace::{Action, Batch, Flags};

const IOWHY: &str = env!("CARGO_BIN_EXE_iowhy");

fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// What the tests need: a loop device, and folders that go away.
struct Bench {
    device: String,
    /// On a real disk.
    dir: tempfile::TempDir,
    /// In memory: a capture on the recorded disk would not be written before the end.
    captures: tempfile::TempDir,
}

impl Bench {
    /// `None`, and a word why, where something is missing.
    fn new() -> Option<Bench> {
        testkit::share_machine();
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::File::create(dir.path().join("image")).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        for (program, args) in
            [("fio", &["--version"][..]), (IOWHY, &["record", "--clean"]), ("losetup", &["-V"])]
        {
            match Command::new(program).args(args).output() {
                Ok(out) if out.status.success() => {}
                Ok(out) => {
                    skip(&format!("{program}: {}", String::from_utf8_lossy(&out.stderr).trim()));
                    return None;
                }
                Err(e) => {
                    skip(&format!("{program}: {e}"));
                    return None;
                }
            }
        }
        let image = dir.path().join("image");
        let out =
            Command::new("losetup").args(["-f", "--show", "--direct-io=on"]).arg(image).output().unwrap();
        if !out.status.success() {
            skip(&format!("no loop device: {}", String::from_utf8_lossy(&out.stderr).trim()));
            return None;
        }
        let device = String::from_utf8_lossy(&out.stdout).trim().to_string();
        Some(Bench { device, dir, captures: tempfile::tempdir_in("/dev/shm").unwrap() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `loop3`.
    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// fio for three seconds: random writes of 4 KiB, one at a time, so that none are merged. It logs every offset.
    fn fio(&self, name: &str) -> Vec<String> {
        let at = |what: &str| format!("--{what}={}", self.path(name).display());
        let file = format!("--filename={}", self.device);
        let words = ["fio", "--name=live", "--rw=randwrite", "--bs=4k", "--direct=1", "--ioengine=psync"];
        let more =
            ["--rate_iops=1000", "--time_based", "--runtime=3", "--log_offset=1", "--output-format=json"];
        let logs = [
            file,
            at("write_lat_log"),
            format!("--output={}", self.path(name).with_extension("json").display()),
        ];
        words.iter().chain(&more).map(|w| w.to_string()).chain(logs).collect()
    }

    /// iowhy with temporary files where the test looks.
    fn iowhy(&self, args: &[&str]) -> Command {
        let mut c = Command::new(IOWHY);
        c.args(args).env("TMPDIR", self.path("tmp"));
        c
    }

    /// Fails if a temporary file was left.
    #[track_caller]
    fn nothing_left(&self) {
        assert_eq!(fs::read_dir(self.path("tmp")).unwrap().count(), 0, "temporary files were left");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

#[track_caller]
fn ok(out: Output) -> Output {
    assert!(out.status.success(), "{}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    out
}

fn json(text: &[u8]) -> Json {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}

/// What fio did: number of writes, bytes, and how often it wrote where (in bytes).
struct Did {
    count: u64,
    bytes: u64,
    offsets: BTreeMap<u64, u64>,
}

fn did(b: &Bench, name: &str) -> Did {
    let said = json(&fs::read(b.path(name).with_extension("json")).unwrap());
    let write = &said["jobs"][0]["write"];
    let log = fs::read_to_string(b.path(&format!("{name}_lat.1.log"))).unwrap();
    let mut offsets = BTreeMap::new();
    for line in log.lines() {
        let offset =
            line.split(',').nth(4).and_then(|w| w.trim().parse().ok()).expect("the fifth word is the offset");
        *offsets.entry(offset).or_default() += 1;
    }
    let (count, bytes) = (write["total_ios"].as_u64().unwrap(), write["io_bytes"].as_u64().unwrap());
    assert_eq!((offsets.values().sum::<u64>(), bytes), (count, count * 4096));
    // A thousand a second are asked for; a disk that others use too may give a sixth of that.
    assert!(count > 500, "fio did only {count} writes");
    Did { count, bytes, offsets }
}

/// `count` and `bytes` of the loop device's writes in `explain --json`.
fn explained(b: &Bench, explained: &Json, level: &str) -> (u64, u64) {
    let all = explained["operations"].as_array().unwrap();
    let mine = |o: &&Json| o["name"] == b.name() && o["op"] == "write" && o["level"] == level;
    let found = all.iter().find(mine).unwrap_or_else(|| panic!("no {level} of {} in {all:#?}", b.name()));
    (found["count"].as_u64().unwrap(), found["bytes"].as_u64().unwrap())
}

/// Where the recording says that the loop device was written to.
fn offsets(b: &Bench, capture: &Path) -> BTreeMap<u64, u64> {
    let number = fs::read_to_string(format!("/sys/class/block/{}/dev", b.name())).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let dev = trace::DevId::new(major.parse().unwrap(), minor.parse().unwrap());
    let mut source = trace::open(capture).unwrap().source;
    let (mut batch, mut offsets) = (Batch::default(), BTreeMap::new());
    while source.fill(&mut batch).unwrap() {
        let queued =
            |e: &&trace::Event| e.dev == dev && e.action == Action::Queue && e.flags.has(Flags::WRITE);
        for e in batch.events.iter().filter(queued) {
            *offsets.entry(e.sector.0 * 512).or_default() += 1;
        }
    }
    offsets
}

#[track_caller]
fn agree(b: &Bench, said: &Json, did: &Did) {
    let quality = &said["quality"];
    assert_eq!(quality["lost"], 0, "{quality}");
    assert_eq!(explained(b, said, "bio"), (did.count, did.bytes), "bios");
    assert_eq!(explained(b, said, "request"), (did.count, did.bytes), "requests");
}

#[test]
fn a_folder() {
    let Some(b) = Bench::new() else { return };
    let capture = b.captures.path().join("c");
    let to = capture.to_str().unwrap();
    ok(b.iowhy(&["record", "--device", b.name(), "-o", to, "--"]).args(b.fio("folder")).output().unwrap());
    let did = did(&b, "folder");
    let said = json(&ok(b.iowhy(&["explain", "--json", to]).output().unwrap()).stdout);
    agree(&b, &said, &did);
    assert_eq!(offsets(&b, &capture), did.offsets, "blocks");

    // The settings are those of this machine, from system.json.
    let system = evidence::System::read(&capture);
    assert!(system.skipped.is_empty(), "{:?}", system.skipped);
    // Other tests attach and detach disks meanwhile.
    let changed: Vec<_> = system.changed.iter().filter(|c| c.what.starts_with(b.name())).collect();
    assert!(changed.is_empty(), "{changed:?}");
    let told = system.device(b.name()).unwrap();
    let now = |file: &str| {
        fs::read_to_string(format!("/sys/block/{}/{file}", b.name())).unwrap().trim().to_string()
    };
    for file in ["queue/scheduler", "queue/nr_requests", "queue/wbt_lat_usec", "loop/backing_file", "size"] {
        assert_eq!(told.attributes[file].value.trim(), now(file), "{file}");
    }
    assert_eq!(told.tags()[0].value.to_string(), now("mq/0/nr_tags"));
    assert_eq!(
        system.kernel.unwrap().value,
        fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim()
    );

    // What the kernel counted is what fio did.
    let samples = evidence::Samples::read(&capture).unwrap().unwrap();
    let io = samples.intervals.iter().map(|i| i.disks[b.name()].writes);
    let (count, sectors) = io.fold((0, 0), |sum, io| (sum.0 + io.count, sum.1 + io.sectors));
    assert_eq!((count, sectors * 512), (did.count, did.bytes), "diskstats");
    let tables = ok(b.iowhy(&["report", to, "iostat", "cpu", "pressure", "--json"]).output().unwrap()).stdout;
    let tables = json(&tables);
    let rows = tables["tables"]["iostat"].as_array().unwrap();
    let mine = rows.iter().filter(|r| r["device"] == b.name() && r["op"] == "write");
    let sum: f64 = mine.map(|r| r["per_s"].as_f64().unwrap() * r["seconds"].as_f64().unwrap()).sum();
    assert_eq!(sum.round() as u64, did.count);
    assert!(tables["tables"]["cpu"].as_array().unwrap().len() >= 3);

    // Packed, it is the same.
    ok(b.iowhy(&["pack", to]).output().unwrap());
    let packed = b.captures.path().join("c.tar.zst");
    let again = json(&ok(b.iowhy(&["explain", "--json", packed.to_str().unwrap()]).output().unwrap()).stdout);
    assert_eq!(again, said);
    ok(b.iowhy(&["slow", "-n", "2", packed.to_str().unwrap()]).output().unwrap());
    b.nothing_left();
}

#[test]
fn a_stream() {
    let Some(b) = Bench::new() else { return };
    let script = format!(
        "{IOWHY} record --device {} -o - -- {} | {IOWHY} explain --json -",
        b.name(),
        b.fio("stream").join(" ")
    );
    let out = ok(Command::new("sh").args(["-c", &script]).env("TMPDIR", b.path("tmp")).output().unwrap());
    let said = json(&out.stdout);
    agree(&b, &said, &did(&b, "stream"));
    let notes = said["quality"]["notes"].to_string();
    assert!(!notes.contains("settings") && !notes.contains("was not completed"), "{notes}");
    b.nothing_left();
}

/// Waits until a recorder records: its instance is switched on last.
fn until_it_records(pid: impl Fn() -> String) {
    // Mounted privately where it is not mounted: it can be reached as long as this is kept.
    let tracefs = record::Tracefs::find().unwrap();
    let instances = tracefs.instances();
    // A minute, for machines that are busy: right after a build, half of one was once too little.
    for _ in 0..3000 {
        let begins = format!("iowhy-{}-", pid().trim());
        let own = fs::read_dir(&instances).into_iter().flatten().flatten();
        let mut own = own.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins));
        let on = |path: PathBuf| fs::read_to_string(path.join("tracing_on")).is_ok_and(|on| on.trim() == "1");
        if own.any(|entry| on(entry.path())) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("process {} did not begin to record within a minute", pid());
}

/// Ctrl-C goes to both ends of the pipe: the recording ends, and it is explained.
#[test]
fn a_stream_ended_by_the_keyboard() {
    let Some(b) = Bench::new() else { return };
    let script = format!(
        "sh -c 'echo $$ > {0}/pid; exec {IOWHY} record --device {1} -o -' | {IOWHY} explain --json - > {0}/out",
        b.dir.path().display(),
        b.name(),
    );
    let mut pipe = Command::new("sh");
    pipe.args(["-c", &script]).env("TMPDIR", b.path("tmp")).process_group(0);
    let mut pipe = pipe.stderr(Stdio::null()).spawn().unwrap();
    until_it_records(|| fs::read_to_string(b.path("pid")).unwrap_or_default());
    let fio = b.fio("keyboard");
    ok(Command::new(&fio[0]).args(&fio[1..]).output().unwrap());
    let group = format!("-{}", pipe.id());
    ok(Command::new("kill").args(["-INT", "--", &group]).output().unwrap());
    pipe.wait().unwrap();
    let said = json(&fs::read(b.path("out")).unwrap());
    agree(&b, &said, &did(&b, "keyboard"));
    b.nothing_left();
}

#[test]
fn a_killed_recorder() {
    let Some(b) = Bench::new() else { return };
    let capture = b.captures.path().join("killed");
    let mut recorder = b.iowhy(&["record", "--device", b.name(), "-o", capture.to_str().unwrap()]);
    let mut recorder = recorder.stderr(Stdio::null()).spawn().unwrap();
    until_it_records(|| recorder.id().to_string());
    let fio = b.fio("killed");
    ok(Command::new(&fio[0]).args(&fio[1..]).output().unwrap());
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    ok(b.iowhy(&["record", "--clean"]).output().unwrap());
    let did = did(&b, "killed");
    assert!(capture.join("trace.head").is_file() && !capture.join("trace.dat").exists());
    let said = json(&ok(b.iowhy(&["explain", "--json", capture.to_str().unwrap()]).output().unwrap()).stdout);
    let (count, _) = explained(&b, &said, "bio");
    // What was still in the kernel's buffers is gone, not more.
    assert!(count <= did.count && count > did.count / 2, "{count} of {}", did.count);
    assert!(said["quality"]["notes"].to_string().contains("was not completed"));
    for (offset, n) in offsets(&b, &capture) {
        assert!(did.offsets.get(&offset).is_some_and(|there| n <= *there), "{offset}");
    }
}

/// Where there is no room to unpack, that is said, with what to do, and nothing is left.
#[test]
fn no_room_to_unpack() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures/loop-v6.dat");
    let explain = format!("TMPDIR={} {IOWHY} explain -", dir.path().display());
    // The inner shell looks too: the small disk is only there for it.
    let script = format!(
        "mount -t tmpfs -o size=64k none {0}; cat {1} | {explain} && exit 3; ls -A {0}",
        dir.path().display(),
        fixture.display()
    );
    let out = Command::new("unshare").args(["-m", "--propagation", "private", "sh", "-uc", &script]).output();
    let Ok(out) = out else { return skip("there is no unshare(1)") };
    let said = String::from_utf8_lossy(&out.stderr);
    if said.contains("unshare:") || said.contains("mount:") {
        return skip(&format!("no small disk can be made: {said}"));
    }
    assert!(out.status.success() && out.stdout.is_empty(), "{out:?}");
    assert!(said.contains("needs more than 57 KiB, 90 % of what is free here"), "{said}");
    assert!(said.contains("set TMPDIR to a folder with more room"), "{said}");
    let with_room =
        Command::new("sh").args(["-c", &format!("cat {} | {explain}", fixture.display())]).output().unwrap();
    assert!(String::from_utf8_lossy(&ok(with_room).stdout).contains("trace.dat"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
