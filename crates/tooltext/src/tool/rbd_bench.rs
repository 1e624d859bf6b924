//! rbd bench of Ceph (10 and later): rates of each second, and the sum.
//!
//! ```text
//! bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern sequential
//!   SEC       OPS   OPS/SEC   BYTES/SEC
//!     1      1234   1245.67   4.9 MiB/s
//! elapsed: 12   ops: 262144   ops/sec: 21845.3   bytes/sec: 85 MiB/s
//! ```

use super::{texts, Found, Tool};
use crate::mail::number::{decimal, size_unit, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct RbdBench;

impl Tool for RbdBench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "elapsed:" {
            return None;
        }
        let ["elapsed:", seconds, "ops:", count, "ops/sec:", rate, "bytes/sec:", bytes] = texts(words)?
        else {
            return None;
        };
        let mut row = Row::of("operations");
        row.values.put("runtime", decimal(seconds)? * 1e9, Unit::Nanoseconds, words[1].spot);
        row.values.put("count", decimal(count)?, Unit::Count, words[3].spot);
        row.values.put("iops", decimal(rate)?, Unit::PerSecond, words[5].spot);
        // Before Ceph 14 bytes have no unit.
        let unit = words.get(8).and_then(|w| size_unit(w.text.strip_suffix("/s")?));
        row.values.put("bw", decimal(bytes)? * unit.unwrap_or(1.0), Unit::BytesPerSecond, words[7].spot);
        let used = 8 + usize::from(unit.is_some());
        Found::all(
            Reading { tool: "rbd bench", rows: vec![row], at: words[0].spot, ..Reading::default() },
            used,
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn bytes_have_a_unit_or_none() {
        for (bytes, value) in [("85 MiB/s", 85.0 * 1048576.0), ("89128960.5", 89_128_960.5)] {
            let text = format!("elapsed:    12  ops:   262144  ops/sec: 21845.33  bytes/sec: {bytes}\n");
            let row = &one(&text, "rbd bench").rows[0];
            assert_eq!((row.value("iops"), row.value("bw")), (Some(21_845.33), Some(value)));
        }
    }
}
