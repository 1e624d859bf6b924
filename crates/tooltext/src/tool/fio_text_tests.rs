//! Excerpts of fio's text, and the latency that is used.

use crate::output::ToolOutput;

fn read(text: &str) -> ToolOutput {
    ToolOutput::read("text", text.as_bytes())
}

#[test]
fn an_operations_line_alone_is_a_run_called_by_the_words_before_it() {
    let output = read(
        "before: read: IOPS=1500, BW=6000KiB/s (6144kB/s)(352MiB/60001msec)\n\
         after:  read: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(703MiB/60001msec)\n",
    );
    let iops: Vec<_> =
        output.runs.iter().flat_map(|r| r.of("fio")).filter_map(|r| r.row("read")?.value("iops")).collect();
    assert_eq!(iops, [1500.0, 3000.0]);
    assert_eq!(
        (output.runs.len(), output.runs[0].label.as_str(), output.runs[1].label.as_str()),
        (2, "before", "after")
    );
}

#[test]
fn a_job_without_its_head_and_latencies_alone_are_read() {
    let output = read(
        "/   read : io=1024.0MB, bw=34952KB/s, iops=8738, runt= 30000msec\n/     slat (usec): min=3, max=90, avg= 5.10, stdev= 1.10\n\
         /     clat (usec): min=40, max=9000, avg=110.20, stdev=11.00\n",
    );
    let row = output.runs[0].readings[0].row("read").unwrap().clone();
    assert_eq!((row.value("iops"), row.value("clat.max")), (Some(8738.0), Some(9e6)));
    let output = read("With the patch:\n    clat (msec): min=1, max=16800, avg=11.2, stdev=9.1\n");
    assert_eq!(output.runs[0].readings[0].rows[0].value("clat.max"), Some(16.8e9));
    let latencies = |mean: u32| {
        format!("slat (nsec): min=1, max=9, avg=2.0, stdev=1.0\n clat (usec): min=1, max=999, avg={mean}.5, stdev=9.1\n")
    };
    for between in ["after:\n", "\n", ""] {
        let output = read(&format!("before:\n{}{between}{}", latencies(81), latencies(61)));
        let means: Vec<_> =
            output.runs.iter().flat_map(|r| &r.readings).map(|r| r.rows[0].value("clat.mean")).collect();
        assert_eq!(means, [Some(81.5e3), Some(61.5e3)], "{between}");
    }
    let output = read("now\nREAD:  IOPS=2033k BW=8329MB/s\nWRITE: IOPS= 871k BW=3569MB/s\n");
    let iops: Vec<_> = output.runs[0]
        .readings
        .iter()
        .flat_map(|r| &r.rows)
        .filter_map(|r| Some((r.value("iops")?, r.value("bw")?)))
        .collect();
    assert_eq!(iops, [(2_033_000.0, 8329e6), (871_000.0, 3569e6)]);
    assert!(!read("read: io_uring is fast, clat (p99) is what I mean").has_readings());
}

#[test]
fn where_submitting_takes_long_the_total_counts() {
    let output = read(
        "w: (groupid=0, jobs=1): err= 0: pid=1: Wed Jun  5 10:00:00 2019\n\
         write: IOPS=228, BW=228MiB/s (240MB/s)(13.4GiB/60002msec)\n\
         slat (usec): min=102, max=61021, avg=3982.11, stdev=5012.30\n\
         clat (nsec): min=2010, max=229018, avg=4020.55, stdev=3100.20\n\
         lat (usec): min=107, max=61030, avg=3986.50, stdev=5013.10\n\
         clat percentiles (nsec):\n | 50.00th=[  3568], 99.00th=[ 11968]\n",
    );
    let row = output.runs[0].readings[0].row("write").unwrap();
    assert!(row.waits_to_submit());
    assert_eq!(row.latency("mean").map(|n| n.value), Some(3_986_500.0));
    assert_eq!((row.latency("p99"), row.value("clat.p99")), (None, Some(11_968.0)));
}

/// Each word is examined a bounded number of times.
#[test]
fn many_lines_of_latencies_are_as_many_readings() {
    let output = read(&"clat (usec): min=1, max=2, avg=1.5\n".repeat(4000));
    assert_eq!(output.runs.iter().map(|run| run.readings.len()).sum::<usize>(), 4000);
}

#[test]
fn thousands_have_separators_where_people_put_them() {
    let output = read(
        "write: IOPS=9,877, BW=38.6MiB/s (40.5MB/s)(2315MiB/60004msec)\n  clat (usec): min=901, max=90303, avg=3215.17, stdev=4000.21\n",
    );
    let row = output.runs[0].readings[0].row("write").unwrap();
    assert_eq!((row.value("iops"), row.value("runtime")), (Some(9877.0), Some(60_004e6)));
    assert_eq!((output.runs.len(), row.value("clat.max")), (1, Some(90_303e3)));
}

#[test]
fn a_groups_line_alone_has_its_size_and_time() {
    for line in [
        "WRITE: bw=455MiB/s (477MB/s), 455MiB/s-455MiB/s (477MB/s-477MB/s), io=26.5GiB (28.5GB), run=60001-60002msec",
        "WRITE: io=27136MB, aggrb=465920KB/s, minb=465920KB/s, maxb=465920KB/s, mint=60001msec, maxt=60002msec",
    ] {
        let output = read(&format!("ext4:\n {line}\nxfs:\n {line}\n").replacen("455MiB", "456MiB", 1));
        assert_eq!((output.runs.len(), output.runs[1].label.as_str()), (2, "xfs"), "{line}");
        let row = output.runs[1].readings[0].row("write").unwrap();
        let values = ["bw", "bytes", "runtime"].map(|name| row.value(name));
        assert_eq!(values, [Some(455.0 * 1048576.0), Some(26.5 * 1073741824.0), Some(60_002e6)], "{line}");
    }
}

/// fio omits shares of 0: the next share starts at its own lower limit, not at the last one printed.
#[test]
fn shares_begin_at_the_limit_below_theirs() {
    let output = read("j: (groupid=0, jobs=1): err= 0: pid=1\n read: IOPS=1, BW=1KiB/s\n lat (usec) : 100=10.00%, 750=60.00%\n lat (msec) : 2=20.00%, 50=9.00%, >=2000=1.00%\n");
    let buckets = &output.runs[0].readings[0].row("all").unwrap().histogram;
    let bounds: Vec<_> = buckets.iter().map(|b| (b.from / 1e3, b.below / 1e3)).collect();
    assert_eq!(bounds, [(50.0, 100.0), (500.0, 750.0), (1e3, 2e3), (20e3, 50e3), (2e6, f64::INFINITY)]);
}

/// Without the line before them, and without any latency of the writes.
#[test]
fn latencies_of_syncs_are_no_writes() {
    for head in ["", "  fsync/fdatasync/sync_file_range:\n"] {
        let text = format!(
            "j: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=97, BW=390KiB/s (399kB/s)(22.9MiB/60012msec)\n{head}\
             \u{20}   sync (usec): min=4012, max=48211, avg=10083.10, stdev=2211.40\n\
             \u{20}   sync percentiles (usec):\n     | 50.00th=[10159], 99.00th=[17957]\n"
        );
        let output = read(&text);
        let reading = &output.runs[0].readings[0];
        let value = |of: &str, name: &str| reading.row(of).and_then(|row| row.value(name));
        assert_eq!(
            (value("sync", "sync.mean"), value("sync", "sync.p99")),
            (Some(10_083_100.0), Some(17_957e3))
        );
        assert_eq!((value("write", "iops"), value("write", "sync.mean")), (Some(97.0), None), "{head:?}");
    }
}

#[test]
fn an_excerpt_has_its_syncs_and_their_number() {
    let text = "  write: IOPS=400, BW=1600KiB/s (1638kB/s)(93.8MiB/60001msec); 0 zone resets\n\
        \x20   clat (usec): min=20, max=900, avg=100.00, stdev=9.00\n     lat (usec): min=21, max=901, avg=101.00, stdev=9.10\n\
        {RATE}  fsync/fdatasync/sync_file_range:\n    sync (msec): min=2, max=90, avg=9.60, stdev=3.00\n\
        \x20   sync percentiles (msec):\n     | 50.00th=[    9], 99.00th=[   31]\n\
        \x20    issued rwts: total=0,24000,0,24000 short=0,0,0,0 dropped=0,0,0,0\n";
    let syncs = |rate: &str| {
        let output = read(&text.replace("{RATE}", rate));
        let readings: Vec<_> = output.runs.iter().flat_map(|run| &run.readings).collect();
        assert_eq!(readings.len(), 1);
        readings[0].syncs().expect("syncs")
    };
    // 3.84 syncs in flight, beside few writes: at least four jobs.
    let all = syncs("");
    assert_eq!(all.count, Some(24_000.0));
    assert!((0.95..1.0).contains(&all.share), "{all:?}");
    // Eight jobs, by the rate of each.
    let all = syncs("   iops        : min= 9, max= 90, avg=50.00, stdev=3.00, samples=960\n");
    assert!((0.47..0.49).contains(&all.share), "{all:?}");
}
