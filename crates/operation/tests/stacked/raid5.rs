//! raid5: what is read before it is written.

use super::*;

/// raid5, read-modify-write. Reads that a write needs stay what they are, with the member; the writes are followed.
#[test]
fn raid5_reads_before_it_writes() {
    let all = called(
        Call::Write,
        1,
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 0 dev=8,0 tid=7
          1001  Q R 48320+8 dev=8,0 tid=7
          1001  G R 48320+8 dev=8,0 tid=7
          1001  A R 48320+8 <- 9,0 185280 dev=8,16 tid=7
          1001  Q R 48320+8 dev=8,16 tid=7
          1001  G R 48320+8 dev=8,16 tid=7
          1010  D R 48320+8 dev=8,0 tid=7
          1010  D R 48320+8 dev=8,16 tid=7
          5000  C R 48320+8 dev=8,0 tid=0
          6000  C R 48320+8 dev=8,16 tid=0
          7000  A W 48320+8 <- 9,0 0 dev=8,0 tid=7
          7001  Q W 48320+8 dev=8,0 tid=7
          7001  G W 48320+8 dev=8,0 tid=7
          7001  A W 48320+8 <- 9,0 185280 dev=8,16 tid=7
          7001  Q W 48320+8 dev=8,16 tid=7
          7001  G W 48320+8 dev=8,16 tid=7
          7010  D W 48320+8 dev=8,0 tid=7
          7010  D W 48320+8 dev=8,16 tid=7
         12000  C W 48320+8 dev=8,0 tid=0
         13000  C W 48320+8 dev=8,16 tid=0
         13100  C W 185280+8 dev=9,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 1
         0 wait 13099
         1 9,0 write 13099
         2 stacking 1000
         2 8,16 read 4999
         3 lower-read 4999
         2 stacking 1001
         2 8,16 write 5999
         3 prepare 9
         3 device 5990
         2 stacking 100
         0 on-cpu 1",
    );
}

/// raid5, reconstruct-write: the reads are over before the first write tells for whom they were.
#[test]
fn raid5_reads_the_rest_of_the_stripe_before_it_writes() {
    let all = called(
        Call::Write,
        1,
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 184256 dev=8,0 tid=7
          1001  Q R 48320+8 dev=8,0 tid=7
          1001  G R 48320+8 dev=8,0 tid=7
          1001  A R 48320+8 <- 9,0 186304 dev=8,16 tid=7
          1001  Q R 48320+8 dev=8,16 tid=7
          1001  G R 48320+8 dev=8,16 tid=7
          1010  D R 48320+8 dev=8,0 tid=7
          1010  D R 48320+8 dev=8,16 tid=7
          5000  C R 48320+8 dev=8,0 tid=0
          6000  C R 48320+8 dev=8,16 tid=0
          7000  A W 48320+8 <- 9,0 185280 dev=8,32 tid=7
          7001  Q W 48320+8 dev=8,32 tid=7
          7001  G W 48320+8 dev=8,32 tid=7
          7010  D W 48320+8 dev=8,32 tid=7
         13000  C W 48320+8 dev=8,32 tid=0
         13100  C W 185280+8 dev=9,0 tid=0",
    );
    let account = &all[0].1;
    expect(
        &parts(account),
        "0 on-cpu 1
         0 wait 13099
         1 9,0 write 13099
         2 stacking 1000
         2 8,16 read 4999
         3 lower-read 4999
         2 stacking 1001
         2 8,32 write 5999
         3 prepare 9
         3 device 5990
         2 stacking 100
         0 on-cpu 1",
    );
}
