//! Units as types, and the formatting of all numbers.
//!
//! Inside iowhy every time is in nanoseconds and every size in bytes ([`Nanos`], [`Bytes`]); [`words`] converts them to readable units
//! when something is printed. This crate reads and decides nothing, and uses no other crate.

mod unit;
pub mod words;

pub use unit::{Bytes, Cpu, DevId, Nanos, Sector, Tid, SECTOR_BYTES};
