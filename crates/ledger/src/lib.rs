//! `ledger`.
