//! Statistics in bounded memory that merge: those of A merged with those of B are those of A followed by B.

mod distribution;

pub use distribution::{Bucket, Distribution, Summary};
