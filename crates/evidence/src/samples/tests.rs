//! Samples that are complete, truncated, jumping in time, hostile, or joined.

use super::*;
use crate::iostat::Iostat;
use proptest::prelude::*;
use std::fmt::Write;

fn read(text: &str) -> Samples {
    Samples::from_reader(text.as_bytes()).unwrap()
}

/// A sample of one device with only a count of reads.
fn sample(second: u64, disks: &[(&str, [u64; 11])]) -> String {
    let disks: Vec<_> = disks.iter().map(|(name, n)| format!("{name:?}: {n:?}")).collect();
    format!("{{\"mono_ns\": {}, \"disks\": {{{}}}}}\n", second * 1_000_000_000, disks.join(", "))
}

fn reads(n: u64) -> [u64; 11] {
    [n, 0, 8 * n, n, 0, 0, 0, 0, n % 3, n, n]
}

#[test]
fn a_whole_one() {
    let s = read(
        "{\"mono_ns\": 1000000000, \"wall_ns\": 1, \"disks\": {\"vda\": [0,0,0,0, 0,0,0,0, 0,0,0, 0,0,0,0, 0,0]},
          \"cpus\": {\"cpu\": [10,0,10,100,0,0,0,0,5,5], \"cpu0\": [1]}, \"pressure\": {\"io\": {\"some\": 10, \"full\": 1}}}
{\"mono_ns\": 3000000000, \"new\": {}, \"disks\": {\"vda\": [200,50,1600,300, 10,30,800,90, 7,1500,400, 4,0,80,2, 2,9]},
          \"cpus\": {\"cpu\": [30,0,20,150,20,0,0,0,9,9], \"cpu0\": [1]}, \"running\": 3, \"blocked\": 2,
          \"memory\": {\"Dirty\": 4096}, \"pressure\": {\"io\": {\"some\": 1010, \"full\": 0}}}"
            .replace("\n          ", " ")
            .as_str(),
    );
    assert_eq!(s.quality, SampleQuality { samples: 2, missing_seconds: 1, joined: 1, ..Default::default() });
    let i = &s.intervals[0];
    assert_eq!((i.from, i.to), (Nanos::SECOND, Nanos(3_000_000_000)));
    let io = Iostat::from(&i.disks["vda"]);
    assert_eq!((io.read.per_s, io.read.kib_per_s, io.read.merged_per_s), (100.0, 400.0, 25.0));
    assert_eq!((io.read.merged_percent, io.read.await_ms, io.read.request_kib), (20.0, 1.5, 4.0));
    assert_eq!((io.write.merged_percent, io.write.await_ms), (75.0, 9.0));
    assert_eq!((io.discard.unwrap().per_s, io.flush.unwrap().await_ms), (2.0, 4.5));
    assert_eq!((io.queue, io.util_percent), (0.2, 75.0));
    let cpu = &i.cpus["cpu"];
    assert_eq!((cpu.total(), cpu.share(cpu.user), cpu.share(cpu.iowait)), (100, 0.2, 0.2));
    assert_eq!((i.running, i.blocked, i.dirty, i.writeback), (3, 2, Some(trace::Bytes(4096)), None));
    assert_eq!(i.stalled.io_some, Some(Nanos(1_000_000)));
    assert_eq!((i.stalled.io_full, i.stalled.cpu_some), (Some(Nanos(0)), None));
    assert_eq!(s.active_disks(), ["vda".into()]);
}

#[test]
fn caches_that_are_dropped_are_counted_where_the_kernel_was_asked() {
    let of = |seconds: &[&str]| {
        let lines = seconds.iter().enumerate();
        let text: String = lines
            .map(|(i, v)| format!("{{\"mono_ns\": {}, \"vmstat\": {{{v}}}}}\n", i * 1_000_000_000))
            .collect();
        read(&text).intervals.iter().map(|i| i.dropped).collect::<Vec<_>>()
    };
    let [none, page, both] = ["0", "1", "2"].map(|n| format!("\"drop_pagecache\": {n}, \"drop_slab\": {n}"));
    assert_eq!(of(&[&none, &none, &page, &both]), [Some(0), Some(1), Some(1)]);
    assert_eq!(of(&["\"drop_slab\": 4", "\"drop_slab\": 7"]), [Some(3)]);
    assert_eq!(of(&["", "\"drop_slab\": 7", ""]), [None, None]);
}

#[test]
fn what_came_went_and_began_anew() {
    let mut text = String::new();
    for (second, disks) in [
        (1, vec![("vda", reads(10)), ("loop0", reads(900))]),
        (2, vec![("vda", reads(20)), ("loop0", reads(5))]),
        (3, vec![("vda", reads(30)), ("sdb", reads(7))]),
        (3, vec![("vda", reads(35))]),
        (6, vec![("vda", reads(60)), ("sdb", reads(8))]),
    ] {
        text += &sample(second, &disks);
    }
    text += "no sample\n\n{\"mono_ns\": \"x\"}\n{\"disks\": {}}\n{\"mono_ns\": 70000";
    let s = read(&text);
    let told: Vec<_> =
        s.intervals.iter().map(|i| (i.to.0 / 1_000_000_000, i.disks.keys().join(" "))).collect();
    assert_eq!(told, [(2, "vda".into()), (3, "vda".into()), (6, "sdb vda".into())]);
    let q = &s.quality;
    assert_eq!((q.began_anew, q.appeared, q.vanished, q.backwards, q.missing_seconds), (1, 1, 1, 2, 2));
    assert_eq!((q.samples, q.unknown, q.cut), (6, 2, true));
    assert_eq!(q.first_unknown.as_ref().unwrap().to_string(), "samples.jsonl:6");
    assert_eq!(q.notes().len(), 7, "{:#?}", q.notes());
}

trait Join {
    fn join(self, with: &str) -> String;
}
impl<'a, I: Iterator<Item = &'a Arc<str>>> Join for I {
    fn join(self, with: &str) -> String {
        self.map(|s| s.to_string()).collect::<Vec<_>>().join(with)
    }
}

#[test]
fn hostile_lines_are_passed_over() {
    let good = sample(1, &[("vda", reads(1))]) + &sample(2, &[("vda", reads(2))]);
    let mut many = String::from("{\"mono_ns\": 3000000000, \"disks\": {");
    (0..20_000).for_each(|i| write!(many, "\"d{i}\": [],").unwrap());
    let many = many.trim_end_matches(',').to_string() + "}}\n";
    let long = format!("{{\"x\": \"{}\"}}\n", "y".repeat(5 << 20));
    let deep = "[".repeat(100_000) + "\n";
    let s = read(&(long + &deep + &good + &many + &sample(4, &[("vda", [u64::MAX; 11])])));
    assert_eq!((s.quality.samples, s.quality.unknown), (4, 2));
    assert_eq!(s.quality.left_out, 20_000 - 16_384);
    assert_eq!(s.intervals.len(), 3);
    let end = read(&(sample(1, &[("a", [0; 11])]) + &sample(2, &[("a", [u64::MAX; 11])])));
    let io = Iostat::from(&end.intervals[0].disks["a"]);
    assert!(io.queue.is_finite() && io.read.request_kib.is_finite());
}

#[test]
fn a_folder_a_file_in_it_and_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Samples::read(dir.path()).unwrap().is_none());
    std::fs::write(dir.path().join(SAMPLES_JSONL), sample(1, &[]) + &sample(2, &[])).unwrap();
    for path in [dir.path().to_path_buf(), dir.path().join("trace.dat"), dir.path().join(SAMPLES_JSONL)] {
        assert_eq!(Samples::read(&path).unwrap().unwrap().intervals.len(), 1);
    }
}

proptest! {
    /// However few intervals are kept, the sums are the same.
    #[test]
    fn joining_loses_only_resolution(steps in prop::collection::vec((1u64..3, 0u64..1000), 1..60), most in 1usize..40) {
        let mut joining = Joining::new(most);
        let (mut text, mut second, mut count) = (sample(1, &[("a", reads(0))]), 1, 0);
        for (seconds, n) in steps {
            (second, count) = (second + seconds, count + n);
            text += &sample(second, &[("a", reads(count))]);
        }
        let all = read(&text);
        all.intervals.iter().cloned().for_each(|i| joining.add(i));
        let few = joining.end();
        prop_assert!(few.intervals.len() <= most.max(2));
        let sum = |s: &Samples| s.intervals.iter().map(|i| i.disks["a"].reads.sectors).sum::<u64>();
        prop_assert_eq!((sum(&few), few.span()), (8 * count, all.span()));
        prop_assert!(few.intervals.windows(2).all(|w| w[0].to == w[1].from));
        prop_assert!(few.intervals.iter().all(|i| i.disks["a"].time == i.to.since(i.from)));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let s = Samples::from_reader(&bytes[..]).unwrap();
        prop_assert!(s.quality.samples <= 1000);
    }
}

#[test]
fn a_disk_hangs_that_has_requests_in_every_sample_and_completes_none() {
    let disk = |reads: u64, in_flight: u64| [reads, 0, 0, 0, 0, 0, 0, 0, in_flight, 0, 0];
    let hung_of = |blocked: u64, text: &str| {
        let text = text.replace("{\"mono_ns", &format!("{{\"blocked\": {blocked}, \"mono_ns"));
        read(&text).hung(Nanos::SECOND).len()
    };
    let hung_with = |blocked: u64, all: &[[u64; 11]]| {
        let samples = (1..).zip(all).map(|(second, n)| sample(second, &[("sda", *n)]));
        hung_of(blocked, &samples.collect::<String>())
    };
    let hung = |all: &[[u64; 11]]| hung_with(1, all);
    assert_eq!(hung(&[disk(7, 2), disk(7, 1), disk(7, 3)]), 1);
    assert_eq!(hung(&[disk(7, 2), disk(8, 1), disk(8, 3)]), 0, "it completed one");
    assert_eq!(hung(&[disk(7, 2), disk(7, 0), disk(7, 3)]), 0, "it had none");
    assert_eq!(hung(&[disk(7, 2)]), 0);
    assert_eq!(hung_with(0, &[disk(7, 2), disk(7, 1), disk(7, 3)]), 0, "nobody waits for it");
    let short = sample(1, &[("sda", disk(7, 1))])
        + &sample(1, &[("sda", disk(7, 1))]).replace("1000000000", "1900000000");
    assert_eq!(hung_of(1, &short), 0, "not for long enough");
}
