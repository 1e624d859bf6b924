//! raid5: what is read before it is written.

use super::*;

/// A write on the array for which two members are read first, at these sectors of the array, and then
/// `writes` are sent below.
fn written_after_reads(first: u64, second: u64, writes: &str) -> String {
    let blocks = format!(
        "
             0  Q W 185280+8 dev=9,0
          1000  A R 48320+8 <- 9,0 {first} dev=8,0 tid=7
          1001  Q R 48320+8 dev=8,0 tid=7
          1001  G R 48320+8 dev=8,0 tid=7
          1001  A R 48320+8 <- 9,0 {second} dev=8,16 tid=7
          1001  Q R 48320+8 dev=8,16 tid=7
          1001  G R 48320+8 dev=8,16 tid=7
          1010  D R 48320+8 dev=8,0 tid=7
          1010  D R 48320+8 dev=8,16 tid=7
          5000  C R 48320+8 dev=8,0 tid=0
          6000  C R 48320+8 dev=8,16 tid=0{writes}
         13100  C W 185280+8 dev=9,0 tid=0"
    );
    parts(&called(Call::Write, 1, &blocks)[0].1)
}

/// The slower read and the write that was over last, on `member`.
fn followed(member: &str) -> String {
    format!(
        "0 on-cpu 1
         0 wait 13099
         1 9,0 write 13099
         2 stacking 1000
         2 8,16 read 4999
         3 lower-read 4999
         2 stacking 1001
         2 {member} write 5999
         3 prepare 9
         3 device 5990
         2 stacking 100
         0 on-cpu 1"
    )
}

/// Read-modify-write. Reads that a write needs stay what they are, with the member; the writes are followed.
#[test]
fn raid5_reads_before_it_writes() {
    let parts = written_after_reads(
        0,
        185280,
        "
          7000  A W 48320+8 <- 9,0 0 dev=8,0 tid=7
          7001  Q W 48320+8 dev=8,0 tid=7
          7001  G W 48320+8 dev=8,0 tid=7
          7001  A W 48320+8 <- 9,0 185280 dev=8,16 tid=7
          7001  Q W 48320+8 dev=8,16 tid=7
          7001  G W 48320+8 dev=8,16 tid=7
          7010  D W 48320+8 dev=8,0 tid=7
          7010  D W 48320+8 dev=8,16 tid=7
         12000  C W 48320+8 dev=8,0 tid=0
         13000  C W 48320+8 dev=8,16 tid=0",
    );
    expect(&parts, &followed("8,16"));
}

/// Reconstruct-write: the reads are over before the first write tells for whom they were.
#[test]
fn raid5_reads_the_rest_of_the_stripe_before_it_writes() {
    let parts = written_after_reads(
        184256,
        186304,
        "
          7000  A W 48320+8 <- 9,0 185280 dev=8,32 tid=7
          7001  Q W 48320+8 dev=8,32 tid=7
          7001  G W 48320+8 dev=8,32 tid=7
          7010  D W 48320+8 dev=8,32 tid=7
         13000  C W 48320+8 dev=8,32 tid=0",
    );
    expect(&parts, &followed("8,32"));
}
