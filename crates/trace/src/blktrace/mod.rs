//! blktrace's binary format, versions 7 and 8.
//!
//! `record` knows the layout of one record, `stream` reads a file of records step by step, `sequence` notices
//! what is missing. Putting the streams of all CPUs in order is the business of [`crate::merge`].

mod record;
mod sequence;
mod stream;

pub use record::looks_like;
pub use stream::Stream;
