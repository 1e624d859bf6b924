//! Numbers known of the long recordings, beside what btt says of the same files.

use life::Op;
use testkit::{observed_from, tools::capture, Observed};
use trace::Nanos;

fn d2c(observed: &Observed, of: impl Fn(Op) -> bool) -> (usize, f64) {
    let times: Vec<Nanos> =
        observed.requests.iter().filter(|r| of(r.op)).filter_map(|r| r.time.d2c()).collect();
    let mean = times.iter().map(|t| t.0 as f64).sum::<f64>() / times.len().max(1) as f64;
    (times.len(), (mean / 1e4).round() / 100.0)
}

/// btt's report that lies in the folder: the mean of a row of "All Devices", in milliseconds.
fn btt_mean(folder: &std::path::Path, row: &str) -> Option<f64> {
    let report = std::fs::read_to_string(folder.join("vda.btt-m8.txt")).expect("btt's report");
    let all = report.split("= All Devices =").nth(1).expect("its table");
    let line = all.lines().find(|l| l.split_whitespace().next() == Some(row))?;
    Some(line.split_whitespace().nth(2)?.parse::<f64>().ok()? * 1e3)
}

/// 478 writeback requests of 2 s each: btt leaves 477 of them out.
#[test]
fn writeback_that_btt_hides() {
    let Some(folder) = capture("randread-vs-bufferedwrite") else { return };
    let observed = observed_from(&folder);
    assert_eq!(d2c(&observed, |op| op == Op::Write).0, 478);
    assert_eq!(d2c(&observed, |_| true).1, 54.7);
    assert_eq!(btt_mean(&folder, "D2C").map(|ms| (ms * 100.0).round()), Some(1075.0));
}

/// Every bio was split: btt prints no device time at all.
#[test]
fn a_recording_of_split_bios() {
    let Some(folder) = capture("seqwrite-max32k") else { return };
    assert_eq!(d2c(&observed_from(&folder), |op| op == Op::Write).0, 20_192);
    assert_eq!([btt_mean(&folder, "D2C"), btt_mean(&folder, "Q2C")], [None, None]);
}

/// 13,316 flushes, and each bio that waited for them.
#[test]
fn a_recording_of_flushes() {
    let Some(folder) = capture("fsync-heavy-j4") else { return };
    let observed = observed_from(&folder);
    assert_eq!(d2c(&observed, |op| op == Op::Flush).0, 13_316);
    let waited = observed.bios.iter().filter(|b| b.time.flushed);
    assert_eq!(waited.clone().count(), 4872 + 4134, "FWFSM and FWS");
    let without = waited.filter(|b| b.time.preflush.is_none()).count();
    assert_eq!(without, 0, "without the flush they waited for");
}

/// bfq, dm, discards, read-ahead, splits, merges: every event finds its place.
#[test]
fn a_recording_of_everything() {
    let Some(folder) = capture("misc-events") else { return };
    let t = observed_from(&folder).tally;
    assert_eq!((t.unmatched(), t.requests_lost, t.backward_steps), (0, 0, 0), "{t:?}");
    assert_eq!(t.bytes_queued, t.bytes_completed + t.bytes_in_flight + t.bytes_lost);
}
