//! Pieces of a source that are written in another form, one within another.

use proc_macro2::{LineColumn, Span};
use std::fmt::Write;
use std::ops::Range;

/// What becomes of a piece. `Option`s and lists of numbers say which mutants are there.
pub enum Form {
    /// `LEFT OP RIGHT`: for each mutant another operator.
    Binary { left: Range<usize>, right: Range<usize>, op: String, others: Vec<(u32, String)> },
    /// `OP OPERAND`: without the operator.
    Unary { operand: Range<usize>, id: u32 },
    /// The condition of an arm: always, or never.
    Guard { always: Option<u32>, never: Option<u32> },
    /// The end of an arm's pattern: it is not taken.
    Arm { id: u32 },
    /// The beginning of a function: returns at once.
    Body { values: Vec<(u32, String)> },
    /// A field of a structure, from its name to its value: what the base has.
    Field { name: String, of: String, base: Range<usize>, value: Range<usize>, id: u32 },
}

pub struct Regions<'a> {
    source: &'a str,
    lines: Vec<usize>,
    all: Vec<(Range<usize>, Form)>,
}

impl<'a> Regions<'a> {
    pub fn new(source: &'a str) -> Self {
        let lines = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { source, lines, all: Vec::new() }
    }

    fn offset(&self, at: LineColumn) -> usize {
        let line = self.lines[at.line - 1];
        self.source[line..].char_indices().nth(at.column).map_or(self.source.len(), |(bytes, _)| line + bytes)
    }

    pub fn range(&self, span: Span) -> Range<usize> {
        self.offset(span.start())..self.offset(span.end())
    }

    pub fn text(&self, span: Span) -> &'a str {
        &self.source[self.range(span)]
    }

    /// Outer pieces are added before what is in them.
    pub fn add(&mut self, range: Range<usize>, form: Form) {
        self.all.push((range, form));
    }

    /// The source with all of them.
    pub fn render(mut self) -> String {
        // What is put in before a piece is no part of it. Stable, so an outer piece of the same length stays before the inner one.
        self.all.sort_by_key(|(r, _)| (r.start, !r.is_empty(), std::cmp::Reverse(r.end)));
        self.piece(0..self.source.len(), 0)
    }

    /// The text of `range` with the pieces in it, of those from `first` on.
    fn piece(&self, range: Range<usize>, first: usize) -> String {
        let (mut out, mut at) = (String::new(), range.start);
        for (index, (r, form)) in self.all.iter().enumerate().skip(first) {
            if r.start >= at && r.end <= range.end {
                out += &self.source[at..r.start];
                out += &self.form(r, form, index + 1);
                at = r.end;
            }
        }
        out + &self.source[at..range.end]
    }

    fn form(&self, whole: &Range<usize>, form: &Form, inner: usize) -> String {
        let is = |id: &u32| format!("crate::__mutant::is({id})");
        let mut out = String::new();
        match form {
            Form::Binary { left, right, op, others } => {
                let (left, right) = (self.piece(left.clone(), inner), self.piece(right.clone(), inner));
                for (id, other) in others {
                    write!(out, "if {} {{ /*<{id}*/ ({left}) {other} ({right}) /*>*/ }} else ", is(id))
                        .unwrap();
                }
                write!(out, "{{ ({left}) {op} ({right}) }}").unwrap();
                place(others.iter().map(|o| o.0), &format!("({out})"))
            }
            Form::Unary { operand, id } => {
                let whole = &self.source[whole.start..operand.start];
                let operand = self.piece(operand.clone(), inner);
                place(
                    [*id],
                    &format!("(if {} {{ /*<{id}*/ {operand} /*>*/ }} else {{ {whole}{operand} }})", is(id)),
                )
            }
            Form::Guard { always, never } => {
                out = format!("({})", self.piece(whole.clone(), inner));
                if let Some(id) = always {
                    out = format!("({} || {out})", is(id));
                }
                if let Some(id) = never {
                    out = format!("(!{} && {out})", is(id));
                }
                place(always.iter().chain(never).copied(), &out)
            }
            Form::Arm { id } => place([*id], &format!(" if !{}", is(id))),
            Form::Body { values } => {
                for (id, value) in values {
                    write!(out, "if {} {{ /*<{id}*/ return {value}; /*>*/ }} ", is(id)).unwrap();
                }
                place(values.iter().map(|v| v.0), &out)
            }
            Form::Field { name, of, base, value, id } => {
                let base =
                    format!("{{ let base: &{of} = &({}); base.{name}.clone() }}", &self.source[base.clone()]);
                let value = self.piece(value.clone(), inner);
                place(
                    [*id],
                    &format!("{name}: if {} {{ /*<{id}*/ {base} /*>*/ }} else {{ {value} }}", is(id)),
                )
            }
        }
    }
}

/// What is there, in comments that say whose place it is.
fn place(ids: impl IntoIterator<Item = u32>, text: &str) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    format!("/*{{{}*/ {text} /*}}*/", ids.join(" "))
}
