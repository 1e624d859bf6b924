//! `crypt-queue`: an operation waits in dm-crypt's queues before it is encrypted or decrypted, and again before it is sent on.
//!
//! dm-crypt puts every bio into a work queue, and encrypted data into the queue of a thread of its own (drivers/md/dm-crypt.c).
//! Both were made for disks that are slower than a context switch. Claims the time from queueing a bio until a worker begins with
//! it, and from that worker's end until the next thread sends it below; not the encryption itself, which takes as long without
//! queues. Proof: each bio's own work item (`kcryptd_crypt`); that a disk is encrypted proves nothing. Refuted if no item
//! was queued (`no_read_workqueue`, `no_write_workqueue`), or none waited there for long.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{Paths, Waited};
use crate::proof::proof;
use crate::raid;
use crate::slow::leaves;
use crate::thresholds::crypt_queue::SMALL_SECTOR;
use crate::verdict::{Answer, Verdict};
use ledger::Reason;
use life::Class;
use operation::Wait;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "crypt-queue",
    title: "I/O on an encrypted device waits in dm-crypt's work queues",
    nature: Nature::Everyday,
    page: include_str!("../../pages/crypt-queue.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    if case.facts.operations.is_empty() && !may_be_encrypted(case) {
        return Verdict::out_of_the_question(CAUSE.name, "no encrypted device was recorded");
    }
    let what = "in dm-crypt's queues (kcryptd, dmcrypt_write), not being encrypted and not below";
    let waited = Waited::new(what, |waits, reason| waits.has(Wait::Crypt) && reason == Reason::WorkQueue);
    let (mut v, found) = waited.ask(case, CAUSE.name);
    if v.verdict != Answer::Found {
        return v;
    }
    let (mut told, mut reads, mut writes, mut worked) = (vec![], false, false, 0.0f64);
    for paths in Paths::of(case).into_iter().filter(|p| found.contains(&p.number)) {
        let of = |reason: Reason| paths.share(paths.time(|w, r| w.has(Wait::Crypt) && r == reason));
        v = v.because(proof!(
            "dm-crypt's workers held the slowest {what} for {ran} of their time while running, and for \
             {waited} while waiting for a processor",
            what = paths.group.words(),
            ran = Share(of(Reason::OnCpu)),
            waited = Share(of(Reason::WaitCpu))
        ));
        worked = worked.max(of(Reason::OnCpu));
        match paths.group.class {
            Class::Read => reads = true,
            _ => writes = true,
        }
        if !told.contains(&paths.group.dev) {
            told.push(paths.group.dev);
        }
    }
    for dev in told {
        v = remedies(v, case, dev, [reads, writes], worked);
    }
    v.unless("operations just as slow without these queues")
}

/// Whether a recorded device may be dm-crypt's: it has no requests of its own, is no array, and nothing says that it is
/// of another kind (`dm/uuid` begins with the kind: `CRYPT-`, `LVM-`).
fn may_be_encrypted(case: &Case) -> bool {
    let kind = |dev| case.settings(dev).and_then(|s| s.attribute("dm/uuid"));
    let stacked = case.facts.devices.iter().filter(|d| d.has_io() && !d.has_requests());
    let other = |id| raid::arrays(case).any(|a| a.id == id);
    stacked.filter(|d| !other(d.id)).any(|d| kind(d.id).is_none_or(|uuid| uuid.value.starts_with("CRYPT-")))
}

/// The name of a disk below that completes requests in its interrupt: a disk with several hardware queues does
/// (`blk_mq_complete_request_remote`, block/blk-mq.c); a disk with one completes them in a software interrupt.
fn several_queues(case: &Case, dev: trace::DevId) -> Option<String> {
    let several = |id| case.settings(id).is_some_and(|s| s.tags().len() > 1);
    leaves(case.facts, dev).into_iter().find(|d| several(d.id)).map(|d| case.name(d.id))
}

fn remedies(
    mut v: Verdict,
    case: &Case,
    dev: trace::DevId,
    [reads, writes]: [bool; 2],
    worked: f64,
) -> Verdict {
    let settings = case.settings(dev);
    let mapped = settings.and_then(|s| s.attribute("dm/name"));
    let name = mapped.map_or("NAME".to_string(), |n| n.value);
    let interrupted = reads.then(|| several_queues(case, dev)).flatten();
    let flags: Vec<&str> =
        [(reads && interrupted.is_none(), "--perf-no_read_workqueue"), (writes, "--perf-no_write_workqueue")]
            .into_iter()
            .filter_map(|(wanted, flag)| wanted.then_some(flag))
            .collect();
    if !flags.is_empty() {
        v = v.try_this(
            format!(
                "encrypts in the task that reads or writes, without a queue (Linux 5.9, cryptsetup 2.3.4; \
                 asks for the passphrase; takes effect at once, with all flags in one command; --persistent \
                 keeps it in a LUKS2 header). It costs that task processor time: encryption for a heavy \
                 writer is no longer spread over all processors ({})",
                case.name(dev)
            ),
            format!("cryptsetup refresh {} {name}", flags.join(" ")),
        );
    }
    if let Some(below) = interrupted {
        v = v.try_this(
            format!(
                "{below} has several hardware queues and completes reads in its interrupt, where nothing can be decrypted: \
                 --perf-no_read_workqueue changes nothing for them (seen on Linux 6.1.0-56). High-priority \
                 workers run before ordinary tasks (Linux 6.10, cryptsetup 2.8) and take processor time from \
                 them"
            ),
            format!("cryptsetup refresh --perf-high_priority {name}"),
        );
    }
    if writes {
        v = v.try_this(
            "keeps the work queue and bypasses only the writer thread behind it, for tasks that keep all \
                 processors encrypting; writes are no longer sorted before they are sent, which may slow a \
                 rotating disk",
            format!("cryptsetup refresh --perf-submit_from_crypt_cpus {name}"),
        );
    }
    let sector = settings.and_then(|s| s.number("queue/logical_block_size"));
    match sector.filter(|s| s.value == SMALL_SECTOR && worked >= MIN_SHARE) {
        Some(sector) => v.try_this(
            format!(
                "sectors of 4096 bytes and not of {} ({}) make encryption itself cheaper. It rewrites the \
                     whole device, for hours: only with a backup, and only if what is on it has blocks of 4 \
                     KiB or more",
                sector.value, sector.at
            ),
            "cryptsetup reencrypt --sector-size 4096 /dev/BELOW",
        ),
        None => v,
    }
}
