//! `raid-bitmap`: writes wait until a RAID array's write-intent bitmap is on the disks.
//!
//! Claims the time in which a slow write had nothing in flight on the members and waited in md itself, if md wrote its
//! bitmap often enough. Proof: the kernel's notes in the trace (`md bitmap_unplug`, drivers/md/md-bitmap.c) count how
//! often. Refuted if that was seldom, or if writes did not wait in md.

use crate::case::{Case, MIN_SHARE};
use crate::raid::Array;
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, percent};
use crate::Cause;
use ledger::Reason;

/// The cause.
pub struct RaidBitmap;

/// From one bitmap update for so many writes on it is more than housekeeping: a tenth of the slowest 1 % can then be
/// its victims.
const WRITES_PER_UPDATE: u64 = 1000;

impl Cause for RaidBitmap {
    fn name(&self) -> &'static str {
        "raid-bitmap"
    }

    fn title(&self) -> &'static str {
        "writes wait until the RAID array's write-intent bitmap is on the disks"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/raid-bitmap.md")
    }

    fn judge(&self, case: &mut Case) -> Verdict {
        let arrays = Array::all(case);
        let mut verdict: Option<Verdict> = None;
        let mut missing = None;
        if arrays.is_empty() {
            return Verdict::out_of_the_question(self.name(), "no slow write passed through a RAID array");
        }
        let mut against = String::new();
        for array in &arrays {
            let name = case.name(array.device.id);
            let md = case.settings(array.device.id).and_then(|s| s.md());
            if let Some(none) = md.as_ref().and_then(|md| md.bitmap()).filter(|b| !b.value) {
                against = format!("{name} has no bitmap (consistency_policy, {})", none.at);
                continue;
            }
            let (account, waiting) = array.time(Reason::Stacking);
            let (updates, writes) = (array.bitmap_unplugs, array.writes());
            if !case.sees_below(array.device.id) {
                missing = Some(format!(
                    "the kernel noted {} bitmap updates (md bitmap_unplug) for {} writes on {name}, but how long writes waited is \
                     unknown: the members of {name} were not recorded (blktrace -d /dev/{name} -d ...)",
                    count(updates),
                    count(writes)
                ));
                continue;
            }
            if array.share(waiting) < MIN_SHARE {
                against = format!(
                    "{} bitmap updates (md bitmap_unplug) for {} writes on {name}; the slowest {} waited in md for {} of their time",
                    count(updates),
                    count(writes),
                    array.group.words(),
                    percent(array.share(waiting))
                );
                continue;
            }
            if !array.has_notes {
                missing = Some(format!(
                    "the slowest {} waited in md for {} of their time, but the kernel's notes on {name} were not recorded",
                    array.group.words(),
                    percent(array.share(waiting))
                ));
                continue;
            }
            if updates.saturating_mul(WRITES_PER_UPDATE) < writes || updates == 0 {
                against = format!(
                    "{} bitmap updates (md bitmap_unplug) for {} writes on {name}",
                    count(updates),
                    count(writes)
                );
                continue;
            }
            let claimed = case.claim_of_group(array.group_number, account, waiting);
            verdict = Some(
                verdict
                    .take()
                    .unwrap_or_else(|| Verdict::begin(self.name()))
                    .plus(claimed, Confidence::Medium)
                    .because(format!(
                        "the kernel wrote the bitmap of {name} {} times (md bitmap_unplug) for {} writes",
                        count(updates),
                        count(writes)
                    ))
                    .because(format!(
                        "the slowest {} waited in md, with nothing in flight on the members, for {} of their time",
                        array.group.words(),
                        percent(array.share(waiting))
                    ))
                    .try_this(
                        "larger chunks: a bit covers more, so it is set less often; after a crash more is synchronised again",
                        format!(
                            "mdadm --grow --bitmap=none /dev/{name} && mdadm --grow --bitmap=internal --bitmap-chunk=128M /dev/{name}"
                        ),
                    )
                    .try_this(
                        "no bitmap: after a crash the whole array is synchronised again",
                        format!("mdadm --grow --bitmap=none /dev/{name}"),
                    ),
            );
        }
        match (verdict, missing) {
            (Some(v), _) => v.unless("writes that wait as long in md without a bitmap"),
            (None, Some(missing)) => Verdict::cannot_tell(self.name(), missing),
            (None, None) => Verdict::rejected(self.name(), against),
        }
    }
}
