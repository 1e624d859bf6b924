//! What tasks asked for, whom they waited for, and where every nanosecond of it went.
//!
//! [`Watch`] takes in what tasks did and which requests were completed, keeps a [`History`] as far back as
//! anybody may ask, and gives every [`Operation`] that is over together with its [`Account`]: its time, cut into
//! parts that sum to it exactly.

mod account;
mod behind;
mod calls;
mod company;
mod follow;
mod history;
mod operation;
mod over;
mod rings;
mod served;
mod thread;
mod wait;
mod walk;
mod watch;

pub use account::{Account, Hop, Node, Part, Waits};
pub use company::{company, runners, Companion};
pub use follow::Follow;
pub use history::{Below, History};
pub use operation::{Kind, Operation};
pub use over::{Outside, Over};
pub use served::{Done, Entry, Served};
pub use thread::{State, Step, Stretch, Thread, Wake, Work};
pub use wait::Wait;
pub use watch::Watch;
