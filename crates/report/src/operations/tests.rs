//! An account built by hand as text and JSON, and the properties of the lines of any account.

use super::line::{lines, Line};
use super::{json, render};
use explain::Places;
use ledger::Reason;
use life::{Class, FlushWait, Op, Request, TaskName, Timeline};
use operation::{Account, Done, Entry, Kind, Node, Operation, Part, Wait, Wakeup};
use proptest::prelude::*;
use stats::{Interfering, SampledOperation, Whose};
use std::collections::BTreeMap;
use trace::{Bytes, Call, CommitPhase, DevId, Flags, Fs, Nanos, Sector, TextId, Tid};

const DISK: DevId = DevId(8 << 20);

fn node(depth: u8, from: u64, to: u64, part: Part) -> Node {
    Node { part, depth, from: Nanos(from), to: Nanos(to) }
}

fn leaf(reason: Reason) -> Part {
    Part::Leaf(reason)
}

fn write(tid: u32, sector: u64, bytes: u64, flags: Flags, completed: u64) -> Part {
    let flush = FlushWait { issued: Nanos(completed), completed: Nanos(completed), ..FlushWait::default() };
    let time = Timeline { completed: Nanos(completed), preflush: Some(flush), ..Timeline::default() };
    let (start, bytes, tid) = (Sector(sector), Bytes(bytes), Tid(tid));
    let request = Request { op: Op::Write, flags, start, bytes, tid, ..testkit::plain_read(DISK, time) };
    Part::Request(Box::new(Entry::of(Done::Request(request))))
}

fn sampled(nodes: Vec<Node>, total: u64) -> SampledOperation {
    let names = [(7, "dd"), (9, "kworker/u8:1"), (40, "jbd2/sda-8")];
    let texts = [
        (0, "bit_wait_io\nfolio_wait_writeback\next4_sync_file"),
        (1, "jbd2_log_wait_commit\next4_sync_file"),
        (2, "folio_wait_bit\nfilemap_fdatawait_range_keep_errors\njbd2_journal_commit_transaction"),
        (3, "schedule\nfrob_the_widget\nvfs_fsync"),
    ];
    SampledOperation {
        operation: Operation {
            kind: Kind::Call(Call::Fsync),
            tid: Tid(7),
            process: None,
            task: TaskName(0),
            from: Nanos(0),
            to: Nanos(total),
            fd: Some(3),
            fs: Fs::Ext4,
            dev: DISK,
            inode: 12,
            result: 0,
            told: false,
            is_storage: true,
            still_out: None,
            begun_before: false,
        },
        account: Account { from: Nanos(0), to: Nanos(total), nodes, hops: Vec::new() },
        task: "dd".into(),
        names: names.into_iter().map(|(tid, n)| (Tid(tid), n.to_string())).collect(),
        texts: texts.into_iter().map(|(id, t)| (TextId(id), t.to_string())).collect(),
        met: BTreeMap::new(),
        ran: BTreeMap::new(),
        writers: BTreeMap::new(),
        whose: None,
    }
}

fn places() -> Places {
    Places { names: vec![(DISK, "sda".into())], ..Places::default() }
}

/// An fsync: 20 ms for its own data, 100 ms for a commit that waits for five writes of another file.
fn fsync() -> SampledOperation {
    let wait = |wait, id| Part::Wait { wait, stack: Some(TextId(id)) };
    let mut nodes = vec![
        node(0, 0, 30_400, leaf(Reason::OnCpu)),
        node(0, 30_400, 20_030_400, wait(Wait::OwnData, 0)),
        node(1, 30_400, 20_030_400, write(7, 2048, 4096, Flags(Flags::WRITE.0 | Flags::SYNC.0), 20_029_000)),
        node(2, 30_400, 20_029_000, leaf(Reason::Device)),
        node(2, 20_029_000, 20_030_400, leaf(Reason::WakeUp)),
        node(0, 20_030_400, 120_000_000, wait(Wait::JournalCommit, 1)),
        node(1, 20_030_400, 120_000_000, Part::Task(Tid(40))),
        node(2, 20_030_400, 20_080_000, leaf(Reason::WaitCpu)),
        node(2, 20_080_000, 119_990_000, Part::Commit(CommitPhase::Logging)),
    ];
    let mut now = 20_080_000;
    for n in 0..5u64 {
        let end = 20_080_000 + (n + 1) * 11_000_000;
        nodes.push(node(3, now, end - 1000, wait(Wait::OrderedData, 2)));
        nodes.push(node(4, now, end - 1000, write(9, 4096 + n * 1024, 512 << 10, Flags::WRITE, end - 3000)));
        nodes.push(node(5, now, end - 3000, leaf(Reason::Device)));
        nodes.push(node(5, end - 3000, end - 1000, leaf(Reason::WakeUp)));
        nodes.push(node(3, end - 1000, end, leaf(Reason::OnCpu)));
        now = end;
    }
    nodes.push(node(3, now, 119_990_000, wait(Wait::Unknown, 3)));
    nodes.push(node(4, now, 119_990_000, leaf(Reason::Unexplained)));
    nodes.push(node(2, 119_990_000, 120_000_000, leaf(Reason::OnCpu)));
    nodes.push(node(0, 120_000_000, 120_000_700, leaf(Reason::OnCpu)));
    let mut sampled = sampled(nodes, 120_000_700);
    let met = |n| {
        vec![Interfering {
            task: "kworker/u8:1".into(),
            class: Class::Background,
            requests: n,
            bytes: Bytes(n << 19),
        }]
    };
    sampled.met = BTreeMap::from([(3, met(40)), (11, met(2)), (16, met(3))]);
    sampled.writers = BTreeMap::from([(10, Whose::Tasks("cp".into())), (15, Whose::Tasks("cp, tar".into()))]);
    let hop = |at, by, who, latency| Wakeup {
        at: Nanos(at),
        by: Tid(by),
        interrupt: by == 0,
        who: Tid(who),
        latency: Nanos(latency),
        crossed: by == 0,
    };
    sampled.account.hops = vec![hop(119_999_000, 40, 7, 1000), hop(20_030_000, 0, 7, 1400)];
    sampled
}

#[test]
fn a_ledger_reads_like_this() {
    let expected = "\
fsync by dd (tid 7) on ext4 on sda, inode 12, 120 ms, at 0.000000 s

  20.000 ms  its own data: waiting for writeback (folio_wait_writeback): write of 4 KiB at sector
                 2048 of sda, queued by dd
  19.999 ms    in the device (D2C)
                 meanwhile it completed 40 writeback writes of kworker/u8:1 (20 MiB)
   0.001 ms    from completion to wake-up
  99.970 ms  the journal's commit (jbd2_log_wait_commit): jbd2/sda-8 (tid 40)
  99.910 ms    commit, logging: the journal's blocks, waiting for other files' data, the commit
                   block
  54.995 ms      other files' data first (data=ordered) (filemap_fdatawait_range_keep_errors), 5
                     times 11 ms: 5 writeback writes of 512 KiB each of sda, queued by kworker/u8:1,
                     data of cp, tar
  54.985 ms        in the device (D2C) (5 times)
                     meanwhile it completed 5 writeback writes of kworker/u8:1 (2.5 MiB)
   0.010 ms        from completion to wake-up (5 times)
  44.910 ms      an unknown wait (frob_the_widget), unexplained
   0.005 ms      on a processor (5 times)
   0.060 ms    2 short parts: wait-cpu 0.050, on-cpu 0.010
   0.031 ms  on a processor (2 times)
 120.001 ms  total, of which 44.910 ms unexplained; 2 hops between tasks, 1 to another processor,
                 slowest wake-up 1.4 us
             at 20.030 ms an interrupt woke dd (7), which ran 1.4 us later, on another processor
             at 119.999 ms jbd2/sda-8 (40) woke dd (7), which ran 1 us later
";
    let sampled = fsync();
    assert_eq!(sampled.account.imbalance(), None);
    let got = render(&sampled, &places(), true, 100);
    assert!(got == expected, "got\n{got}\nexpected\n{expected}");
}

/// Checks that `lines` sum to `time`, exactly and as shown, at every level.
fn assert_sums(lines: &[Line], time: Nanos, shown: u64) {
    assert_eq!(lines.iter().map(|l| l.time).sum::<Nanos>(), time);
    assert_eq!(lines.iter().map(|l| l.shown).sum::<u64>(), shown);
    for l in lines.iter().filter(|l| !l.lines.is_empty()) {
        assert_sums(&l.lines, l.time, l.shown);
    }
}

fn assert_json_sums(lines: &serde_json::Value, ns: u64) {
    let lines = lines.as_array().unwrap();
    assert_eq!(lines.iter().map(|l| l["ns"].as_u64().unwrap()).sum::<u64>(), ns);
    for l in lines.iter().filter(|l| l.get("lines").is_some()) {
        assert_json_sums(&l["lines"], l["ns"].as_u64().unwrap());
    }
}

#[test]
fn json_sums_at_every_level() {
    let v = serde_json::to_value(json::Operation::of(&fsync(), &places(), None)).unwrap();
    assert_json_sums(&v["lines"], 120_000_700);
    let reasons: u64 = v["by_reason"].as_array().unwrap().iter().map(|r| r["ns"].as_u64().unwrap()).sum();
    assert_eq!(reasons, 120_000_700);
    assert_eq!(v["unexplained_ns"], 44_910_000);
}

/// Parts of an account: a leaf of some length, or a part with more of them.
#[derive(Clone, Debug)]
enum Shape {
    Leaf(usize, u64),
    Part(usize, Vec<Shape>),
}

fn shape() -> impl Strategy<Value = Shape> {
    let length = prop_oneof![1u64..2000, 1u64..200_000, 1u64..50_000_000];
    let leaf = (0usize..6, length).prop_map(|(kind, ns)| Shape::Leaf(kind, ns));
    leaf.prop_recursive(5, 120, 16, |inner| {
        (0usize..6, proptest::collection::vec(inner, 1..16))
            .prop_map(|(kind, parts)| Shape::Part(kind, parts))
    })
}

fn nodes(shape: &Shape, depth: u8, at: u64, out: &mut Vec<Node>) -> u64 {
    const REASONS: [Reason; 6] = [
        Reason::OnCpu,
        Reason::WaitCpu,
        Reason::Device,
        Reason::WakeUp,
        Reason::Unexplained,
        Reason::CgroupLimit,
    ];
    match shape {
        Shape::Leaf(kind, ns) => {
            out.push(node(depth, at, at + ns, leaf(REASONS[*kind])));
            at + ns
        }
        Shape::Part(kind, parts) => {
            let place = out.len();
            let part = match kind {
                0 => Part::Wait { wait: Wait::OwnData, stack: Some(TextId(0)) },
                1 => Part::Wait { wait: Wait::CgroupLimit, stack: None },
                2 => Part::Task(Tid(40)),
                3 => Part::Commit(CommitPhase::Flushing),
                4 => Part::Work { function: TextId(3), worker: Tid(9), queued: None },
                _ => write(9, at, 4096, Flags::WRITE, at),
            };
            out.push(node(depth, at, at, part));
            let end = parts.iter().fold(at, |now, p| nodes(p, depth + 1, now, out));
            out[place].to = Nanos(end);
            end
        }
    }
}

proptest! {
    #[test]
    fn lines_of_any_ledger_sum_at_every_level(shapes in proptest::collection::vec(shape(), 1..30)) {
        let mut all = Vec::new();
        let total = shapes.iter().fold(0, |now, s| nodes(s, 0, now, &mut all));
        let sampled = sampled(all, total);
        prop_assert_eq!(sampled.account.imbalance(), None);
        assert_sums(&lines(&sampled, &places()), Nanos(total), (total + 500) / 1000);
        let text = render(&sampled, &places(), false, 100);
        prop_assert!(text.lines().all(|l| l.chars().count() <= 100), "{}", text);
    }
}
