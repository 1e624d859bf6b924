//! `causes`.
