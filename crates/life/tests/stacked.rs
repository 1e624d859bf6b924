//! Partitions, dm, md: a bio above, the bios it sends below, and what it waited for.

use testkit::{expect, heard_of};
use trace::DevId;

/// A partition is announced by a remap and has no bios of its own: one bio, on the disk.
#[test]
fn through_a_partition() {
    let told = heard_of(
        "
          0  A R 2056+8 <- 8,1 8
          1  Q R 2056+8
          2  G R 2056+8
          3  D R 2056+8
         90  C R 2056+8",
    );
    expect(&told.bios("dev at q2c child children"), "8,0 2056+8 89 false -");
    assert_eq!(told.tally.unmatched(), 0);
}

/// dm-linear: one child per bio; parent and child are linked, and the parent's time is read off the child's.
#[test]
fn dm_linear() {
    let told = heard_of(
        "
          0  Q W 8+8 dev=253,0
          5  A W 2056+8 <- 253,0 8
          6  Q W 2056+8
          7  G W 2056+8
          8  D W 2056+8
         90  C W 2056+8
         95  C W 8+8 dev=253,0",
    );
    expect(
        &told.bios("dev at by q2c child children lower".replace(" by", "").as_str()),
        "  8,0 2056+8 84 true  - -
         253,0    8+8 95 false 1 idle-6,writing-90,idle-95",
    );
    assert_eq!(told.tally.unmatched(), 0);
}

/// What another task sends on is still whose it was: dm-crypt's worker writes what the program wrote.
#[test]
fn what_a_worker_sends_on_is_whose_it_was() {
    let told = heard_of(
        "
          0  name app tid=7
          0  name kworker tid=9
          0  Q W 8+8 dev=253,0 tid=7
          5  A W 2056+8 <- 253,0 8 tid=9
          6  Q W 2056+8 tid=9
          7  G W 2056+8 tid=9
          8  D W 2056+8 tid=9
         90  C W 2056+8
         95  C W 8+8 dev=253,0",
    );
    let [below, above] = [&told.bios[0], &told.bios[1]];
    assert_eq!((below.owner.map(|o| (o.task, o.journal)), above.owner), (Some((above.task, false)), None));
    assert_eq!(told.requests[0].owner, below.owner);
    assert_ne!(below.task, above.task);
}

/// A bio across two dm targets: cut on dm, one child each, two disks.
#[test]
fn dm_split_over_two_disks() {
    let told = heard_of(
        "
          0  Q R 0+16 dev=253,0
          1  X R 0+8 / 8 dev=253,0
          2  A R 100+8 <- 253,0 0 dev=8,0
          3  Q R 100+8 dev=8,0
          4  A R 0+8 <- 253,0 8 dev=8,16
          5  Q R 0+8 dev=8,16
          6  D R 100+8 dev=8,0
          7  D R 0+8 dev=8,16
         50  C R 0+8 dev=8,16
         80  C R 100+8 dev=8,0
         82  C R 0+8 dev=253,0
         83  C R 8+8 dev=253,0",
    );
    assert_eq!(told.bios.iter().filter(|b| b.is_child()).count(), 2);
    let parent = told.bios.iter().find(|b| b.dev == DevId::new(253, 0)).unwrap();
    assert_eq!((parent.pieces, parent.lower.as_ref().map(|l| l.children)), (2, Some(2)));
    assert_eq!(told.tally.unmatched(), 0);
}

/// raid5, read-modify-write: a write waits in md, reads old data and old parity, then writes both.
#[test]
fn raid5_read_modify_write() {
    let told = heard_of(
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 0 dev=8,0        # parity is announced with sector 0
          1001  Q R 48320+8 dev=8,0
          1002  A R 48320+8 <- 9,0 185280 dev=8,16  # the data, in the same row
          1003  Q R 48320+8 dev=8,16
          1010  D R 48320+8 dev=8,0
          1010  D R 48320+8 dev=8,16
          5000  C R 48320+8 dev=8,0
          6000  C R 48320+8 dev=8,16
          7000  A W 48320+8 <- 9,0 0 dev=8,0
          7001  Q W 48320+8 dev=8,0
          7002  A W 48320+8 <- 9,0 185280 dev=8,16
          7003  Q W 48320+8 dev=8,16
          7010  D W 48320+8 dev=8,0
          7010  D W 48320+8 dev=8,16
         12000  C W 48320+8 dev=8,0
         13000  C W 48320+8 dev=8,16
         13100  C W 185280+8 dev=9,0",
    );
    let parent = told.bios("dev op children q2c").lines().last().unwrap().to_string();
    expect(&parent, "9,0 write 4 13100");
    let steps: Vec<_> =
        told.bios.last().unwrap().lower.as_ref().unwrap().steps.iter().map(|s| s.busy).collect();
    use life::Busy::*;
    assert_eq!(steps.iter().filter(|b| **b != Idle).collect::<Vec<_>>(), [&Reading, &Writing]);
    assert!(told.bios.iter().filter(|b| b.dev.major() == 8).all(|b| b.is_child()));
}

/// What is idle, reading and writing below sums to the parent's time, and the steps touch.
#[test]
fn steps_touch_and_end_with_the_parent() {
    let told = heard_of(
        "
          0  Q W 0+16 dev=9,0
          5  A R 0+8 <- 9,0 0
          6  Q R 0+8
          7  A W 8+8 <- 9,0 8
          8  Q W 8+8
         20  D R 0+8
         21  D W 8+8
         30  C W 8+8
         60  C R 0+8
         70  C W 0+16 dev=9,0",
    );
    expect(
        &told.bios("dev lower").lines().last().unwrap().replace(',', " , ").replace(" , ", ","),
        "9,0 idle-6,reading-8,writing-30,reading-60,idle-70",
    );
}

/// dm on md on disks: each level is linked to the next.
#[test]
fn two_levels() {
    let told = heard_of(
        "
          0  Q R 0+8 dev=253,0
          1  A R 64+8 <- 253,0 0 dev=9,0
          2  Q R 64+8 dev=9,0
          3  A R 128+8 <- 9,0 64
          4  Q R 128+8
          5  D R 128+8
         50  C R 128+8
         51  C R 64+8 dev=9,0
         52  C R 0+8 dev=253,0",
    );
    expect(
        &told.bios("dev child children q2c"),
        "8,0 true - 46
         9,0 true 1 49
         253,0 false 1 52",
    );
}

/// The upper device was not recorded: its children are bios like any other.
#[test]
fn an_upper_device_that_was_not_recorded() {
    let told = heard_of("0 A R 64+8 <- 9,0 0 \n 1 Q R 64+8 \n 2 D R 64+8 \n 9 C R 64+8");
    expect(&told.bios("dev child"), "8,0 false");
    assert_eq!(told.tally.unmatched(), 0);
}

/// A parent completed before its child (a write-behind mirror): the late child finds no parent, nothing else breaks.
#[test]
fn a_child_that_outlives_its_parent() {
    let told = heard_of(
        "
          0  Q W 0+8 dev=9,0
          1  A W 0+8 <- 9,0 0
          2  Q W 0+8
          3  D W 0+8
         10  C W 0+8 dev=9,0
         11  Q W 64+8 dev=9,0
         50  C W 0+8
         60  C W 64+8 dev=9,0",
    );
    expect(&told.bios("dev at q2c children"), "9,0 0+8 10 1\n 8,0 0+8 48 -\n 9,0 64+8 49 -");
}

/// md sends empty flushes to its members without announcing them: they are the flush's that waits above.
#[test]
fn a_flush_on_an_array_waits_for_those_of_its_members() {
    let told = heard_of(
        "
          0  Q W 8+8 dev=9,0
          1  A W 2056+8 <- 9,0 8
          2  Q W 2056+8
          3  D W 2056+8
          9  C W 2056+8
         10  C W 8+8 dev=9,0
         20  Q FN 0+0 dev=9,0
         21  Q FN 0+0
         22  D FN 0+0
         90  C FN 0+0
         95  C FN 0+0 dev=9,0",
    );
    let flushes: Vec<_> = told.bios.iter().filter(|b| b.op == life::Op::Flush).collect();
    let last = flushes.last().expect("the array's flush");
    assert_eq!((last.dev, last.lower.as_ref().map(|l| l.children)), (DevId::new(9, 0), Some(1)));
}

/// raid5, reconstruct-write: the rest of the stripe is read, with places at which the array has no bio, and all of it is
/// over before anything is written.
const RECONSTRUCT: &str = "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 184256 dev=8,0
          1001  Q R 48320+8 dev=8,0
          1002  A R 48320+8 <- 9,0 186304 dev=8,16
          1003  Q R 48320+8 dev=8,16
          1010  D R 48320+8 dev=8,0
          1010  D R 48320+8 dev=8,16
          5000  C R 48320+8 dev=8,0
          6000  C R 48320+8 dev=8,16
          7000  A W 48320+8 <- 9,0 0 dev=8,32
          7001  Q W 48320+8 dev=8,32
          7002  A W 48320+8 <- 9,0 185280 dev=8,48
          7003  Q W 48320+8 dev=8,48
          7010  D W 48320+8 dev=8,32
          7010  D W 48320+8 dev=8,48
         12000  C W 48320+8 dev=8,32
         13000  C W 48320+8 dev=8,48
         13100  C W 185280+8 dev=9,0";

#[test]
fn raid5_reconstruct_write() {
    let told = heard_of(RECONSTRUCT);
    expect(
        told.bios("dev op children lower").lines().last().unwrap(),
        "9,0 write 4 idle-1001,reading-6000,idle-7001,writing-13000,idle-13100",
    );
    assert!(told.bios.iter().filter(|b| b.dev.major() == 8).all(|b| b.is_child()));
    assert_eq!((told.adopted.len(), told.unclaimed), (2, vec![]));
}

/// The stripe serves a second write, that came when the first read was half done: it waited for the reads as well,
/// from its own beginning on. A third, that came after them, did not.
#[test]
fn a_stripe_serves_several_writes() {
    let own = |at: u64, place: u64, member: u32| {
        format!(
            "
             {at}  A W 48320+8 <- 9,0 {place} dev=8,{member}
             {at}  Q W 48320+8 dev=8,{member}
             {at}  D W 48320+8 dev=8,{member}
             12000 C W 48320+8 dev=8,{member}
             13100 C W {place}+8 dev=9,0"
        )
    };
    let mut lines: Vec<String> = RECONSTRUCT.lines().map(str::to_string).collect();
    lines.extend(["3000 Q W 300000+8 dev=9,0".into(), "6500 Q W 400000+8 dev=9,0".into()]);
    lines.extend(
        [own(7004, 300_000, 64), own(7005, 400_000, 80)].iter().flat_map(|s| s.lines().map(str::to_string)),
    );
    lines.retain(|l| !l.trim().is_empty());
    lines.sort_by_key(|l| l.split_whitespace().next().and_then(|t| t.parse::<u64>().ok()));
    let told = heard_of(&lines.join("\n"));
    let of = |start: u64| {
        let bio = told.bios.iter().find(|b| b.start.0 == start).expect("the bio");
        bio.lower
            .as_ref()
            .expect("children")
            .steps
            .iter()
            .map(|s| (s.busy, s.until.0 / 1000))
            .collect::<Vec<_>>()
    };
    use life::Busy::*;
    assert_eq!(of(300_000), [(Reading, 6000), (Idle, 7004), (Writing, 12000), (Idle, 13100)]);
    assert_eq!(of(400_000), [(Idle, 7005), (Writing, 12000), (Idle, 13100)]);
}

/// Reads of a stripe for which no bio comes (a check of the array): counted, and not the next write's there.
#[test]
fn reads_of_an_older_stripe_are_nobodys() {
    let told = heard_of(
        "
          0  Q R 0+8 dev=9,0
          1  C R 0+8 dev=9,0
          10 A R 48320+8 <- 9,0 184256 dev=8,0
          11 Q R 48320+8 dev=8,0
          12 D R 48320+8 dev=8,0
          41 C R 48320+8 dev=8,0
         100 Q W 185280+8 dev=9,0
         110 A W 48320+8 <- 9,0 185280 dev=8,16
         111 Q W 48320+8 dev=8,16
         112 D W 48320+8 dev=8,16
         150 C W 48320+8 dev=8,16
         160 C W 185280+8 dev=9,0",
    );
    expect(told.bios("dev lower").lines().last().unwrap(), "9,0 idle-111,writing-150,idle-160");
    assert_eq!(told.adopted, []);
    let unclaimed = life::Unclaimed { reads: 1, time: trace::Nanos(30_000) };
    assert_eq!(told.unclaimed, [(DevId::new(9, 0), unclaimed)]);
}
