//! What standard output is like: how wide, and whether it has colours.

use report::Style;
use std::io::IsTerminal;

/// Narrower screens would break every word.
const NARROWEST: usize = 40;

/// The terminal's columns, or `COLUMNS`; a pipe gets 80.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns.into());
    told.or_else(terminal).unwrap_or(Style::default().width).max(NARROWEST)
}

/// Colour only on a terminal and only if `NO_COLOR` is not set (no-color.org).
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    Style { colour: wanted && std::io::stdout().is_terminal(), width: width(), ..Style::default() }
}
