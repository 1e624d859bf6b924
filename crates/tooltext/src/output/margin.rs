//! Removes what shell programs add to each line of a pasted text: its number (`grep -n`, `cat -n`, `nl`; on web pages `12. `),
//! its file (`grep -H`), a marker at its end (`cat -A`), a bar or another mark (`# `, `+ `, `* `), the time (`stamp.rs`).
//!
//! ```text
//!      1  Device  r/s  %util          12:Device  r/s  %util        log.txt:Device  r/s  %util        Device^Ir/s^I%util$
//!      2  sda    1.00  99.00          13:sda    1.00  99.00        log.txt:sda    1.00  99.00        sda^I1.00^I99.00$
//! ```
//!
//! A single line is ambiguous: `12:` may be an hour, `1  ` a counter. A margin is removed only if several lines have it and all numbers
//! count up. The second part of a line that a mailer broke has no margin.
//!
//! **Invariant**: lines keep their numbers, so that places remain valid; removed text was around every line of a block.

use super::number::decimal;
use super::stamp;
use super::words::is_row;
use std::borrow::Cow;

/// Minimum number of lines that must agree.
const LEAST: usize = 3;
/// As [`LEAST`], for a less certain form.
const LEAST_OF_BLANKS: usize = 4;
/// Lines without a margin allowed between two with one: ends of broken lines, `--` of `grep -A`.
const BETWEEN: usize = 1;
/// Limit on consecutive marks.
const MOST_MARKS: usize = 4;
/// Marks before each line of a quotation, a comment, an addition in a patch, a list item.
const MARKS: [char; 4] = [BAR, '#', '+', '*'];
const BAR: char = '|';
/// Minimum number of lines with numbers after such a mark, and of numbers in each: other lines are commands after a prompt, headings, list items.
const LEAST_OF_NUMBERS: usize = 2;
/// Limit on digits of a line number.
const MOST_DIGITS: usize = 7;
/// Width of the number in `cat -n` and `nl`.
const WIDTH: usize = 6;
/// Extensions of file names before each line.
const ENDS: [&str; 4] = [".log", ".txt", ".out", ".dat"];

/// A line of the text: its quote marks, and the rest.
struct Line<'a> {
    quote: &'a str,
    body: Cow<'a, str>,
}

/// The margin of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Margin<'b> {
    form: Form<'b>,
    number: Option<u64>,
    /// Length in bytes.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form<'b> {
    /// `12:` or `12-`, optionally after a file name.
    Grep(&'b str),
    /// A number and a tab.
    Tab,
    /// A number and two blanks (an expanded tab).
    Blanks,
    /// `12. `, as in numbered lists.
    Item,
    Mark(char),
    /// A time.
    Stamp,
    /// `$`; [`Margin::length`] counts from the end of the line.
    End,
}

/// The text without margins.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    let mut lines: Vec<Line> = text.lines().map(line).collect();
    let mut any = cut(&mut lines, end);
    any |= cut(&mut lines, number);
    any |= cut(&mut lines, stamp);
    for _ in 0..MOST_MARKS {
        let marks = cut(&mut lines, mark);
        any |= marks;
        if !marks {
            break;
        }
    }
    if !any {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    for Line { quote, body } in &lines {
        whole.push_str(quote);
        whole.push_str(body);
        whole.push('\n');
    }
    Cow::Owned(whole)
}

/// A line, split after its quote marks; each mark includes one blank.
fn line(whole: &str) -> Line<'_> {
    let mut body = whole;
    loop {
        let text = body.trim_start();
        match text.strip_prefix('>').filter(|rest| !rest.starts_with('=')) {
            Some(rest) => body = rest.strip_prefix(' ').unwrap_or(rest),
            None => break,
        }
    }
    Line { quote: &whole[..whole.len() - body.len()], body: Cow::Borrowed(body) }
}

/// Removes margins where enough lines agree; returns whether any was removed.
fn cut<'a>(lines: &mut [Line<'a>], of: impl for<'b> Fn(&'b str) -> Option<Margin<'b>>) -> bool {
    let mut whole: Vec<(usize, usize, bool)> = vec![];
    {
        let margins: Vec<Option<Margin>> = lines.iter().map(|line| of(&line.body)).collect();
        let mut at = 0;
        while at < lines.len() {
            let Some(first) = margins[at] else {
                at += 1;
                continue;
            };
            let (mut block, mut last, mut next) = (vec![at], first, at + 1);
            let follows = |i: &usize, last: Margin| {
                margins.get(*i).copied().flatten().is_some_and(|m| follows(last, m))
            };
            while let Some(i) = (next..=next + BETWEEN).find(|i| follows(i, last)) {
                last = margins[i].unwrap_or(last);
                block.push(i);
                next = i + 1;
            }
            let rests: Vec<&str> =
                block.iter().filter_map(|i| Some(rest(&lines[*i].body, margins[*i]?))).collect();
            if agree(first.form, &rests) {
                let end = first.form == Form::End;
                whole.extend(block.iter().filter_map(|i| Some((*i, margins[*i]?.length, end))));
            }
            at = next;
        }
    }
    for (i, length, end) in &whole {
        let body = &lines[*i].body;
        let rest = match end {
            true => body[..body.len() - length].replace("^I", "\t"),
            false => body[*length..].to_owned(),
        };
        lines[*i].body = Cow::Owned(rest);
    }
    !whole.is_empty()
}

fn rest<'b>(body: &'b str, margin: Margin) -> &'b str {
    match margin.form {
        Form::End => &body[..body.len() - margin.length],
        _ => &body[margin.length..],
    }
}

/// Whether one margin may follow another.
fn follows(last: Margin, next: Margin) -> bool {
    let counts = match (last.number, next.number) {
        (None, None) => true,
        (Some(a), Some(b)) if matches!(next.form, Form::Grep(_)) => b > a,
        (Some(a), Some(b)) => b == a + 1,
        _ => false,
    };
    last.form == next.form && counts
}

/// Whether the rests of a block's lines confirm that the margins are no part of them.
fn agree(form: Form, rests: &[&str]) -> bool {
    let letters = rests.iter().any(|rest| rest.contains(|c: char| c.is_alphabetic()));
    let digit = |text: &str, at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    // In `10:00:01` the number is the hour, in `7:10:00:01` it is a line number.
    let colon = |text: &str, at: usize| text.as_bytes().get(at) == Some(&b':');
    let clock = |rest: &&str| digit(rest, 0) && digit(rest, 1) && colon(rest, 2) && !colon(rest, 5);
    // `8:16 rbytes=1`: the numbers of a device.
    let device = |rest: &&str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let key = rest[digits..].strip_prefix(' ').and_then(|rest| rest.split(' ').next());
        digits > 0 && key.is_some_and(|key| key.contains('='))
    };
    let tree = |rest: &&str| {
        let text = rest.trim_start_matches([' ', '|']);
        rest.contains("|-") || text.starts_with("`-")
    };
    match form {
        Form::Grep(_) => rests.len() >= LEAST && letters && !rests.iter().any(|r| clock(r) || device(r)),
        Form::Tab => rests.len() >= LEAST && letters,
        Form::Blanks => rests.len() >= LEAST_OF_BLANKS && letters,
        Form::Mark(BAR) => rests.len() >= LEAST && !rests.iter().any(tree),
        Form::Mark(_) | Form::Item => {
            let number = |word: &&str| decimal(word.trim_end_matches([',', '%', ')'])).is_some();
            let of_numbers =
                |rest: &&&str| rest.split_whitespace().filter(number).count() >= LEAST_OF_NUMBERS;
            letters && rests.len() >= LEAST && rests.iter().filter(of_numbers).count() >= LEAST_OF_NUMBERS
        }
        Form::Stamp | Form::End => rests.len() >= LEAST && letters,
    }
}

/// Parses `12:`, `log.txt:12:`, `log.txt:`, `     12<tab>`, `    12  `.
fn number(body: &str) -> Option<Margin<'_>> {
    let text = body.trim_start_matches(' ');
    let before = body.len() - text.len();
    let name = ENDS.iter().filter_map(|end| Some(text.find(end)? + end.len())).min();
    let name = name.filter(|at| !text[..*at].contains([' ', '\t']) && text[*at..].starts_with([':', '-']));
    if let (Some(at), 0) = (name, before) {
        let behind = &text[at + 1..];
        let (number, length) = counted(behind)
            .filter(|(_, length)| behind[*length..].starts_with([':', '-']))
            .map_or((None, at + 1), |(n, length)| (Some(n), at + 1 + length + 1));
        return Some(Margin { form: Form::Grep(&text[..at]), number, length });
    }
    let (number, digits) = counted(text)?;
    let behind = &text[digits..];
    let width = before + digits;
    let form = match behind.bytes().next() {
        Some(b':') if before == 0 => Form::Grep(""),
        Some(b'-') if before == 0 => Form::Grep(""),
        Some(b'\t') => Form::Tab,
        Some(b' ') if width == WIDTH && behind.starts_with("  ") => Form::Blanks,
        // An empty line whose trailing blanks a mailer removed.
        None if width == WIDTH => Form::Blanks,
        Some(b'.') if behind == "." || behind.starts_with(". ") => Form::Item,
        _ => return None,
    };
    let separator = match form {
        Form::Blanks | Form::Item => behind.len().min(2),
        _ => 1,
    };
    Some(Margin { form, number: Some(number), length: width + separator })
}

/// A line number, which has no leading zero, and its number of digits.
fn counted(text: &str) -> Option<(u64, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let fits = (1..=MOST_DIGITS).contains(&digits) && !text.starts_with('0');
    Some((text[..digits].parse().ok().filter(|_| fits)?, digits))
}

/// Parses `Nov 25 01:02:03 `.
fn stamp(body: &str) -> Option<Margin<'_>> {
    Some(Margin { form: Form::Stamp, number: None, length: stamp::length(body)? })
}

/// Parses `| ` (unless it is a table row in Markdown), `# ` and other marks.
fn mark(body: &str) -> Option<Margin<'_>> {
    let text = body.trim_start();
    let mark = text.chars().next().filter(|c| MARKS.contains(c))?;
    let rest = text[mark.len_utf8()..].strip_prefix([' ', '\t']);
    let rest = rest.or_else(|| text[mark.len_utf8()..].is_empty().then_some(""))?;
    let length = body.len() - rest.len();
    (!is_row(body)).then_some(Margin { form: Form::Mark(mark), number: None, length })
}

/// Parses `$` or `^M$` at the end.
fn end(body: &str) -> Option<Margin<'_>> {
    let text = body.trim_end();
    let rest = text.strip_suffix('$')?;
    let rest = rest.strip_suffix("^M").unwrap_or(rest);
    Some(Margin { form: Form::End, number: None, length: body.len() - rest.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "Linux 6.1.0 (host)\n\nDevice  r/s  %util\nsda    1.00  99.00\n\tsdb    2.00  98.00\n";

    fn each(of: impl Fn(usize, &str) -> String) -> String {
        TABLE.lines().enumerate().map(|(i, line)| of(i + 1, line) + "\n").collect()
    }

    /// As the programs print them, also quoted.
    #[test]
    fn margins_are_taken_off_and_lines_stay() {
        for marked in [
            each(|i, line| format!("{i:6}\t{line}")),
            each(|i, line| format!("{i:6}  {line}")),
            each(|i, line| format!("{i:6}  {line}").trim_end().to_owned()),
            each(|i, line| format!("{}:{line}", i + 40)),
            each(|i, line| format!("  {}. {line}", i + 7)),
            each(|i, line| format!("{i}. {line}").trim_end().to_owned()),
            each(|i, line| format!("{}{}{line}", i * 7, if i % 2 == 0 { ':' } else { '-' })),
            each(|i, line| format!("out/io.log:{i}:{line}")),
            each(|_, line| format!("out/io.log:{line}")),
            each(|_, line| format!("{}$", line.replace('\t', "^I"))),
            each(|_, line| format!("{}^M$", line.replace('\t', "^I"))),
            each(|i, line| format!("{i:6}^I{}$", line.replace('\t', "^I"))),
            each(|i, line| format!("Nov 25 01:02:0{i} {line}")),
            each(|_, line| format!("| {line}")),
            each(|_, line| format!(" | | {line}")),
            each(|_, line| format!("# {line}")),
            each(|_, line| format!("+ {line}")),
            each(|_, line| format!("  * {line}")),
            each(|_, line| format!("| # {line}")),
        ] {
            assert_eq!(without(&marked), TABLE, "{marked}");
            let quoted: String = marked.lines().map(|line| format!("> > {line}\n")).collect();
            let expected: String = TABLE.lines().map(|line| format!("> > {line}\n")).collect();
            assert_eq!(without(&quoted), expected, "{quoted}");
        }
    }

    #[test]
    fn a_line_that_was_broken_ends_no_block() {
        let text = "12:Device  r/s\n13:sda 1.00 2.00\n3.00 4.00\n14:sdb 1.00\n--\n17:sdc 2.00\n";
        assert_eq!(without(text), "Device  r/s\nsda 1.00 2.00\n3.00 4.00\nsdb 1.00\n--\nsdc 2.00\n");
    }

    /// Hours, device numbers, counters, seconds, trees, Markdown tables, fio's depths, prompts.
    #[test]
    fn what_is_no_margin_is_left() {
        for text in [
            "10:00:01 sda 1.00\n11:00:01 sda 1.00\n12:00:01 sda 1.00\n",
            "01:00.0 SATA\n02:00.0 SATA\n03:00.0 NVMe\n",
            "7:0 rbytes=1\n8:0 rbytes=2\n9:0 rbytes=3\n",
            "     1      100     a\n     3      200     b\n     3      200     c\n     4      200     d\n",
            "     1  100\n     2  200\n     3  300\n     4  400\n",
            "3:one\n2:two\n1:three\n",
            "12:Device r/s\n13:sda 1.00\n",
            "sda\n| |-vg-a\n| |-vg-b\n| `-vg-c\n",
            "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n",
            ">=64=0.0%\n>=64=0.0%\n>=64=0.0%\n",
            "make$\nworks\nhost$\n",
            "# iostat -x 1 30\n# cd /mnt\n# fio --bs=4k --size=16 job\n# sync\n",
            "# Total System\n# Total System : q activity\n# dd : q activity\n",
            "1. it was slow\n2. 5 disks in it\n3. 2 of 5 are new\n",
            "* 5 disks in it\n* it was slow\n* 2 of 5 are new\n",
            "+ cd /mnt\n+ fio --bs=4k\n+ sync\n",
            "/sys/block/sda/queue/nr_requests:64\n/sys/block/sda/queue/scheduler:none\n/sys/block/sda/queue/rotational:1\n",
        ] {
            assert!(matches!(without(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
