//! Tables of waits from hand-made events of tasks.

use super::*;
use trace::{Call, Context, Cpu, Left, TaskEvent, TextId, Tid, What};

#[test]
fn a_recording_without_block_events_lasted_as_long_as_its_tasks_events() {
    let what = |time| TaskEvent {
        time: Nanos(time),
        after: 0,
        tid: Tid(7),
        cpu: Cpu(0),
        context: Context(0),
        what: What::Exec,
    };
    let mut batch = Batch::default();
    batch.tasks.extend([what(5), what(905)]);
    assert_eq!(Facts::of(&[batch]).duration(), Nanos(900));
}

/// One task calls and reads; another one and a kernel thread only read.
fn read_by_three(stacks: bool) -> Vec<String> {
    let read = |at: u32, tid: u32| {
        let sector = 8 * tid;
        let event = |after: u32, action: &str| format!("{} {action} R {sector}+8 tid={tid}\n", at + after);
        [event(0, "Q"), event(1, "G"), event(2, "D"), event(90, "C")].concat()
    };
    let names = "0 name caller tid=1\n0 name mapper tid=2\n0 name kworker/u4:1 tid=3\n";
    let script = [names.into(), read(10, 1), read(210, 2), read(410, 3)].concat();
    let mut batch = testkit::Script::of(&script).batches(usize::MAX).remove(0);
    let mut task = |time: u64, what| {
        let time = Nanos(time * 1000);
        let after = batch.events.partition_point(|e| e.time <= time) as u32;
        let (cpu, context) = (Cpu(0), Context(0));
        batch.tasks.push(TaskEvent { time, after, tid: Tid(1), cpu, context, what });
    };
    task(5, What::Enter { call: Call::Read, args: [3, 0, 4096, 0] });
    task(20, What::Switch { left: Left::Uninterruptible, next: Tid(0) });
    if stacks {
        task(20, What::Stack(TextId(0)));
    }
    task(105, What::Exit { call: Call::Read, result: 4096 });
    let facts = Facts::of(&[batch]);
    facts.waits.victims().map(|(_, v, _)| v.task.to_string()).collect()
}

/// A task reads ten times and then does not finish, while others run: it sleeps for `asleep` and then continues, or does not.
fn stuck(asleep: u64, goes_on: bool, until: Option<u64>) -> Vec<(Option<Nanos>, u64)> {
    let mut batch = Batch::default();
    let mut task = |tid: u32, time: u64, what| {
        let (time, cpu, context) = (Nanos(time * 1000), Cpu(0), Context(0));
        batch.tasks.push(TaskEvent { time, after: 0, tid: Tid(tid), cpu, context, what });
    };
    let read = What::Enter { call: Call::Read, args: [3, 0, 4096, 0] };
    let sleeps = What::Switch { left: Left::Uninterruptible, next: Tid(2) };
    for i in 0..10 {
        task(1, i * 1000, read);
        task(1, i * 1000 + 10, sleeps);
        task(2, i * 1000 + 100, What::Switch { left: Left::Interruptible, next: Tid(1) });
        task(1, i * 1000 + 110, What::Exit { call: Call::Read, result: 4096 });
    }
    task(1, 20_000, read);
    task(1, 20_010, sleeps);
    if goes_on {
        task(2, 20_010 + asleep, What::Switch { left: Left::Interruptible, next: Tid(1) });
    }
    task(2, 20_020 + asleep, What::Exec);
    let mut analysis = Analysis::default();
    analysis.feed(&batch);
    analysis.goes_on(until.map(|us| Nanos(us * 1000)));
    let facts = analysis.finish(Flow::default());
    let slowest = facts.operations.groups.values().flat_map(|g| g.slowest.all());
    slowest
        .map(|k| (k.operation.still_out, k.operation.total().0 / 1000))
        .filter(|(_, us)| *us > 110)
        .collect()
}

/// Any recording ends in the middle of some operations; one that is stuck is not left out.
#[test]
fn a_read_that_is_stuck_at_the_end_is_one_of_the_slowest() {
    assert_eq!(stuck(500, false, None), [(Some(Nanos(510_000)), 520)]);
    assert_eq!(stuck(50, false, None), [], "for no longer than others took");
    assert_eq!(stuck(500, true, None), [], "it goes on");
    // The end of the recording is later than its last event.
    assert_eq!(stuck(50, false, Some(22_000)), [(Some(Nanos(1_990_000)), 2000)]);
}

/// Ten calls, or none, and one that sleeps twice until the recording ends. A caller sees a read make progress, but not a sync; of a job's
/// only sync nothing says how long it may take.
#[test]
fn a_sync_that_waits_for_one_thing_after_another_is_stuck() {
    let stuck = |call, finished: u64| {
        let mut batch = Batch::default();
        let mut task = |tid: u32, time: u64, what| {
            let (time, cpu, context) = (Nanos(time * 1000), Cpu(0), Context(0));
            batch.tasks.push(TaskEvent { time, after: 0, tid: Tid(tid), cpu, context, what });
        };
        let (enters, exits) = (What::Enter { call, args: [3, 0, 4096, 0] }, What::Exit { call, result: 0 });
        let sleeps = What::Switch { left: Left::Uninterruptible, next: Tid(2) };
        let wakes = What::Switch { left: Left::Interruptible, next: Tid(1) };
        for at in (0..finished).map(|i| i * 1000) {
            [(1, at, enters), (1, at + 10, sleeps), (2, at + 100, wakes), (1, at + 110, exits)]
                .into_iter()
                .for_each(|(tid, at, what)| task(tid, at, what));
        }
        [
            (1, 20_000, enters),
            (1, 20_010, sleeps),
            (2, 20_310, wakes),
            (1, 20_320, sleeps),
            (2, 20_600, What::Exec),
        ]
        .into_iter()
        .for_each(|(tid, at, what)| task(tid, at, what));
        let facts = Facts::of(&[batch]);
        facts.operations.count() == finished + 1
    };
    assert_eq!([stuck(Call::Fsync, 10), stuck(Call::Read, 10), stuck(Call::Fsync, 0)], [true, false, false]);
}

/// `ledger` stands in `fsync` from before the recording to its end after 200 ms, its write in the device behind those of a task; a write call of
/// `flood` takes 150 ms. Returns the tasks whose operations count.
fn stands_behind(writer: u32) -> Vec<String> {
    let write = |at: u64| {
        let event =
            |after: u64, action: &str| format!("{} {action} W {}+8 tid={writer}\n", at + after, 8 * at);
        [event(0, "Q"), event(1, "G"), event(2, "D"), event(900, "C")].concat()
    };
    let names = "0 name ledger tid=1\n0 name flood tid=2\n";
    let own = "5 Q WS 8+8 tid=1\n6 G WS 8+8 tid=1\n7 D WS 8+8 tid=1\n";
    let script: String =
        [names.into(), own.into(), (1..200).map(|ms| write(1000 * ms)).collect::<String>()].concat();
    let mut batch = testkit::Script::of(&script).batches(usize::MAX).remove(0);
    let stack = b"schedule\nfolio_wait_writeback\next4_sync_file\n__x64_sys_fsync\ndo_syscall_64";
    let trace::Detail::Text(text) = batch.store(stack) else { panic!("a text") };
    let mut task = |time: u64, tid: u32, what| {
        let time = Nanos(time * 1000);
        let after = batch.events.partition_point(|e| e.time <= time) as u32;
        let (cpu, context) = (Cpu(0), Context(0));
        batch.tasks.push(TaskEvent { time, after, tid: Tid(tid), cpu, context, what });
    };
    let (write, sleeps) = (Call::Write, |next| What::Switch { left: Left::Uninterruptible, next: Tid(next) });
    task(0, 1, What::Text { id: TextId(0), text });
    task(1, 3, What::Enter { call: Call::Other, args: [0; 4] });
    task(10, 1, sleeps(2));
    task(10, 1, What::Stack(TextId(0)));
    task(20, 2, What::Enter { call: write, args: [3, 0, 4096, 0] });
    task(30, 2, sleeps(3));
    task(150_000, 3, What::Switch { left: Left::Interruptible, next: Tid(2) });
    task(150_020, 2, What::Exit { call: write, result: 4096 });
    task(199_950, 2, What::Exec);
    let facts = Facts::of(&[batch]);
    facts.waits.victims().map(|(_, v, _)| v.task.to_string()).collect()
}

/// No other operation can be long enough to show how long such a one takes.
#[test]
fn a_sync_that_stood_all_along_counts_if_others_held_it_up() {
    assert_eq!(stands_behind(2), ["flood", "ledger"]);
    assert_eq!(stands_behind(1), ["flood"], "it stands behind its own data");
}

/// Operations that are stuck are not compared with one another.
#[test]
fn all_that_are_stuck_count() {
    let mut batch = Batch::default();
    let mut task = |tid: u32, time: u64, what| {
        let (time, cpu, context) = (Nanos(time * 1000), Cpu(0), Context(0));
        batch.tasks.push(TaskEvent { time, after: 0, tid: Tid(tid), cpu, context, what });
    };
    for tid in 1..=6 {
        let at = u64::from(tid) * 10;
        task(tid, at, What::Enter { call: Call::Read, args: [3, 0, 4096, 0] });
        task(tid, at + 1, What::Switch { left: Left::Uninterruptible, next: Tid(9) });
    }
    task(9, 2_000_000, What::Exec);
    let facts = Facts::of(&[batch]);
    assert_eq!(facts.operations.count(), 6);
}

#[test]
fn who_reads_without_a_call_waits_where_no_stack_shows_page_faults() {
    assert_eq!(read_by_three(false), ["caller", "mapper"]);
    assert_eq!(read_by_three(true), ["caller"]);
}
