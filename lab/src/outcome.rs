//! What a step of the lab gives back.

/// What a step gives back. The messages name the scenario or the file, and what to do.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
