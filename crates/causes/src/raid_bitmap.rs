//! `raid-bitmap`: writes wait until a RAID array's write-intent bitmap is on the disks.
//!
//! Claims the time in which a slow write had nothing in flight on the members and waited in md itself, if md wrote its
//! bitmap often enough. Proof: the kernel's notes in the trace (`md bitmap_unplug`, drivers/md/md-bitmap.c) count how
//! often. Refuted if that was seldom, or if writes did not wait in md.

use crate::case::Case;
use crate::raid::{Array, Judged, Question};
use crate::verdict::{Confidence, Verdict};
use crate::words::{counted, ns, time};
use crate::Cause;
use ledger::Reason;
use trace::Nanos;

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
        let updates = |array: &Array, name: &str| {
            let updates = counted(array.bitmap_unplugs, "bitmap update", "bitmap updates");
            format!(
                "{updates} (md bitmap_unplug) for {} on {name}",
                counted(array.writes(), "write", "writes")
            )
        };
        let question = Question {
            cause: self.name(),
            reason: Reason::Stacking,
            noted: &|array, name| format!("the kernel noted {}", updates(array, name)),
            too_little: &|array, name, waiting| {
                format!("{}; {}", updates(array, name), array.waited("waited in md", waiting))
            },
            unless: "writes that wait as long in md without a bitmap",
        };
        question.ask(case, |case, array, name, waiting| {
            let none = case.settings(array.device.id).and_then(|s| s.md()?.bitmap()).filter(|b| !b.value);
            if let Some(none) = none {
                return Judged::Against(format!("{name} has no bitmap (consistency_policy, {})", none.at));
            }
            if !array.has_notes {
                let waited = array.waited("waited in md", waiting);
                return Judged::Missing(format!(
                    "{waited}, but the kernel's notes on {name} were not recorded"
                ));
            }
            let unplugs = array.bitmap_unplugs;
            if unplugs.saturating_mul(WRITES_PER_UPDATE) < array.writes() || unplugs == 0 {
                return Judged::Against(updates(array, name));
            }
            Judged::Found(self.found(case, array, name, waiting))
        })
    }
}

impl RaidBitmap {
    fn found(&self, case: &Case, array: &Array, name: &str, waiting: Nanos) -> Verdict {
        let mut v = Verdict::found(self.name(), Nanos(0), Confidence::Medium).because(format!(
            "the kernel wrote the bitmap of {name} {} (md bitmap_unplug) for {}",
            counted(array.bitmap_unplugs, "time", "times"),
            counted(array.writes(), "write", "writes")
        ));
        if let Some((member, own)) = array.own_writes(case) {
            v = v.because(format!(
                "md wrote to {} {} for itself (bitmap and superblock: preflush and FUA), {} each (mean Q2C), {} of {} in all",
                case.name(member.id),
                counted(own.count, "time", "times"),
                ns(own.q2c.mean().round() as u64),
                time(Nanos(u64::try_from(own.q2c.sum()).unwrap_or(u64::MAX))),
                time(case.facts.duration())
            ));
        }
        v.because(array.waited("waited in md, with nothing in flight on the members,", waiting))
            .try_this(
                "larger chunks: a bit covers more, so it is set less often; after a crash more is synchronised again",
                format!(
                    "mdadm --grow --bitmap=none /dev/{name} && mdadm --grow --bitmap=internal --bitmap-chunk=128M /dev/{name}"
                ),
            )
            .try_this(
                "no bitmap: after a crash the whole array is synchronised again",
                format!("mdadm --grow --bitmap=none /dev/{name}"),
            )
    }
}
