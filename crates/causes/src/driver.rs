//! How causes are judged: one loop over all of them, in the order in which they claim time.
//!
//! What a cause claims is gone for those after it, so shares never exceed the whole; a claim that turns out too small to report is
//! rolled back. [`Damage`] comes before any cause: of a recording in which too much is missing nothing is claimed, and with some
//! missing each finding is a step less sure.

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
    /// By the waits of the slowest operations; of those in which it was found the rest is reported.
    Waited(Waited, fn(&Case, Verdict, &[usize]) -> Verdict),
    /// Group by group.
    Each(Each),
    /// By a question of its own to the whole recording.
    Whole(fn(&mut Case) -> Verdict),
}

/// A cause that is asked of each group that is slow.
pub(crate) struct Each {
    /// What it says of one: it claims what it explains, and adds what it found to the verdict that it is given.
    pub of: fn(&mut Case, &Slow, Verdict) -> Said,
    /// What would refute it.
    pub unless: &'static str,
    /// What is said where nothing of the kind was seen.
    pub otherwise: Otherwise,
    /// Whether only recorded operations can show it.
    pub above: bool,
}

/// What a cause says of one group, the weakest first.
pub(crate) enum Said {
    /// Nothing: there is nothing of the kind.
    Nothing,
    /// It is out of the question, and why.
    Hardly(Proof),
    /// There is too little of it.
    Little(Proof),
    /// It is not so, and what speaks against it.
    Not(Proof),
    /// What would decide it was not recorded.
    Unsure(Proof),
    /// It is so.
    Found(Verdict),
}

/// What is said of a recording in which no group has anything of the kind.
pub(crate) enum Otherwise {
    /// Never plausible.
    Never(&'static str),
    /// This, or that the devices below were not recorded ([`Case::nothing`]).
    Nothing(&'static str),
    /// That others explain all ([`Case::nothing_left`]).
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

    /// What was said of all groups so far, with what is said of one more: the strongest counts, of equals the first; findings add up.
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

    /// The verdict, with what it claimed.
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
        // An error is no matter of time.
        if v.verdict == Answer::Found && is_insignificant && self.name != device::device_errors::CAUSE.name {
            case.rollback(before.clone());
            v = v.insignificant(all_of_it);
        }
        v.claims = case.claims_since(&before);
        case.note(&v);
        v
    }
}

/// The verdicts of all causes: those found first, by the time they explain; then those that cannot tell; then those rejected.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let damage = case.damage();
    let all_of_it = case.total();
    let mut verdicts: Vec<Verdict> = all().iter().map(|cause| cause.claimed(case, &damage)).collect();
    if device::healthy::nothing_slow(case) {
        // Where nothing was slow, nothing is a cause of it.
        // What passes outside of operations is in none of their times.
        let others = |v: &&mut Verdict| {
            // Nor is an error a matter of time.
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
