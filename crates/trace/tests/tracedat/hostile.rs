//! Any bytes give events, counted damage or an error; never a panic, never memory without bound.

use crate::build::{format, Dat};
use crate::fixtures::{path, V6, V7};
use proptest::prelude::*;
use std::io::Write;
use std::sync::LazyLock;
use trace::tracedat::{self, Order};
use trace::{Batch, Error, Quality, Source};

static FILES: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let mut small = Dat::new(Order::Big, 4, 7);
    small.codec = "zlib";
    small.formats = vec![("block", format("block_plug", 9, &[("char comm[16]", 8, 16, 0)]))];
    let record = [small.common(9, 3), vec![b'x'; 16]].concat();
    small.buffers[0].1 = vec![small.page(5, Some(2), &[(1, record)])];
    [V6, V7]
        .map(|n| std::fs::read(path(n)).unwrap())
        .into_iter()
        .chain([small.bytes()])
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
});

/// Reads a file to its end; gives what was delivered.
fn read(bytes: &[u8]) -> Result<Quality, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut dat = tracedat::open(file.path())?;
    let _ = dat.symbols();
    let mut batch = Batch::default();
    let mut events = 0;
    while dat.fill(&mut batch)? {
        events += (batch.events.len() + batch.tasks.len()) as u64;
    }
    let q = dat.quality();
    assert_eq!(q.events, events);
    Ok(q)
}

/// Where the metadata ends and pages begin; changes before it hit lengths, counts and texts.
const HEAD: usize = 0x6000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_cut_anywhere(which in 0..3usize, at in any::<prop::sample::Index>()) {
        let whole = &FILES[which];
        let cut = at.index(whole.len());
        if let Ok(q) = read(&whole[..cut]) {
            // What was cut is said, in words or in numbers; unless nothing was (texts that nobody refers to).
            let all = read(whole).unwrap().events;
            prop_assert!(!q.notes.is_empty() || q.cut_records > 0 || q.events == all, "cut at {cut}: {q:?}");
        }
    }

    #[test]
    fn bytes_changed_anywhere(
        which in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = FILES[which].clone();
        for (at, head, value) in changes {
            let range = if head { bytes.len().min(HEAD) } else { bytes.len() };
            bytes[at.index(range)] = value;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn words_changed_to_extremes(
        which in 0..3usize,
        at in any::<prop::sample::Index>(),
        size in prop::sample::select(vec![2usize, 4, 8]),
        value in prop::sample::select(vec![0u64, 1, 3, 0x7fff_ffff, 0x8000_0000, u64::MAX, u64::MAX / 2, 1 << 40]),
    ) {
        let mut bytes = FILES[which].clone();
        let at = at.index(bytes.len().min(HEAD) - 8);
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        let _ = read(&bytes);
    }

    #[test]
    fn pages_of_noise(noise in prop::collection::vec(any::<u8>(), 4080..4081), commit in 0u64..5000) {
        let mut d = Dat::new(Order::Little, 8, 6);
        d.formats = vec![("block", format("block_plug", 9, &[("char comm[16]", 8, 16, 0)]))];
        let page = [7u64.to_le_bytes().to_vec(), commit.to_le_bytes().to_vec(), noise].concat();
        d.buffers[0].1 = vec![page];
        let q = read(&d.bytes()).unwrap();
        prop_assert!(commit <= 4080 || q.cut_records > 0);
    }
}

#[test]
fn errors_say_where_and_what() {
    let [v6, v7, _] = &*FILES;
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(message(b"").contains("not a trace.dat"));
    assert!(message(b"\x17\x08\x44tracing9\0\0\x08\0\x10\0\0").contains("version \"9\""));
    assert!(message(&v6[..300]).contains("is the file cut off?"));
    assert!(message(&v7[..v7.len() / 2]).contains("at byte"));
    let mut long = v6.clone();
    long[13] = 5;
    assert!(message(&long).contains("words of 5 bytes"));
    let mut order = v6.clone();
    order[12] = 1; // said to be big-endian
    assert!(message(&order).contains("at byte"));
}

/// A wrong CPU count: more than the list has room for is an error, fewer reads what is listed.
#[test]
fn a_wrong_cpu_count() {
    let mut d = Dat::new(Order::Little, 8, 6);
    d.formats = vec![("block", format("block_plug", 9, &[("char comm[16]", 8, 16, 0)]))];
    let page = d.page(5, None, &[(1, [d.common(9, 3), vec![b'x'; 16]].concat())]);
    d.buffers[0].1 = vec![page.clone(), page];
    let bytes = d.bytes();
    let at = bytes.windows(10).position(|w| w == b"options  \0").unwrap() - 4;
    let with = |n: u32| {
        let mut b = bytes.clone();
        b[at..at + 4].copy_from_slice(&n.to_le_bytes());
        read(&b)
    };
    assert_eq!(with(2).unwrap().events, 3);
    assert_eq!(with(1).unwrap().events, 2);
    assert!(with(u32::MAX).unwrap_err().to_string().contains("4294967295 CPUs"));
    assert!(
        with(4000).is_err() || with(4000).unwrap().cut_records + with(4000).unwrap().notes.len() as u64 > 0
    );
}

/// Unpacking stops at what was promised, and the promise is bounded.
#[test]
fn a_chunk_that_promises_too_much() {
    let mut d = Dat::new(Order::Little, 8, 7);
    d.codec = "zstd";
    d.formats = vec![("block", format("block_plug", 9, &[("char comm[16]", 8, 16, 0)]))];
    d.buffers[0].1 = vec![d.page(5, None, &[])];
    let mut bytes = d.bytes();
    let at = bytes.windows(8).position(|w| w[4..] == 4096u32.to_le_bytes()[..] && w[0] < 60).unwrap();
    bytes[at + 4..at + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    match read(&bytes) {
        Ok(q) => assert!(q.cut_records > 0 || !q.notes.is_empty(), "{q:?}"),
        Err(e) => assert!(e.to_string().contains("at byte"), "{e}"),
    }
}
