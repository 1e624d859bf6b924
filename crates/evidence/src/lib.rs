//! `evidence`.
