//! What would this setting have done? Recorded arrivals are sent through a model of the scheduler and of the device.
//!
//! Left to right: [`arrival`] gathers what a device was asked for; [`load`] turns it into streams that react; [`simulate`]
//! sends them through [`wbt`], [`tags`], a [`sched`]uler and a [`device`]; [`fit`] finds devices under which the recorded settings
//! give the recorded latencies; [`predict`] compares settings and says where it cannot; [`suggest`] searches among them; [`schedule`] shows
//! the order. [`question`] is what users write.

pub mod arrival;
pub mod crowd;
pub mod device;
pub mod done;
pub mod fit;
mod flight;
pub mod load;
pub mod merge;
pub mod metric;
pub mod predict;
pub mod question;
pub mod sched;
pub mod schedule;
pub mod settings;
pub mod side;
pub mod simulate;
pub mod suggest;
pub mod tags;
pub mod usable;
pub mod wbt;
