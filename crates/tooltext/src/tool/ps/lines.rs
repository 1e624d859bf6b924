//! Lines of ps that are no table for [`table`]: those whose command stands in the middle, and those without their heading.

use super::{Task, COLUMNS as KNOWN, COMMANDS, MOST, NUMBERS, STARTS, STATES};
use crate::output::number::decimal;
use crate::output::reading::Reading;
use crate::output::words::Word;
use crate::tool::reader::Found;
use crate::tool::table::{Cell, Column};
use operation::Wait;
use std::sync::LazyLock;

/// Limit on words of a line.
const LONGEST: usize = 128;
/// Words of a date with a time, as `lstart` prints it: `Wed Jan 24 10:20:30 2026`.
const DATE: usize = 5;
/// Lines of a form that says little of itself: fewer are words of prose, unless their place is known.
const LEAST_LINES: usize = 2;

/// The words of the line at the start of `words`.
fn line<'w, 'a>(words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    let end =
        words.iter().take(LONGEST).skip(1).position(|w| w.first).map_or(words.len().min(LONGEST), |i| i + 1);
    &words[..end]
}

/// The lines below a heading of `heading` words, whatever the order of its columns.
pub(super) fn below(words: &[Word], heading: usize, columns: &[Column]) -> Option<Found> {
    let mut reading = Reading { tool: "ps", at: words[0].spot, ..Reading::default() };
    let (mut used, mut lines) = (heading, 0);
    while let Some(task) =
        words.get(used..).filter(|rest| !rest.is_empty()).and_then(|rest| task(line(rest), columns))
    {
        used += line(&words[used..]).len();
        lines += 1;
        task.add_to(&mut reading);
    }
    (lines > 0).then_some(())?;
    let reading = (!reading.rows.is_empty()).then_some(reading);
    Some(Found { reading, used, unknown: 0 })
}

/// Parses a line with these columns; the command takes all words that the others leave.
fn task(line: &[Word], columns: &[Column]) -> Option<Task> {
    line.first().filter(|w| w.first)?;
    let cells = cells(line, columns)?;
    let text = |names: &[&str]| -> Option<String> {
        let at = names.iter().find_map(|name| columns.iter().position(|(known, _)| known == name))?;
        Some(cells[at].iter().map(|w| w.text).collect::<Vec<_>>().join(" "))
    };
    Some(Task {
        command: text(&COMMANDS).unwrap_or_default(),
        number: text(&NUMBERS)?,
        state: text(&STATES).filter(|state| is_state(state))?,
        wchan: text(&["WCHAN"]).unwrap_or_default(),
        started: text(&STARTS).unwrap_or_default(),
        at: line[0].spot,
    })
}

/// The words of each column: those before the command from the left, those behind it from the right.
fn cells<'w, 'a>(line: &'w [Word<'a>], columns: &[Column]) -> Option<Vec<&'w [Word<'a>]>> {
    let free = columns.iter().position(|(_, cell)| *cell == Cell::Rest);
    let (mut from, mut to) = (0, line.len());
    let (before, behind) = match free {
        Some(at) => (&columns[..at], &columns[at + 1..]),
        None => (columns, &columns[..0]),
    };
    let mut cells = vec![];
    for column in before {
        let first = line.get(from).filter(|w| fits(w.text, column))?;
        let length = if column.0 == "STARTED" && is_weekday(first.text) { DATE } else { 1 };
        cells.push(line.get(from..from + length)?);
        from += length;
    }
    let mut last = vec![];
    for column in behind.iter().rev() {
        let long = column.0 == "STARTED" && to >= DATE && is_weekday(line[to - DATE].text);
        let length = if long { DATE } else { 1 };
        let start = to.checked_sub(length).filter(|start| *start >= from)?;
        fits(line[start].text, column).then_some(())?;
        last.push(&line[start..to]);
        to = start;
    }
    match free {
        Some(_) => cells.push(line.get(from..to).filter(|command| !command.is_empty())?),
        None => (from == line.len()).then_some(())?,
    }
    cells.extend(last.into_iter().rev());
    Some(cells)
}

fn fits(text: &str, (name, cell): &Column) -> bool {
    match *name {
        "%CPU" | "%MEM" => decimal(text).is_some(),
        "STAT" | "S" => is_state(text),
        "TIME" => text.contains(':') && text.starts_with(|c: char| c.is_ascii_digit()),
        _ => *cell != Cell::Whole || text == "-" || text.trim_start_matches('-').parse::<u64>().is_ok(),
    }
}

/// Whether a word is a state: `D`, `Ssl+` (ps(1), PROCESS STATE CODES).
fn is_state(text: &str) -> bool {
    text.len() <= 6
        && text.starts_with(|c: char| "DRSTtWXZI".contains(c))
        && text[1..].chars().all(|c| "<NLsl+".contains(c))
}

fn is_weekday(text: &str) -> bool {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&text)
}

/// The headings of `ps aux`, `ps axl`, `ps -efl` and `ps -el`.
const HEADINGS: [&str; 4] = [
    "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND",
    "F UID PID PPID PRI NI VSZ RSS WCHAN STAT TTY TIME COMMAND",
    "F S UID PID PPID C PRI NI ADDR SZ WCHAN STIME TTY TIME CMD",
    "F S UID PID PPID C PRI NI ADDR SZ WCHAN TTY TIME CMD",
];

/// Their columns.
static LAYOUTS: LazyLock<[Vec<Column>; 4]> = LazyLock::new(|| {
    HEADINGS.map(|heading| {
        let column = |name: &str| KNOWN.into_iter().find(|(known, _)| *known == name);
        heading.split(' ').filter_map(column).collect()
    })
});

/// Reads consecutive lines without a heading: of a usual form of ps, or such as `1290 D+ wbt_wait dd`.
pub(super) fn without_heading(words: &[Word]) -> Option<Found> {
    words.first().filter(|w| w.first)?;
    LAYOUTS.iter().find_map(|columns| usual(words, columns)).or_else(|| short(words)).or_else(|| bare(words))
}

fn usual(words: &[Word], columns: &[Column]) -> Option<Found> {
    let found = below(words, 0, columns)?;
    found.reading.is_some().then_some(found)
}

/// Reads lines of a number, perhaps further numbers and a user, the state D, the place and the command. They are ps's if a place is known, or if
/// there are several and their places look like names of functions.
fn short(words: &[Word]) -> Option<Found> {
    let mut reading = Reading { tool: "ps", at: words[0].spot, ..Reading::default() };
    let (mut used, mut known, mut named) = (0, false, 0);
    while let Some((task, length)) = words.get(used..).and_then(short_line) {
        if reading.settings.len() >= MOST {
            break;
        }
        known |= super::wait(&task.wchan) != Wait::Unknown;
        named += usize::from(task.wchan.contains('_'));
        used += length;
        task.add_to(&mut reading);
    }
    (known || named >= LEAST_LINES).then_some(())?;
    (!reading.rows.is_empty()).then_some(())?;
    Found::all(reading, used)
}

fn short_line(words: &[Word]) -> Option<(Task, usize)> {
    let line = line(words);
    line.first().filter(|w| w.first && w.text.parse::<u32>().is_ok())?;
    let state = (1..=MOST_BEFORE_STATE)
        .find(|i| line.get(*i).is_some_and(|w| w.text.starts_with('D') && is_state(w.text)))?;
    let wchan = line.get(state + 1)?.text;
    let is_function =
        wchan.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'.')
            && wchan.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let command = line.get(state + 2..).filter(|rest| is_function && !rest.is_empty())?;
    let task = Task {
        command: command.iter().map(|w| w.text).collect::<Vec<_>>().join(" "),
        number: line[0].text.to_owned(),
        state: line[state].text.to_owned(),
        wchan: wchan.to_owned(),
        started: String::new(),
        at: line[0].spot,
    };
    Some((task, line.len()))
}

/// Reads lines without a place: numbers, among them the state D, then the command. They are ps's if there are several, and most commands are a
/// thread of the kernel in brackets or a program with its path.
fn bare(words: &[Word]) -> Option<Found> {
    let mut reading = Reading { tool: "ps", at: words[0].spot, ..Reading::default() };
    let (mut used, mut lines, mut sure) = (0, 0, 0);
    while let Some((task, length)) = words.get(used..).and_then(bare_line) {
        if reading.settings.len() >= MOST {
            break;
        }
        lines += 1;
        let is_thread = task.command.starts_with('[') && task.command.ends_with(']');
        sure += usize::from(is_thread || task.command.starts_with('/'));
        used += length;
        task.add_to(&mut reading);
    }
    (sure >= LEAST_LINES && 2 * sure > lines).then_some(())?;
    Found::all(reading, used)
}

fn bare_line(words: &[Word]) -> Option<(Task, usize)> {
    let line = line(words);
    line.first().filter(|w| w.first)?;
    let is_number = |w: &&Word| w.text.parse::<u32>().is_ok();
    let state =
        line.iter().take(MOST_BEFORE_STATE + 1).position(|w| w.text.starts_with('D') && is_state(w.text))?;
    // The state stands first, or behind the numbers.
    let numbers = line.iter().skip(usize::from(state == 0)).take_while(is_number).count();
    (numbers > 0 && (state == 0 || state == numbers)).then_some(())?;
    let command = line.get(numbers + 1..).filter(|rest| !rest.is_empty())?;
    let task = Task {
        command: command.iter().map(|w| w.text).collect::<Vec<_>>().join(" "),
        number: line[usize::from(state == 0)].text.to_owned(),
        state: line[state].text.to_owned(),
        wchan: String::new(),
        started: String::new(),
        at: line[0].spot,
    };
    Some((task, line.len()))
}

/// Limit on words before the state: numbers of the task, its parent and its group, a user.
const MOST_BEFORE_STATE: usize = 4;

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    fn tasks(text: &str) -> Vec<String> {
        one(text, "ps").settings.into_iter().map(|s| format!("{} {}", s.name, s.value)).collect()
    }

    #[test]
    fn lines_that_grep_left_are_read_where_their_place_is_known() {
        let text = " 1033 D    xlog_grant_head_wait           postgres: writer\n 1290 D+   wbt_wait                       dd\n";
        assert_eq!(
            tasks(text),
            [
                "postgres: writer:1033 xlog_grant_head_wait: space in the log",
                "dd:1290 wbt_wait: writeback throttling (wbt)"
            ]
        );
        assert!(all("12 Disks are in it\n7 D is a letter\n", "ps").is_empty());
    }

    #[test]
    fn several_lines_are_read_whatever_their_places() {
        let text = "2770 D my_wait_for_group                 [my_io/0]\n2830 D my_wait                          [my_sync]\n19513 1 root D my_wait  nfsd\n";
        assert_eq!(
            tasks(text),
            [
                "my_io/0:2770 my_wait_for_group: an unknown wait",
                "my_sync:2830 my_wait: an unknown wait",
                "nfsd:19513 my_wait: an unknown wait"
            ]
        );
        assert_eq!(one(text, "ps").row("in my_wait").and_then(|r| r.value("blocked")), Some(2.0));
        assert!(
            all("2770 D my_wait_for_group [my_io/0]\n", "ps").is_empty(),
            "a single line of a place that is not known"
        );
        assert!(all("7 D is a letter\n8 D is one too\n9 D as well\n", "ps").is_empty());
    }

    /// `ps -eo pid,state,cmd | grep ' D '`, and with the state first.
    #[test]
    fn lines_without_a_place_are_read_where_commands_are_threads_or_have_a_path() {
        let text =
            "  12405 D /opt/auoms/bin/auoms\n 105408 D [jbd2/dm-8-8]\n1233013 D [lvm]\n   9121 D dd if=/dev/zero of=x\n";
        assert_eq!(
            tasks(text),
            [
                "/opt/auoms/bin/auoms:12405 in state D",
                "jbd2/dm-8-8:105408 in state D",
                "lvm:1233013 in state D",
                "dd if=/dev/zero of=x:9121 in state D"
            ]
        );
        let first = "D   105408 2 [jbd2/dm-8-8]\nDs  1233013 1 /sbin/lvm pvscan\n";
        assert_eq!(tasks(first), ["jbd2/dm-8-8:105408 in state D", "/sbin/lvm pvscan:1233013 in state D"]);
        for other in [
            "105408 D [jbd2/dm-8-8]\n",
            "7 D is a letter\n8 D is one too\n",
            "1 D 2 [a]\n2 D 3 [b]\n",
            "105408 S [jbd2/dm-8-8]\n105409 S [lvm]\n",
        ] {
            assert!(all(other, "ps").is_empty(), "{other}");
        }
    }

    #[test]
    fn lines_of_usual_forms_need_no_heading() {
        let aux = "root      3377  0.0  0.0  11980  3352 ?        D    Jan24   0:00 blkid -o export\nwww       6293  0.1  0.5  11980  3316 ?        Ds   10:20   0:00 php-fpm: pool www\n";
        assert_eq!(
            tasks(aux),
            [
                "blkid -o export:3377 in state D, started Jan24",
                "php-fpm: pool www:6293 in state D, started 10:20"
            ]
        );
        let axl = "4     0    4711       1  20   0   1234   900 wbt_wait D  ?       0:01 dd if=x\n";
        assert_eq!(tasks(axl), ["dd if=x:4711 wbt_wait: writeback throttling (wbt)"]);
        let efl = "4 D root      4711     1  0  80   0 -  1234 io_sch 10:20 ?        00:00:01 dd if=x\n";
        assert_eq!(tasks(efl), ["dd if=x:4711 io_sch: an unknown wait, started 10:20"]);
        let el = "4 D     0  4711     1  0  80   0 -  1234 io_sch ?        00:00:01 dd if=x\n";
        assert_eq!(tasks(el), ["dd if=x:4711 io_sch: an unknown wait"]);
        for other in [
            "root      3377  0.0  0.0  11980  3352 ?        S    Jan24   0:00 sleep 1\n",
            "disk 12 0.5 0.6 100 200 ? Down 10:20 0:30 later\n",
            "4 D are 1 of 2 and 3 4 are 5 more words than 6\n",
        ] {
            assert!(all(other, "ps").is_empty(), "{other}");
        }
    }
}
