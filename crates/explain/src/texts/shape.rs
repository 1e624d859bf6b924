//! Recognises unsupported inputs and says how to get a supported one.
//!
//! Formats are recognised by their first bytes; texts by words that one tool prints and authors hardly use. Nothing is parsed
//! here.

use crate::error::Error;

/// What an input looks like, and what to use instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub what: &'static str,
    pub instead: &'static str,
}

/// How to make a supported recording: the end of such advice.
const RECORD: &str =
    "record it: sudo iowhy record -o slow, or trace-cmd record -e block -e sched -e raw_syscalls";

/// How to convert a CTF recording, whose text is supported.
pub(crate) const CTF: &str = "babeltrace2 FOLDER | iowhy explain -";

/// First bytes of files, with what they are.
const MAGIC: [(&[u8], Shape); 14] = [
    (b"/* CTF", Shape { what: "metadata of an LTTng recording (CTF)", instead: CTF }),
    (b"\xc1\x1f\xfc\xc1", Shape { what: "an LTTng recording (CTF)", instead: CTF }),
    (b"\xc1\xfc\x1f\xc1", Shape { what: "an LTTng recording (CTF)", instead: CTF }),
    (b"\x75\xd1\x1d\x57", Shape { what: "metadata of an LTTng recording (CTF)", instead: CTF }),
    (b"\x57\x1d\xd1\x75", Shape { what: "metadata of an LTTng recording (CTF)", instead: CTF }),
    (
        b"LPKSHHRH",
        Shape { what: "a journal of systemd", instead: "journalctl -k --file FILE | iowhy explain -" },
    ),
    (b"\x96\xd5", Shape { what: "the data of sadc (sar)", instead: "sar -d -p -f FILE | iowhy explain -" }),
    (
        b"KDUMP",
        Shape {
            what: "a memory dump of a kernel",
            instead: "crash VMLINUX FILE, and in it `foreach UN bt`; give its text",
        },
    ),
    (b"\x7fELF", Shape { what: "a program or a core dump", instead: RECORD }),
    (b"%PDF", Shape { what: "a PDF", instead: "pdftotext -layout FILE - | iowhy explain -" }),
    (b"\x89PNG", Shape { what: "a picture", instead: "paste the text instead" }),
    (b"\xff\xd8\xff", Shape { what: "a picture", instead: "paste the text instead" }),
    (b"SQLite format 3", Shape { what: "a database of SQLite", instead: RECORD }),
    (b"PK\x03\x04", Shape { what: "a zip archive", instead: "unzip it, and give what is in it" }),
];

/// Words of texts, all of which must occur, with what the texts are.
const WORDS: [(&[&str], Shape); 25] = [
    (&["# Overhead", "Shared Object"], Shape { what: "a profile of perf report", instead: "it has no times of I/O; record it: sudo iowhy record -o slow" }),
    (&["top - ", "load average"], Shape { what: "top's screen", instead: "who does I/O: pidstat -d 1 10 or iotop -boa -n 10 | iowhy explain -" }),
    (&["VIRT", "%CPU", "COMMAND"], Shape { what: "top's screen", instead: "who does I/O: pidstat -d 1 10 or iotop -boa -n 10 | iowhy explain -" }),
    (&["L(q)", "ops/s", "%busy"], Shape { what: "gstat of FreeBSD", instead: "iowhy explains Linux, where iostat -x 1 10 says the same" }),
    (&["CONTAINER", "BLOCK I/O"], Shape { what: "docker stats", instead: "it has no times; record them: sudo iowhy record -o slow, and then: iowhy explain --cgroup NAME slow" }),
    (&["<Results>", "<Tool>"], Shape { what: "diskspd's XML, cut off", instead: "all of it up to </Results>, or diskspd's text" }),
    (&["NAME", "MAJ:MIN"], Shape { what: "lsblk without settings", instead: "lsblk -t has them; beside a trace this table is read too, as lsblk.txt in its folder" }),
    (&["bread/s", "bwrtn/s"], Shape { what: "sar -b, which adds all devices together", instead: "sar -d -p | iowhy explain -" }),
    (&["kbmemfree"], Shape { what: "sar -r", instead: "sar -d -p | iowhy explain -" }),
    (&["DSK |", "busy"], Shape { what: "atop's screen", instead: "iostat -x 1 10 and pidstat -d 1 10 say the same, and are read" }),
    (&["KBRead", "Reads"], Shape { what: "collectl", instead: "iostat -x 1 10 | iowhy explain -" }),
    (&["MemTotal:", "Dirty:"], Shape { what: "/proc/meminfo", instead: "beside a trace it is read, as meminfo.txt in its folder" }),
    (&["%RND", "%SEQ"], Shape { what: "biopattern", instead: "it has no latency: biosnoop or biolatency | iowhy explain -" }),
    (&["<fio", "xml"], Shape { what: "XML", instead: "save the tool's text or JSON instead" }),
    (&["<sysstat"], Shape { what: "sysstat's XML", instead: "iostat -o JSON, or sar's text" }),
    (&["\"traceEvents\""], Shape { what: "a trace of Chrome's or Perfetto's JSON", instead: RECORD }),
    (&["recording_mode", "systrace"], Shape { what: "a trace of Android's systrace", instead: "its ftrace text, without the page around it, is read" }),
    (&["<title>", "systrace"], Shape { what: "a page of systrace", instead: "its ftrace text, without the page around it, is read" }),
    (&["funcgraph", "DURATION"], Shape { what: "ftrace's function graph", instead: "it has no I/O events; set block and sched events instead" }),
    (&["tracer: function"], Shape { what: "ftrace's function tracer", instead: "it has no I/O events; set block and sched events instead" }),
    (&["Call Trace:", "RIP:"], Shape { what: "an oops or warning of the kernel", instead: "tasks that are blocked: echo w > /proc/sysrq-trigger; dmesg | iowhy explain -" }),
    (&["execve(\"", "= 0"], Shape { what: "strace's lines without times", instead: "strace -f -T -p PID, or strace -c" }),
    (&["Jobs: ", "(f=", "eta "], Shape { what: "fio's line of progress", instead: "fio's whole output, or --output-format=json+" }),
    (&["bw=", "iops="], Shape { what: "a line of fio's, cut so that its job is missing", instead: "fio's whole output, or --output-format=json+" }),
    (&["USER", "%CPU", "COMMAND"], Shape { what: "ps", instead: "who is blocked and where: ps -eo pid,stat,wchan:32,comm; with stacks: echo w > /proc/sysrq-trigger; dmesg" }),
];

/// Recognises an input by its beginning.
pub(crate) fn of(start: &[u8]) -> Option<Shape> {
    let magic = MAGIC.iter().find(|(magic, _)| start.starts_with(magic));
    if let Some((_, shape)) = magic {
        return Some(*shape);
    }
    if start.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(start);
    let all = |words: &&[&str]| words.iter().all(|word| text.contains(word));
    let words = WORDS.iter().find(|(words, _)| all(words)).map(|(_, shape)| *shape);
    words.or_else(|| json_or_csv(&text))
}

/// What to give instead of JSON of an unknown tool.
const JSON: &str =
    "supported are fio's, iostat's, smartctl's, nvme's and lsblk's JSON, and the text of other tools";

/// Recognises JSON or comma-separated values of an unknown tool.
fn json_or_csv(text: &str) -> Option<Shape> {
    let first = text.trim_start();
    // Lines of the kernel's log and prompts begin with a bracket, too.
    let in_list = |rest: &str| rest.trim_start().starts_with(['{', '[', '"', ']']);
    if first.starts_with('{') || first.strip_prefix('[').is_some_and(in_list) && !is_kernels_log(text) {
        return Some(Shape { what: "JSON of a tool that is not known", instead: JSON });
    }
    let mut lines = text.lines().filter(|l| !l.trim().is_empty()).take(3);
    // Objects in lines of a log have commas too.
    let holds_object = |l: &str| l.contains("{\"") && l.trim_end().ends_with('}');
    if lines.clone().next().is_some_and(holds_object) {
        return Some(Shape { what: "JSON of a tool that is not known", instead: JSON });
    }
    // Commas of prose are followed by a blank.
    let commas = |l: &str| l.matches(',').count().saturating_sub(l.matches(", ").count());
    let first = lines.next().map_or(0, commas);
    let others: Vec<&str> = lines.collect();
    let same = first >= 3 && !others.is_empty() && others.iter().all(|l| commas(l) == first);
    same.then_some(Shape {
        what: "a table with commas",
        instead: "of such tables only fio's logs are supported; give the text that the tool prints",
    })
}

/// In text of an older alphabet at most 1/10 of the bytes are not ASCII.
const MOSTLY_ASCII: usize = 10;

/// The supported formats, for error messages.
pub(crate) const ACCEPTED: &str = "accepted: recordings (sudo iowhy record -o slow, blktrace, trace.dat, perf.data, text of tracepoints),\n\
    logs of the kernel, and text with output of fio, iostat, sar, strace, bcc's and bpftrace's tools and others";

/// The error that names the unsupported format, if it is recognised.
pub(crate) fn error(name: &str, start: &[u8]) -> Option<Error> {
    let Shape { what, instead } = of(start)?;
    Some(Error::new(
        format!("{name}: this looks like {what}, which is not supported"),
        format!("{instead}\n{ACCEPTED}"),
    ))
}

/// The error for text in which nothing is recognised; `None` if the input is not text.
pub(crate) fn nothing_in(name: &str, start: &[u8]) -> Option<Error> {
    is_text(start).then(|| {
        let what = match is_kernels_log(&String::from_utf8_lossy(start)) {
            true => {
                "a log of the kernel with nothing that iowhy knows as an error of a device or a blocked task"
            }
            false => "text without recognisable output of a tool",
        };
        Error::new(format!("{name}: {what}"), format!("{RECORD}\n{ACCEPTED}"))
    })
}

/// Whether bytes are text: UTF-8, possibly cut within the last character, or an older alphabet with almost only ASCII, as usual in
/// such mails.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(start).map_or_else(|e| e.error_len().is_none(), |_| true);
    let letters = start.iter().filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()).count();
    !start.is_empty()
        && !start.contains(&0)
        && (is_utf8 || MOSTLY_ASCII * (start.len() - letters) <= start.len())
}

/// Whether at least 4 lines have timestamps of the kernel's log, such as `[   12.345678] ` or, with `dmesg -T`, `[Sun May  7 10:21:03 2023] `.
fn is_kernels_log(text: &str) -> bool {
    const LEAST: usize = 4;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_time = |text: &str| {
        let parts = text.trim_start().split_once('.');
        parts.is_some_and(|(s, us)| us.len() == 6 && digits(s) && digits(us))
    };
    let is_date = |text: &str| {
        let mut words = text.split_whitespace();
        let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&words.next().unwrap_or(""));
        weekday && words.nth(2).is_some_and(|time| time.len() == 8 && time.matches(':').count() == 2)
    };
    let has_time = |line: &&str| {
        let time = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        time.is_some_and(|(time, _)| is_time(time) || is_date(time))
    };
    text.lines().filter(has_time).take(LEAST).count() == LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(start: &[u8]) -> &'static str {
        of(start).map_or("", |shape| shape.what)
    }

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(what(b"\xc1\x1f\xfc\xc1\0\0"), "an LTTng recording (CTF)");
        assert_eq!(what(b"%PDF-1.7"), "a PDF");
        assert!(of(b"/* CTF 1.8 */").is_some_and(|s| s.instead.starts_with("babeltrace2")));
        assert_eq!(of(b"\0\0\0"), None);
    }

    #[test]
    fn texts_are_told_by_their_words() {
        assert_eq!(what(b"# Overhead  Command  Shared Object\n"), "a profile of perf report");
        assert_eq!(what(b"{ \"a\": 1 }"), "JSON of a tool that is not known");
        assert_eq!(what(b"[\n  {\"a\": 1}]"), "JSON of a tool that is not known");
        assert_eq!(what(b"[root@db7 ~]# pidstat -d\n"), "");
        assert_eq!(what(b"a,b,c,d\n1,2,3,4\n"), "a table with commas");
        let log = b"Oct  1 10:00:00 h app[1]: {\"a\":1,\"b\":2,\"c\":3,\"d\":4}\n".repeat(2);
        assert_eq!(what(&log), "JSON of a tool that is not known");
        assert_eq!(what(b"Hello, this disk is slow, since Monday, please help\n"), "");
        let log = "[    1.234567] ata1: SATA max UDMA/133 irq 24, D or C\n> [   12.345678] sd 0:0:0:0: [sda] Write Protect is off\n".repeat(2);
        assert_eq!(of(log.as_bytes()), None);
        let said = |text: &str| nothing_in("x", text.as_bytes()).map(|e| e.to_string()).unwrap_or_default();
        assert!(
            said(&log).starts_with("x: a log of the kernel with nothing that iowhy knows"),
            "{}",
            said(&log)
        );
        assert!(said(&log[..log.len() / 2]).starts_with("x: text without"));
        let dated = "[Sun May  7 10:22:35 2023] sd 6:0:0:0: [sda] Attached SCSI disk\n";
        assert!(said(&dated.repeat(4)).starts_with("x: a log of the kernel with nothing"));
        assert!(said(&"[Sun and moon, at 10] are out\n".repeat(4)).starts_with("x: text without"));
        assert_eq!(of(b"A mail about a slow disk.\nIt is no recording.\n"), None);
        assert!(error("x", b"A mail about a slow disk.\n").is_none());
        assert!(nothing_in("x", b"A mail about a slow disk.\n")
            .is_some_and(|e| e.to_string().contains("text without recognisable")));
        assert!(nothing_in("x", b"\xfe\x01\x90").is_none());
        // ISO 8859-1.
        assert!(nothing_in("x", b"Gr\xfc\xdfe: the disk is slow.\n").is_some());
        assert!(nothing_in("x", b"Gr\xfc\xdfe: slow.\n").is_none());
    }
}
