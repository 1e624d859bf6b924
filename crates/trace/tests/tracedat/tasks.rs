//! What tasks do, of trace.dat: who is woken, direct I/O.

use crate::build::{format, Dat};
use std::io::Write;
use trace::tracedat::{self, Order};
use trace::{Batch, Bytes, DevId, Nanos, Source, TextId, Tid, What};

const WAKING: u16 = 310;
const WAKEUP: u16 = 311;
const DIRECT: u16 = 312;
const GROUPED: u16 = 313;

fn dat() -> Dat {
    let mut dat = Dat::new(Order::Little, 8, 6);
    let woken = [("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1)];
    let direct = [
        ("dev_t dev", 8, 4, 0),
        ("ino_t ino", 16, 8, 0),
        ("loff_t isize", 24, 8, 1),
        ("loff_t pos", 32, 8, 1),
        ("size_t count", 40, 8, 0),
    ];
    let grouped = [
        ("int dst_root", 8, 4, 1),
        ("int pid", 24, 4, 1),
        ("__data_loc char[] dst_path", 28, 4, 0),
        ("__data_loc char[] comm", 32, 4, 0),
    ];
    dat.formats = vec![
        ("cgroup", format("cgroup_attach_task", GROUPED, &grouped)),
        ("sched", format("sched_waking", WAKING, &woken)),
        ("sched", format("sched_wakeup", WAKEUP, &woken)),
        ("iomap", format("iomap_dio_rw_begin", DIRECT, &direct)),
    ];
    dat
}

/// What was told of these records, a microsecond apart.
fn told(dat: &mut Dat, records: Vec<Vec<u8>>) -> Vec<(Nanos, Tid, What)> {
    let records: Vec<(u32, Vec<u8>)> = records.into_iter().map(|bytes| (1000, bytes)).collect();
    dat.buffers[0].1 = vec![dat.page(0, None, &records)];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&dat.bytes()).unwrap();
    let (mut from, mut batch, mut all) = (tracedat::open(file.path()).unwrap(), Batch::default(), vec![]);
    while from.fill(&mut batch).unwrap() {
        all.extend(batch.tasks.iter().map(|e| (e.time, e.tid, e.what)));
    }
    all
}

fn woken(dat: &Dat, id: u16, by: u32, who: u32) -> Vec<u8> {
    [dat.common(id, by), b"fio\0".to_vec(), vec![0; 12], dat.int(who.into(), 4)].concat()
}

/// `trace-cmd record -e sched_switch -e sched_wakeup` has no `sched_waking`; where both are, a wakeup is the second half of a waking.
#[test]
fn a_wakeup_is_taken_where_no_waking_is_recorded() {
    let mut d = dat();
    let alone = vec![woken(&d, WAKEUP, 7, 8), woken(&d, WAKEUP, 9, 10)];
    let wakes = |by, who, at| (Nanos(at), Tid(by), What::Wake(Tid(who)));
    assert_eq!(told(&mut d, alone), [wakes(7, 8, 1000), wakes(9, 10, 2000)]);
    let both = vec![woken(&d, WAKING, 7, 8), woken(&d, WAKEUP, 1, 8), woken(&d, WAKING, 9, 10)];
    assert_eq!(told(&mut d, both), [wakes(7, 8, 1000), wakes(9, 10, 3000)]);
}

#[test]
fn direct_io_says_where_in_which_file() {
    let mut d = dat();
    let at = [d.int(DevId::new(8, 17).0.into(), 4), vec![0; 4], d.int(12, 8), d.int(1 << 30, 8)];
    let record = [d.common(DIRECT, 7), at.concat(), d.int(65_536, 8), d.int(4096, 8)].concat();
    let direct = What::Direct { dev: DevId::new(8, 17), inode: 12, at: Bytes(65_536), bytes: Bytes(4096) };
    assert_eq!(told(&mut d, vec![record]), [(Nanos(1000), Tid(7), direct)]);
}

#[test]
fn who_is_put_into_a_control_group() {
    let mut d = dat();
    let joins = |d: &Dat, pid: u32, path: &[u8]| {
        let at = |from: usize, len: usize| d.int((len << 16 | from) as u64, 4);
        let places = [at(36, path.len() + 1), at(36 + path.len() + 1, 4)].concat();
        let numbers = [d.int(7, 4), d.int(1, 4), d.int(99, 8), d.int(pid.into(), 4)].concat();
        [d.common(GROUPED, 5), numbers, places, path.to_vec(), b"\0fio\0".to_vec()].concat()
    };
    let records = vec![joins(&d, 8, b"/a b"), joins(&d, 9, b"/a b"), joins(&d, 9, b"/c")];
    let all: Vec<What> = told(&mut d, records).into_iter().map(|t| t.2).collect();
    let grouped = |tid, path| What::CgroupAttach { tid: Tid(tid), hierarchy: 7, path: TextId(path) };
    let is_text = |what: &What, n| matches!(what, What::Text { id, .. } if *id == TextId(n));
    assert!(is_text(&all[0], 0) && is_text(&all[3], 1), "{all:?}");
    assert_eq!((&all[1..3], all[4]), (&[grouped(8, 0), grouped(9, 0)][..], grouped(9, 1)));
}
