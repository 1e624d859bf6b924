//! Recognises parts of a fio job: people paste only the line of an operation, or latencies, or percentiles.
//!
//! ```text
//! read: IOPS=8738, BW=34.1MiB/s (35.8MB/s)(2048MiB/60001msec)
//! clat (usec): min=40, max=9000, avg=110.20, stdev=11.00
//! clat percentiles (usec):
//!  |  1.00th=[   78],  5.00th=[   90], 50.00th=[  104], 99.00th=[  225]
//! bw (  KiB/s): min=16000, max=51200, per=99.90%, avg=34900.25, stdev=900.50, samples=119
//! iops        : min= 4000, max=12800, avg=8725.06, stdev=225.13, samples=119
//! ```
//!
//! **Versions**: fio 2.0 to 3.42.

use super::fio_operations::{OF_ALL, OPERATIONS};
use crate::output::words::Word;

/// Whether a line of fio without a job's first line starts here: `read: IOPS=8738, BW=...`, `write: io=1024MB, bw=...`,
/// `clat (usec): min=40, max=...`.
pub(super) fn is_excerpt(words: &[Word]) -> bool {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = text(0).trim_end_matches(':');
    let summed = OF_ALL.iter().any(|(all, _)| *all == first);
    // `sync (usec): min=` is a line of latencies.
    let operation = OPERATIONS.contains(&first) && !text(1).starts_with('(');
    if operation || summed {
        let value = if text(1) == ":" { text(2) } else { text(1) };
        let colon = text(0).ends_with(':') || text(1) == ":";
        return colon && ["IOPS=", "io=", "bw=", "iops="].iter().any(|key| value.starts_with(key));
    }
    // `clat (usec): min=`, `bw (  KiB/s): min=`, `bw (KB  /s): min=`, `iops : min=`
    let spread = match first {
        "iops" => true,
        "slat" | "clat" | "lat" | "sync" | "bw" => text(1).starts_with('('),
        _ => false,
    };
    let least = (1..=LONGEST_UNIT).find(|i| text(*i).starts_with("min="));
    spread && least.is_some_and(|i| text(i - 1).ends_with(':'))
}

/// Limit on words up to `min=`.
const LONGEST_UNIT: usize = 4;

/// Whether percentiles start here without the line before them: `clat percentiles (msec):`.
pub(super) fn is_percentiles(words: &[Word]) -> bool {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let named = ["slat", "clat", "lat", "sync"].contains(&text(0)) && text(1) == "percentiles";
    let first = if text(3) == "|" { text(4) } else { text(3) };
    named && text(2).starts_with('(') && text(2).ends_with(':') && first.contains("th=[")
}

#[cfg(test)]
mod tests {
    use crate::output::number::Unit;
    use crate::tool::testing::{all, one};

    #[test]
    fn latencies_of_syncs_alone_are_read() {
        let row =
            one("    sync (usec): min=4012, max=48211, avg=10083.25, stdev=2211.5\n", "fio").rows.remove(0);
        assert_eq!(
            (row.of.as_str(), row.value("sync.mean"), row.value("sync.max")),
            ("sync", Some(10_083_250.0), Some(48_211e3))
        );
        assert!(all("sync (usec) is what I mean: min=3", "fio").is_empty());
    }

    #[test]
    fn rates_alone_are_read() {
        for (text, name, mean, unit) in [
            (
                "iops        : min= 1582, max=199470, avg=5305.50, stdev=20480.25, samples=211",
                "iops",
                5305.5,
                Unit::PerSecond,
            ),
            ("iops: min=1582, max=199470, avg=5305.50, stdev=20480.25", "iops", 5305.5, Unit::PerSecond),
            (
                "bw (  KiB/s): min= 6328, max=797880, per=99.90%, avg=21222.50, stdev=81920.25, samples=211",
                "bw",
                21_222.5 * 1024.0,
                Unit::BytesPerSecond,
            ),
            (
                "bw (KB  /s): min= 6328, max=797880, per=99.90%, avg=21222.50, stdev=81920.25",
                "bw",
                21_222.5 * 1024.0,
                Unit::BytesPerSecond,
            ),
        ] {
            let told = all(
                &format!("With it:\n   {text}\nand without:\n   {}\n", text.replace("max=", "max=1")),
                "fio",
            );
            let [with, without] = &told[..] else { panic!("{told:?}") };
            let of = |r: &crate::output::Reading, what: &str| {
                r.rows[0].get(&format!("{name}.{what}")).map(|n| (n.value, n.unit))
            };
            assert_eq!(with.rows[0].of, "I/O");
            assert_eq!(of(with, "mean"), Some((mean, unit)), "{text}");
            assert_ne!(of(without, "max"), of(with, "max"), "{text}");
        }
        for prose in ["iops: min is 3", "iops min=3, max=4", "bw (KiB/s) is min=3", "iops of it: mine"] {
            assert!(all(prose, "fio").is_empty(), "{prose}");
        }
    }

    #[test]
    fn percentiles_alone_are_read() {
        let text = |name: &str| {
            format!("\t{name} percentiles (msec):\n\t |  1.00th=[   12],  5.00th=[   15], 50.00th=[   31],\n\t | 99.00th=[  201], 99.99th=[  902]\n")
        };
        let row = one(&text("clat"), "fio").rows.remove(0);
        assert_eq!(
            (row.of.as_str(), row.value("clat.p1"), row.value("clat.p99")),
            ("I/O", Some(12e6), Some(201e6))
        );
        let row = one(&text("sync"), "fio").rows.remove(0);
        assert_eq!((row.of.as_str(), row.value("sync.p99.99")), ("sync", Some(902e6)));
        // Percentiles after the latencies that they belong to are one reading with these; two such pairs are two readings.
        let both = format!("    clat (msec): min=1, max=999, avg=40.5, stdev=9.5\n{}", text("clat"));
        assert_eq!(one(&both, "fio").rows[0].value("clat.p50"), Some(31e6));
        assert_eq!(
            all(&format!("before\n{}after\n{}", text("clat"), text("clat").replace("31", "32")), "fio").len(),
            2
        );
        assert!(all("clat percentiles (p99) are bad", "fio").is_empty());
    }
}
