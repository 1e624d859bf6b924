//! Tables that a tool prints interval after interval, as one: the median of each number.

use super::reading::{Reading, Row, Values};
use super::run::Run;
use super::Unit;
use std::collections::BTreeMap;

/// Tools that print a table for each interval, and whether the first is of the time since the machine was started (iostat(1),
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

/// So many tables are intervals and perhaps a first one that is none; of fewer none can be spared.
const WITH_A_FIRST: usize = 3;

fn since_the_start(tool: &str) -> Option<bool> {
    EACH_INTERVAL.iter().find(|(name, _)| *name == tool).map(|(_, first)| *first)
}

impl Run {
    /// Whether a tool printed tables of several intervals.
    pub fn has_intervals(&self) -> bool {
        let of = |r: &Reading| since_the_start(r.tool).is_some();
        let mut seen = std::collections::HashSet::new();
        let rows =
            self.readings.iter().filter(|r| of(r)).flat_map(|r| r.rows.iter().map(move |row| (r, row)));
        rows.into_iter().any(|(r, row)| !seen.insert((r.tool, &r.name, &row.of)))
    }

    /// The same with one reading for all tables that a tool printed interval after interval: of each number the median, of latencies
    /// that of the intervals that had any I/O. The first of three or more is left out where it is of the time since the machine was
    /// started.
    pub fn of_intervals(&self) -> Run {
        let mut readings: Vec<Reading> = vec![];
        let mut rows: BTreeMap<usize, Vec<Vec<&Row>>> = BTreeMap::new();
        for reading in &self.readings {
            let is_same = |r: &Reading| r.tool == reading.tool && r.name == reading.name;
            let each_interval = since_the_start(reading.tool).is_some();
            let at = readings.iter().position(|r| each_interval && is_same(r)).unwrap_or_else(|| {
                readings.push(reading.clone());
                readings.len() - 1
            });
            let of = rows.entry(at).or_default();
            for row in reading.rows.iter().filter(|_| each_interval) {
                match of.iter_mut().find(|same| same[0].of == row.of) {
                    Some(same) => same.push(row),
                    None => of.push(vec![row]),
                }
            }
        }
        for (at, rows) in rows {
            let reading = &mut readings[at];
            if let Some(first) = since_the_start(reading.tool) {
                reading.rows = rows.iter().map(|rows| median(rows, first)).collect();
            }
        }
        Run { readings, ..self.clone() }
    }
}

/// One row of several of the same device; `first`: whether the first is of another time.
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

#[cfg(test)]
mod tests {
    use crate::Mail;

    const TABLES: &str = "\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 900.00 1.00 90.00 1.00 1.00 9.00 1.00 50.00\n\n\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 10.00 1.00 30.00 1.00 4.00 0.00 1.00 50.00\n\n\
        Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n\
        sda 20.00 1.00 40.00 1.00 8.00 30.00 1.00 50.00\n";

    fn of(text: &str) -> crate::Run {
        let mail = Mail::read("iostat.txt", text.as_bytes());
        assert_eq!(mail.runs.len(), 1);
        mail.runs.into_iter().next().expect("a run")
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
    fn tables_of_one_interval_stay_as_they_are() {
        let run = of(&TABLES[..TABLES.find("\n\n").expect("a gap") + 1]);
        assert!(!run.has_intervals());
        assert_eq!(run.of_intervals(), run);
    }
}
