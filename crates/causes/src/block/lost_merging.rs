//! `lost-merging`: small adjacent requests are sent one by one, although they could have been merged.
//!
//! The kernel merges neighbours in a task's plug and in the scheduler; `nomerges` turns that off. A device that needs time for
//! each request, however small, is then slow by their number. Proof: requests are adjacent on the disk, several are in the device
//! at once, hardly any was merged, and the setting says so. Refuted if requests are not adjacent, or if merging is on.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::lost_merging::{JOINED, LARGE_ENOUGH, SIDE_BY_SIDE};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use trace::{Bytes, Nanos};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "lost-merging",
    title: "adjacent requests are sent one by one because merging is off",
    nature: Nature::Everyday,
    page: include_str!("../../pages/lost-merging.md"),
    judge: Judge::Each(Each {
        of,
        unless: "the same bytes as slow in larger requests",
        otherwise: Otherwise::Never("no slow request was small"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    let class = slow.class.index();
    let (traffic, requests) = (&slow.on.traffic, slow.requests());
    let mean = Bytes(requests.bytes.0 / requests.count.max(1));
    if slow.share(left) < MIN_SHARE || mean >= LARGE_ENOUGH {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let beside = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
    let joined = requests.merges as f64 / (requests.merges + requests.count).max(1) as f64;
    let told = proof!(
        "{beside} of the {what} on {name} are adjacent to the one before, {joined} were merged",
        beside = Share(beside),
        what = slow.words(),
        name,
        joined = Share(joined)
    );
    let at_once = slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE);
    if beside < SIDE_BY_SIDE || joined > JOINED {
        return Said::Hardly(told);
    }
    let Some(setting) = case.settings(slow.on.id).and_then(|s| s.nomerges()) else {
        return Said::Unsure(proof!(
            "{told}; whether merging is off: /sys/block/{name}/queue/nomerges was not recorded",
            told,
            name
        ));
    };
    if setting.value == 0 {
        return Said::Hardly(proof!(
            "{told}, but merging is on: nomerges is 0 ({at})",
            told,
            at = setting.at
        ));
    }
    // Requests that were queued together could have been one, up to the largest request that the kernel builds.
    let fit = case
        .settings(slow.on.id)
        .and_then(|s| s.max_sectors_kb())
        .map_or(f64::INFINITY, |most| most.value.0 as f64 / mean.0.max(1) as f64);
    let together = at_once.min(fit).max(1.0);
    let wanted = Nanos((slow.behind().min(left).0 as f64 * (1.0 - 1.0 / together)) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Hardly(proof!(
            "{told}, but only {together:.1} at a time could have been merged",
            told,
            together = Ratio(together)
        ));
    }
    let claimed = case.claim(slow, Reason::Device, wanted);
    Said::Found(
        v.plus(claimed, Confidence::Medium)
            .because(told)
            .because(proof!(
                "{count} requests of {mean} on average, {at_once:.1} of them in {name} at once",
                count = Count(requests.count),
                mean,
                at_once = Ratio(at_once),
                name
            ))
            .because(proof!(
                "merging is off: nomerges is {setting} ({at})",
                setting = Text(setting.value.to_string()),
                at = setting.at
            ))
            .try_this(
                format!(
                    "nomerges {} -> 0: each request is checked for merging, which costs fast devices a little",
                    setting.value
                ),
                Action::set(&name, "queue/nomerges", 0),
            ),
    )
}
