//! A target of fuzzing.

/// A family of parsers.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the name of its folder.
    pub name: &'static str,
    /// Reads the bytes.
    pub run: fn(&[u8]),
    /// Longer inputs only make it slow.
    pub longest: usize,
}
