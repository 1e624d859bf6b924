//! Follows bios and requests through the block layer, and links bios of stacked devices to those sent below.
//!
//! [`IoTracker`] takes in events and passes every completed [`Request`] and [`Bio`] to an [`IoObserver`].

mod apart;
mod bearers;
mod begun;
mod bio;
mod bio_id;
mod bios;
mod complete;
mod contention;
mod cut_off;
mod device;
mod doubt;
mod early;
mod flush;
mod holding;
mod jobs;
mod names;
mod observer;
mod op;
mod owner;
mod piece;
mod plug;
mod read_ahead;
mod request;
mod rows;
mod share;
mod stack;
mod submit;
mod tally;
mod task_name;
mod timeline;
mod tracker;

pub use ::device::{Model, Services, HUNG, LONGEST_SERVICE, SEEK};
pub use begun::{is_unknown_sender, with_hung, Flusher, Underway};
pub use bio::Bio;
pub use bio_id::BioNumber;
pub use contention::{ByClass, Contention, FLOOD_BYTES, FLOOD_DEPTH};
pub use device::GIVEN_UP;
pub use holding::{Holding, Io};
pub use names::{Names, NamesSeen, News};
pub use observer::IoObserver;
pub use op::{has_extent, kind, Class, Op, KIND};
pub use owner::Owner;
pub use plug::Plug;
pub use request::Request;
pub use rows::Unclaimed;
pub use share::{Remapped, Share};
pub use stack::{Busy, Lower, Step};
pub use tally::{Tally, Unfinished};
pub use task_name::TaskName;
pub use timeline::{FlushWait, Flushed, Timeline};
pub use tracker::{IoTracker, MAX_DEVICES};
