//! Reads mdflush of bcc and of bpftrace: each flush that an md array sends to its members, and the task that caused it.
//!
//! ```text
//! Tracing md flush requests... Hit Ctrl-C to end.
//! TIME     PID    COMM             DEVICE
//! 03:13:49 16770  sync             md0
//! 03:14:08 16864  Web Content      md0
//! ```
//!
//! A row for each array, and for each array and task, with the number of flushes. The tool does not show their times.
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/mdflush.py`), bpftrace 0.17 (`mdflush.bt`).

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;
use std::collections::HashMap;

pub struct Mdflush;

const HEADING: [&str; 4] = ["TIME", "PID", "COMM", "DEVICE"];
/// Limit on words of a line: a name has at most four.
const MOST_WORDS: usize = 7;
/// Limit on rows of arrays and tasks.
const MOST_ROWS: usize = 256;

impl Tool for Mdflush {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "TIME" {
            return None;
        }
        (texts(words)? == HEADING).then_some(())?;
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut counted: Vec<(String, u64, Spot)> = vec![];
        let (mut used, mut unknown) = (HEADING.len(), 0);
        let ends = |w: &Word| HEADING.contains(&w.text);
        while let Some((skip, (device, task), length)) = table::next(&words[used..], ends, flush) {
            let at = words[used + skip].spot;
            used += skip + length;
            unknown += skip;
            for of in [device.to_owned(), format!("{device} {task}")] {
                match places.get(&of) {
                    Some(place) => counted[*place].1 += 1,
                    None if counted.len() >= MOST_ROWS => unknown += 1,
                    None => {
                        places.insert(of.clone(), counted.len());
                        counted.push((of, 1, at));
                    }
                }
            }
        }
        let row = |(of, count, at): (String, u64, Spot)| {
            let mut row = Row::of(of);
            row.values.put("flushes", count as f64, Unit::Count, at);
            row
        };
        let rows: Vec<Row> = counted.into_iter().map(row).collect();
        let reading = Reading { tool: "mdflush", rows, at: words[0].spot, ..Reading::default() };
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Parses the array and the task in a line.
fn flush<'a>(words: &[Word<'a>]) -> Option<((&'a str, String), usize)> {
    let [time, pid, ..] = texts::<4>(words)?;
    (time.split(':').count() == 3 && table::is_time(time) && pid.parse::<u32>().is_ok()).then_some(())?;
    let is_array = |w: &Word| w.text.starts_with("md") && evidence::is_device_name(w.text);
    let length = 3 + words.iter().take(MOST_WORDS).skip(3).position(is_array)? + 1;
    let task: Vec<&str> = words[2..length - 1].iter().map(|w| w.text).collect();
    Some(((words[length - 1].text, task.join(" ")), length))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn flushes_are_counted_for_arrays_and_tasks() {
        let text = "Tracing md flush requests... Hit Ctrl-C to end.\nTIME     PID    COMM             DEVICE\n\
            03:13:49 16770  sync             md0\n03:14:08 16864  Web Content      md0\n03:14:09 16864  Web Content      md127\n";
        let reading = one(text, "mdflush");
        let rows: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("flushes"))).collect();
        let wanted = [
            ("md0", 2.0),
            ("md0 sync", 1.0),
            ("md0 Web Content", 1.0),
            ("md127", 1.0),
            ("md127 Web Content", 1.0),
        ];
        assert_eq!(rows, wanted.map(|(of, n)| (of, Some(n))));
        assert!(all("TIME PID COMM DEVICE\nnothing here\n", "mdflush").is_empty());
    }
}
