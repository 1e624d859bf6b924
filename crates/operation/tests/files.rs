//! Whose descriptor stands for which file: by process, from what was open before and what events said since.

use life::{IoObserver, Names};
use operation::{Account, Follow, History, Kind, Known, KnownFile, Operation, OperationObserver};
use trace::{Batch, Call, Context, Cpu, DevId, Fs, Nanos, TaskEvent, Tid, What};

const DEV: DevId = DevId(8 << 20 | 1);
const PROCESS: Tid = Tid(10);
const THREAD: Tid = Tid(11);

#[derive(Default)]
struct All(Vec<Operation>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, _: Account, _: &Names, _: &History) {
        self.0.push(*o);
    }
}

impl IoObserver for All {}

/// What tasks did, a microsecond after one another, in a recording that began with descriptor 3 of the
/// process open.
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
    let file =
        KnownFile { process: PROCESS, fd: 3, fs: Fs::Xfs, dev: DEV, inode: 12, closed_on_exec: Some(true) };
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
    let born = [(Tid(5), What::Born { tid: PROCESS, thread: false, shares_files: false })];
    assert_eq!(play(&[&born[..], &read(PROCESS)].concat()).last().map(place), Some(NOWHERE));
    let thread = [(PROCESS, What::Born { tid: Tid(77), thread: true, shares_files: true })];
    let all = play(&[&thread[..], &read(Tid(77))].concat());
    assert_eq!((all[0].process, place(&all[0]).2, all[0].kind), (Some(PROCESS), 12, Kind::Call(Call::Read)));
}

/// A descriptor of [`PROCESS`], read.
fn read(fd: u64) -> [(Tid, What); 2] {
    call(PROCESS, Call::Read, fd, 1)
}

/// A call of [`PROCESS`] with these arguments.
fn calls(call: Call, args: [u64; 4], result: i64) -> [(Tid, What); 2] {
    [(PROCESS, What::Enter { call, args }), (PROCESS, What::Exit { call, result })]
}

/// Where the last operation of a story went.
fn last(story: &[&[(Tid, What)]]) -> (Fs, DevId, u64, bool) {
    place(play(&story.concat()).last().expect("an operation"))
}

/// What recording began with in descriptor 3.
const KNOWN: (Fs, DevId, u64, bool) = (Fs::Xfs, DEV, 12, true);
const O_CLOEXEC: u64 = 0o2000000;

#[test]
fn copies_of_a_descriptor_are_the_same_file() {
    assert_eq!(last(&[&calls(Call::Dup, [3, 0, 0, 0], 7), &read(7)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Dup2, [3, 1, 0, 0], 1), &read(1)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Dup3, [3, 9, O_CLOEXEC, 0], 9), &read(9)]), KNOWN);
    // F_DUPFD and F_DUPFD_CLOEXEC; F_GETFL gives a number that is no descriptor.
    assert_eq!(last(&[&calls(Call::Fcntl, [3, 0, 10, 0], 10), &read(10)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Fcntl, [3, 1030, 10, 0], 11), &read(11)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Fcntl, [3, 3, 0, 0], 12), &read(12)]), NOWHERE);
    // One that failed makes no copy, and the copy outlives what it was made of.
    assert_eq!(last(&[&calls(Call::Dup, [3, 0, 0, 0], -24), &read(7)]), NOWHERE);
    assert_eq!(
        last(&[&calls(Call::Dup, [3, 0, 0, 0], 7), &call(PROCESS, Call::Close, 3, 0), &read(7)]),
        KNOWN
    );
}

/// However a number becomes free or another file, the file that it was is forgotten.
#[test]
fn a_number_that_was_given_to_another_file_never_has_the_old_one() {
    let cases: &[&[(Tid, What)]] = &[
        &call(PROCESS, Call::Close, 3, 0),
        &calls(Call::CloseRange, [3, u64::from(u32::MAX), 0, 0], 0),
        // 8 is not known: a socket perhaps.
        &calls(Call::Dup2, [8, 3, 0, 0], 3),
        &calls(Call::Dup3, [8, 3, 0, 0], 3),
        // A copy of it in place of itself is still itself, but here 3 is closed first by another thread.
        &call(THREAD, Call::Close, 3, 0),
        // io_uring closes some descriptor, and does not say which.
        &[(PROCESS, What::RingSubmit { request: 1, opcode: 19 })],
        &[(PROCESS, What::Lost { since: Nanos(0) })],
        &[(PROCESS, What::Exec)],
    ];
    for case in cases {
        assert_eq!(last(&[case, &read(3)]), NOWHERE, "{case:?}");
    }
    assert_eq!(last(&[&calls(Call::Dup2, [3, 3, 0, 0], 3), &read(3)]), KNOWN);
    assert_eq!(last(&[&calls(Call::CloseRange, [4, 9, 0, 0], 0), &read(3)]), KNOWN);
}

/// A read that another thread's close and open overtook must not teach that the number is still the old
/// file's.
#[test]
fn a_call_that_ends_after_the_close_teaches_nothing() {
    let (enter, exit) = (
        (THREAD, What::Enter { call: Call::Read, args: [3, 0, 0, 0] }),
        (THREAD, What::Exit { call: Call::Read, result: 1 }),
    );
    let reopened = [call(PROCESS, Call::Close, 3, 0), call(PROCESS, Call::Open, 0, 3)].concat();
    assert_eq!(last(&[&[enter], &reopened, &[exit], &read(3)]), NOWHERE);
}

#[test]
fn exec_keeps_what_is_not_closed_on_exec() {
    let exec = [(PROCESS, What::Exec)];
    // The snapshot says that 3 is; F_SETFD and ioctl change it, and dup2 makes a copy that is not.
    assert_eq!(last(&[&exec, &read(3)]), NOWHERE);
    assert_eq!(last(&[&calls(Call::Fcntl, [3, 2, 0, 0], 0), &exec, &read(3)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Ioctl, [3, 0x5450, 0, 0], 0), &exec, &read(3)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Dup2, [3, 1, 0, 0], 1), &exec, &read(1)]), KNOWN);
    assert_eq!(last(&[&calls(Call::Dup3, [3, 1, O_CLOEXEC, 0], 1), &exec, &read(1)]), NOWHERE);
    // CLOSE_RANGE_CLOEXEC closes nothing until then.
    let range = [&calls(Call::Dup2, [3, 1, 0, 0], 1)[..], &calls(Call::CloseRange, [0, 9, 4, 0], 0)].concat();
    assert_eq!(last(&[&range, &read(1)]), KNOWN);
    assert_eq!(last(&[&range, &exec, &read(1)]), NOWHERE);
    // Recordings without the event have the call's end.
    assert_eq!(last(&[&calls(Call::Exec, [0; 4], 0), &read(3)]), NOWHERE);
    assert_eq!(last(&[&calls(Call::Exec, [0; 4], -2), &read(3)]), KNOWN);
}

/// An open whose file is known: of a new one the events say its number.
#[test]
fn a_new_file_is_known_from_its_open_on() {
    let dev = DevId(8 << 20 | 2);
    let open = |flags: u64| {
        let [enter, exit] = calls(Call::Open, [0, 0, 0, flags], 5);
        let at_work = (PROCESS, What::File { fs: Fs::Ext4, dev, inode: 2 });
        [enter, at_work, (PROCESS, What::Created { dev, inode: 77 }), exit]
    };
    let new = (Fs::Ext4, dev, 77, true);
    assert_eq!(last(&[&open(0), &read(5)]), new);
    assert_eq!(last(&[&open(0), &[(PROCESS, What::Exec)], &read(5)]), new);
    assert_eq!(last(&[&open(O_CLOEXEC), &[(PROCESS, What::Exec)], &read(5)]), NOWHERE);
    // openat2 keeps its flags in memory: not known, so nothing is claimed.
    assert_eq!(last(&[&open(trace::NO_FLAGS), &[(PROCESS, What::Exec)], &read(5)]), NOWHERE);
}

#[test]
fn a_child_has_copies_of_its_parents_descriptors() {
    let child = Tid(50);
    let born = |shares_files| [(PROCESS, What::Born { tid: child, thread: false, shares_files })];
    let of_child = call(child, Call::Read, 3, 1);
    let close = |tid| call(tid, Call::Close, 3, 0);
    assert_eq!(last(&[&born(false), &of_child]), KNOWN);
    // What one closes the other still has,
    assert_eq!(last(&[&born(false), &close(PROCESS), &of_child]), KNOWN);
    assert_eq!(last(&[&born(false), &close(child), &read(3)]), KNOWN);
    // unless they have them in common, until one of them runs another program.
    assert_eq!(last(&[&born(true), &close(PROCESS), &of_child]), NOWHERE);
    assert_eq!(last(&[&born(true), &close(child), &read(3)]), NOWHERE);
    assert_eq!(last(&[&born(true), &[(child, What::Exec)], &close(child), &read(3)]), KNOWN);
}

/// A path belongs to a descriptor that was open when it was looked up; another file of the same number has
/// none.
#[test]
fn only_a_descriptor_that_stayed_open_is_told_to_be_the_very_file() {
    let told = |story: &[&[(Tid, What)]]| play(&story.concat()).last().expect("an operation").told;
    assert!(told(&[&read(3)]));
    assert!(told(&[&calls(Call::Dup, [3, 0, 0, 0], 7), &read(7)]));
    let [enter, exit] = read(3);
    let says = |inode| (PROCESS, What::File { fs: Fs::Xfs, dev: DEV, inode });
    assert!(told(&[&[enter, says(12), exit], &read(3)]));
    // An event says that it is another one.
    assert!(!told(&[&[enter, says(13), exit]]));
    assert!(!told(&[&[enter, says(13), exit], &read(3)]));
    let [enter, exit] = call(PROCESS, Call::Write, 4, 1);
    assert!(!told(&[&[enter, says(12), exit]]));
}
