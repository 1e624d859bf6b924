//! What a cause says of a recording: found, rejected or cannot tell, each with its evidence.

use crate::proof::{proof, Proof};
use crate::remedy::{Action, Acts, Gain, Remedy};
use ledger::Reason;
use serde::Serialize;
use trace::Nanos;
use waits::{ChainId, CulpritId};

/// Whether a cause holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Judgement"))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It holds, and the evidence proves it.
    Found,
    /// It does not hold, and a number speaks against it.
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
    /// One step less sure; `Low` stays.
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
    /// The part of the tails' time that it explains, 0 to 1. The shares of all found causes together never exceed 1.
    pub share: f64,
    /// How sure it is; only if it was found.
    pub confidence: Option<Confidence>,
    /// What proves it: one sentence each, with numbers.
    pub evidence: Vec<Proof>,
    /// What speaks against it, or would.
    pub refutes: Vec<Proof>,
    /// What was not recorded, and how to record it.
    pub missing: Vec<Proof>,
    /// The command that would confirm it, where neither a recording nor the kernel's log would.
    #[serde(skip)]
    pub confirmed_by: Option<&'static str>,
    /// What to do, the best first.
    pub remedies: Vec<Remedy>,
    /// The tails' time that it explains.
    #[serde(skip)]
    pub explains: Nanos,
    /// What it claimed: of which group of [`Focus`](stats::Focus), which row and which reason.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// The group that evidence and remedies added from now on are about; `None` if they are about all.
    #[serde(skip)]
    pub about: Option<usize>,
    /// Groups in which it holds for all operations, slow or not, with the part of their time, 0 to 1: such a group may have no claim.
    #[serde(skip)]
    pub throughout: Vec<(usize, f64)>,
    /// Waits of all operations of a group that belong to this cause, though its slowest operations hardly have them.
    #[serde(skip)]
    pub of_all: Vec<(usize, ChainId, CulpritId)>,
    /// The root cause, if this cause is only its symptom.
    pub root: Option<&'static str>,
    /// Whether screens leave it out because nothing of the kind occurs.
    #[serde(skip)]
    pub minor: bool,
}

/// Time of a group's tail that a cause explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The group, as an index into [`Focus::groups`](stats::Focus).
    pub group: usize,
    /// The index of the row in the group's tail.
    pub row: usize,
    /// The reason of the row.
    pub reason: Reason,
    /// The claimed time, at most that of the row.
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
            confirmed_by: None,
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

    /// The verdict *found*. `explains` is the time that was [claimed](crate::Case::claim).
    pub fn found(cause: &'static str, explains: Nanos, confidence: Confidence) -> Verdict {
        Verdict { explains, confidence: Some(confidence), ..Verdict::new(cause, Answer::Found) }
    }

    /// The verdict *rejected*, for this reason.
    pub fn rejected(cause: &'static str, because: impl Into<Proof>) -> Verdict {
        Verdict { refutes: vec![because.into()], ..Verdict::new(cause, Answer::Rejected) }
    }

    /// The verdict *rejected* of a cause that was never plausible: it is not shown by default.
    pub fn out_of_the_question(cause: &'static str, because: impl Into<Proof>) -> Verdict {
        Verdict { minor: true, ..Verdict::rejected(cause, because) }
    }

    /// Rejects a finding that explains too little of all slow time to matter.
    pub(crate) fn insignificant(self, all: Nanos) -> Verdict {
        let share = self.explains.0 as f64 / all.0.max(1) as f64;
        let what = self.evidence.into_iter().next().unwrap_or_else(|| "".into());
        let said = proof!("{what}: {share} of all slow time", what = what, share = Share(share));
        Verdict::rejected(self.cause, said)
    }

    /// Rejects a finding because nothing was slow.
    pub(crate) fn nothing_slow(&mut self) {
        let what = self.evidence.drain(..).next().unwrap_or_else(|| "nothing was slow".into());
        *self = Verdict::out_of_the_question(self.cause, what);
    }

    /// The verdict *cannot tell*: `missing` says what would decide it.
    pub fn cannot_tell(cause: &'static str, missing: impl Into<Proof>) -> Verdict {
        Verdict { missing: vec![missing.into()], ..Verdict::new(cause, Answer::CannotTell) }
    }

    /// Adds evidence; a sentence that is already there is extended to the current group.
    pub fn because(mut self, evidence: impl Into<Proof>) -> Verdict {
        let evidence = evidence.into();
        match self.evidence.iter_mut().find(|known| known.says_as(&evidence)) {
            Some(known) => known.about.extend(self.about),
            None => self.evidence.push(Proof { about: self.about.into_iter().collect(), ..evidence }),
        }
        self
    }

    /// What is added from now on is about this group, an index into [`Focus::groups`](stats::Focus).
    pub(crate) fn about(mut self, group: usize) -> Verdict {
        self.about = Some(group);
        self
    }

    /// What is added from now on is about all victims.
    pub(crate) fn about_all(mut self) -> Verdict {
        self.about = None;
        self
    }

    /// The evidence for a group: what is about it alone or about all, then what is about others, too; all evidence if none of that exists.
    pub fn evidence_of(&self, group: usize) -> Vec<&Proof> {
        let mut all = of_group(&self.evidence, group, |proof| &proof.about);
        all.sort_by_key(|proof| proof.about.len() > 1);
        all
    }

    /// The remedies for a group; all remedies if none is for it.
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

    /// The command that would confirm it.
    pub(crate) fn confirmed_by(mut self, command: &'static str) -> Verdict {
        self.confirmed_by = Some(command);
        self
    }

    /// Adds what one more group contributes: the time explained, and its confidence, of which the lowest counts.
    pub(crate) fn plus(mut self, explains: Nanos, confidence: Confidence) -> Verdict {
        self.explains += explains;
        self.confidence = Some(self.confidence.map_or(confidence, |c| c.min(confidence)));
        self
    }

    /// The verdict *found* without content: [`plus`](Verdict::plus) adds the groups.
    pub(crate) fn begin(cause: &'static str) -> Verdict {
        Verdict::new(cause, Answer::Found)
    }

    /// Merges the finding for other groups; equal evidence, remedies and refutations appear once.
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

    /// Adds a remedy after those of at most the same risk; a command that is already there is extended to the current group.
    pub fn try_this(self, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy::new(what, action))
    }

    /// Adds a remedy that removes a part of what its cause takes, and nothing recorded says how much.
    pub(crate) fn try_in_part(self, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy { gain: Gain::OfPart, ..Remedy::new(what, action) })
    }

    /// Adds a remedy if it applies.
    pub(crate) fn when(self, applies: bool, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        if applies {
            self.try_this(what, action)
        } else {
            self
        }
    }

    /// Adds a remedy whose gain is in the evidence.
    pub(crate) fn try_proven(self, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy { gain: Gain::Proven, ..Remedy::new(what, action) })
    }

    /// Adds a remedy that affects a task.
    pub(crate) fn try_on(self, acts: Acts, what: impl Into<String>, action: impl Into<Action>) -> Verdict {
        self.with_remedy(Remedy { acts, ..Remedy::new(what, action) })
    }

    /// Adds a remedy. If it risks data or downtime, it says so and comes after those that do not.
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

    /// Findings for several groups are merged: each refutation, and each thing that is missing, appears once.
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
        // If nothing is about the group, evidence about others is better than nothing.
        let v = Verdict::begin("background-task").about(0).because("of the first");
        assert_eq!(v.evidence_of(1).len(), 1);
    }
}
