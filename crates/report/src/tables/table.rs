//! A table: one model that is printed as aligned text and as JSON, so that both show the same numbers.
//!
//! Text has readable units on every number and no box characters, so that it survives a mail. JSON has one object per
//! row with raw numbers: nanoseconds, bytes, shares from 0 to 1; a missing value is `null`.

use crate::wrap::{self, columns_of};
use serde_json::{Map, Value as Json};
use std::fmt::Write;
use trace::{Bytes, Nanos};
use units::words;

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged, rename = "Cell"))]
pub enum Value {
    /// Words, the same in text and in JSON.
    Text(String),
    /// A technical term: in lower case in JSON, followed by plain words in text.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Term(&'static str, &'static str),
    /// A name in JSON, shown in text as other words.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Named(&'static str, &'static str),
    /// An integer, such as a number of requests.
    Count(u64),
    /// A time in nanoseconds.
    Time(u64),
    /// A size in bytes.
    Size(u64),
    /// A part of a whole, from 0 to 1; in percent in text.
    Share(f64),
    /// A number without a unit.
    Number(f64),
    /// No value: empty in text, `null` in JSON.
    None,
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::Text(t) => t.clone(),
            Value::Term(name, "") => name.to_string(),
            Value::Term(name, plain) => format!("{name} {plain}"),
            Value::Named(_, words) => words.to_string(),
            Value::Count(n) => words::count(*n),
            Value::Time(t) => words::time(Nanos(*t)),
            Value::Size(b) => words::size(Bytes(*b)),
            Value::Share(s) => words::percent(*s),
            Value::Number(n) if *n >= 1000.0 => words::count(n.round() as u64),
            Value::Number(n) if *n >= 100.0 => format!("{n:.0}"),
            Value::Number(n) => format!("{n:.1}"),
            Value::None => String::new(),
        }
    }

    fn json(&self) -> Json {
        match self {
            Value::Text(t) => t.as_str().into(),
            Value::Term(name, _) => name.to_lowercase().into(),
            Value::Named(name, _) => (*name).into(),
            Value::Count(n) | Value::Time(n) | Value::Size(n) => (*n).into(),
            Value::Share(s) => (*s).into(),
            Value::Number(n) => (*n).into(),
            Value::None => Json::Null,
        }
    }

    fn is_words(&self) -> bool {
        matches!(self, Value::Text(_) | Value::Term(..) | Value::Named(..))
    }
}

/// A column: its name in JSON, which ends in the unit, and its heading in text.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name in JSON: `p99_ns`.
    pub key: &'static str,
    /// The heading in text: `p99`. Empty: only in JSON, because the line of text would become too long.
    pub head: &'static str,
}

/// Columns from pairs of key and heading.
pub const fn columns<const N: usize>(pairs: [(&'static str, &'static str); N]) -> [Column; N] {
    let mut out = [Column { key: "", head: "" }; N];
    let mut i = 0;
    while i < N {
        out[i] = Column { key: pairs[i].0, head: pairs[i].1 };
        i += 1;
    }
    out
}

/// Rows under named columns, with a title and notes.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name by which the table is selected.
    pub name: &'static str,
    /// What the table shows, in one line.
    pub title: String,
    /// Lines below the table that explain how to read it.
    pub notes: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &'static str, title: impl Into<String>, columns: &[Column]) -> Table {
        Table { name, title: title.into(), notes: vec![], columns: columns.to_vec(), rows: vec![] }
    }

    /// Adds a row; it has as many values as the table has columns.
    pub fn row(&mut self, values: Vec<Value>) {
        debug_assert_eq!(values.len(), self.columns.len(), "{}", self.name);
        self.rows.push(values);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns' names in JSON.
    pub fn keys(&self) -> Vec<&'static str> {
        self.columns.iter().map(|c| c.key).collect()
    }

    /// The rows as objects, by the columns' names.
    pub fn json(&self) -> Json {
        let object = |row: &Vec<Value>| {
            let fields = self.columns.iter().zip(row).map(|(c, v)| (c.key.to_string(), v.json()));
            Json::Object(fields.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }

    /// The table as text. Columns without any value are left out. From the left, words that repeat those of the row
    /// above are blank.
    pub fn text(&self) -> String {
        let said = |c: &usize| !self.columns[*c].head.is_empty();
        let used = |c: &usize| self.rows.iter().any(|r| r[*c] != Value::None);
        let shown: Vec<usize> = (0..self.columns.len()).filter(said).filter(used).collect();
        let mut lines = vec![shown.iter().map(|c| self.columns[*c].head.to_string()).collect::<Vec<_>>()];
        for (i, row) in self.rows.iter().enumerate() {
            let above = i.checked_sub(1).map(|a| &self.rows[a]);
            let mut same = above.is_some();
            let cell = |c: &usize| {
                same &= row[*c].is_words() && above.is_some_and(|a| a[*c] == row[*c]);
                if same && *c + 1 < row.len() {
                    String::new()
                } else {
                    row[*c].text()
                }
            };
            lines.push(shown.iter().map(cell).collect());
        }
        let is_words = |c: &usize| self.rows.iter().all(|r| r[*c].is_words() || r[*c] == Value::None);
        let is_left: Vec<bool> = shown.iter().map(is_words).collect();
        let wide = |c: usize| lines.iter().map(|l| columns_of(&l[c])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..shown.len()).map(wide).collect();
        let mut out = format!("{}: {}\n", self.name, self.title);
        for line in &lines {
            let mut text = String::new();
            for (c, cell) in line.iter().enumerate() {
                let pad = if is_left[c] { wrap::left } else { wrap::right };
                let _ = write!(text, " {} ", pad(cell, widths[c]));
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
        self.notes.iter().for_each(|n| out.push_str(&format!(" {n}\n")));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_aligned_and_json_is_raw() {
        let cols = columns([("device", "device"), ("op", "op"), ("p99_ns", "p99"), ("none", "none")]);
        let mut t = Table::new("ops", "how long", &cols);
        for (op, ns) in [("read", 1_500_000), ("write", 20)] {
            t.row(vec![Value::Text("vda".into()), Value::Text(op.into()), Value::Time(ns), Value::None]);
        }
        let text = "ops: how long\n device  op        p99\n vda     read   1.5 ms\n         write   20 ns\n";
        assert_eq!(t.text(), text);
        assert_eq!(
            t.json(),
            serde_json::json!([
                { "device": "vda", "op": "read", "p99_ns": 1_500_000, "none": null },
                { "device": "vda", "op": "write", "p99_ns": 20, "none": null },
            ])
        );
    }
}
