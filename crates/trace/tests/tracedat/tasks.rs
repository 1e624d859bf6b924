//! What tasks do, of trace.dat: who is woken, direct I/O.

use crate::build::{format, Dat};
use std::io::Write;
use trace::tracedat::{self, Order};
use trace::{Batch, Bytes, DevId, Nanos, Source, Tid, What};

const WAKING: u16 = 310;
const WAKEUP: u16 = 311;
const DIRECT: u16 = 312;

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
    dat.formats = vec![
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
