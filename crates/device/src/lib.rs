//! Reconstructs what a device was doing while it had a request.
//!
//! [`Inside`] gets every issue and completion on one device and splits each request's D2C, exactly, into its own
//! service, the time behind others (each a [`Holder`]), pauses in which nothing was completed, and a rest. [`Services`] has
//! the latencies of requests alone. State machines without I/O: events in, [`Split`]s out.

mod inside;
mod model;
mod quiet;
mod service;
mod split;

pub use inside::{Inside, Ticket, HUNG, LONGEST_SERVICE, SEEK};
pub use model::Model;
pub use quiet::MIN_QUIET;
pub use service::{Services, Shape};
pub use split::{largest_remainder, Behind, Holder, Split, MOST_HOLDERS};
