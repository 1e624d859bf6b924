//! `raid-resync`: an array (md) is resynced, checked, rebuilt or reshaped, and the slow operations queue behind that.
//!
//! md reads and writes the members from one end to the other, beside all other I/O: in a thread `mdN_resync` or `mdN_reshape`
//! (`md_do_sync`, drivers/md/md.c), and in the array's own `mdN_raidM`. Of the latter's requests, only those count that the
//! array was not asked for: for a write to the array a member is sent no more than that write's size. Claims the part of the
//! slow operations' time in a member that such requests took while the operations were behind them, and the time in which they
//! waited until md was done with its current part of the array (`wait_barrier`, drivers/md/raid1.c). `sync_action` is no proof:
//! only requests are. Refuted if md sent none, or if they did not delay the slow operations.
//!
//! Example: while a read of 80 ms was in vda, vda completed 3 requests of md0_resync of 256 KiB each: 60 of the 80 ms are due to md.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::interfering::{self, turns, turns_of};
use crate::paths::Paths;
use crate::proof::proof;
use crate::raid;
use crate::remedy::Action;
use crate::slow::{leaves, lies_on, Slow};
use crate::thresholds::raid_resync::USUAL_MIN;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::{Class, Op};
use operation::{Wait, Waits};
use stats::Device;
use trace::{is_md_sync, Bytes, Nanos};
use units::words::percent;

/// The least that a write takes of a member, in bytes: md works in pages (`RAID5_STRIPE_SIZE`, drivers/md/raid5.h).
const PAGE: u64 = 4096;

/// What md did on one member beyond what the array was asked for.
#[derive(Clone, Debug, Default)]
struct Sync {
    /// The thread's name, or the array's if only its own thread was at work.
    thread: String,
    /// The prefix of the names of the array's own threads: `md0_raid`.
    own: Option<String>,
    /// The part of the bytes that the array's own thread read, and wrote, for the resync; 0 to 1.
    reads: f64,
    writes: f64,
    /// All bytes of the resync.
    bytes: Bytes,
    requests: f64,
    /// All bytes that the member moved.
    of: Bytes,
    turns: f64,
    of_turns: u64,
}

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "raid-resync",
    title: "a RAID array is being resynced, checked or rebuilt, and the slow operations wait behind that",
    nature: Nature::Contention,
    page: include_str!("../../pages/raid-resync.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    let mut told = vec![];
    for slow in case.slow() {
        let Some(sync) = Sync::on(case, slow.on) else { continue };
        let left = case.unclaimed(&slow, Reason::Device);
        let name = case.name(slow.on.id);
        let (part, met) = sync.part(case, &slow);
        let wanted = Nanos((left.0 as f64 * part) as u64).min(slow.behind());
        if slow.share(wanted) < MIN_SHARE {
            against = Some(proof!(
                "the slowest {what} were behind requests of {thread} for {wanted} of their time",
                what = slow.words(),
                thread = sync.thread,
                wanted = Share(slow.share(wanted))
            ));
            continue;
        }
        if let Some(unhindered) = interfering::unhindered(&slow, &name) {
            against = Some(unhindered);
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let share = percent(slow.share(claimed));
        let (sure, said) = match met {
            Some((requests, bytes)) => (
                Confidence::High,
                proof!(
                    "{name} completed {requests} of {thread} ({bytes}) while the slowest {what} were in \
                     flight there: {share} of their time",
                    name,
                    requests = Counted(requests, "request", "requests"),
                    thread = sync.thread,
                    bytes,
                    what = slow.words(),
                    share
                ),
            ),
            None => (
                Confidence::Medium,
                proof!(
                    "the slowest {what} queued in {name}, and {thread} sent {part} of its load: {share} of \
                     their time",
                    what = slow.words(),
                    name,
                    thread = sync.thread,
                    part = Share(part),
                    share
                ),
            ),
        };
        let v = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name)).plus(claimed, sure);
        verdict = Some(v.because(said));
        told.push((slow.on, sync));
    }
    verdict = at_the_barrier(case, verdict, &mut told);
    match (verdict, against) {
        (Some(v), _) => prove(v, case, &told).unless("operations just as slow when md is done"),
        (None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None) => {
            let mut v = Verdict::rejected(CAUSE.name, "md synchronised nothing here");
            v.minor = raid::arrays(case).next().is_none();
            v
        }
    }
}

/// Claims the waits until md is done with its current part of an array.
fn at_the_barrier<'a>(
    case: &mut Case<'a>,
    mut verdict: Option<Verdict>,
    told: &mut Vec<(&'a Device, Sync)>,
) -> Option<Verdict> {
    let pick = |waits: Waits, reason| waits.has(Wait::RaidBarrier) && reason != Reason::WaitCpu;
    for paths in Paths::of(case) {
        if paths.share(paths.time(pick)) < MIN_SHARE {
            continue;
        }
        let members = case.facts.devices.iter().filter(|d| lies_on_array_of(case, d, paths.group.dev));
        let Some((member, sync)) = members.filter_map(|d| Some((d, Sync::on(case, d)?))).next() else {
            continue;
        };
        let claimed = paths.claim(case, pick);
        let v = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name));
        verdict = Some(v.plus(claimed, Confidence::High).because(proof!("the slowest {what} waited for {claimed} of their time until {thread} was done with the part of the array that they are in \
             (wait_barrier)", what = paths.group.words(), claimed = Share(paths.share(claimed)), thread = sync.thread)));
        told.push((member, sync));
    }
    verdict
}

/// Whether `member` and the device of slow operations belong to the same array.
fn lies_on_array_of(case: &Case, member: &Device, dev: trace::DevId) -> bool {
    let here = case.facts.device(dev);
    raid::arrays(case).any(|array| {
        let of_it = |d: &Device| lies_on(case.facts, d, array.id);
        of_it(member) && here.is_some_and(of_it)
    })
}

impl Sync {
    /// What md did on a member; `None` if it did nothing of the kind.
    fn on(case: &Case, member: &Device) -> Option<Sync> {
        let mut sync = Sync::default();
        let array = raid::arrays(case).find(|array| lies_on(case.facts, member, array.id));
        sync.own = array.map(|a| format!("{}_raid", case.name(a.id)));
        let (mut requests, mut bytes) = ([0u64; 2], [Bytes(0); 2]);
        for (key, phases) in case.facts.cells.iter().filter(|(k, _)| k.dev == member.id) {
            let task = case.facts.tasks.name(key.task);
            sync.of += phases.bytes;
            sync.of_turns += turns_of(phases.count, phases.bytes);
            if is_md_sync(task) {
                sync.thread = task.to_string();
                sync.bytes += phases.bytes;
                sync.requests += phases.count as f64;
                sync.turns += turns_of(phases.count, phases.bytes) as f64;
            } else if sync.is_own(task) {
                let way = usize::from(key.op != Op::Read);
                requests[way] += phases.count;
                bytes[way] += phases.bytes;
            }
        }
        if let Some(array) = array {
            let asked = asked(case, array);
            let more =
                |way: usize| bytes[way].0.saturating_sub(asked[way].0) as f64 / bytes[way].0.max(1) as f64;
            (sync.reads, sync.writes) = (more(0), more(1));
            for (way, part) in [sync.reads, sync.writes].into_iter().enumerate() {
                sync.bytes += Bytes((bytes[way].0 as f64 * part) as u64);
                sync.requests += requests[way] as f64 * part;
                sync.turns += turns_of(requests[way], bytes[way]) as f64 * part;
            }
            // Without a resync thread it may be anything that md does: a named thread, or md's `sync_action`, must show a resync.
            let says = case.settings(array.id).and_then(|s| s.md()?.sync_action);
            let running = !sync.thread.is_empty() || says.is_some_and(|action| is_running(&action.value));
            if !running {
                return None;
            }
            if sync.thread.is_empty() {
                sync.thread = format!("md's pass over {}", case.name(array.id));
            }
        }
        (sync.bytes.0 > 0).then_some(sync)
    }

    /// The part of the slow operations' time in the member that the resync took, if requests are served in turn; and
    /// the interfering requests and bytes, if they are known for each operation.
    fn part(&self, case: &Case, slow: &Slow) -> (f64, Option<(u64, Bytes)>) {
        let (mut its, mut all, mut requests, mut bytes) = (0.0, 0.0, 0.0, 0.0);
        for stay in interfering::stays(case, slow) {
            all += stay.time.0 as f64;
            for m in stay.met {
                let part = self.part_of(&m.task, m.class);
                its += stay.of(turns(m)).0 as f64 * part;
                requests += m.requests as f64 * part;
                bytes += m.bytes.0 as f64 * part;
            }
        }
        match all > 0.0 {
            true => (its / all, Some((requests as u64, Bytes(bytes as u64)))),
            false => (self.turns / self.of_turns.max(1) as f64, None),
        }
    }

    /// Whether it is the array's own thread.
    fn is_own(&self, task: &str) -> bool {
        self.own.as_ref().is_some_and(|own| task.starts_with(own.as_str()))
    }

    /// The part of a task's requests of a class that belong to the resync, 0 to 1.
    fn part_of(&self, task: &str, class: Class) -> f64 {
        match (is_md_sync(task), self.is_own(task), class) {
            (true, ..) => 1.0,
            (_, true, Class::Read) => self.reads,
            (_, true, _) => self.writes,
            _ => 0.0,
        }
    }
}

/// The most bytes that a member must read and write for what an array was asked for: all of a small write, and all of a
/// read if the array has to compute the data of a missing member.
fn asked(case: &Case, array: &Device) -> [Bytes; 2] {
    let of = |class: Class| &array.bios[class.index()].phases;
    let written = [Class::SyncWrite, Class::Background].map(of);
    let written = written.iter().map(|p| p.bytes.0.max(p.count * PAGE)).sum();
    let degraded = case.settings(array.id).and_then(|s| s.md()?.degraded).is_some_and(|d| d.value > 0);
    let read = if degraded { of(Class::Read).bytes.0 } else { 0 };
    [Bytes(written + read), Bytes(written)]
}

/// Whether md is at work, by `sync_action`.
fn is_running(action: &str) -> bool {
    ["resync", "recover", "check", "repair", "reshape"].contains(&action)
}

/// Adds what md did on the members, and the settings of their arrays.
fn prove(mut v: Verdict, case: &Case, told: &[(&Device, Sync)]) -> Verdict {
    let mut members = vec![];
    let mut arrays = vec![];
    for (member, sync) in told {
        if members.contains(&member.id) {
            continue;
        }
        members.push(member.id);
        let seconds = member.duration().seconds().max(f64::MIN_POSITIVE);
        v = v.because(proof!(
            "{thread} moved {n} of all that {device} moved ({sync} of {n2}, {seconds} a second)",
            thread = sync.thread,
            n = Share(sync.bytes.0 as f64 / sync.of.0.max(1) as f64),
            device = case.name(member.id),
            sync = sync.bytes,
            n2 = sync.of,
            seconds = Bytes((sync.bytes.0 as f64 / seconds) as u64)
        ));
        let array = raid::arrays(case).find(|a| lies_on(case.facts, member, a.id));
        if let Some(array) = array.filter(|a| !arrays.contains(&a.id)) {
            arrays.push(array.id);
            v = of_array(v, case, array);
        }
    }
    v
}

/// Adds what the array's settings say, and what to do.
fn of_array(mut v: Verdict, case: &Case, array: &Device) -> Verdict {
    let name = case.name(array.id);
    let fastest = leaves(case.facts, array.id)
        .into_iter()
        .filter_map(|member| Some((Sync::on(case, member)?.bytes.0 as f64, member.duration().seconds())))
        .map(|(bytes, seconds)| bytes / 1024.0 / seconds.max(f64::MIN_POSITIVE))
        .fold(0.0, f64::max);
    let settings = case.settings(array.id);
    let action = settings.and_then(|s| s.attribute("md/sync_action"));
    let least = settings.and_then(|s| s.number("md/sync_speed_min"));
    let done = settings.and_then(|s| s.attribute("md/sync_completed")).filter(|d| d.value.contains('/'));
    if let Some(action) = &action {
        let done = done.map_or(String::new(), |d| format!(", {} sectors done ({})", d.value, d.at));
        v = v.because(proof!(
            "{name} is busy with it: sync_action {action} ({at}){done}",
            name,
            action = Text(action.value.to_string()),
            at = action.at,
            done
        ));
    }
    let action = action.map(|a| a.value).unwrap_or_default();
    // A check can wait; an array that is not whole should be repaired soon.
    let check = action == "check" || action == "repair";
    let meanwhile = match check {
        true => "the check takes longer",
        false => "it takes longer, and until it is done another failing disk may lose data",
    };
    if check {
        v = v.try_this(
            "stop the check: nothing is lost, and it starts from the beginning next time",
            Action::set(&name, "md/sync_action", "idle"),
        );
    }
    match least {
        Some(least) if least.value > USUAL_MIN => {
            v = v.try_this(
                format!(
                    "sync_speed_min {} -> {USUAL_MIN} KiB/s ({}), the kernel's default: md keeps that speed \
                         regardless of other I/O, and yields only above it; {meanwhile}",
                    least.value, least.at
                ),
                Action::set(&name, "md/sync_speed_min", USUAL_MIN),
            );
        }
        _ => {}
    }
    let half = (fastest / 2.0) as u64;
    if half > 0 {
        v = v.try_this(
            format!(
                "at most half of the {:.0} KiB/s of each member that it takes here (undo: echo system > the \
                     same file); {meanwhile}",
                fastest
            ),
            Action::set(&name, "md/sync_speed_max", half),
        );
    }
    if check {
        v = v.try_this(
            "see when it is started; choose a time of low load",
            Action::look("systemctl list-timers 'mdcheck*'; cat /etc/cron.d/mdadm"),
        );
    }
    let no_bitmap = settings.and_then(|s| s.md()?.bitmap()).filter(|bitmap| !bitmap.value);
    if let Some(at) = no_bitmap.filter(|_| action == "resync") {
        v = v.try_this(
            format!(
                "a bitmap of what is being written ({name} has none, {}): after the next crash only that is resynced; writes cost more with it (raid-bitmap). Not before this pass is over",
                at.at
            ),
            format!("mdadm --grow --bitmap=internal --bitmap-chunk=128M /dev/{name}"),
        );
    }
    v
}
