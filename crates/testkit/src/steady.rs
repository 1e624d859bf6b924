//! Tests on a machine that is shared with others.

use std::io::Write;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// How often a test is tried.
const TRIES: usize = 5;

/// Runs a test of what a disk does in real time, up to five times until it succeeds: for seconds or minutes a shared machine
/// may give its processors to others, and then a disk of the test's own is slower than it was told to be. What is wrong is
/// wrong all five times. Each failure, told (`Err`) or by a panic, is said past the test runner's capture, so that a test that fails
/// often is seen.
#[track_caller]
pub fn steady(mut test: impl FnMut() -> Result<(), String>) {
    for left in (0..TRIES).rev() {
        let wrong = catch_unwind(AssertUnwindSafe(&mut test));
        let why = match &wrong {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why.clone(),
            Err(_) => "panicked".into(),
        };
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("a test");
        let _ = writeln!(std::io::stderr(), "WRONG in {name}, {left} tries left: {why}");
        match wrong {
            _ if left > 0 => {}
            Err(panic) => resume_unwind(panic),
            _ => panic!("wrong {TRIES} times: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_by_chance_is_tried_again() {
        let mut runs = 0;
        steady(|| {
            runs += 1;
            assert!(runs > 1);
            (runs > 2).then_some(()).ok_or("not yet".into())
        });
        assert_eq!(runs, 3);
    }

    #[test]
    fn what_is_wrong_fails() {
        let mut runs = 0;
        let failed = catch_unwind(AssertUnwindSafe(|| {
            steady(|| {
                runs += 1;
                Err("wrong".into())
            });
        }));
        assert!(failed.is_err());
        assert_eq!(runs, TRIES);
    }
}
