//! What a cause says of a recording: found, rejected or cannot tell, each with its numbers.

use serde::Serialize;
use trace::Nanos;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is so, and this is the proof.
    Found,
    /// It is not so, and this is the number that speaks against it.
    Rejected,
    /// What would decide it was not recorded.
    CannotTell,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A correlation, or the recording has losses.
    Low,
    /// The mechanism was seen, its size was estimated.
    Medium,
    /// The mechanism was seen and measured.
    High,
}

/// Something to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// What it does, and what it costs or risks.
    pub what: String,
    /// The exact command for the recorded host.
    pub command: String,
}

/// A cause's verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The cause's name.
    pub cause: &'static str,
    /// The answer.
    pub verdict: Answer,
    /// The part of the tail's time that it explains, 0 to 1. All causes found together never exceed 1.
    pub share: f64,
    /// How sure; only of what was found.
    pub confidence: Option<Confidence>,
    /// What proves it: one sentence each, with numbers.
    pub evidence: Vec<String>,
    /// What speaks against it, or would.
    pub refutes: Vec<String>,
    /// What was not recorded, and how to record it.
    pub missing: Vec<String>,
    /// What to do, the best first.
    pub remedies: Vec<Remedy>,
    /// The time it explains.
    #[serde(skip)]
    pub explains: Nanos,
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
        }
    }

    /// It is so. `explains` is the time that was [claimed](crate::Case::claim).
    pub fn found(cause: &'static str, explains: Nanos, confidence: Confidence) -> Verdict {
        Verdict { explains, confidence: Some(confidence), ..Verdict::new(cause, Answer::Found) }
    }

    /// It is not so, for this reason.
    pub fn rejected(cause: &'static str, because: impl Into<String>) -> Verdict {
        Verdict { refutes: vec![because.into()], ..Verdict::new(cause, Answer::Rejected) }
    }

    /// It cannot be told without this.
    pub fn cannot_tell(cause: &'static str, missing: impl Into<String>) -> Verdict {
        Verdict { missing: vec![missing.into()], ..Verdict::new(cause, Answer::CannotTell) }
    }

    /// Adds a proof.
    pub fn because(mut self, evidence: impl Into<String>) -> Verdict {
        self.evidence.push(evidence.into());
        self
    }

    /// Adds what would refute it.
    pub fn unless(mut self, refutes: impl Into<String>) -> Verdict {
        self.refutes.push(refutes.into());
        self
    }

    /// Adds what is missing for a better answer.
    pub fn without(mut self, missing: impl Into<String>) -> Verdict {
        self.missing.push(missing.into());
        self
    }

    /// Adds a remedy, after those that are better.
    pub fn try_this(mut self, what: impl Into<String>, command: impl Into<String>) -> Verdict {
        self.remedies.push(Remedy { what: what.into(), command: command.into() });
        self
    }
}
