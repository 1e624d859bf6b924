//! md's bitmap, for which the array's thread waits.

use super::*;

/// An array's thread and where it stands when it waits for the bitmap.
const RAID5D: Tid = Tid(500);
pub const BITMAP: TextId = TextId(2);

/// A write on an array, which another thread than the writer's sends below 60 us later. That one sleeps from
/// 10 to 50, and stands there.
fn written_on_md(sender: Tid, stack: TextId) -> String {
    let beside = [
        (0, RAID5D, 0, What::Switch { left: Left::Preempted, next: RAID5D }),
        (10, RAID5D, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (10, RAID5D, 0, What::Stack(stack)),
        (50, Tid(0), Context::HARD, What::Wake(RAID5D)),
        (52, Tid(0), 0, What::Switch { left: Left::Preempted, next: RAID5D }),
    ];
    let blocks = "
          1  Q W 8+8 dev=9,0
         10  Q WSM 16+1 tid=500
         11  G WSM 16+1 tid=500
         12  D WSM 16+1 tid=500
         49  C WSM 16+1 tid=0
         60  A W 2056+8 <- 9,0 8 tid=SENDER
         61  Q W 2056+8 tid=SENDER
         62  G W 2056+8 tid=SENDER
         63  D W 2056+8 tid=SENDER
         90  C W 2056+8 tid=0
         91  C W 8+8 dev=9,0 tid=0";
    let blocks = blocks.replace("SENDER", &sender.0.to_string());
    parts(&called_beside(Call::Write, 5, &blocks, &beside)[0].1)
}

#[test]
fn a_write_on_md_waits_while_the_arrays_thread_waits_for_the_bitmap() {
    expect(
        &written_on_md(RAID5D, BITMAP),
        "0 on-cpu 5
         0 wait 86
         1 9,0 write 86
         2 stacking 5
         2 wait 40
         3 8,0 write 40
         4 get-request 1
         4 prepare 1
         4 device 37
         4 wake-up 1
         2 stacking 11
         2 8,0 write 29
         3 get-request 1
         3 prepare 1
         3 device 27
         2 stacking 1
         0 on-cpu 1",
    );
}

#[test]
fn what_another_thread_waits_for_and_what_the_arrays_thread_waits_for_otherwise_is_not_the_bitmap() {
    for other in [written_on_md(Tid(501), BITMAP), written_on_md(RAID5D, TextId(0))] {
        assert!(other.contains("2 stacking 56\n"), "{other}");
    }
}
