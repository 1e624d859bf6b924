//! Combines tables that a tool prints once per interval into one, with the median of each number.

use super::command::Command;
use super::reading::{Reading, Row, Values};
use super::run::Run;
use super::Unit;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Tools that print a table per interval, and whether the first covers the time since boot (iostat(1),
/// vmstat(8), zpool-iostat(8), nfsiostat(8), dstat(1); not sar(1) and pidstat(1)).
const EACH_INTERVAL: [(&str, bool); 7] = [
    ("iostat", true),
    ("vmstat", true),
    ("zpool iostat", true),
    ("nfsiostat", true),
    ("dstat", true),
    ("sar", false),
    ("pidstat", false),
];

/// Number of tables from which the first may be one since boot and can be left out.
const WITH_A_FIRST: usize = 3;

/// Words of sysstat's first line, at most: `Linux 6.1.0 (host) Wednesday, 25 November 2026 _x86_64_ (8 CPU)` and a time of day.
const LONGEST_BANNER: usize = 12;

fn since_the_start(tool: &str) -> Option<bool> {
    EACH_INTERVAL.iter().find(|(name, _)| *name == tool).map(|(_, first)| *first)
}

/// Whether a row covers the time since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SinceBoot {
    /// It covers an interval, as far as known.
    #[default]
    No,
    /// It is the first of at least three, or of vmstat, and probably covers the time since boot.
    Likely,
    /// The command shows that it covers the time since boot.
    Yes,
}

impl Run {
    /// For each row of each reading: whether it covers the time since boot.
    pub fn since_boot(&self) -> Vec<Vec<SinceBoot>> {
        let mut commands: HashMap<&str, Vec<&Command>> = HashMap::new();
        self.commands.iter().for_each(|command| commands.entry(command.program()).or_default().push(command));
        // The last command of its tool before it.
        let printed_by = |reading: &Reading| {
            let all = commands.get(reading.tool.split(' ').next()?)?;
            all[..all.partition_point(|command| command.at < reading.at)].last().copied()
        };
        let mut times: HashMap<_, usize> = HashMap::new();
        // A tool that is run again begins again.
        let key = |command: Option<&Command>, reading: &Reading, row: &Row| {
            let turn = command.map(|command| (command.at.line, command.at.column));
            (turn, reading.tool, reading.name.clone(), row.of.clone())
        };
        for reading in self.readings.iter().filter(|r| since_the_start(r.tool) == Some(true)) {
            let command = printed_by(reading);
            reading.rows.iter().for_each(|row| *times.entry(key(command, reading, row)).or_default() += 1);
        }
        let mut seen = HashSet::new();
        let of_row = |command: Option<&Command>, reading: &Reading, row: &Row, seen: &mut HashSet<_>| {
            let key = key(command, reading, row);
            let times = times.get(&key).copied().unwrap_or(0);
            match command {
                _ if times == 0 || !seen.insert(key) => SinceBoot::No,
                Some(command) if command.begins_since_boot(times) => SinceBoot::Yes,
                // A single report may be cut out of others, but not if the banner is right before it.
                Some(command) if !command.leaves_out_first() && self.follows_banner() => SinceBoot::Yes,
                None if times >= WITH_A_FIRST || self.follows_banner() => SinceBoot::Likely,
                // Without -y, which is new, vmstat's first row is never of an interval, and its heading comes right before it.
                command if reading.tool == "vmstat" && !command.is_some_and(Command::leaves_out_first) => {
                    SinceBoot::Likely
                }
                _ => SinceBoot::No,
            }
        };
        let of = |r: &Reading, seen: &mut HashSet<_>| {
            let command = printed_by(r);
            r.rows.iter().map(|row| of_row(command, r, row, seen)).collect()
        };
        self.readings.iter().map(|reading| of(reading, &mut seen)).collect()
    }

    /// Whether the first line that sysstat's tools print precedes it: with iostat the first report follows. A command without a prompt may come
    /// before that line.
    pub fn follows_banner(&self) -> bool {
        let banner = self
            .said
            .rfind("Linux ")
            .filter(|at| self.said[..*at].chars().next_back().is_none_or(char::is_whitespace));
        let words =
            banner.map_or(0, |at| self.said[at..].split_whitespace().take(LONGEST_BANNER + 1).count());
        (1..=LONGEST_BANNER).contains(&words) && self.said.ends_with("CPU)")
    }

    /// Whether a tool printed tables of several intervals.
    pub fn has_intervals(&self) -> bool {
        let of = |r: &Reading| since_the_start(r.tool).is_some();
        let mut seen = HashSet::new();
        let rows =
            self.readings.iter().filter(|r| of(r)).flat_map(|r| r.rows.iter().map(move |row| (r, row)));
        rows.into_iter().any(|(r, row)| !seen.insert((r.tool, &r.name, &row.of)))
    }

    /// The run with one reading for all tables that a tool printed per interval. Each number is the median; for latencies, of the
    /// intervals with I/O. The first of three or more tables is left out if the tool's first table covers the time
    /// since boot.
    pub fn of_intervals(&self) -> Run {
        self.combined(true)
    }

    /// As [`Run::of_intervals`], without any row that covers, or may cover, the time since boot: of its time nobody asked.
    pub fn of_intervals_alone(&self) -> Run {
        let mut run = self.clone();
        for (reading, since) in run.readings.iter_mut().zip(self.since_boot()) {
            let mut since = since.into_iter();
            reading.rows.retain(|_| since.next() == Some(SinceBoot::No));
        }
        run.combined(false)
    }

    /// With `spare`, the first of several tables is left out if it may cover the time since boot.
    fn combined(&self, spare: bool) -> Run {
        let mut readings: Vec<Reading> = vec![];
        // Indexes, because a linear search per table would be slow in a text with many.
        let mut tables: HashMap<(&str, &str), usize> = HashMap::new();
        let mut places: HashMap<(usize, &str), usize> = HashMap::new();
        let mut rows: BTreeMap<usize, Vec<Vec<&Row>>> = BTreeMap::new();
        for reading in &self.readings {
            if since_the_start(reading.tool).is_none() {
                readings.push(reading.clone());
                continue;
            }
            let at = *tables.entry((reading.tool, &reading.name)).or_insert_with(|| {
                readings.push(reading.clone());
                readings.len() - 1
            });
            let of = rows.entry(at).or_default();
            for row in &reading.rows {
                let place = *places.entry((at, &row.of)).or_insert_with(|| {
                    of.push(vec![]);
                    of.len() - 1
                });
                of[place].push(row);
            }
        }
        for (at, rows) in rows {
            let first = spare && since_the_start(readings[at].tool).unwrap_or_default();
            readings[at].rows = rows.iter().map(|rows| median(rows, first)).collect();
        }
        Run { readings, ..self.clone() }
    }
}

/// Combines rows of the same device into one; `first`: whether the first may cover another time.
fn median(rows: &[&Row], first: bool) -> Row {
    let spared = usize::from(first && rows.len() >= WITH_A_FIRST);
    let rows = &rows[spared..];
    if let [one] = rows {
        return (*one).clone();
    }
    let mut values = Values::default();
    for (name, number) in rows[0].values.iter() {
        let is_none = |value: f64| number.unit == Unit::Nanoseconds && value == 0.0;
        let mut all: Vec<f64> =
            rows.iter().filter_map(|row| row.value(name)).filter(|value| !is_none(*value)).collect();
        all.sort_unstable_by(f64::total_cmp);
        let value = match (all.len(), all.len() / 2) {
            (0, _) => 0.0,
            (n, half) if n % 2 == 0 => (all[half - 1] + all[half]) / 2.0,
            (_, half) => all[half],
        };
        values.put(name, value, number.unit, number.at);
    }
    Row { values, ..rows[0].clone() }
}

impl Command {
    /// Whether the first of this many printed reports covers the time since boot: without an interval it is the
    /// only one, and with `-y` (iostat, zpool-iostat) there is none.
    fn begins_since_boot(&self, reports: usize) -> bool {
        let numbers = self.text.split(' ').filter(|w| w.parse::<u32>().is_ok()).count();
        !self.leaves_out_first() && (reports > 1 || numbers != 1)
    }

    fn leaves_out_first(&self) -> bool {
        let option = |w: &&str| w.starts_with('-') && !w.starts_with("--");
        self.text.split(' ').filter(option).any(|w| w.contains('y'))
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Row, Run, SinceBoot};
    use crate::output::ToolOutput;

    const TABLES: &str = "\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 900.00 1.00 90.00 1.00 1.00 9.00 1.00 50.00\n\n\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 10.00 1.00 30.00 1.00 4.00 0.00 1.00 50.00\n\n\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 20.00 1.00 40.00 1.00 8.00 30.00 1.00 50.00\n";

    fn of(text: &str) -> crate::output::Run {
        let output = ToolOutput::read("iostat.txt", text.as_bytes());
        assert_eq!(output.runs.len(), 1);
        output.runs.into_iter().next().expect("a run")
    }

    #[test]
    fn a_devices_numbers_are_the_medians_of_its_intervals() {
        let run = of(TABLES);
        assert!(run.has_intervals() && run.readings.len() == 3);
        let one = run.of_intervals();
        assert_eq!((one.readings.len(), one.readings[0].rows.len()), (1, 1));
        let value = |name: &str| one.readings[0].rows[0].value(name);
        assert_eq!((value("r/s"), value("r_await")), (Some(15.0), Some(6e6)));
        assert_eq!(value("w_await"), Some(30e6), "an interval without writes has no latency of them");
        assert!(!one.has_intervals());
    }

    #[test]
    fn a_text_of_many_tables_takes_no_time() {
        let one = |i: usize| {
            let rows = vec![Row { of: format!("sd{i}"), ..Row::default() }];
            let tool = if i % 2 == 0 { "iostat" } else { "dd" };
            Reading { tool, rows, ..Reading::default() }
        };
        let run = Run { readings: (0..200_000).map(one).collect(), ..Run::default() };
        let begun = std::time::Instant::now();
        let all = run.of_intervals();
        assert_eq!((all.readings.len(), all.readings[0].rows.len()), (100_001, 100_000));
        // A linear search would take minutes here; in an unoptimised build this takes about a second.
        assert!(begun.elapsed().as_secs() < 20);
    }

    #[test]
    fn the_first_report_is_of_the_time_since_boot_unless_the_command_says_otherwise() {
        use SinceBoot::{Likely, No, Yes};
        let firsts = |text: &str| of(text).since_boot().into_iter().map(|r| r[0]).collect::<Vec<_>>();
        let one = &TABLES[..TABLES.find("\n\n").expect("a gap") + 1];
        assert_eq!(firsts(TABLES), [Likely, No, No]);
        assert_eq!(firsts(&format!("# iostat -x 1 3\n{TABLES}")), [Yes, No, No]);
        assert_eq!(firsts(&format!("# iostat -xy 1 3\n{TABLES}")), [No, No, No]);
        assert_eq!(firsts(one), [No]);
        assert_eq!(firsts(&format!("# iostat -x /dev/sda\n{one}")), [Yes]);
        let banner = "Linux 6.1.0 (host) \t11/25/26 \t_x86_64_\t(8 CPU)";
        assert_eq!(firsts(&format!("# iostat -x /dev/sda\n{banner}\n\n{one}")), [Yes]);
        let long = "Linux 6.1.0 (host) \tWednesday, 25 November 2026 \t_x86_64_\t(8 CPU)";
        assert_eq!(firsts(&format!("[root@host ~]# iostat -x /dev/sda\n{long}\n\n{one}")), [Yes]);
        assert_eq!(firsts(&format!("{long}\n\n{one}")), [Likely]);
        assert_eq!(firsts(&format!("iostat -x 1 5\n{banner}\n\n{one}")), [Likely]);
        assert_eq!(firsts(&format!("# iostat -xy 1 1\n{long}\n\n{one}")), [No]);
        assert_eq!(firsts(&format!("# iostat -x 1\n{long}\n\n{one}")), [Yes]);
        // Run again.
        let two = format!("# iostat -x 1 3\n{TABLES}# iostat -x 1 3\n{TABLES}");
        assert_eq!(firsts(&two), [Yes, No, No, Yes, No, No]);
        // Cut out of other texts.
        assert_eq!(firsts(&format!("# iostat -x 1\n{one}")), [No]);
    }

    #[test]
    fn what_covers_the_time_since_boot_is_no_interval() {
        let rates = |text: &str| {
            let one = of(text).of_intervals_alone();
            one.readings[0].rows.iter().map(|row| row.value("r/s")).collect::<Vec<_>>()
        };
        let banner = "Linux 6.1.0 (host) \t11/25/26 \t_x86_64_\t(8 CPU)\n\n";
        let two = &TABLES[..TABLES.rfind("\n\n").expect("a gap") + 1];
        assert_eq!(rates(&format!("{banner}{two}")), [Some(10.0)]);
        assert_eq!(rates(two), [Some(455.0)]);
        assert_eq!(rates(TABLES), [Some(15.0)]);
        assert!(rates(&format!("{banner}{}", &two[..two.find("\n\n").expect("a gap") + 1])).is_empty());
    }

    #[test]
    fn tables_of_one_interval_stay_as_they_are() {
        let run = of(&TABLES[..TABLES.find("\n\n").expect("a gap") + 1]);
        assert!(!run.has_intervals());
        assert_eq!(run.of_intervals(), run);
    }
}
