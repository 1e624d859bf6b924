//! Through the device: requeues, partial completion, flush sequences, passthrough, discard, overlaps.

use testkit::{expect, heard_of};
use trace::Flags;

/// Given back twice: D2C is the last try alone, the waits between are `requeued`.
#[test]
fn requeue_and_issue_again() {
    let told = heard_of(
        "
          0  Q R 8+8
          1  G R 8+8
          2  I R 8+8
         10  D R 8+8
         20  R R 8+8
         21  I R 8+8              # back into the scheduler
         50  D R 8+8
         60  R R 8+8
        100  D R 8+8
        190  C R 8+8",
    );
    expect(&told.requests("i i2d d2c requeues requeued q2c"), "2 8 90 2 70 190");
    let depths: Vec<u64> = told.depths.iter().map(|d| d.2).collect();
    assert_eq!(depths, [1, 0, 1, 0, 1, 0]);
    assert_eq!(told.tally.unmatched(), 0);
}

/// A disk may complete a request in steps (SCSI does after a medium error): the rest goes on under its new start.
#[test]
fn partial_and_repeated_completion() {
    let told = heard_of(
        "
          0  Q R 0+32
          1  G R 0+32
          2  D R 0+32
         50  C R 0+8
         60  C R 8+16
         99  C R 24+8 err=5",
    );
    expect(&told.requests("at completions error d2c"), "0+32 3 5 97");
    expect(&told.bios("at q2c"), "0+32 99");
    assert_eq!(told.tally.unmatched(), 0);
}

/// After a part was completed the request can be given back and issued for the rest.
#[test]
fn completed_in_part_and_requeued() {
    let told = heard_of(
        "
          0  Q R 0+32
          1  G R 0+32
          2  D R 0+32
         50  C R 0+8
         51  R R 8+24
         80  D R 8+24
         99  C R 8+24",
    );
    assert_eq!(told.requests.len(), 1);
    let r = &told.requests[0];
    assert_eq!(
        (r.bytes.sectors(), r.completions, r.time.requeues, r.time.d2c()),
        (32, 2, 1, Some(testkit::nanos("19")))
    );
}

/// Preflush, data, postflush (a disk without FUA) are one chain.
#[test]
fn preflush_write_postflush() {
    let told = heard_of(
        "
          0  Q FWFSM 100+8
          1  G FWFSM 100+8
          5  D FN 0+0
         25  C FN 0+0
         30  D WSM 100+8
         40  C WSM 100+8
         45  D FN 0+0
         95  C FN 0+0
         97  C WSM 100+0",
    );
    let written: Vec<_> = told.requests.iter().filter(|r| r.op == life::Op::Write).collect();
    assert_eq!(written.len(), 1);
    let t = written[0].time;
    assert!(t.flushed && written[0].bytes.sectors() == 8);
    expect(&told.bios("op at d2c q2c preflush postflush"), "write 100+8 10 97 5-25 45-95");
    assert_eq!((told.requests.len(), told.tally.unmatched(), told.tally.requests_in_flight), (3, 0, 0));
}

/// PREFLUSH alone: no flush after the data, and the extra completion still ends it.
#[test]
fn preflush_only() {
    let told = heard_of(
        "
          0  Q FWS 100+8
          1  G FWS 100+8
          5  D FN 0+0
         25  C FN 0+0
         30  D WS 100+8
         40  C WS 100+8
         41  C WS 100+0",
    );
    expect(&told.bios("at d2c q2c preflush postflush"), "100+8 10 41 5-25 -");
    assert_eq!(told.tally.unmatched(), 0);
}

/// FUA alone on a disk without FUA: data, then a flush.
#[test]
fn fua_only() {
    let told = heard_of(
        "
          0  Q WFS 100+8
          1  G WFS 100+8
         30  D WS 100+8
         40  C WS 100+8
         45  D FN 0+0
         95  C FN 0+0
         97  C WS 100+0",
    );
    expect(&told.bios("at d2c q2c preflush postflush"), "100+8 10 97 - 45-95");
    assert_eq!(told.tally.unmatched(), 0);
}

/// A disk with FUA takes the write as it is: no flush machinery.
#[test]
fn fua_that_the_device_has() {
    let told = heard_of(
        "
          0  Q WFS 100+8
          1  G WFS 100+8
         30  D WFS 100+8
         40  C WFS 100+8",
    );
    expect(&told.requests("op at d2c q2c preflush postflush"), "write 100+8 10 40 - -");
    assert!(!told.requests[0].time.flushed && told.requests[0].flags.has(Flags::FUA));
}

/// PREFLUSH and FUA on a disk with FUA: a flush, then the write with FUA.
#[test]
fn preflush_on_a_device_with_fua() {
    let told = heard_of(
        "
          0  Q FWFS 100+8
          1  G FWFS 100+8
          5  D FN 0+0
         25  C FN 0+0
         30  D WFS 100+8
         40  C WFS 100+8
         41  C WFS 100+0",
    );
    expect(&told.bios("at d2c q2c preflush postflush"), "100+8 10 41 5-25 -");
    assert_eq!(told.tally.unmatched(), 0);
}

/// An empty flush bio (fdatasync of clean data, blkdev_issue_flush) waits for a flush that it did not issue itself.
#[test]
fn an_empty_flush() {
    let told = heard_of(
        "
          0  Q FWS 0+0
          2  G FWS 0+0
          9  D FN 0+0
         59  C FN 0+0
         61  C WS 0+0",
    );
    expect(&told.requests("op d2c"), "flush 50");
    expect(&told.bios("op q2g q2c preflush"), "flush 2 61 9-59");
    assert_eq!((told.tally.unmatched(), told.tally.bios_in_flight, told.tally.requests_in_flight), (0, 0, 0));
}

/// Two tasks' flushes share one flush request.
#[test]
fn two_empty_flushes_share_one() {
    let told = heard_of(
        "
          0  Q FWS 0+0 tid=1
          1  G FWS 0+0 tid=1
          3  Q FWS 0+0 tid=2
          4  G FWS 0+0 tid=2
          9  D FN 0+0
         59  C FN 0+0
         60  C WS 0+0
         62  C WS 0+0",
    );
    expect(&told.bios("tid q2c preflush"), "1 60 9-59\n 2 59 9-59");
    assert_eq!((told.requests.len(), told.tally.unmatched()), (1, 0));
}

/// Two hardware queues flush at once and end in the other order: each bio waited for its own queue's.
#[test]
fn flushes_of_two_queues() {
    let told = heard_of(
        "
          0  Q FWS 0+0 cpu=0 tid=1
          1  G FWS 0+0 cpu=0 tid=1
          2  D FN 0+0 cpu=0
         10  Q FWFS 100+8 cpu=1 tid=2
         11  G FWFS 100+8 cpu=1 tid=2
         12  D FN 0+0 cpu=1
         32  C FN 0+0 cpu=1
         33  D WFS 100+8 cpu=1
         40  C WFS 100+8 cpu=1
         41  C WFS 100+0 cpu=1
         92  C FN 0+0 cpu=0
         93  C WS 0+0 cpu=0",
    );
    expect(&told.requests("op d2c"), "flush 20\n write 7\n flush 90");
    expect(&told.bios("tid q2c preflush"), "2 31 12-32\n 1 93 2-92");
}

/// A flush that the driver gave back is the same one when it is issued again: the next is none of its.
#[test]
fn a_flush_that_was_requeued_is_one() {
    let told = heard_of(
        "
          0  D FN 0+0
          5  R FN 0+0
         20  D FN 0+0
         50  C FN 0+0
        100  D FN 0+0
        130  C FN 0+0",
    );
    expect(&told.requests("op d2c requeues"), "flush 30 1\n flush 30 0");
    assert_eq!((told.tally.unmatched(), told.tally.requests_in_flight), (0, 0));
}

/// A flush on md has no request: the bio is all there is.
#[test]
fn a_flush_of_a_bio_based_device() {
    let told = heard_of("0 Q FWS 0+0 dev=9,0 \n 900 C FWS 0+0 dev=9,0");
    expect(&told.bios("op q2c"), "flush 900");
    assert_eq!(told.tally.unmatched(), 0);
}

/// Passthrough commands have no sector and say their length as they like; they are requests all the same.
#[test]
fn passthrough() {
    let told = heard_of(
        "
          0  I R 0+1 pc
          2  D R 0+1 pc
          3  Q R 0+8
          4  G R 0+8
          5  D R 0+8
         50  C R 0+8
         99  C R 0+0 pc",
    );
    expect(&told.requests("op i2d d2c bios"), "read - 45 1\n passthrough 2 97 0");
    assert_eq!(told.tally.completions_unmatched, 0);
}

/// A discard is no write: it is matched with discards alone.
#[test]
fn discard_beside_a_write() {
    let told = heard_of(
        "
          0  Q DS 0+8388608
          1  G DS 0+8388608
          2  D DS 0+8388608
          3  Q WS 0+8
          4  G WS 0+8
          5  D WS 0+8
         20  C WS 0+8
       9002  C DS 0+8388608",
    );
    expect(&told.requests("op at d2c"), "write 0+8 15\n discard 0+8388608 9000");
}

/// Requests of different length on one sector: the completion's length tells which.
#[test]
fn same_sector_different_length() {
    let told = heard_of(
        "
          0  Q R 0+8
          1  G R 0+8
          2  D R 0+8
          3  Q R 0+64
          4  G R 0+64
          5  D R 0+64
         50  C R 0+64
         90  C R 0+8",
    );
    expect(&told.requests("at d2c"), "0+64 45\n 0+8 88");
}

/// Ranges that overlap without the same start never meet.
#[test]
fn overlapping_ranges() {
    let told = heard_of(
        "
          0  Q R 0+16
          1  G R 0+16
          2  D R 0+16
          3  Q R 8+16
          4  G R 8+16
          5  D R 8+16
         50  C R 8+16
         90  C R 0+16",
    );
    expect(&told.requests("at d2c"), "8+16 45\n 0+16 88");
}

/// Two devices with the same sectors in flight.
#[test]
fn devices_do_not_mix() {
    let told = heard_of(
        "
          0  Q R 0+8
          1  Q R 0+8 dev=8,16
          2  D R 0+8
          3  D R 0+8 dev=8,16
         50  C R 0+8 dev=8,16
         90  C R 0+8",
    );
    expect(&told.requests("dev d2c"), "8,16 47\n 8,0 88");
}
