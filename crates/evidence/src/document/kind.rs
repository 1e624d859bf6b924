//! What every reader of a kind of text can do.

use crate::fact::At;
use crate::system::System;

/// A reader for one kind of text. It keeps the state that it needs from earlier lines (a table's header).
pub(crate) trait Kind {
    /// Name of the kind in [`Document::kinds`](crate::Document::kinds).
    fn name(&self) -> &'static str;

    /// Adds the data in `line` to `system`. Returns false, and adds nothing, if the line is not of this kind.
    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool;
}
