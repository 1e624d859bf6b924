//! What the sizes of requests say of a limit.

use super::*;

/// Eight requests are there at all times, every second one 32 times as large, one done each 2 ms, the large ones after `large` us
/// more, up to `varies` us earlier; none was ever alone.
fn of_two_sizes(large: u64, varies: u64) -> Story {
    let mut story = Story::default();
    for i in 0..400u64 {
        let at = |i: u64| 2000 + i * 2000 + i.div_ceil(2) * large - u64::from(i % 3 == 1) * varies;
        match i % 2 {
            0 => story.read(at(i), at(i), at(i + 8)),
            _ => story.large_read(at(i), at(i + 8), 512),
        };
    }
    story
}

#[test]
fn large_requests_that_keep_the_pace_of_small_ones_are_let_through_by_the_clock() {
    let v = of_two_sizes(0, 0).verdict("rate-limit");
    assert!(found(&v) > 0.9 && says(&v, "size does not matter"), "{v:?}");
    // A device that moves the bytes itself takes longer for more of them.
    rejected(&of_two_sizes(1000, 0).verdict("rate-limit"));
}

#[test]
fn a_disk_that_seeks_for_each_request_has_no_limit() {
    let on = |turns: &str| {
        let mut story = of_two_sizes(0, 600);
        story.settings(&format!("sda/queue/rotational: {turns}\n"));
        story.verdict("rate-limit")
    };
    assert!(found(&on("0")) > 0.9);
    rejected(&on("1"));
}
