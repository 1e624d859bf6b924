//! What is counted of operations, by whom it is asked, and how it is shown.

use explain::dist::{Dist, Question};
use explain::Places;
use life::{IoObserver, Names, Request, TaskName, Timeline};
use operation::{Account, Done, Entry, History, Kind, Node, Operation, OperationObserver, Part, Wait};
use report::dist::render;
use trace::{Call, DevId, Fs, Nanos, Tid};

const DISK: DevId = DevId(8 << 20);

fn read(dev: DevId, from: u64, d2c: u64) -> Request {
    let (issued, completed) = (Nanos(from), Nanos(from + d2c));
    let time = Timeline {
        queued: Some(issued),
        got: Some(issued),
        first_issued: Some(issued),
        issued: Some(issued),
        data_completed: Some(completed),
        completed,
        ..Timeline::default()
    };
    testkit::plain_read(dev, time)
}

/// An operation from `from` on; with a request it waited for it to its end.
fn operation(dist: &mut Dist, kind: Kind, fs: Fs, from: u64, ns: u64, request: Option<Request>) {
    let (from, to) = (Nanos(from), Nanos(from + ns));
    let nodes = request.map_or(vec![], |r| {
        let wait = Part::Wait { wait: Wait::DirectIo, stack: None };
        let entry = Part::Request(Box::new(Entry::of(Done::Request(r))));
        vec![Node { part: wait, depth: 0, from, to }, Node { part: entry, depth: 1, from, to }]
    });
    let o = Operation {
        kind,
        tid: Tid(7),
        process: None,
        task: TaskName(0),
        from,
        to,
        fd: None,
        fs,
        dev: DISK,
        inode: 1,
        result: 0,
        told: false,
        is_storage: true,
        still_out: None,
        begun_before: false,
    };
    let account = Account { from, to, nodes, hops: vec![] };
    dist.operation(&o, account, &Names::default(), &History::default());
    if let Some(r) = request {
        dist.request(&r, &Names::default());
    }
}

fn some(question: Question) -> Dist {
    let mut dist = Dist::new(question);
    dist.begins(Nanos(1_000_000_000));
    let read_call = Kind::Call(Call::Read);
    for n in 0..9 {
        operation(&mut dist, read_call, Fs::Xfs, 1_000_000_000 + n * 200_000_000, 1500, None);
    }
    let slow = 1_500_000_000;
    operation(&mut dist, read_call, Fs::Xfs, slow, 5_000_000, Some(read(DISK, slow, 4_000_000)));
    operation(&mut dist, Kind::Call(Call::Fsync), Fs::Ext4, slow, 3_000_000, None);
    operation(&mut dist, Kind::Writeback, Fs::Ext4, slow, 3_000_000, None);
    dist.finish(vec![]);
    dist
}

#[test]
fn a_screen_has_histograms_percentiles_and_layers() {
    let places = Places { names: vec![(DISK, "sda".into())], ..Places::default() };
    let got = render(&some(Question { fs: Some(Fs::Xfs), ..Question::default() }), &places);
    let expected = "\
xfs on sda

operation = 'read'
     usecs               : count     distribution
         0 -> 1          : 9        |****************************************|
         2 -> 3          : 0        |                                        |
         4 -> 7          : 0        |                                        |
         8 -> 15         : 0        |                                        |
        16 -> 31         : 0        |                                        |
        32 -> 63         : 0        |                                        |
        64 -> 127        : 0        |                                        |
       128 -> 255        : 0        |                                        |
       256 -> 511        : 0        |                                        |
       512 -> 1023       : 0        |                                        |
      1024 -> 2047       : 0        |                                        |
      2048 -> 4095       : 0        |                                        |
      4096 -> 8191       : 1        |****                                    |
     10 in all   p50 1.5 us   p99 5 ms   p99.9 5 ms   max 5 ms

xfs on sda, layer by layer
                                                 count       p50       p99     p99.9       max
  read                                              10    1.5 us      5 ms      5 ms      5 ms
    read requests, in the device (D2C)               1      4 ms      4 ms      4 ms      4 ms
  9 of 10 reads (90 %) waited for no I/O: their data was in memory

";
    assert!(got == expected, "got\n{got}\nexpected\n{expected}");
}

#[test]
fn intervals_together_are_the_whole() {
    let whole = some(Question::default());
    let parts = some(Question { interval: Some(Nanos(500_000_000)), ..Question::default() });
    assert_eq!(whole.intervals().count(), 1);
    // Reads end 0 to 1.6 s after the beginning.
    assert_eq!(parts.intervals().map(|(from, _)| from.0 / 100_000_000).collect::<Vec<_>>(), [0, 5, 10, 15]);
    let (a, b) = (whole.whole(), parts.whole());
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (place, kinds) in &a {
        for (kind, times) in kinds {
            let other = &b[place][kind];
            assert_eq!(times.latency, other.latency);
            assert_eq!(times.histogram, other.histogram);
            let rows: u64 = times.histogram.rows().map(|r| r.count).sum();
            assert_eq!(rows, times.latency.count());
        }
    }
}

#[test]
fn write_back_is_nobodys_operation() {
    let all = some(Question::default()).whole();
    assert_eq!(all.values().flatten().count(), 2);
}

#[test]
fn a_file_system_known_later_holds_from_the_beginning() {
    let mut dist = Dist::new(Question { fs: Some(Fs::Ext4), ..Question::default() });
    operation(&mut dist, Kind::Call(Call::Read), Fs::Unknown, 0, 1000, None);
    operation(&mut dist, Kind::Call(Call::Read), Fs::Ext4, 5000, 1000, None);
    dist.finish(vec![]);
    let whole = dist.whole();
    assert_eq!(whole.keys().collect::<Vec<_>>(), [&(Fs::Ext4, DISK)]);
    assert_eq!(whole.values().flatten().map(|(_, t)| t.latency.count()).sum::<u64>(), 2);
}

#[test]
fn what_has_no_requests_of_its_own_is_looked_for_below() {
    let mut dist = Dist::new(Question::default());
    let (anonymous, member) = (DevId(42), DevId(9));
    let mut o = Operation {
        kind: Kind::Call(Call::Read),
        tid: Tid(7),
        process: None,
        task: TaskName(0),
        from: Nanos(0),
        to: Nanos(9_000),
        fd: None,
        fs: Fs::Btrfs,
        dev: anonymous,
        inode: 1,
        result: 0,
        told: false,
        is_storage: true,
        still_out: None,
        begun_before: false,
    };
    let entry = Entry::of(Done::Request(read(member, 0, 8_000)));
    let nodes = vec![Node { part: Part::Request(Box::new(entry)), depth: 0, from: o.from, to: o.to }];
    let account = Account { from: o.from, to: o.to, nodes, hops: vec![] };
    dist.operation(&o, account.clone(), &Names::default(), &History::default());
    dist.request(&read(member, 0, 8_000), &Names::default());
    dist.request(&read(DISK, 0, 8_000), &Names::default());
    let whole = dist.whole();
    let layers = dist.layers((Fs::Btrfs, anonymous), &whole[&(Fs::Btrfs, anonymous)]);
    let counts: Vec<_> = layers.iter().map(|l| (l.layer, l.times.count())).collect();
    assert_eq!(counts, [("operation", 1), ("request", 1)]);
    o.dev = DevId(0);
    dist.operation(&o, account, &Names::default(), &History::default());
    let whole = dist.whole();
    assert!(dist.layers((Fs::Btrfs, DevId(0)), &whole[&(Fs::Btrfs, DevId(0))]).is_empty());
}
