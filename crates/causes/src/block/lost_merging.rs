//! `lost-merging`: small requests that lie side by side are sent one by one, although they could have been one.
//!
//! The kernel joins neighbours in a task's plug and in the scheduler. `nomerges` turns that off. A device that needs its time for
//! each request, however small, is then as slow as their number. Proof: requests follow one another on the disk, several are in
//! the device at once, hardly any was joined, and the setting says so. Refuted if requests lie apart, or if merging is on.

use crate::case::{Case, MIN_SHARE};
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::lost_merging::{JOINED, LARGE_ENOUGH, SIDE_BY_SIDE};
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use ledger::Reason;
use trace::{Bytes, Nanos};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "lost-merging",
    title: "neighbouring requests are sent one by one, because merging is turned off",
    page: include_str!("../../pages/lost-merging.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let (mut against, mut unsure) = (None, None);
    for slow in case.slow() {
        let left = case.unclaimed(&slow, Reason::Device);
        let class = slow.class.index();
        let (traffic, requests) = (&slow.on.traffic, slow.requests());
        let mean = Bytes(requests.bytes.0 / requests.count.max(1));
        if slow.share(left) < MIN_SHARE || mean >= LARGE_ENOUGH {
            continue;
        }
        let name = case.name(slow.on.id);
        let beside = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
        let joined = requests.merges as f64 / (requests.merges + requests.count).max(1) as f64;
        let told = proof!(
            "{beside} of the {what} on {name} lie beside the one before, {joined} were joined",
            beside = Share(beside),
            what = Text(slow.words().to_string()),
            name = Text(name.to_string()),
            joined = Share(joined)
        );
        let at_once = slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE);
        if beside < SIDE_BY_SIDE || joined > JOINED {
            against.get_or_insert(told);
            continue;
        }
        let Some(setting) = case.settings(slow.on.id).and_then(|s| s.nomerges()) else {
            unsure = Some(proof!(
                "{told}; whether merging is off: /sys/block/{name}/queue/nomerges was not recorded",
                told = told.clone(),
                name = Text(name.to_string())
            ));
            continue;
        };
        if setting.value == 0 {
            against = Some(proof!(
                "{told}, but merging is on: nomerges is 0 ({at})",
                told = told.clone(),
                at = Source(setting.at.to_string())
            ));
            continue;
        }
        // What stood in line together could have been one request.
        let wanted = Nanos((slow.behind().min(left).0 as f64 * (1.0 - 1.0 / at_once.max(1.0))) as u64);
        if slow.share(wanted) < MIN_SHARE {
            against = Some(proof!(
                "{told}, but there were only {at_once:.1} at once to be joined",
                told = told.clone(),
                at_once = Ratio(at_once)
            ));
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let proof = Verdict::go_on(verdict.take(), CAUSE.name, slow.group_number);
        verdict = Some(
            proof
                .plus(claimed, Confidence::Medium)
                .because(told)
                .because(proof!("{count} requests of {mean} on average, {at_once:.1} of them in {name} at once", count = Count(requests.count), mean = Size(mean), at_once = Ratio(at_once), name = Text(name.to_string())))
                .because(proof!("merging is off: nomerges is {setting} ({at})", setting = Text(setting.value.to_string()), at = Source(setting.at.to_string())))
                .try_this(
                    format!("nomerges {} -> 0: costs a look at the neighbours for each request, which fast devices feel", setting.value),
                    Action::set(&name, "queue/nomerges", 0),
                ),
        );
    }
    match (verdict, unsure, against) {
        (Some(v), ..) => v.unless("the same bytes as slow in larger requests"),
        (None, Some(unsure), _) => Verdict::cannot_tell(CAUSE.name, unsure),
        (None, None, Some(against)) => Verdict::out_of_the_question(CAUSE.name, against),
        (None, None, None) => Verdict::out_of_the_question(CAUSE.name, "nothing that was slow was small"),
    }
}
