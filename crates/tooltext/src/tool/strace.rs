//! Reads strace(1): times of system calls, of each with `-T`, and in the table of `-c`.
//!
//! ```text
//! [pid  1234] 10:00:00.123456 fsync(3)      = 0 <0.012345>
//! [pid  1234] <... fsync resumed>)          = 0 <0.112345>
//! % time     seconds  usecs/call     calls    errors syscall
//! ------ ----------- ----------- --------- --------- ----------------
//!  99.50    1.234567        1234      1000         5 fsync
//! 100.00    1.240700                  2000         5 total
//! ```
//!
//! Each call has a row with the percentiles of its times, or their sum and mean from the table. All calls are slower under strace than
//! without it.
//!
//! **Versions**: strace 6.1 run, older ones by mails.

use super::biosnoop::Groups;
use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Strace;

/// Limit on words of a line: buffers are shown with at most 32 letters, vectors with some tens of them.
const LONGEST_LINE: usize = 120;
/// Limit on words between two lines: `[pid 1234] 10:00:00.123456`, and lines of calls without a time.
const MOST_BETWEEN: usize = 40;
/// Limit on rows of the table.
const MOST_ROWS: usize = 500;
/// Tolerance between the printed mean and the one computed from the sum.
const ROUNDED: f64 = 0.01;
/// Calls whose times are relevant to I/O.
const CALLS: [&str; 68] = [
    "read",
    "pread64",
    "readv",
    "preadv",
    "preadv2",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "fsync",
    "fdatasync",
    "sync",
    "syncfs",
    "sync_file_range",
    "msync",
    "open",
    "openat",
    "close",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "ftruncate",
    "fallocate",
    "getdents64",
    "stat",
    "newfstatat",
    "io_submit",
    "io_getevents",
    "io_uring_enter",
    "sendfile",
    "ioctl",
    "mkdir",
    "fstat",
    "lseek",
    "pread",
    "pwrite",
    "statx",
    "lstat",
    "getdents",
    "copy_file_range",
    "io_pgetevents",
    "truncate",
    "creat",
    "rmdir",
    "link",
    "linkat",
    "mkdirat",
    "openat2",
    "fadvise64",
    "mmap",
    "munmap",
    "mount",
    "umount2",
    "statfs",
    "fstatfs",
    "flock",
    "fcntl",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "utimensat",
    "getxattr",
    // Locks between processes: who holds one may wait for I/O.
    "semop",
    "semtimedop",
];

impl Tool for Strace {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if let Some(["%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"]) = texts(words) {
            return summary(words);
        }
        let mut groups = Groups::default();
        let (mut used, mut unknown) = (0, 0);
        loop {
            let rest = &words[used..];
            let most = if used == 0 { 1 } else { MOST_BETWEEN.min(rest.len()) };
            let next = (0..most).find_map(|skip| Some((skip, call(&rest[skip..])?)));
            let Some((skip, (name, seconds, length))) = next else { break };
            if let Some(group) = groups.of(name, rest[skip].spot) {
                group.took.record((seconds * 1e9).round() as u64);
            }
            used += skip + length;
            unknown += skip;
        }
        let reading =
            Reading { tool: "strace", rows: groups.rows(), at: words.first()?.spot, ..Reading::default() };
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Parses `fsync(3) = 0 <0.012345>`, `<... fsync resumed>) = 0 <0.012345>`: the call, its seconds, and the number of words.
fn call<'a>(words: &[Word<'a>]) -> Option<(&'a str, f64, usize)> {
    let first = words.first()?.text;
    let name = match first {
        "<..." => words.get(1).filter(|_| words.get(2).is_some_and(|w| w.text.starts_with("resumed>")))?.text,
        _ => first.split_once('(')?.0,
    };
    CALLS.contains(&name).then_some(())?;
    // Up to the time. Another call starts another line, even if a mailer removed or added line breaks; only the
    // task's number and the time of day may precede a call.
    let mut head = false;
    let mut begins = |w: &Word| {
        head = w.first || head;
        let call = w.text.contains('(') || w.text.starts_with(['[', '<']) && time(w.text).is_none();
        let other = head && call || w.text == "<unfinished";
        head &= w.text.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.');
        other
    };
    let line = words
        .iter()
        .take(LONGEST_LINE)
        .enumerate()
        .take_while(|(i, w)| *i == 0 || !begins(w) && !w.paragraph);
    let end = line.skip(1).find_map(|(i, w)| time(w.text).map(|seconds| (i, seconds)))?;
    let equals = words[..end.0].iter().any(|w| w.text == "=");
    equals.then_some((name, end.1, end.0 + 1))
}

/// Parses `<0.012345>`; with `--syscall-times=ms` three decimal places, with `ns` nine.
fn time(text: &str) -> Option<f64> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let places = inner.split_once('.')?.1.len();
    decimal(inner).filter(|_| places == 3 || (6..=9).contains(&places))
}

fn summary(words: &[Word]) -> Option<Found> {
    let mut used = 7;
    used += words[used..].iter().take(8).take_while(|w| w.text.bytes().all(|b| b == b'-')).count();
    let reading = Reading { tool: "strace", name: "summary".into(), at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| w.text == "%" || w.text == "syscall";
    table::gather(reading, words, used, MOST_ROWS, ends, row)
}

/// Parses `99.50 1.234567 1234 1000 5 fsync`; the number of errors may be missing, and for the total the mean in old versions.
fn row(words: &[Word]) -> Option<(Row, usize)> {
    let number = |i: usize| words.get(i).and_then(|w| decimal(w.text));
    let many = (0..5).take_while(|i| number(*i).is_some()).count();
    let name =
        words.get(many).filter(|w| w.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    (3..=5).contains(&many).then_some(())?;
    let seconds = number(1)?;
    words[0].text.contains(['.', ',']).then_some(())?;
    let total = name.text == "total";
    // Three numbers before the name: no errors, and no mean, as in the total of an old version.
    let calls = match (many, total) {
        (3, true) => 2,
        (3, false) => return None,
        (4, true)
            if number(2)?.fract() == 0.0
                && number(3)? <= number(2)?
                && seconds * 1e6 / number(3)?.max(1.0) > 2.0 * number(2)? =>
        {
            2
        }
        _ => 3,
    };
    // If the mean does not match, a number is missing.
    let mean = seconds * 1e6 / number(calls)?.max(1.0);
    (calls != 3 || (number(2)? - mean).abs() <= 1.0 + ROUNDED * mean).then_some(())?;
    let mut row = Row::of(name.text);
    row.values.put("count", number(calls)?, Unit::Count, words[calls].spot);
    row.values.put("time", seconds * 1e9, Unit::Nanoseconds, words[1].spot);
    row.values.put("share", number(0)? / 100.0, Unit::Share, words[0].spot);
    if calls == 3 {
        row.values.put("mean", number(2)? * 1e3, Unit::Nanoseconds, words[2].spot);
    }
    Some((row, many + 1))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_time_may_stand_on_a_line_of_its_own() {
        let text = "[pid 1230] pwrite64(9, \"\\200\"..., 512, 40960) =\n512 <0.000031>\n[pid 1230] fsync(9) = 0\n<0.812213>\n[pid 1230] close(3) = 0\nfsync(9) = 0 <0.100000>\n";
        let rows = crate::tool::testing::one(text, "strace").rows;
        let told: Vec<_> =
            rows.iter().map(|r| (r.of.as_str(), r.value("count"), r.value("lat.max"))).collect();
        assert_eq!(told, [("pwrite64", Some(1.0), Some(31e3)), ("fsync", Some(2.0), Some(812_213e3))]);
    }

    use crate::tool::testing::{all, one};

    #[test]
    fn locks_and_names_are_calls_too() {
        let text = "     0.000008 semop(9764864, [{sem_num=0, sem_op=-1, sem_flg=SEM_UNDO}], 1) = 0 <9.685337>\n     0.000022 statfs(\"/mnt\", {f_type=NFS_SUPER_MAGIC}) = 0 <0.046295>\n";
        let rows = one(text, "strace").rows;
        let told: Vec<_> = rows.iter().map(|r| (r.of.as_str(), r.value("lat.max"))).collect();
        assert_eq!(told, [("semop", Some(9_685_337e3)), ("statfs", Some(46_295e3))]);
    }

    #[test]
    fn a_call_that_is_not_finished_has_no_others_time() {
        let text = "4243  10:11:13.500000 fsync(9 <unfinished ...>\n4242  10:11:13.600000 write(1, \"x\", 1)    = 1 <0.000008>\n\
            4243  10:11:14.000000 <... fsync resumed>) = 0 <0.499900>\n4242  pwrite64(7, \"a\"..., 8192, 0) = 8192\n4242  fdatasync(7) = 0 <1.234567>\n";
        let rows = one(text, "strace").rows;
        let told: Vec<_> = rows.iter().map(|r| (r.of.as_str(), r.value("lat.max"))).collect();
        let expected = [("write", 8e3), ("fsync", 499_900e3), ("fdatasync", 1_234_567e3)];
        assert_eq!(told, expected.map(|(of, ns)| (of, Some(ns))));
    }

    #[test]
    fn calls_have_their_times_whoever_made_them() {
        let text = "[pid  1234] 10:00:00.123456 fsync(3)      = 0 <0.010000>\n[pid  1235] write(4, \"a b = c\"..., 8192) = 8192 <0.000100>\n\
            [pid  1234] fdatasync(3 <unfinished ...>\n[pid  1235] fsync(4) = 0 <0.030000>\n[pid  1234] <... fdatasync resumed>)          = 0 <0.112345>\n";
        let reading = one(text, "strace");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!((value("fsync", "count"), value("fsync", "lat.max")), (Some(2.0), Some(30e6)));
        assert_eq!(
            (value("fdatasync", "lat.max"), value("write", "count")),
            (Some(112_345_000.0), Some(1.0))
        );
        assert!(all("the call fsync(3) took <0.5> seconds = long", "strace").is_empty());
    }

    #[test]
    fn the_table_has_sums_and_means() {
        let text = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n\
             99.50    1.234567        1234      1000         5 fsync\n  0.50    0.006133           6      1000           read\n\
            ------ ----------- ----------- --------- --------- ----------------\n100.00    1.240700         620      2000         5 total\n";
        let reading = one(text, "strace");
        assert_eq!(reading.rows.len(), 3);
        assert_eq!(
            (reading.rows[0].value("mean"), reading.rows[1].value("count")),
            (Some(1_234_000.0), Some(1000.0))
        );
        assert_eq!(reading.rows[2].value("time"), Some(1_240_700_000.0));
    }
}
