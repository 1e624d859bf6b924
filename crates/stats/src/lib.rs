//! Statistics in bounded memory that merge: those of A merged with those of B are those of A followed by B.

mod depth;
mod distribution;
mod seek;
mod series;

pub use depth::Depth;
pub use distribution::{Bucket, Distribution, Summary};
pub use seek::{Measure, Mode, Seeks};
pub use series::{Cell, Series};
