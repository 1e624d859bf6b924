//! What requests take alone is known of the first ones, too, where only later ones show it.

use explain::Input;
use std::fmt::Write;
use trace::Nanos;

/// Reads of 0.6 ms: 300 times two side by side, then a hundred alone.
fn side_by_side_then_alone() -> String {
    let mut events = Vec::new();
    let mut read = |sector: u64, at: u64| {
        for (step, us, tid) in [("Q", 0, 100), ("G", 1, 100), ("I", 2, 100), ("D", 3, 100), ("C", 603, 0)] {
            let who = if tid == 0 { "0" } else { "java" };
            events.push((at + us, format!("{tid} {step} R {sector} + 8 [{who}]")));
        }
    };
    for i in 0..300 {
        read(i * 8000, i * 2000);
        read(i * 8000 + 4_000_000, i * 2000 + 10);
    }
    (300..400).for_each(|i| read(i * 8000, i * 2000));
    events.sort_by_key(|(us, _)| *us);
    let mut text = String::new();
    for (number, (us, event)) in events.iter().enumerate() {
        let _ = writeln!(text, "8,0 0 {number} {}.{:06}000 {event}", us / 1_000_000, us % 1_000_000);
    }
    text
}

#[test]
fn the_first_requests_are_split_by_what_later_ones_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, side_by_side_then_alone()).unwrap();
    let group = |e: &explain::Explanation| e.focus.groups[0].clone();
    let whole = group(&Input::recording(&path).unwrap().explain().unwrap());
    assert_eq!((whole.operations, whole.unknown), (700, Nanos(0)));
    assert!(whole.lost < Nanos(100 * 700 * 1000), "served side by side, none waits: {:?}", whole.lost);
    // Of the beginning alone nothing shows what one takes.
    let window = events::Window::parse("0:0.5").ok();
    assert!(window.is_some());
    let begun = group(&Input::recording(&path).unwrap().window(window).explain().unwrap());
    assert!(begun.is_mostly_unknown(), "{begun:?}");
}
