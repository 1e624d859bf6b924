//! Why something cannot be predicted.

/// Why settings cannot be used or a prediction cannot be made, in words.
pub type Refusal = String;
