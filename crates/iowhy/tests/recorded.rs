//! Live tests on slow disks, one at a time ([`lab`]), in one program.

mod lab;
mod live_files;
mod live_operations;
mod live_redact;
mod live_waits;
mod live_writers;
