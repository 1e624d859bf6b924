use super::*;
use crate::output::words::words;

fn rows(text: &str) -> Vec<(String, Vec<(String, f64)>)> {
    let words = words(text);
    let found = (0..words.len()).find_map(|i| IostatText.read(&words[i..]));
    let rows = found.and_then(|f| f.reading).map_or(vec![], |r| r.rows);
    rows.into_iter()
        .map(|r| (r.of, r.values.iter().map(|(n, v)| (n.to_owned(), v.value)).collect()))
        .collect()
}

fn value(rows: &[(String, Vec<(String, f64)>)], of: &str, name: &str) -> Option<f64> {
    rows.iter().find(|r| r.0 == of)?.1.iter().find(|v| v.0 == name).map(|v| v.1)
}

/// Whatever words precede the table (`(8 CPU)`), each row has its own device.
#[test]
fn the_device_may_stand_last() {
    let all = rows(
        "Linux 6.1.0 (h) _x86_64_ (8 CPU)\n\n  r/s  rkB/s  %util Device\n 1.00  10.00  1.10 ata-X_1\n \
        2.00  20.00  2.20 Backup\n",
    );
    assert_eq!(value(&all, "ata-X_1", "r/s"), Some(1.0));
    assert_eq!(value(&all, "Backup", "util"), Some(0.022));
    assert_eq!(all.len(), 2);
    // A second table does not extend the first, even with the same number of columns.
    let two =
        "r/s rkB/s r_await Device\n1.00 10.00 0.50 sda\n\nw/s wkB/s w_await Device\n3.00 30.00 2.50 sda\n";
    assert_eq!(rows(two).len(), 1);
    let idle = "Device r/s w/s %util\nsda 0.00 0.00 0.00\n\n".repeat(4);
    let output = crate::output::ToolOutput::read("log", idle.as_bytes());
    assert_eq!((output.runs[0].readings.len(), output.repeated, output.understood), (4, 0, output.words));
}

/// Hundreds of equal idle intervals are not quotes, even within a quoted mail.
#[test]
fn identical_intervals_are_all_read() {
    let idle = "Device r/s w/s %util\nsda 0.00 0.00 0.00\n\n".repeat(839);
    let quoted: String = idle.lines().map(|line| format!("> {line}\n")).collect();
    for text in [idle, quoted] {
        let output = crate::output::ToolOutput::read("log", text.as_bytes());
        let readings: usize = output.runs.iter().map(|run| run.readings.len()).sum();
        assert_eq!((readings, output.repeated, output.understood), (839, 0, output.words));
    }
}

#[test]
fn a_column_that_is_not_known_shifts_none() {
    let all = rows(
        "Device r/s rkB/s z/s zkB/s\nz_await aqu-sz %util\nsda 10.00 40.00 0.10 0.20\n0.30 24.43 47.65\n",
    );
    assert_eq!(value(&all, "sda", "util").map(|v| (v * 1e4).round()), Some(4765.0));
    assert_eq!(value(&all, "sda", "queue"), Some(24.43));
    // From a patched version, whose columns have ordinary words as names.
    let patched = "Device r/s w/s rMB/s avgrqkb avgqu-sz await %util conc\nsda 21700 0 84.50 4.00 47.50 2.25 99.50 474.00\n";
    let all = rows(patched);
    assert_eq!((value(&all, "sda", "queue"), value(&all, "sda", "util")), (Some(47.5), Some(0.995)));
    assert!(rows(&patched.replace(" 474.00", "")).is_empty());
}

#[test]
fn remarks_and_times_end_no_table() {
    let all = rows(
        "Device: r/s w/s %util\nsda 1 2 3\nsdb 4 5 6 <--- this one\n...\n10:11:12 sdc 7 8 9\n\
        2026-01-02 10:11:12 PM sdd 10 11 12\n** sde 13 14 15\nthen it was slow\n",
    );
    let names: Vec<&str> = all.iter().map(|r| r.0.as_str()).collect();
    assert_eq!(names, ["sda", "sdb", "sdc", "sdd", "sde"]);
    assert_eq!(value(&all, "sde", "w/s"), Some(14.0));
    let all = rows(
        "> Device: r/s w/s %util\n> sda 1 2 3\n> ...\n> [snip: twenty disks here that all look the same as the first, none is busy]\n> \
        sdx <SUSPECT> 4 5 6\n> *sdy 7 8 9 <<< ok again\n> `sdz` 10 11 12\n",
    );
    let names: Vec<&str> = all.iter().map(|r| r.0.as_str()).collect();
    assert_eq!(names, ["sda", "sdx", "sdy", "sdz"]);
    assert_eq!((value(&all, "sdx", "w/s"), value(&all, "sdy", "r/s")), (Some(5.0), Some(7.0)));
}

#[test]
fn a_counter_that_went_back_is_named_and_its_row_read() {
    let text = "Device r/s %rrqm r_await %util\nsdc 1.00 0.00 2.00 3.00\nsde 10.10 182.32 -12.10 99.20\n";
    let output = crate::output::ToolOutput::read("text", text.as_bytes());
    let row = output.runs[0].readings[0].row("sde").unwrap();
    assert_eq!((row.value("r/s"), row.get("r_await"), row.get("%rrqm")), (Some(10.1), None, None));
    let names: Vec<&str> = output.doubts.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["%rrqm", "r_await"]);
}

#[test]
fn short_human_and_markdown_tables_are_read() {
    let all = rows("Device tps kB_read/s kB_w+d/s kB_read kB_w+d\nsda 8.59 222.1k 57.1k 1.5G 400.9M\n");
    assert_eq!(value(&all, "sda", "rbytes/s"), Some(222.1 * 1024.0));
    let all = rows("Device r/s rkB/s %util\nsda 1.5k 6.0k 50.0%\n");
    assert_eq!((value(&all, "sda", "r/s"), value(&all, "sda", "rbytes/s")), (Some(1500.0), Some(6144.0)));
    let all = rows("| Device | r/s | w/s | %util |\n|---|---|---|---|\n| sda | 1 | **2** | 99.9 |\n| sdb | 3 | 4 | 5 |\n");
    assert_eq!((value(&all, "sda", "w/s"), value(&all, "sdb", "w/s")), (Some(2.0), Some(4.0)));
}

#[test]
fn sar_has_a_time_before_each_row() {
    let text = "12:00:01 AM DEV tps rd_sec/s wr_sec/s avgrq-sz avgqu-sz await svctm %util\n\
        12:10:01 AM dev8-0 10.00 0.00 80.00 8.00 0.02 2.00 1.00 1.00\n12:10:01 AM sdb 1.00 0.00 8.00 8.00 5.02 900.00 9.00 99.00\n\
        Average: sdb 1.00 0.00 8.00 8.00 5.02 900.00 9.00 99.00\nDurchschn.: sdc 1.00 0.00 8.00 8.00 5.02 900.00 9.00 99.00\n";
    let reading = crate::tool::testing::one(text, "sar");
    let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
    assert_eq!(names, ["dev8-0", "sdb", "sdc"]);
    assert_eq!(
        (reading.rows[0].value("wbytes/s"), reading.rows[1].value("await")),
        (Some(40960.0), Some(9e8))
    );
}

#[test]
fn pretty_sar_has_a_time_before_and_the_device_behind() {
    let text = "19:39:14          tps     rkB/s     await     %util DEV\n19:39:15         0.00      0.00      0.00      0.00 loop0\n\
        19:39:15        48.00      4.00      0.10      1.20 vda\n\nAverage:          tps     rkB/s     await     %util DEV\nAverage:        38.50      2.00      0.14      0.60 vda\n";
    let all = crate::tool::testing::all(text, "sar");
    let told = |r: &Reading| (r.name.clone(), r.row("vda").and_then(|row| row.value("tps")));
    let expected = [("", 48.0), ("average", 38.5)].map(|(name, tps)| (name.to_owned(), Some(tps)));
    assert_eq!(all.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(crate::tool::testing::all(text, "iostat"), []);
}

/// Six percentages in any language that add up to 100; other counts or sums are rejected.
#[test]
fn processors_are_read_in_any_language() {
    let text = |heads: &str, numbers: &str| rows(&format!("cpu-moy:  {heads}\n  {numbers}\n"));
    let heads = "%utilis  %gentil %système %attente-es  %volé   %inactif";
    let all = text(heads, "3,02    0,00    1,51   45,23    0,00   50,24");
    assert_eq!((value(&all, "cpu", "iowait"), value(&all, "cpu", "idle")), (Some(0.4523), Some(0.5024)));
    assert_eq!(text(heads, "3,02 0,00 1,51 45,23 0,00 20,24"), []);
    assert_eq!(text("%usr %sys %wio %idle", "1.00 2.00 3.00 94.00"), []);
}

#[test]
fn processors_are_read_with_any_colon() {
    let all = rows("avg-cpu:%user %nice %system %iowait %steal %idle\n 1 2 3 76 0 18\n");
    assert_eq!(value(&all, "cpu", "iowait"), Some(0.76));
    let numbered = "     5\tavg-cpu:  %user   %nice %system %iowait  %steal   %idle\n     6\t           3.02    0.00    1.51   45.23    0.00   50.24\n";
    assert_eq!(rows(numbered), []);
}

#[test]
fn a_mark_before_a_row_is_no_part_of_it() {
    let rows_of = |mark: &str| {
        rows(&format!(
            "Device r/s w/s %util\nnvme0n1 1.00 2.00 3.00\n{mark} nvme1n1 5.00 6.00 70.00\nnvme2n1 1.00 2.00 3.00\n"
        ))
    };
    for mark in ["<HOT>", "-->", "*", "+", "=>"] {
        let all = rows_of(mark);
        assert_eq!((all.len(), value(&all, "nvme1n1", "r/s")), (3, Some(5.0)), "{mark}");
    }
}
