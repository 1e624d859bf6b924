//! Memory depends on what is in flight and on the tail that is kept, not on how long a recording is: the same
//! recording ten times over, with everything on. Set `CAPTURES` for longer ones than the bundled one, and `ROUNDS` for more.
//!
//! What counts is what is *in use*, by the allocator's own count: pages that the C library keeps for later come and go.

use cap::Cap;
use stats::Analysis;
use std::alloc::System;
use std::path::{Path, PathBuf};
use trace::{Batch, Nanos, What};

/// Counts what is in use.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Rounds.
const ROUNDS: u64 = 10;

/// After so many nothing is new: tables have the size they need, and a short recording has been forgotten once (what is
/// over is forgotten every eighth batch).
const SETTLED: usize = 3;

/// Between two rounds.
const PAUSE: Nanos = Nanos(10_000_000);

/// What the later rounds may add, in bytes. The 32 slowest of each group are kept whole, and the slowest of all is among
/// them once more each round: 273 KiB of the 360 that six more rounds of `e2_append_ext4_stable1` add, and over with the
/// 32nd round. The rest are counts by second, which double ten times in a thousand rounds.
const GROWTH: usize = 1 << 20;

/// Plays a recording once, moved by `shift`. Gives the time of its last event, not moved.
fn play(file: &Path, shift: Nanos, analysis: &mut Analysis) -> (Nanos, u64) {
    let mut source = trace::open(file).expect("a recording").source;
    let (mut batch, mut last, mut events) = (Batch::default(), Nanos(0), 0);
    while source.fill(&mut batch).expect("readable") {
        for e in &mut batch.events {
            last = last.max(e.time);
            e.time += shift;
        }
        for t in &mut batch.tasks {
            last = last.max(t.time);
            t.time += shift;
            if let What::Lost { since } = &mut t.what {
                *since += shift;
            }
        }
        events += (batch.events.len() + batch.tasks.len()) as u64;
        analysis.feed(&batch);
        analysis.count();
    }
    (last, events)
}

#[test]
fn ten_times_the_recording_is_not_ten_times_the_memory() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-slow-mirror/trace.dat");
    let captures = std::env::var_os("CAPTURES").map(PathBuf::from);
    let rounds = std::env::var("ROUNDS").map_or(ROUNDS, |n| n.parse().expect("a number"));
    let long = |name: &str| Some(captures.as_ref()?.join(name).join("trace.dat")).filter(|f| f.is_file());
    let all =
        [long("a_randread_alone"), long("f_fsync_xfs_j4"), long("e2_append_ext4_stable1"), Some(bundled)];
    for file in all.into_iter().flatten() {
        let mut analysis = Analysis::default();
        let begun = first(&file);
        let (mut shift, mut all_events, mut in_use) = (Nanos(0), 0, Vec::new());
        let before = MEMORY.allocated();
        for _ in 0..rounds {
            let (last, events) = play(&file, shift, &mut analysis);
            all_events += events;
            shift += last.since(begun) + PAUSE;
            in_use.push(MEMORY.allocated().saturating_sub(before));
        }
        let kib: Vec<usize> = in_use.iter().map(|b| b >> 10).collect();
        println!("{}: {all_events} events, KiB in use after each round: {kib:?}", file.display());
        let most = |rounds: &[usize]| rounds.iter().copied().max().unwrap_or(0);
        let (settling, later) = in_use.split_at(SETTLED.min(in_use.len()));
        let grown = most(later).saturating_sub(most(settling));
        assert!(grown < GROWTH, "{}: {grown} bytes more", file.display());
    }
}

/// The time of a recording's first event.
fn first(file: &Path) -> Nanos {
    let mut source = trace::open(file).expect("a recording").source;
    let mut batch = Batch::default();
    source.fill(&mut batch).expect("readable");
    let block = batch.events.iter().map(|e| e.time).find(|t| t.0 > 0);
    block.into_iter().chain(batch.tasks.iter().map(|t| t.time).find(|t| t.0 > 0)).min().unwrap_or_default()
}
