//! What the tests of several crates share: small recordings, written in lines like blkparse's.
//!
//! A [`Script`] is a recording. It can be fed to [`life::IoTracker`] ([`observed`]), or written as blktrace files
//! ([`Script::files`]) for `trace` and for the real blkparse and btt ([`btt`]) to read. Nothing here uses the
//! decoder it is meant to test: [`binary`] writes records by the kernel's header alone.
//!
//! Only for tests: it panics where a story makes no sense.

pub mod binary;
mod golden;
pub mod hostile;
mod lateness;
mod line;
mod machine;
mod observed;
mod request;
mod script;
mod steady;
pub mod tools;

pub use binary::Layout;
pub use golden::golden;
pub use line::{nanos, STEPS};
pub use machine::{alone_on_machine, share_machine, Machine};
pub use observed::{heard_from, heard_from_files, heard_in_batches, heard_of, observed, Observed};
pub use request::plain_read;
pub use script::{Script, ScriptedEvent, DISK};
pub use steady::steady;
pub use tools::{blkparse, btt, btt_as, Btt};

/// Asserts that a table says what is expected. Runs of blanks count as one, so that columns can be lined up; empty
/// lines are left out.
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
