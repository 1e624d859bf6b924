//! Reads and writes on dm and md, followed down to the requests of the devices below.

use ledger::Reason;
use life::{Names, Sink};
use operation::{Account, Done, Follow, History, Kind, Operation, Over, Part};
use testkit::{expect, Story};
use trace::{Batch, Call, Context, Cpu, Left, Nanos, TaskEvent, TextId, Tid, What};

/// Who reads and writes in these stories: the task of their lines.
const TASK: Tid = Tid(100);

#[derive(Default)]
struct All(Vec<(Operation, Account)>);

impl Over for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        self.0.push((*o, account));
    }
}

impl Sink for All {}

/// A task makes a call at 0, sleeps from `asleep` on for its own I/O, is woken when all is over, and is done a
/// microsecond later. Times are microseconds.
fn called(call: Call, asleep: u64, blocks: &str) -> Vec<(Operation, Account)> {
    called_beside(call, asleep, blocks, &[])
}

/// The same, and what tasks did meanwhile: text 1 is `kcryptd_crypt`, text 2 an array's thread that waits for its
/// bitmap.
fn called_beside(
    call: Call,
    asleep: u64,
    blocks: &str,
    beside: &[(u64, Tid, u8, What)],
) -> Vec<(Operation, Account)> {
    let story = Story::of(blocks);
    let end = story.told.last().expect("something happens").event.time.0;
    let asleep = asleep * 1000;
    let mut batch = Batch::default();
    batch.events.extend(story.told.iter().map(|t| t.event));
    let trace::Detail::Text(text) = batch.store(b"submit_bio_wait") else { panic!("a text") };
    let trace::Detail::Text(crypt) = batch.store(b"kcryptd_crypt") else { panic!("a text") };
    let bitmap = b"md_super_wait\nmd_bitmap_unplug\nraid5d\nmd_thread";
    let trace::Detail::Text(bitmap) = batch.store(bitmap) else { panic!("a text") };
    let mut what = vec![
        (0, TASK, 0, What::Text { id: TextId(0), text }),
        (0, TASK, 0, What::Text { id: TextId(1), text: crypt }),
        (0, TASK, 0, What::Text { id: BITMAP, text: bitmap }),
        (0, TASK, 0, What::Enter { call, args: [3, 0, 0, 0] }),
        (asleep, TASK, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (asleep, TASK, 0, What::Stack(TextId(0))),
        (end, Tid(0), Context::HARD, What::Wake(TASK)),
        (end, Tid(0), 0, What::Switch { left: Left::Preempted, next: TASK }),
        (end + 1000, TASK, 0, What::Exit { call, result: 4096 }),
    ];
    what.extend(beside.iter().map(|(us, tid, context, what)| (us * 1000, *tid, *context, *what)));
    what.sort_by_key(|(time, ..)| *time);
    for (time, tid, context, what) in what {
        // Of the same moment, blocks come first.
        let after =
            batch.events.partition_point(|e| e.time.0 < time || (e.time.0 == time && time > 0)) as u32;
        let (time, context) = (Nanos(time), Context(context));
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context, what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0
}

/// The parts within requests, one per line: the device and its kind, or the reason, and the time in microseconds.
fn parts(account: &Account) -> String {
    let line = |n: &operation::Node| {
        let what = match &n.part {
            Part::Leaf(reason) => reason.name().to_string(),
            Part::Request(e) => match &e.done {
                Done::Bio(b) => format!("{} {}", b.dev, b.op.name()),
                Done::Request(r) => format!("{} {}", r.dev, r.op.name()),
            },
            Part::Wait { .. } => "wait".into(),
            other => format!("{other:?}"),
        };
        format!("{} {what} {}\n", n.depth, n.length().0 / 1000)
    };
    account.nodes.iter().map(line).collect()
}

/// dm-linear on a disk with a scheduler: what the bio waited for is what the request below waited for.
#[test]
fn a_read_on_dm_waits_for_the_request_below() {
    let all = called(
        Call::Read,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
          8  I R 2056+8
         60  D R 2056+8
         90  C R 2056+8 tid=0
         95  C R 8+8 dev=253,0 tid=0",
    );
    let [(o, account)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((o.kind, o.dev.to_string().as_str()), (Kind::Call(Call::Read), "253,0"));
    expect(
        &parts(account),
        "0 on-cpu 20
         0 wait 75
         1 253,0 read 75
         2 8,0 read 70
         3 scheduler 40
         3 device 30
         2 stacking 5
         0 on-cpu 1",
    );
}

/// Two disks below (a bio that was cut): what was completed last from when it was queued, before that the other.
#[test]
fn of_two_bios_below_the_last_one_counts() {
    let all = called(
        Call::Read,
        2,
        "
          0  Q R 0+16 dev=253,0
          1  X R 0+8 / 8 dev=253,0
          2  A R 100+8 <- 253,0 0 dev=8,0
          3  Q R 100+8 dev=8,0
          3  G R 100+8 dev=8,0
          4  D R 100+8 dev=8,0
         14  A R 0+8 <- 253,0 8 dev=8,16
         15  Q R 0+8 dev=8,16
         16  G R 0+8 dev=8,16
         17  D R 0+8 dev=8,16
         50  C R 100+8 dev=8,0 tid=0
         80  C R 0+8 dev=8,16 tid=0
         82  C R 0+8 dev=253,0 tid=0
         83  C R 8+8 dev=253,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 2
         0 wait 81
         1 253,0 read 81
         2 stacking 1
         2 8,0 read 12
         3 prepare 1
         3 device 11
         2 8,16 read 65
         3 get-request 1
         3 prepare 1
         3 device 63
         2 stacking 3
         0 on-cpu 1",
    );
    assert_eq!(account.of(Reason::LowerRead), Nanos(0));
}

/// A volume on an array: both are followed, down to the disk.
#[test]
fn dm_on_md_is_followed_down_to_the_disk() {
    let all = called(
        Call::Write,
        1,
        "
          1  Q W 8+8 dev=253,0
          2  A W 16+8 <- 253,0 8 dev=9,0
          3  Q W 16+8 dev=9,0
          4  A W 32+8 <- 9,0 16
          5  Q W 32+8
          6  G W 32+8
          7  D W 32+8
         90  C W 32+8 tid=0
         92  C W 16+8 dev=9,0 tid=0
         95  C W 8+8 dev=253,0 tid=0",
    );
    expect(
        &parts(&all[0].1),
        "0 on-cpu 1
         0 wait 94
         1 253,0 write 94
         2 stacking 2
         2 9,0 write 89
         3 stacking 2
         3 8,0 write 85
         4 get-request 1
         4 prepare 1
         4 device 83
         3 stacking 2
         2 stacking 3
         0 on-cpu 1",
    );
}

/// raid5, read-modify-write. Reads that a write needs stay what they are, with the member; the writes are followed.
#[test]
fn raid5_reads_before_it_writes() {
    let all = called(
        Call::Write,
        1,
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 0 dev=8,0 tid=7
          1001  Q R 48320+8 dev=8,0 tid=7
          1001  G R 48320+8 dev=8,0 tid=7
          1001  A R 48320+8 <- 9,0 185280 dev=8,16 tid=7
          1001  Q R 48320+8 dev=8,16 tid=7
          1001  G R 48320+8 dev=8,16 tid=7
          1010  D R 48320+8 dev=8,0 tid=7
          1010  D R 48320+8 dev=8,16 tid=7
          5000  C R 48320+8 dev=8,0 tid=0
          6000  C R 48320+8 dev=8,16 tid=0
          7000  A W 48320+8 <- 9,0 0 dev=8,0 tid=7
          7001  Q W 48320+8 dev=8,0 tid=7
          7001  G W 48320+8 dev=8,0 tid=7
          7001  A W 48320+8 <- 9,0 185280 dev=8,16 tid=7
          7001  Q W 48320+8 dev=8,16 tid=7
          7001  G W 48320+8 dev=8,16 tid=7
          7010  D W 48320+8 dev=8,0 tid=7
          7010  D W 48320+8 dev=8,16 tid=7
         12000  C W 48320+8 dev=8,0 tid=0
         13000  C W 48320+8 dev=8,16 tid=0
         13100  C W 185280+8 dev=9,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 1
         0 wait 13099
         1 9,0 write 13099
         2 stacking 1000
         2 8,16 read 4999
         3 lower-read 4999
         2 stacking 1001
         2 8,16 write 5999
         3 prepare 9
         3 device 5990
         2 stacking 100
         0 on-cpu 1",
    );
}

/// raid5, reconstruct-write: the reads are over before the first write tells for whom they were.
#[test]
fn raid5_reads_the_rest_of_the_stripe_before_it_writes() {
    let all = called(
        Call::Write,
        1,
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 184256 dev=8,0 tid=7
          1001  Q R 48320+8 dev=8,0 tid=7
          1001  G R 48320+8 dev=8,0 tid=7
          1001  A R 48320+8 <- 9,0 186304 dev=8,16 tid=7
          1001  Q R 48320+8 dev=8,16 tid=7
          1001  G R 48320+8 dev=8,16 tid=7
          1010  D R 48320+8 dev=8,0 tid=7
          1010  D R 48320+8 dev=8,16 tid=7
          5000  C R 48320+8 dev=8,0 tid=0
          6000  C R 48320+8 dev=8,16 tid=0
          7000  A W 48320+8 <- 9,0 185280 dev=8,32 tid=7
          7001  Q W 48320+8 dev=8,32 tid=7
          7001  G W 48320+8 dev=8,32 tid=7
          7010  D W 48320+8 dev=8,32 tid=7
         13000  C W 48320+8 dev=8,32 tid=0
         13100  C W 185280+8 dev=9,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 1
         0 wait 13099
         1 9,0 write 13099
         2 stacking 1000
         2 8,16 read 4999
         3 lower-read 4999
         2 stacking 1001
         2 8,32 write 5999
         3 prepare 9
         3 device 5990
         2 stacking 100
         0 on-cpu 1",
    );
}

/// libaio on dm: one operation per bio of the caller's, none for what dm sends on.
#[test]
fn what_dm_sends_on_is_no_operation_of_its_own() {
    let all = called(
        Call::IoSubmit,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
          8  D R 2056+8
         90  C R 2056+8 tid=0
         95  C R 8+8 dev=253,0 tid=0",
    );
    let aio: Vec<_> = all.iter().filter(|(o, _)| o.kind == Kind::AioRead).collect();
    assert_eq!(aio.len(), 1);
    let (o, account) = aio[0];
    assert_eq!((o.total(), account.of(Reason::Device)), (Nanos(95_000), Nanos(82_000)));
}

/// Who encrypts in these stories.
const WORKER: Tid = Tid(300);
const CRYPT: TextId = TextId(1);

/// dm-crypt: a worker encrypts what is written, and another thread sends it below.
const ENCRYPTED: &str = "
          1  Q W 8+8 dev=253,0
        100  A W 2056+8 <- 253,0 8 tid=400
        101  Q W 2056+8 tid=400
        102  G W 2056+8 tid=400
        103  D W 2056+8 tid=400
        150  C W 2056+8 tid=0
        150  C W 8+8 dev=253,0 tid=0";

fn encrypted_by(queued_by: Tid) -> String {
    let beside = [
        (0, WORKER, 0, What::WorkEnd),
        (5, queued_by, 0, What::WorkQueued { work: 7, function: CRYPT }),
        (20, WORKER, 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (30, WORKER, 0, What::WorkStart { work: 7, function: CRYPT }),
        (80, WORKER, 0, What::WorkEnd),
    ];
    let all = called_beside(Call::Write, 8, ENCRYPTED, &beside);
    parts(&all[0].1)
}

#[test]
fn a_write_on_dm_crypt_waits_in_its_queues_and_for_its_worker() {
    expect(
        &encrypted_by(TASK),
        "0 on-cpu 8
         0 wait 142
         1 253,0 write 142
         2 wait 93
         3 work-queue 22
         3 on-cpu 50
         3 work-queue 21
         2 8,0 write 49
         3 get-request 1
         3 prepare 1
         3 device 47
         0 on-cpu 1",
    );
}

#[test]
fn an_item_that_another_task_queued_is_another_bios() {
    let parts = encrypted_by(Tid(200));
    assert!(parts.contains("2 stacking 93") && !parts.contains("work-queue"), "{parts}");
}

#[test]
fn a_read_on_dm_crypt_is_decrypted_behind_its_request() {
    let queue = |at| (at, Tid(0), Context::HARD, What::WorkQueued { work: 7, function: CRYPT });
    let beside = [
        (0, WORKER, 0, What::WorkEnd),
        queue(91),
        (92, WORKER, 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (100, WORKER, 0, What::WorkStart { work: 7, function: CRYPT }),
        (130, WORKER, 0, What::WorkEnd),
    ];
    let all = called_beside(
        Call::Read,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
         60  D R 2056+8
         90  C R 2056+8 tid=0
        129  C R 8+8 dev=253,0 tid=0",
        &beside,
    );
    let parts = parts(&all[0].1);
    assert!(parts.contains("2 wait 38\n3 work-queue 9\n3 on-cpu 29\n"), "{parts}");
}

/// An array's thread and where it stands when it waits for the bitmap.
const RAID5D: Tid = Tid(500);
const BITMAP: TextId = TextId(2);

/// A write on an array, which another thread than the writer's sends below 60 us later. That one sleeps from 10 to 50,
/// and stands there.
fn written_on_md(sender: Tid, stack: TextId) -> String {
    let beside = [
        (0, RAID5D, 0, What::Switch { left: Left::Preempted, next: RAID5D }),
        (10, RAID5D, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (10, RAID5D, 0, What::Stack(stack)),
        (50, Tid(0), Context::HARD, What::Wake(RAID5D)),
        (52, Tid(0), 0, What::Switch { left: Left::Preempted, next: RAID5D }),
    ];
    let blocks = "
          1  Q W 8+8 dev=9,0
         10  Q WSM 16+1 tid=500
         11  G WSM 16+1 tid=500
         12  D WSM 16+1 tid=500
         49  C WSM 16+1 tid=0
         60  A W 2056+8 <- 9,0 8 tid=SENDER
         61  Q W 2056+8 tid=SENDER
         62  G W 2056+8 tid=SENDER
         63  D W 2056+8 tid=SENDER
         90  C W 2056+8 tid=0
         91  C W 8+8 dev=9,0 tid=0";
    let blocks = blocks.replace("SENDER", &sender.0.to_string());
    parts(&called_beside(Call::Write, 5, &blocks, &beside)[0].1)
}

#[test]
fn a_write_on_md_waits_while_the_arrays_thread_waits_for_the_bitmap() {
    expect(
        &written_on_md(RAID5D, BITMAP),
        "0 on-cpu 5
         0 wait 86
         1 9,0 write 86
         2 stacking 5
         2 wait 40
         3 8,0 write 40
         4 get-request 1
         4 prepare 1
         4 device 37
         4 wake-up 1
         2 stacking 11
         2 8,0 write 29
         3 get-request 1
         3 prepare 1
         3 device 27
         2 stacking 1
         0 on-cpu 1",
    );
}

#[test]
fn what_another_thread_waits_for_and_what_the_arrays_thread_waits_for_otherwise_is_not_the_bitmap() {
    for other in [written_on_md(Tid(501), BITMAP), written_on_md(RAID5D, TextId(0))] {
        assert!(other.contains("2 stacking 56\n"), "{other}");
    }
}
