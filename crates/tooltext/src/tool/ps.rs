//! Reads ps(1) with the kernel function in which each task sleeps (`wchan`), for the blocked tasks.
//!
//! ```text
//!   PID STAT WCHAN                            COMMAND
//!  1234 D    jbd2_log_wait_commit             postgres
//! F S   UID   PID  PPID  C PRI  NI ADDR SZ WCHAN  TTY          TIME CMD
//! 4 D     0  4711     1  0  80   0 -  1234 io_sch ?        00:00:01 dd
//! ```
//!
//! Lines without a heading (`ps ... | grep D`) are read if they are `PID STAT WCHAN COMMAND` and the function is known.
//!
//! Only tasks in state D (uninterruptible) are reported; ps may truncate `wchan` to six letters, which then tells little.
//!
//! **Versions**: procps 4.0.2 run.

use super::reader::{texts, Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;
use operation::Wait;

pub struct Ps;

const COLUMNS: [Column; 34] = [
    ("F", Cell::Whole),
    ("S", Cell::Word),
    ("STAT", Cell::Word),
    ("UID", Cell::Word),
    ("USER", Cell::Word),
    ("EUSER", Cell::Word),
    ("RUSER", Cell::Word),
    ("PID", Cell::Whole),
    ("PPID", Cell::Whole),
    ("TID", Cell::Whole),
    ("LWP", Cell::Whole),
    ("SPID", Cell::Whole),
    ("PGID", Cell::Whole),
    ("NLWP", Cell::Whole),
    ("C", Cell::Whole),
    ("PRI", Cell::Whole),
    ("NI", Cell::Whole),
    ("PSR", Cell::Whole),
    ("CLS", Cell::Word),
    ("RTPRIO", Cell::Whole),
    ("ADDR", Cell::Word),
    ("SZ", Cell::Whole),
    ("VSZ", Cell::Whole),
    ("RSS", Cell::Whole),
    ("%CPU", Cell::Word),
    ("%MEM", Cell::Word),
    ("WCHAN", Cell::Word),
    ("TTY", Cell::Word),
    ("TT", Cell::Word),
    ("STIME", Cell::Word),
    ("TIME", Cell::Word),
    ("ELAPSED", Cell::Word),
    ("CMD", Cell::Rest),
    ("COMMAND", Cell::Rest),
];
/// Names of the state column and of the last column.
const STATES: [&str; 2] = ["STAT", "S"];
const COMMANDS: [&str; 2] = ["COMMAND", "CMD"];
/// Limit on reported tasks.
const MOST: usize = 1000;

impl Tool for Ps {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !["PID", "F", "USER", "UID", "STAT", "S", "PPID", "TID"].contains(&words.first()?.text) {
            return without_heading(words);
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        table::has(&columns, &["PID", "WCHAN"]).then_some(())?;
        let state = STATES.into_iter().find(|name| table::has(&columns, &[name]))?;
        let command = COMMANDS.into_iter().find(|name| table::has(&columns, &[name]));
        let all = table::rows(&words[heading..], &columns);
        let mut reading = Reading { tool: "ps", at: words[0].spot, ..Reading::default() };
        for line in &all.lines {
            let text = |name: &str| line.text(name).unwrap_or_default();
            let wchan = text("WCHAN");
            if !text(state).starts_with('D') || wchan == "-" || reading.rows.len() >= MOST {
                continue;
            }
            let command = command.map(text).unwrap_or_default();
            add(&mut reading, &command, &text("PID"), &wchan, line.first().spot);
        }
        let used = heading + all.used;
        (!all.lines.is_empty()).then_some(())?;
        let reading = (!reading.rows.is_empty()).then_some(reading);
        Some(Found { reading, used, unknown: all.unknown })
    }
}

fn add(reading: &mut Reading, command: &str, pid: &str, wchan: &str, at: Spot) {
    let name = format!("{}:{pid}", command.trim_matches(['[', ']']));
    let mut row = Row::of(format!("{name} in {wchan}"));
    row.values.put("blocked", 1.0, Unit::Count, at);
    let value = format!("{wchan}: {}", Wait::of_stack(wchan).words());
    reading.settings.push(Setting { name, value, at });
    reading.rows.push(row);
}

/// Reads consecutive lines such as `1290 D+ wbt_wait dd`.
fn without_heading(words: &[Word]) -> Option<Found> {
    let mut reading = Reading { tool: "ps", at: words.first()?.spot, ..Reading::default() };
    let mut used = 0;
    while let Some([pid, state, wchan, command]) = texts(&words[used..]) {
        let blocked = state.starts_with('D') && state.len() <= 4;
        let known = || Wait::of_stack(wchan) != Wait::Unknown;
        let number = pid.parse::<u32>().is_ok() && words[used].first;
        if !number || !blocked || !known() || reading.rows.len() >= MOST {
            break;
        }
        let more = words[used + 4..].iter().take(MOST_OF_COMMAND).take_while(|w| !w.first).map(|w| w.text);
        let command: Vec<&str> = std::iter::once(command).chain(more).collect();
        add(&mut reading, &command.join(" "), pid, wchan, words[used].spot);
        used += 3 + command.len();
    }
    (used > 0).then_some(())?;
    Found::all(reading, used)
}

/// Limit on words of a command after its name.
const MOST_OF_COMMAND: usize = 64;

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn lines_that_grep_left_are_read_where_their_place_is_known() {
        let text = " 1033 D    xlog_grant_head_wait           postgres: writer\n 1290 D+   wbt_wait                       dd\n";
        let names: Vec<String> = one(text, "ps").rows.into_iter().map(|r| r.of).collect();
        assert_eq!(names, ["postgres: writer:1033 in xlog_grant_head_wait", "dd:1290 in wbt_wait"]);
        assert!(all("12 Disks are in it\n7 D is a letter\n", "ps").is_empty());
    }

    #[test]
    fn those_in_state_d_are_told_with_their_place() {
        let text = "  PID STAT WCHAN                            COMMAND\n 1234 Ds   jbd2_log_wait_commit             postgres: wal writer\n\
             1235 S    ep_poll                          nginx\n   77 D    md_super_wait                    [md127_raid1]\n";
        let reading = one(text, "ps");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(
            names,
            ["postgres: wal writer:1234 in jbd2_log_wait_commit", "md127_raid1:77 in md_super_wait"]
        );
        assert_eq!(reading.settings[0].value, "jbd2_log_wait_commit: the journal's commit");
    }

    #[test]
    fn long_listings_are_read_and_those_without_places_are_not() {
        let long = "F S   UID   PID  PPID  C PRI  NI ADDR SZ WCHAN  TTY          TIME CMD\n4 D     0  4711     1  0  80   0 -  1234 io_sch ?        00:00:01 dd if=x\n";
        assert_eq!(one(long, "ps").rows[0].of, "dd if=x:4711 in io_sch");
        assert!(all("PID TTY TIME CMD\n 12 pts/0 00:00:00 bash\n", "ps").is_empty());
    }
}
