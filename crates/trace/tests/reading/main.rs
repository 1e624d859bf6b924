//! Reading blktrace's files: what was written comes back, and what is wrong is said.

mod bad_input;
mod bounds;
mod doubtful;
mod mutated;
mod round_trip;
mod runs;

use std::path::Path;
use trace::{Batch, Error, Event, Quality};

/// A recording, read to its end.
#[derive(Debug, PartialEq)]
struct Read {
    /// Events with their texts; where a text lay in its batch is forgotten.
    events: Vec<(Event, Vec<u8>)>,
    quality: Quality,
}

/// Reads what lies at `path`.
fn read(path: &Path) -> Result<Read, Error> {
    let mut source = trace::open(path)?.source;
    let mut batch = Batch::default();
    let mut events = Vec::new();
    while source.fill(&mut batch)? {
        events.extend(batch.events.iter().map(|e| plain(*e, batch.text(e))));
    }
    Ok(Read { events, quality: source.quality() })
}

fn plain(mut event: Event, text: &[u8]) -> (Event, Vec<u8>) {
    if let trace::Detail::Text(span) = &mut event.detail {
        span.start = 0;
    }
    (event, text.to_vec())
}

/// The events of a story as they should come back.
fn told(script: &testkit::Script) -> Vec<(Event, Vec<u8>)> {
    script.clone().numbered().told.iter().map(|t| plain(t.event, &t.text)).collect()
}

/// A file with these bytes in a folder of its own.
fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writing a trace");
    (folder, path)
}

/// A few events of every form of payload, on two CPUs.
fn all_forms() -> testkit::Script {
    testkit::Script::of(
        "
          0  wall 1700000000 5 cpu=1
          1  name fio tid=7
          2  A WS 2056+16 <- 253,0 8 tid=7
          3  Q WS 2056+16 tid=7 cg=77
          4  X WS 2056+8 / 2064 tid=7
          5  G WS 2056+8 tid=7
          6  P N tid=7
          7  I WS 2056+8 tid=7 cg=77
          8  UT N 3 tid=7 cpu=1
          9  D WS 2056+8 tid=7 cpu=1
         10  m raid5 rmw 8 1 cg=77 cpu=1
         11  C WS 2056+8 tid=0 err=5 cpu=1
         12  Q FWFSM 64+8 tid=7
         13  D R 0+1 pc
         14  Q DS 4294967296+4194303 cpu=1",
    )
}
