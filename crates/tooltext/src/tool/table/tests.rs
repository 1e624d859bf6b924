use crate::output::ToolOutput;

/// Each word is examined a bounded number of times, whatever is repeated.
#[test]
fn headings_without_rows_take_no_time() {
    let headings = [
        "PID COMM D MAJ MIN DISK I/O Kbytes AVGms ",
        "Device r/s w/s %util ",
        "TIME COMM PID T BYTES OFF_KB LAT(ms) FILENAME ",
        "Read IO thread | bytes | I/Os ",
        "capacity operations bandwidth pool alloc free read write read write ",
        "--dsk/sda-- read writ| ",
        "nvme0n1 p1 p50 p99 ",
        "\na;b;multiply 5",
        "--- x ioping statistics --- ",
    ];
    // In parallel: no other test of this program takes as long.
    std::thread::scope(|scope| {
        for heading in headings {
            scope.spawn(move || {
                let text = heading.repeat(5_000);
                assert!(!ToolOutput::read("headings", text.as_bytes()).has_readings(), "{heading}");
            });
        }
    });
}
