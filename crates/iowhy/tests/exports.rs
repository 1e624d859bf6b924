//! `iowhy export` of tables: every table of `report --json`, row by row and cell by cell.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-ordered-data")
}

fn iowhy(arguments: &[&str]) -> Vec<u8> {
    let ran = Command::new(env!("CARGO_BIN_EXE_iowhy")).args(arguments).arg(fixture()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

fn tables() -> Map<String, Value> {
    let told: Value = serde_json::from_slice(&iowhy(&["report", "--json"])).unwrap();
    let tables = told["tables"].as_object().unwrap().clone();
    assert!(tables.len() > 10, "{} tables", tables.len());
    assert!(tables.values().any(|rows| rows.as_array().is_some_and(|rows| rows.len() > 5)));
    tables
}

/// The names of the files with this ending, without it.
fn files(folder: &Path, ending: &str) -> BTreeSet<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(ending).expect(ending).to_string()
    };
    std::fs::read_dir(folder).unwrap().map(name).collect()
}

/// Besides the tables there are the rows of what they sum up.
fn expected() -> BTreeSet<String> {
    let beside = ["requests", "operations"].map(String::from);
    tables().keys().cloned().chain(beside).collect()
}

#[test]
fn lines_of_json_are_the_rows_of_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    iowhy(&["export", "--to", "jsonl", folder.path().to_str().unwrap()]);
    assert_eq!(files(folder.path(), ".jsonl"), expected());
    for (name, rows) in tables() {
        let text = std::fs::read_to_string(folder.path().join(format!("{name}.jsonl"))).unwrap();
        let read: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(Value::Array(read), rows, "{name}");
    }
}

#[test]
fn cells_of_csv_are_those_of_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    iowhy(&["export", "--to", "csv", folder.path().to_str().unwrap()]);
    assert_eq!(files(folder.path(), ".csv"), expected());
    let mut compared = 0;
    for (name, rows) in tables() {
        let mut csv = csv::Reader::from_path(folder.path().join(format!("{name}.csv"))).unwrap();
        let head = csv.headers().unwrap().clone();
        let read: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        let rows = rows.as_array().unwrap();
        assert_eq!(read.len(), rows.len(), "{name}");
        for (cells, row) in read.iter().zip(rows) {
            let row = row.as_object().unwrap();
            assert_eq!(
                head.iter().collect::<BTreeSet<_>>(),
                row.keys().map(String::as_str).collect(),
                "{name}"
            );
            for (key, cell) in head.iter().zip(cells) {
                let same = match &row[key] {
                    Value::Null => cell.is_empty(),
                    Value::String(text) => cell == text,
                    // Shares: the last digit of a float depends on who reads it.
                    Value::Number(n) if n.is_f64() => {
                        let (a, b) = (cell.parse::<f64>().unwrap(), n.as_f64().unwrap());
                        (a - b).abs() <= b.abs() * 1e-12
                    }
                    Value::Number(n) => cell.parse().ok() == n.as_i128(),
                    other => panic!("{name}: {key} is {other}"),
                };
                assert!(same, "{name}: {key} is {cell:?} for {}", row[key]);
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} cells");
}

/// Operations by name, as three commands count them: those of the kernel's own threads are in none but `explain`.
#[test]
fn every_command_counts_the_same_operations() {
    let fixtures = fixture().parent().unwrap().to_path_buf();
    let mut compared = 0;
    for name in ["postgres-beside-copy", "fsync-journal-cpu", "fsync-writeback-throttle", "fsync-log-force"] {
        let run = |arguments: &[&str]| {
            let ran =
                Command::new(env!("CARGO_BIN_EXE_iowhy")).args(arguments).arg(fixtures.join(name)).output();
            let ran = ran.unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            ran.stdout
        };
        let json = |arguments: &[&str]| -> Value { serde_json::from_slice(&run(arguments)).unwrap() };
        let counted = |all: &Value| {
            let mut by_name = std::collections::BTreeMap::<String, u64>::new();
            for of in all["operations"].as_array().unwrap() {
                *by_name.entry(of["op"].as_str().unwrap().into()).or_default() +=
                    of["count"].as_u64().unwrap();
            }
            by_name
        };
        let dist = counted(&json(&["dist", "--json"]));
        let mut explained = json(&["explain", "--json"]);
        explained["operations"].as_array_mut().unwrap().retain(|of| of["level"] == "operation");
        let explained = counted(&explained);
        let folder = tempfile::tempdir().unwrap();
        run(&["export", "--to", "csv", folder.path().to_str().unwrap()]);
        let mut rows = std::collections::BTreeMap::<String, u64>::new();
        let mut csv = csv::Reader::from_path(folder.path().join("operations.csv")).unwrap();
        let header = csv.headers().unwrap().clone();
        let keys: BTreeSet<&str> = header.iter().collect();
        assert_eq!(keys.len(), header.len(), "no column has another's name: {header:?}");
        csv.records().for_each(|row| *rows.entry(row.unwrap()[0].to_string()).or_default() += 1);
        for (op, count) in &dist {
            assert_eq!((explained.get(op), rows.get(op)), (Some(count), Some(count)), "{name}: {op}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}
