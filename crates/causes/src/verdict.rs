//! What a cause says of a recording: found, rejected or cannot tell, each with its numbers.

use crate::proof::{proof, Proof};
use crate::remedy::{Action, Acts, Remedy};
use ledger::Reason;
use serde::Serialize;
use trace::Nanos;
use waits::{ChainId, CulpritId};

/// Whether a cause holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Judgement"))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Found, with this proof.
    Found,
    /// Rejected, and this is the number against it.
    Rejected,
    /// What would decide it was not recorded.
    CannotTell,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A correlation, or the recording has losses.
    Low,
    /// The mechanism was seen, its size was estimated.
    Medium,
    /// The mechanism was seen and measured.
    High,
}

impl Confidence {
    /// A step less sure.
    pub fn less(self) -> Confidence {
        match self {
            Confidence::High => Confidence::Medium,
            _ => Confidence::Low,
        }
    }
}

/// A cause's verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The cause's name.
    pub cause: &'static str,
    /// Whether it holds.
    pub verdict: Answer,
    /// The part of the tail's time that it explains, 0 to 1. All causes found together never exceed 1.
    pub share: f64,
    /// How sure; only of what was found.
    pub confidence: Option<Confidence>,
    /// What proves it: one sentence each, with numbers.
    pub evidence: Vec<Proof>,
    /// What speaks against it, or would.
    pub refutes: Vec<Proof>,
    /// What was not recorded, and how to record it.
    pub missing: Vec<Proof>,
    /// What to do, the best first.
    pub remedies: Vec<Remedy>,
    /// The time it explains.
    #[serde(skip)]
    pub explains: Nanos,
    /// What of that it claimed where: of which group of [`Focus`](stats::Focus) and for which reason.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Whose time what is added now is about.
    #[serde(skip)]
    pub about: Option<usize>,
    /// Groups of which it holds for all operations, slow or not, with the part of their time: none of it need be in a claim.
    #[serde(skip)]
    pub throughout: Vec<(usize, f64)>,
    /// Waits of all operations of a group that are its, though the slowest hardly had them.
    #[serde(skip)]
    pub of_all: Vec<(usize, ChainId, CulpritId)>,
    /// The root cause, if this cause is only its symptom.
    pub root: Option<&'static str>,
    /// Whether it is left out on a screen: its subject does not occur at all.
    #[serde(skip)]
    pub minor: bool,
}

/// Time of a group's tail that a cause explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The group, as a place in [`Focus::groups`](stats::Focus).
    pub group: usize,
    /// The row of its tail.
    pub row: usize,
    /// For which reason it passed.
    pub reason: Reason,
    /// The length of the time that is claimed.
    pub time: Nanos,
}

impl Verdict {
    fn new(cause: &'static str, verdict: Answer) -> Verdict {
        Verdict {
            cause,
            verdict,
            share: 0.0,
            confidence: None,
            evidence: vec![],
            refutes: vec![],
            missing: vec![],
            remedies: vec![],
            explains: Nanos(0),
            claims: vec![],
            throughout: vec![],
            of_all: vec![],
            about: None,
            root: None,
            minor: false,
        }
    }

    /// It is so. `explains` is the time that was [claimed](crate::Case::claim).
    pub fn found(cause: &'static str, explains: Nanos, confidence: Confidence) -> Verdict {
        Verdict { explains, confidence: Some(confidence), ..Verdict::new(cause, Answer::Found) }
    }

    /// It is not so, for this reason.
    pub fn rejected(cause: &'static str, because: impl Into<Proof>) -> Verdict {
        Verdict { refutes: vec![because.into()], ..Verdict::new(cause, Answer::Rejected) }
    }

    /// Rejected, and never plausible.
    pub fn out_of_the_question(cause: &'static str, because: impl Into<Proof>) -> Verdict {
        Verdict { minor: true, ..Verdict::rejected(cause, because) }
    }

    /// What was found is not why it was slow: it explains too little of that time.
    pub(crate) fn insignificant(self, all: Nanos) -> Verdict {
        let share = self.explains.0 as f64 / all.0.max(1) as f64;
        let what = self.evidence.into_iter().next().unwrap_or_else(|| "".into());
        let said = proof!("{what}: {share} of all slow time", what = what, share = Share(share));
        Verdict::rejected(self.cause, said)
    }

    /// What was found is no cause of slowness: nothing was slow.
    pub(crate) fn nothing_slow(&mut self) {
        let what = self.evidence.drain(..).next().unwrap_or_else(|| "nothing was slow".into());
        *self = Verdict::out_of_the_question(self.cause, what);
    }

    /// Cannot tell without this.
    pub fn cannot_tell(cause: &'static str, missing: impl Into<Proof>) -> Verdict {
        Verdict { missing: vec![missing.into()], ..Verdict::new(cause, Answer::CannotTell) }
    }

    /// Adds a proof, once.
    pub fn because(mut self, evidence: impl Into<Proof>) -> Verdict {
        let evidence = evidence.into();
        match self.evidence.iter_mut().find(|known| known.says_as(&evidence)) {
            Some(known) => known.about.extend(self.about),
            None => self.evidence.push(Proof { about: self.about.into_iter().collect(), ..evidence }),
        }
        self
    }

    /// What is added from now on is about a group, as a place in [`Focus::groups`](stats::Focus).
    pub(crate) fn about(mut self, group: usize) -> Verdict {
        self.about = Some(group);
        self
    }

    /// What is added from now on is about all victims.
    pub(crate) fn about_all(mut self) -> Verdict {
        self.about = None;
        self
    }

    /// Evidence as it matters to a group: what is about it alone, then what is about others, too; all, if there is none of that.
    pub fn evidence_of(&self, group: usize) -> Vec<&Proof> {
        let mut all = of_group(&self.evidence, group, |proof| &proof.about);
        all.sort_by_key(|proof| proof.about.len() > 1);
        all
    }

    /// The same of what to do.
    pub fn remedies_of(&self, group: usize) -> Vec<&Remedy> {
        of_group(&self.remedies, group, |remedy| &remedy.about)
    }

    /// Adds what would refute it.
    pub fn unless(mut self, refutes: impl Into<Proof>) -> Verdict {
        self.refutes.push(refutes.into());
        self
    }

    /// Adds what is missing for a better answer.
    pub fn without(mut self, missing: impl Into<Proof>) -> Verdict {
        self.missing.push(missing.into());
        self
    }

    /// Adds what one more group brings: the time it explains, and how sure that is; the least sure counts.
    pub(crate) fn plus(mut self, explains: Nanos, confidence: Confidence) -> Verdict {
        self.explains += explains;
        self.confidence = Some(self.confidence.map_or(confidence, |c| c.min(confidence)));
        self
    }

    /// Found, with nothing in it yet: [`plus`](Verdict::plus) adds the groups.
    pub(crate) fn begin(cause: &'static str) -> Verdict {
        Verdict::new(cause, Answer::Found)
    }

    /// Adds what was found of other groups.
    pub(crate) fn and(mut self, other: Verdict) -> Verdict {
        self = self.plus(other.explains, other.confidence.unwrap_or(Confidence::Low));
        for proof in other.evidence {
            match self.evidence.iter_mut().find(|known| known.says_as(&proof)) {
                Some(known) => known.about.extend(proof.about),
                None => self.evidence.push(proof),
            }
        }
        for remedy in other.remedies {
            match self.remedies.iter_mut().find(|known| known.command() == remedy.command()) {
                Some(known) => known.about.extend(remedy.about),
                None => self.remedies.push(remedy),
            }
        }
        self.remedies.sort_by_key(|r| r.action.risk());
        for (mine, its) in [(&mut self.refutes, other.refutes), (&mut self.missing, other.missing)] {
            let new: Vec<Proof> = its.into_iter().filter(|proof| !mine.contains(proof)).collect();
            mine.extend(new);
        }
        self.throughout.extend(other.throughout);
        self.of_all.extend(other.of_all);
        self
    }

    /// Adds a remedy, once, after those that are better.
    pub fn try_this(self, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy::new(what, action))
    }

    /// The same where it applies.
    pub(crate) fn when(self, applies: bool, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        if applies {
            self.try_this(what, action)
        } else {
            self
        }
    }

    /// The same for one of which the evidence says what it gained.
    pub(crate) fn try_proven(self, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy { is_proven: true, ..Remedy::new(what, action) })
    }

    /// The same for a remedy that acts on a task.
    pub(crate) fn try_on(self, acts: Acts, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy { acts, ..Remedy::new(what, action) })
    }

    /// What risks data or downtime says so, and comes after what does not.
    fn with_remedy(mut self, mut remedy: Remedy) -> Verdict {
        if let Some(risk) = remedy.action.risk().words() {
            remedy.what += &format!("; {risk}");
        }
        match self.remedies.iter_mut().find(|known| known.command() == remedy.command()) {
            Some(known) => known.about.extend(self.about),
            None => self.remedies.push(Remedy { about: self.about.into_iter().collect(), ..remedy }),
        }
        self.remedies.sort_by_key(|r| r.action.risk());
        self
    }
}

fn of_group<T>(all: &[T], group: usize, about: impl Fn(&T) -> &Vec<usize>) -> Vec<&T> {
    let of_it = |one: &&T| about(one).is_empty() || about(one).contains(&group);
    match all.iter().any(|one| of_it(&one)) {
        true => all.iter().filter(of_it).collect(),
        false => all.iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::Risk;

    /// Groups of one cause are told together: what would refute it of any of them, and what is missing, each once.
    #[test]
    fn what_would_refute_several_groups_is_said_once_and_of_each() {
        let of = |refutes: &'static str, missing: &'static str| {
            Verdict::begin("swap").unless(refutes).without(missing)
        };
        let v =
            of("as slow without swap", "how much swap there is").and(of("as slow on sdb", "sdb's settings"));
        let v = v.and(of("as slow without swap", "how much swap there is"));
        let said = |all: &[Proof]| all.iter().map(Proof::sentence).collect::<Vec<_>>();
        assert_eq!(said(&v.refutes), ["as slow without swap", "as slow on sdb"]);
        assert_eq!(said(&v.missing), ["how much swap there is", "sdb's settings"]);
    }

    #[test]
    fn what_destroys_data_says_so_and_comes_last() {
        let v = Verdict::begin("log-force")
            .try_this("a new log", Risk::Data("/dev/NEW").of("mkfs.xfs -f /dev/NEW"));
        let v = v.try_this("larger buffers", Risk::Downtime.of("umount /mnt"));
        let v = v.and(Verdict::begin("log-force").try_this("look", Action::look("xfs_info /mnt")));
        let said: Vec<&str> = v.remedies.iter().map(|r| r.what.as_str()).collect();
        let downtime = "larger buffers; the file system is unmounted meanwhile (downtime)";
        assert_eq!(said, ["look", downtime, "a new log; destroys all data on /dev/NEW"]);
    }

    #[test]
    fn what_is_about_a_group_comes_before_what_is_about_others_too() {
        let v = Verdict::begin("background-task").because("everybody's");
        let v = v.about(0).because("of both").because("of the first").try_this("a", "stop b");
        let v = v.about(1).because("of both").because("of the second").try_this("b", "stop a");
        let v = v.about_all().try_this("all", "buy a disk");
        let said = |group| v.evidence_of(group).iter().map(|p| p.sentence()).collect::<Vec<_>>();
        assert_eq!(said(0), ["everybody's", "of the first", "of both"]);
        assert_eq!(said(1), ["everybody's", "of the second", "of both"]);
        assert_eq!(said(2), ["everybody's"]);
        let todo = |group| v.remedies_of(group).iter().map(|r| r.command()).collect::<Vec<_>>();
        assert_eq!(todo(0), ["stop b", "buy a disk"]);
        assert_eq!(todo(1), ["stop a", "buy a disk"]);
        // Where nothing is about a group, what is about others is better than nothing.
        let v = Verdict::begin("background-task").about(0).because("of the first");
        assert_eq!(v.evidence_of(1).len(), 1);
    }
}
