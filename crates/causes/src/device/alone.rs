//! What is slow without interference: each request takes what such a request takes alone on this device.
//!
//! `cold-reads`: reads through the page cache that it did not have and that were not read ahead. `slow-device`:
//! anything else. Both claim the time in which the device served the victim's own requests, and how that varies, if it
//! is most of what was slow. They are asked last: any other finding explains the time better.

use crate::case::{is_named, Case, MIN_SAMPLES, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::expected::{expected, rotational, EXPECTED_FLASH};
use crate::device::power_state;
use crate::growth::Growth;
use crate::journal::durable;
use crate::measure::Load;
use crate::memory::{group_memory, in_turn, larger_reads, read_again};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::slow::Slow;
use crate::target::strace;
use crate::thresholds::alone::{FLASH_ALONE, FLASH_BYTES_A_SECOND, MOSTLY, NEARLY_ALL};
use crate::thresholds::device_stall::LONG;
use crate::thresholds::HALF_A_TURN;
use crate::verdict::{Confidence, Verdict};
use evidence::Fact;
use life::{Class, Io, Op};
use operation::{Kind, Wait};
use stats::TailRow;
use trace::{DevId, Flags, Nanos};
use units::words::size;
use waits::{CulpritKind, Phase, Selection};

/// The cause that claims the reads of page faults first.
const PAGE_FAULTS: &str = "page-fault-read";

const fn each(of: fn(&mut Case, &Slow, Verdict) -> Said) -> Judge {
    Judge::Each(Each {
        of,
        unless: "operations that are faster on this device while nothing else runs",
        otherwise: Otherwise::Explained,
        above: false,
    })
}

/// Reads that miss the page cache.
pub const COLD_READS: Cause = Cause {
    name: "cold-reads",
    title: "reads miss the page cache; each is as fast as the device",
    nature: Nature::General,
    page: include_str!("../../pages/cold-reads.md"),
    judge: each(|case, slow, v| of(case, slow, v, true)),
};

/// All other operations: writes, flushes, and reads that pass by the page cache.
pub const SLOW_DEVICE: Cause = Cause {
    name: "slow-device",
    title: "nobody else's I/O is in the way: the device itself takes this long",
    nature: Nature::General,
    page: include_str!("../../pages/slow-device.md"),
    judge: each(|case, slow, v| of(case, slow, v, false)),
};

/// Judges reads through the page cache (`cached`), or all other operations.
fn of(case: &mut Case, slow: &Slow, v: Verdict, cached: bool) -> Said {
    if slow.is_below() {
        return Said::Nothing;
    }
    let faults = case.was_found(PAGE_FAULTS);
    let seeks = may_seek(case, slow);
    let by_cache = read_by_cache(case, slow.on.id);
    let picks = |row: &TailRow| {
        (is_served(case, slow, row, seeks) || cached && is_abreast(case, slow, row))
            && cached
                == (slow.class == Class::Read && (is_cached(row) || by_cache && !tells_waits(case, row)))
            && !(faults && row.waits.has(Wait::PageFault))
    };
    let alone = case.unclaimed_rows(slow.group_number, |row| picks(row));
    let what = slow.words();
    let part = slow.share(alone);
    // Reads that had to come from the device at all are compared with flash, the device's own pace with a device of its kind.
    let turns = rotational(case, slow.on.id);
    let (enough, kind) = match cached {
        true => (EXPECTED_FLASH, "a page cache miss on flash".into()),
        false => expected(&turns),
    };
    let throughout = throughout(case, slow, at_once(slow, cached, &turns), picks);
    if part < MOSTLY && throughout.is_none() {
        return Said::Not(proof!(
            "the slowest {what} were being served by the device for only {alone} of their time",
            what,
            alone = Share(part)
        ));
    }
    let from = slow.group.tail.p99;
    if throughout.is_none() && from <= enough {
        return Said::Not(proof!(
            "the slowest {what} took {from}; Linux expects {enough} of {kind}",
            what,
            from,
            enough,
            kind
        ));
    }
    let of_device: Vec<bool> = case.rows(slow.group_number).iter().map(|row| picks(row)).collect();
    let claimed = case.claim_numbered(slow.group_number, alone, |number| of_device[number]);
    let of_all = throughout.filter(|_| part < MOSTLY);
    let v = v.plus(claimed, Confidence::High);
    let v = if cached { read_again::told(v, case, &slow.group.task, slow.on.id) } else { v };
    let changes = slow.class != Class::Read && slow.group.op.is_some_and(|op| !op.kind.makes_safe());
    let (v, is_asked) = if changes { durable::told(v, case, slow) } else { (v, false) };
    let v = prove(v, case, slow, claimed, of_all);
    let v = if cached { v } else { power_state::may_sleep(v, case, slow) };
    let mut v = if is_asked { v } else { remedies(v, case, slow, cached) };
    v.throughout.extend(throughout.map(|part| (slow.group_number, part)));
    Said::Found(v)
}

/// Groups of page faults that are slow throughout without interference, with the part of their time.
pub(crate) fn faults_throughout(case: &Case) -> Vec<(usize, f64)> {
    let is_fault =
        |slow: &Slow| slow.group.op.is_some_and(|op| op.kind == Kind::PageFault) && !slow.is_below();
    let of = |slow: Slow| {
        let seeks = may_seek(case, &slow);
        let picks = |row: &TailRow| is_served(case, &slow, row, seeks);
        throughout(case, &slow, at_once(&slow, true, &None), picks).map(|part| (slow.group_number, part))
    };
    case.slow().into_iter().filter(is_fault).filter_map(of).collect()
}

/// Whether a row is about a page of a file, or a block of a file system, that the cache did not have.
fn is_cached(row: &TailRow) -> bool {
    [Wait::PageRead, Wait::PageFault, Wait::Metadata].into_iter().any(|wait| row.waits.has(wait))
}

/// Whether most of a group's time is that of reads that missed the cache.
fn misses_the_cache(case: &Case, slow: &Slow) -> bool {
    let by_cache = read_by_cache(case, slow.on.id);
    let misses = |row: &TailRow| is_cached(row) || by_cache && !tells_waits(case, row);
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    let missed: Nanos = rows.iter().filter(|row| misses(row)).map(|row| row.time).sum();
    slow.class == Class::Read && missed.0 > slow.group.all.time.total.0 / 2
}

/// Whether the kernel function in which a row's task slept is known: not without recorded operations, and not without stacks.
fn tells_waits(case: &Case, row: &TailRow) -> bool {
    !case.facts.operations.is_empty() && !row.waits.has(Wait::Unknown)
}

/// Whether most reads of a device are flagged as those of the page cache or a file system: a program's reads past the
/// cache are neither read-ahead (`REQ_RAHEAD`) nor metadata (`REQ_META`).
pub(crate) fn read_by_cache(case: &Case, dev: DevId) -> bool {
    let reads = case.facts.cells.iter().filter(|(cell, _)| cell.dev == dev && cell.op == Op::Read);
    let (mut all, mut by_cache) = (0, 0);
    for (cell, phases) in reads {
        all += phases.count;
        by_cache +=
            if cell.flags.has(Flags::AHEAD) || cell.flags.has(Flags::META) { phases.count } else { 0 };
    }
    2 * by_cache > all
}

/// Whether the device served the victim alone in a row; on a device that seeks, a pause counts as a seek.
fn is_served(case: &Case, slow: &Slow, row: &TailRow, seeks: bool) -> bool {
    is_alone(case, &slow.group.task, row) || seeks && row.phase == Phase::Paused
}

/// Whether a row is time of a read that missed the cache beside other such reads of its task, hardly ever alone, and took no longer with
/// more of them in flight: threads that read at the same time, or what is read ahead. Of large reads, on a disk that may rotate, the
/// bytes are what takes time.
fn is_abreast(case: &Case, slow: &Slow, row: &TailRow) -> bool {
    let is_own = case.facts.waits.culprit_of(row.culprit).kind == CulpritKind::Own;
    let requests = slow.requests();
    let is_small = || flash_takes(requests.bytes.0 / requests.count.max(1)) < FLASH_ALONE + FLASH_ALONE;
    let rests = || rotational(case, slow.on.id).is_some_and(|turns| !turns.value);
    let abreast = || slow.group.is_mostly_unknown() && Growth::of(slow).is_some_and(|growth| !growth.grows());
    row.phase == Phase::Behind && is_own && (is_small() || rests()) && abreast()
}

/// Whether a row is time of the victim's own request, alone in the device; or of the journal's request for the victim's changes or
/// for no known task: without the kernel's functions it is not known for whom its threads write what an operation waits for.
pub(crate) fn is_alone(case: &Case, task: &str, row: &TailRow) -> bool {
    let culprit = case.facts.waits.culprit_of(row.culprit);
    let journal = || match culprit.io {
        Some(Io::Journal) => culprit.name.as_deref() == Some(task) || culprit.kind == CulpritKind::Kernel,
        Some(Io::SyncWrite) => culprit.kind == CulpritKind::Kernel,
        _ => false,
    };
    match row.phase {
        Phase::Service => culprit.kind == CulpritKind::Own || journal(),
        Phase::Varies | Phase::Slow => true,
        _ => false,
    }
}

/// The part of the time of all operations, slow or not, that some rows have; `None` unless it is most of the time and
/// long enough to matter, and such requests take longer than `enough` or a seek for each operation.
fn throughout(case: &Case, slow: &Slow, enough: Nanos, pick: impl Fn(&TailRow) -> bool) -> Option<f64> {
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    let picked = rows.iter().filter(|row| pick(row));
    let time: f64 = picked.map(|row| case.part_left(slow.group_number, row) * row.time.0 as f64).sum();
    let part = time / slow.group.all.time.total.0.max(1) as f64;
    let d2c = &slow.requests().d2c;
    let matters = time >= MIN_SHARE * case.facts.duration().0 as f64;
    let is_slow = d2c.count() >= MIN_SAMPLES && part * d2c.mean() > enough.0 as f64;
    (matters && part >= MOSTLY && (is_slow || seeks_for_each(case, slow, time))).then_some(part)
}

/// Whether a rotating disk sought for each of a group's synchronous operations, for its own requests and the journal's
/// together: alone, they took longer than half a turn and what flash takes for as many bytes.
fn seeks_for_each(case: &Case, slow: &Slow, alone: f64) -> bool {
    let operations = slow.group.all.time.operations;
    let turns = rotational(case, slow.on.id).is_some_and(|turns| turns.value);
    let bytes = slow.requests().bytes.0 / operations.max(1);
    let each = alone / operations.max(1) as f64;
    turns
        && slow.class != Class::Read
        && operations >= MIN_SAMPLES
        && each > (HALF_A_TURN + flash_takes(bytes)).0 as f64
}

/// The time of a request that is served at once: that of flash for a read that the cache should have had, or that comes from a
/// device known not to rotate; half a turn of a rotating disk, which seeks for what takes longer; else what Linux expects of flash.
fn at_once(slow: &Slow, cached: bool, turns: &Option<Fact<bool>>) -> Nanos {
    let requests = slow.requests();
    let bytes = requests.bytes.0 / requests.count.max(1);
    match turns {
        _ if cached => flash_takes(bytes),
        Some(turns) if turns.value => HALF_A_TURN,
        Some(_) if slow.class == Class::Read => flash_takes(bytes),
        _ => EXPECTED_FLASH,
    }
}

/// The time that flash takes for a single request of this many bytes.
pub fn flash_takes(bytes: u64) -> Nanos {
    FLASH_ALONE + Nanos(bytes.saturating_mul(1_000_000_000) / FLASH_BYTES_A_SECOND)
}

/// Whether a disk that may rotate took no longer for any request than for a seek: then a pause of it is a seek.
fn may_seek(case: &Case, slow: &Slow) -> bool {
    let turns = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
    turns && slow.requests().d2c.max() < LONG.0
}

/// Adds the proof: the device served the slowest alone for `claimed`, or, if these met something else, all operations for `of_all`.
fn prove(v: Verdict, case: &Case, slow: &Slow, claimed: Nanos, of_all: Option<f64>) -> Verdict {
    let requests = slow.requests();
    let v = match slow.reads_before_writing() {
        true => v.because(proof!(
            "most {what} change a part of a page that is not in memory: it is read first",
            what = slow.words()
        )),
        false => v,
    };
    let v = v.because(match of_all {
        Some(part) => proof!(
            "the device served {what} alone for {part} of the time of all of them; the slowest met something else",
            what = slow.words(),
            part = Share(part)
        ),
        None => proof!(
            "for {claimed} of their time the slowest {what} were being served, not waiting for other I/O",
            what = slow.words(),
            claimed = Share(slow.share(claimed))
        ),
    });
    // The requests of one operation wait for each other in the device: the time of each says little.
    if let Some((writes, size)) = Load::of(case, slow).of_each_sync() {
        let all = &slow.group.all.time;
        return v.because(proof!(
            "{what} waited for {writes} writes of {size} each time, {each} a write",
            what = slow.words(),
            writes = Count(writes),
            size,
            each = Nanos(all.total.0 / (all.operations * writes).max(1))
        ));
    }
    if requests.d2c.count() < MIN_SAMPLES {
        return v;
    }
    v.because(proof!(
        "{name} took {p50} for each (p50; p99 {p99}), {count} requests of {size} on average",
        name = case.name(slow.on.id),
        p50 = Nanos(requests.d2c.quantile(0.5)),
        p99 = Nanos(requests.d2c.quantile(0.99)),
        count = Count(requests.count),
        size = trace::Bytes(requests.bytes.0 / requests.count.max(1))
    ))
}

fn remedies(v: Verdict, case: &Case, slow: &Slow, cached: bool) -> Verdict {
    let load = Load::of(case, slow);
    let v = if cached { v } else { larger(v, case, slow, &load) };
    if slow.class != Class::Read {
        return v.try_this(
            format!(
                "measure such operations on the otherwise idle device ({}{}); a better device saves the difference",
                load.words(),
                load.remark()
            ),
            load.look("own"),
        );
    }
    if !cached {
        let is_async = slow.group.op.is_some_and(|op| op.kind == Kind::AioRead);
        let alone = slow.contention().by_depth.rows().find(|row| row.from == 0).map_or(0, |row| row.count);
        let is_one_by_one = is_async && alone as f64 > NEARLY_ALL * slow.requests().count as f64;
        let load = load.at_once(1);
        return v.try_this(
            format!(
                "measure what {} take one by one, and 16 at a time: if the device serves these together, ask for several at once{}",
                load.words(),
                if is_one_by_one { " (libaio waits for each in io_submit where a file is opened without O_DIRECT)" } else { "" }
            ),
            Action::look(format!("for n in 1 16; do {}; done", load.with_depth("own", "$n"))),
        );
    }
    let v = larger_reads::told(v, case, slow);
    let v = match slow.reads_before_writing() {
        true => v.try_on(
            Acts::Victim,
            "write whole pages at once (4 KiB at multiples of 4 KiB): nothing has to be read for these; see what is written now",
            strace(case, "-fy", "write,pwrite64,writev,pwritev2", Some(&slow.group.task).filter(|task| is_named(task)).map(|task| &**task)),
        ),
        false => v,
    };
    kept_in_memory(v, case, slow, &load)
}

/// Adds what avoids scattered reads that the cache could have had, if most of a group's time is spent on them: not those of files that
/// are read in order, which are read ahead already.
pub(crate) fn spared(v: Verdict, case: &Case, slow: &Slow, load: &Load) -> Verdict {
    let is_of_files = in_turn::of_files(case, slow.on, &slow.group.task).is_some();
    match load.is_random() && !is_of_files && misses_the_cache(case, slow) {
        true => kept_in_memory(read_again::told(v, case, &slow.group.task, slow.on.id), case, slow, load),
        false => v,
    }
}

fn kept_in_memory(v: Verdict, case: &Case, slow: &Slow, load: &Load) -> Verdict {
    let limit = group_memory::met(case, [&*slow.group.task].into_iter());
    if let Some(limit) = limit.filter(|_| load.is_random()) {
        // The task's reads evict what it read before.
        return if read_again::is_told(case, slow.on.id) { v } else { group_memory::raise(v, limit) };
    }
    // Measured on a disk that seeks: one after the other takes 1.1 times as long for files of 16 and 128 KiB, 0.6 times for those of 1 MiB.
    let v = match rotational(case, slow.on.id).is_some_and(|turns| turns.value) {
        true => v.try_this(
            "read the files into memory before they are needed, one after the other: a disk that turns seeks between several",
            "find DIR -type f -print0 | xargs -0 cat > /dev/null",
        ),
        false if are_several_at_once(slow) => v,
        false => v.try_this(
            "read the files into memory before they are needed, several at a time: a device with a queue serves them together",
            format!("find DIR -type f -print0 | xargs -0 -n 16 -P {AT_ONCE} cat > /dev/null"),
        ),
    };
    v.try_this(
        "see how much is cached and how much is evicted: more memory keeps the files cached",
        Action::look("vmstat 1 5; grep -E 'Cached|Active|Inactive' /proc/meminfo"),
    )
}

/// How many files are read at a time by the command that reads them into memory.
const AT_ONCE: u64 = 8;

/// Whether most requests found half as many others in flight: then the files are read several at a time already.
fn are_several_at_once(slow: &Slow) -> bool {
    let rows = slow.contention().by_depth.rows();
    let beside: u64 = rows.filter(|row| 2 * row.from >= AT_ONCE).map(|row| row.count).sum();
    2 * beside > slow.requests().d2c.count()
}

/// For small sequential pieces: a larger piece takes hardly longer.
fn larger(v: Verdict, case: &Case, slow: &Slow, load: &Load) -> Verdict {
    let moves_data = slow.group.op.is_none_or(|op| op.kind.moves_data());
    let Some(each) = load.in_small_steps().filter(|_| is_named(&slow.group.task) && moves_data) else {
        return v;
    };
    let calls = "read,pread64,write,pwrite64,io_submit";
    v.try_on(
        Acts::Victim,
        format!("have {} ask for larger pieces, 1 MiB at a time: they follow each other on the device, and each takes hardly longer than {each}; see what it asks for", slow.group.task, each = size(each)),
        strace(case, "-fy", calls, Some(&slow.group.task)),
    )
}
