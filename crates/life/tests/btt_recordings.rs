//! Eight findings on real recordings, cut down to the few events that make them. With `CAPTURES` the recordings
//! themselves are asked as well, in `captures.rs`.

use testkit::{blkparse, btt, expect, heard_of, nanos, observed, observed_from_files, Layout, Script};
use trace::{Action, Batch, Detail, DevId, Sector};

/// 1. Reads beside writeback: the one bio that takes 2 s was split, and it is the fault that one looks for.
#[test]
fn r1_split_writeback_is_hidden() {
    let reads = Script::of(
        "
            0  Q R 0+8
            1  G R 0+8
           10  D R 0+8
        10010  C R 0+8",
    );
    let writeback = Script::of(
        "
            0  Q W 1000000+4096
            1  X W 1000000+2560 / 1002560
            2  G W 1000000+2560
            3  G W 1002560+1536
           10  D W 1000000+2560
           11  D W 1002560+1536
           2s  C W 1000000+2560
           2s  C W 1002560+1536",
    );
    let script = reads.repeated(200, nanos("10ms"), 64).and(writeback);
    expect(
        &observed_from_files(&script, Layout::USUAL).summary("d2c"),
        "read  d2c 200   10000   10000   10000   10000
         write d2c   2 1999989 1999990 1999990 1999990",
    );

    let Some(btt) = btt(&script) else { return };
    assert_eq!(
        btt.all_devices("D2C"),
        Some([10_000.0, 10_000.0, 10_000.0, 200.0]),
        "both writes are missing"
    );
}

/// 2. A disk that takes 32 KiB at a time: every bio of 1 MiB is split many times, each time at its front.
#[test]
fn r2_every_bio_split_many_times() {
    let mut lines = String::from("0 Q WS 0+256\n");
    for i in 0..4 {
        let (at, next) = (i * 64, (i + 1) * 64);
        if i < 3 {
            lines += &format!("{} X WS {at}+64 / {next}\n", i + 1);
        }
        lines +=
            &format!("{} G WS {at}+64 \n {} D WS {at}+64 \n {} C WS {at}+64\n", i + 1, i + 1, 1000 * (i + 1));
    }
    let script = Script::of(&lines).in_order();
    let told = observed_from_files(&script, Layout::USUAL);
    expect(
        &told.requests("at q2g d2c q2c split"),
        "  0+64 1  999 1000 true
          64+64 2 1998 2000 true
         128+64 3 2997 3000 true
         192+64 4 3996 4000 true",
    );
    expect(&told.bios("at pieces q2c"), "0+256 4 4000");

    let Some(btt) = btt(&script.repeated(100, nanos("10ms"), 4096)) else { return };
    assert_eq!(
        (btt.all_devices("D2C"), btt.all_devices("Q2C")),
        (None, None),
        "400 requests, no device time"
    );
}

/// 3. A job that does nothing but fsync: preflush, log write, postflush, and empty flushes.
#[test]
fn r3_flushes_are_not_counted() {
    let script = Script::of(
        "
            0  Q FWS 0+0
            1  G FWS 0+0
           60  D FN 0+0
         2060  C FN 0+0
         2070  C WS 0+0",
    )
    .repeated(500, nanos("3ms"), 0);
    let told = observed_from_files(&script, Layout::USUAL);
    expect(&told.summary("d2c"), "flush d2c 500 2000 2000 2000 2000");
    assert_eq!((told.bios.len(), told.bios[0].time.q2c()), (500, Some(nanos("2.07ms"))));

    let Some(btt) = btt(&script) else { return };
    assert_eq!([btt.all_devices("D2C"), btt.all_devices("Q2C")], [None, None], "500 flushes, none counted");
}

/// 4. Majors 253 (null_blk) and 254 (virtio): how deep is the queue?
#[test]
fn r4_no_depth_for_run_time_majors() {
    let script =
        Script::of("0 Q R 0+8 \n 1 G R 0+8 \n 2 D R 0+8 \n 9000 C R 0+8").repeated(10, nanos("1ms"), 64);
    let told = observed(&script);
    assert_eq!(told.depths.iter().map(|(_, _, n)| *n).max(), Some(9));

    let plain = |major| {
        Some(btt(&script.clone().on(DevId::new(major, 0)))?.device_rows("Active Requests At Q Information"))
    };
    let (Some(sd), Some(virtio)) = (plain(8), plain(254)) else { return };
    assert_eq!((sd.len(), virtio.len()), (1, 0), "the same trace: {sd:?} {virtio:?}");
}

/// 5. The kernel's notes carry a cgroup's id when cgroups are traced: `raid5 rmw` says what md did.
#[test]
fn r5_messages_with_a_cgroup() {
    let script = Script::of(
        "
         0  Q WS 8+8 dev=9,0
         5  m raid5 rmw 8 1 dev=9,0 cg=1234
         6  m raid5 rcw 8 4 0 dev=9,0
         9  C WS 8+8 dev=9,0",
    );
    let folder = tempfile::tempdir().unwrap();
    script.files(folder.path(), Layout::USUAL);
    let mut source = trace::open(folder.path()).unwrap().source;
    let mut batch = Batch::default();
    let mut notes = vec![];
    while source.fill(&mut batch).unwrap() {
        for e in batch.events.iter().filter(|e| e.action == Action::Message) {
            notes.push((e.cgroup, String::from_utf8_lossy(batch.text(e)).into_owned()));
        }
    }
    assert_eq!(notes, [(1234, "raid5 rmw 8 1".into()), (0, "raid5 rcw 8 4 0".into())]);

    let Some(text) = blkparse(&script) else { return };
    assert!(text.contains("raid5 rcw"), "{text}");
    assert!(!text.contains("raid5 rmw"), "blkparse leaves out the tagged one: {text}");
}

/// 6a. No scheduler: no `I`, and plugs that end without a `U`. How long was something plugged?
#[test]
fn r6_no_scheduler() {
    let read = Script::of("0 Q R 0+8 \n 1 G R 0+8 \n 2 P N \n 3 D R 0+8 \n 100 C R 0+8");
    let script = read.repeated(100, nanos("1ms"), 64);
    let told = observed(&script);
    expect(&told.summary("g2i d2c"), "read g2i 100 2 2 2 2\n read d2c 100 97 97 97 97");
    assert_eq!(told.plugs, [], "a plug whose end was not recorded has no length");

    let Some(btt) = btt(&script) else { return };
    let plugged = &btt.device_rows("Plug Information")[0];
    assert!(plugged.contains("99.9"), "one plug, pulled never: {plugged}");
}

/// 6b. md has no requests: `Q`, `X` and `C` only. How long do its bios take, split or not?
#[test]
fn r6_bio_based_devices() {
    let told = heard_of(
        "
          0  Q W 1016+16 dev=9,0
          1  X W 1016+8 / 1024 dev=9,0
        900  C W 1016+8 dev=9,0
       1000  C W 1024+8 dev=9,0   # chained: never before the front part
       2000  Q R 64+8 dev=9,0
       2500  C R 64+8 dev=9,0",
    );
    expect(
        &told.bios("op at pieces q2c"),
        "write 1016+16 2 1000
         read    64+8  1 500",
    );
    assert!(told.requests.is_empty() && told.bios.iter().all(|b| !b.by_request));
}

/// 7. A write with PREFLUSH and FUA on a disk without FUA: one bio, three requests, and one more `C` than `D`.
#[test]
fn r7_preflush_write_postflush() {
    let script = Script::of(
        "
           0  Q FWFSM 2097471+2
          10  G FWFSM 2097471+2
          80  D FN 0+0
        1080  C FN 0+0
        1200  D WSM 2097471+2
        2200  C WSM 2097471+2
        2300  D FN 0+0
        5300  C FN 0+0
        5310  C WSM 2097471+0",
    );
    let told = observed_from_files(&script, Layout::USUAL);
    expect(
        &told.requests("op at q2c d2c preflush postflush"),
        "flush 0+0 - 1000 - -
         flush 0+0 - 3000 - -
         write 2097471+2 5310 1000 80-1080 2300-5300",
    );
    expect(&told.bios("op at q2c"), "write 2097471+2 5310");
    assert_eq!(told.tally.unmatched(), 0);

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("Q2C").map(|q2c| q2c[2]), Some(2200.0), "over before the cache was flushed");
}

/// 8. Payloads are big-endian on every machine, and the wall clock is in one CPU's file only.
#[test]
fn r8_payloads() {
    let script = Script::of(
        "
        0  wall 1700000000 5 cpu=1
        1  A W 2056+16 <- 254,1 8
        2  Q W 2056+16
        3  X W 2056+8 / 2064
        4  U N 2
        5  UT N 3 cpu=1",
    );
    let wanted = [
        Detail::Wall { seconds: 1_700_000_000, nanos: 5 },
        Detail::Remap { dev: DevId::new(254, 1), sector: Sector(8) },
        Detail::None,
        Detail::Split(Sector(2064)),
        Detail::Requests(2),
        Detail::Requests(3),
    ];
    for layout in Layout::ALL {
        let folder = tempfile::tempdir().unwrap();
        script.files(folder.path(), layout);
        let mut batch = Batch::default();
        trace::open(folder.path()).unwrap().source.fill(&mut batch).unwrap();
        assert_eq!(batch.events.iter().map(|e| e.detail).collect::<Vec<_>>(), wanted, "{layout:?}");
    }
}
