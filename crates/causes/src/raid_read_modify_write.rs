//! `raid-read-modify-write`: a write smaller than a stripe makes RAID read old data and parity first.
//!
//! Claims the time in which a slow write had only reads in flight on the members: a write that needs no old data has
//! none. Proof: the kernel's notes in the trace (`raid5 rmw`, `raid5 rcw`, drivers/md/raid5.c) count the stripes.
//! Refuted if there are no such reads.

use crate::case::{Case, MIN_SHARE};
use crate::raid::Array;
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, percent, size};
use crate::Cause;
use ledger::Reason;
use life::Class;
use trace::Bytes;

/// The cause.
pub struct RaidReadModifyWrite;

/// Writes are neighbours rather than scattered from this part on.
const MOSTLY: f64 = 0.5;

/// What a stripe cache holds per entry and disk: a page (`STRIPE_SIZE`, drivers/md/raid5.h).
const CACHE_PAGE: u64 = 4096;

/// Entries of the stripe cache worth trying. The default of 256 is "probably much too small" (NeilBrown, kernel commit
/// edbe83ab4c27).
const CACHE_ENTRIES: u64 = 4096;

impl Cause for RaidReadModifyWrite {
    fn name(&self) -> &'static str {
        "raid-read-modify-write"
    }

    fn title(&self) -> &'static str {
        "writes smaller than a stripe make RAID read old data and parity before it can write"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/raid-read-modify-write.md")
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
            let (account, reading) = array.time(Reason::LowerRead);
            if !case.sees_below(array.device.id) {
                missing = Some(format!(
                    "the kernel noted {} raid5 rmw and {} raid5 rcw on {name}, but how long the reads took is unknown: \
                     the members of {name} were not recorded (blktrace -d /dev/{name} -d ...)",
                    count(array.read_modify_writes),
                    count(array.reconstruct_writes)
                ));
                continue;
            }
            if array.share(reading) < MIN_SHARE {
                against = format!(
                    "the slowest {} waited for reads on the members of {name} for {} of their time",
                    array.group.words(),
                    percent(array.share(reading))
                );
                continue;
            }
            let stripes = array.read_modify_writes + array.reconstruct_writes;
            if stripes == 0 && array.has_notes {
                against = format!("the kernel noted no raid5 rmw or rcw on {name}");
                continue;
            }
            let sure = match stripes {
                0 => Confidence::Medium,
                _ if array.device.id == array.group.dev => Confidence::High,
                _ => Confidence::Medium,
            };
            let claimed = case.claim_of_group(array.group_number, account, reading);
            let v = verdict.take().unwrap_or_else(|| Verdict::begin(self.name())).plus(claimed, sure);
            let first = v.remedies.is_empty();
            let v = v.because(format!(
                "the slowest {} on {name} waited for reads on its members for {} of their time",
                array.group.words(),
                percent(array.share(reading))
            ));
            verdict = Some(if first { prove(v, case, array) } else { v });
        }
        match (verdict, missing) {
            (Some(v), _) => v.unless("writes of whole stripes: they need no reads on the members"),
            (None, Some(missing)) => Verdict::cannot_tell(self.name(), missing),
            (None, None) => Verdict::rejected(self.name(), against),
        }
    }
}

fn prove(mut v: Verdict, case: &Case, array: &Array) -> Verdict {
    let name = case.name(array.device.id);
    let writes = &array.device.bios[Class::SyncWrite.index()].phases;
    let background = &array.device.bios[Class::Background.index()].phases;
    let mean = Bytes((writes.bytes.0 + background.bytes.0) / (writes.count + background.count).max(1));
    if array.read_modify_writes + array.reconstruct_writes > 0 {
        v = v.because(format!(
            "the kernel noted {} read-modify-writes (raid5 rmw) and {} reconstruct-writes (raid5 rcw) for {} writes",
            count(array.read_modify_writes),
            count(array.reconstruct_writes),
            count(array.writes())
        ));
    } else {
        v = v.without(format!(
            "the kernel's notes on {name} (blktrace records them unless told not to with -a)"
        ));
    }
    let seeks = &array.device.traffic.q2q_seeks;
    let adjacent = seeks.sequential() as f64 / seeks.count().max(1) as f64;
    let settings = case.settings(array.device.id);
    let md = settings.and_then(|s| s.md());
    let stripe = md.as_ref().and_then(|md| {
        let (chunk, disks) = (md.chunk_size.as_ref()?, md.raid_disks.as_ref()?);
        let parity = if md.level.as_ref()?.value == "raid6" { 2 } else { 1 };
        Some((chunk.clone(), disks.value, disks.value.checked_sub(parity)?))
    });
    match &stripe {
        Some((chunk, disks, data)) => {
            v = v.because(format!(
                "writes have {} on average, a whole stripe {} (chunk {} ({}), {data} of {disks} disks)",
                size(mean),
                size(Bytes(chunk.value.0.saturating_mul(*data))),
                size(chunk.value),
                chunk.at
            ));
        }
        None => {
            v = v.without(format!("the stripe's size: chunk_size and raid_disks of {name} were not recorded"))
        }
    }
    let entries = md.as_ref().and_then(|md| md.stripe_cache_size.clone());
    let cache = |v: Verdict, hope: &str| {
        let now = entries
            .as_ref()
            .map_or("stripe_cache_size".into(), |e| format!("stripe_cache_size {} ->", e.value));
        let disks = stripe.as_ref().map_or(1, |s| s.1);
        let memory = size(Bytes(CACHE_ENTRIES.saturating_mul(CACHE_PAGE).saturating_mul(disks)));
        let at = entries.as_ref().map_or(String::new(), |e| format!(" ({})", e.at));
        v.try_this(
            format!("{now} {CACHE_ENTRIES}{at}: collects neighbouring writes into whole stripes; takes {memory} of memory; {hope}"),
            format!("echo {CACHE_ENTRIES} > /sys/block/{name}/md/stripe_cache_size"),
        )
    };
    let small = entries.as_ref().is_none_or(|e| e.value < CACHE_ENTRIES);
    let align = |v: Verdict| {
        match &stripe {
        Some((chunk, _, data)) => v.try_this(
            "a new file system that knows how wide a stripe is places and sizes large writes to fit; small scattered \
             writes stay small. With -N it only shows what it would do; without, it destroys what is there",
            format!("mkfs.xfs -N -d su={}k,sw={data} /dev/{name}", chunk.value.0 / 1024),
        ),
        None => v,
    }
    };
    let disks = stripe.as_ref().map_or("N".into(), |s| s.1.to_string());
    let no_parity = |v: Verdict| {
        v.try_this(
            format!("RAID 10 has no parity: a small write is two writes and no read; it holds half of what its disks hold. On other \
             disks, then move the data there: made of the members of {name} it would destroy what is on them"),
            format!("mdadm --create /dev/mdNEW --level=10 --raid-devices={disks} NEW_DISKS"),
        )
    };
    if adjacent >= MOSTLY {
        if small {
            v = cache(v, &format!("{} of the writes here follow the one before", percent(adjacent)));
        }
        return no_parity(align(v));
    }
    v = align(no_parity(v));
    if small {
        v = cache(v, &format!("little hope here: {} of the writes follow the one before", percent(adjacent)));
    }
    v
}
