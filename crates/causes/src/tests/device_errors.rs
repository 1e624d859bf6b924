//! Requests that end with an error, and commands that the device loses.

use super::*;
use crate::op_builder::OpBuilder;
use life::Request;
use operation::Kind;
use trace::Call;

#[test]
fn errors_are_told() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    rejected(&recording.verdict("device-errors"));
    recording.failed_read(900 * MS, 900 * MS, 990 * MS);
    let v = recording.verdict("device-errors");
    found(&v);
    assert!(v.evidence[0].sentence().contains("1 of 301 requests"), "{v:?}");
}

/// A request that is requeued at once was refused; one that is requeued after half a second was lost.
#[test]
fn lost_commands_are_errors_and_no_busy_device() {
    let of = |aborted_ms: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 300);
        for i in 0..3 {
            let at = (1000 + 2000 * i) * MS;
            recording.lost_read(
                at,
                at + aborted_ms * MS,
                at + (aborted_ms + 300) * MS,
                at + (aborted_ms + 301) * MS,
            );
        }
        recording
    };
    let v = of(500).verdict("device-errors");
    found(&v);
    assert!(v.evidence[0].sentence().contains("3 commands had been in sda for 500 ms or more"), "{v:?}");
    assert!(rejected(&of(500).verdict("device-busy")).contains("no driver requeued a request"));
    assert!(rejected(&of(499).verdict("device-errors")).contains("none was aborted"));
    found(&of(499).verdict("device-busy"));
}

const READ: Kind = Kind::Call(Call::Read);

/// Three reads of 100 ms, so many of which are such requests; beside them one that failed at once.
fn of_three(such: usize, change: fn(&mut Request)) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    recording.failed_read(900 * MS, 900 * MS, 900 * MS + 10);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    for i in 0..3 {
        built.on_disk(READ, 100_000, |read| {
            if i < such {
                change(read)
            }
        });
    }
    built.verdict("device-errors")
}

/// Fast errors take no time and are reported all the same.
#[test]
fn what_failed_requests_took_is_claimed() {
    for change in [|r: &mut Request| r.error = 5, |r: &mut Request| r.time.given_up = 1] {
        let v = of_three(3, change);
        assert!(found(&v) > 0.95, "{v:?}");
        let v = of_three(1, change);
        assert!(
            (found(&v) - 0.33).abs() < 0.02 && says(&v, "33 % of the time that the slowest reads sampled"),
            "{v:?}"
        );
    }
    let v = of_three(0, |_| ());
    assert!(found(&v) == 0.0 && !says(&v, "sampled"), "{v:?}");
    assert!(
        says(&v, "1 of 301 requests on sda ended with an error") && !says(&v, "commands had been in"),
        "{v:?}"
    );
}

/// Devices that do not support discards refuse them.
#[test]
fn a_refused_discard_harms_nobody() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    recording.failed_discard(900 * MS, 901 * MS);
    rejected(&recording.verdict("device-errors"));
}
