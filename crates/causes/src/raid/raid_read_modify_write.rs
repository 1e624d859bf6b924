//! `raid-read-modify-write`: a write smaller than a stripe makes RAID read old data and parity first.
//!
//! Claims the time in which a slow write had only reads in flight on the members: a write that needs no old data has no
//! such time. Proof: the kernel's messages in the trace (`raid5 rmw`, `raid5 rcw`, drivers/md/raid5.c) count the
//! stripes. Refuted if there are no such reads.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::journal::again::Again;
use crate::proof::proof;
use crate::raid::{self, Array, Judged, Question};
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::thresholds::raid_read_modify_write::MOSTLY;
use crate::verdict::{Confidence, Verdict};
use evidence::{Fact, Md};
use ledger::Reason;
use life::Class;
use trace::{Bytes, Nanos};
use units::words::{percent, size};

/// The usual block size of ext4 (mke2fs(8)), which is the unit of its `stride` and `stripe_width`.
const BLOCK: u64 = 4096;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "raid-read-modify-write",
    title: "writes smaller than a stripe make RAID read old data and parity before it can write",
    nature: Nature::Everyday,
    page: include_str!("../../pages/raid-read-modify-write.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let question = Question {
        cause: CAUSE.name,
        reason: Reason::LowerRead,
        noted: &|array, name| {
            proof!(
                "the kernel reported {rmw} raid5 rmw and {rcw} raid5 rcw on {device}",
                rmw = Count(array.read_modify_writes),
                rcw = Count(array.reconstruct_writes),
                device = name
            )
        },
        too_little: &|array, name, reading| {
            array.waited(proof!("waited for reads on the members of {device}", device = name), reading)
        },
        unless: "writes of whole stripes: they need no reads on the members",
    };
    question.ask(case, |case, array, name, reading| {
        let stripes = array.read_modify_writes + array.reconstruct_writes;
        if stripes == 0 && array.has_notes {
            return Judged::Against(proof!("the kernel reported no raid5 rmw or rcw on {name}", name));
        }
        let sure = match stripes {
            0 => Confidence::Medium,
            _ if array.device.id == array.group.dev => Confidence::High,
            _ => Confidence::Medium,
        };
        let v = Verdict::found(CAUSE.name, Nanos(0), sure).because(proof!(
            "the slowest {what} on {name} waited for reads on its members for {reading} of their time",
            what = array.group.words(),
            name,
            reading = Share(array.share(reading))
        ));
        Judged::Found(prove(v, case, array))
    })
}

/// The width of a stripe: chunk, disks, and how many of them hold data.
struct Stripe {
    chunk: Fact<Bytes>,
    disks: u64,
    data: u64,
}

impl Stripe {
    fn of(md: &Md) -> Option<Stripe> {
        let (chunk, disks) = (md.chunk_size.clone()?, md.raid_disks.as_ref()?.value);
        let parity = if md.level.as_ref()?.value == "raid6" { 2 } else { 1 };
        Some(Stripe { chunk, disks, data: disks.checked_sub(parity)? })
    }

    fn size(&self) -> Bytes {
        Bytes(self.chunk.value.0.saturating_mul(self.data))
    }
}

fn prove(mut v: Verdict, case: &Case, array: &Array) -> Verdict {
    let name = case.name(array.device.id);
    let writes = &array.device.bios[Class::SyncWrite.index()].phases;
    let background = &array.device.bios[Class::Background.index()].phases;
    let mean = Bytes((writes.bytes + background.bytes).0 / (writes.count + background.count).max(1));
    if array.read_modify_writes + array.reconstruct_writes > 0 {
        v = v.because(proof!(
            "the kernel reported {read_modify_writes} (raid5 rmw) and {reconstruct_writes} (raid5 rcw) for \
             {writes}",
            read_modify_writes = Counted(array.read_modify_writes, "read-modify-write", "read-modify-writes"),
            reconstruct_writes = Counted(array.reconstruct_writes, "reconstruct-write", "reconstruct-writes"),
            writes = Counted(array.writes(), "write", "writes")
        ));
    } else {
        v = v.without(proof!(
            "the kernel's messages about {name} (blktrace records them unless told not to with -a)",
            name
        ));
    }
    let md = case.settings(array.device.id).and_then(|s| s.md());
    let stripe = md.as_ref().and_then(Stripe::of);
    v = match &stripe {
        Some(s) => v.because(proof!(
            "writes have {mean} on average, a whole stripe {s} (chunk {chunk} ({at}), \
             {data} of {disks} disks)",
            mean,
            s = s.size(),
            chunk = s.chunk.value,
            at = s.chunk.at,
            data = Text(s.data.to_string()),
            disks = Text(s.disks.to_string())
        )),
        None => v.without(proof!(
            "the stripe's size: chunk_size and raid_disks of {name} were not recorded",
            name
        )),
    };
    v = larger_cache(v, array, &name, md.as_ref());
    v = more_threads(v, case, array, &name, md.as_ref());
    // A file system aligns large writes to stripes; scattered writes smaller than a chunk stay scattered.
    if stripe.as_ref().is_some_and(|s| mean >= s.chunk.value) || adjacent(array) >= MOSTLY {
        v = whole_stripes(v, case, array, &name, stripe.as_ref());
    }
    no_parity(v, &name, stripe.as_ref())
}

/// The part of the array's writes that begin where the one before ended, 0 to 1.
fn adjacent(array: &Array) -> f64 {
    let traffic = &array.device.traffic;
    traffic.queued_in_sequence as f64 / traffic.queued.max(1) as f64
}

/// Adds a larger stripe cache: it comes first, because it can be undone at once and costs only memory.
fn larger_cache(v: Verdict, array: &Array, name: &str, md: Option<&Md>) -> Verdict {
    let entries = md.and_then(|md| md.stripe_cache_size.as_ref());
    if entries.is_some_and(|e| e.value >= raid::CACHE_ENTRIES) {
        return v;
    }
    let adjacent = adjacent(array);
    // Scattered writes cannot be collected: a larger cache would only take memory.
    if adjacent < MOSTLY {
        return v;
    }
    let hope = format!("{} of the writes here follow the one before", percent(adjacent));
    raid::larger_cache(v, name, md, "collects neighbouring writes into whole stripes", &hope)
}

/// Adds more threads, only if the writes also wait in md itself: time in the members stays, however many threads feed them.
fn more_threads(v: Verdict, case: &Case, array: &Array, name: &str, md: Option<&Md>) -> Verdict {
    let (account, time) = array.time(Reason::Stacking);
    let unexplained = time.min(case.unclaimed_of_group(array.group_number, account));
    match array.share(unexplained) < MIN_SHARE {
        true => v,
        false => {
            let share = percent(array.share(unexplained));
            raid::more_threads(
                v,
                name,
                md,
                &format!("here writes were in md itself for {share} of their time"),
            )
        }
    }
}

/// Adds writes that fit stripes, by the file system that sends them.
fn whole_stripes(v: Verdict, case: &Case, array: &Array, name: &str, stripe: Option<&Stripe>) -> Verdict {
    let Some(s) = stripe else { return v };
    let (whole, chunk) = (size(s.size()), s.chunk.value.0);
    let mount = case.mount(array.device.id);
    let again = Again::of(mount, name);
    match mount.map(|m| (m.fstype.as_str(), &m.target)) {
        Some(("ext4", target)) => v.try_this(
            format!(
                "tells ext4 on {target} that a stripe is {whole} wide, from the next mount on: it places and sizes large writes \
                 to fit; small scattered writes stay small (numbers for blocks of 4 KiB)"
            ),
            format!("tune2fs -E stride={},stripe_width={} {}", chunk / BLOCK, s.size().0 / BLOCK, again.source),
        ),
        Some(("xfs", target)) => v.try_this(
            format!(
                "tells XFS that a stripe is {whole} wide, if it does not know (xfs_info {target}): it places and sizes large \
                 writes to fit; small scattered writes stay small"
            ),
            Risk::Downtime.of(again.with(&format!("sunit={},swidth={}", chunk / 512, s.size().0 / 512))),
        ),
        _ => v.try_on(
            Acts::Victim,
            format!("write whole stripes: {whole} at multiples of {whole} need no reads (the number is in bytes)"),
            Action::look(format!("cat /sys/block/{name}/queue/optimal_io_size")),
        ),
    }
}

/// Adds another RAID level: it comes last, because it costs the most.
fn no_parity(v: Verdict, name: &str, stripe: Option<&Stripe>) -> Verdict {
    let disks = stripe.map_or("N".into(), |s| s.disks.to_string());
    v.try_this(
        format!(
            "last resort, and the only one for small scattered writes: RAID 10 on other disks, not the members of \
                 {name}. Without parity such a write is two writes and no read; half of the raw capacity is usable. \
                 Move the data of {name} there"
        ),
        Risk::Data("NEW_DISKS").of(format!(
            "mdadm --create /dev/mdNEW --level=10 --raid-devices={disks} NEW_DISKS  # in place of /dev/{name}"
        )),
    )
}
