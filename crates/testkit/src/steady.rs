//! Repeats tests of real-time behaviour on a machine that is shared with others.

use crate::lateness::Lateness;
use std::any::Any;
use std::io::Write;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Number of tries.
const TRIES: usize = 5;
/// Share of sleeps that end late, or of CPU time given to others, from which a machine is unsteady: the speed of a disk cannot be measured on it. A
/// rate of 400 a second is not as even as a clock if one in a hundred completions comes a millisecond late.
const UNSTEADY: f64 = 0.01;

/// Runs a test of what a disk does in real time, up to five times until it succeeds. A shared machine may give its CPUs to others for seconds or
/// minutes, and then a test's own disk is slower than it was configured to be; a real defect fails all five times. Each failure, by `Err` or by a
/// panic, is printed past the test runner's capture, so that frequent failures are seen. If [`Lateness`] found the machine unsteady all five times,
/// the test is skipped, which is printed, too.
#[track_caller]
pub fn steady(test: impl FnMut() -> Result<(), String>) {
    on_machine(test, || {
        let lateness = Lateness::begin();
        move || lateness.end()
    });
}

#[track_caller]
fn on_machine<End: FnOnce() -> f64>(
    mut test: impl FnMut() -> Result<(), String>,
    mut lateness: impl FnMut() -> End,
) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    let say = |text: &str| drop(writeln!(std::io::stderr(), "{text}"));
    let mut least_late = f64::INFINITY;
    for left in (0..TRIES).rev() {
        let end = lateness();
        let wrong = catch_unwind(AssertUnwindSafe(&mut test));
        let late = end();
        let why = match &wrong {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why.clone(),
            Err(panic) => panicked(panic.as_ref()),
        };
        say(&format!("WRONG in {name}, {left} tries left, {:.1} % late: {why}", 100.0 * late));
        least_late = least_late.min(late);
        match wrong {
            _ if left > 0 => {}
            _ if least_late >= UNSTEADY => say(&format!(
                "SKIPPED in {name}: the machine stands still, at least {:.1} % of short sleeps ended late or of the processors' time went to \
                 others in all {TRIES} tries",
                100.0 * least_late
            )),
            Err(panic) => resume_unwind(panic),
            _ => panic!("wrong {TRIES} times: {why}"),
        }
    }
}

/// The message of a panic: the test runner shows it only if the last try fails.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
    format!("panicked: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late_by(parts: [f64; TRIES]) -> impl FnMut() -> Box<dyn FnOnce() -> f64> {
        let mut parts = parts.into_iter();
        move || {
            let part = parts.next().unwrap();
            Box::new(move || part)
        }
    }

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
    fn a_panic_is_said_in_its_words() {
        let said = |panic: fn()| panicked(catch_unwind(panic).unwrap_err().as_ref());
        assert_eq!(said(|| panic!("no disk")), "panicked: no disk");
        assert!(said(|| assert_eq!(1 + std::hint::black_box(1), 3)).contains("left: 2"));
    }

    #[test]
    fn what_is_wrong_fails() {
        let mut runs = 0;
        let wrong = AssertUnwindSafe(|| {
            let test = || {
                runs += 1;
                Err("wrong".into())
            };
            on_machine(test, late_by([0.5, 0.5, 0.0, 0.5, 0.5]));
        });
        assert!(catch_unwind(wrong).is_err(), "one try was on a steady machine");
        assert_eq!(runs, TRIES);
    }

    #[test]
    fn on_a_machine_that_stands_still_it_is_skipped() {
        on_machine(|| Err("late".into()), late_by([0.5, 0.01, 0.03, 0.04, 0.5]));
        on_machine(|| panic!("late"), late_by([0.5; TRIES]));
    }
}
