//! Numbers of culprits, and what has no place any more.

use life::Io;
use operation::Kind;
use trace::{Call, DevId, Fs, Nanos};
use waits::{Asked, ChainId, Culprit, CulpritKind, Link, Part, Phase, Table, Victim, Waiting};

/// Culprits without a name are found again by what they are, and no two of them are taken for one.
#[test]
fn each_kind_of_culprit_and_io_is_told_apart() {
    use CulpritKind::{Cpu, Device, Kernel, Limit, Own, Task, Unknown};
    let mut table = Table::default();
    let ios = [Io::Read, Io::SyncWrite, Io::BackgroundWrite, Io::Flush, Io::Discard, Io::Journal];
    let all = || {
        [Own, Task, Kernel, Device, Limit, Cpu, Unknown]
            .into_iter()
            .flat_map(|kind| std::iter::once(None).chain(ios.map(Some)).map(move |io| (kind, io)))
    };
    for _ in 0..2 {
        for (kind, io) in all() {
            let id = table.plain(kind, io);
            assert_eq!(*table.culprit_of(id), Culprit { io, ..Culprit::of(kind) });
        }
    }
    assert_eq!(table.culprits().count(), all().count());
}

/// A table that is full to the last year leaves out what does not fit, and merged with another says so of both.
#[test]
fn what_two_tables_left_out_the_merged_one_left_out() {
    let full = |over: usize| {
        let mut table = Table::default();
        let asked = Asked::Operation(Kind::Call(Call::Read));
        let dev = DevId::new(8, 0);
        let victim = table.victim(&Victim { task: "fio".into(), asked, fs: Fs::Ext4, dev });
        let chain = table.chain(ChainId(0), Link::Phase(Phase::Service));
        let culprit = table.culprit(&Culprit::of(CulpritKind::Own));
        let totals = std::iter::once(u64::MAX - 1).chain(std::iter::repeat_n(5, over));
        for total in totals.map(Nanos) {
            let waiting = Waiting { victim, end: Nanos(0), total, bytes: 0, in_device: true };
            table.add(waiting, &[Part { chain, culprit, time: total }], Nanos(0), Nanos(0));
        }
        table
    };
    let (mut table, other) = (full(2), full(3));
    assert_eq!((table.left_out(), other.left_out()), (2, 3));
    table.merge(&other);
    // The one operation that the other has does not fit, either.
    assert_eq!(table.left_out(), 6);
}
