//! A slow disk on any machine, for tests.
//!
//! A FUSE file system with one file, `disk`, that answers as slowly as a [`Model`] says. Under
//! `losetup --direct-io=on` it is a block device with every scheduler, and no special hardware is needed.

mod disk;
mod model;

pub use disk::{mount, Options};
pub use model::{Model, Nanos, Op, Queue};
