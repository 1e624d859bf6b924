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
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::slow::Slow;
use crate::thresholds::misaligned::{HABIT, LONGER};
use crate::verdict::{Confidence, Verdict};
use crate::{Cause, Each, Judge, Nature, Otherwise, Said};
use evidence::Fact;
use ledger::Reason;
use life::Class;
use stats::BLOCK;
use trace::{Bytes, Nanos};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "misaligned",
    title: "writes are not whole blocks of the device, which reads each block before it writes a part of it",
    nature: Nature::Everyday,
    page: include_str!("../../pages/misaligned.md"),
    judge: Judge::Each(Each {
        of,
        unless: "whole blocks of 4 KiB that take as long",
        otherwise: Otherwise::Never("no slow operation wrote a partial block"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    if slow.unaligned() == Nanos(0) || slow.share(left) < MIN_SHARE {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let compared = slow.on.alignment.compare();
    let all = compared.count + compared.aligned;
    let told = told(compared.count, all, &name);
    if (compared.count as f64) < HABIT * all as f64 {
        return Said::Hardly(told);
    }
    let physical = case.settings(slow.on.id).and_then(|s| s.physical_block_size());
    let Some((took, would_have)) = compared.took else {
        let says = |f: &Fact<Bytes>| format!("its physical_block_size is {} ({})", f.value.0, f.at);
        return match physical {
            Some(f) if f.value < BLOCK => Said::Little(proof!("{told}, but {f}", told, f = says(&f))),
            known => {
                let says = known.map_or(String::new(), |f| format!("; {}", says(&f)));
                Said::Unsure(proof!(
                    "{told}{says}; too few comparable writes are of whole blocks: record \
                     some, in another file: fio --name=whole --filename=FILE --size=16m --rw=randwrite \
                     --bs=4k --direct=1 --runtime=5 --time_based",
                    told,
                    says
                ))
            }
        };
    };
    let told = proof!(
        "{told}; they took {took} (mean D2C), whole blocks of about their size {would_have}",
        told,
        took,
        would_have
    );
    if (took.0 as f64) < LONGER * would_have.0 as f64 {
        return Said::Not(told);
    }
    let price = 1.0 - would_have.0 as f64 / took.0.max(1) as f64;
    let wanted = Nanos((slow.unaligned().min(left).0 as f64 * price) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Not(proof!(
            "{told}: that is {wanted} of the time of the slowest {what}",
            told,
            wanted = Share(slow.share(wanted)),
            what = slow.words()
        ));
    }
    let claimed = case.claim(slow, Reason::Device, wanted);
    let says = physical.filter(|f| f.value >= BLOCK);
    let sure = if says.is_some() { Confidence::High } else { Confidence::Medium };
    let v = v.plus(claimed, sure).because(told).because(proof!(
        "{unaligned} of the time of the slowest {what} was in such writes; it would be \
             {claimed} less with whole blocks",
        unaligned = Share(slow.share(slow.unaligned())),
        what = slow.words(),
        claimed
    ));
    Said::Found(remedies(physical_block(v, says, &name), case, slow.on, &name))
}

fn told(parts: u64, all: u64, name: &str) -> Proof {
    proof!(
        "{compared} of {all} writes to {name} were not whole blocks of {block}",
        compared = Count(parts),
        all = Count(all),
        name,
        block = BLOCK
    )
}

fn physical_block(v: Verdict, says: Option<Fact<Bytes>>, name: &str) -> Verdict {
    if let Some(f) = says {
        return v.because(proof!(
            "the physical_block_size of {name} is {f} ({at})",
            name,
            f = Text(f.value.0.to_string()),
            at = f.at
        ));
    }
    v
}

fn remedies(mut v: Verdict, case: &Case, device: &stats::Device, name: &str) -> Verdict {
    if let Some((task, part)) = case.main_task(device, &[Class::SyncWrite, Class::Background]) {
        v = v.because(proof!("{task} sent {part} of the writes", task, part = Share(part)));
    }
    // Programs' own records on a device without a file system, or on another one, are not XFS's log.
    let v = match case.mount(device.id).is_none_or(|m| m.fstype == "xfs") {
        true => v.try_this(
            "XFS whose log has sectors of 512 bytes (xfs_info shows sectsz=512 at \"log\"): only a new file \
                 system writes its log in whole blocks; copy the data there",
            Risk::Data("/dev/NEW").of("mkfs.xfs -s size=4096 /dev/NEW"),
        ),
        false => v,
    };
    v.try_this(
        "see whether a partition begins within a block (the numbers must be multiples of 8); if so, copy it \
             to one that begins at a MiB",
        Action::look(format!(
            "grep . /sys/block/{name}/*/start /sys/block/{name}/alignment_offset \
             /sys/block/{name}/queue/physical_block_size"
        )),
    )
    .try_on(
        Acts::Victim,
        "set programs that write 512-byte records with direct I/O, such as InnoDB's log, to blocks of 4096; \
             each record takes more room",
        "mysql -e 'SET GLOBAL innodb_log_write_ahead_size=4096'",
    )
}
