//! Readers that take turns: each reads a file in order, and the device goes from one to another.
//!
//! A rotating disk seeks each time, for as long as it takes to read a megabyte. More read-ahead makes the turns longer and the seeks fewer.

use crate::case::Case;
use crate::device::expected::rotational;
use crate::memory::read_ahead_short::in_order_by;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::read_ahead_short::{DISK_BYTES_A_SECOND, IN_ORDER, IN_TURN};
use crate::verdict::Verdict;
use evidence::Fact;
use life::Class;
use stats::Device;
use trace::{Bytes, Nanos};

/// Reads of several files by one task, each read in order, on a rotating disk that mostly seeks.
pub(crate) struct InTurn {
    /// The part of the reads that continue another file than the read before, 0 to 1.
    part: f64,
    /// What the disk reads at a time.
    bytes: Bytes,
    /// What it needs for each, with the seek.
    each: Nanos,
    read_ahead: Fact<Bytes>,
    rotates: Fact<bool>,
}

impl InTurn {
    /// `None` if the reads are not those of several files, the disk does not rotate or does not mostly seek, or more is read ahead already.
    pub fn of(case: &Case, slow: &Slow) -> Option<InTurn> {
        let on = slow.on;
        let rotates = rotational(case, on.id).filter(|rotates| rotates.value)?;
        let read_ahead = case.settings(on.id)?.read_ahead_kb().filter(|now| now.value < IN_TURN)?;
        let part = of_files(case, on, &slow.group.task)?;
        let reads = &on.requests[Class::Read.index()];
        let all: u64 = on.requests.iter().map(|r| r.count).sum();
        if 2 * reads.count <= all {
            return None;
        }
        let busy = on.depth.busy() * on.depth.observed().0 as f64;
        let (bytes, each) = (Bytes(reads.bytes.0 / reads.count), Nanos((busy / all as f64) as u64));
        let it = InTurn { part, bytes, each, read_ahead, rotates };
        (it.seek() > moves(bytes)).then_some(it)
    }

    fn seek(&self) -> Nanos {
        self.each.since(moves(self.bytes))
    }

    /// The part of the time that larger read-ahead saves, 0 to 1: as many seeks fewer as more is read at a time.
    pub fn saved(&self) -> f64 {
        let per_byte = |bytes: Bytes| (self.seek() + moves(bytes)).0 as f64 / bytes.0.max(1) as f64;
        1.0 - per_byte(IN_TURN) / per_byte(self.bytes)
    }

    /// Adds the proof and the remedy.
    pub fn told(&self, v: Verdict, case: &Case, slow: &Slow) -> Verdict {
        let name = case.name(slow.on.id);
        let v = v
            .because(proof!(
                "{task} reads several files in order: {part} of its reads on {name} continue another than the one before",
                task = slow.group.task,
                part = Share(self.part),
                name
            ))
            .because(proof!(
                "{name} reads {bytes} at a time and takes {each} for that; a rotating disk (rotational is 1, {at}) moves as much in {moves}, and \
                 seeks for the rest",
                name,
                bytes = self.bytes,
                each = self.each,
                at = self.rotates.at,
                moves = moves(self.bytes)
            ))
            .because(proof!(
                "read_ahead_kb of {name} is {setting} ({at})",
                name,
                setting = Text(kib(self.read_ahead.value).to_string()),
                at = self.read_ahead.at
            ));
        more(v, &name, self.read_ahead.value, "each is read in order")
    }
}

/// Adds more read-ahead for two tasks that both read sequentially: the device then goes from one to the other less often.
pub(crate) fn of_two(v: Verdict, case: &Case, on: &Device, tasks: [&str; 2]) -> Verdict {
    let Some(now) = case.settings(on.id).and_then(|s| s.read_ahead_kb()) else { return v };
    if now.value >= IN_TURN || tasks.iter().any(|task| in_order_by(case, on, task) < IN_ORDER) {
        return v;
    }
    more(v, &case.name(on.id), now.value, "both read in order")
}

/// The part of a task's reads on a device that continue an earlier one, not the latest, 0 to 1, if it reads several files in order; of
/// several threads of that name the largest.
pub(crate) fn of_files(case: &Case, on: &Device, task: &str) -> Option<f64> {
    let its = on.readers.iter().filter(|(number, _)| case.facts.tasks.name(**number) == task);
    let part = its.map(|(_, reader)| reader.in_turn()).fold(0.0, f64::max);
    (part > 1.0 - IN_ORDER && part + in_order_by(case, on, task) >= IN_ORDER).then_some(part)
}

fn more(v: Verdict, name: &str, now: Bytes, how: &str) -> Verdict {
    v.try_this(
        format!(
            "read_ahead_kb {} -> {}: {how}, and a disk that seeks goes from one to the other less often; each waits longer at a time. Costs \
             memory, and others' time where files are not read sequentially",
            kib(now),
            kib(IN_TURN)
        ),
        Action::set(name, "queue/read_ahead_kb", kib(IN_TURN)),
    )
}

/// What a rotating disk needs to move so much without a seek.
fn moves(bytes: Bytes) -> Nanos {
    Nanos(bytes.0.saturating_mul(1_000_000_000) / DISK_BYTES_A_SECOND)
}

fn kib(bytes: Bytes) -> u64 {
    bytes.0 / 1024
}
