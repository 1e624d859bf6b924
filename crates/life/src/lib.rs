//! The lives of bios and requests: queued, split, merged, issued, requeued, completed, and which sent which.
//!
//! [`Lives`] takes in events and passes every completed [`Request`] and [`Bio`] to a [`Sink`].

mod apart;
mod bearers;
mod bio;
mod bios;
mod complete;
mod crowd;
mod device;
mod doubt;
mod early;
mod flush;
mod holding;
mod jobs;
mod lives;
mod names;
mod op;
mod piece;
mod plug;
mod read_ahead;
mod request;
mod rows;
mod share;
mod stack;
mod submit;
mod tally;
mod timeline;

pub use ::device::{Model, Services, LONGEST_SERVICE, SEEK};
pub use bio::{Bio, BioNumber};
pub use crowd::{ByClass, Company, FLOOD_BYTES, FLOOD_DEPTH};
pub use device::GIVEN_UP;
pub use holding::{Holding, Io, Owner};
pub use lives::{Lives, Sink, MAX_DEVICES};
pub use names::{Heard, Names, News, TaskName};
pub use op::{has_extent, kind, Class, Op, KIND};
pub use plug::Plug;
pub use request::Request;
pub use rows::Unclaimed;
pub use share::{Remapped, Share};
pub use stack::{Busy, Lower, Step};
pub use tally::{Tally, Unfinished};
pub use timeline::{FlushWait, Flushed, Timeline};
