//! Reads blktrace's binary format, versions 7 and 8.
//!
//! `record` defines the layout of one record, `stream` reads a file of records step by step, `sequence` detects
//! missing records. [`crate::merge`] sorts the streams of all CPUs.

mod record;
mod sequence;
mod stream;

pub use record::looks_like;
pub use stream::Stream;
