//! Whatever order issues and completions come in, and whatever the clock does: every split sums to its request's time, names each
//! holder once, the largest first, and a device that was mistreated splits as before once it has run empty.

use device::{Holder, Inside, Services, Shape, Split, Ticket};
use proptest::prelude::*;
use trace::{Bytes, Nanos, Sector};

/// What is done to the device, with which of its requests.
#[derive(Clone, Copy, Debug)]
enum Do {
    Issue {
        holder: u16,
        class: u8,
        start: u64,
        bytes: u64,
    },
    /// The same ticket once more, whether it is inside or not.
    Again {
        which: usize,
        holder: u16,
    },
    Complete {
        which: usize,
        class: u8,
        bytes: u64,
    },
    Leave {
        which: usize,
    },
}

fn edge(below: u64) -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..below, 1 => Just(0), 1 => (u64::MAX - 5_000)..=u64::MAX, 1 => any::<u64>()]
}

fn step() -> impl Strategy<Value = Do> {
    prop_oneof![
        4 => (0u16..40, any::<u8>(), edge(1 << 30), edge(1 << 21))
            .prop_map(|(holder, class, start, bytes)| Do::Issue { holder, class, start, bytes }),
        1 => (any::<usize>(), 0u16..40).prop_map(|(which, holder)| Do::Again { which, holder }),
        4 => (any::<usize>(), any::<u8>(), edge(1 << 21))
            .prop_map(|(which, class, bytes)| Do::Complete { which, class, bytes }),
        1 => any::<usize>().prop_map(|which| Do::Leave { which }),
    ]
}

/// Times: mostly forward, now and then back, near the end of time, or anywhere.
fn clock() -> impl Strategy<Value = Vec<u64>> {
    let forward = proptest::collection::vec(0u64..5_000_000, 1..200).prop_map(|steps| {
        steps
            .iter()
            .scan(1000u64, |now, step| {
                *now += step;
                Some(*now)
            })
            .collect::<Vec<_>>()
    });
    let late = forward
        .clone()
        .prop_map(|all| all.iter().map(|t| (u64::MAX - (1 << 30)).saturating_add(*t)).collect::<Vec<_>>());
    let any = proptest::collection::vec(edge(1 << 40), 1..200);
    prop_oneof![forward, late, any]
}

fn check(split: &Split, d2c: Nanos) {
    let parts = [split.own, split.paused, split.varied, split.slow, split.others].into_iter();
    let sum: u128 = parts.chain(split.behind.iter().map(|b| b.time)).map(|n| u128::from(n.0)).sum();
    assert_eq!(sum, u128::from(d2c.0), "{split:?}");
    assert!(split.known || split.own == Nanos(0), "{split:?}");
    let named: Vec<_> = split.behind.iter().filter(|b| b.time.0 > 0).collect();
    for (i, b) in named.iter().enumerate() {
        assert!(named[..i].iter().all(|before| before.holder != b.holder), "{split:?}");
        assert!(named[..i].iter().all(|before| before.time >= b.time), "{split:?}");
    }
    for length in [0, 1, d2c.0 / 3, d2c.0, u64::MAX] {
        assert_eq!(split.last(Nanos(length)).total(), Nanos(length), "{split:?}");
    }
}

fn play(steps: &[Do], times: &[u64]) -> Inside {
    let (mut inside, mut tickets) = (Inside::default(), Vec::<(Option<Nanos>, Ticket)>::new());
    for (at, step) in steps.iter().enumerate() {
        let now = Nanos(times[at % times.len()]);
        match *step {
            Do::Issue { holder, class, start, bytes } => {
                let mut ticket = Ticket::default();
                inside.issue(now, Holder(holder), class, Sector(start), Bytes(bytes), &mut ticket);
                tickets.push((Some(now), ticket));
            }
            Do::Again { which, holder } if !tickets.is_empty() => {
                let at = which % tickets.len();
                let (issued, ticket) = &mut tickets[at];
                inside.issue(now, Holder(holder), 0, Sector(0), Bytes(4096), ticket);
                *issued = Some(now);
            }
            Do::Complete { which, class, bytes } if !tickets.is_empty() => {
                let at = which % tickets.len();
                let (issued, ticket) = &mut tickets[at];
                let split = inside.complete(now, class, Bytes(bytes), ticket);
                check(&split, issued.take().map_or(Nanos(0), |issued| now.since(issued)));
            }
            Do::Leave { which } if !tickets.is_empty() => {
                let at = which % tickets.len();
                let (issued, ticket) = &mut tickets[at];
                inside.leave(now, ticket);
                *issued = None;
            }
            _ => {}
        }
    }
    let last = Nanos(times.iter().copied().max().unwrap_or(0));
    tickets.iter_mut().for_each(|(_, ticket)| inside.leave(last, ticket));
    inside
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn every_split_sums_to_its_time(steps in proptest::collection::vec(step(), 1..300), times in clock()) {
        play(&steps, &times);
    }

    /// Once empty, a device holds nothing against those that come later: what is alone there is behind nobody.
    #[test]
    fn what_is_over_is_over(steps in proptest::collection::vec(step(), 1..300), times in clock(), took in 0u64..1 << 30) {
        let mut inside = play(&steps, &times);
        let now = times.iter().copied().max().unwrap_or(0).min(u64::MAX - (1 << 32));
        let mut ticket = Ticket::default();
        inside.issue(Nanos(now), Holder(7), 0, Sector(1 << 40), Bytes(4096), &mut ticket);
        let split = inside.complete(Nanos(now + took), 0, Bytes(4096), &mut ticket);
        check(&split, Nanos(took));
        prop_assert_eq!(split.others.0 + split.behind.iter().map(|b| b.time.0).sum::<u64>(), 0, "{:?}", split);
    }

    /// Quiet services stay within what was measured, however mad the measurements.
    #[test]
    fn services_lie_between_their_samples(took in proptest::collection::vec(edge(1 << 40), 10..60), bytes in edge(1 << 26)) {
        let (mut services, shape) = (Services::default(), Shape::new(9, true, Bytes(bytes)));
        took.iter().for_each(|t| services.quiet(shape, Nanos(*t), Nanos(*t)));
        let quiet = services.of(shape).expect("ten samples");
        prop_assert!(quiet.p50 <= quiet.most);
        // A bucket's middle is a sixteenth above its beginning at most; from 2^42 ns (73 minutes) on there is but one bucket.
        let (low, high) = (took.iter().min().unwrap(), took.iter().max().unwrap());
        let least = (*low).min(1 << 41);
        prop_assert!(quiet.p50.0 + least / 8 + 1 >= least && quiet.most.0 / 9 <= high / 8 + 1, "{:?} {:?}", quiet, (low, high));
        prop_assert!(services.cost(shape).is_finite());
    }
}

/// More holders than are told apart come and go; the one that holds the device now is named all the same.
#[test]
fn who_comes_late_is_named_too() {
    const MS: u64 = 1_000_000;
    let (mut inside, mut now) = (Inside::default(), 0);
    for holder in 1..200 {
        let mut ticket = Ticket::default();
        inside.issue(Nanos(now), Holder(holder), 2, Sector(0), Bytes(4096), &mut ticket);
        now += MS;
        inside.complete(Nanos(now), 2, Bytes(4096), &mut ticket);
    }
    let (reader, writer) = (Holder(900), Holder(901));
    let (mut read, mut write) = (Ticket::default(), Ticket::default());
    inside.issue(Nanos(now), reader, 0, Sector(0), Bytes(4096), &mut read);
    for _ in 0..9 {
        inside.issue(Nanos(now), writer, 1, Sector(0), Bytes(1 << 20), &mut write);
        now += MS;
        inside.complete(Nanos(now), 1, Bytes(1 << 20), &mut write);
    }
    let split = inside.complete(Nanos(now), 0, Bytes(4096), &mut read);
    check(&split, Nanos(9 * MS));
    assert_eq!(split.behind[0].holder, writer, "{split:?}");
    assert!(split.behind[0].time.0 > 4 * MS && split.others == Nanos(0), "{split:?}");
}

/// A place that changes hands while a request is inside: its time before is the former holder's, which is nobody by name.
#[test]
fn a_place_that_changes_hands_is_not_charged_to_the_next() {
    const MS: u64 = 1_000_000;
    let (mut inside, mut now) = (Inside::default(), 0);
    let mut read = Ticket::default();
    inside.issue(Nanos(now), Holder(1), 0, Sector(0), Bytes(4096), &mut read);
    for holder in 2..100 {
        let mut ticket = Ticket::default();
        inside.issue(Nanos(now), Holder(holder), 1, Sector(0), Bytes(4096), &mut ticket);
        now += MS;
        inside.complete(Nanos(now), 1, Bytes(4096), &mut ticket);
    }
    let split = inside.complete(Nanos(now), 0, Bytes(4096), &mut read);
    check(&split, Nanos(98 * MS));
    for behind in split.behind.iter().filter(|b| b.holder != Holder(0) && b.holder != Holder(1)) {
        assert!(behind.time.0 < 3 * MS, "{split:?}");
    }
}
