//! RAID arrays of the kernel (md) in a recording: the kernel's messages about them, the slow operations that passed
//! through them, and the rule by which RAID causes judge them.

pub mod raid_bitmap;
pub mod raid_read_modify_write;
pub mod raid_resync;
pub mod raid_stripe_cache;

use crate::case::{Case, MIN_SHARE};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::{leaves, lies_on};
pub(crate) use crate::thresholds::raid::CACHE_ENTRIES;
use crate::thresholds::raid::{MOST_ENTRIES, THREADS};
use crate::verdict::Verdict;
use evidence::Md;
use ledger::{Reason, RollUp};
use life::{Class, Op, Unclaimed};
use stats::{CellKey, Device, Group, Phases};
use trace::{Bytes, Flags, Nanos};
use units::words::size;

/// The major number of md arrays (`MD_MAJOR`, include/uapi/linux/major.h).
const MD_MAJOR: u32 = 9;

/// An array and a group of slow writes that passed through it.
pub(crate) struct Array<'a> {
    pub device: &'a Device,
    pub group: &'a Group,
    pub group_number: usize,
    /// Stripes that were read before they were written, by the kernel's messages.
    pub read_modify_writes: u64,
    /// Stripes whose other blocks were read to compute parity.
    pub reconstruct_writes: u64,
    /// The time of the slowest bios of that class on the array itself, by reason.
    own: RollUp,
    /// How often writes waited until the write-intent bitmap was on the disks.
    pub bitmap_unplugs: u64,
    /// Whether the recording has any message of the kernel about the array.
    pub has_notes: bool,
}

impl<'a> Array<'a> {
    /// All arrays that slow writes passed through, one entry for each array and group.
    pub fn all(case: &Case<'a>) -> Vec<Array<'a>> {
        let mut found = vec![];
        for (group_number, group) in case.slow_groups().filter(|(_, g)| g.class != Class::Read) {
            // Operations are followed down to a member; bios are the uppermost device's.
            let passed = |d: &&Device| match (group.op, case.facts.device(group.dev)) {
                (Some(_), Some(member)) if lies_on(case.facts, member, d.id) => true,
                _ => lies_on(case.facts, d, group.dev),
            };
            for device in case.facts.devices.iter().filter(passed).filter(|d| is_array(case, d)) {
                let notes = &device.traffic.messages;
                found.push(Array {
                    own: case.facts.slowest_bios(device.id, group.class).sum.time,
                    device,
                    group,
                    group_number,
                    read_modify_writes: notes.beginning("raid5 rmw"),
                    reconstruct_writes: notes.beginning("raid5 rcw"),
                    bitmap_unplugs: notes.beginning("md bitmap_unplug"),
                    has_notes: !notes.by_count().is_empty(),
                });
            }
        }
        found
    }

    /// The reason in the group's tail from which time in this array is paid, and how much time it has of `reason`. For
    /// operations all time is already told apart, whatever is stacked on the array.
    pub fn time(&self, reason: Reason) -> (Reason, Nanos) {
        if self.device.id == self.group.dev || self.group.op.is_some() {
            return (reason, self.group.tail.sum.time.of(reason));
        }
        let whole = self.group.tail.sum.time.of(Reason::LowerWrite);
        (Reason::LowerWrite, Nanos((whole.0 as f64 * self.own.share(reason)) as u64))
    }

    /// A time as a part of the group's tail, 0 to 1.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// Whether the slow writes may have waited for reads long enough after all while they were in md itself: for reads
    /// of which the write is not known.
    pub fn may_have_read(&self, known: Nanos) -> bool {
        let in_md = self.time(Reason::Stacking).1;
        self.share(known + in_md.min(self.device.unclaimed.time)) >= MIN_SHARE
    }

    /// Evidence of such reads.
    pub fn unclaimed(&self, name: &str) -> Proof {
        let Unclaimed { reads, time: together } = self.device.unclaimed;
        proof!(
            "for which writes {device} sent {reads} more to its members is unknown, {together} together",
            device = name,
            reads = Counted(reads, "read", "reads"),
            together
        )
    }

    /// Evidence of the time that the slow writes spent for one reason; `doing` says what they did.
    pub fn waited(&self, doing: impl Into<Proof>, time: Nanos) -> Proof {
        proof!(
            "the slowest {what} {doing} for {share} of their time",
            what = self.group.words(),
            doing = doing.into(),
            share = Share(self.share(time))
        )
    }

    /// md's own writes to its members, of superblock and bitmap: preflush and FUA on one write (`md_super_write`,
    /// drivers/md/md.c). Data never has both: md sends preflushes as flushes of their own (`md_flush_request`). A
    /// member without a cache gets neither, but META (seen with Linux 6.1.192), which the levels with a bitmap do not
    /// pass on with data either. Returned is the member on which they took longest, since md waits for all.
    pub fn own_writes(&self, case: &Case<'a>) -> Option<(&'a Device, Phases)> {
        let both = Flags::FLUSH.with(Flags::FUA);
        let has = |k: &CellKey, flags: Flags| k.flags.0 & flags.0 == flags.0;
        let is_own = |k: &CellKey| k.op == Op::Write && (has(k, both) || has(k, Flags::META));
        let own = |member: &'a Device| {
            let sums = case.facts.cells.sum(|k| (k.dev == member.id && is_own(k)).then_some(()));
            Some((member, sums.into_values().next()?))
        };
        leaves(case.facts, self.device.id).into_iter().filter_map(own).max_by_key(|(_, p)| p.q2c.sum())
    }

    /// The number of writes that the array was asked for.
    pub fn writes(&self) -> u64 {
        [Class::SyncWrite, Class::Background].iter().map(|c| self.device.bios[c.index()].phases.count).sum()
    }
}

/// What a cause says of one array.
pub(crate) enum Judged {
    /// Found: a verdict with its confidence, evidence and remedies, to which the time is added.
    Found(Verdict),
    /// Rejected, for this reason.
    Against(Proof),
    /// Cannot tell without this.
    Missing(Proof),
}

/// What a cause of RAID asks of each array.
pub(crate) struct Question<'q> {
    /// The cause's name.
    pub cause: &'static str,
    /// The reason whose time it claims.
    pub reason: Reason,
    /// What the kernel's messages say of it, for an array whose members were not recorded.
    pub noted: &'q dyn Fn(&Array, &str) -> Proof,
    /// The sentence for too little time.
    pub too_little: &'q dyn Fn(&Array, &str, Nanos) -> Proof,
    /// What would refute it.
    pub unless: &'static str,
}

impl Question<'_> {
    /// Judges all arrays that slow writes passed through. `answer` is called if the slow writes had enough time of the
    /// reason; it gets the array, its name and that time.
    pub fn ask(&self, case: &mut Case, answer: impl Fn(&Case, &Array, &str, Nanos) -> Judged) -> Verdict {
        let arrays = Array::all(case);
        if arrays.is_empty() {
            return Verdict::out_of_the_question(self.cause, "no slow write passed through a RAID array");
        }
        let (mut verdict, mut missing, mut against) = (None::<Verdict>, None, Proof::from(""));
        for array in &arrays {
            let name = case.name(array.device.id);
            let (account, time) = array.time(self.reason);
            let judged = if !case.sees_below(array.device.id) {
                Judged::Missing(proof!("{array}, but how long writes waited for that is unknown: the members of {name} were not recorded \
                     (blktrace -d /dev/{name} -d ...)", array = (self.noted)(array, &name), name))
            } else if array.share(time) < MIN_SHARE {
                let too_little = (self.too_little)(array, &name, time);
                match self.reason == Reason::LowerRead && array.may_have_read(time) {
                    true => Judged::Missing(proof!(
                        "{too_little}; {unclaimed}",
                        too_little = too_little,
                        unclaimed = array.unclaimed(&name)
                    )),
                    false => Judged::Against(too_little),
                }
            } else {
                answer(case, array, &name, time)
            };
            match judged {
                Judged::Found(v) => {
                    let claimed = case.claim_of_group(array.group_number, account, time);
                    let v = Verdict { explains: claimed, ..v };
                    verdict = Some(match verdict {
                        Some(all) => all.and(v),
                        None => v,
                    });
                }
                Judged::Against(why) => against = why,
                Judged::Missing(what) => missing = Some(what),
            }
        }
        match (verdict, missing) {
            (Some(v), _) => v.unless(self.unless),
            (None, Some(missing)) => Verdict::cannot_tell(self.cause, missing),
            (None, None) => Verdict::rejected(self.cause, against),
        }
    }
}

/// Bytes that a stripe cache holds per entry and disk: a page (`STRIPE_SIZE`, drivers/md/raid5.h).
const CACHE_PAGE: u64 = 4096;

/// Adds a larger stripe cache, unless it is as large as it can be; `does` and `hope` complete the sentence.
pub(crate) fn larger_cache(v: Verdict, name: &str, md: Option<&Md>, does: &str, hope: &str) -> Verdict {
    let entries = md.and_then(|md| md.stripe_cache_size.as_ref());
    let to = match entries {
        Some(e) if e.value >= MOST_ENTRIES => return v,
        Some(e) if e.value >= CACHE_ENTRIES => (e.value * 4).min(MOST_ENTRIES),
        _ => CACHE_ENTRIES,
    };
    let now = entries.map_or("stripe_cache_size".into(), |e| format!("stripe_cache_size {} ->", e.value));
    let at = entries.map_or(String::new(), |e| format!(" ({})", e.at));
    let disks = md.and_then(|md| md.raid_disks.as_ref()).map_or(1, |d| d.value);
    let memory = size(Bytes(to.saturating_mul(CACHE_PAGE).saturating_mul(disks)));
    v.try_this(
        format!("{now} {to}{at}: {does}; takes {memory} of memory; {hope}"),
        Action::set(name, "md/stripe_cache_size", to),
    )
}

/// Adds more threads for an array, unless it has them; `here` says why they would help.
pub(crate) fn more_threads(v: Verdict, name: &str, md: Option<&Md>, here: &str) -> Verdict {
    let threads = md.and_then(|md| md.group_thread_cnt.as_ref());
    if threads.is_some_and(|t| t.value > 0) {
        return v;
    }
    let now = threads.map_or(String::new(), |t| format!(" {} -> {THREADS} ({})", t.value, t.at));
    v.try_this(
        format!(
            "group_thread_cnt{now}: more threads compute parity and copy data, where one ({name}_raid5) \
             saturates its processor: {here}"
        ),
        Action::set(name, "md/group_thread_cnt", THREADS),
    )
}

/// All arrays of the recording.
pub(crate) fn arrays<'c, 'a: 'c>(case: &'c Case<'a>) -> impl Iterator<Item = &'a Device> + 'c {
    case.facts.devices.iter().filter(|d| is_array(case, d))
}

fn is_array(case: &Case, device: &Device) -> bool {
    let by_settings = || case.settings(device.id).is_some_and(|s| s.md().is_some());
    !device.has_requests() && (device.id.major() == MD_MAJOR || by_settings())
}
