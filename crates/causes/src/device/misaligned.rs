//! `misaligned`: writes begin or end within a physical block, so that the device reads the block before it writes it.
//!
//! A disk with sectors of 4 KiB that can be addressed by 512 bytes, flash with its pages, a stripe: whoever writes a part pays for
//! a read first. A partition that begins at sector 63, a log in records of 512 bytes. Proof is not the setting but the time: in the
//! same recording, writes of whole blocks of 4 KiB, as large and among as many others in the device, took much less. Claimed is what
//! the slow ones took longer for it. Refuted if they take as long; where all writes are alike there is nothing to compare with.
//!
//! Example: parts of blocks took 9 ms on average, whole ones 1 ms: 8 of 9 parts of the time of those that were slow.

use crate::case::{Case, MIN_SHARE};
use crate::proof::{proof, Proof};
use crate::remedy::Acts;
use crate::thresholds::misaligned::{HABIT, LONGER};
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use evidence::Fact;
use ledger::Reason;
use life::Class;
use stats::BLOCK;
use trace::{Bytes, Nanos};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "misaligned",
    title: "writes are not whole blocks of the device, which reads each block before it writes a part of it",
    page: include_str!("../../pages/misaligned.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let (mut against, mut unsure, mut whole) = (None, None, None);
    for slow in case.slow() {
        let left = case.unclaimed(&slow, Reason::Device);
        if slow.unaligned() == Nanos(0) || slow.share(left) < MIN_SHARE {
            continue;
        }
        let name = case.name(slow.on.id);
        let compared = slow.on.alignment.compare();
        let all = compared.count + compared.aligned;
        let told = told(compared.count, all, &name);
        if (compared.count as f64) < HABIT * all as f64 {
            whole = Some(told);
            continue;
        }
        let physical = case.settings(slow.on.id).and_then(|s| s.physical_block_size());
        let Some((took, would_have)) = compared.took else {
            let says = |f: &Fact<Bytes>| format!("its physical_block_size is {} ({})", f.value.0, f.at);
            match physical {
                Some(f) if f.value < BLOCK => {
                    against.get_or_insert(proof!(
                        "{told}, but {f}",
                        told = told.clone(),
                        f = Text(says(&f).to_string())
                    ));
                }
                known => {
                    let says = known.map_or(String::new(), |f| format!("; {}", says(&f)));
                    unsure = Some(proof!("{told}{says}; there are too few like them of whole blocks to compare with: record some, in a file \
                         beside: fio --name=whole --filename=FILE --size=16m --rw=randwrite --bs=4k --direct=1 --runtime=5 --time_based", told = told.clone(), says = Text(says.to_string())));
                }
            }
            continue;
        };
        let told = proof!(
            "{told}; they took {took} (mean D2C), whole blocks of about their size {would_have}",
            told = told.clone(),
            took = Time(took),
            would_have = Time(would_have)
        );
        if (took.0 as f64) < LONGER * would_have.0 as f64 {
            against = Some(told);
            continue;
        }
        let price = 1.0 - would_have.0 as f64 / took.0.max(1) as f64;
        let wanted = Nanos((slow.unaligned().min(left).0 as f64 * price) as u64);
        if slow.share(wanted) < MIN_SHARE {
            against = Some(proof!(
                "{told}: that is {wanted} of the time of the slowest {what}",
                told = told.clone(),
                wanted = Share(slow.share(wanted)),
                what = Text(slow.words().to_string())
            ));
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let says = physical.filter(|f| f.value >= BLOCK);
        let sure = if says.is_some() { Confidence::High } else { Confidence::Medium };
        let v = Verdict::go_on(verdict.take(), CAUSE.name, slow.group_number)
            .plus(claimed, sure)
            .because(told)
            .because(proof!("{unaligned} of the time of the slowest {what} was in such writes; it would be {claimed} less with whole blocks", unaligned = Share(slow.share(slow.unaligned())), what = Text(slow.words().to_string()), claimed = Time(claimed)));
        verdict = Some(remedies(physical_block(v, says, &name), case, slow.on, &name));
    }
    match (verdict, unsure, against) {
        (Some(v), ..) => v.unless("whole blocks of 4 KiB that take as long"),
        (None, Some(unsure), _) => Verdict::cannot_tell(CAUSE.name, unsure),
        (None, None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None, None) => Verdict::out_of_the_question(
            CAUSE.name,
            whole.unwrap_or_else(|| "what was slow wrote whole blocks, or nothing".into()),
        ),
    }
}

fn told(parts: u64, all: u64, name: &str) -> Proof {
    proof!(
        "{compared} of {all} writes to {name} were not whole blocks of {block}",
        compared = Count(parts),
        all = Count(all),
        name = Text(name.to_string()),
        block = Size(BLOCK)
    )
}

fn physical_block(v: Verdict, says: Option<Fact<Bytes>>, name: &str) -> Verdict {
    if let Some(f) = says {
        return v.because(proof!(
            "the physical_block_size of {name} is {f} ({at})",
            name = Text(name.to_string()),
            f = Text(f.value.0.to_string()),
            at = Source(f.at.to_string())
        ));
    }
    v
}

fn remedies(mut v: Verdict, case: &Case, device: &stats::Device, name: &str) -> Verdict {
    if !v.remedies.is_empty() {
        return v;
    }
    if let Some((task, part)) = case.main_task(device, &[Class::SyncWrite, Class::Background]) {
        v = v.because(proof!(
            "{task} sent {part} of the writes",
            task = Text(task.to_string()),
            part = Share(part)
        ));
    }
    // Programs' own records on a device without a file system, or on another one, are not XFS's log.
    let v = match case.mount(device.id).is_none_or(|m| m.fstype == "xfs") {
        true => v.try_this(
            "XFS whose log has sectors of 512 bytes (xfs_info shows sectsz=512 at \"log\"): only a file system made anew writes its log \
             in whole blocks; what is on it is copied there",
            "mkfs.xfs -s size=4096 /dev/NEW",
        ),
        false => v,
    };
    v.try_this(
        "whether a partition begins within a block (the numbers must be multiples of 8): if so, it is copied to one that begins at \
         a MiB",
        format!("grep . /sys/block/{name}/*/start /sys/block/{name}/alignment_offset /sys/block/{name}/queue/physical_block_size"),
    )
    .try_on(
Acts::Victim,

        "programs that write records of 512 bytes past the page cache: blocks of 4096 in their settings, such as InnoDB's log; each \
         record takes more room",
        "mysql -e 'SET GLOBAL innodb_log_write_ahead_size=4096'",
    )
}
