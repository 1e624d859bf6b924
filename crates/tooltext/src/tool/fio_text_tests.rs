//! Excerpts of fio's text, and whose latency counts.

use crate::Mail;

fn read(text: &str) -> Mail {
    Mail::read("text", text.as_bytes())
}

#[test]
fn an_operations_line_alone_is_a_run_called_by_the_words_before_it() {
    let mail = read(
        "before: read: IOPS=1500, BW=6000KiB/s (6144kB/s)(352MiB/60001msec)\n\
         after:  read: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(703MiB/60001msec)\n",
    );
    let iops: Vec<_> =
        mail.runs.iter().flat_map(|r| r.of("fio")).filter_map(|r| r.row("read")?.value("iops")).collect();
    assert_eq!(iops, [1500.0, 3000.0]);
    assert_eq!(
        (mail.runs.len(), mail.runs[0].label.as_str(), mail.runs[1].label.as_str()),
        (2, "before", "after")
    );
}

#[test]
fn a_job_without_its_head_and_latencies_alone_are_read() {
    let mail = read(
        "/   read : io=1024.0MB, bw=34952KB/s, iops=8738, runt= 30000msec\n/     slat (usec): min=3, max=90, avg= 5.10, stdev= 1.10\n\
         /     clat (usec): min=40, max=9000, avg=110.20, stdev=11.00\n",
    );
    let row = mail.runs[0].readings[0].row("read").unwrap().clone();
    assert_eq!((row.value("iops"), row.value("clat.max")), (Some(8738.0), Some(9e6)));
    let mail = read("With the patch:\n    clat (msec): min=1, max=16800, avg=11.2, stdev=9.1\n");
    assert_eq!(mail.runs[0].readings[0].rows[0].value("clat.max"), Some(16.8e9));
    let latencies = |mean: u32| {
        format!("slat (nsec): min=1, max=9, avg=2.0, stdev=1.0\n clat (usec): min=1, max=999, avg={mean}.5, stdev=9.1\n")
    };
    for between in ["after:\n", "\n", ""] {
        let mail = read(&format!("before:\n{}{between}{}", latencies(81), latencies(61)));
        let means: Vec<_> =
            mail.runs.iter().flat_map(|r| &r.readings).map(|r| r.rows[0].value("clat.mean")).collect();
        assert_eq!(means, [Some(81.5e3), Some(61.5e3)], "{between}");
    }
    let mail = read("now\nREAD:  IOPS=2033k BW=8329MB/s\nWRITE: IOPS= 871k BW=3569MB/s\n");
    let iops: Vec<_> = mail.runs[0]
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
    let mail = read(
        "w: (groupid=0, jobs=1): err= 0: pid=1: Wed Jun  5 10:00:00 2019\n\
         write: IOPS=228, BW=228MiB/s (240MB/s)(13.4GiB/60002msec)\n\
         slat (usec): min=102, max=61021, avg=3982.11, stdev=5012.30\n\
         clat (nsec): min=2010, max=229018, avg=4020.55, stdev=3100.20\n\
         lat (usec): min=107, max=61030, avg=3986.50, stdev=5013.10\n\
         clat percentiles (nsec):\n | 50.00th=[  3568], 99.00th=[ 11968]\n",
    );
    let row = mail.runs[0].readings[0].row("write").unwrap();
    assert!(row.waits_to_submit());
    assert_eq!(row.latency("mean").map(|n| n.value), Some(3_986_500.0));
    assert_eq!((row.latency("p99"), row.value("clat.p99")), (None, Some(11_968.0)));
}

/// Each word is looked at a bounded number of times.
#[test]
fn many_lines_of_latencies_are_as_many_readings() {
    let mail = read(&"clat (usec): min=1, max=2, avg=1.5\n".repeat(4000));
    assert_eq!(mail.runs.iter().map(|run| run.readings.len()).sum::<usize>(), 4000);
}
