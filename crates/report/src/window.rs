//! The window of time that was asked about.

use events::Window;
use units::words::time;

/// The window of time in words. Example: `from 5 s to 8 s`.
pub(crate) fn part(w: Window) -> String {
    let to = if w.end == Window::default().end { "on".to_string() } else { format!("to {}", time(w.end)) };
    format!("from {} {to}", time(w.start))
}
