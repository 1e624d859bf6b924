//! The disks that conditions are drawn from (`lab/apps/catalogue.toml`) have only options that this program has: a wrong one would be
//! noticed by the first draw that takes it, minutes later.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The names of the options that a line of the catalogue gives: `options = { read-us = [70, 120], .. }`, `option = "rate"`.
fn given(line: &str) -> Vec<&str> {
    if let Some(name) = line.strip_prefix("option = ") {
        return vec![name.trim_matches('"')];
    }
    let Some(all) = line.strip_prefix("options = {") else { return vec![] };
    let before_values =
        all.split('=').map(|part| part.trim_end().rsplit([' ', '{']).next().unwrap_or_default());
    // What stands behind the last `=` is a value.
    let mut names: Vec<&str> = before_values.collect();
    names.pop();
    names
}

#[test]
fn every_disk_that_is_drawn_from_has_only_options_that_there_are() {
    let help = Command::new(env!("CARGO_BIN_EXE_slowdisk")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let known: BTreeSet<&str> = help.split_whitespace().filter_map(|word| word.strip_prefix("--")).collect();
    let catalogue = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/apps/catalogue.toml");
    let catalogue = std::fs::read_to_string(catalogue).unwrap();
    let all: BTreeSet<&str> = catalogue.lines().flat_map(given).collect();
    assert!(all.contains("read-us") && all.contains("jitter") && all.len() > 10, "{all:?}");
    let unknown: Vec<_> = all.difference(&known).collect();
    assert!(unknown.is_empty(), "slowdisk has no {unknown:?}; it has {known:?}");
}
