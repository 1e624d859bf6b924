//! Judges the causes: one loop over all of them, in the order in which they claim time.
//!
//! Time that one cause claims is not available to later ones, so shares never exceed the whole; a claim too small to report is rolled
//! back. [`Damage`] comes first: if too much of a recording is missing nothing is claimed; if some is, each finding is one step less sure.

use crate::case::Case;
use crate::damage::Damage;
use crate::paths::{self, Waited};
use crate::proof::Proof;
use crate::slow::Slow;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::thresholds::judge::TRIFLE;
use crate::verdict::{Answer, Confidence, Verdict};
use crate::{all, behind, cpu, device, Cause};

/// How a cause is judged.
pub(crate) enum Judge {
    /// By the waits of the slowest operations; the function completes the verdict for the groups in which the cause was found.
    Waited(Waited, fn(&Case, Verdict, &[usize]) -> Verdict),
    /// For each slow group by itself.
    Each(Each),
    /// By a function of its own, over the whole recording.
    Whole(fn(&mut Case) -> Verdict),
}

/// A cause that is judged for each slow group.
pub(crate) struct Each {
    /// Judges one group: claims what the cause explains, and adds its findings to the verdict passed in.
    pub of: fn(&mut Case, &Slow, Verdict) -> Said,
    /// What would refute the finding, in words.
    pub unless: &'static str,
    /// What to answer if no group shows anything of the kind.
    pub otherwise: Otherwise,
    /// Whether only recorded operations can show it; block events cannot.
    pub above: bool,
}

/// What a cause says of one group, in order of strength, the weakest first.
pub(crate) enum Said {
    /// Nothing of the kind was seen.
    Nothing,
    /// It is out of the question, for this reason.
    Hardly(Proof),
    /// There is too little of it.
    Little(Proof),
    /// Rejected, with what speaks against it.
    Not(Proof),
    /// Undecided: this was not recorded and would decide it.
    Unsure(Proof),
    /// Found.
    Found(Verdict),
}

/// The verdict if no group shows anything of the kind.
pub(crate) enum Otherwise {
    /// Never plausible, for this reason.
    Never(&'static str),
    /// Rejected for this reason, unless the devices below were not recorded ([`Case::nothing`]).
    Nothing(&'static str),
    /// Other causes explain all the time ([`Case::nothing_left`]).
    Explained,
}

impl Said {
    fn strength(&self) -> u8 {
        match self {
            Said::Nothing => 0,
            Said::Hardly(_) => 1,
            Said::Little(_) => 2,
            Said::Not(_) => 3,
            Said::Unsure(_) => 4,
            Said::Found(_) => 5,
        }
    }

    /// Combines what was said of the groups so far with one more: findings add up; otherwise the stronger one counts, of equals the first.
    fn and(self, next: Said) -> Said {
        match (self, next) {
            (Said::Found(all), Said::Found(one)) => Said::Found(all.and(one)),
            (all, next) if next.strength() > all.strength() => next,
            (all, _) => all,
        }
    }
}

impl Each {
    fn ask(&self, case: &mut Case, name: &'static str) -> Verdict {
        if self.above && case.facts.operations.is_empty() {
            return paths::unrecorded(name);
        }
        let mut said = Said::Nothing;
        for slow in case.slow() {
            let begun = Verdict::begin(name).about(slow.group_number);
            said = said.and((self.of)(case, &slow, begun));
        }
        match (said, &self.otherwise) {
            (Said::Found(v), _) => v.about_all().unless(self.unless),
            (Said::Unsure(missing), _) => Verdict::cannot_tell(name, missing),
            (Said::Not(why) | Said::Little(why), _) => Verdict::rejected(name, why),
            (Said::Hardly(why), _) => Verdict::out_of_the_question(name, why),
            (Said::Nothing, Otherwise::Never(why)) => Verdict::out_of_the_question(name, *why),
            (Said::Nothing, Otherwise::Nothing(why)) => case.nothing(name, why),
            (Said::Nothing, Otherwise::Explained) => case.nothing_left(name),
        }
    }
}

impl Cause {
    fn ask(&self, case: &mut Case) -> Verdict {
        match &self.judge {
            Judge::Whole(ask) => ask(case),
            Judge::Each(each) => each.ask(case, self.name),
            Judge::Waited(waited, found) => {
                let (v, groups) = waited.ask(case, self.name);
                match v.verdict {
                    Answer::Found => found(case, v, &groups),
                    _ => v,
                }
            }
        }
    }

    /// Asks the cause, applies the recording's damage, rolls back what is insignificant, and notes what was claimed.
    fn claimed(&self, case: &mut Case, damage: &Damage) -> Verdict {
        let all_of_it = case.total();
        let before = case.unclaimed_now();
        let mut v = if case.focus.groups.is_empty() {
            Verdict::cannot_tell(self.name, "no I/O was completed in this recording")
        } else if let Damage::TooMuch(why) = damage {
            Verdict::cannot_tell(self.name, why.clone())
        } else {
            self.ask(case)
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
        if v.verdict == Answer::Found && is_insignificant && self.name != device::device_errors::CAUSE.name {
            case.rollback(before.clone());
            v = v.insignificant(all_of_it);
        }
        v.claims = case.claims_since(&before);
        case.note(&v);
        v
    }
}

/// The verdicts of all causes: those found first, by the time that they explain; then *cannot tell*; then rejected.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let damage = case.damage();
    let all_of_it = case.total();
    let mut verdicts: Vec<Verdict> = all().iter().map(|cause| cause.claimed(case, &damage)).collect();
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
