//! Units as types, and the one way in which numbers are written.
//!
//! Inside iowhy every time is in nanoseconds and every size in bytes ([`Nanos`], [`Bytes`]); humane units are made at the
//! very end, when something is printed, by [`words`]. Nothing is read or decided here, and no other crate is used.

mod unit;
pub mod words;

pub use unit::{Bytes, Cpu, DevId, Nanos, Sector, Tid, SECTOR_BYTES};
