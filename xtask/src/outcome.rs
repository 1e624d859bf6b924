//! What a task gives back.

/// What a task gives back. The messages name the file and what to do.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
