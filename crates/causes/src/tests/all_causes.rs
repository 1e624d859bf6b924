//! What holds for every cause and every recording.

use super::*;
use proptest::prelude::*;
use trace::Nanos;

fn stories() -> impl Strategy<Value = TraceBuilder> {
    let io = (0u8..8, 0u64..2_000_000, 1u64..60_000, 1u64..200_000, 1u64..4096);
    (prop::collection::vec(io, 1..200), any::<bool>()).prop_map(|(ios, settings)| {
        let mut recording = TraceBuilder::default();
        for (kind, at, wait, time, kib) in ios {
            match kind {
                0 => recording.read(at, at + wait, at + wait + time),
                1 => recording.scheduled_read(at, at + wait, at + wait + time),
                2 => recording.writeback(at, at + wait, at + wait + time, kib),
                3 => recording.sync_write(at, at + wait, at + wait + time),
                4 => recording.cut_write(at, at + time, 512, 32),
                5 => recording.flushed_write(at, wait, time),
                6 => recording.raid_write(at, wait, wait, time),
                _ => recording.note(at, "raid5 rmw 8 1").note(at, "md bitmap_unplug"),
            };
        }
        if settings {
            recording.settings("sda/queue/wbt_lat_usec: 0\nsda/queue/scheduler: [mq-deadline]\nsda/queue/max_sectors_kb: 32\n");
        }
        recording
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn shares_never_exceed_the_whole(mut recording in stories()) {
        let verdicts = recording.verdicts();
        let sum: f64 = verdicts.iter().map(|v| v.share).sum();
        prop_assert!(sum <= 1.0 + 1e-9, "{verdicts:?}");
        for v in &verdicts {
            prop_assert!(v.share >= 0.0);
            prop_assert_eq!(v.verdict == Answer::Found, v.confidence.is_some());
            prop_assert_eq!(v.claims.iter().map(|c| c.time).sum::<Nanos>(), v.explains, "{:?}", v);
            match v.verdict {
                Answer::Found => prop_assert!(!v.evidence.is_empty(), "{:?}", v),
                Answer::Rejected => prop_assert!(v.share == 0.0 && !v.refutes.is_empty()),
                Answer::CannotTell => prop_assert!(v.share == 0.0 && !v.missing.is_empty()),
            }
        }
        let found = verdicts.iter().filter(|v| v.verdict == Answer::Found);
        let healthy = found.clone().any(|v| v.cause == "healthy");
        prop_assert!(!healthy || found.count() == 1, "healthy and yet: {:?}", verdicts);
    }
}

#[test]
fn each_is_judged_once() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    let mut judged: Vec<_> = recording.verdicts().iter().map(|v| v.cause).collect();
    let mut known: Vec<_> = all().iter().map(|c| c.name).collect();
    judged.sort_unstable();
    known.sort_unstable();
    assert_eq!(judged, known);
}

#[test]
fn each_has_its_page() {
    let says = |cause: &Cause, what: &str| assert!(cause.page.contains(what), "{}: {what}", cause.name);
    for cause in all() {
        assert!(cause.page.trim_start().starts_with(&format!("# {}", cause.name)), "{}", cause.name);
        says(cause, "## How iowhy knows");
        says(cause, "## What would refute it");
        says(cause, "## What to do");
        says(cause, "## How to check that it worked");
    }
}
