//! Reads ps(1) for the tasks in state D (uninterruptible), with the kernel function in which each sleeps (`wchan`) if it is there.
//!
//! ```text
//!   PID STAT WCHAN                            COMMAND
//!  1234 D    jbd2_log_wait_commit             postgres
//! F S   UID   PID  PPID  C PRI  NI ADDR SZ WCHAN  TTY          TIME CMD
//! 4 D     0  4711     1  0  80   0 -  1234 io_sch ?        00:00:01 dd
//! USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
//! root      3377  0.0  0.0  11980  3352 ?        D    Jan24   0:00 blkid -o export
//!   PID USER     COMMAND         S WCHAN
//!   141 root     kswapd0         D shrink_node
//! ```
//!
//! Any columns in any order, if a state and a number of the task are among them; the command may stand in the middle. Lines that `grep` left
//! of it, without their heading, are read in `ps/lines.rs`. Each place has a row with the number of its tasks, without places each command; the tasks
//! are settings, `postgres:1234` with `jbd2_log_wait_commit: the journal's commit`. ps may cut `wchan` to six letters, which then tells little. When a task began to wait
//! is never printed, only when it was started.
//!
//! **Versions**: procps 4.0.2 run.

mod lines;

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;
use operation::Wait;

pub struct Ps;

const COLUMNS: [Column; 45] = [
    ("F", Cell::Whole),
    ("S", Cell::Word),
    ("STAT", Cell::Word),
    ("UID", Cell::Word),
    ("USER", Cell::Word),
    ("EUSER", Cell::Word),
    ("RUSER", Cell::Word),
    ("GROUP", Cell::Word),
    ("PID", Cell::Whole),
    ("PPID", Cell::Whole),
    ("TID", Cell::Whole),
    ("LWP", Cell::Whole),
    ("SPID", Cell::Whole),
    ("TGID", Cell::Whole),
    ("PGID", Cell::Whole),
    ("PGRP", Cell::Whole),
    ("SID", Cell::Whole),
    ("SESS", Cell::Whole),
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
    ("MAJFL", Cell::Whole),
    ("MINFL", Cell::Whole),
    ("MAJFLT", Cell::Whole),
    ("MINFLT", Cell::Whole),
    ("WCHAN", Cell::Word),
    ("TTY", Cell::Word),
    ("TT", Cell::Word),
    ("STIME", Cell::Word),
    ("START", Cell::Word),
    ("STARTED", Cell::Word),
    ("TIME", Cell::Word),
    ("ELAPSED", Cell::Word),
    ("CMD", Cell::Rest),
    ("COMMAND", Cell::Rest),
];
/// Words that may begin a heading.
const FIRST: [&str; 12] =
    ["PID", "F", "USER", "UID", "STAT", "S", "PPID", "TID", "LWP", "COMMAND", "CMD", "WCHAN"];
/// Names of the columns of the state, of the number of a task, the innermost first, of when it was started, and of its command.
const STATES: [&str; 2] = ["STAT", "S"];
const NUMBERS: [&str; 4] = ["TID", "LWP", "SPID", "PID"];
const STARTS: [&str; 3] = ["START", "STIME", "STARTED"];
const COMMANDS: [&str; 2] = ["COMMAND", "CMD"];
/// Limit on reported tasks.
const MOST: usize = 1000;

impl Tool for Ps {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !FIRST.contains(&words.first()?.text) {
            return lines::without_heading(words);
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        let one_of =
            |names: &[&'static str]| names.iter().copied().find(|name| table::has(&columns, &[name]));
        let (state, number) = (one_of(&STATES)?, one_of(&NUMBERS)?);
        let command = one_of(&COMMANDS);
        (command.is_some() || table::has(&columns, &["WCHAN"])).then_some(())?;
        // Elsewhere the rest of a line would take all columns behind it.
        let is_last = columns.last().is_some_and(|(_, cell)| *cell == Cell::Rest);
        if command.is_some() && !is_last || table::has(&columns, &["STARTED"]) {
            return lines::below(words, heading, &columns);
        }
        let all = table::rows(&words[heading..], &columns);
        let mut reading = Reading { tool: "ps", at: words[0].spot, ..Reading::default() };
        for line in &all.lines {
            let text = |name: &str| line.text(name).unwrap_or_default();
            let task = Task {
                command: command.map(text).unwrap_or_default(),
                number: text(number),
                state: text(state),
                wchan: text("WCHAN"),
                started: one_of(&STARTS).map(text).unwrap_or_default(),
                at: line.first().spot,
            };
            task.add_to(&mut reading);
        }
        let used = heading + all.used;
        (!all.lines.is_empty()).then_some(())?;
        let reading = (!reading.rows.is_empty()).then_some(reading);
        Some(Found { reading, used, unknown: all.unknown })
    }
}

/// A line of ps: what its columns hold, empty if there is no such column.
pub(super) struct Task {
    pub command: String,
    pub number: String,
    pub state: String,
    pub wchan: String,
    pub started: String,
    pub at: Spot,
}

impl Task {
    /// Adds a task in state D; one that has no place in the kernel (`-`) runs.
    pub fn add_to(self, reading: &mut Reading) {
        if !self.state.starts_with('D') || self.wchan == "-" || reading.settings.len() >= MOST {
            return;
        }
        let command = without_forest(&self.command).trim_matches(['[', ']']);
        let mut value = match self.wchan.as_str() {
            "" => "in state D".to_owned(),
            wchan => format!("{wchan}: {}", wait(wchan).words()),
        };
        if !self.started.is_empty() {
            value = format!("{value}, started {}", self.started);
        }
        reading.settings.push(Setting { name: format!("{command}:{}", self.number), value, at: self.at });
        let of = match self.wchan.as_str() {
            "" => command.split(' ').next().unwrap_or(command).to_owned(),
            wchan => format!("in {wchan}"),
        };
        let at = reading.rows.iter().position(|row| row.of == of).unwrap_or_else(|| {
            reading.rows.push(Row::of(of));
            reading.rows.len() - 1
        });
        let values = &mut reading.rows[at].values;
        let (known, first) = values.take("blocked").map_or((0.0, self.at), |n| (n.value, n.at));
        values.put("blocked", known + 1.0, Unit::Count, first);
    }
}

/// A command without the lines that `ps f` draws before it: `|   \_ cp a b`.
fn without_forest(command: &str) -> &str {
    let mut rest = command;
    while let Some(shorter) = FOREST.iter().find_map(|part| rest.strip_prefix(part)) {
        rest = shorter.trim_start();
    }
    rest
}

/// The parts of those lines (`forest_prefix`, ps/output.c of procps).
const FOREST: [&str; 2] = ["|", "\\_"];

/// The wait of a function. Before Linux 5.3 those of locks on x86 are in assembly (arch/x86/lib/rwsem.S), with a name of their own.
fn wait(wchan: &str) -> Wait {
    Wait::of_stack(wchan.strip_prefix("call_").unwrap_or(wchan))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    /// The tasks, with what is said of each; and the rows.
    fn tasks(text: &str) -> Vec<String> {
        one(text, "ps").settings.into_iter().map(|s| format!("{} {}", s.name, s.value)).collect()
    }

    #[test]
    fn those_in_state_d_are_told_with_their_place() {
        let text = "  PID STAT WCHAN                            COMMAND\n 1234 Ds   jbd2_log_wait_commit             postgres: wal writer\n\
             1235 S    ep_poll                          nginx\n   77 D    md_super_wait                    [md127_raid1]\n\
             1236 D    jbd2_log_wait_commit             postgres: writer\n";
        let reading = one(text, "ps");
        let rows: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("blocked"))).collect();
        assert_eq!(rows, [("in jbd2_log_wait_commit", Some(2.0)), ("in md_super_wait", Some(1.0))]);
        assert_eq!(
            tasks(text),
            [
                "postgres: wal writer:1234 jbd2_log_wait_commit: the journal's commit",
                "md127_raid1:77 md_super_wait: md's superblock",
                "postgres: writer:1236 jbd2_log_wait_commit: the journal's commit"
            ]
        );
    }

    #[test]
    fn long_listings_are_read_and_those_without_states_are_not() {
        let long = "F S   UID   PID  PPID  C PRI  NI ADDR SZ WCHAN  TTY          TIME CMD\n4 D     0  4711     1  0  80   0 -  1234 io_sch ?        00:00:01 dd if=x\n";
        assert_eq!(tasks(long), ["dd if=x:4711 io_sch: an unknown wait"]);
        let bsd = "F   UID     PID    PPID PRI  NI    VSZ   RSS WCHAN  STAT TTY        TIME COMMAND\n4     0    4711       1  20   0   1234   900 wbt_wait D  ?       0:01 dd if=x\n";
        assert_eq!(tasks(bsd), ["dd if=x:4711 wbt_wait: writeback throttling (wbt)"]);
        assert!(all("PID TTY TIME CMD\n 12 pts/0 00:00:00 bash\n", "ps").is_empty());
    }

    #[test]
    fn a_listing_without_places_has_the_tasks() {
        let text = "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n\
            root      3377  0.0  0.0  11980  3352 ?        D    Jan24   0:00 blkid -c /dev/null -o export\n\
            root      3400  0.0  0.0  11980  3352 ?        Ss   Jan24   0:00 /sbin/init\n";
        assert_eq!(tasks(text), ["blkid -c /dev/null -o export:3377 in state D, started Jan24"]);
        assert_eq!(one(text, "ps").rows[0].of, "blkid");
        let top = "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n 4711 root      20   0  100000   9000   8000 D   0.0   0.1   0:00.10 dd\n";
        assert!(all(top, "ps").is_empty());
    }

    /// `ps f` draws which task started which.
    #[test]
    fn the_lines_of_a_forest_are_no_commands() {
        let text = "  PID TTY      STAT   TIME COMMAND\n 2726 ?        D      4:38  \\_ [btrfs-transacti]\n\
            381 pts/0    D+     0:00      |       |   |           \\_ cp web/a.css web/a.css.tmp\n  400 ?        S      0:00 sshd\n";
        assert_eq!(
            tasks(text),
            ["btrfs-transacti:2726 in state D", "cp web/a.css web/a.css.tmp:381 in state D"]
        );
        assert_eq!(
            one(text, "ps").rows.iter().map(|row| row.of.as_str()).collect::<Vec<_>>(),
            ["btrfs-transacti", "cp"]
        );
    }

    #[test]
    fn the_command_may_stand_in_the_middle() {
        let text = "    PID     TID    PPID USER        COMMAND         S WCHAN\n    141     141       2 root        kswapd0         D shrink_node\n\
            3862146 3899178       1 root        Web Content     D call_rwsem_down_read_failed\n    1 1 0 root init S ep_poll\n";
        assert_eq!(
            tasks(text),
            [
                "kswapd0:141 shrink_node: memory to be freed",
                "Web Content:3899178 call_rwsem_down_read_failed: a lock"
            ]
        );
        let started = "  PID                  STARTED STAT WCHAN    CMD\n 4711 Wed Jan 24 10:20:30 2026 D    wbt_wait dd if=x\n";
        assert_eq!(
            tasks(started),
            ["dd if=x:4711 wbt_wait: writeback throttling (wbt), started Wed Jan 24 10:20:30 2026"]
        );
    }
}
