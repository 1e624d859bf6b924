//! Predicts latencies under other settings: sends recorded arrivals through a model of the scheduler and of the device.
//!
//! In order of use: [`arrival`] collects the requests that a device received; [`load`] turns them into streams that react; [`simulate`]
//! sends these through [`wbt`], [`tags`], a [`sched`]uler and a [`device`]; [`fit`] finds devices that reproduce the recorded latencies
//! under the recorded settings; [`predict`] compares settings and says where it cannot; [`suggest`] searches settings; [`schedule`] shows
//! the order of requests. [`question`] parses the command line.

pub mod arrival;
pub mod device;
pub mod done;
pub mod fit;
mod flight;
pub mod in_flight;
pub mod load;
pub mod merge;
pub mod metric;
pub mod predict;
pub mod question;
mod refusal;
pub mod sched;
pub mod schedule;
pub mod settings;
pub mod side;
pub mod simulate;
pub mod suggest;
pub mod tags;
pub mod usable;
pub mod wbt;
