//! What a recording does not say: lost events, a beginning or an end in the middle, clocks that step.
//! Nothing is invented, and what found no place is counted.

use testkit::{expect, heard_of, nanos, observed, Script};
use trace::Bytes;

const READ: &str = "0 Q R 8+8 \n 1 G R 8+8 \n 2 I R 8+8 \n 10 D R 8+8 \n 100 C R 8+8";

/// Issued, never completed; the same sector a minute later. The first is lost, not slow.
#[test]
fn completion_lost_and_sector_used_again() {
    let lost = Script::of("0 Q R 8+8 \n 1 G R 8+8 \n 10 D R 8+8");
    let told = observed(&lost.and(Script::of(READ).after(nanos("60s"))));
    expect(&told.requests("q2g d2c q2c"), "1 90 100");
    let t = told.tally;
    assert_eq!((t.requests_lost, t.requests_in_flight, t.bytes_lost), (1, 0, Bytes(4096)));
    assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost);
}

/// A slow request is not a lost one: alone on its sector it may take a minute.
#[test]
fn a_minute_long_request() {
    expect(&heard_of("0 Q R 8+8 \n 1 G R 8+8 \n 2 D R 8+8 \n 60s C R 8+8").requests("d2c"), "59999998");
}

/// The reader saw that events are missing: an older request on the same sector gives way at once.
#[test]
fn sector_used_again_after_lost_events() {
    let told = heard_of(
        "
          0  Q R 8+8
          1  G R 8+8
         10  D R 8+8
         50  lost 7
        200  Q R 8+8
        201  G R 8+8
        210  D R 8+8
        290  C R 8+8",
    );
    expect(&told.requests("q d2c"), "200 80");
    assert_eq!(told.tally.requests_lost, 1);
}

/// Without a loss both are in flight, and the older one is completed first.
#[test]
fn sector_used_again_without_a_loss() {
    let told = heard_of(
        "
          0  Q R 8+8
          1  G R 8+8
         10  D R 8+8
        200  Q R 8+8
        201  G R 8+8
        210  D R 8+8
        290  C R 8+8",
    );
    expect(&told.requests("q d2c"), "0 280");
    assert_eq!((told.tally.requests_lost, told.tally.requests_in_flight), (0, 1));
}

/// Issues lost: the completion has no issue, and the bio is still found again when its sector is.
#[test]
fn the_issue_was_lost() {
    let told = heard_of("0 Q R 8+8 \n 1 G R 8+8 \n 2 lost 1 \n 100 C R 8+8");
    assert_eq!(
        told.tally.bytes_queued,
        told.tally.bytes_completed + told.tally.bytes_in_flight + told.tally.bytes_lost
    );
    assert_eq!(told.requests.len(), 0);
    assert_eq!(told.tally.completions_unmatched, 1);
}

/// Recording began in the middle: requests that were queued, issued, or merged into before it.
#[test]
fn the_beginning_is_missing() {
    let told = heard_of(
        "
          5  C R 8+8              # issued before
         10  D R 64+8             # queued before
         20  Q W 128+8
         21  M W 128+8            # joins a request that was not seen
         30  D W 100+36
         60  C R 64+8
         90  C W 100+36
         95  I W 512+8
         96  D W 512+8
         99  C W 512+8",
    );
    expect(
        &told.requests("op at q d2c bios"),
        "read  64+8   - 50 0
         write 100+36 - 60 0
         write 512+8  -  3 0",
    );
    let t = told.tally;
    assert_eq!((t.began_before, t.unmatched()), (5, 0));
    assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost);
}

/// It ended in the middle: what is in flight is counted, at its stage.
#[test]
fn the_end_is_missing() {
    let told = heard_of(
        "
          0  Q R 8+8
          1  Q R 16+8
          2  G R 16+8
          3  Q R 24+8
          4  G R 24+8
          5  D R 24+8",
    );
    let t = told.tally;
    assert_eq!((t.bios_in_flight, t.requests_in_flight, t.requests), (1, 2, 0));
    assert_eq!((t.bytes_in_flight, t.bytes_completed), (Bytes(3 * 4096), Bytes(0)));
}

/// Recorded with a mask (`-a issue -a complete`): requests without bios are requests.
#[test]
fn only_issue_and_complete() {
    let told = heard_of("0 D R 8+8 tid=7 \n 90 C R 8+8");
    expect(&told.requests("at tid bios q2c d2c"), "8+8 7 0 - 90");
    assert_eq!(told.tally.began_before, 1);
}

/// Recorded with `-a queue -a complete`: bios without requests.
#[test]
fn only_queue_and_complete() {
    let told = heard_of("0 Q R 8+8 tid=7 \n 90 C R 8+8");
    expect(&told.bios("at tid q2c"), "8+8 7 90");
    assert_eq!(told.tally.unmatched(), 0);
}

/// A clock that steps back never makes a negative time; it is counted once per step.
#[test]
fn clock_steps() {
    let told = heard_of(
        "
        1000  Q R 8+8
        1001  G R 8+8
         500  D R 8+8 cpu=1       # this CPU is 0.5 ms behind
         590  C R 8+8 cpu=1",
    );
    expect(&told.requests("q2g g2i d2c q2c"), "1 0 90 0");
    assert_eq!(told.tally.backward_steps, 1);
}

/// Two CPUs whose clocks disagree, put in order by their stamps: the end stands before the issue.
#[test]
fn an_end_before_its_issue_is_the_clocks_fault() {
    let told = heard_of(
        "
          0  Q R 8+8
          1  G R 8+8
         10  C R 8+8 cpu=1
         30  D R 8+8
         40  Q R 16+8
         41  G R 16+8
         50  C R 16+16 cpu=1      # another length: of something else
         60  D R 16+8
         70  C R 16+8",
    );
    expect(&told.requests("at q2g d2c"), "8+8 1 0\n16+8 1 10");
    assert_eq!((told.tally.backward_steps, told.tally.began_before), (1, 1));
}

/// A completion of the same extent, but the request here is never issued: it was of one begun before the recording.
#[test]
fn an_end_without_an_issue_began_before() {
    let told = heard_of("0 Q R 8+8 \n 1 G R 8+8 \n 10 C R 8+8 cpu=1");
    assert_eq!(
        (told.tally.backward_steps, told.tally.began_before, told.tally.requests_in_flight),
        (0, 1, 1)
    );
}

/// Time far outside: no overflow anywhere.
#[test]
fn the_ends_of_the_number_line() {
    let far = Script::of(READ).each(|e| {
        e.time.0 = u64::MAX - e.time.0;
        e.sector.0 = u64::MAX - 4;
    });
    let told = observed(&far);
    assert_eq!(told.requests.len(), 1);
    let huge = Script::of(READ).each(|e| e.bytes = Bytes(u64::MAX / 2));
    assert_eq!(observed(&huge).tally.requests, 1);
}
