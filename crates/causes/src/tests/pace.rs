//! Causes about a device's pace: limits, sleep, discards.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

/// Eight reads are there at all times, the n-th completed at `done(n)` us; before that some that took `own` us alone.
fn held(own: u64, done: impl Fn(u64) -> u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..40 {
        recording.read(i * 20_000, i * 20_000, i * 20_000 + own);
    }
    let begin = 1_000_000;
    for i in 0..400u64 {
        let (issued, done) = (begin + done(i), begin + done(i + 8));
        recording.read(issued, issued, done);
    }
    recording
}

#[test]
fn a_rate_limit_is_even_and_below_it_requests_are_fast() {
    let v = held(300, |n| n * 2000).verdict("rate-limit");
    assert!(found(&v) > 0.7, "{v:?}");
    assert!(v.evidence[0].sentence().contains("500 a second"), "{v:?}");
    // Nothing is faster than the pace: then it is the device.
    assert!(rejected(&held(1100, |n| n * 2000).verdict("rate-limit")).contains("no request was much faster"));
    found(&held(900, |n| n * 2000).verdict("rate-limit"));
    // Every other one is seen late, but no later in the long run.
    let late = held(300, |n| n * 2000 + n % 2 * 1500).verdict("rate-limit");
    assert!(found(&late) > 0.7, "{late:?}");
    assert!(
        late.evidence[0].sentence().contains("16 in a row took 32 ms")
            && late.evidence[0].sentence().contains("500 a second"),
        "{late:?}"
    );
    // Fast for a while, then slow for a while.
    let uneven = held(300, |n| n * 2000 + (n % 64).abs_diff(32) * 1500).verdict("rate-limit");
    assert!(rejected(&uneven).contains("not evenly spaced"), "{uneven:?}");
}

/// A limit lets a request through at each tick: what passes without any for seconds is not its.
#[test]
fn a_device_that_hangs_is_not_held_back_by_the_limit_it_has_otherwise() {
    let mut built = OpBuilder::default();
    built.over(held(300, |n| n * 2000)).quick(Kind::Call(Call::Read), 297);
    let hung = device::Split { known: true, paused: Nanos(2_000_000_000), ..device::Split::default() };
    (0..3).for_each(|_| {
        built.inside(Kind::Call(Call::Read), hung);
    });
    assert!(!is_found(&built.verdict("rate-limit")));
}

#[test]
fn a_pace_of_reads_says_nothing_of_a_few_writes() {
    let mut recording = held(1100, |n| n * 2000);
    for i in 0..5 {
        recording.sync_write(1_100_000 + i * 100_000, 1_100_000 + i * 100_000, 1_130_000 + i * 100_000);
    }
    let v = recording.verdict("rate-limit");
    rejected(&v);
    let mut only_writes = TraceBuilder::default();
    for i in 0..5 {
        only_writes.sync_write(i * 100_000, i * 100_000, i * 100_000 + 30_000);
    }
    rejected(&only_writes.verdict("rate-limit"));
    // Of 53 writes the fastest are fast, which is not enough to say how fast the device is.
    let mut few = held(1100, |n| n * 2000);
    for i in 0..50 {
        few.sync_write(850_000 + i * 1000, 850_000 + i * 1000, 850_300 + i * 1000);
    }
    for i in 0..3 {
        few.sync_write(1_100_000 + i * 100_000, 1_100_000 + i * 100_000, 1_400_000 + i * 100_000);
    }
    rejected(&few.verdict("rate-limit"));
}

#[test]
fn too_few_completions_are_no_pace() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 100);
    for i in 0..3 {
        recording.read((1000 + i) * MS, (1000 + i) * MS, (1100 + i) * MS);
    }
    assert!(rejected(&recording.verdict("rate-limit")).contains("with others queued"));
}

/// So many reads of 0.3 ms alone, then so many of which eight are there at all times: completions come apart as these gaps say,
/// again and again.
fn paced(alone: u64, count: usize, gaps: &[u64]) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..alone {
        recording.read(i * 20_000, i * 20_000, i * 20_000 + 300);
    }
    let completed = gaps.iter().cycle().scan(2_002_000, |at, gap| Some(std::mem::replace(at, *at + gap)));
    let done: Vec<u64> = [2_000_000; 8].into_iter().chain(completed).take(count + 8).collect();
    for i in 0..count {
        recording.read(done[i], done[i], done[i + 8]);
    }
    recording.verdict("rate-limit")
}

#[test]
fn a_hundred_gaps_or_twelve_runs_of_them_are_a_pace() {
    assert!(is_found(&paced(40, 101, &[2000])));
    assert!(rejected(&paced(40, 100, &[2000])).contains("with others queued are too few to judge"));
    // Uneven by themselves, and even over sixteen.
    assert!(is_found(&paced(40, 193, &[500, 3500])));
    let v = paced(40, 192, &[500, 3500]);
    assert_eq!(
        rejected(&v),
        "completions of sda were 502 us apart (p25 502 us, p90 3.49 ms): not evenly spaced"
    );
}

/// So many of forty gaps are so long, one after the other, and the others 2 ms.
fn some(count: usize, gap: u64) -> Verdict {
    paced(40, 401, &[vec![gap; count], vec![2000; 40 - count]].concat())
}

#[test]
fn gaps_from_0_6_to_1_4_of_the_middle_one_are_even() {
    // Three of ten are shorter; two of ten may be a burst.
    assert!(!rejected(&some(12, 1250)).contains("not evenly spaced"));
    assert!(rejected(&some(12, 1150)).contains("not evenly spaced"));
    assert!(is_found(&some(8, 1150)));
    // Two of ten are longer; one of twenty may be anything; whole multiples may count as several.
    assert!(is_found(&some(8, 2750)));
    assert!(is_found(&some(1, 9000)));
    let uneven = |longer| some(8, longer).refutes[0].sentence().contains("not evenly spaced");
    assert!(uneven(2850) && uneven(4400) && !uneven(6100));
}

#[test]
fn half_of_the_turns_of_a_kind_within_a_tenth_keep_time() {
    assert!(is_found(&some(12, 1850)));
    assert!(rejected(&some(12, 1750)).contains("no request was much faster"));
}

/// Reads of 0.3 ms alone, then small writes that are done 2 ms apart with a read among them at times, which is done at once.
#[test]
fn what_does_not_keep_the_pace_of_all_says_nothing() {
    let of = |read_takes: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..300 {
            recording.read(i * 20_000, i * 20_000, i * 20_000 + 300);
        }
        for i in 0..400 {
            let at = 7_000_000 + i * 2000;
            recording.sync_write(at, at, at + 16_000);
            if i % 2 == 0 {
                recording.read(at + 100, at + 100, at + read_takes);
            }
        }
        recording.verdict("rate-limit")
    };
    rejected(&of(500));
}

/// Always eight small reads, done one after the other so far apart, on a device that turns or does not.
#[test]
fn flash_is_not_as_slow_and_as_even() {
    let of = |apart: u64, wobble: u64, turns: Option<&str>| {
        let mut recording = TraceBuilder::default();
        let done = |i: u64| i * apart + (i % 3) * wobble;
        for i in 0..300 {
            recording.read(done(i), done(i), done(i + 8));
        }
        if let Some(turns) = turns {
            recording.settings(&format!("sda/queue/rotational: {turns}\n"));
        }
        recording.verdict("rate-limit")
    };
    let v = of(1800, 0, Some("0"));
    assert!(found(&v) > 0.9 && says(&v, "flash does not take 1.8 ms for 4 KiB"), "{v:?}");
    rejected(&of(900, 0, Some("0")));
    rejected(&of(1800, 100, Some("0")));
    rejected(&of(1800, 0, Some("1")));
    rejected(&of(1800, 0, None));
}

/// Always eight reads of 256 or 512 KiB, done 4 ms apart, the larger ones so many us later, on flash.
#[test]
fn twice_the_bytes_at_the_same_pace_are_a_clocks() {
    let of = |larger: u64| {
        let mut recording = TraceBuilder::default();
        let done = |i: u64| 1000 + i * 4000 + i.div_ceil(2) * larger;
        for i in 0..400 {
            recording.large_read(done(i), done(i + 8), 256 << (i % 2));
        }
        recording.settings("sda/queue/rotational: 0\n");
        recording.verdict("rate-limit")
    };
    let v = of(0);
    assert!(found(&v) > 0.9 && says(&v, "requests of more than 256 KiB take no longer"), "{v:?}");
    // Their bytes cost time.
    rejected(&of(600));
}

/// Always eight reads of 32 or 512 KiB: after a burst of a few the others come 7 ms apart, each so many us later by chance, larger ones
/// also by their bytes.
#[test]
fn what_had_been_saved_up_passes_at_once_and_the_rest_by_the_clock() {
    let of = |burst: u64, chance: u64, larger: u64| {
        let mut recording = TraceBuilder::default();
        let mut at = 0;
        let mut done = vec![];
        for i in 0..600u64 {
            let late = (i * 7919) % 97 * chance / 97;
            at += if i % 20 < burst { 120 + i % 7 * 40 } else { 7000 + late + i % 2 * larger };
            done.push(at);
        }
        for i in 0..done.len() - 8 {
            recording.large_read(done[i], done[i + 8], 32 << (i % 2 * 4));
        }
        recording.verdict("rate-limit")
    };
    let v = of(6, 70, 0);
    assert!(found(&v) > 0.9 && says(&v, "size does not matter"), "{v:?}");
    // Most pass at once; chance; bytes that cost time.
    rejected(&of(14, 70, 0));
    rejected(&of(6, 3000, 0));
    rejected(&of(6, 70, 1500));
}

/// Ten runs of uneven gaps, so many of which take so much longer: in each gap of the eight short ones.
fn runs(longer: usize, by: u64) -> Verdict {
    let run = |gap: u64| [gap, 3500].repeat(8);
    paced(40, 1601, &[run(500 + by).repeat(longer), run(500).repeat(10 - longer)].concat())
}

#[test]
fn runs_within_three_parts_in_a_hundred_are_even() {
    // Four of ten are shorter, p30; three are longer, p80: by 2 % and 4 %.
    for longer in [6, 3] {
        assert!(is_found(&runs(longer, 80)), "{longer}");
        assert!(rejected(&runs(longer, 160)).contains("16 in a row took"), "{longer}");
    }
    // Two of ten shorter are a burst's, one longer is anything's.
    assert!(is_found(&runs(8, 160)) && is_found(&runs(1, 160)));
}

#[test]
fn two_of_a_hundred_are_what_is_fast_below_a_limit() {
    assert!(is_found(&paced(12, 401, &[2000])));
    assert!(rejected(&paced(6, 401, &[2000])).contains("no request was much faster than that"));
}

/// Reads of 10 ms, of which so many were in a device that takes 0.3 ms alone.
#[test]
fn a_tenth_beyond_what_it_takes_alone_is_the_threshold() {
    let of = |ms: u64| {
        let mut built = OpBuilder::default();
        built.quick(Kind::Call(Call::Read), 297);
        for _ in 0..3 {
            built.slow(Kind::Call(Call::Read), 10, &[(Wait::DirectIo, Reason::Device, ms)]);
        }
        built.over(held(300, |n| n * 2000)).verdict("rate-limit")
    };
    assert!((found(&of(2)) - 0.17).abs() < 0.01);
    assert!(rejected(&of(1)).contains("other causes explain all the time in devices"));
}

/// 200 writes, one after another: when each is issued after the last completion, and how long it takes, in us.
fn one_by_one(after: impl Fn(u64) -> u64, takes: impl Fn(u64) -> u64) -> Verdict {
    let (mut recording, mut now) = (TraceBuilder::default(), 0);
    for i in 0..200 {
        let issued = now + after(i);
        now = issued + takes(i);
        recording.sync_write(issued, issued, now);
    }
    recording.verdict("rate-limit")
}

/// A limit admits one every 4 ms, whenever it comes; a device takes as long for each, whenever that is.
#[test]
fn completions_by_the_clock_are_a_limits() {
    let later = |i: u64| 100 + i % 6 * 100;
    let v = one_by_one(later, |i| 4000 - later(i));
    assert!(found(&v) > 0.9 && says(&v, "250 a second"), "{v:?}");
    assert!(says(&v, "completions are evenly spaced, latencies vary"), "{v:?}");
    rejected(&one_by_one(later, |_| 3650));
    // One of so many comes right after, and takes 0.3 ms: a limit would not let it through.
    let takes = |every: u64, i: u64| if i % every == 1 { 300 } else { 4000 - later(i) };
    let breaks = |every: u64| one_by_one(later, |i| takes(every, i));
    assert_eq!([102, 36].map(|every| is_found(&breaks(every))), [true, false]);
}

/// Sent at once after the last completion to a device that takes as long for each, they come by its clock.
#[test]
fn requests_that_keep_time_themselves_prove_nothing() {
    rejected(&one_by_one(|i| 20 + i % 3 * 10, |i| 2080 - i % 3 * 10));
}

/// A question about time in a device says nothing if none is left.
#[test]
fn without_time_in_a_device_there_is_nothing_to_explain() {
    let of = |cause: &str, ms: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        super::paths::built(Kind::Call(Call::Read), Wait::DirectIo, Reason::Device, ms)
            .over(recording)
            .verdict(cause)
    };
    for (cause, otherwise) in [
        ("rate-limit", "with others queued are too few to judge"),
        ("power-state", "requests came after sda had been idle"),
        ("device-stall", "took up to 1 ms in sda"),
    ] {
        let v = of(cause, 9);
        assert!(rejected(&v).contains("other causes explain all the time in devices") && v.minor, "{v:?}");
        assert!(rejected(&of(cause, 11)).contains(otherwise), "{cause}");
    }
}

/// 200 reads 2 ms apart, then ten after a pause of 100 ms, each taking so long.
fn pauses(after_a_pause: u64) -> TraceBuilder {
    so_many_pauses(10, after_a_pause)
}

fn so_many_pauses(count: u64, after_a_pause: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..200 {
        recording.read(i * 2 * MS, i * 2 * MS, i * 2 * MS + MS);
    }
    for i in 0..count {
        let at = (1000 + 100 * i) * MS;
        recording.read(at, at, at + after_a_pause);
    }
    recording
}

#[test]
fn five_pauses_are_no_chance() {
    assert!(is_found(&so_many_pauses(5, 20 * MS).verdict("power-state")));
    assert!(rejected(&so_many_pauses(4, 20 * MS).verdict("power-state"))
        .ends_with("had been idle, and took no longer than others"));
}

/// As slow as ten after a pause are so many others, of two thousand.
#[test]
fn a_tenth_of_the_slowest_after_a_pause_is_the_threshold() {
    let of = |others: u64| {
        let mut recording = pauses(20 * MS);
        for i in 0..2000 {
            let at = (3000 + 2 * i) * MS;
            recording.read(at, at, at + MS);
        }
        // No pause is before these, nor do they come by the clock.
        let mut at = 7000 * MS;
        for i in 0..others {
            recording.read(at, at, at + 20 * MS + 10);
            at += (6 + 7 * (i % 3)) * MS;
        }
        recording.verdict("power-state")
    };
    // 10 of 80, less the twentieth that they take anyway; 10 of 120.
    assert!(is_found(&of(70)));
    assert!(rejected(&of(110)).contains("but those are only 8.3 % of the slowest"));
}

#[test]
fn a_step_after_a_pause_is_a_power_state() {
    let v = pauses(20 * MS).verdict("power-state");
    assert!(found(&v) > 0.8, "{v:?}");
    assert!(v.evidence[0].sentence().contains("idle for 80 ms or more a request took 20 ms"), "{v:?}");
    found(&pauses(2 * MS + 50).verdict("power-state"));
    rejected(&pauses(2 * MS - 50).verdict("power-state"));
}

/// Where a disk may turn, a read after a pause is as slow as those that seek without one. Flash has no seeks.
#[test]
fn a_seek_after_a_pause_is_no_power_state() {
    let of = |seek: u64, settings: &str| {
        let mut recording = TraceBuilder::default();
        recording.settings(settings);
        for i in 0..200 {
            recording.read_ahead(i * 2 * MS, i * 2 * MS + MS, 4, true);
        }
        for i in 0..20 {
            let at = 500 * MS + i * (seek + 10);
            recording.read(at, at, at + seek);
        }
        for i in 0..10 {
            let at = (2000 + 100 * i) * MS;
            recording.read(at, at, at + 20 * MS);
        }
        recording.verdict("power-state")
    };
    assert!(is_found(&of(5 * MS, "")), "{:?}", of(5 * MS, ""));
    rejected(&of(20 * MS, ""));
    assert!(
        is_found(&of(20 * MS, "sda/queue/rotational: 0\n")),
        "{:?}",
        of(20 * MS, "sda/queue/rotational: 0\n")
    );
}
