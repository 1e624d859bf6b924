//! Whose descriptor stands for which file: by process, from what was open before and what events said since.

use life::{Names, Sink};
use operation::{Account, Follow, History, Kind, Known, KnownFile, Operation, Over};
use trace::{Batch, Call, Context, Cpu, DevId, Fs, Nanos, TaskEvent, Tid, What};

const DEV: DevId = DevId(8 << 20 | 1);
const PROCESS: Tid = Tid(10);
const THREAD: Tid = Tid(11);

#[derive(Default)]
struct All(Vec<Operation>);

impl Over for All {
    fn operation(&mut self, o: &Operation, _: Account, _: &Names, _: &History) {
        self.0.push(*o);
    }
}

impl Sink for All {}

/// What tasks did, a microsecond after one another, in a recording that began with descriptor 3 of the process open.
fn play(all: &[(Tid, What)]) -> Vec<Operation> {
    let mut batch = Batch::default();
    for (at, (tid, what)) in all.iter().enumerate() {
        let time = Nanos(1000 * (1 + at as u64));
        batch.tasks.push(TaskEvent {
            time,
            after: 0,
            tid: *tid,
            cpu: Cpu(0),
            context: Context(0),
            what: *what,
        });
    }
    let (mut follow, mut over) = (Follow::default(), All::default());
    let file = KnownFile { process: PROCESS, fd: 3, fs: Fs::Xfs, dev: DEV, inode: 12 };
    follow.knows(Known {
        processes: vec![(PROCESS, PROCESS), (THREAD, PROCESS)],
        files: vec![file],
        ..Known::default()
    });
    follow.feed(&batch, &mut over);
    over.0
}

fn call(tid: Tid, call: Call, fd: u64, result: i64) -> [(Tid, What); 2] {
    [(tid, What::Enter { call, args: [fd, 0, 0, 0] }), (tid, What::Exit { call, result })]
}

fn place(o: &Operation) -> (Fs, DevId, u64, bool) {
    (o.fs, o.dev, o.inode, o.is_storage)
}

const NOWHERE: (Fs, DevId, u64, bool) = (Fs::Unknown, DevId(0), 0, false);

#[test]
fn all_threads_of_a_process_have_its_files() {
    let read = |tid| call(tid, Call::Read, 3, 4096);
    let all = play(&[read(PROCESS), read(THREAD), read(Tid(99))].concat());
    assert_eq!(place(&all[0]), (Fs::Xfs, DEV, 12, true));
    assert_eq!(place(&all[1]), place(&all[0]));
    assert_eq!((all[1].tid, all[1].process), (THREAD, Some(PROCESS)));
    // Another process has another descriptor 3.
    assert_eq!((place(&all[2]), all[2].process), (NOWHERE, None));
}

#[test]
fn a_descriptor_that_was_closed_is_another_file_later() {
    let read = || call(PROCESS, Call::Read, 3, 1);
    let all = play(&[call(THREAD, Call::Close, 3, 0), call(PROCESS, Call::Open, 0, 3), read()].concat());
    assert_eq!(all.last().map(place), Some(NOWHERE));
    // The file of an open is on the file system that was at work in it; which one it is nothing says.
    let [enter, exit] = call(PROCESS, Call::Open, 0, 3);
    let at_work = (PROCESS, What::File { fs: Fs::Ext4, dev: DevId(8 << 20 | 2), inode: 7 });
    let all = play(&[vec![enter, at_work, exit], read().to_vec()].concat());
    assert_eq!(all.last().map(place), Some((Fs::Ext4, DevId(8 << 20 | 2), 0, true)));
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    let read = |tid| call(tid, Call::Read, 3, 1);
    let all = play(&[&[(PROCESS, What::Gone)][..], &read(PROCESS)].concat());
    assert_eq!(all.last().map(place), Some(NOWHERE));
    let born = [(Tid(5), What::Born { tid: PROCESS, thread: false })];
    assert_eq!(play(&[&born[..], &read(PROCESS)].concat()).last().map(place), Some(NOWHERE));
    let thread = [(PROCESS, What::Born { tid: Tid(77), thread: true })];
    let all = play(&[&thread[..], &read(Tid(77))].concat());
    assert_eq!((all[0].process, place(&all[0]).2, all[0].kind), (Some(PROCESS), 12, Kind::Call(Call::Read)));
}
