//! Into the block layer: get, insert, merges, splits, plugs. Trace, question, expected table; times in microseconds.

use testkit::{expect, heard_of};

/// The plain life: every station.
#[test]
fn a_read_from_queue_to_completion() {
    let told = heard_of(
        "
          0  name fio
         10  Q RA 64+8 tid=7 cpu=2
         12  G RA 64+8 tid=7
         15  I RA 64+8 tid=7
         20  D RA 64+8 tid=9
        120  C RA 64+8 tid=0 cpu=3",
    );
    expect(&told.requests("op at dev tid q2g g2i i2d d2c q2c"), "read 64+8 8,0 7 2 3 5 100 110");
    let r = &told.requests[0];
    assert_eq!(
        (r.submit_cpu.0, r.complete_cpu.0, r.bios, r.merges, r.split, r.completions),
        (2, 3, 1, 0, false, 1)
    );
    assert!(r.flags.has(trace::Flags::AHEAD));
    expect(&told.bios("op at tid q2g d2c q2c pieces merged"), "read 64+8 7 2 100 110 1 false");
    assert_eq!(
        (told.tally.bytes_queued, told.tally.bytes_completed),
        (trace::Bytes(4096), trace::Bytes(4096))
    );
}

/// A merged bio has its own Q2G: the time until it had joined a request.
#[test]
fn back_and_front_merges() {
    let told = heard_of(
        "
          0  Q W 100+8 tid=1
          1  G W 100+8 tid=1
          2  I W 100+8 tid=1
          5  Q W 108+8 tid=2
          8  M W 108+8 tid=2     # behind it
         10  Q W  92+8 tid=3
         14  F W  92+8 tid=3     # before it
         20  Q W 116+8 tid=4
         25  M W 116+8 tid=4     # behind it again
         50  D W  92+32
        150  C W  92+32",
    );
    expect(&told.requests("at bios merges q2g d2c q2c tid"), "92+32 4 3 1 100 150 1");
    expect(
        &told.bios("at tid merged q2g d2c q2c"),
        "100+8 1 false 1 100 150
         108+8 2 true  3 100 145
          92+8 3 true  4 100 140
         116+8 4 true  5 100 130",
    );
    assert_eq!(told.tally.unmatched(), 0);
}

/// A front merge moves the request's start. The next bio before it must find it there, and the issue too.
#[test]
fn front_merges_in_a_row() {
    let told = heard_of(
        "
          0  Q W 116+8
          1  G W 116+8
          2  Q W 108+8
          3  F W 108+8
          4  Q W 100+8
          5  F W 100+8
          9  D W 100+24
         90  C W 100+24",
    );
    expect(&told.requests("at bios merges q"), "100+24 3 2 0");
}

/// The hole between two requests is filled, and the second joins the first: it has Q, G, I and never a D.
#[test]
fn a_request_merged_into_another() {
    let told = heard_of(
        "
          0  Q W 100+8
          1  G W 100+8
          2  I W 100+8
          3  Q W 116+8
          4  G W 116+8
          5  I W 116+8
         10  Q W 108+8
         11  M W 108+8            # fills the hole
         12  M W 116+8            # request into request (since Linux 5.8)
         20  D W 100+24
        100  C W 100+24",
    );
    expect(&told.requests("at bios merges d2c q2c"), "100+24 3 2 80 100");
    expect(&told.bios("at merged q2g q2c"), "100+8 false 1 100\n 108+8 true 1 90\n 116+8 true 1 97");
    assert_eq!((told.tally.unmatched(), told.tally.requests_in_flight), (0, 0));
}

/// Kernels before 5.8 say nothing when requests merge: the longer issue shows it.
#[test]
fn a_request_merged_in_silence() {
    let told = heard_of(
        "
          0  Q W 100+8
          1  G W 100+8
          3  Q W 108+8
          4  G W 108+8
         20  D W 100+16
        100  C W 100+16
        200  Q W 108+8
        201  G W 108+8
        202  D W 108+8
        300  C W 108+8",
    );
    expect(&told.requests("at d2c q2c"), "100+16 80 100\n 108+8 98 100");
}

/// A bio cut three times: its last piece ends it, in whatever order they come back.
#[test]
fn repeated_splits() {
    let told = heard_of(
        "
          0  Q W 0+256
          1  X W 0+64 / 64
          2  G W 0+64
          3  X W 64+64 / 128
          4  G W 64+64
          5  X W 128+64 / 192
          6  G W 128+64
          7  G W 192+64
         10  D W 0+64
         11  D W 64+64
         12  D W 128+64
         13  D W 192+64
        103  C W 192+64
        111  C W 0+64
        401  C W 64+64
        212  C W 128+64",
    );
    expect(
        &told.requests("at split q2g d2c q2c"),
        "192+64 true 7  90 103
           0+64 true 2 101 111
          64+64 true 4 390 401
         128+64 true 6 200 212",
    );
    // Completed when the last of its pieces in the trace is.
    expect(&told.bios("at pieces"), "0+256 4");
    assert_eq!(told.tally.bytes_completed, trace::Bytes(256 * 512));
}

/// The back part can be cut before the front part has its request (`misc-events` has this on dm).
#[test]
fn the_back_part_is_split_again_first() {
    let told = heard_of(
        "
          0  Q W 0+24
          1  X W 0+8 / 8
          2  X W 8+8 / 16
          3  G W 0+8
          3  G W 8+8
          3  G W 16+8
          4  D W 0+8
          4  D W 8+8
          4  D W 16+8
          9  C W 0+8
          9  C W 8+8
          9  C W 16+8",
    );
    expect(&told.bios("at pieces q2c"), "0+24 3 9");
    assert_eq!(told.tally.unmatched(), 0);
}

/// A split's back part joins a request of another bio.
#[test]
fn split_and_merged() {
    let told = heard_of(
        "
          0  Q W 64+64
          1  G W 64+64
          5  Q W 0+64
          6  X W 0+32 / 32
          7  G W 0+32
          8  F W 32+32
         10  D W 0+32
         11  D W 32+96
         50  C W 0+32
        100  C W 32+96",
    );
    expect(&told.requests("at bios split q2c"), "0+32 1 true 45\n 32+96 2 true 100");
    expect(&told.bios("at pieces merged q2c"), "64+64 1 false 100\n 0+64 2 true 95");
}

/// Plugs belong to tasks. A timer has nothing to do with `UT`: the task went to sleep.
#[test]
fn plugs_of_two_tasks_on_one_device() {
    let told = heard_of(
        "
          0  P N tid=1
          5  P N tid=2
         10  U N 3 tid=1
         30  UT N 9 tid=2
         40  U N 1 tid=2           # its P was not recorded",
    );
    let held: Vec<_> = told
        .plugs
        .iter()
        .map(|p| (p.tid.0, p.from.map(|f| p.to.since(f).0 / 1000), p.requests, p.implicit))
        .collect();
    assert_eq!(held, [(1, Some(10), 3, false), (2, Some(25), 9, true), (2, None, 1, false)]);
}

/// Two tasks queue the same sector: each gets its own request, also if the second one is faster.
#[test]
fn several_bios_on_one_sector() {
    let told = heard_of(
        "
          0  Q R 8+8 tid=1
         10  Q R 8+8 tid=2
         11  G R 8+8 tid=2
         40  G R 8+8 tid=1
         50  D R 8+8 tid=2
         60  D R 8+8 tid=1
        100  C R 8+8
        200  C R 8+8",
    );
    expect(&told.requests("tid q2g"), "2 1\n 1 40");
    assert_eq!((told.tally.unmatched(), told.tally.requests_lost), (0, 0));
}

/// A task's name is that of the moment: threads are renamed, and their numbers used again.
#[test]
fn names_of_tasks() {
    let told = heard_of(
        "
          0  name bash tid=7
          1  Q R 0+8 tid=7
          2  D R 0+8 tid=7
          3  name fio tid=7
          4  Q R 8+8 tid=7
          5  D R 8+8 tid=7
          8  C R 0+8
          9  C R 8+8
         10  D R 16+8 tid=0
         11  C R 16+8",
    );
    // Who issues what was queued before the recording need not have sent it.
    assert_eq!(told.tasks, ["bash", "fio", "?"]);
}

/// A task that has sent nothing since its last read ahead waits for it.
#[test]
fn a_read_ahead_is_awaited_by_whoever_sent_nothing_since() {
    let told = heard_of(
        "
          0  Q RA 0+64 tid=1
          1  Q RA 640+64 tid=1
          2  Q RA 512+64 tid=2
          3  D RA 0+64
          4  D RA 640+64
          5  D RA 512+64
          6  Q R 1024+8 tid=2
         10  C RA 0+64
         20  C RA 640+64
         30  C RA 512+64",
    );
    expect(&told.bios("at awaited"), "0+64 false\n 640+64 true\n 512+64 false");
}

/// Windows of 128 KiB: a reader that comes to one in flight sends the next, and waits; one that comes later does not. The last window of
/// a file is smaller, and nobody comes after it.
#[test]
fn a_window_is_awaited_by_whoever_sends_the_next_while_it_is_read() {
    let waits = heard_of(
        "
          0  Q RA 0+32 tid=1
         10  C RA 0+32
         11  Q RA 32+128 tid=1
         12  Q RA 160+256 tid=1
         40  C RA 32+128
         41  Q RA 416+256 tid=1
         60  C RA 160+256
         61  Q RA 672+8 tid=1
         70  C RA 416+256
         80  C RA 672+8",
    );
    let all = "0+32 true\n 32+128 true\n 160+256 true\n 416+256 false\n 672+8 true";
    expect(&waits.bios("at awaited"), all);
    let computes = heard_of(
        "
          0  Q RA 0+32 tid=1
         10  C RA 0+32
         11  Q RA 32+128 tid=1
         20  C RA 32+128
         50  Q RA 160+256 tid=1
         60  C RA 160+256
         90  Q RA 416+256 tid=1
         99  C RA 416+256",
    );
    expect(&computes.bios("at awaited"), "0+32 true\n 32+128 false\n 160+256 false\n 416+256 false");
}

/// Small files that lie side by side are no windows of one stream, and a window that needs several bios is reached as a whole.
#[test]
fn what_lies_side_by_side_need_not_be_a_window() {
    let files = heard_of(
        "
          0  Q RA 0+8 tid=1
          9  C RA 0+8
         10  Q RA 8+16 tid=1
         19  C RA 8+16",
    );
    expect(&files.bios("at awaited"), "0+8 true\n 8+16 true");
    let large = heard_of(
        "
          0  Q RA 0+2048 tid=1
          9  C RA 0+2048
         10  Q RA 2048+2048 tid=1
         11  Q RA 4096+2048 tid=1
         30  C RA 2048+2048
         40  C RA 4096+2048",
    );
    expect(&large.bios("at awaited"), "0+2048 true\n 2048+2048 false\n 4096+2048 false");
}

/// A flush is its asker's, whoever issues it.
#[test]
fn a_flush_is_whose_who_asked_for_it() {
    let flush = |at: u64, begin: u64| {
        format!(
            "
            {at} Q FWS 0+0 tid=7
            {} G FWS 0+0 tid=7
            {begin} D F 0+0 tid=9
            {} C F 0+0
            {} C WS 0+0",
            at + 1,
            begin + 100,
            begin + 101
        )
    };
    let all: String = (0..12).map(|i| flush(i * 1000 + 1, i * 1000 + 3)).collect();
    let told = heard_of(&format!("\n0 name app tid=7\n0 name kworker tid=9{all}"));
    assert_eq!(told.tally.unmatched(), 0);
    let flushes: Vec<_> = told.requests.iter().filter(|r| r.op == life::Op::Flush).collect();
    assert!(flushes.len() >= 12, "{flushes:?}");
    assert!(flushes
        .iter()
        .filter(|r| r.tid.0 == 9)
        .all(|r| r.owner.is_some_and(|o| !o.journal && o.task != r.task)));
}
