//! Shared by the tests of several crates: small recordings, written as lines like blkparse's.
//!
//! A [`Script`] is a recording. It can be fed to [`life::IoTracker`] ([`observed`]), or written as blktrace files
//! ([`Script::files`]) that `trace` and the real blkparse and btt ([`btt`]) read. Nothing here uses the decoder that
//! it tests: [`binary`] writes records by the kernel's header alone.
//!
//! Only for tests: it panics if a script makes no sense.

pub mod binary;
mod golden;
pub mod hostile;
mod lateness;
mod line;
mod machine;
mod observed;
mod request;
mod script;
mod scripted_event;
mod steady;
pub mod tools;

pub use binary::Layout;
pub use golden::golden;
pub use line::{nanos, STEPS};
pub use machine::{alone_on_machine, share_machine, Machine};
pub use observed::{heard_of, observed, observed_from, observed_from_files, observed_in_batches, Observed};
pub use request::plain_read;
pub use script::Script;
pub use scripted_event::{ScriptedEvent, DISK};
pub use steady::steady;
pub use tools::{blkparse, btt, btt_as, Btt};

/// Asserts that a table equals the expected one. Runs of blanks count as one, so that columns can be aligned; empty
/// lines are ignored.
#[track_caller]
pub fn expect(table: &str, expected: &str) {
    let plain = |t: &str| -> Vec<String> {
        t.lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|l| !l.is_empty())
            .collect()
    };
    let (got, want) = (plain(table), plain(expected));
    assert!(got == want, "got\n  {}\nexpected\n  {}", got.join("\n  "), want.join("\n  "));
}
