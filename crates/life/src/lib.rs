//! `life`.
