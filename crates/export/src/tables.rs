//! Tables as files: each table as CSV (RFC 4180) or JSON lines, with the raw numbers of `report --json`.

use crate::output::{Failure, Folder, Output};
use report::Table;
use serde_json::Value;
use std::io::Write;

/// The file format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values, with a first line of column names.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Form {
    /// The extension of files in this format, without a dot.
    pub fn ending(self) -> &'static str {
        match self {
            Form::Csv => "csv",
            Form::Jsonl => "jsonl",
        }
    }
}

/// Writes each table into a file of its own. Returns the name and number of rows of each file.
pub fn write_tables(folder: &Folder, tables: &[Table], form: Form) -> Result<Vec<(String, u64)>, Failure> {
    let one = |table: &Table| {
        let mut file = TableFile::create(folder, table.name, form, &table.keys())?;
        if let Value::Array(rows) = table.json() {
            for row in &rows {
                let values = row.as_object().into_iter().flat_map(|fields| fields.values());
                file.row(&values.cloned().collect::<Vec<_>>());
            }
        }
        file.finish()
    };
    tables.iter().map(one).collect()
}

/// A table that is being written, row by row.
pub struct TableFile {
    keys: Vec<String>,
    form: Form,
    out: Rows,
}

enum Rows {
    Csv(Box<csv::Writer<Output>>, u64),
    Jsonl(Output),
}

impl TableFile {
    /// Creates the file of a table without rows.
    pub fn create(
        folder: &Folder,
        name: &str,
        form: Form,
        keys: &[impl AsRef<str>],
    ) -> Result<TableFile, Failure> {
        let keys: Vec<String> = keys.iter().map(|key| key.as_ref().to_string()).collect();
        let file = folder.file(&format!("{name}.{}", form.ending()))?;
        let out = match form {
            Form::Jsonl => Rows::Jsonl(file),
            Form::Csv => {
                let mut csv = csv::Writer::from_writer(file);
                // An output reports failures only in `finish`.
                let _ = csv.write_record(&keys);
                Rows::Csv(Box::new(csv), 0)
            }
        };
        Ok(TableFile { keys, form, out })
    }

    /// Adds a row, which has one value for each key.
    pub fn row(&mut self, values: &[Value]) {
        debug_assert_eq!(values.len(), self.keys.len(), "{:?}", self.form);
        match &mut self.out {
            Rows::Csv(csv, rows) => {
                *rows += 1;
                let _ = csv.write_record(values.iter().map(|value| match value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                }));
            }
            Rows::Jsonl(out) => {
                out.entries += 1;
                let fields = self.keys.iter().cloned().zip(values.iter().cloned());
                let _ = writeln!(out, "{}", Value::Object(fields.collect()));
            }
        }
    }

    /// Finishes the table. Returns the file's name and its number of rows.
    pub fn finish(self) -> Result<(String, u64), Failure> {
        match self.out {
            Rows::Jsonl(out) => out.finish(),
            Rows::Csv(csv, rows) => {
                let mut out = match csv.into_inner() {
                    Ok(out) => out,
                    Err(e) => return Err(("table.csv".into(), e.into_error())),
                };
                out.entries = rows;
                out.finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Names that could break out of the cells of a table.
    #[test]
    fn hostile_names_stay_in_their_cells() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path()).unwrap();
        let names = ["a,b", "\"; DROP", "line\r\nbreak", "\u{1b}[31m", &"x".repeat(70_000)];
        for form in [Form::Csv, Form::Jsonl] {
            let mut file = TableFile::create(&folder, "tasks", form, &["task", "n", "none"]).unwrap();
            names.iter().for_each(|name| file.row(&[json!(name), json!(7), Value::Null]));
            assert_eq!(file.finish().unwrap(), (format!("tasks.{}", form.ending()), names.len() as u64));
        }
        let mut csv = csv::Reader::from_path(dir.path().join("tasks.csv")).unwrap();
        assert_eq!(csv.headers().unwrap(), vec!["task", "n", "none"]);
        let read: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        for (row, name) in read.iter().zip(names) {
            assert_eq!(row, &csv::StringRecord::from(vec![name, "7", ""]));
        }
        let text = std::fs::read_to_string(dir.path().join("tasks.jsonl")).unwrap();
        assert_eq!(text.lines().count(), names.len());
        for (line, name) in text.lines().zip(names) {
            assert_eq!(
                serde_json::from_str::<Value>(line).unwrap(),
                json!({ "task": name, "n": 7, "none": null })
            );
        }
    }
}
