//! Why it was slow: one file per cause, each with what proves it, what refutes it and what to do.
//!
//! [`judge`] asks all causes in order, the specific ones first. Each claims segments of the tail's time; what is
//! claimed is gone for those after it, so shares never exceed the whole.

mod case;
mod verdict;
pub mod words;
mod writeback_flood;

pub use case::Case;
pub use verdict::{Answer, Confidence, Remedy, Verdict};

/// A cause of slow I/O.
pub trait Cause: Sync {
    /// Its name, as contracts and scripts know it.
    fn name(&self) -> &'static str;
    /// What it says, in one line.
    fn title(&self) -> &'static str;
    /// Its page of documentation.
    fn page(&self) -> &'static str;
    /// The verdict on a recording.
    fn judge(&self, case: &mut Case) -> Verdict;
}

/// All causes, in the order in which they claim time.
pub fn all() -> &'static [&'static dyn Cause] {
    &[&writeback_flood::WritebackFlood]
}

/// The verdicts of all causes: those found first, by the time they explain; then those that cannot tell; then
/// those rejected.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let total = case.total().0.max(1) as f64;
    let mut verdicts: Vec<Verdict> = all().iter().map(|c| c.judge(case)).collect();
    for v in &mut verdicts {
        v.share = v.explains.0 as f64 / total;
    }
    let rank = |v: &Verdict| match v.verdict {
        Answer::Found => 0,
        Answer::CannotTell => 1,
        Answer::Rejected => 2,
    };
    verdicts.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.explains.cmp(&a.explains)));
    verdicts
}
