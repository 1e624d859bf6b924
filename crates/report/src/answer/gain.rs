//! Describes a remedy: what it does and costs, and what there is to gain.

use crate::without::{bounds, Bounds};
use explain::answer::{Predicted, Sufferer, Try, CONCERNED};
use trace::Nanos;

/// What a remedy does and costs; the latency that is left at best; and the result of its tests. `victim` is the first victim;
/// `None` for texts.
pub(crate) fn with_gain(t: &Try, victim: Option<&Sufferer>) -> String {
    let tested = t.tested.as_ref().map(|tested| tested.words());
    let predicted = victim.and_then(|v| predicted(t, v)).filter(|_| t.remedy.action.changes());
    let parts = [Some(t.remedy.what.clone()), predicted, tested];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The latency that is left without everything that the remedy acts on; `None` if it is unknown, or only bounded by the present latency.
fn predicted(t: &Try, v: &Sufferer) -> Option<String> {
    let then = t.predicted?;
    let (what, predicted, now) = told(then.p99, then.mean, v);
    match bounds(predicted) {
        Bounds::Known { value, from, to } => Some(format!("{what} about {value} ({from} to {to})")),
        // A bound that is not below the present value says nothing.
        Bounds::AtMost(_) if !is_less(predicted.high, now) => None,
        Bounds::AtMost(most) => Some(format!("{what} below {most}")),
    }
}

/// The latency to show, predicted and measured: the p99, or the mean if only the mean falls or too few operations have a p99.
pub(crate) fn told(
    p99: Option<Predicted>,
    mean: Predicted,
    v: &Sufferer,
) -> (&'static str, Predicted, Nanos) {
    let now = Nanos(v.time.0 / v.asked.max(1));
    match p99 {
        Some(p99) if falls(p99, v.latency[1]) || !falls(mean, now) => ("p99", p99, v.latency[1]),
        _ => ("the mean", mean, now),
    }
}

/// Whether a predicted latency is lower than now by more than [`CONCERNED`].
pub(crate) fn falls(predicted: Predicted, now: Nanos) -> bool {
    is_less(predicted.value, now)
}

fn is_less(then: Nanos, now: Nanos) -> bool {
    (then.0 as f64) < (1.0 - CONCERNED) * now.0 as f64
}
