//! Whose data it is that a flusher or a journal's thread sends: those who wrote it.

use life::{IoObserver, Names, Request};
use operation::{
    Account, Follow, History, Known, KnownFile, KnownSleep, Operation, OperationObserver, Purpose, SentFor,
};
use testkit::Script;
use trace::{Bytes, Call, CommitPhase, Context, Cpu, DevId, Fs, Nanos, TaskEvent, TextId, Tid, What};

/// The disk of the stories.
const DISK: DevId = DevId(8 << 20);
/// The task of their lines: a flusher here, or a journal's thread.
const SENDER: Tid = Tid(100);

#[derive(Default)]
struct All(Vec<(Bytes, SentFor, Vec<String>)>);

impl OperationObserver for All {
    fn operation(&mut self, _: &Operation, _: Account, _: &Names, _: &History) {}

    fn sent_for(&mut self, _: &Request, sent: &SentFor, bytes: Bytes, names: &Names) {
        let tasks = sent.tasks.iter().map(|t| names.text(*t).to_string()).collect();
        self.0.push((bytes, sent.clone(), tasks));
    }
}

impl IoObserver for All {}

/// Blocks, and what tasks did at which microsecond. Tasks 1 to 3 are called `cp`, `tar` and `dd`.
fn play(known: Known, blocks: &str, tasks: &[(u64, Tid, What)]) -> Vec<(Bytes, SentFor, Vec<String>)> {
    let names = "0 name cp tid=1\n0 name tar tid=2\n0 name dd tid=3\n";
    let mut batch = Script::of(&format!("{names}{blocks}")).batches(usize::MAX).remove(0);
    let mut define = |id, function: &[u8]| {
        let trace::Detail::Text(text) = batch.store(function) else { panic!("a text") };
        (0, SENDER, What::Text { id: TextId(id), text })
    };
    let defined = [define(7, b"xlog_cil_push_work"), define(8, b"ext4_discard_work")];
    for (time, tid, what) in defined.iter().chain(tasks) {
        let time = Nanos(time * 1000);
        let after =
            batch.events.partition_point(|e| e.time <= time && (time.0 > 0 || e.action.is_note())) as u32;
        batch.tasks.push(TaskEvent { time, after, tid: *tid, cpu: Cpu(0), context: Context(0), what: *what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.knows(known);
    follow.feed(&batch, &mut all);
    all.0
}

/// A write of 4 KiB to a file whose number the inode's own event tells.
fn write(at: u64, tid: u32, inode: u64, disk: DevId) -> [(u64, Tid, What); 3] {
    let tid = Tid(tid);
    [
        (at, tid, What::Enter { call: Call::Write, args: [3, 0, 4096, 0] }),
        (at + 1, tid, What::DirtiedFile { disk, inode }),
        (at + 2, tid, What::Exit { call: Call::Write, result: 4096 }),
    ]
}

fn flush(from: u64, to: u64, disk: DevId, inode: u64, cgroup: u64) -> [(u64, Tid, What); 2] {
    [(from, SENDER, What::Writeback { dev: disk, inode, cgroup }), (to, SENDER, What::WritebackEnd)]
}

fn names(all: &[(Bytes, SentFor, Vec<String>)]) -> Vec<(u64, Purpose, Vec<&str>)> {
    let of = |t: &(Bytes, SentFor, Vec<String>)| (t.0 .0 >> 10, t.1.purpose);
    all.iter().map(|t| (of(t).0, of(t).1, t.2.iter().map(String::as_str).collect())).collect()
}

/// Two files, one three times as large.
const TWO: &str = "
    101 Q W 0+8
    102 G W 0+8
    103 D W 0+8
    111 Q W 100+24
    112 G W 100+24
    113 D W 100+24
    200 C W 0+8 tid=0
    210 C W 100+24 tid=0";

#[test]
fn write_back_is_those_who_wrote_each_file() {
    let script = [
        &write(10, 1, 12, DISK)[..],
        &write(20, 2, 13, DISK),
        // The same number elsewhere is another file.
        &write(30, 3, 12, DevId(9 << 20)),
        &flush(100, 105, DISK, 12, 1),
        &flush(110, 115, DISK, 13, 1),
    ];
    let all = play(Known::default(), TWO, &script.concat());
    assert_eq!(names(&all), [(4, Purpose::FileData, vec!["cp"]), (12, Purpose::FileData, vec!["tar"])]);
    assert_eq!((all[0].1.inode, all[0].1.cgroup), (Some(12), None));
}

/// `cp` wrote a file that was deleted; the next with its number is written by `tar`.
#[test]
fn a_number_that_is_used_again_has_a_new_writer() {
    let gone = [(15, Tid(1), What::Freed { dev: DISK, inode: 12 })];
    let script = |gone: &[(u64, Tid, What)]| {
        let all = [&write(10, 1, 12, DISK)[..], gone, &write(20, 2, 12, DISK), &flush(100, 115, DISK, 12, 1)];
        play(Known::default(), TWO, &all.concat())
    };
    assert_eq!(names(&script(&gone))[0].2, ["tar"]);
    assert_eq!(names(&script(&[]))[0].2, ["cp", "tar"]);
}

/// Nobody was seen to write: the control group that the kernel tells is all that is known.
#[test]
fn what_was_written_before_the_recording_is_its_control_groups() {
    let script = [flush(100, 105, DISK, 12, 4711), flush(110, 115, DISK, 13, 1)].concat();
    let all = play(Known::default(), TWO, &script);
    assert!(all.iter().all(|t| t.2.is_empty()), "{all:?}");
    // 1 is the root: that says nothing.
    assert_eq!((all[0].1.cgroup, all[1].1.cgroup), (Some(4711), None));
}

/// Nobody was seen to write these files, but `cp` leaves enough in the cache to be their writer, unless it syncs that itself or `tar` leaves
/// as much. Of a file that somebody was seen to write, nothing is guessed.
#[test]
fn what_was_written_before_is_probably_whose_data_fills_the_cache() {
    let flushes = [flush(100, 105, DISK, 12, 1), flush(110, 115, DISK, 13, 1)].concat();
    let told = |script: &[(u64, Tid, What)], blocks: &str| {
        let all = play(Known::default(), &format!("{blocks}{TWO}"), &[script, &flushes[..]].concat());
        let of_files = all.into_iter().filter(|t| t.1.purpose == Purpose::FileData);
        of_files.map(|t| (t.2.join(", "), t.1.probably)).collect::<Vec<_>>()
    };
    let two = |at: u64, tid: u32, inode: u64| {
        let mut other = write(at + 5, tid, inode + 1, DISK);
        other[0].2 = What::Enter { call: Call::Write, args: [4, 0, 4096, 0] };
        [write(at, tid, inode, DISK), other].concat()
    };
    let (cp, tar) = (two(10, 1, 20), two(20, 2, 30));
    let (probably, unknown) = (("cp".to_string(), true), (String::new(), false));
    assert_eq!(told(&cp, ""), [probably.clone(), probably.clone()]);
    assert_eq!(told(&[&cp[..], &tar].concat(), ""), [unknown.clone(), unknown.clone()]);
    let syncs = "50 Q WS 900+16 tid=1\n51 G WS 900+16 tid=1\n52 D WS 900+16 tid=1\n90 C WS 900+16 tid=0";
    assert_eq!(told(&cp, syncs), [unknown.clone(), unknown.clone()]);
    assert_eq!(told(&two(10, 1, 13), ""), [probably, ("cp".to_string(), false)]);
    assert_eq!(
        told(&[write(10, 1, 20, DISK), write(20, 1, 20, DISK)].concat(), ""),
        [unknown.clone(), unknown.clone()]
    );
    assert_eq!(told(&[], ""), [unknown.clone(), unknown]);
}

/// A reader touches the file's times and thereby makes it dirty: no data of his. Who sets its mode neither.
#[test]
fn who_makes_a_file_dirty_without_writing_is_no_writer() {
    let (tid, disk) = (Tid(1), DISK);
    let script = [
        (10, tid, What::Enter { call: Call::Read, args: [3, 0, 4096, 0] }),
        (11, tid, What::DirtiedFile { disk, inode: 12 }),
        (12, tid, What::Exit { call: Call::Read, result: 4096 }),
        (20, Tid(2), What::DirtiedFile { disk, inode: 12 }),
    ];
    let all = play(Known::default(), TWO, &[&script[..], &flush(100, 105, DISK, 12, 1)].concat());
    assert_eq!(names(&all)[0], (4, Purpose::FileData, vec![]));
}

/// The kernel's write-back names disks. With one file system on it, a partition is meant; with two nobody
/// knows which.
#[test]
fn of_two_partitions_of_a_disk_neither_is_named() {
    let part = |n: u32| DevId(8 << 20 | n);
    let known = |mounted: &[DevId]| Known {
        partitions: vec![(part(1), DISK), (part(2), DISK)],
        mounted: mounted.to_vec(),
        ..Known::default()
    };
    let script = [&write(10, 1, 12, DISK)[..], &flush(100, 105, DISK, 12, 1)].concat();
    assert_eq!(names(&play(known(&[part(1)]), TWO, &script))[0].2, ["cp"]);
    assert_eq!(names(&play(known(&[part(1), part(2)]), TWO, &script))[0].2, Vec::<&str>::new());
}

/// What jbd2's thread writes is the changes of those who were in the transaction, and of those only; the data
/// that it sends first (data=ordered) is theirs who wrote the files.
#[test]
fn a_commit_writes_what_others_changed() {
    let joins = |at, tid| (at, Tid(tid), What::File { fs: Fs::Ext4, dev: DISK, inode: 0 });
    let commit = |at, phase| (at, SENDER, What::Commit { dev: DISK, phase });
    let script = [
        &write(2, 3, 13, DISK)[..],
        &[
            joins(10, 1),
            joins(20, 2),
            commit(90, CommitPhase::Start),
            // Too late: in the next transaction.
            joins(91, 3),
            commit(92, CommitPhase::Flushing),
            (95, SENDER, What::File { fs: Fs::Ext4, dev: DISK, inode: 13 }),
            commit(107, CommitPhase::Logging),
            commit(220, CommitPhase::End),
        ],
    ];
    let all = play(Known::default(), TWO, &script.concat());
    assert_eq!(names(&all), [(4, Purpose::FileData, vec!["dd"]), (12, Purpose::Journal, vec!["cp", "tar"])]);
}

/// XFS gathers changes and a work item writes them into the log.
#[test]
fn a_push_of_the_log_writes_what_others_changed() {
    let joins = |at, tid| (at, Tid(tid), What::Changes { fs: Fs::Xfs, dev: DISK, blocks: 0 });
    let works = |at, work| (at, SENDER, What::WorkStart { work, function: TextId(7) });
    let script = [
        joins(10, 1),
        works(100, 1),
        joins(104, 2),
        (105, SENDER, What::WorkEnd),
        works(110, 1),
        (115, SENDER, What::WorkEnd),
    ];
    let all = play(Known::default(), TWO, &script);
    assert_eq!(names(&all), [(4, Purpose::Journal, vec!["cp"]), (12, Purpose::Journal, vec!["tar"])]);
}

/// `cp` copies a file with one call: what it has written so far is its own, before the call returns. Reading changes times, too.
#[test]
fn who_copies_a_file_in_the_kernel_writes_it() {
    let file = |process, fd, inode| operation::KnownFile {
        process: Tid(process),
        fd,
        fs: Fs::Ext4,
        dev: DISK,
        inode,
        closed_on_exec: None,
    };
    let known = Known { files: vec![file(1, 3, 13), file(1, 4, 12)], ..Known::default() };
    let copies = [
        (10, Tid(1), What::Enter { call: Call::CopyFileRange, args: [3, 0, 4, 0] }),
        (11, Tid(1), What::DirtiedFile { disk: DISK, inode: 13 }),
        (12, Tid(1), What::DirtiedFile { disk: DISK, inode: 12 }),
    ];
    let script = [&copies[..], &flush(100, 105, DISK, 12, 1), &flush(110, 115, DISK, 13, 1)].concat();
    let all = play(known, TWO, &script);
    assert_eq!(names(&all), [(4, Purpose::FileData, vec!["cp"]), (12, Purpose::FileData, vec![])]);
}

/// Discards of a mount with that option come after the commit, from a worker or from the journal's thread. They are of those who deleted
/// files before it; `dd` deletes too late, and `tar` only changes a directory. Who trims, trims for itself.
#[test]
fn discards_are_of_those_who_deleted() {
    let two = TWO.replace(" W ", " D ");
    let commit = |at, phase| (at, SENDER, What::Commit { dev: DISK, phase });
    let script = |sends: &[(u64, Tid, What)]| {
        let before = [
            (10, Tid(1), What::Changes { fs: Fs::Ext4, dev: DISK, blocks: 3 }),
            (11, Tid(1), What::Freed { dev: DISK, inode: 12 }),
            (20, Tid(2), What::Changes { fs: Fs::Ext4, dev: DISK, blocks: 9 }),
            commit(90, CommitPhase::Start),
            (91, Tid(3), What::Freed { dev: DISK, inode: 13 }),
        ];
        play(Known::default(), &two, &[&before[..], sends].concat())
    };
    let of_cp = (Purpose::Discard, vec!["cp"]);
    let worker = [
        commit(95, CommitPhase::End),
        (100, SENDER, What::WorkStart { work: 1, function: TextId(8) }),
        (120, SENDER, What::WorkEnd),
    ];
    for sends in [&worker[..], &[commit(120, CommitPhase::End)]] {
        let all = script(sends);
        let told: Vec<_> = names(&all).into_iter().map(|(_, purpose, who)| (purpose, who)).collect();
        assert_eq!(told, [of_cp.clone(), of_cp.clone()]);
    }
    assert!(script(&worker[..1]).is_empty());
}

/// What the recorder notes when it begins: the flusher is at a file, and each of `writers` sleeps in a `write` to a file of this number.
fn slept(writers: &[(u32, u64)]) -> Known {
    let sleeps = |tid, task: &str, stack: &str| KnownSleep {
        tid,
        task: task.into(),
        stack: stack.into(),
        argument: Some(3),
    };
    let stack =
        "blk_mq_get_tag\next4_writepages\n__writeback_single_inode\nwb_workfn\nprocess_one_work\nkthread";
    let flusher = sleeps(SENDER, "kworker/u4:2+flush-8:0", stack);
    let stack = "balance_dirty_pages\next4_buffered_write_iter\nksys_write\ndo_syscall_64";
    let writes = |(tid, _): &(u32, u64)| sleeps(Tid(*tid), "", stack);
    let file = |(tid, inode): &(u32, u64)| KnownFile {
        process: Tid(*tid),
        fd: 3,
        fs: Fs::Ext4,
        dev: DISK,
        inode: *inode,
        closed_on_exec: None,
    };
    let asleep = [flusher].into_iter().chain(writers.iter().map(writes)).collect();
    Known { asleep, files: writers.iter().map(file).collect(), ..Known::default() }
}

/// What was written before the recording is written back in it, by whom the sleeping tasks show.
#[test]
fn a_flusher_that_had_begun_has_the_only_file_that_is_written() {
    let begins = [(1, Tid(9), What::Enter { call: Call::Other, args: [0; 4] })];
    let of = |writers: &[(u32, u64)], tasks: &[(u64, Tid, What)]| {
        let all = play(slept(writers), TWO, &[&begins[..], tasks].concat());
        names(&all).into_iter().map(|t| t.2.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[(3, 12)], &[]), ["dd", "dd"]);
    assert_eq!(of(&[(3, 12), (1, 12)], &[]), ["dd cp", "dd cp"]);
    // One of two files, until an event of the flusher names it.
    assert_eq!(of(&[(3, 12), (1, 13)], &[]), ["", ""]);
    let dirtied = [(105, SENDER, What::DirtiedFile { disk: DISK, inode: 13 })];
    assert_eq!(of(&[(3, 12), (1, 13)], &dirtied), ["", "cp"]);
    // It goes on with the next file.
    let next = [(105, SENDER, What::WritebackEnd), flush(107, 120, DISK, 13, 1)[0]];
    assert_eq!(of(&[(3, 12)], &next), ["dd", ""]);
}
