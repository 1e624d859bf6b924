//! What tasks asked for, whom they waited for, and where every nanosecond of it went.
//!
//! [`Watch`] takes in what tasks did and which requests were completed, keeps a [`History`] as far back as
//! anybody may ask, and gives every [`Operation`] that is over together with its [`Account`]: its time, cut into
//! parts that sum to it exactly.

mod account;
mod behind;
mod bitmap;
mod calls;
mod company;
mod completions;
mod crypt;
mod descriptors;
mod files;
mod follow;
mod history;
mod known;
mod operation;
mod over;
mod rings;
mod sent;
mod sent_below;
mod served;
mod stacks;
mod thread;
mod wait;
mod walk;
mod watch;
mod writers;

pub use account::{Account, Hop, Node, Part, Waits};
pub use company::{company, runners, served_by, Companion};
pub use follow::{Follow, Listener};
pub use history::{Freed, History};
pub use known::{Below, Known, KnownFile};
pub use operation::{Kind, Operation};
pub use over::{Outside, Over};
pub use served::{Done, Entry, Served};
pub use thread::{State, Step, Stretch, Thread, Wake, Work};
pub use wait::Wait;
pub use watch::Watch;
pub use writers::{Purpose, SentFor, Tasks, Writers};
