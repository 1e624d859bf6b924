//! The simulation as a whole: schedules worked out by hand, nothing vanishes, the same seed gives the same, speed.

use life::Class;
use proptest::prelude::*;
use trace::{Bytes, Nanos, Sector, Tid};
use whatif::arrival::{Arrival, Recorded};
use whatif::device::{Arbitration, Cost, Model};
use whatif::load::{infer, Item, Kind, Load, Stream, Wait};
use whatif::sched::kyber::Targets;
use whatif::sched::Tunables;
use whatif::settings::{Kind as Scheduler, Settings};
use whatif::simulate::{simulate, Done, Work};
use whatif::wbt::Throttle;

const MS: u64 = 1_000_000;

fn item(wait: Wait, gap: u64, sector: u64, write: bool) -> Item {
    Item {
        wait,
        gap,
        sector,
        bytes: 4096,
        write,
        sync: true,
        class: if write { 1 } else { 0 },
        preflush: false,
        postflush: false,
    }
}

fn stream(kind: Kind, items: Vec<Item>) -> Stream {
    Stream {
        name: "test".into(),
        kind,
        first: 0,
        items,
        goes_on: true,
        waits_for_tags: false,
        support: String::new(),
    }
}

fn disk(hold: u64) -> Model {
    let cost = Cost { hold: hold as f64, answer: hold as f64, ..Cost::default() };
    Model {
        channels: 1,
        arbitration: Arbitration::OneRow,
        cost: [cost; 2],
        flush: 5e6,
        seek: 0.0,
        scatter: [Vec::new(), Vec::new()],
    }
}

fn settings(scheduler: Scheduler, nr_requests: u32, queue_depth: u32) -> Settings {
    let (deadline, kyber) = (Tunables::default(), Targets::default());
    Settings {
        scheduler,
        deadline,
        kyber,
        nr_requests,
        queue_depth,
        chooses_ahead: false,
        word: None,
        largest: 1280 << 10,
        wbt: None,
        cache: None,
    }
}

fn times(done: &[Done]) -> Vec<(u64, u64)> {
    done.iter().map(|d| (d.queued / MS, d.completed / MS)).collect()
}

#[test]
fn one_at_a_time_waits_for_the_answer_and_thinks() {
    let items = (0..3).map(|i| item(Wait::Below(1), 2 * MS, i * 8, false)).collect();
    let load = Load { streams: vec![stream(Kind::Closed { depth: 1 }, items)], span: 100 * MS, overhead: 0 };
    let done = simulate(&load, &settings(Scheduler::None, 8, 8), &disk(MS), Work::Amount, 1);
    assert_eq!(times(&done), [(0, 1), (3, 4), (6, 7)]);
}

#[test]
fn as_long_as_recorded_begins_again() {
    let items = (0..2).map(|i| item(Wait::Below(1), 2 * MS, i * 8, false)).collect();
    let load = Load { streams: vec![stream(Kind::Closed { depth: 1 }, items)], span: 13 * MS, overhead: 0 };
    let done = simulate(&load, &settings(Scheduler::None, 8, 8), &disk(MS), Work::Time, 1);
    assert_eq!(times(&done), [(0, 1), (3, 4), (6, 7), (9, 10), (12, 13)]);
}

/// A task that read a block when it began does not read it again and again.
#[test]
fn what_ended_before_the_recording_does_not_begin_again() {
    let items = (0..2).map(|i| item(Wait::Below(1), 2 * MS, i * 8, false)).collect();
    let ended = Stream { goes_on: false, ..stream(Kind::Closed { depth: 1 }, items) };
    let load = Load { streams: vec![ended], span: 13 * MS, overhead: 0 };
    let done = simulate(&load, &settings(Scheduler::None, 8, 8), &disk(MS), Work::Time, 1);
    assert_eq!(times(&done), [(0, 1), (3, 4)]);
}

fn arrival(tid: u32, at: u64) -> Arrival {
    let at = Nanos(at * MS);
    Arrival {
        queued: at,
        got: at,
        inserted: Some(at),
        issued: at,
        data: at + Nanos(MS),
        completed: at + Nanos(MS),
        start: Sector(at.0 / MS * 8),
        bytes: Bytes(4096),
        class: Class::Read,
        tid: Tid(tid),
        task: format!("task-{tid}"),
        preflush: false,
        postflush: false,
        joined: false,
        requeued: false,
    }
}

/// One goes on for the whole second, one for half of it, one reads a single block at its end.
#[test]
fn who_goes_on_is_read_off_the_recording() {
    let mut arrivals: Vec<Arrival> = (0..100).map(|i| arrival(1, 10 * i)).collect();
    arrivals.extend((0..50).map(|i| arrival(2, 10 * i + 5)));
    arrivals.push(arrival(3, 995));
    arrivals.sort_by_key(|a| a.queued);
    let load = infer(&Recorded { arrivals, ..Recorded::default() });
    let goes_on = |name: &str| load.streams.iter().find(|s| s.name.contains(name)).unwrap().goes_on;
    assert!(goes_on("task-1"));
    assert!(!goes_on("task-2"));
    assert!(!goes_on("task-3"));
}

/// Writes that joined are done at once, seven of eight, and each is replaced, while one still goes on. A task that writes eight and
/// waits for all of them is another thing.
#[test]
fn joined_writes_are_replaced_one_by_one() {
    let kind = |stays: bool| {
        let (mut arrivals, mut at) = (Vec::new(), 0);
        for round in 0..60u64 {
            let took = 3 + round * 7 % 11;
            for i in 0..8 {
                let at = Nanos(at * MS + i * 10_000);
                let longer = u64::from(stays && i == 7) * 3 * MS;
                let done = Nanos(at.0 - i * 10_000 + took * MS + longer);
                arrivals.push(Arrival {
                    queued: at,
                    got: at,
                    data: done,
                    completed: done,
                    class: Class::SyncWrite,
                    ..arrival(1, 0)
                });
            }
            at += took + 1;
        }
        infer(&Recorded { arrivals, ..Recorded::default() }).streams[0].kind
    };
    assert_eq!(kind(true), Kind::Closed { depth: 9 });
    assert_eq!(kind(false), Kind::Bursts);
}

#[test]
fn a_paced_stream_makes_up_for_a_delay() {
    let items = (0..4).map(|i| item(Wait::Below(1), 0, i * 8, false)).collect();
    let kind = Kind::Paced { period: 2 * MS, catches_up: true };
    let load = Load { streams: vec![stream(kind, items)], span: 100 * MS, overhead: 0 };
    let done = simulate(&load, &settings(Scheduler::None, 8, 8), &disk(3 * MS), Work::Amount, 1);
    assert_eq!(times(&done), [(0, 3), (3, 6), (6, 9), (9, 12)]);
    let done = simulate(&load, &settings(Scheduler::None, 8, 8), &disk(MS), Work::Amount, 1);
    assert_eq!(times(&done), [(0, 1), (2, 3), (4, 5), (6, 7)]);
}

#[test]
fn reads_pass_writes_by_in_mq_deadline_and_not_without() {
    let writes = (0..4).map(|i| item(Wait::Got, 0, 1000 + i * 80, true)).collect();
    let reads = vec![item(Wait::Got, 0, 8, false)];
    let mut streams = vec![stream(Kind::Open, writes), stream(Kind::Open, reads)];
    streams[1].first = MS / 2;
    let load = Load { streams, span: 100 * MS, overhead: 0 };
    let read = |s: &Settings| {
        let done = simulate(&load, s, &disk(MS), Work::Amount, 1);
        assert_eq!(done.len(), 5);
        done.iter().find(|d| d.class == 0).unwrap().completed / MS
    };
    assert_eq!(read(&settings(Scheduler::None, 8, 1)), 5);
    assert_eq!(read(&settings(Scheduler::MqDeadline, 8, 1)), 5, "a batch of writes goes on");
    let mut short = settings(Scheduler::MqDeadline, 8, 1);
    short.deadline.fifo_batch = 1;
    assert_eq!(read(&short), 2, "after the one in the device");
}

/// Two writes when the device is full of one: the second has been chosen before the read comes, where it was chosen ahead.
#[test]
fn who_was_chosen_ahead_goes_before_who_comes_later() {
    let writes = (0..3).map(|i| item(Wait::Got, 0, 1000 + i * 80, true)).collect();
    let mut streams =
        vec![stream(Kind::Open, writes), stream(Kind::Open, vec![item(Wait::Got, 0, 8, false)])];
    streams[1].first = MS / 2;
    let load = Load { streams, span: 100 * MS, overhead: 0 };
    let mut s = settings(Scheduler::MqDeadline, 8, 1);
    s.deadline.fifo_batch = 1;
    let read = |s: &Settings| {
        let done = simulate(&load, s, &disk(MS), Work::Amount, 1);
        done.iter().find(|d| d.class == 0).unwrap().completed / MS
    };
    assert_eq!(read(&s), 2);
    s.chooses_ahead = true;
    assert_eq!(read(&s), 3);
}

/// 20 writes that no task waits for and a reader on a disk that takes 1 ms each, with 20 tags. Held back, four at most are in
/// front of a read; those that a task waits for are not held back.
#[test]
fn writeback_is_held_back_beside_a_reader() {
    let writes = |sync| (0..20).map(|i| Item { sync, ..item(Wait::Got, 0, 1000 + i * 80, true) }).collect();
    let reads: Vec<Item> = (0..3).map(|i| item(Wait::Below(1), 0, i * 800, false)).collect();
    let slowest = |sync, s: &Settings| {
        let reads = stream(Kind::Closed { depth: 1 }, reads.clone());
        let load =
            Load { streams: vec![reads, stream(Kind::Open, writes(sync))], span: 100 * MS, overhead: 0 };
        let done = simulate(&load, s, &disk(MS), Work::Amount, 1);
        assert_eq!(done.len(), 23);
        done.iter().filter(|d| d.class == 0).map(|d| (d.completed - d.queued) / MS).max().unwrap()
    };
    let mut s = settings(Scheduler::None, 20, 20);
    assert_eq!(slowest(false, &s), 20);
    s.wbt = Throttle::asked(2000, Some("write through")).unwrap();
    assert_eq!(slowest(false, &s), 5);
    assert_eq!(slowest(true, &s), 20);
}

#[test]
fn a_write_that_needs_flushes_takes_three_steps() {
    let mut write = item(Wait::Got, 0, 8, true);
    (write.preflush, write.postflush) = (true, true);
    let load = Load { streams: vec![stream(Kind::Open, vec![write])], span: 100 * MS, overhead: 0 };
    let done = simulate(&load, &settings(Scheduler::MqDeadline, 8, 1), &disk(MS), Work::Amount, 1);
    assert_eq!((done[0].issued / MS, done[0].data / MS, done[0].completed / MS), (5, 6, 11));
}

#[test]
fn what_ends_where_another_begins_joins_it_while_both_wait() {
    let mut items = vec![item(Wait::Got, 0, 500, true)];
    items.extend([100, 108, 92].map(|sector| item(Wait::Got, 0, sector, true)));
    let load = Load { streams: vec![stream(Kind::Open, items)], span: 100 * MS, overhead: 0 };
    let mut s = settings(Scheduler::MqDeadline, 8, 1);
    let ends = |s: &Settings| {
        let done = simulate(&load, s, &disk(MS), Work::Amount, 1);
        (
            done.len(),
            done.iter().filter(|d| d.joined).count(),
            done.iter().map(|d| d.completed).max().unwrap() / MS,
        )
    };
    assert_eq!(ends(&s), (4, 2, 2));
    s.deadline.front_merges = false;
    assert_eq!(ends(&s), (4, 1, 3));
}

proptest! {
    #[test]
    fn what_is_queued_is_completed_once(
        spec in proptest::collection::vec((0u64..3, 0u64..2000, 0u64..400, any::<bool>(), any::<bool>()), 1..120),
        tags in 1u32..20, depth in 1u32..20, which in 0u8..3, seed in 0u64..9,
    ) {
        let items: Vec<Item> = spec.iter().map(|(wait, gap, sector, write, flush)| {
            let wait = if *wait == 0 { Wait::Got } else { Wait::Below(*wait as u32) };
            Item { preflush: *flush && *write, ..item(wait, gap * 1000, sector * 8, *write) }
        }).collect();
        let streams = items.chunks(30).map(|c| stream(Kind::Bursts, c.to_vec())).collect();
        let load = Load { streams, span: 10_000 * MS, overhead: 0 };
        let scheduler = [Scheduler::None, Scheduler::MqDeadline, Scheduler::Kyber][usize::from(which)];
        let mut model = disk(100_000);
        model.arbitration = [Arbitration::OneRow, Arbitration::InTurn, Arbitration::Apart][seed as usize % 3];
        let mut s = settings(scheduler, tags, depth);
        let held = Throttle::asked(100, Some(["write back", "write through"][seed as usize % 2])).unwrap();
        s.wbt = held.filter(|_| seed > 2).map(|w| Throttle { holds_sync: seed > 4, dirtiers_wait: seed > 6, ..w });
        let done = simulate(&load, &s, &model, Work::Amount, seed);
        let mut from: Vec<_> = done.iter().map(|d| d.from).collect();
        from.sort_unstable();
        from.dedup();
        prop_assert_eq!((done.len(), from.len()), (items.len(), items.len()));
        for d in &done {
            prop_assert!(d.queued <= d.inserted && d.data <= d.completed && d.issued <= d.data);
        }
        prop_assert_eq!(done, simulate(&load, &s, &model, Work::Amount, seed));
    }
}

/// Prints how many I/Os are simulated in a second; the bound is far below, for machines that are busy.
#[test]
fn speed() {
    let readers = |at: u64| {
        stream(
            Kind::Closed { depth: 8 },
            (0..100_000)
                .map(|i| item(Wait::Below(8), 1000, (i * 7919 + at) % 1_000_000 * 8, i % 4 == 0))
                .collect(),
        )
    };
    let load = Load { streams: vec![readers(0), readers(77)], span: u64::MAX / 100, overhead: 0 };
    for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
        let best = (0..3)
            .map(|_| {
                let began = std::time::Instant::now();
                let done = simulate(&load, &settings(scheduler, 64, 4), &disk(100_000), Work::Amount, 1);
                done.len() as f64 / began.elapsed().as_secs_f64()
            })
            .fold(0.0, f64::max);
        println!("{scheduler:?}: {:.2} million I/Os per second", best / 1e6);
        assert!(best > 100_000.0, "{best}");
    }
}
