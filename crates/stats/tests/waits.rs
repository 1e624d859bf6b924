//! The table of waits and the split of D2C, of every bundled recording and of any events at all: they add up.

use life::{Io, IoObserver, IoTracker, Names, Request};
use proptest::prelude::*;
use stats::Facts;
use std::path::{Path, PathBuf};
use trace::{
    Action, Batch, Bytes, Call, CommitPhase, Context, Cpu, Detail, DevId, Event, Flags, Fs, Left, Nanos,
    Sector, TaskEvent, TextId, Tid, What,
};
use waits::{Absent, Culprit, CulpritKind, Selection, Table};

/// What must hold of the table of a recording.
fn check(name: &str, table: &Table) {
    assert_eq!(table.imbalance(), None, "{name}");
    for (id, victim, sums) in table.victims() {
        let rows = table.rows_of(id, Selection::default());
        let own: u64 = rows.iter().filter(|r| table.is_own(r.chain, r.culprit)).map(|r| r.time.0).sum();
        let others = table.others_time().0;
        let lost = sums.ns - own;
        assert!(
            sums.lost <= lost && lost - sums.lost <= others,
            "{name}: {victim:?}: {} lost, rows {lost}",
            sums.lost
        );
        for (who, without) in &sums.without {
            let who = table.absent(*who);
            let is = |row: &&waits::Row| {
                let culprit = table.culprit_of(row.culprit);
                let runs = culprit.kind == CulpritKind::Cpu && culprit.name.is_some();
                let can_leave = culprit.is_somebody() || runs;
                match &who {
                    Absent::Everybody => can_leave && culprit.name.as_ref() != Some(&victim.task),
                    Absent::Flushes => culprit.kind == CulpritKind::Device && culprit.io == Some(Io::Flush),
                    Absent::Task(task) => can_leave && culprit.name.as_ref() == Some(task),
                    Absent::Those(_) => unreachable!("nobody asked about several"),
                }
            };
            let behind: u64 = rows.iter().filter(is).map(|r| r.time.0).sum();
            // The lightest makes room where there are many.
            let followed = without.time == behind || others > 0 || sums.without.len() >= 16;
            assert!(behind <= sums.ns && followed, "{name}: {victim:?} {who:?} {behind} {}", without.time);
        }
    }
}

/// Checks the split of each request.
#[derive(Default)]
struct Splits {
    name: String,
    requests: u64,
}

impl IoObserver for Splits {
    fn request(&mut self, r: &Request, _: &Names) {
        let total = r.contention.split.total();
        match r.time.d2c() {
            Some(d2c) => assert_eq!(total, d2c, "{}: {r:?}", self.name),
            None => assert_eq!(total, Nanos(0), "{}: {r:?}", self.name),
        }
        assert!(r.contention.late <= total, "{}: {r:?}", self.name);
        self.requests += 1;
    }
}

/// Recordings below a folder of this repository, each a folder or a packed one.
fn recordings(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).collect();
    all.retain(|p| p.is_dir() || p.extension().is_some_and(|e| e == "zst"));
    all.sort();
    let packed = |p: &PathBuf| Some(p.join("capture.tar.zst")).filter(|p| p.is_file());
    all.into_iter().map(|p| packed(&p).unwrap_or(p)).collect()
}

fn read(path: &Path) -> Option<Vec<Batch>> {
    let mut source = trace::open(path).ok()?.source;
    let (mut batches, mut batch) = (Vec::new(), Batch::default());
    while source.fill(&mut batch).ok()? {
        batches.push(std::mem::take(&mut batch));
    }
    Some(batches)
}

/// How many recordings there were and how many requests were in them.
fn check_all(paths: &[PathBuf]) -> (usize, u64) {
    let (mut read_of, mut requests) = (0, 0);
    for path in paths {
        let Some(batches) = read(path) else { continue };
        let name = path.display().to_string();
        let (mut tracker, mut splits) = (IoTracker::default(), Splits { name: name.clone(), requests: 0 });
        batches.iter().for_each(|batch| tracker.feed(batch, &mut splits));
        check(&name, &Facts::of(&batches).waits);
        read_of += 1;
        requests += splits.requests;
    }
    println!("{read_of} recordings, {requests} requests");
    (read_of, requests)
}

#[test]
fn bundled_recordings_add_up() {
    let (recordings, requests) = check_all(&recordings("fixtures"));
    assert!(recordings >= 15 && requests > 50_000, "{recordings} recordings, {requests} requests");
}

#[test]
fn recordings_of_the_corpus_add_up() {
    let paths = recordings("lab/corpus");
    let (recordings, requests) = check_all(&paths);
    assert!(recordings == paths.len() && requests > 40_000, "{recordings} recordings, {requests} requests");
}

#[test]
fn large_recordings_add_up() {
    let Some(folder) = std::env::var_os("CAPTURES").map(PathBuf::from) else {
        eprintln!("SKIPPED: set CAPTURES to a folder of captures to have their tables checked");
        return;
    };
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).collect();
    all.retain(|p| p.is_dir());
    check_all(&all);
}

#[derive(Clone, Debug)]
enum Given {
    Task(u64, u32, u8, What),
    Block(u64, u32, Action, u64, u32, u64),
}

fn what() -> impl Strategy<Value = What> {
    let calls = prop_oneof![Just(Call::Read), Just(Call::Fsync), Just(Call::Write), Just(Call::IoSubmit)];
    let left = prop_oneof![Just(Left::Preempted), Just(Left::Interruptible), Just(Left::Uninterruptible)];
    let phase = prop_oneof![
        Just(CommitPhase::Start),
        Just(CommitPhase::Flushing),
        Just(CommitPhase::Logging),
        Just(CommitPhase::End)
    ];
    let text = (0u32..6).prop_map(TextId);
    prop_oneof![
        4 => (calls.clone(), any::<[u64; 4]>()).prop_map(|(call, args)| What::Enter { call, args }),
        4 => (calls, prop_oneof![-5i64..100_000, Just(i64::MAX)]).prop_map(|(call, result)| What::Exit { call, result }),
        6 => (left, (0u32..6).prop_map(Tid)).prop_map(|(left, next)| What::Switch { left, next }),
        3 => text.clone().prop_map(What::Stack),
        5 => (0u32..6).prop_map(|tid| What::Wake(Tid(tid))),
        2 => (0u64..4, text.clone()).prop_map(|(work, function)| What::WorkQueued { work, function }),
        2 => (0u64..4, text).prop_map(|(work, function)| What::WorkStart { work, function }),
        2 => Just(What::WorkEnd),
        3 => Just(What::File { fs: Fs::Ext4, dev: DevId::new(8, 0), inode: 12 }),
        2 => phase.prop_map(|phase| What::Commit { dev: DevId::new(8, 0), phase }),
        1 => any::<u64>().prop_map(|since| What::Lost { since: Nanos(since) }),
        1 => (0u64..3, any::<u8>()).prop_map(|(request, opcode)| What::RingSubmit { request, opcode }),
        1 => (0u64..3, any::<i32>()).prop_map(|(request, result)| What::RingComplete { request, result: result.into() }),
        1 => Just(What::Gone),
    ]
}

/// Mostly a little later, now and then much.
fn wait() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0u64..2_000_000, 1 => any::<u64>(), 1 => Just(1 << 62)]
}

fn given() -> impl Strategy<Value = Given> {
    let action = prop_oneof![
        2 => Just(Action::Queue),
        2 => Just(Action::Get),
        1 => Just(Action::Insert),
        3 => Just(Action::Issue),
        1 => Just(Action::Requeue),
        1 => Just(Action::Split),
        1 => Just(Action::BackMerge),
        1 => Just(Action::Remap),
        4 => Just(Action::Complete)
    ];
    let bytes = prop_oneof![4 => Just(4096u64), 1 => Just(0), 1 => Just(1 << 20), 1 => any::<u64>()];
    prop_oneof![
        3 => (wait(), 0u32..6, prop_oneof![Just(0u8), Just(8), Just(16)], what())
            .prop_map(|(wait, tid, context, what)| Given::Task(wait, tid, context, what)),
        3 => (wait(), 0u32..6, action, 0u64..4, 0u32..3, bytes)
            .prop_map(|(wait, tid, action, sector, dev, bytes)| Given::Block(wait, tid, action, sector, dev, bytes)),
    ]
}

/// Flags of reads, synchronous writes, write-back and flushes, by sector.
fn flags(sector: u64) -> Flags {
    match sector {
        0 => Flags::READ,
        1 => Flags::WRITE.with(Flags::SYNC),
        2 => Flags::WRITE,
        _ => Flags::FLUSH.with(Flags::WRITE),
    }
}

/// Events as batches; with `back`, the clock goes around and begins again.
fn batches(all: &[Given], back: bool) -> Vec<Batch> {
    let stacks: [&[u8]; 6] = [
        b"folio_wait_writeback\nfile_write_and_wait_range",
        b"blk_mq_get_tag",
        b"filemap_fault",
        b"wbt_wait",
        b"jbd2_log_wait_commit",
        b"schedule",
    ];
    let mut batches = Vec::new();
    let mut now = 1_000_000u64;
    for (n, some) in all.chunks(64).enumerate() {
        let mut batch = Batch::default();
        for (id, stack) in stacks.iter().enumerate().filter(|_| n == 0) {
            let Detail::Text(text) = batch.store(stack) else { continue };
            let what = What::Text { id: TextId(id as u32), text };
            batch.tasks.push(TaskEvent {
                time: Nanos(0),
                after: 0,
                tid: Tid(0),
                cpu: Cpu(0),
                context: Context(0),
                what,
            });
        }
        for g in some {
            let (Given::Task(wait, ..) | Given::Block(wait, ..)) = *g;
            now = if back { now.wrapping_add(wait) } else { now.saturating_add(wait) };
            match *g {
                Given::Task(_, tid, context, what) => batch.tasks.push(TaskEvent {
                    time: Nanos(now),
                    after: batch.events.len() as u32,
                    tid: Tid(tid),
                    cpu: Cpu(tid % 2),
                    context: Context(context),
                    what,
                }),
                Given::Block(_, tid, action, sector, dev, bytes) => {
                    let detail = match action {
                        Action::Remap => {
                            Detail::Remap { dev: DevId::new(8, (dev + 1) % 3), sector: Sector(sector * 8) }
                        }
                        Action::Split => Detail::Split(Sector(sector * 8 + 4)),
                        _ => Detail::None,
                    };
                    batch.events.push(Event {
                        time: Nanos(now),
                        tid: Tid(tid),
                        cpu: Cpu(tid % 2),
                        dev: DevId::new(8, dev),
                        detail,
                        sector: Sector(sector * 8),
                        bytes: Bytes(bytes),
                        flags: flags(sector),
                        action,
                        ..Event::default()
                    });
                }
            }
        }
        batches.push(batch);
    }
    batches
}

/// Twenty fsyncs that each wait 9 ms for a write; with or without what the task did in between.
fn fsyncs(switches: bool) -> Facts {
    let fsync = |n: u64| {
        let block = |us: u64, action| Given::Block(us * 1000, 7, action, n, 0, 4096);
        let task = |us: u64, tid, context, what| Given::Task(us * 1000, tid, context, what);
        [
            task(500, 7, 0, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
            block(1, Action::Queue),
            block(1, Action::Get),
            block(1, Action::Issue),
            task(1, 7, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
            block(9000, Action::Complete),
            task(1, 0, Context::HARD, What::Wake(Tid(7))),
            task(1, 0, 0, What::Switch { left: Left::Preempted, next: Tid(7) }),
            task(1, 7, 0, What::Exit { call: Call::Fsync, result: 0 }),
        ]
    };
    let of_calls = |given: &Given| match given {
        Given::Task(.., what) => matches!(what, What::Enter { .. } | What::Exit { .. }),
        Given::Block(..) => true,
    };
    let all: Vec<Given> = (0..20).flat_map(fsync).filter(|given| switches || of_calls(given)).collect();
    Facts::of(&batches(&all, false))
}

/// Of calls alone all time would pass on a processor, and nobody would have waited.
#[test]
fn calls_whose_sleeps_were_not_recorded_stand_for_nothing() {
    let bios = |facts: &Facts| {
        facts.waits.victims().filter(|(_, v, _)| matches!(v.asked, waits::Asked::Bio(_))).count()
    };
    let followed = fsyncs(true);
    assert_eq!((followed.operations.count(), followed.unrecorded, bios(&followed)), (20, None, 0));
    let alone = fsyncs(false);
    assert_eq!((alone.operations.count(), alone.unrecorded), (0, Some(operation::Unrecorded::Switches)));
    assert!(bios(&alone) > 0);
    let waited: u64 = alone.waits.victims().map(|(.., sums)| sums.ns).sum();
    assert!(waited > 20 * 9_000_000, "{waited}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_events_give_a_table_that_adds_up(all in prop::collection::vec(given(), 1..500), back: bool) {
        let batches = batches(&all, back);
        let (mut tracker, mut splits) = (IoTracker::default(), Splits::default());
        batches.iter().for_each(|batch| tracker.feed(batch, &mut splits));
        let facts = Facts::of(&batches);
        check("any events", &facts.waits);
        prop_assert!(facts.waits.culprits().all(|(_, c)| *c != Culprit::others() || facts.waits.others() >= 0.0));
        let mut twice = facts.waits.clone();
        twice.merge(&facts.waits);
        prop_assert_eq!(twice.imbalance(), None);
    }
}

proptest! {
    /// The same operations have one median and one p99, whoever is asked; in two tables that are merged, too.
    #[test]
    fn a_table_and_a_distribution_tell_the_same_latencies(
        times in prop::collection::vec((1_u64..1 << 40, 0_u32..40), 1..300),
        cut in 0_usize..300,
    ) {
        let times: Vec<u64> = times.into_iter().map(|(time, shift)| (time >> shift).max(1)).collect();
        let of = |times: &[u64]| {
            let mut table = Table::default();
            let asked = waits::Asked::Bio(life::Class::Read);
            let who = waits::Victim { task: "fio".into(), asked, fs: Fs::Unknown, dev: DevId(8) };
            let victim = table.victim(&who);
            let culprit = table.culprit(&Culprit::of(CulpritKind::Own));
            let chain = table.chain(waits::ChainId(0), waits::Link::Phase(waits::Phase::Service));
            for time in times {
                let total = Nanos(*time);
                let waiting =
                    waits::Waiting { victim, end: total, total, bytes: 4096, in_device: true };
                table.add(waiting, &[waits::Part { chain, culprit, time: total }], Nanos(0), Nanos(0));
            }
            table
        };
        let (first, second) = times.split_at(cut.min(times.len()));
        let mut merged = of(first);
        merged.merge(&of(second));
        let distribution: stats::Distribution = times.iter().copied().collect();
        for table in [of(&times), merged] {
            let (_, _, sums) = table.victims().next().unwrap();
            for part in [0.5, 0.9, 0.99, 0.999, 1.0] {
                prop_assert_eq!(sums.quantile(part), Nanos(distribution.quantile(part)), "{}", part);
            }
        }
    }
}
