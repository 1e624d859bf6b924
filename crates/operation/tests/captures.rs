//! All operations of real recordings, not only the slow ones. Set `CAPTURES` to the folder that holds them.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Follow, History, Operation, OperationObserver, Part};
use std::path::PathBuf;
use trace::{Batch, Nanos};

#[derive(Default)]
struct All {
    operations: Vec<(Operation, Account, String)>,
    imbalanced: usize,
}

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, _: &History) {
        let exact = account.imbalance().is_none() && (account.from, account.to) == (o.from, o.to);
        self.imbalanced += usize::from(!exact);
        if o.is_storage && o.kind.is_foreground() {
            self.operations.push((*o, account, names.text(o.task).to_string()));
        }
    }
}

impl IoObserver for All {}

fn read(name: &str) -> Option<All> {
    let Some(folder) = std::env::var_os("CAPTURES").map(|c| PathBuf::from(c).join(name)) else {
        eprintln!("SKIPPED: set CAPTURES to a folder of captures to have {name} followed");
        return None;
    };
    let mut source = trace::open(&folder.join("trace.dat")).expect("a recording").source;
    let (mut follow, mut all) = (Follow::default(), All::default());
    let mut batch = Batch::default();
    while source.fill(&mut batch).expect("readable") {
        follow.feed(&batch, &mut all);
    }
    assert_eq!(all.imbalanced, 0, "{name}: operations that do not add up");
    all.operations.sort_by_key(|(o, ..)| std::cmp::Reverse(o.total()));
    Some(all)
}

const NAMES: [&str; 9] = [
    "a_randread_alone",
    "c_dd_buffered",
    "e2_append_ext4_stable0",
    "e2_append_ext4_stable1",
    "f_fsync_xfs_j4",
    "g_deadline_default",
    "i_ordered_dioread_lock",
    "j_nrreq_4",
    "k_throttle_200",
];

/// At most this part of the tail's time may be unexplained.
const UNEXPLAINED: f64 = 0.01;

#[test]
fn all_operations_balance_and_the_tail_is_explained() {
    for name in NAMES {
        let Some(all) = read(name) else { continue };
        let tail = &all.operations[..all.operations.len().div_ceil(100)];
        let sum =
            |pick: &dyn Fn(&Account) -> Nanos| tail.iter().map(|(_, a, _)| pick(a)).sum::<Nanos>().0 as f64;
        let part = sum(&|a| a.of(Reason::Unexplained)) / sum(&|a| a.total());
        println!(
            "{name}: {} operations, {:.3} % of the tail unexplained",
            all.operations.len(),
            100.0 * part
        );
        for (o, a, task) in tail.iter().filter(|(_, a, _)| a.of(Reason::Unexplained).0 * 20 > a.total().0) {
            println!(
                "  {} by {task} {}: {:?} of {:?}",
                o.kind.name(),
                o.tid.0,
                a.of(Reason::Unexplained),
                a.total()
            );
        }
        assert!(part <= UNEXPLAINED, "{name}: {:.2} % unexplained", 100.0 * part);
    }
}

/// fio's own maximum (`clat` of all jobs) beside the slowest traced call of fio.
#[test]
fn the_slowest_call_is_fios_maximum() {
    for (name, json, max_ns) in FIO_MAXIMA {
        let Some(all) = read(name) else { continue };
        let slowest = all
            .operations
            .iter()
            .filter(|(o, _, task)| task == "fio" && json.contains(&o.kind.name()))
            .map(|(o, ..)| o.total())
            .max();
        let slowest = slowest.expect("fio did something").0;
        println!("{name}: traced {slowest}, fio {max_ns}");
        let apart = slowest.abs_diff(*max_ns);
        assert!(apart < CLOSE, "{name}: traced {slowest} ns, fio says {max_ns} ns");
    }
}

/// fio takes the time before and after the call.
const CLOSE: u64 = 20_000;

/// Recording, kinds of operations that fio's figure is about, and that figure (nanoseconds).
const FIO_MAXIMA: &[(&str, &[&str], u64)] = &[
    ("a_randread_alone", &["read"], 9_108_946),
    ("c_dd_buffered", &["read"], 922_787_224),
    ("e2_append_ext4_stable1", &["write"], 10_715_904),
    ("f_fsync_xfs_j4", &["fsync"], 127_587_998),
    ("g_deadline_default", &["read"], 282_483_091),
    ("i_ordered_dioread_lock", &["fsync"], 2_400_520_355),
    ("k_throttle_200", &["read"], 97_920_579),
];

/// The wake-up of a task that waits for its own direct read comes from the completion of that very read.
#[test]
fn a_direct_read_is_woken_by_its_own_request() {
    for name in ["a_randread_alone", "c_dd_buffered", "g_deadline_default"] {
        let Some(all) = read(name) else { continue };
        let (mut own, mut other) = (0, 0);
        for (o, account, _) in all.operations.iter().filter(|(_, _, task)| task == "fio") {
            let mut waiting = false;
            for node in &account.nodes {
                match &node.part {
                    Part::Wait { wait, .. } if node.depth == 0 => {
                        waiting = *wait == operation::Wait::DirectIo
                    }
                    Part::Request(entry) if node.depth == 1 && waiting => {
                        let tid = match &entry.done {
                            operation::Done::Request(r) => r.tid,
                            operation::Done::Bio(b) => b.tid,
                        };
                        if tid == o.tid {
                            own += 1;
                        } else {
                            other += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        println!("{name}: {own} by their own request, {other} by another's");
        assert!(own > 1000 || name != "a_randread_alone", "{name}: {own}");
        assert_eq!(other, 0, "{name}");
    }
}
