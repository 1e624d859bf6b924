//! An input from which fuzzing begins.

/// An input and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// A file's name.
    pub name: String,
    /// What it begins with.
    pub bytes: Vec<u8>,
}

pub(crate) fn seed(name: &str, bytes: &[u8]) -> Seed {
    Seed { name: name.into(), bytes: bytes.to_vec() }
}
