//! `stats`.
