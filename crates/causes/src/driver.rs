//! Judges the causes: one loop over all of them, in the order in which they claim time.
//!
//! Time that one cause claims is not available to later ones, so shares never exceed the whole; a claim too small to report is rolled
//! back. [`Damage`] comes first: if too much of a recording is missing nothing is claimed; if some is, each finding is one step less sure.

use crate::case::Case;
use crate::catalogue::all;
use crate::cause::Cause;
use crate::damage::Damage;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::thresholds::judge::TRIFLE;
use crate::verdict::{Answer, Confidence, Verdict};
use crate::{behind, cpu, device};

/// Asks a cause, applies the recording's damage, rolls back what is insignificant, and notes what was claimed.
fn claimed(cause: &Cause, case: &mut Case, damage: &Damage) -> Verdict {
    let all_of_it = case.total();
    let before = case.unclaimed_now();
    let mut v = if case.focus.groups.is_empty() {
        Verdict::cannot_tell(cause.name, "no I/O was completed in this recording")
    } else if let Damage::TooMuch(why) = damage {
        Verdict::cannot_tell(cause.name, why.clone())
    } else {
        cause.ask(case)
    };
    if let (Damage::Some(why), Answer::Found) = (damage, v.verdict) {
        v.confidence = v.confidence.map(Confidence::less);
        v = v.without(why.clone());
    }
    let claims = case.claims_since(&before);
    let is_little = v.explains.0 > 0 && case.part_of_all(&claims) < TRIFLE;
    let is_insignificant =
        is_little && v.throughout.is_empty() && case.part_of_operations(&claims) < NOT_ITS_OWN;
    // An error matters however little time it takes.
    if v.verdict == Answer::Found && is_insignificant && cause.name != device::device_errors::CAUSE.name {
        case.rollback(before.clone());
        v = v.insignificant(all_of_it);
    }
    v.claims = case.claims_since(&before);
    case.note(&v);
    v
}

/// The verdicts of all causes: those found first, by the time that they explain; then *cannot tell*; then rejected.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let damage = case.damage();
    let all_of_it = case.total();
    let mut verdicts: Vec<Verdict> = all().iter().map(|cause| claimed(cause, case, &damage)).collect();
    if device::healthy::nothing_slow(case) {
        // If nothing was slow, no cause explains slowness.
        // Time outside of operations is in none of their times.
        let others = |v: &&mut Verdict| {
            // An error matters however little time it takes.
            let causes = [&device::healthy::CAUSE, &cpu::outside_io::CAUSE, &device::device_errors::CAUSE];
            let outside = causes.iter().any(|cause| cause.name == v.cause);
            v.verdict == Answer::Found && !outside && v.throughout.is_empty()
        };
        verdicts.iter_mut().filter(others).for_each(Verdict::nothing_slow);
    }
    behind::name_roots(case, &mut verdicts);
    for v in &mut verdicts {
        v.share = v.explains.0 as f64 / all_of_it.0.max(1) as f64;
    }
    let rank = |v: &Verdict| match v.verdict {
        Answer::Found => 0,
        Answer::CannotTell => 1,
        Answer::Rejected => 2,
    };
    verdicts.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.explains.cmp(&a.explains)));
    verdicts
}
