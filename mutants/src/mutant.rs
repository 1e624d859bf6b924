//! A mutant, as cargo-mutants lists it.

use serde::Deserialize;
use std::path::PathBuf;

/// A mutant as `cargo mutants --list --json` describes it, and its number, from 1.
#[derive(Deserialize)]
pub struct Mutant {
    pub id: u32,
    pub file: PathBuf,
    pub genre: String,
    pub span: Span,
    pub replacement: String,
}

#[derive(Deserialize)]
pub struct Span {
    pub start: At,
}

/// Line and column, from 1, the column in characters.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    pub line: usize,
    pub column: usize,
}
