//! The style of standard output: its width, and whether it has colours.

use report::Style;
use std::io::IsTerminal;

/// The minimal width: a narrower screen would break every word.
const NARROWEST: usize = 40;

/// The width of the output: `COLUMNS`, or the terminal's columns; 80 for a pipe.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns.into());
    told.or_else(terminal).unwrap_or(Style::default().width).max(NARROWEST)
}

/// The style: colours only on a terminal, and only if `NO_COLOR` is not set (no-color.org).
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    Style { colour: wanted && std::io::stdout().is_terminal(), width: width(), ..Style::default() }
}
