//! Thirteen cases in which btt 1.2.0 is wrong or silent: the trace, the question, the truth, and what btt says.
//!
//! Where btt is installed it is run on the same bytes, so that every claim about it is proven.
//! Times in tables are microseconds; `summary` prints operation, phase, how many, minimum, p50, p99, maximum.

use testkit::{btt, btt_as, expect, nanos, observed_from_files, Layout, Script};
use trace::{Cpu, DevId};

/// Events of one cause, as they repeat every so often at ever new sectors.
fn every(time: &str, times: u64, script: &str) -> Script {
    Script::of(script).repeated(times, nanos(time), 4096)
}

/// A read of 4 KiB that takes 100 us, 90 of them in the device.
const READ: &str = "
      0  Q R 0+8
      1  G R 0+8
      2  I R 0+8
     10  D R 0+8
    100  C R 0+8";

/// B1. How long do requests take, if every bio was split in two?
#[test]
fn b1_split_bios() {
    let script = every(
        "10ms",
        1000,
        "
           0  Q R 0+2048
           1  X R 0+1024 / 1024
           2  G R 0+1024
           3  I R 0+1024
           4  D R 0+1024
           5  G R 1024+1024
           6  I R 1024+1024
           7  D R 1024+1024
        5000  C R 0+1024
        5001  C R 1024+1024",
    );
    let observed = observed_from_files(&script, Layout::USUAL);
    expect(
        &observed.summary("d2c q2c"),
        "read d2c 2000 4994 4996 4996 4996
         read q2c 2000 5000 5001 5001 5001",
    );
    assert_eq!((observed.tally.bios, observed.bios.len(), observed.tally.unmatched()), (1000, 1000, 0));

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("D2C"), None, "no device time at all");
    assert_eq!(btt.all_devices("Q2C"), None);
    let merges = &btt.device_rows("Device Merge Information")[0];
    assert!(merges.contains("2000 2000 1.0"), "1000 bios are called 2000: {merges}");
}

/// B2. How long do flushes take, between fast writes?
#[test]
fn b2_flushes() {
    let script = every(
        "100ms",
        100,
        "
            0  Q W 8+8
            1  G W 8+8
            2  I W 8+8
           10  D W 8+8
          100  C W 8+8
          200  Q FWS 0+0
          201  G FWS 0+0
          203  D FN 0+0
        50203  C FN 0+0
        50204  C WS 0+0",
    )
    .each(|e| {
        if e.bytes.0 == 0 {
            e.sector.0 = 0;
        }
    });
    let observed = observed_from_files(&script, Layout::USUAL);
    expect(
        &observed.summary("d2c"),
        "write d2c 100    90    90    90    90
         flush d2c 100 50000 50000 50000 50000",
    );
    let waits: Vec<_> =
        observed.bios.iter().filter(|b| b.op == life::Op::Flush).map(|b| b.time.q2c()).collect();
    assert_eq!(waits, [Some(nanos("50.004ms")); 100]);
    assert_eq!(observed.tally.unmatched(), 0);

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("Q2C"), Some([100.0, 100.0, 100.0, 100.0]), "the flushes are not there");
}

/// B3. Where does the time go on a virtio disk? Its major number is one of those given out at run time.
#[test]
fn b3_majors_taken_for_device_mapper() {
    for major in [253, 254] {
        let script = every("1ms", 1000, READ).on(DevId::new(major, 0));
        expect(
            &observed_from_files(&script, Layout::USUAL).summary("q2g g2i i2d d2c q2c"),
            "read q2g 1000   1   1   1   1
             read g2i 1000   1   1   1   1
             read i2d 1000   8   8   8   8
             read d2c 1000  90  90  90  90
             read q2c 1000 100 100 100 100",
        );

        let Some(btt) = btt(&script) else { return };
        assert_eq!(btt.all_devices("Q2C"), None);
        assert_eq!(btt.all_devices("Q2Cdm").map(|q2c| q2c[3]), Some(1000.0), "a plain disk is called dm");
        let overhead = btt.device_rows("Device Overhead");
        assert!(overhead.is_empty(), "{overhead:?}");
    }
}

/// B4. Two tasks read the same sector at once; one read takes 90 us, the other 5 ms. How many, how long?
#[test]
fn b4_one_sector_twice_in_flight() {
    let script = every(
        "10ms",
        1000,
        "
           0  Q R 0+8 tid=1
           1  G R 0+8 tid=1
           2  I R 0+8 tid=1
          10  D R 0+8 tid=1
          20  Q R 0+8 tid=2
          21  G R 0+8 tid=2
          22  I R 0+8 tid=2
          30  D R 0+8 tid=2
         100  C R 0+8
        5000  C R 0+8",
    );
    let observed = observed_from_files(&script, Layout::USUAL);
    expect(
        &observed.summary("d2c q2c"),
        "read d2c 2000  90 4970 4970 4970\n read q2c 2000 100 4980 4980 4980",
    );
    assert_eq!((observed.tally.unmatched(), observed.tally.requests_lost), (0, 0));

    let Some(btt) = btt(&script) else { return };
    assert_eq!(
        btt.all_devices("Q2C"),
        Some([80.0, 80.0, 80.0, 1000.0]),
        "half of them and the tail are gone"
    );
}

/// B5. A read is in flight, and a write to sectors inside it. How long is each?
#[test]
fn b5_overlapping_ranges() {
    let script = every(
        "10ms",
        1000,
        "
           0  Q R 0+16
           1  G R 0+16
           2  I R 0+16
          10  D R 0+16
          20  Q W 4+8
          21  G W 4+8
          22  I W 4+8
          30  D W 4+8
         200  C R 0+16
        6000  C W 4+8",
    );
    expect(
        &observed_from_files(&script, Layout::USUAL).summary("q2g d2c"),
        "read  q2g 1000    1    1    1    1
         read  d2c 1000  190  190  190  190
         write q2g 1000    1    1    1    1
         write d2c 1000 5970 5970 5970 5970",
    );

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("D2C"), Some([190.0, 190.0, 190.0, 1000.0]), "the writes have no device time");
    assert_eq!(btt.all_devices("Q2G").map(|q2g| q2g[1]), Some(11.0), "and Q2G is eleven times too long");
}

/// B6. The driver gives a request back and takes it again 4.5 ms later. Is the scheduler slow?
#[test]
fn b6_requeue() {
    let script = every(
        "10ms",
        1000,
        "
           0  Q R 0+8
           1  G R 0+8
           2  I R 0+8
          10  D R 0+8
         500  R R 0+8
        5000  D R 0+8
        5100  C R 0+8",
    );
    let observed = observed_from_files(&script, Layout::USUAL);
    expect(
        &observed.summary("i2d d2c q2c"),
        "read i2d 1000    8    8    8    8
         read d2c 1000  100  100  100  100
         read q2c 1000 5100 5100 5100 5100",
    );
    assert!(observed.requests.iter().all(|r| (r.time.requeues, r.time.requeued) == (1, nanos("4.5ms"))));

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("I2D"), Some([8.0, 2503.0, 4998.0, 2000.0]), "it says so, of 2000 requests");
}

/// B7. The same reads, tagged with the cgroup that issued them (`trace_options/blk_cgroup`).
#[test]
fn b7_cgroup_tags() {
    let script = every("1ms", 1000, READ).each(|e| e.cgroup = 1234);
    expect(&observed_from_files(&script, Layout::USUAL).summary("q2c"), "read q2c 1000 100 100 100 100");

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("Q2C"), None, "no data, and not a word about it");
    assert_eq!(btt.complaints, "");
}

/// B8. The same reads, recorded by a kernel of 2025 or later (version 8).
#[test]
fn b8_version_8() {
    let script = every("1ms", 1000, READ);
    let v8 = Layout { version: 8, big_endian: false };
    expect(&observed_from_files(&script, v8).summary("q2c"), "read q2c 1000 100 100 100 100");

    let Some(btt) = btt_as(&script, v8) else { return };
    assert_eq!(btt.all_devices("Q2C"), None);
    assert!(btt.complaints.contains("unsupported trace version"), "{}", btt.complaints);
}

/// B9. One read in a hundred takes 50 ms. How long does a read take?
#[test]
fn b9_no_percentiles() {
    let slow = |i: u64| i % 100 == 0;
    let mut script = every("100ms", 10_000, READ);
    for t in &mut script.told {
        let n = t.event.sector.0 / 4096;
        if slow(n) && t.event.action == trace::Action::Complete {
            t.event.time += nanos("49.9ms");
        }
    }
    let mut q2c: Vec<_> =
        observed_from_files(&script, Layout::USUAL).requests.iter().filter_map(|r| r.time.q2c()).collect();
    q2c.sort();
    assert_eq!([q2c[5000], q2c[9899], q2c[9900]], [nanos("100us"), nanos("100us"), nanos("50ms")]);

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("Q2C"), Some([100.0, 599.0, 50_000.0, 10_000.0]), "599 us: no read took that");
}

/// B10. Commands that a program passes through to the device (SG_IO, smartctl, nvme-cli): what do they cost?
#[test]
fn b10_passthrough() {
    let script = every(
        "10ms",
        100,
        "
           0  I R 0+1 pc
           5  D R 0+1 pc
        2005  C R 0+1 pc",
    )
    .each(|e| e.sector.0 = 0);
    expect(
        &observed_from_files(&script, Layout::USUAL).summary("i2d d2c"),
        "passthrough i2d 100 5 5 5 5\n passthrough d2c 100 2000 2000 2000 2000",
    );

    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("D2C"), None, "they are thrown away");
}

/// B11. Two tasks each hold a plug on one disk, one after the other begins: who held what, how long?
#[test]
fn b11_plugs_belong_to_tasks() {
    let script = every(
        "1ms",
        100,
        "
          0  P N tid=1
        100  P N tid=2
        200  U N 3 tid=1
        900  U N 5 tid=2",
    );
    let observed = observed_from_files(&script, Layout::USUAL);
    let held: Vec<_> = observed
        .plugs
        .iter()
        .map(|p| (p.tid.0, p.requests, p.from.map(|f| p.to.since(f).0 / 1000)))
        .collect();
    assert_eq!(held, [(1, 3, Some(200)), (2, 5, Some(800))].repeat(100));

    // One flag per device: the first unplug ends both, and 700 of 900 us are not seen.
    let Some(btt) = btt(&script.and(every("1ms", 100, READ))) else { return };
    let plugged = &btt.device_rows("Plug Information")[0];
    let percent: f64 =
        plugged.split_whitespace().last().and_then(|p| p.strip_suffix('%')).unwrap().parse().unwrap();
    assert!((15.0..25.0).contains(&percent), "90 % of the time somebody held a plug: {plugged}");
}

/// B12. Stations on the same nanosecond, and a completing CPU whose clock is 20 us behind. What is said of them?
#[test]
fn b12_no_time_and_backward_time() {
    let at_once = every("1ms", 1000, "0 Q R 0+8 \n 0 G R 0+8 \n 0 I R 0+8 \n 10 D R 0+8 \n 100 C R 0+8");
    expect(
        &observed_from_files(&at_once, Layout::USUAL).summary("q2g i2d"),
        "read q2g 1000  0  0  0  0
         read i2d 1000 10 10 10 10",
    );

    let skewed = "
         0  Q R 0+8
         1  G R 0+8
         2  I R 0+8
        30  D R 0+8
        10  C R 0+8 cpu=1";
    // As it happened: no time is invented, and each read's step back is counted.
    let observed = testkit::heard_of(skewed);
    expect(&observed.summary("d2c"), "read d2c 1 0 0 0 0");
    assert_eq!(observed.tally.backward_steps, 1);
    // Put in order by the stamps, the end comes before the issue: the same reads, and the clock is to blame.
    let skewed = every("1ms", 1000, skewed);
    let observed = observed_from_files(&skewed, Layout::USUAL);
    expect(&observed.summary("d2c"), "read d2c 1000 0 0 0 0");
    let tally = observed.tally;
    assert_eq!((tally.backward_steps, tally.began_before, tally.requests_in_flight), (1000, 0, 0));

    let (Some(same), Some(back)) = (btt(&at_once), btt(&skewed)) else { return };
    assert_eq!(same.all_devices("Q2G"), Some([0.001, 0.001, 0.001, 1000.0]), "1 ns is the least it knows");
    assert_eq!(back.all_devices("Q2C"), Some([10.0, 10.0, 10.0, 1000.0]), "done before they were issued");
    assert_eq!(back.all_devices("D2C"), None);
}

/// B13. A hundred completions were lost; a minute later the same sectors are read again. How long did reads take?
#[test]
fn b13_lost_completion_and_sector_used_again() {
    let lost = every("1ms", 100, READ).forgetting(|e| e.action == trace::Action::Complete);
    let script = lost.and(every("1ms", 100, READ).after(nanos("60s")));
    let observed = observed_from_files(&script, Layout::USUAL);
    expect(&observed.summary("d2c q2c"), "read d2c 100 90 90 90 90\n read q2c 100 100 100 100 100");
    assert_eq!((observed.tally.requests_lost, observed.tally.requests_in_flight), (100, 0));

    // Here btt is right. Tools that only pair by (device, sector) show 60 s.
    let Some(btt) = btt(&script) else { return };
    assert_eq!(btt.all_devices("Q2C"), Some([100.0, 100.0, 100.0, 100.0]));
}

/// Events of CPU 1 are in CPU 1's file whoever issued: all cases hold whatever the number of CPUs.
#[test]
fn completions_on_another_cpu() {
    let script = every("1ms", 1000, READ).each(|e| {
        if e.action == trace::Action::Complete {
            e.cpu = Cpu(1);
        }
    });
    expect(&observed_from_files(&script, Layout::USUAL).summary("q2c"), "read q2c 1000 100 100 100 100");
}
