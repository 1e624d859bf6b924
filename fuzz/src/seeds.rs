//! Where fuzzing begins: cut from what the project bundles.

use crate::families;
use crate::seed::{seed, Seed};
use crate::target::Target;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A small recording of trace-cmd's, version 6.
pub const SMALL: &[u8] = include_bytes!("../../crates/trace/tests/fixtures/loop-v6.dat");
const SMALL_7: &[u8] = include_bytes!("../../crates/trace/tests/fixtures/loop-v7-zstd.dat");
const PERF: [(&str, &[u8]); 4] = [
    ("stacks.data", include_bytes!("../../crates/trace/tests/fixtures/perf-stacks.data.zst")),
    ("sched.data", include_bytes!("../../crates/trace/tests/fixtures/perf-sched.data.zst")),
    ("packed.data", include_bytes!("../../crates/trace/tests/fixtures/perf-packed.data.zst")),
    ("pipe.data", include_bytes!("../../crates/trace/tests/fixtures/perf-pipe.data.zst")),
];
/// Bytes of a page of it.
pub const PAGE: usize = 4096;

/// The seeds of a target, each no longer than its inputs may be. `root` is the root of the project.
pub fn seeds(target: &Target, root: &Path) -> io::Result<Vec<Seed>> {
    let fixtures = root.join("fixtures");
    let mut seeds = match target.name {
        "blktrace" | "answer" => files(&fixtures, |name| name.contains(".blktrace."))?,
        "trace-dat" | "redact" | "answer-dat" => {
            let mut all = files(&fixtures, |name| name == "trace.dat")?;
            all.extend([seed("loop-v6.dat", SMALL), seed("loop-v7-zstd.dat", SMALL_7)]);
            all
        }
        "perf-data" => PERF.iter().map(|(name, packed)| unpacked(name, packed)).collect::<io::Result<_>>()?,
        "pages" => vec![seed("loop-v6.pages", &pages())],
        "packed" => files(&fixtures, |name| name.ends_with(".tar.zst"))?,
        "stream" => vec![seed("stream.tar", &streamed()?)],
        "blkparse-text" => {
            OWN.iter().chain([&BLKPARSE]).map(|text| seed("events", text.as_bytes())).collect()
        }
        "trace-text" | "answer-text" => {
            let mut all = operations(root)?;
            all.extend(TRACES.iter().map(|text| seed("events", text.as_bytes())));
            all
        }
        "tool-text" => {
            let mut all = families::all(root)?;
            all.extend(files(&fixtures, |name| name.ends_with(".txt"))?);
            all
        }
        "text-fio" | "text-tables" | "text-benchmarks" | "text-bpf" | "text-kernel" | "text-lines" => {
            families::examples(root, target.name)?
        }
        "mails" => families::mails(root)?,
        "other-json" => families::DOCUMENTS.iter().map(|text| seed("document", text.as_bytes())).collect(),
        "fio-json" => files(&fixtures, |name| name == "fio.txt" || name == "alone.json")?,
        "fio-log" => files(&fixtures, |name| name.ends_with(".log"))?,
        "system-json" => files(&fixtures, |name| name == "system.json" || name == "capture.json")?,
        "samples" => files(&fixtures, |name| name == "samples.jsonl")?,
        "settings" => files(&fixtures, |name| {
            name.starts_with("queue-")
                || ["mounts.txt", "mdstat.txt", "settings.txt", "vm-dirty.txt"].contains(&name)
        })?,
        "arguments" => ARGUMENTS.iter().map(|text| seed("argument", text.as_bytes())).collect(),
        _ => Vec::new(),
    };
    for (i, seed) in seeds.iter_mut().enumerate() {
        seed.bytes.truncate(target.longest);
        seed.name = format!("{i}-{}", seed.name);
    }
    Ok(seeds)
}

/// Where the pages of the small recording are.
pub fn pages_of_small() -> &'static [usize] {
    static PAGES: OnceLock<Vec<usize>> = OnceLock::new();
    PAGES.get_or_init(|| pages_in(SMALL).unwrap_or_default())
}

fn pages_in(bytes: &[u8]) -> io::Result<Vec<usize>> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    let (_, regions) = capture::Head::read(&mut file, Path::new("small")).map_err(io::Error::other)?;
    let begins = |r: &capture::Region| (r.offset as usize..(r.offset + r.bytes.0) as usize).step_by(PAGE);
    Ok(regions.iter().flat_map(begins).filter(|at| at + PAGE <= bytes.len()).collect())
}

fn pages() -> Vec<u8> {
    pages_of_small().iter().flat_map(|&at| SMALL[at..at + PAGE].to_vec()).collect()
}

fn unpacked(name: &str, packed: &[u8]) -> io::Result<Seed> {
    Ok(seed(name, &zstd::decode_all(packed)?))
}

/// A capture as it is sent: the parts of a small recording.
fn streamed() -> io::Result<Vec<u8>> {
    let sent = tempfile::NamedTempFile::new()?;
    let stream = capture::Stream::new(Box::new(sent.reopen()?));
    let head = capture::Head { page_size: 4096, clock: "[mono]".into(), ..capture::Head::default() };
    let all = |stream: &capture::Stream| -> capture::Result<()> {
        stream.file(capture::HEAD, &head.bytes(2))?;
        let mut raw = stream.parts(capture::raw_name(trace::Cpu(1)));
        raw.write(&SMALL[SMALL.len() - PAGE..])?;
        raw.write(&SMALL[SMALL.len() - PAGE..])?;
        stream.parts(capture::SAMPLES_JSONL).write(b"{}\n")?;
        stream.file(capture::CAPTURE_JSON, b"{}")?;
        stream.end()
    };
    all(&stream).map_err(io::Error::other)?;
    drop(stream);
    fs::read(sent.path())
}

/// Operations of bundled recordings as trace-cmd prints them, without events of other tasks: there are more than ten I/Os in each,
/// which is what a verdict needs.
fn operations(root: &Path) -> io::Result<Vec<Seed>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root.join("fuzz/seeds"))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| Ok(seed(&name(path), &fs::read(path)?))).collect()
}

/// Files in the folders of `root` whose names are wanted, uncompressed.
fn files(root: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Seed>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in fs::read_dir(root)?.flatten().filter(|entry| entry.path().is_dir()) {
        found.extend(fs::read_dir(folder.path())?.flatten().map(|entry| entry.path()));
    }
    found.sort();
    let mut seeds = Vec::new();
    for path in found {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if wanted(&name) && fs::metadata(&path)?.len() > 0 {
            let file = File::open(&path)?;
            let mut bytes = Vec::new();
            match name.ends_with(".zst") {
                true => zstd::Decoder::new(file)?.take(MOST).read_to_end(&mut bytes)?,
                false => file.take(MOST).read_to_end(&mut bytes)?,
            };
            seeds.push(Seed { name, bytes });
        }
    }
    Ok(seeds)
}

/// As much as any target takes.
const MOST: u64 = 1 << 20;

/// Lines of it in formats of the user's.
const OWN: [&str; 2] = [
    "$ blkparse -f \"%D %T.%t %a %d %S+%n %p [%C] %e %U\\n\"\n8,0 0.000001000 Q WS 8+8 7 [dd] 0 0\n8,0 0.000002000 D WS 8+8 7 [dd] 0 0\n\
     8,0 0.000003000 C WS 8+8 0 [0] 0 0\n8,0 0.000004000 X WS 8+8 7 [dd] 0 12\n8,0 0.000005000 U N 0+0 7 [dd] 0 1\n",
    "0.1000 D R 8+8\n0.2000 C R 8+8\n0.3000 D R 16+8\n0.4000 C R 16+8\n0.5000 D R 24+8\n0.6000 C R 24+8\n0.7000 D R 32+9\n0.8000 C R 32+9\n",
];

const BLKPARSE: &str = "\
  8,0    1        1     0.000000000  4162  Q   R 1048576 + 8 [fio]
  8,0    1        2     0.000001203  4162  G   R 1048576 + 8 [fio]
  8,0    1        3     0.000002911  4162  I  RS 1048576 + 8 [fio]
  8,0    1        4     0.000004100  4162  D   R 1048576 + 8 [fio]
  8,0    0        1     0.000104100     0  C   R 1048576 + 8 [0]
  8,0    1        5     0.000204100  4162  A  WS 2048 + 64 <- (8,1) 0
  8,0    1        6     0.000304100  4162  X   W 2048 / 2064 [fio]
  8,0    1        7     0.000404100  4162  U   N [fio] 3
  8,0    1        8     0.000504100  4162  m   N cfq4162S / alloced
CPU0 (sda):
 Reads Queued:           1,        4KiB  Writes Queued:           0,        0KiB
";

const TRACES: &[&str] = &[
    "# tracer: nop\n#\n           fio-4162    [001] d..1.   100.000001: block_bio_queue: 8,0 R 1048576 + 8 [fio]\n\
           fio-4162    [001] d..1.   100.000002: block_rq_issue: 8,0 R 4096 () 1048576 + 8 [fio]\n\
        <idle>-0       [000] d.h1.   100.000102: block_rq_complete: 8,0 R () 1048576 + 8 [0]\n\
           fio-4162    [001] .....   100.000202: sys_enter: NR 74 (3, 0, 0, 0, 0, 0)\n\
           fio-4162    [001] .....   100.000302: sys_exit: NR 74 = 0\n",
    "fio  4162 [001]   100.000001: block:block_rq_issue: 8,0 R 4096 () 1048576 + 8 [fio]\n\
     swapper     0 [000]   100.000102: block:block_rq_complete: 8,0 R () 1048576 + 8 [0]\n\
     fio  4162 [001]   100.000202: sched:sched_switch: prev_comm=fio prev_pid=4162 prev_prio=120 prev_state=D ==> \
     next_comm=swapper/1 next_pid=0 next_prio=120\n",
    "[10:11:12.123456789] (+0.000001234) host block_rq_issue: { cpu_id = 1 }, { dev = 8388608, sector = 1048576, nr_sector = 8, \
     bytes = 4096, tid = 683, rwbs = 36, comm = \"fio\" }\n",
    "cpus=2\n  fio-4162  [001]   100.000001: block_rq_issue:       8,0 R 4096 () 1048576 + 8 [fio]\n",
];

const ARGUMENTS: &[&str] = &[
    "read.p99 > 1.1x",
    "fsync.max>20ms",
    "write.bytes/s < 100 MiB/s",
    "read.p99 < 20ms",
    "read_expire=50..1000",
    "scheduler=none",
    "12.3-12.9",
    "1.5:2.5",
    "1500ms:",
    ":3us",
    "read,write,sync,fua",
    "0x4f",
    "%D %2c %8s %5T.%9t %5p %2a %3d\\n",
    "Q,%a %-12C\\t%S + %n\\n",
];
