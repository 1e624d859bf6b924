//! Memory depends on the number of CPUs, not on the trace. Hostile recordings are compressed, so that small files hold
//! a great deal.

use super::file;
use std::io::Write;
use testkit::{Layout, Script};
use trace::{Batch, Cpu, DevId};

/// A zstd file of `records` records, each made from its number.
fn packed(records: u32, record: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let mut out = zstd::stream::write::Encoder::new(vec![], 1).unwrap();
    (0..records).for_each(|i| out.write_all(&record(i)).unwrap());
    out.finish().unwrap()
}

/// Messages of 64 KiB each, 1.3 GB in all: neither a batch nor the window that puts a mixed file in order keeps
/// more than a few MB of them.
#[test]
fn long_messages() {
    const LIMIT: usize = 4 << 20;
    let mut told = Script::of("0 m x").told.remove(0);
    told.text = vec![b'x'; 0xffff];
    let record = Layout::USUAL.record(&told);
    let (folder, path) = file("vda.blktrace.0", &packed(20_000, |_| record.clone()));
    for path in [folder.path(), path.as_path()] {
        let before = resident();
        let mut source = trace::open(path).unwrap().source;
        let (mut batch, mut events, mut most) = (Batch::default(), 0, 0);
        while source.fill(&mut batch).unwrap() {
            let text: usize = batch.events.iter().map(|e| batch.text(e).len()).sum();
            assert!(text <= LIMIT, "a batch of {text} bytes of text");
            events += batch.events.len();
            most = most.max(resident());
        }
        assert_eq!(events, 20_000);
        // Other tests run beside this one, so the limit is generous; without bounds it is 1.3 GB.
        let grown = most.saturating_sub(before);
        assert!(grown < 300 << 20, "{} MB more", grown >> 20);
    }
}

/// Each record on a device and CPU of its own.
#[test]
fn a_million_devices() {
    let base = Script::of("0 Q R 0+8").told.remove(0);
    let record = |i: u32| {
        let mut told = base.clone();
        told.event.dev = DevId(i.wrapping_mul(2_654_435_761));
        told.event.cpu = Cpu(i.wrapping_mul(40_503));
        told.event.time.0 = i as u64;
        told.event.sequence = i;
        Layout::USUAL.record(&told)
    };
    let (folder, path) = file("vda.blktrace.0", &packed(1_000_000, record));
    for path in [folder.path(), path.as_path()] {
        let mut source = trace::open(path).unwrap().source;
        let (mut batch, mut events) = (Batch::default(), 0);
        while source.fill(&mut batch).unwrap() {
            events += batch.events.iter().filter(|e| e.action == trace::Action::Queue).count();
        }
        assert_eq!(events, 1_000_000);
        assert!(source.quality().lost.len() <= 100_001);
    }
}

/// Bytes of this process in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}
