//! What a step gives back.

/// What went wrong, in words.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
