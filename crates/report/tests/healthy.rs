//! What the screen says where nothing was slow.

use explain::{Explanation, Subject};
use report::{render, Style};
use stats::Facts;
use testkit::Script;
use trace::Quality;

/// Two hundred reads of 200 us, one every `every` us.
fn reads(every: u64) -> String {
    let read = |i: u64| {
        let (at, sector) = (i * every, 64 + 8 * 1000 * i);
        let event = |us: u64, action: char| format!("{} {action} R {sector}+8 tid=7\n", at + us);
        [event(0, 'Q'), event(1, 'G'), event(2, 'D'), event(200, 'C')]
    };
    let mut lines: Vec<String> = (0..200).flat_map(read).collect();
    lines.sort_by_key(|line| line.split(' ').next().and_then(|at| at.parse::<u64>().ok()));
    let script = Script::of(&format!("0 name dd tid=7\n{}", lines.concat()));
    let quality = Quality { events: script.told.len() as u64, ..Quality::default() };
    let e = Explanation::new(Subject { quality, ..Subject::default() }, Facts::of(&script.batches(100)));
    render(&e, Style::default())
}

#[test]
fn a_task_that_does_little_else_than_wait_for_one_read_at_a_time_is_told_so() {
    let busy = reads(210);
    assert!(busy.starts_with("Nothing was slow") && busy.contains("one request at a time"), "{busy}");
    // Less than half of the time; two at a time.
    let (seldom, pairs) = (reads(500), reads(110));
    assert!(!seldom.contains("at a time"), "{seldom}");
    assert!(!pairs.contains("at a time"), "{pairs}");
}
