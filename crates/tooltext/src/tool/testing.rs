//! Helpers for the tests of readers: a text unchanged, as mailers change it, and with wrong bytes.

use crate::output::{Reading, ToolOutput};

/// The only reading of a tool in a text. Checks that quoting does not change it, and that wrong bytes cause no panic.
pub(crate) fn one(text: &str, tool: &str) -> Reading {
    let mut all = all(text, tool);
    assert_eq!(all.len(), 1, "{tool} in\n{text}\n{all:?}");
    all.remove(0)
}

/// The readings of a tool in a text, with the same checks as [`one`].
pub(crate) fn all(text: &str, tool: &str) -> Vec<Reading> {
    let plain = readings(text, tool);
    let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
    let numbers =
        |all: &[Reading]| format!("{:?}", all.iter().map(|r| (&r.name, &r.rows)).collect::<Vec<_>>());
    assert_eq!(numbers(&readings(&quoted, tool)), numbers(&plain), "quoted:\n{text}");
    if text.lines().count() >= LEAST_NUMBERED {
        for numbered in numbered(text) {
            assert_eq!(numbers(&readings(&numbered, tool)), numbers(&plain), "numbered:\n{numbered}");
        }
    }
    mutate(text.as_bytes());
    plain
}

/// Minimum number of lines that are recognised as numbered.
const LEAST_NUMBERED: usize = 4;

/// The text as printed by `cat -n`, `grep -n` and `cat -A`.
fn numbered(text: &str) -> [String; 3] {
    let each = |of: &dyn Fn(usize, &str) -> String| {
        text.lines().enumerate().map(|(i, line)| of(i + 1, line) + "\n").collect()
    };
    [
        each(&|i, line| format!("{i:6}\t{line}")),
        each(&|i, line| format!("{i}:{line}")),
        each(&|_, line| format!("{}$", line.replace('\t', "^I"))),
    ]
}

fn readings(text: &str, tool: &str) -> Vec<Reading> {
    let output = ToolOutput::read("text", text.as_bytes());
    assert!(output.understood <= output.words);
    output
        .runs
        .iter()
        .flat_map(|run| run.of(tool).cloned().collect::<Vec<_>>())
        .filter(|r| !r.rows.is_empty())
        .collect()
}

/// Reads the text with single bytes replaced by ones that readers interpret, and truncated at these positions.
fn mutate(text: &[u8]) {
    const BYTES: &[u8] = b" \n:=[]()<>%.,-0z\xff";
    let step = (text.len() / 64).max(1);
    for (i, at) in (0..text.len()).step_by(step).enumerate() {
        let mut wrong = text.to_vec();
        wrong[at] = BYTES[i % BYTES.len()];
        for bytes in [&wrong[..], &text[..at]] {
            let output = ToolOutput::read("wrong", bytes);
            assert!(output.understood <= output.words);
        }
    }
}
