//! Exports of recordings for other programs; each format has a file or folder:
//!
//! ```text
//! btt       btt's plots          its `.dat` files, correct where btt is wrong
//! perfetto  ui.perfetto.dev     requests and operations as slices, waits behind other tasks as arrows; counters
//! tables    CSV, JSON lines     every table of `report`, and one row for each request and operation
//! fio       read_iolog v3       the bios of a device, to be replayed
//! hdr       HdrHistogram logs   latencies of each second
//! folded    flame graphs        the table of waits as stacks
//! ```
//!
//! Rows and slices are written as I/O and operations end, so memory depends on what is in flight. Only `tables` of sums
//! need the end. Names of tasks and devices are arbitrary: each format escapes them in its own way.

mod btt;
mod device_names;
mod fio;
mod folded;
mod hdr;
mod output;
pub mod perfetto;
mod rows;
mod tables;

pub use btt::{BttExport, BttOptions};
pub use device_names::DeviceNames;
pub use fio::Fio;
pub use folded::{folded, write_folded};
pub use hdr::HdrLog;
pub use output::{Failure, Folder, Output};
pub use perfetto::Perfetto;
pub use rows::Rows;
pub use tables::{write_tables, Form};
