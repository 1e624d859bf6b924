//! Reads zpool iostat of OpenZFS (0.6 to 2.2), with `-v`, `-l`, `-q`: activity of each pool and its devices; the first table covers the time
//! since the pool was imported.
//!
//! ```text
//!               capacity     operations     bandwidth    total_wait     disk_wait
//! pool        alloc   free   read  write   read  write   read  write   read  write
//! ----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
//! tank        1.02T  2.61T    120    345  12.5M  40.1M   12ms    3ms    8ms    1ms
//! ```
//!
//! `K`, `M` and so on are powers of 1024, also for operations (`zfs_nicenum`). A dash in place of a number means that it is unknown.
//!
//! **Versions**: OpenZFS 0.6 to 2.2 (`zpool_main.c`).

use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{time_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Zpool;

/// Groups of columns: the upper heading, the names of the columns below, their unit.
const GROUPS: [(&str, &[&str], Unit); 18] = [
    ("capacity", &["used", "free"], Unit::Bytes),
    ("operations", &["r/s", "w/s"], Unit::PerSecond),
    ("bandwidth", &["rbytes/s", "wbytes/s"], Unit::BytesPerSecond),
    ("total_wait", &["r_await", "w_await"], Unit::Nanoseconds),
    ("disk_wait", &["r_disk", "w_disk"], Unit::Nanoseconds),
    ("syncq_wait", &["r_syncq", "w_syncq"], Unit::Nanoseconds),
    ("asyncq_wait", &["r_asyncq", "w_asyncq"], Unit::Nanoseconds),
    ("scrub", &["scrub"], Unit::Nanoseconds),
    ("trim", &["trim"], Unit::Nanoseconds),
    ("rebuild", &["rebuild"], Unit::Nanoseconds),
    ("syncq_read", &["syncq_read waiting", "syncq_read active"], Unit::Count),
    ("syncq_write", &["syncq_write waiting", "syncq_write active"], Unit::Count),
    ("asyncq_read", &["asyncq_read waiting", "asyncq_read active"], Unit::Count),
    ("asyncq_write", &["asyncq_write waiting", "asyncq_write active"], Unit::Count),
    ("scrubq_read", &["scrubq_read waiting", "scrubq_read active"], Unit::Count),
    ("trimq_write", &["trimq_write waiting", "trimq_write active"], Unit::Count),
    ("rebuildq_write", &["rebuildq_write waiting", "rebuildq_write active"], Unit::Count),
    ("scrubq", &["scrubq waiting", "scrubq active"], Unit::Count),
];
/// Words of the second line of the heading.
const BELOW: [&str; 10] =
    ["pool", "alloc", "free", "used", "avail", "read", "write", "wait", "pend", "activ"];

/// The columns of a table.
struct Columns {
    known: Vec<(&'static str, Unit)>,
    /// Number of columns that follow these, which a script prints (`-c smart`): only devices have values there.
    more: usize,
}

impl Tool for Zpool {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let (columns, used) = match words.first()?.text {
            "capacity" if words.get(1)?.text == "operations" => heading(words)?,
            "pool" => (usual(words)?, USUAL.len()),
            _ => return None,
        };
        let reading = Reading { tool: "zpool iostat", at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| w.text == "capacity" || w.text == "pool";
        table::gather(reading, words, used, table::MOST_ROWS, ends, |rest| row(rest, &columns))
    }
}

/// The second line of the heading without `-l` and `-q`, which says all if the first was lost.
const USUAL: [&str; 7] = ["pool", "alloc", "free", "read", "write", "read", "write"];

/// The columns below that line; none if others follow, which may be of any kind.
fn usual(words: &[Word]) -> Option<Columns> {
    let (line, rest) = words.split_at_checked(USUAL.len())?;
    line.iter().zip(USUAL).all(|(w, text)| w.text == text).then_some(())?;
    rest.first().filter(|w| w.first)?;
    let known =
        GROUPS[..3].iter().flat_map(|(_, names, unit)| names.iter().map(|name| (*name, *unit))).collect();
    Some(Columns { known, more: 0 })
}

fn heading(words: &[Word]) -> Option<(Columns, usize)> {
    let groups = words.iter().take(GROUPS.len()).position(|w| w.text == "pool")?;
    let mut known = vec![];
    for word in &words[..groups] {
        let (_, names, unit) = GROUPS.iter().find(|(name, ..)| *name == word.text)?;
        known.extend(names.iter().map(|name| (*name, *unit)));
    }
    let used = groups + 1 + known.len();
    let below = words.get(groups..used)?;
    below.iter().all(|w| BELOW.contains(&w.text)).then_some(())?;
    let more = words[used..].iter().take_while(|w| !w.first && !w.text.starts_with('-')).count();
    Some((Columns { known, more }, used + more))
}

fn row(words: &[Word], columns: &Columns) -> Option<(Row, usize)> {
    let line = words.get(..=columns.known.len())?;
    let name = line[0].text;
    let more = words[line.len()..].iter().take(columns.more).take_while(|w| !w.first).count();
    // A broken line ends where the row does.
    let ends = words.get(line.len() + more).is_none_or(|w| w.first);
    (!name.ends_with("--") && (ends || line[1..].iter().all(|w| !w.first))).then_some(())?;
    let mut row = Row::of(name);
    for ((name, unit), word) in columns.known.iter().zip(&line[1..]) {
        if word.text != "-" {
            row.values.put(*name, value(word.text, *unit)?, *unit, word.spot);
        }
    }
    (!row.values.is_empty()).then_some((row, line.len() + more))
}

/// Parses `12.5M`, `345`, `12ms`.
fn value(text: &str, unit: Unit) -> Option<f64> {
    let (value, suffix) = with_suffix(text)?;
    if unit == Unit::Nanoseconds {
        return if suffix.is_empty() { Some(value) } else { Some(value * time_unit(suffix)?) };
    }
    let power = "KMGTPE".find(suffix.trim_end_matches('B')).map(|at| at as i32 + 1);
    Some(value * 1024f64.powi(if suffix.trim_end_matches('B').is_empty() { 0 } else { power? }))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn pools_have_their_waits_and_devices_no_size() {
        let text = "              capacity     operations     bandwidth    total_wait  scrub\n\
            pool        alloc   free   read  write   read  write   read  write   wait\n\
            ----------  -----  -----  -----  -----  -----  -----  -----  -----  -----\n\
            tank        1.50T  2.61T    120   1.5K  12.5M  40.1M   12ms  500ns      -\n\
            \x20   sda         -      -     60    172  6.25M  20.0M    8ms    2us      -\n\
            ----------  -----  -----  -----  -----  -----  -----  -----  -----  -----\n\
            tank        1.50T  2.61T    100    100     1M     1M    1ms    1ms    3ms\n";
        let reading = one(text, "zpool iostat");
        assert_eq!(reading.rows.len(), 3);
        let row = &reading.rows[0];
        assert_eq!((row.value("w/s"), row.value("rbytes/s")), (Some(1536.0), Some(12.5 * 1048576.0)));
        assert_eq!(
            (row.value("r_await"), row.value("w_await"), row.get("scrub")),
            (Some(12e6), Some(500.0), None)
        );
        assert_eq!((reading.rows[1].of.as_str(), reading.rows[1].get("used")), ("sda", None));
    }

    #[test]
    fn what_a_script_prints_is_no_device() {
        let text = "              capacity     operations     bandwidth\n\
            pool        alloc   free   read  write   read  write  health  temp  pend_sec\n\
            ----------  -----  -----  -----  -----  -----  -----  ------  ----  --------\n\
            tank        1.50T  2.61T    120    345  12.5M  40.1M\n\
            \x20 raidz1    1.50T  2.61T    120    345  12.5M  40.1M\n\
            \x20   sda         -      -     60    172  6.25M  20.0M  PASSED    48         0\n\
            \x20   sdb         -      -     60    173  6.25M  20.1M  PASSED    47         -\n";
        let reading = one(text, "zpool iostat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["tank", "raidz1", "sda", "sdb"]);
        assert_eq!((reading.rows[2].value("w/s"), reading.rows[3].value("w/s")), (Some(172.0), Some(173.0)));
    }

    #[test]
    fn tables_that_a_mailer_broke_are_the_same() {
        let text = "              capacity     operations     bandwidth    total_wait\ndisk_wait    syncq_wait    asyncq_wait  scrub   trim\n\
            pool        alloc   free   read  write   read  write   read  write\nread  write   read  write   read  write   wait   wait\n\
            ----------  -----  -----  -----  -----  -----  -----  -----  -----\n-----  -----  -----  -----  -----  -----  -----  -----\n\
            tank        1.50T  2.61T    120   1.5K  12.5M  40.1M   12ms  500ns\n8ms    2us    1us    1us      -    1ms      -      -\n\
            \x20   sda         -      -     60    172  6.25M  20.0M    8ms    2us\n4ms    1us    1us    1us      -    1ms      -      -\n\
            ----------  -----  -----  -----  -----  -----  -----  -----  -----\n-----  -----  -----  -----  -----  -----  -----  -----\n\
            tank        1.50T  2.61T    120   1.5K  12.5M  40.1M   12ms  500ns\nit was slow then, as one can see in the line that is cut here\n";
        let reading = one(text, "zpool iostat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["tank", "sda"]);
        let row = &reading.rows[1];
        assert_eq!(
            (row.value("r_disk"), row.value("w_asyncq"), row.value("r/s")),
            (Some(4e6), Some(1e6), Some(60.0))
        );
    }

    #[test]
    fn the_second_line_of_the_usual_heading_says_all() {
        let text = "pool        alloc   free   read  write   read  write\n\n---\n\ntank        1.50T  2.61T    120    345  12.5M  40.1M\n  sda           -      -     60    172  6.25M  20.0M\n";
        let reading = one(text, "zpool iostat");
        assert_eq!(
            (reading.rows[0].value("r/s"), reading.rows[1].value("wbytes/s")),
            (Some(120.0), Some(20.0 * 1048576.0))
        );
        let more = "pool        alloc   free   read  write   read  write   read  write\ntank        1.50T  2.61T    120    345  12.5M  40.1M   12ms    3ms\n";
        assert!(all(more, "zpool iostat").is_empty(), "the columns behind may be waits");
    }
}
