//! A disk of configurable slowness on any machine, for tests.
//!
//! A FUSE file system with one file, `disk`, whose operations take as long as a [`Model`] says. Under
//! `losetup --direct-io=on` it is a block device that any I/O scheduler can serve; no special hardware is needed.

mod disk;
mod model;

pub use disk::{mount, Options};
pub use model::{Model, Nanos, Op, Queue};
