//! The tables that come from `samples.jsonl`.

use evidence::Samples;
use explain::{Explanation, Subject};
use report::{tables, tables_json, tables_text, Selection};
use stats::{Details, Facts};

const SAMPLES: &str = r#"
{"mono_ns": 1000000000, "disks": {"vda": [0,0,0,0, 0,0,0,0, 0,0,0, 0,0,0,0, 0,0], "sdb": [9,0,0,0, 0,0,0,0, 0,0,0]}, "cpus": {"cpu": [0,0,0,0,0,0,0,0], "cpu0": [0,0,0,0,0,0,0,0], "cpu1": [0,0,0,0,0,0,0,0]}, "pressure": {"io": {"some": 0, "full": 0}}}
{"mono_ns": 2000000000, "disks": {"vda": [812,0,6496,974, 4,12,4096,100, 1,971,1074, 0,0,0,0, 2,9], "sdb": [9,0,0,0, 0,0,0,0, 0,0,0]}, "cpus": {"cpu": [20,0,30,100,40,4,6,0], "cpu0": [20,0,30,0,40,4,6,0], "cpu1": [0,0,0,100,0,0,0,0]}, "running": 2, "blocked": 7, "memory": {"Dirty": 1048576, "Writeback": 4096}, "pressure": {"io": {"some": 500000, "full": 250000}}}
{"mono_ns": 4000000000, "disks": {"vda": [812,0,6496,974, 4,12,4096,100, 1,2971,3074, 0,0,0,0, 2,9], "sdb": [9,0,0,0, 0,0,0,0, 0,0,0]}, "cpus": {}, "running": 1}
"#;

fn explained(samples: &str) -> Explanation {
    let subject =
        Subject { samples: Samples::from_reader(samples.as_bytes()).unwrap(), ..Subject::default() };
    Explanation::new(subject, Facts::of(&[]))
}

#[test]
fn three_tables() {
    let e = explained(SAMPLES);
    let wanted = Selection {
        tables: ["iostat", "cpu", "pressure"].map(String::from).to_vec(),
        ..Selection::default()
    };
    let made = tables(&e, &Details::default(), &wanted).unwrap();
    let want = "\
iostat: what iostat -x shows: r/s rkB/s rrqm/s %rrqm r_await rareq-sz, the same of w, d and f, aqu-sz %util
 device  from s  op           /s    data/s  rqm/s  %rqm   await  areq-sz  aqu-sz  %util
 vda        0.0  read        812  3.17 MiB    0.0   0 %  1.2 ms    4 KiB     1.1   97 %
            0.0  write       4.0     2 MiB   12.0  75 %   25 ms  512 KiB
            0.0  flush       2.0                         4.5 ms
            1.0  none ended                                                  1.0  100 %
 seconds without a sample, so that numbers beside them are over a longer time: 1

cpu: use of all processors, and how busy the busiest was
 from s  user  nice  system    irq  iowait  steal  idle  busiest  of it
    0.0  10 %   0 %    15 %  5.0 %    20 %    0 %  50 %  cpu0      60 %

pressure: tasks and dirty pages at the end of each interval, and the part of it in which some or all tasks were stalled
 from s  running  blocked  dirty  writeback  io some  io full
    0.0        2        7  1 MiB      4 KiB     50 %     25 %
    1.0        1        0
";
    let text = tables_text(&made);
    assert_eq!(text, want, "\n{text}");
    let json = serde_json::to_value(tables_json(&e, &made)).unwrap();
    assert_eq!(json["tables"]["iostat"][1]["merged_share"], 0.75);
    assert_eq!(json["tables"]["iostat"][0]["await_ns"], 1_199_507);
}

#[test]
fn nothing_without_samples() {
    let e = explained("");
    let wanted = Selection { tables: vec!["iostat".into(), "cpu".into()], ..Selection::default() };
    assert!(tables(&e, &Details::default(), &wanted).unwrap().is_empty());
}
