//! The table of waits as folded stacks (`victim;wait;...;culprit 123`) for flamegraph.pl, inferno and speedscope: each line is a
//! row of the table with its nanoseconds, so all lines sum to the table's time.

use crate::output::{Failure, Folder};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use trace::Nanos;

/// One line for each stack with time, sorted by stack.
pub fn folded(stacks: &BTreeMap<String, Nanos>) -> String {
    let mut text = String::new();
    for (stack, time) in stacks.iter().filter(|(_, time)| time.0 > 0) {
        let _ = writeln!(text, "{stack} {}", time.0);
    }
    text
}

/// Writes the lines into `waits.folded`. Returns the file's name and its number of lines.
pub fn write_folded(folder: &Folder, stacks: &BTreeMap<String, Nanos>) -> Result<(String, u64), Failure> {
    let mut file = folder.file("waits.folded")?;
    let text = folded(stacks);
    // An output reports failures only in `finish`.
    let _ = file.write_all(text.as_bytes());
    file.entries = text.lines().count() as u64;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_stack_that_took_time() {
        let stacks = BTreeMap::from([("b;c".to_string(), Nanos(7)), ("a".to_string(), Nanos(0))]);
        assert_eq!(folded(&stacks), "b;c 7\n");
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path()).unwrap();
        assert_eq!(write_folded(&folder, &stacks).unwrap(), ("waits.folded".to_string(), 1));
        assert_eq!(std::fs::read_to_string(dir.path().join("waits.folded")).unwrap(), "b;c 7\n");
    }
}
