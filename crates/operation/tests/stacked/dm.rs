//! dm-linear, whole or cut in two, on disks or on an array.

use super::*;

/// dm-linear on a disk with a scheduler: what the bio waited for is what the request below waited for.
#[test]
fn a_read_on_dm_waits_for_the_request_below() {
    let all = called(
        Call::Read,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
          8  I R 2056+8
         60  D R 2056+8
         90  C R 2056+8 tid=0
         95  C R 8+8 dev=253,0 tid=0",
    );
    let [(o, account)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((o.kind, o.dev.to_string().as_str()), (Kind::Call(Call::Read), "253,0"));
    expect(
        &parts(account),
        "0 on-cpu 20
         0 wait 75
         1 253,0 read 75
         2 8,0 read 70
         3 scheduler 40
         3 device 30
         2 stacking 5
         0 on-cpu 1",
    );
}

/// Two disks below (a bio that was cut): what was completed last from when it was queued, before that the
/// other.
#[test]
fn of_two_bios_below_the_last_one_counts() {
    let all = called(
        Call::Read,
        2,
        "
          0  Q R 0+16 dev=253,0
          1  X R 0+8 / 8 dev=253,0
          2  A R 100+8 <- 253,0 0 dev=8,0
          3  Q R 100+8 dev=8,0
          3  G R 100+8 dev=8,0
          4  D R 100+8 dev=8,0
         14  A R 0+8 <- 253,0 8 dev=8,16
         15  Q R 0+8 dev=8,16
         16  G R 0+8 dev=8,16
         17  D R 0+8 dev=8,16
         50  C R 100+8 dev=8,0 tid=0
         80  C R 0+8 dev=8,16 tid=0
         82  C R 0+8 dev=253,0 tid=0
         83  C R 8+8 dev=253,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 2
         0 wait 81
         1 253,0 read 81
         2 stacking 1
         2 8,0 read 12
         3 prepare 1
         3 device 11
         2 8,16 read 65
         3 get-request 1
         3 prepare 1
         3 device 63
         2 stacking 3
         0 on-cpu 1",
    );
    assert_eq!(account.of(Reason::LowerRead), Nanos(0));
}

/// A volume on an array: both are followed, down to the disk.
#[test]
fn dm_on_md_is_followed_down_to_the_disk() {
    let all = called(
        Call::Write,
        1,
        "
          1  Q W 8+8 dev=253,0
          2  A W 16+8 <- 253,0 8 dev=9,0
          3  Q W 16+8 dev=9,0
          4  A W 32+8 <- 9,0 16
          5  Q W 32+8
          6  G W 32+8
          7  D W 32+8
         90  C W 32+8 tid=0
         92  C W 16+8 dev=9,0 tid=0
         95  C W 8+8 dev=253,0 tid=0",
    );
    expect(
        &parts(&all[0].1),
        "0 on-cpu 1
         0 wait 94
         1 253,0 write 94
         2 stacking 2
         2 9,0 write 89
         3 stacking 2
         3 8,0 write 85
         4 get-request 1
         4 prepare 1
         4 device 83
         3 stacking 2
         2 stacking 3
         0 on-cpu 1",
    );
}

/// libaio on dm: one operation per bio of the caller's, none for what dm sends on.
#[test]
fn what_dm_sends_on_is_no_operation_of_its_own() {
    let all = called(
        Call::IoSubmit,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
          8  D R 2056+8
         90  C R 2056+8 tid=0
         95  C R 8+8 dev=253,0 tid=0",
    );
    let aio: Vec<_> = all.iter().filter(|(o, _)| o.kind == Kind::AioRead).collect();
    assert_eq!(aio.len(), 1);
    let (o, account) = aio[0];
    assert_eq!((o.total(), account.of(Reason::Device)), (Nanos(95_000), Nanos(82_000)));
}
