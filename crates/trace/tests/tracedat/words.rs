//! Machines of either byte order and word size, every container, losses, instances and clocks.

use crate::build::{format, Dat};
use std::io::Write;
use trace::tracedat::{self, Order, Stacks, Step, TraceDat};
use trace::{Action, Batch, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Sector, Source, Tid};

fn open(dat: &Dat) -> TraceDat {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&dat.bytes()).unwrap();
    tracedat::open(file.path()).unwrap()
}

fn all(dat: &mut TraceDat) -> (Vec<Event>, Vec<String>) {
    let (mut batch, mut events, mut texts) = (Batch::default(), Vec::new(), Vec::new());
    while dat.fill(&mut batch).unwrap() {
        texts.extend(batch.events.iter().map(|e| String::from_utf8_lossy(batch.text(e)).into_owned()));
        events.append(&mut batch.events);
    }
    (events, texts)
}

/// The events this file is about, as a machine with longs of 4 or 8 bytes lays them out.
fn formats(dat: &mut Dat) {
    let word = dat.long as u32;
    dat.formats = vec![
        ("ftrace", {
            let caller = format!("unsigned long caller[{}]", 8);
            let at = 8 + word;
            format("kernel_stack", 5, &[("int size", 8, 4, 1), (&caller, at, 8 * word, 0)])
        }),
        (
            "block",
            format(
                "block_rq_issue",
                300,
                &[
                    ("dev_t dev", 8, 4, 0),
                    ("sector_t sector", 16, 8, 0),
                    ("unsigned int nr_sector", 24, 4, 0),
                    ("unsigned int bytes", 28, 4, 0),
                    ("char rwbs[8]", 32, 8, 0),
                    ("char comm[16]", 40, 16, 0),
                    ("__data_loc char[] cmd", 56, 4, 0),
                ],
            ),
        ),
        (
            "block",
            format(
                "block_rq_complete",
                301,
                &[
                    ("dev_t dev", 8, 4, 0),
                    ("sector_t sector", 16, 8, 0),
                    ("unsigned int nr_sector", 24, 4, 0),
                    ("int errors", 28, 4, 1),
                    ("char rwbs[8]", 32, 8, 0),
                    ("__data_loc char[] cmd", 40, 4, 0),
                ],
            ),
        ),
    ];
    dat.kallsyms = "c0000100 T first\nc0000200 t second\t[mod]\nc0000300 T end\n".into();
    dat.cmdlines = "77 swapd\n".into();
    dat.printk = "0x10 : \"text\"\n".into();
}

fn issue(d: &Dat, tid: u32, sector: u64, sectors: u64, rwbs: &[u8; 8]) -> Vec<u8> {
    let mut comm = *b"fio\0old memory!!";
    comm[15] = 0;
    [
        d.common(300, tid),
        d.int(DevId::new(8, 17).0.into(), 4),
        vec![0; 4],
        d.int(sector, 8),
        d.int(sectors, 4),
        d.int(sectors * 512, 4),
        rwbs.to_vec(),
        comm.to_vec(),
        d.int(60 | 4 << 16, 4),
        b"abc\0".to_vec(),
    ]
    .concat()
}

fn complete(d: &Dat, tid: u32, sector: u64, sectors: u64, error: i32, rwbs: &[u8; 8]) -> Vec<u8> {
    [
        d.common(301, tid),
        d.int(DevId::new(8, 17).0.into(), 4),
        vec![0; 4],
        d.int(sector, 8),
        d.int(sectors, 4),
        d.int(error as u32 as u64, 4),
        rwbs.to_vec(),
        d.int(44, 4),
    ]
    .concat()
}

fn kernel_stack(d: &Dat, tid: u32, addresses: &[u64]) -> Vec<u8> {
    let mut out = [d.common(5, tid), d.int(addresses.len() as u64, 4)].concat();
    out.resize(8 + d.long, 0);
    addresses.iter().for_each(|a| out.extend(d.int(*a, d.long)));
    out
}

fn every_machine(mut test: impl FnMut(&mut Dat)) {
    for order in [Order::Little, Order::Big] {
        for long in [4, 8] {
            for (version, codec) in [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")] {
                for page_size in [4096, 16384] {
                    let mut dat = Dat::new(order, long, version);
                    (dat.codec, dat.page_size) = (codec, page_size);
                    formats(&mut dat);
                    test(&mut dat);
                }
            }
        }
    }
}

#[test]
fn the_same_events_from_every_machine_and_container() {
    every_machine(|d| {
        let many: Vec<_> = (0..30).map(|i| 0xc000_0100 + 4 * i).collect();
        let cpu0 = [
            d.page(
                1000,
                None,
                &[
                    (0, issue(d, 12, 2048, 8, b"FWFSM\0\0\0")),
                    (500, complete(d, 0, 2048, 8, -5, b"FWFSM\0\0\0")),
                ],
            ),
            d.page(5000, Some(0), &[(0, complete(d, 77, u64::MAX, 0, 0, b"FF\0\0\0\0\0\0"))]),
            d.page(6000, None, &[(0, kernel_stack(d, 12, &many))]),
        ]
        .concat();
        let cpu1 = d.page(1200, Some(41), &[(3, issue(d, 12, 4096, 16, b"RA\0\0\0\0\0\0"))]);
        d.buffers[0].1 = vec![cpu0, cpu1];
        let mut dat = open(d);
        let about = format!("{:?} {} v{} {} {}", d.order, d.long, d.version, d.codec, d.page_size);
        let (events, texts) = all(&mut dat);
        let short: Vec<_> = events.iter().map(|e| (e.time.0, e.cpu.0, e.tid.0, e.action)).collect();
        use Action::*;
        let want = [
            (1000, 0, 12, TaskName),
            (1000, 0, 12, Issue),
            (1203, 1, 0, Lost),
            (1203, 1, 12, Issue),
            (1500, 0, 0, Complete),
            (5000, 0, 0, Lost),
            (5000, 0, 77, TaskName),
            (5000, 0, 77, Complete),
        ];
        assert_eq!(short, want, "{about}");
        assert_eq!((&*texts[0], &*texts[6]), ("fio", "swapd"));
        let write = Flags::FLUSH.with(Flags::WRITE).with(Flags::FUA).with(Flags::SYNC).with(Flags::META);
        let first = Event {
            time: Nanos(1000),
            cpu: Cpu(0),
            tid: Tid(12),
            dev: DevId::new(8, 17),
            sector: Sector(2048),
            bytes: Bytes(4096),
            flags: write.with(Flags::ISSUE).with(Flags::FS),
            action: Issue,
            ..Event::default()
        };
        assert_eq!(events[1], first, "{about}");
        assert_eq!(events[2].detail, Detail::Lost(41));
        assert_eq!(events[3].flags, Flags::READ.with(Flags::AHEAD).with(Flags::ISSUE).with(Flags::FS));
        assert_eq!(events[4].error, -5i16 as u16);
        assert_eq!(events[5].detail, Detail::Lost(1));
        assert_eq!(events[7].sector, Sector(u64::MAX));
        let q = dat.quality();
        // Of these 12, 8 are block events; the others say what tasks did, and what of that is missing.
        assert_eq!((q.events, q.lost_total(), q.unknown, q.damaged_bytes), (12, 42, 0, 0), "{about}");
        assert_eq!(dat.strings().find(0x10), Some("text"));

        let mut dat = open(d);
        let symbols = dat.symbols().unwrap();
        let stacks = Stacks::of(dat.formats(), dat.long()).unwrap();
        let mut found = Vec::new();
        while let Some(step) = dat.cursor().step().unwrap() {
            if let Step::Record(r) = step {
                found.extend(stacks.addresses(&r));
            }
        }
        assert_eq!(found, many, "{about}");
        assert_eq!(symbols.find(found[29]), Some(("first", 116)));
    });
}

#[test]
fn instances_are_merged_and_nothing_counts_twice() {
    for version in [6, 7] {
        let mut d = Dat::new(Order::Big, 4, version);
        formats(&mut d);
        let record = |t: u64, sector| d.page(t, None, &[(0, issue(&d, 1, sector, 8, b"R\0\0\0\0\0\0\0"))]);
        let other = d.page(15, None, &[(0, complete(&d, 1, 8, 8, 0, b"R\0\0\0\0\0\0\0"))]);
        let again = record(10, 8);
        d.buffers = vec![("", vec![record(10, 8)]), ("mine", vec![other]), ("third", vec![again])];
        let mut dat = open(&d);
        assert_eq!(dat.facts().buffers, ["", "mine", "third"]);
        let (events, _) = all(&mut dat);
        let actions: Vec<_> = events.iter().map(|e| e.action).collect();
        assert_eq!(actions, [Action::TaskName, Action::Issue, Action::Complete], "v{version}");
        assert!(dat.quality().notes.iter().any(|n| n.contains("1 block events")), "{:?}", dat.quality());
    }
}

#[test]
fn options_tell_the_clock_the_machine_and_the_wall_clock() {
    for version in [6, 7] {
        let mut d = Dat::new(Order::Big, 8, version);
        formats(&mut d);
        let tsc = [d.int(1 << 31, 4), d.int(32, 4), d.int(0, 8)].concat();
        d.options = vec![
            (1, b"0x16345785d8a00\0".to_vec()),
            (2, b"CPU: 0\noverrun: 7\ncommit overrun: 0\ndropped events: 2\n\0".to_vec()),
            (4, b"local global [x86-tsc]\0".to_vec()),
            (5, b"Linux db1 6.1.0-18 s390x\0".to_vec()),
            (14, tsc),
        ];
        d.buffers[0].1 = vec![d.page(4_000_000_000, None, &[(0, issue(&d, 1, 8, 8, b"R\0\0\0\0\0\0\0"))])];
        let mut dat = open(&d);
        let f = dat.facts();
        assert_eq!(
            (f.hostname(), f.kernel(), f.clock.as_deref()),
            (Some("db1"), Some("6.1.0-18"), Some("x86-tsc"))
        );
        let (events, _) = all(&mut dat);
        // 0x16345785d8a00 us after 1970, and two seconds of trace (4e9 cycles at half a nanosecond).
        let us = 0x16345785d8a00u64 + 2_000_000;
        let wall = Detail::Wall { seconds: (us / 1_000_000) as u32, nanos: (us % 1_000_000 * 1000) as u32 };
        assert_eq!((events[0].action, events[0].detail), (Action::WallClock, wall));
        assert_eq!(events[2].time, Nanos(2_000_000_000));
        let notes = dat.quality().notes;
        assert!(notes.iter().any(|n| n.contains("dropped 9 events")), "{notes:?}");
    }
}

#[test]
fn what_is_not_known_is_counted() {
    let mut d = Dat::new(Order::Little, 8, 6);
    formats(&mut d);
    d.formats.push(("broken", "name: broken\n".into()));
    let unknown = d.common(999, 1);
    let short = vec![44];
    let mut page = d.page(10, None, &[(0, unknown), (1, short), (1, issue(&d, 1, 8, 8, b"R\0\0\0\0\0\0\0"))]);
    let step_back = d.page(5, None, &[(0, issue(&d, 1, 16, 8, b"R\0\0\0\0\0\0\0"))]);
    page.extend(step_back);
    d.buffers[0].1 = vec![page];
    let mut dat = open(&d);
    let (events, _) = all(&mut dat);
    assert_eq!(events.iter().filter(|e| e.action == Action::Issue).count(), 2);
    let q = dat.quality();
    assert_eq!((q.unknown, q.clock_steps, q.out_of_order), (2, 1, 1), "{q:?}");
    assert!(q.notes.iter().any(|n| n.contains("broken has no ID")), "{:?}", q.notes);
    assert_eq!(dat.counts().map(|(e, n)| (&*e.name, n)).collect::<Vec<_>>(), [("block_rq_issue", 2)]);
}
