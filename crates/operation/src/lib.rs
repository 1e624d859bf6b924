//! What tasks asked for, what they waited for, and where every nanosecond of it went.
//!
//! [`OperationTracker`] takes in what tasks did and which requests were completed, keeps a [`History`] as far
//! back as needed, and gives every completed [`Operation`] with its [`Account`]: its
//! time, cut into parts that sum to it exactly.
//!
//! The modules stand in layers below: each uses only those of layers under its own.

// Requests and tasks together.
mod follow;

// Which of them are asked about.
mod scope;

// Every event goes to the state that it changes; what is over is accounted for.
mod tracker;

// What goes on: calls, operations in flight, commits, write-back.
mod async_io;
mod background;
mod calls;
mod owners;
mod wakers;

// To whom operations go.
mod observer;

// Where the time of an operation went, from the past.
mod walk;

// Questions to the past.
mod begun;
mod bitmap;
mod contention;
mod crypt;
mod expected;
mod getting;
mod throttle;

// The past of all tasks.
mod held_aio;
mod history;

// The past of one task, and of requests below others.
mod sent_below;
mod thread;

// Accounts.
mod builder;

mod account;

// What is known of files, devices and processes.
mod cgroups;
mod descriptors;
mod extents;
mod file_systems;
mod sent;
mod served;

// Plain data, and states that know of nothing else.
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

// What a stack means.
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
pub use operation::{Kind, Operation};
pub use process_tree::ProcessTree;
pub use scope::{called, Called, NotThere, Scope};
pub use served::{Done, Entry, Served};
pub use stretch::{State, Step, Stretch, Wake, Work};
pub use texts::Texts;
pub use thread::Thread;
pub use tracker::OperationTracker;
pub use wait::Wait;
pub use writers::{Purpose, SentFor, Tasks, Writers};
