//! What was in a device when the recording began: only its completion is seen, and what comes next is behind it.

use life::{Flusher, IoObserver, IoTracker, Names, Request, Underway};
use testkit::{nanos, Script};
use trace::{DevId, Nanos, Tid};

/// A read of 4 KiB that is issued at 10 us and completed at 50 ms, behind two writes of 1 MiB and a flush that had been issued before; the
/// device then serves it alone, 20 times.
const BEHIND: &str = "
     1  name kworker/u4:2 tid=7
     5  Q R 8+8
     6  G R 8+8
    10  D R 8+8
 20ms   C W 5000+2048 tid=0
 40ms   C W 9000+2048 tid=0
 45ms   C F 0+0 tid=0
 50ms   C R 8+8 tid=0";

fn script() -> Script {
    let alone = Script::of("0 Q R 8+8 \n 1 G R 8+8 \n 10 D R 8+8 \n 410 C R 8+8 tid=0");
    Script::of(BEHIND).and(alone.repeated(20, nanos("2ms"), 16).after(nanos("60ms")))
}

#[derive(Default)]
struct All {
    requests: Vec<Request>,
    begun: Vec<Request>,
}

impl IoObserver for All {
    fn request(&mut self, r: &Request, _: &Names) {
        self.requests.push(*r);
    }
    fn begun_before(&mut self, r: &Request, _: &Names) {
        self.begun.push(*r);
    }
}

/// Reads a script once, or twice: the second time with what the first says was in the device, sent by `sender`.
fn read(script: &Script, sender: Option<Tid>, twice: bool) -> (All, IoTracker) {
    let (mut first, mut tracker, mut all) = (IoTracker::default(), IoTracker::default(), All::default());
    let batches = script.batches(usize::MAX);
    batches.iter().for_each(|batch| first.feed(batch, &mut All::default()));
    let flusher = sender.map(|tid| Flusher { tid, owner: None, throttled: None });
    let underway = first.underway().into_iter().map(|u| Underway { flusher, ..u });
    let underway: Vec<Underway> = underway.filter(|_| twice).collect();
    tracker.rename(Tid(7), b"kworker/u4:2");
    tracker.begins_with(Nanos(0), &underway, &mut all);
    batches.iter().for_each(|batch| tracker.feed(batch, &mut all));
    (all, tracker)
}

#[test]
fn what_comes_next_is_behind_what_was_in_the_device() {
    let (all, mut tracker) = read(&script(), Some(Tid(7)), true);
    let split = all.requests[0].contention.split;
    let name = tracker.names().holding(split.behind[0].holder).map(|h| tracker.names().text(h.task));
    assert_eq!(name, Some("kworker/u4:2"));
    assert!(
        split.behind[0].time > nanos("30ms") && (split.slow, split.paused) == (nanos("5ms"), Nanos(0)),
        "{split:?}"
    );
    assert_eq!(all.requests[0].contention.served, [0, 0, 2, 1, 0]);
    // Once: it was alone there, as far as that shows.
    let (once, _) = read(&script(), None, false);
    assert_eq!(once.requests[0].contention.split.behind.map(|b| b.time), [Nanos(0); 3]);
    // Nobody is named where the sender is not known.
    let (unknown, _) = read(&script(), None, true);
    let split = unknown.requests[0].contention.split;
    assert!(split.others > nanos("30ms"), "{split:?}");
    let counts = tracker.finish();
    assert_eq!((counts.requests, counts.began_before, counts.requests_in_flight), (21, 3, 0));
}

/// From the beginning of the recording on: it is not known since when.
#[test]
fn it_counts_from_the_beginning_and_nothing_is_learned_from_it() {
    let (all, tracker) = read(&script(), Some(Tid(7)), true);
    let times: Vec<_> = all.begun.iter().map(|r| (r.time.issued, r.time.completed)).collect();
    let expected = ["20ms", "40ms", "45ms"].map(|ms| (Some(Nanos(0)), nanos(ms)));
    assert_eq!(times, expected);
    assert_eq!(all.requests.len(), 21);
    let (_, services) = tracker.services().next().unwrap();
    assert_eq!(services.requests(), 21);
}

/// A stacked device has no requests, and after lost events a completion may belong to an issue among them.
#[test]
fn what_need_not_have_been_in_a_device_is_left_out() {
    let begun = |script: &Script| {
        let mut tracker = IoTracker::default();
        script.batches(usize::MAX).iter().for_each(|batch| tracker.feed(batch, &mut All::default()));
        tracker.underway().iter().map(|u| u.completions.len()).sum::<usize>()
    };
    assert_eq!(begun(&script()), 3);
    assert_eq!(begun(&Script::of("1 lost 7").and(script())), 0);
    let upper = DevId::new(253, 0);
    let stacked = Script::of("1 C R 8+8 tid=0 \n 2 Q R 64+8").on(upper);
    let below = Script::of("3 A R 128+8 <- 253,0 64 \n 4 Q R 128+8");
    assert_eq!(begun(&stacked), 1);
    assert_eq!(begun(&stacked.and(below)), 0);
    // More than any device holds: the issues are missing for another reason.
    let masked = Script::of("1 C R 8+8 tid=0 \n 2 Q R 0+8").repeated(5000, nanos("1ms"), 8);
    assert_eq!(begun(&masked), 0);
}

/// Who waits all the time for a request of which no event is seen is behind what the device serves meanwhile; one that serves nothing hangs.
#[test]
fn what_was_on_its_way_all_along_is_split_like_others() {
    let all_along = |script: &str, until: &str| {
        let (_, tracker) = read(&Script::of(script), Some(Tid(7)), true);
        let [request] = tracker.all_along(nanos(until))[..] else { panic!("one device") };
        request
    };
    let served = all_along(BEHIND, "60ms");
    assert_eq!((served.time.issued, served.time.completed), (Some(Nanos(0)), nanos("60ms")));
    let split = served.contention.split;
    assert_eq!((split.total(), split.paused), (nanos("60ms"), Nanos(0)));
    assert!(split.behind.iter().map(|b| b.time).sum::<Nanos>() > nanos("40ms"), "{split:?}");
    let sent = "1 Q R 8+8 \n 2 G R 8+8 \n 3 D R 8+8";
    assert_eq!(all_along(sent, "3s").contention.split.paused, nanos("3s"));
    assert_eq!(all_along(sent, "900ms").contention.split.slow, nanos("900ms"), "it may take that long");
}
