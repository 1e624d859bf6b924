//! Operations: what tasks asked for, what they waited for, and where every nanosecond of it went.
//!
//! [`OperationTracker`] takes in what tasks did and which requests were completed. It keeps a [`History`] as far back
//! as needed, and gives every completed [`Operation`] with its [`Account`]: the operation's time, cut into parts that
//! sum to it exactly.
//!
//! The modules are in layers: each uses only modules of the layers below its own.

// Follows requests and tasks together.
mod follow;

// The filter: which operations are asked about.
mod scope;

// Hands each event to the state that it changes; accounts for finished operations.
mod tracker;

// What is in progress: calls, asynchronous operations, commits, writeback.
mod async_io;
mod background;
mod calls;
mod owners;
mod wakers;

// Who receives operations.
mod observer;

// Divides the time of an operation, looking back in the history.
mod walk;

// Queries on the history.
mod begun;
mod bitmap;
mod contention;
mod crypt;
mod expected;
mod getting;
mod throttle;

// The history of all tasks.
mod held_aio;
mod history;

// All threads.
mod threads;

// The history of one task, and of requests below others.
mod sent_below;
mod thread;

// Accounts.
mod builder;

// Asynchronous operations that are completed.
mod untaken;

mod account;

// Facts about files, devices and processes.
mod cgroups;
mod descriptors;
mod dirtied;
mod extents;
mod file_systems;
mod sent;
mod served;

// How many operations of each kind occurred.
mod occurred;

// Names of kinds of operations.
mod op_names;

// Plain data, and state that depends on no other module.
mod asking;
mod files;
mod freed;
mod known;
mod open_call;
mod operation;
mod process_tree;
mod processes;
mod softirq;
mod stretch;
mod texts;
mod writers;

// The meaning of kernel stacks.
mod stacks;

mod wait;

pub use account::{Account, Node, Part, Waits, Wakeup};
pub use asking::{Asking, By};
pub use cgroups::Cgroups;
pub use contention::{contenders, flushing, runners, served_by, Contender};
pub use follow::{Follow, Unrecorded};
pub use freed::Freed;
pub use history::History;
pub use known::{Below, Known, KnownCgroups, KnownFile, KnownSleep};
pub use observer::{Observer, OperationObserver, Outside};
pub use occurred::NotThere;
pub use op_names::called;
pub use operation::{Kind, Operation};
pub use process_tree::ProcessTree;
pub use scope::{Called, Scope};
pub use served::{Done, Entry, Served};
pub use stretch::{State, Step, Stretch, Wake, Work};
pub use texts::Texts;
pub use thread::Thread;
pub use tracker::OperationTracker;
pub use wait::Wait;
pub use writers::{Purpose, SentFor, Tasks, Writers};
