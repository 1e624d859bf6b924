//! What holds of any events, also of those that no kernel would write.

use life::{ByClass, IoObserver, IoTracker};
use proptest::prelude::*;
use testkit::{hostile, nanos, observed, observed_in_batches, Observed, Script};
use trace::{Action, Batch, Bytes, DevId, Nanos};

/// Bytes queued = completed + in flight + lost.
fn balanced(told: &Observed, script: &Script) -> Result<(), TestCaseError> {
    let t = told.tally;
    prop_assert_eq!(t.bytes_queued, script.bytes_queued());
    prop_assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost, "{:?}", t);
    prop_assert_eq!(t.requests, told.requests.len() as u64);
    let completed: Bytes = told.bios.iter().map(|b| b.bytes).sum();
    prop_assert_eq!(t.bytes_completed, completed);
    prop_assert!(
        t.bytes_in_flight.0 == 0 || t.bios_in_flight + t.requests_in_flight > 0,
        "bios without a piece"
    );
    prop_assert!(t.bios >= told.bios.len() as u64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Nothing vanishes, whatever happens.
    #[test]
    fn bytes_are_conserved(script in hostile::script(300)) {
        balanced(&observed(&script), &script)?;
    }

    /// Cutting a recording anywhere, or losing any event of it, keeps that true.
    #[test]
    fn bytes_are_conserved_when_events_are_lost(lost in prop::collection::vec(any::<prop::sample::Index>(), 1..40)) {
        let mut script = busy_disk();
        for at in lost {
            let at = at.index(script.told.len());
            script.told.remove(at);
        }
        balanced(&observed(&script), &script)?;
    }

    /// The same events give the same lives wherever the batches end.
    #[test]
    fn batches_do_not_matter(script in hostile::script(200), size in 1usize..50) {
        prop_assert_eq!(&observed_in_batches(&script, size).requests, &observed(&script).requests);
        let (a, b) = (observed_in_batches(&script, size), observed(&script));
        prop_assert_eq!((a.bios, a.plugs, a.depths, a.tasks, a.tally), (b.bios, b.plugs, b.depths, b.tasks, b.tally));
    }

    /// A device holds what was issued and neither completed, given back nor given up: never less than nothing.
    #[test]
    fn depth_is_what_was_issued_less_what_left(script in hostile::script(300)) {
        let mut tracker = IoTracker::default();
        let mut depth = Depths::default();
        let (mut issued, mut left) = (0, 0);
        for batch in script.batches(1) {
            depth.told = 0;
            tracker.feed(&batch, &mut depth);
            match batch.events[0].action {
                // Its end may have come before it.
                Action::Issue => {
                    issued += 1;
                    left += depth.told.saturating_sub(1);
                }
                Action::Requeue | Action::Complete => left += depth.told,
                _ => {}
            }
        }
        let tally = tracker.finish();
        let now: u64 = depth.now.values().sum();
        prop_assert!(left + now <= issued, "{issued} issued, {left} left, {now} there");
        prop_assert!(left + now + tally.requests_lost >= issued, "{issued} issued, {left} left, {now} there");
    }

    /// Stamps of requests and bios are those of the events: never before the first, never behind the last.
    #[test]
    fn times_come_from_the_trace(script in hostile::script(200)) {
        let told = observed(&script);
        let times: Vec<Nanos> = script.told.iter().map(|t| t.event.time).collect();
        for t in told.requests.iter().map(|r| r.time).chain(told.bios.iter().map(|b| b.time)) {
            let stamps = [t.queued, t.got, t.inserted, t.first_issued, t.issued, t.data_completed, Some(t.completed)];
            for stamp in stamps.into_iter().flatten() {
                prop_assert!(times.contains(&stamp));
            }
        }
    }
}

#[derive(Default)]
struct Depths {
    now: std::collections::BTreeMap<DevId, u64>,
    told: u64,
}

impl IoObserver for Depths {
    fn in_flight(&mut self, dev: DevId, _: Nanos, in_flight: &ByClass<u32>) {
        self.told += 1;
        self.now.insert(dev, in_flight.iter().map(|n| *n as u64).sum());
    }
}

/// Reads, writes that are merged, splits, flushes and requeues, as a kernel writes them.
fn busy_disk() -> Script {
    Script::of(
        "
          0  Q R 0+8
          1  G R 0+8
          2  I R 0+8
          3  Q W 1000+8
          4  G W 1000+8
          5  Q W 1008+8
          6  M W 1008+8
          7  D R 0+8
          8  D W 1000+16
          9  Q W 2000+64
         10  X W 2000+32 / 2032
         11  G W 2000+32
         12  G W 2032+32
         13  D W 2000+32
         14  R W 2000+32
         15  D W 2032+32
         16  D W 2000+32
         17  Q FWFSM 3000+8
         18  G FWFSM 3000+8
         19  D FN 0+0
         20  C R 0+8
         21  C FN 0+0
         22  D WSM 3000+8
         23  C W 2000+32
         24  C W 1000+16
         25  C WSM 3000+8
         26  D FN 0+0
         27  C FN 0+0
         28  C WSM 3000+0
         29  C W 2032+32",
    )
    .repeated(5, nanos("18"), 8)
}

/// Undamaged, every event of that disk finds its place.
#[test]
fn a_busy_disk_leaves_no_rest() {
    let told = observed(&busy_disk().repeated(3, nanos("1ms"), 100_000));
    let t = told.tally;
    assert_eq!(
        (t.unmatched(), t.requests_lost, t.requests_in_flight, t.bios_in_flight),
        (0, 0, 0, 0),
        "{t:?}"
    );
    assert_eq!((t.bios, told.bios.len()), (15 * 5, 15 * 5));
}

/// Plays one line over and over, each time further on by `stride`, and gives the most that was ever in flight.
fn flood(lines: &str, times: u64, stride: u64) -> usize {
    let mut tracker = IoTracker::default();
    let mut most = 0;
    let base = Script::of(lines);
    let mut batch = Batch::default();
    for i in 0..times {
        batch.clear();
        for t in &base.told {
            let mut e = t.event;
            e.time += Nanos(i * 1000);
            e.sector.0 += stride * i;
            if let trace::Detail::Split(at) = &mut e.detail {
                at.0 += stride * i;
            }
            batch.events.push(e);
        }
        tracker.feed(&batch, &mut Observed::default());
        most = most.max(tracker.in_flight());
    }
    let t = tracker.finish();
    assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost);
    most
}

/// Lives in flight stay bounded, however many completions (issues, merges) never come.
#[test]
fn memory_is_bounded() {
    /// 2^17 pieces and as many bios.
    const BOUND: usize = 1 << 18;
    /// More than that.
    const MANY: u64 = 150_000;
    /// More than the smaller limits: of those that wait on one device, for a flush, or on one sector.
    const SOME: u64 = 10_000;
    let floods = [
        ("bios that never get a request", SOME, "0 Q R 0+8", 8),
        ("requests never issued", MANY, "0 Q R 0+8 \n 0 G R 0+8", 8),
        ("requests never completed", MANY, "0 Q R 0+8 \n 0 G R 0+8 \n 0 D R 0+8", 8),
        ("issues out of nowhere", MANY, "0 D R 0+8", 8),
        ("inserts out of nowhere", MANY, "0 I R 0+8", 8),
        ("gets out of nowhere", MANY, "0 G R 0+8", 8),
        ("one sector over and over", SOME, "0 Q R 0+8 \n 0 G R 0+8 \n 0 D R 0+8", 0),
        ("flushes never completed", MANY, "0 D FN 0+0", 0),
        ("empty flushes never completed", SOME, "0 Q FWS 0+0 \n 0 G FWS 0+0", 0),
        ("flushed writes without an end", MANY, "0 Q FWS 0+8 \n 0 G FWS 0+8 \n 0 D WS 0+8 \n 0 C WS 0+8", 8),
        ("one request merged into for ever", MANY, "0 Q W 0+8 \n 0 M W 0+8", 8),
        ("fronts merged into for ever", MANY, "0 Q W 0+8 \n 0 G W 0+8 \n 0 Q W 8+8 \n 0 M W 8+8", 16),
        ("announced and never queued", SOME, "0 Q R 0+8 dev=9,0 \n 0 A R 0+8 <- 9,0 0", 8),
        ("plugs never pulled", MANY, "0 P N", 0),
    ];
    // Two at a time: no other test of this program takes as long.
    std::thread::scope(|scope| {
        for some in floods.chunks(floods.len() / 2) {
            scope.spawn(move || {
                for (what, times, lines, stride) in some {
                    let most = flood(lines, *times, *stride);
                    assert!(most <= BOUND, "{what}: {most} in flight");
                }
            });
        }
    });
}

/// One bio cut again and again.
#[test]
fn a_bio_cut_a_hundred_thousand_times() {
    let mut tracker = IoTracker::default();
    let mut batch = Script::of("0 Q W 0+200000").batches(1).remove(0);
    for i in 1..100_000u64 {
        batch.events.extend(Script::of(&format!("1 X W {}+1 / {i}", i - 1)).told.iter().map(|t| t.event));
    }
    tracker.feed(&batch, &mut Observed::default());
    assert!(tracker.in_flight() <= 1 << 18);
    let t = tracker.finish();
    assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost);
}

/// More devices than any host has: those that are not followed are counted.
#[test]
fn very_many_devices() {
    let mut tracker = IoTracker::default();
    for dev in 0..100_000u32 {
        let read = Script::of("0 Q R 0+8 \n 1 G R 0+8 \n 2 D R 0+8").on(DevId(dev.wrapping_mul(40_503)));
        tracker.feed(&read.batches(10)[0], &mut Observed::default());
    }
    assert!(tracker.in_flight() <= 1 << 18);
    let t = tracker.finish();
    let followed = t.bios + t.unmatched() / 3;
    assert_eq!(followed, 100_000);
}
