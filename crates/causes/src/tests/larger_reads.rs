//! Larger reads ahead for a task that reads in order.

use super::*;
use crate::op_builder::{OpBuilder, READER};
use device::{Behind, Split};
use life::Io;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);
const RESTS: &str = "sda/queue/rotational: 0\nsda/queue/read_ahead_kb: 128\n";

/// Two hundred reads of so many KiB, of 3 ms each, and five reads of 4 KiB that took so long in us, if any.
fn cold(kib: u64, in_order: bool, small: Option<u64>, settings: &str) -> Verdict {
    const OWN: u64 = 3 * MS;
    let mut recording = TraceBuilder::of_any_kind();
    for at in (0..200).map(|i| i * 2 * OWN) {
        match in_order {
            true => recording.read_on_by_another(at, at + OWN, kib),
            false => recording.large_read(at, at + OWN, kib),
        };
    }
    for (i, us) in (0..5).zip(small.into_iter().cycle()) {
        let at = 400 * OWN + i * 10 * MS;
        recording.read(at, at, at + us);
    }
    recording.called("other", READER).settings(settings);
    let mut built = OpBuilder::default();
    built.over(recording).waiting_for(Wait::PageRead);
    let tar = built.holder("tar", Io::Read);
    for n in 0..101 {
        let mut split = Split { known: true, own: Nanos(OWN * 1000), ..Split::default() };
        let time = if n == 50 { 30 * OWN } else { 0 };
        split.behind[0] = Behind { holder: tar, time: Nanos(time * 1000) };
        built.inside(READ, split);
    }
    let v = built.verdict("cold-reads");
    found(&v);
    v
}

fn offers(v: &Verdict) -> bool {
    commands(v).iter().any(|command| *command == "echo 1024 > /sys/block/sda/queue/read_ahead_kb")
}

#[test]
fn who_reads_in_order_may_read_more_at_a_time() {
    assert!(offers(&cold(128, true, None, RESTS)), "{:?}", cold(128, true, None, RESTS));
    assert!(!offers(&cold(20, true, None, RESTS)), "small files");
    assert!(!offers(&cold(128, false, None, RESTS)), "in no order");
    assert!(!offers(&cold(128, true, None, &RESTS.replace("rotational: 0", "rotational: 1"))), "it streams");
    assert!(!offers(&cold(128, true, None, "sda/queue/read_ahead_kb: 128\n")), "it may rotate");
    assert!(!offers(&cold(1024, true, None, &RESTS.replace("128", "1024"))), "so much is read already");
}

/// Small reads tell what a request takes without its bytes.
#[test]
fn a_device_that_takes_long_for_the_bytes_gains_nothing() {
    let v = cold(128, true, Some(2000), RESTS);
    let told = "sda takes 2 ms for a read of at most 16 KiB, and 2.98 ms for one of 125 KiB: for each, not for the bytes";
    assert!(offers(&v) && says(&v, told), "{v:?}");
    assert!(!offers(&cold(128, true, Some(1000), RESTS)));
}
