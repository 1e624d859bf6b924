//! A real recording (bfq, dm-linear, discards, messages of cgroups), cut and mutated at random: any bytes give events,
//! counted damage, or an error; and what is whole comes through.

use super::{file, read};
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use trace::Event;

fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/misc-events")
}

/// The first 40,000 bytes of one CPU's file, whole records.
struct Real {
    bytes: Vec<u8>,
    events: Vec<(Event, Vec<u8>)>,
}

fn real() -> &'static Real {
    static REAL: OnceLock<Real> = OnceLock::new();
    REAL.get_or_init(|| {
        let packed = std::fs::read(recording().join("vda.blktrace.1.zst")).expect("a bundled recording");
        let mut bytes = zstd::decode_all(&packed[..]).expect("zstd");
        bytes.truncate(40_000);
        let mut whole = 0;
        while let Some(head) = bytes.get(whole..whole + 48) {
            let len = 48 + u16::from_le_bytes([head[46], head[47]]) as usize;
            if whole + len > bytes.len() {
                break;
            }
            whole += len;
        }
        bytes.truncate(whole);
        let (_folder, path) = file("vda.blktrace.1", &bytes);
        let got = read(&path).expect("undamaged");
        assert_eq!((got.quality.damaged_bytes, got.quality.cut_records, got.quality.unknown), (0, 0, 0));
        Real { bytes, events: got.events }
    })
}

/// Undamaged, nothing is odd about it, per CPU or as a whole.
#[test]
fn undamaged() {
    let whole = read(&recording()).unwrap();
    let q = &whole.quality;
    assert_eq!((q.damaged_bytes, q.cut_records, q.unknown, q.clock_steps, q.out_of_order), (0, 0, 0, 0, 0));
    assert!(whole.events.windows(2).all(|w| w[0].0.time <= w[1].0.time), "in order of time");
    let tagged =
        whole.events.iter().filter(|(e, _)| e.action == trace::Action::Message && e.cgroup != 0).count();
    assert!(tagged > 100, "{tagged} messages of a cgroup");
}

proptest! {
    /// Cut anywhere: everything before the cut is there, and a record cut in two is counted.
    #[test]
    fn cut(at in any::<Index>()) {
        let Real { bytes, events } = real();
        let at = 1 + at.index(bytes.len() - 1);
        let (_folder, path) = file("vda.blktrace.1", &bytes[..at]);
        match read(&path) {
            Err(e) => prop_assert!(at < 4, "{}", e),
            Ok(got) => {
                prop_assert_eq!(&got.events[..], &events[..got.events.len()]);
                prop_assert!(got.quality.cut_records <= 1);
            }
        }
    }

    /// Bytes overwritten: no panic, and no more events than there is room for.
    #[test]
    fn overwritten(wrong in prop::collection::vec((any::<Index>(), any::<u8>()), 1..50)) {
        let mut bytes = real().bytes.clone();
        for (at, value) in wrong {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        accounted(&bytes)?;
    }

    /// Stretches taken out, doubled, or put elsewhere.
    #[test]
    fn torn_apart(cuts in prop::collection::vec((any::<Index>(), any::<Index>()), 1..8)) {
        let bytes = &real().bytes;
        let mut torn = vec![];
        for (a, b) in cuts {
            let (a, b) = (a.index(bytes.len()), b.index(bytes.len()));
            torn.extend(&bytes[a.min(b)..a.max(b)]);
        }
        accounted(&torn)?;
    }

    /// Headers of random lengths, versions and byte orders: the hardest for whoever steps from one to the next.
    #[test]
    fn random_headers(parts in prop::collection::vec((prop::sample::select(vec![7u8, 8, 9]), any::<bool>(), any::<[u8; 44]>(), 0usize..200), 1..40)) {
        let mut bytes = vec![];
        for (version, big_endian, rest, payload) in parts {
            let magic = 0x6561_7400u32 | version as u32;
            bytes.extend(if big_endian { magic.to_be_bytes() } else { magic.to_le_bytes() });
            bytes.extend(rest);
            bytes.resize(bytes.len() + payload, 0x61);
        }
        accounted(&bytes)?;
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        accounted(&bytes)?;
    }
}

/// Reads bytes as one file and as one of a folder's: both say the same, and every byte went somewhere.
fn accounted(bytes: &[u8]) -> Result<(), TestCaseError> {
    let (folder, path) = file("vda.blktrace.1", bytes);
    let (Ok(one), Ok(of_many)) = (read(&path), read(folder.path())) else { return Ok(()) };
    for got in [&one, &of_many] {
        let q = &got.quality;
        let noted = got.events.iter().filter(|(e, _)| e.action == trace::Action::Lost).count() as u64;
        prop_assert_eq!(q.events + noted, got.events.len() as u64);
        prop_assert!(q.events * 48 + q.damaged_bytes <= bytes.len() as u64);
        prop_assert!(q.damaged_bytes == 0 || !q.notes.is_empty(), "damage that is not said");
    }
    prop_assert_eq!(one.quality.events, of_many.quality.events);
    prop_assert_eq!(&one.quality.lost, &of_many.quality.lost);
    Ok(())
}
