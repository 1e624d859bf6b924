//! A cause: its name, its page, how much of it is significant, and how it is judged.

use crate::case::Case;
use crate::paths::{self, Waited};
use crate::proof::Proof;
use crate::slow::Slow;
use crate::verdict::{Answer, Verdict};

/// A cause of slow I/O, known by name.
pub struct Cause {
    /// The stable name that scripts use: `writeback-flood`.
    pub name: &'static str,
    /// One line that says what happens.
    pub title: &'static str,
    /// How much of it is significant.
    pub(crate) nature: Nature,
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    pub(crate) judge: Judge,
}

/// How much of a cause is significant, and how it relates to other causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It only says where the time passed.
    General,
    /// Another task's requests in the device: while the device is full of them, it may well complete nothing else for a while.
    Contention,
    /// Every busy machine has a little of it, or every machine with that setting or layout: the amount decides.
    Everyday,
    /// Somebody set a limit. It explains time that seems to be the device's own: a limit that lets requests through by the clock sets its pace.
    Limit,
    /// Rare: a stall, a lock, a page that must not change. Even a little of it is worth reporting.
    Rare,
}

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
    /// Asks it of a recording. What it claims stays claimed.
    pub(crate) fn ask(&self, case: &mut Case) -> Verdict {
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
}
