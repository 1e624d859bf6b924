//! A checkup: known problem workloads that are run on the user's own disk, recorded and judged.
//!
//! The loads are fio's, in job files in `jobs/` that anyone can read and run without iowhy ([`JOBS`]). A [`Plan`] scales
//! them to the disk; each [step](scenario::Step) is run by [`load`], recorded by the crate `record` if the user is root,
//! and compared with a good disk ([`judge`]); the causes are the same as for any recording.
//!
//! **Invariants.** Everything is written in one separate folder ([`Home`]), which is removed at the end, on a signal,
//! and after a crash by the next run. No more is written, and no longer, than was announced. No setting is changed
//! except by [`trial`], which first saves what to restore.

pub mod compare;
mod error;
mod fio;
mod guard;
mod home;
pub mod job;
mod judge;
mod lay;
mod load;
mod other_users;
mod output;
mod page;
mod place;
mod plan;
mod processors;
mod result;
mod run;
pub mod scenario;
mod screen;
mod settings;
mod signals;
mod surroundings;
pub mod trial;
mod variables;

pub use error::{Error, Result};
pub use fio::{install_command, Fio, OLDEST};
pub use guard::stand_guard;
pub use home::{sweep, Home};
pub use job::JOBS;
pub use load::become_load;
pub use page::html;
pub use place::Place;
pub use plan::{Length, Plan, Wish};
#[cfg(feature = "schema")]
pub use result::schema;
pub use result::{Checkup, Finding, Found, Measured, Remedy, Scenario, Step, SCHEMA};
pub use run::{run, Captured, Confirm, Keep};
pub use screen::{announce, render};
pub use settings::Setting;
pub use signals::Signals;
