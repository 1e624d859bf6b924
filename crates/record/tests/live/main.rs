//! Recordings on the machine that runs the tests: as root, with tracefs, on loop devices.
//!
//! Each test says loudly what is missing and then skips. Nothing is mounted but in private namespaces, and no
//! tunable is written.

mod endings;
mod filesystems;
mod machine;
mod outputs;
mod own;
mod refusals;
