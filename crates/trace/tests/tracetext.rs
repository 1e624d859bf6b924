//! Text of tracepoints gives the events that the recording itself gives.

use proptest::prelude::*;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::tools::installed;
use trace::tracetext::TraceText;
use trace::{Action, Batch, DevId, Event, Fs, Input, Left, Source, TaskEvent, Tid, What};

fn all(source: &mut dyn Source) -> (Vec<Event>, Vec<TaskEvent>, Vec<String>) {
    let (mut batch, mut events, mut tasks, mut texts) = (Batch::default(), vec![], vec![], vec![]);
    while source.fill(&mut batch).unwrap() {
        events.extend(batch.events.iter().copied());
        for task in &batch.tasks {
            if let What::Text { text, .. } = task.what {
                texts.push(String::from_utf8_lossy(batch.at(text)).into_owned());
            }
        }
        tasks.extend(batch.tasks.iter().copied());
    }
    (events, tasks, texts)
}

fn text(bytes: &[u8]) -> TraceText {
    let input = Input::from_reader(PathBuf::from("text"), Box::new(Cursor::new(bytes.to_vec())), None);
    TraceText::open(input.unwrap())
}

/// What of an event text keeps: all but its time, which is in whole microseconds.
fn kept(e: &Event) -> String {
    format!(
        "{:?} {} {} {} {:?} {} {:?} {}",
        e.action, e.dev.0, e.sector.0, e.bytes.0, e.flags, e.error, e.detail, e.tid.0
    )
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-ordered-data/trace.dat")
}

#[test]
fn what_trace_cmd_reports_is_what_it_recorded() {
    if !installed("trace-cmd", &["--version"]) {
        return;
    }
    let out = Command::new("trace-cmd").arg("report").arg(fixture()).output().unwrap();
    let mut source = text(&out.stdout);
    let (events, tasks, texts) = all(&mut source);
    let (recorded, their_tasks, their_texts) = all(&mut *trace::open(&fixture()).unwrap().source);
    let block = |all: &[Event]| all.iter().filter(|e| !e.action.is_note()).map(kept).collect::<Vec<_>>();
    let (ours, theirs) = (block(&events), block(&recorded));
    assert!(ours.len() > 500, "{}", ours.len());
    assert_eq!(ours, theirs);
    let late = |(a, b): (&Event, &Event)| a.time.0.abs_diff(b.time.0) > 1000;
    let steps = |all: Vec<Event>| all.into_iter().filter(|e| !e.action.is_note()).collect::<Vec<_>>();
    assert!(!steps(events).iter().zip(&steps(recorded)).any(late));
    let count = |all: &[TaskEvent], wanted: fn(&What) -> bool| all.iter().filter(|t| wanted(&t.what)).count();
    let kinds: [fn(&What) -> bool; 8] = [
        |w| matches!(w, What::Enter { .. }),
        |w| matches!(w, What::Exit { .. }),
        |w| matches!(w, What::Switch { left: Left::Uninterruptible, .. }),
        |w| matches!(w, What::Switch { .. }),
        |w| matches!(w, What::Wake(_)),
        |w| matches!(w, What::Stack(_)),
        |w| matches!(w, What::Commit { .. }),
        |w| matches!(w, What::WorkQueued { .. } | What::WorkStart { .. } | What::WorkEnd),
    ];
    for (i, kind) in kinds.into_iter().enumerate() {
        assert_eq!(count(&tasks, kind), count(&their_tasks, kind), "kind {i}");
    }
    let mut missing: Vec<&String> =
        their_texts.iter().filter(|t| t.contains('\n') && !texts.contains(t)).collect();
    missing.retain(|t| !t.contains('?'));
    assert!(missing.is_empty(), "{missing:?}");
    let quality = source.quality();
    assert_eq!((quality.unknown, quality.lost_total()), (0, 0), "{:?}", quality.notes);
}

const FTRACE: &str = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
             fio-683     [001] d..1.  2074.528179: block_bio_queue: 7,0 WS 1048576 + 8 [fio]\n\
             fio-683     [001] d..1.  2074.528184: block_getrq: 7,0 WS 1048576 + 8 [fio]\n\
             fio-683     [001] d..1.  2074.528185: block_rq_insert: 7,0 WS 4096 () 1048576 + 8 [fio]\n\
             fio-683     [001] d..1.  2074.528186: block_unplug: [fio] 1\n\
             fio-683     [001] d..1.  2074.528189: block_rq_issue: 7,0 WS 4096 () 1048576 + 8 0x2,0,4 [fio]\n\
             fio-683     [001] d..2.  2074.528190: sched_switch: prev_comm=fio prev_pid=683 prev_prio=120 prev_state=D ==> next_comm=swapper/1 next_pid=0 next_prio=120\n\
             fio-683     [001] d..2.  2074.528191: <stack trace>\n => __schedule\n => schedule\n => io_schedule\n => blk_mq_get_tag+0x10/0x20\n => submit_bio\n\
          <idle>-0       [000] d.h1.  2074.529189: block_rq_complete: 7,0 WS () 1048576 + 8 [-5]\n\
          <idle>-0       [000] d.h1.  2074.529190: sched_waking: comm=fio pid=683 prio=120 target_cpu=001\n\
          <idle>-0       [000] d.h1.  2074.529191: sched_wakeup: comm=fio pid=683 prio=120 target_cpu=001\n\
CPU:1 [LOST 12 EVENTS]\n";

/// The same in the words of perf script.
fn perf() -> String {
    let mut all = String::new();
    for line in FTRACE.lines().filter(|l| l.contains("] d.")) {
        let (who, rest) = line.trim().split_once(" [").unwrap();
        let (name, tid) = who.trim().rsplit_once('-').unwrap();
        let (cpu, rest) = rest.split_once("] ").unwrap();
        let rest = rest.split_once(' ').unwrap().1.trim();
        let (time, rest) = rest.split_once(": ").unwrap();
        if rest == "<stack trace>" {
            continue;
        }
        let group = if rest.starts_with("block") { "block" } else { "sched" };
        all += &format!("{name} {tid}/{tid} [{cpu}] {time}: {group}:{rest}\n");
        if rest.starts_with("sched_switch") {
            for frame in ["__schedule", "schedule", "io_schedule", "blk_mq_get_tag", "submit_bio"] {
                all += &format!("\tffffffff813a03c5 {frame}+0x12 ([kernel.kallsyms])\n");
            }
            all += "\n";
        }
    }
    all
}

#[test]
fn the_kernels_text_and_perfs_are_the_same_events() {
    let mut source = text(FTRACE.as_bytes());
    let (events, tasks, texts) = all(&mut source);
    let actions: Vec<Action> = events.iter().map(|e| e.action).filter(|a| !a.is_note()).collect();
    use Action::*;
    assert_eq!(actions, [Queue, Get, Insert, Unplug, Issue, Complete]);
    assert_eq!(
        (events.iter().find(|e| e.action == Complete).unwrap().error as i16, source.quality().lost_total()),
        (-5, 12)
    );
    assert_eq!(texts, ["blk_mq_get_tag\nsubmit_bio"]);
    // A wakeup is the second half of a waking.
    assert_eq!(tasks.iter().filter(|t| matches!(t.what, What::Wake(_))).count(), 1);
    let (other, other_tasks, other_texts) = all(&mut text(perf().as_bytes()));
    let block = |all: &[Event]| all.iter().filter(|e| !e.action.is_note()).map(kept).collect::<Vec<_>>();
    assert_eq!((block(&other), other_texts), (block(&events), texts));
    let whats = |all: &[TaskEvent]| {
        all.iter().filter(|t| !matches!(t.what, What::Lost { .. })).map(|t| t.what).collect::<Vec<_>>()
    };
    assert_eq!(whats(&other_tasks), whats(&tasks));
}

/// As babeltrace prints them.
#[test]
fn what_lttng_recorded_is_the_same_events() {
    let event = |time: u32, name: &str, fields: &str| {
        format!("[10:00:00.000{time:03}000] (+0.000001000) host {name}: {{ cpu_id = 1 }}, {{ {fields} }}\n")
    };
    let lines = [
        event(1, "sched_switch", "prev_comm = \"a\", prev_tid = 7, prev_prio = 20, prev_state = 0, next_comm = \"fio\", next_tid = 683, next_prio = 20"),
        event(2, "syscall_entry_fsync", "fd = 3"),
        event(3, "block_rq_issue", "dev = 8388608, sector = 1048576, nr_sector = 8, bytes = 4096, tid = 683, rwbs = 33, comm = \"fio\""),
        event(9, "block_rq_complete", "dev = 8388608, sector = 1048576, nr_sector = 8, error = -5, rwbs = 33"),
        event(9, "timer_start", "timer = 0x1"),
        event(10, "syscall_exit_fsync", "ret = 0"),
    ];
    let mut source = text(lines.concat().as_bytes());
    let (events, tasks, _) = all(&mut source);
    let steps: Vec<&Event> = events.iter().filter(|e| !e.action.is_note()).collect();
    assert_eq!((steps[0].action, steps[1].action, steps.len()), (Action::Issue, Action::Complete, 2));
    assert_eq!(
        (steps[0].dev.0, steps[0].bytes.0, steps[0].tid.0, steps[1].error as i16),
        (8 << 20, 4096, 683, -5)
    );
    assert!(
        matches!(tasks[1].what, What::Enter { call: trace::Call::Fsync, .. }) && tasks[1].tid.0 == 683,
        "{tasks:?}"
    );
    assert_eq!(source.quality().unknown, 0, "{:?}", source.quality().notes);
}

/// In the words of Linux 6 and of Linux 5.
#[test]
fn rings_are_submitted_and_completed() {
    let submitted = [
        "io_uring_submit_req: ring 00000000abcdef01, req 00000000abcdef02, user_data 0x1, opcode READ, flags 0x0, sq_thread 0",
        "io_uring_submit_sqe: ring 00000000abcdef01, req 00000000abcdef02, op 22, data 0x1, flags 0, non block 1, sq_thread 0",
    ];
    let completed = "io_uring_complete: ring 00000000abcdef01, req 00000000abcdef02, user_data 0x1, result -11, cflags 0x0";
    for submitted in submitted {
        let lines = [submitted, completed].map(|event| format!("fio-683 [001] ..... 2074.528170: {event}\n"));
        let (_, tasks, _) = all(&mut text(lines.concat().as_bytes()));
        let whats: Vec<What> = tasks.iter().map(|t| t.what).collect();
        let request = 0xabcdef02;
        assert_eq!(
            whats,
            [What::RingSubmit { request, opcode: 22 }, What::RingComplete { request, result: -11 }]
        );
    }
}

#[test]
fn who_is_put_into_a_control_group() {
    let line = "  sh-5     [001] .....  7.000001: cgroup_attach_task: dst_root=7 dst_id=99 dst_level=1 dst_path=/a b pid=8 comm=fio\n";
    let (_, tasks, _) = all(&mut text(line.as_bytes()));
    let [told, joins] = &tasks[..] else { panic!("{tasks:?}") };
    let What::Text { id: path, .. } = told.what else { panic!("{told:?}") };
    assert_eq!(joins.what, What::CgroupAttach { tid: Tid(8), hierarchy: 7, path });
}

/// Lines of a stack within programs are no events, and not what was waited for.
#[test]
fn frames_of_programs_are_aside() {
    let stack = "\tffffffff813a03c5 __schedule+0x618 ([kernel.kallsyms])\n\tffffffff813a03c5 blk_mq_get_tag+0x1 ([kernel.kallsyms])\n\
        \t           ee137 fsync+0x7 (/usr/lib/libc.so.6)\n\t              21 [unknown] ([unknown])\n\n";
    let event = "fio 683 [001] 2074.528190: sched:sched_switch: prev_comm=fio prev_pid=683 prev_prio=120 prev_state=D ==> next_comm=dd next_pid=7 next_prio=120\n";
    let mut source = text(format!("{event}{stack}{event}").as_bytes());
    let (_, _, texts) = all(&mut source);
    assert_eq!(texts, ["blk_mq_get_tag"]);
    assert_eq!(source.quality().unknown, 0, "{:?}", source.quality().notes);
}

#[test]
fn system_calls_have_their_arguments() {
    let line = |event: &str| format!("cat 12 [000] 1.000001: {event}\n");
    let (_, tasks, _) = all(&mut text(
        [
            line("raw_syscalls:sys_enter: NR 74 (3, 0, 0, 0, 0, 0)"),
            line("raw_syscalls:sys_exit: NR 74 = -5"),
            line("syscalls:sys_enter_openat: dfd: 0xffffff9c, filename: 0x55d3, flags: 0x00000241, mode: 0x000001b6"),
            line("syscalls:sys_exit_openat: 0x3"),
        ]
        .concat()
        .as_bytes(),
    ));
    let whats: Vec<String> = tasks.iter().map(|t| format!("{:?}", t.what)).collect();
    assert_eq!(
        whats,
        [
            "Enter { call: Fsync, args: [3, 0, 0, 0] }",
            "Exit { call: Fsync, result: -5 }",
            "Enter { call: Open, args: [4294967196, 21971, 577, 577] }",
            "Exit { call: Open, result: 3 }",
        ]
    );
}

/// A handle that takes a block out of the transaction again has changed one less.
#[test]
fn a_handle_of_the_journal_says_how_many_blocks_it_changed() {
    let said = |dirtied: &str| {
        let line = format!(
            "rm 12 [000] 1.000001: jbd2:jbd2_handle_stats: dev 7,4 tid 1945 type 4 line_no 3254 interval 2 sync 0 requested_blocks 25 {dirtied}\n"
        );
        all(&mut text(line.as_bytes())).1[0].what
    };
    let changes = |blocks| What::Changes { fs: Fs::Ext4, dev: DevId::new(7, 4), blocks };
    assert_eq!(["dirtied_blocks 4", "dirtied_blocks -1", ""].map(said), [4, -1, 0].map(changes));
}

#[test]
fn what_ends_io_says_nothing_of_its_task() {
    let line = |event: &str| format!("slowdisk 756 [000] 1.000001: {event}\n");
    let said = |event: &str| all(&mut text(line(event).as_bytes())).1.len();
    assert_eq!(
        said("xfs:xfs_file_direct_read: dev 7:0 ino 0x83 disize 0x1800000 pos 0x0 bytecount 0x1000"),
        1
    );
    assert_eq!(
        said("xfs:xfs_end_io_direct_write: dev 7:0 ino 0x83 isize 0x0 disize 0x0 offset 0x0 count 4096"),
        0
    );
}

proptest! {
    /// Any bytes give events, or are counted.
    #[test]
    fn mutated_text_is_read(
        perfs: bool, cut in 0.0f64..1.0, edits in prop::collection::vec((0.0f64..1.0, any::<u8>()), 0..40),
    ) {
        let mut bytes = if perfs { perf() } else { FTRACE.to_owned() }.into_bytes();
        for (at, byte) in edits {
            let at = (at * bytes.len() as f64) as usize;
            bytes[at] = byte;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let lines = bytes.split(|b| *b == b'\n').count();
        let (events, tasks, _) = all(&mut text(&bytes));
        prop_assert!(events.len() <= 2 * lines && tasks.len() <= 4 * lines);
    }
}
