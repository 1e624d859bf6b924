//! `iowhy events` beside the real blkparse: the same lines for the same records.
//!
//! The records are made up within what blkparse 1.2.0 prints rightly; what it gets wrong is listed in
//! `docs/blkparse.md` and tested in `golden.rs`. Real recordings: `CAPTURES=DIR`.

use crate::support::{assert_same_lines, blkparse, iowhy, made, message, named, write_trace, Build, Made};
use events::{Format, Mask, Options, OwnFormat, Window};
use proptest::prelude::*;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use testkit::STEPS;
use trace::{Action, Detail, DevId, Flags, Sector};

/// Runs both on the same records with the same meaning of `arguments` and `options`.
fn compare(events: &[Made], arguments: &[&str], options: Options) {
    let folder = tempfile::tempdir().unwrap();
    write_trace(folder.path(), events);
    if let Some(theirs) = blkparse(folder.path(), "sda", arguments) {
        let ours = iowhy(&folder.path().join("sda"), options);
        assert_same_lines(&ours, &theirs, &format!("blkparse {arguments:?}"));
    }
}

const NAMES: [&str; 4] = ["fio", "kworker/0:1H", "a b]c", "fifteen-letters"];

fn names() -> Vec<Made> {
    (0..).zip(NAMES).map(|(i, name)| named(0, 100 + i, name)).collect()
}

fn kind() -> impl Strategy<Value = Flags> {
    let direction =
        prop_oneof![Just(Flags::READ), Just(Flags::WRITE), Just(Flags::WRITE.with(Flags::DISCARD))];
    let more = [Flags::SYNC, Flags::META, Flags::AHEAD, Flags::FUA, Flags::FLUSH];
    (direction, 0u32..32).prop_map(move |(direction, set)| {
        (0..5).filter(|i| set >> i & 1 == 1).fold(direction, |all, i| all.with(more[i]))
    })
}

/// Any record that blkparse prints, at time 0.
fn any_record() -> impl Strategy<Value = Made> {
    use Action::*;
    // blkparse has no line for an abort.
    let action = prop::sample::select(STEPS.into_iter().filter(|a| *a != Abort).collect::<Vec<_>>());
    let place = (prop_oneof![0..100u64, any::<u64>()], prop_oneof![Just(0u64), 1..5000u64]);
    let who = (99..105u32, 0..3u32, any::<u16>(), any::<u32>(), any::<u64>());
    let command = prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..20);
    (action, place, kind(), who, command, any::<bool>()).prop_map(
        |(action, (sector, sectors), kind, (tid, cpu, error, number, far), command, passed)| {
            if action == Message {
                return message(0, &format!("cfq{tid}S / {number}")).cpu(cpu);
            }
            let bare = matches!(action, Plug | Unplug | UnplugImplicit);
            let (sectors, kind) = if bare { (0, Flags(0)) } else { (sectors, kind) };
            let m = made(0, action, sector, sectors, kind).tid(tid).cpu(cpu).error(error);
            match action {
                Unplug | UnplugImplicit => m.detail(Detail::Requests(number.into())),
                Split => m.detail(Detail::Split(Sector(number.into()))),
                Remap => m.detail(Detail::Remap { dev: DevId::new(253, cpu), sector: Sector(far) }),
                Issue | Complete | Insert if passed => m.command(&command),
                Queue | Requeue if passed => m.command(b""),
                _ => m,
            }
        },
    )
}

/// Records with times that grow, behind the names of the tasks.
fn any_records() -> impl Strategy<Value = Vec<Made>> {
    prop::collection::vec((any_record(), 1..3_000_000_000u64), 1..60).prop_map(|records| {
        let mut time = 1000;
        let mut all = names();
        for (mut m, step) in records {
            time += step;
            m.event.time.0 = time;
            all.push(m);
        }
        all
    })
}

fn quiet() -> Options {
    Options { quiet: true, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_records_make_the_same_lines(events in any_records()) {
        compare(&events, &["-q"], quiet());
    }

    #[test]
    fn formats(events in any_records(), which in 0usize..5) {
        let formats = [
            "%D %2c %8s %5T.%9t %5p %2a %3d\\n",
            "%a|%-4c|%-20C|%30C|%5d|%-5d|\\t%8e|%-8e\\r\\n",
            "%m:%M %n %12n %-12n %N %3N %-14N %p %S %-30S%%\\n",
            "%t %3t %12t %T %9T %-9T, %P.\\n",
            "no fields at all ",
        ];
        let mut o = quiet();
        o.formats.set_all(Format::parse(formats[which]).unwrap());
        o.formats.set_own(OwnFormat::parse("C,%e is the error of %S\\n").unwrap());
        o.formats.set_own(OwnFormat::parse("U,%10U %-10U\\n").unwrap());
        o.formats.set_own(OwnFormat::parse("X,%S %U\\n").unwrap());
        let own = ["-F", "C,%e is the error of %S\\n", "-F", "U,%10U %-10U\\n", "-F", "X,%S %U\\n"];
        compare(&events, &[&["-q", "-f", formats[which]], &own[..]].concat(), o);
    }

    #[test]
    fn masks_and_windows(events in any_records(), masks in prop::sample::subsequence(MASKS.to_vec(), 1..3),
                         start in 0u32..9, long in 1u32..9) {
        let window = format!("{start}.000001:{}.5", start + long);
        let mut o = Options { window: Window::parse(&window).unwrap(), ..quiet() };
        let mut arguments = vec!["-q", "-w", &window];
        let mut mask = Mask::default();
        for m in &masks {
            mask = mask.or(Mask::of_names(m).unwrap());
            arguments.extend(["-a", m]);
        }
        o.mask = mask;
        compare(&events, &arguments, o);
    }

    #[test]
    fn summaries_of_whole_requests(events in whole_requests()) {
        compare(&events, &[], Options::default());
        compare(&events, &["-s"], Options { per_task: true, ..Options::default() });
        compare(&events, &["-t"], Options { track: true, ..Options::default() });
        compare(&events, &["-s", "-t", "-q"], Options { per_task: true, track: true, ..quiet() });
    }
}

const MASKS: [&str; 12] =
    ["read", "write", "flush", "sync", "queue", "requeue", "issue", "complete", "fs", "pc", "notify", "META"];

/// Requests that go through all steps, several at a time, each on its own sectors.
fn whole_requests() -> impl Strategy<Value = Vec<Made>> {
    let request = (kind(), 1..300u64, 100..104u32, any::<bool>(), 0..5_000_000u64);
    prop::collection::vec((request, prop::array::uniform7(1..4_000_000u64), 0..3u32), 1..25).prop_map(
        |requests| {
            use Action::*;
            let mut all = Vec::new();
            for (i, ((kind, sectors, tid, requeued, start), waits, cpu)) in (1..).zip(requests) {
                let steps = [Queue, Get, Insert, Issue, Requeue, Issue, Complete];
                let mut time = start;
                for (step, wait) in steps.into_iter().zip(waits) {
                    time += wait;
                    if (step == Requeue && !requeued)
                        || (step == Issue && !requeued && time > start + 3 && seen(&all, i))
                    {
                        continue;
                    }
                    let who = if step == Complete { 0 } else { tid };
                    let m = made(time, step, i * 1000, sectors, kind).tid(who).cpu(cpu);
                    let passes = matches!(step, Insert | Issue | Requeue | Complete);
                    all.push(if passes { with_fs(m) } else { m });
                }
                all.push(made(time + 1, Plug, 0, 0, Flags(0)).tid(tid).cpu(cpu));
                all.push(
                    made(time + 2, Unplug, 0, 0, Flags(0)).tid(tid).cpu(cpu).detail(Detail::Requests(2)),
                );
            }
            all.sort_by_key(|m| m.event.time);
            // Equal times on two CPUs have no order of their own.
            let mut last = 0;
            for m in &mut all {
                last = (last + 1).max(m.event.time.0);
                m.event.time.0 = last;
            }
            // Where a step falls on the very first event, blkparse takes its time, 0, for "never".
            let first = message(0, "begin");
            [names(), vec![first], all].concat()
        },
    )
}

fn seen(all: &[Made], i: u64) -> bool {
    all.iter().any(|m| m.event.sector.0 == i * 1000 && m.event.action == Action::Issue)
}

fn with_fs(mut m: Made) -> Made {
    m.event.flags = m.event.flags.with(Flags::FS);
    m
}

/// Folders below `CAPTURES` with a blktrace recording: path and name of the device.
fn recordings() -> Vec<(PathBuf, String)> {
    let Some(captures) = std::env::var_os("CAPTURES") else {
        eprintln!("SKIPPED: CAPTURES is not set, no real recording was compared with blkparse");
        return Vec::new();
    };
    let folders = fs::read_dir(captures).expect("CAPTURES is a folder").flatten().map(|e| e.path());
    let mut found = Vec::new();
    for folder in folders.filter(|f| f.is_dir()) {
        for file in fs::read_dir(&folder).unwrap().flatten() {
            let file = file.file_name().to_string_lossy().into_owned();
            if let Some(device) = file.strip_suffix(".blktrace.0") {
                found.push((folder.clone(), device.to_string()));
            }
        }
    }
    found.sort();
    found
}

/// The largest recording that is compared: both outputs are held in memory.
const MAX_BYTES: u64 = 64 << 20;

#[test]
fn real_recordings_line_for_line() {
    for (folder, device) in recordings() {
        let size: u64 = (0..)
            .map_while(|n| fs::metadata(folder.join(format!("{device}.blktrace.{n}"))).ok())
            .map(|m| m.len())
            .sum();
        if size > MAX_BYTES {
            eprintln!("SKIPPED: {} {device} is larger than {MAX_BYTES} bytes", folder.display());
            continue;
        }
        let name = format!("{} {device}", folder.display());
        let ours = without_tagged_messages(&iowhy(&folder.join(&device), Options::default()));
        let Some(theirs) = reference(&folder, &device) else { continue };
        assert_same_lines(&ours, &theirs, &name);
        println!("{name}: {} lines are the same", ours.lines().count());

        let o = Options {
            per_task: true,
            window: Window::parse("1:3.5").unwrap(),
            mask: Mask::of_names("write,complete").unwrap(),
            ..Options::default()
        };
        let ours = without_tagged_messages(&iowhy(&folder.join(&device), o));
        let arguments = ["-s", "-w", "1:3.5", "-a", "write", "-a", "complete"];
        if let Some(theirs) = blkparse(&folder, &device, &arguments) {
            assert_same_lines(&ours, &theirs, &format!("{name} {arguments:?}"));
        }
    }
}

/// The recordings' messages all carry a cgroup's id, so blkparse knows none of them.
fn without_tagged_messages(text: &str) -> String {
    text.split_inclusive('\n').filter(|l| !l.contains("  m   N ")).collect()
}

/// What blkparse says, or said when the recording was made.
fn reference(folder: &Path, device: &str) -> Option<String> {
    if let Some(now) = blkparse(folder, device, &[]) {
        return Some(now);
    }
    let kept = fs::File::open(folder.join(format!("{device}.blkparse.txt.gz"))).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(kept).read_to_string(&mut text).ok()?;
    Some(text.split_inclusive('\n').filter(|l| !l.starts_with("Input file ")).collect())
}
