//! The tables of `iowhy report`, of a small hand-made trace whose numbers can be checked by eye.

use explain::{Explanation, Subject};
use report::{tables, tables_json, tables_text, Selection};
use stats::{Details, Facts};
use testkit::{golden, Script};
use trace::Quality;

/// Four reads one after the other, of which the last is slow; two writes that are merged; a write with a flush before and
/// one after; a bio that is split; a request that the driver gives back.
fn script() -> Script {
    Script::of(
        "0      name fio tid=7
         0      name jbd2/vda-8 tid=8
         0      name kworker/u8:1 tid=9
         0      Q R 64+8 tid=7
         1      G R 64+8 tid=7
         2      I R 64+8 tid=7
         4      D R 64+8 tid=7
         104    C R 64+8
         1000   Q R 128+8 tid=7
         1001   G R 128+8 tid=7
         1002   I R 128+8 tid=7
         1004   D R 128+8 tid=7
         1104   C R 128+8
         2000   Q RM 192+8 tid=7
         2001   G RM 192+8 tid=7
         2002   I RM 192+8 tid=7
         2004   D RM 192+8 tid=7
         52004  C RM 192+8
         60000  P N tid=9
         60001  Q W 1000+8 tid=9
         60002  G W 1000+8 tid=9
         60003  Q W 1008+8 tid=9
         60004  M W 1008+8 tid=9
         60005  I W 1000+16 tid=9
         60010  U N 1 tid=9
         60012  D W 1000+16 tid=9
         60112  C W 1000+16
         70000  Q FWFS 5000+8 tid=8
         70001  G FWFS 5000+8 tid=8
         70002  D FN 0+0 tid=8
         72002  C FN 0+0
         72003  D WS 5000+8 tid=8
         72103  C WS 5000+8
         72104  D FN 0+0 tid=8
         75104  C FN 0+0
         75105  C WS 5000+0
         80000  Q W 8000+16 tid=9
         80001  X W 8000+16 / 8008 tid=9
         80002  G W 8000+8 tid=9
         80003  D W 8000+8 tid=9
         80004  G W 8008+8 tid=9
         80005  D W 8008+8 tid=9
         80105  C W 8000+8
         80205  C W 8008+8
         90000  m cgroup 17 throttled
         90001  Q R 9000+8 tid=7
         90002  G R 9000+8 tid=7
         90003  D R 9000+8 tid=7
         90010  R R 9000+8 tid=7
         94010  D R 9000+8 tid=7
         94110  C R 9000+8",
    )
    // The main device of many virtual machines; btt takes it for one of dm.
    .on(trace::DevId::new(254, 0))
}

fn explained() -> (Explanation, Details) {
    let batches = script().batches(7);
    let mut details = Details::default();
    batches.iter().for_each(|b| details.feed(b));
    details.finish();
    let mut quality = Quality { events: script().told.len() as u64, ..Quality::default() };
    quality.lose(trace::DevId::new(254, 0), trace::Cpu(1), trace::Nanos(0), 5);
    let subject = Subject {
        sources: vec!["blktrace".into()],
        file_names: vec![(trace::DevId::new(254, 0), "vda".into())],
        quality,
        ..Subject::default()
    };
    (Explanation::new(subject, Facts::of(&batches)), details)
}

fn wanted(names: &[&str]) -> Selection {
    Selection { tables: names.iter().map(|n| n.to_string()).collect(), ..Selection::default() }
}

#[test]
fn all_tables() {
    let (e, details) = explained();
    let text = tables_text(&tables(&e, &details, &Selection::default()).unwrap());
    for line in text.lines() {
        assert!(line.is_ascii() && line.len() <= 110, "too wide or not plain: {line}");
    }
    golden(env!("CARGO_MANIFEST_DIR"), "tables.txt", &text);
}

#[test]
fn json_has_the_same_numbers_raw() {
    let (e, details) = explained();
    let made = tables(&e, &details, &Selection::default()).unwrap();
    let json = serde_json::to_value(tables_json(&e, &made)).unwrap();
    assert_eq!(json["schema"], "iowhy.report/1");
    assert_eq!(json["capture"]["devices"][0], "vda");
    let row = |table: &str, key: &str, value: &str| -> serde_json::Value {
        let rows = json["tables"][table].as_array().unwrap_or_else(|| panic!("no table {table}"));
        let found = rows.iter().find(|r| r[key] == value);
        found.unwrap_or_else(|| panic!("{table}: no row whose {key} is {value}")).clone()
    };
    // 4 reads, the merged write, the write with flushes, 2 pieces of the split bio, 2 flushes.
    assert_eq!(row("device", "phase", "d2c")["count"], 10);
    assert_eq!(row("device", "phase", "d2c")["max_ns"], 50_000_000);
    assert_eq!(row("device", "phase", "q2m")["max_ns"], 1_000);
    assert_eq!(row("device", "phase", "m2d")["max_ns"], 8_000);
    assert_eq!(row("op", "op", "flush")["requests"], 2);
    assert_eq!(row("op", "op", "read")["requeues"], 1);
    assert_eq!(row("op", "op", "read")["bytes"], 4 * 4096);
    assert_eq!(row("flags", "flags", "meta")["requests"], 1);
    assert_eq!(row("merges", "device", "vda")["splits"], 1);
    assert_eq!(row("merges", "device", "vda")["size_total_bytes"], (4 + 2 + 1 + 2 + 1) * 4096);
    assert_eq!(row("plugs", "task", "kworker")["held_max_ns"], 10_000);
    assert_eq!(row("activity", "device", "vda")["active_max_ns"], 50_000_000);
    assert_eq!(row("losses", "device", "vda")["events"], 5);
    assert_eq!(row("messages", "device", "vda")["message"], "cgroup N throttled");
    let parts = row("overhead", "class", "all");
    let sum: f64 = ["q2g", "g2i", "i2d", "d2c", "other"].iter().map(|k| parts[k].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

/// Two pieces of a bio of 12 KiB are served, and then the recording ends; a piece of another was in flight when it began.
#[test]
fn what_is_served_of_bios_that_are_not_over_is_told_apart() {
    let script = Script::of(
        "0    name cp tid=7
         10   D W 500+8 tid=7
         20   C W 500+8
         100  Q R 64+8 tid=7
         101  G R 64+8 tid=7
         102  D R 64+8 tid=7
         110  C R 64+8
         200  Q W 1000+24 tid=7
         201  X W 1000+24 / 1008 tid=7
         202  G W 1000+8 tid=7
         203  D W 1000+8 tid=7
         204  X W 1008+16 / 1016 tid=7
         300  C W 1000+8
         400  G W 1008+8 tid=7
         401  D W 1008+8 tid=7
         900  C W 1008+8",
    )
    .on(trace::DevId::new(8, 0));
    let e = Explanation::new(Subject::default(), Facts::of(&script.batches(3)));
    let told = |s: &Selection| tables(&e, &Details::default(), s).unwrap();
    let totals = told(&wanted(&["totals"]));
    let json = serde_json::to_value(tables_json(&e, &totals)).unwrap();
    let write = json["tables"]["totals"].as_array().unwrap().iter().find(|r| r["op"] == "write").unwrap();
    assert_eq!((&write["bios"], &write["bios_bytes"], &write["requests"]), (&0.into(), &0.into(), &3.into()));
    // All that requests served is somebody's: of bios that are over, of one that is not, and of one that nobody saw begin.
    assert_eq!(write["unfinished_bios"], 1);
    assert_eq!(
        (&write["unfinished_bytes"], &write["unfinished_served_bytes"]),
        (&12288.into(), &8192.into())
    );
    assert_eq!((&write["requests_without_bio"], &write["requests_bytes"]), (&1.into(), &12288.into()));
    let text = tables_text(&totals);
    assert!(
        text.contains("sda write: also 1 bio of 12 KiB unfinished at the end; 8 KiB of that was served"),
        "{text}"
    );
    assert!(text.contains("sda write: 1 request of bios that are not seen to begin"), "{text}");
    let text = tables_text(&told(&wanted(&["device"])));
    assert!(text.contains("requests are also those of 1 bio of 12 KiB not over at the end"), "{text}");
    // Of some tasks it is not known.
    let cp = Selection { tasks: vec!["cp".into()], ..Selection::default() };
    assert!(!tables_text(&told(&cp)).contains("not over at the end"));
}

#[test]
fn what_passes_bios_on_has_no_requests() {
    let text = "0 Q R 64+8 tid=7\n5 C R 64+8 tid=7\n10 Q R 96+8 tid=7\n15 C R 96+8 tid=7";
    let script = Script::of(text).on(trace::DevId::new(9, 0));
    let e = Explanation::new(Subject::default(), Facts::of(&script.batches(9)));
    let totals = tables(&e, &Details::default(), &wanted(&["totals"])).unwrap();
    let row = &serde_json::to_value(tables_json(&e, &totals)).unwrap()["tables"]["totals"][0];
    assert_eq!((&row["bios"], &row["requests"], &row["requests_bytes"]), (&2.into(), &().into(), &().into()));
    assert!(tables_text(&totals).contains("devices without requests (md, dm)"), "{}", tables_text(&totals));
}

#[test]
fn tables_devices_and_tasks_can_be_chosen() {
    let (e, details) = explained();
    let names = |s: &Selection| -> Vec<&str> {
        tables(&e, &details, s).unwrap().iter().map(|t| t.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&wanted(&["seeks", "plugs"])), ["seeks", "plugs"]);
    let fio = Selection { tasks: vec!["fio".into()], ..Selection::default() };
    assert_eq!(names(&fio), ["blame", "costs", "task", "op", "flags", "size"]);
    let refused = |s: Selection| tables(&e, &details, &s).unwrap_err();
    assert!(
        refused(wanted(&["seek"])).contains("seek")
            && refused(wanted(&["seek"])).contains("totals, blame, costs, device")
    );
    let both = Selection { tasks: vec!["fio".into()], ..wanted(&["seeks"]) };
    assert!(refused(both).starts_with("seeks cannot be filtered by task; these can: blame, costs, task, op"));
}
