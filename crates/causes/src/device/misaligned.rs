//! `misaligned`: writes begin or end within a physical block, so that the device reads the block before it writes it.
//!
//! A disk with sectors of 4 KiB that is addressed by 512 bytes, flash with its pages, a stripe: a write of a part costs a read first. Typical
//! are a partition that begins at sector 63, and a log in records of 512 bytes. The proof is not the setting but the time: in the same
//! recording, writes of whole blocks of 4 KiB, as large and with as many others in flight, took much less. Claims by how much longer the slow
//! ones took. Refuted if whole blocks take as long; if all writes are alike there is nothing to compare with.
//!
//! Example: parts of blocks took 9 ms on average, whole ones 1 ms: 8/9 of the time of the slow writes are claimed.

use crate::case::{is_named, Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::{proof, Proof};
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::slow::Slow;
use crate::target::strace;
use crate::thresholds::alone::MOSTLY;
use crate::thresholds::misaligned::{HABIT, LONGER};
use crate::verdict::{Confidence, Verdict};
use evidence::Fact;
use ledger::Reason;
use life::Class;
use operation::Wait;
use stats::BLOCK;
use trace::{Bytes, Nanos};

/// Name, title, page and judgement of this cause.
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
    Said::Found(remedies(physical_block(v, says, &name), case, slow, &name))
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

/// Adds remedies by what is misaligned: all writes, and only by their place; the log of XFS; or what a program writes.
fn remedies(mut v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    let writer = case.main_task(slow.on, &[Class::SyncWrite, Class::Background]);
    if let Some((task, part)) = writer {
        v = v.because(proof!("{task} sent {part} of the writes", task, part = Share(part)));
    }
    let compared = slow.on.alignment.compare();
    if compared.misplaced as f64 >= MOSTLY * compared.count as f64 {
        return partition(v, name);
    }
    let mount = case.mount_of(slow.group);
    let waits_for_log = |row: &Claimable| row.waits.has(Wait::LogForce) || row.waits.has(Wait::LogPush);
    let in_device = |row: &&Claimable| row.reason == Reason::Device;
    let time = |pick: &dyn Fn(&Claimable) -> bool| -> u64 {
        let rows = case.rows(slow.group_number).iter().filter(in_device);
        rows.filter(|row| pick(row)).map(|row| row.time.0).sum()
    };
    let (of_log, all) = (time(&waits_for_log), time(&|_| true));
    if of_log as f64 >= MOSTLY * all as f64 && mount.is_none_or(|m| m.fstype == "xfs") {
        return log_of_xfs(v);
    }
    let task = writer.map(|(task, _)| task).filter(|_| slow.is_below()).unwrap_or(&slow.group.task);
    let v = whole_records(v, case, task);
    // In a recording without operations it is not known whose log it is.
    match slow.group.op.is_none() && mount.is_some_and(|m| m.fstype == "xfs") {
        true => log_of_xfs(v),
        false => v,
    }
}

/// For writes that all have the length of whole blocks: something above the device begins within a block.
fn partition(v: Verdict, name: &str) -> Verdict {
    v.try_this(
        "see what begins within a block, a partition or what lies on it (the numbers must be multiples of 8): copy it to one that \
             begins at a MiB",
        Action::look(format!(
            "grep . /sys/block/{name}/*/start /sys/block/{name}/alignment_offset \
             /sys/block/{name}/queue/physical_block_size"
        )),
    )
}

fn log_of_xfs(v: Verdict) -> Verdict {
    v.try_this(
        "XFS whose log has sectors of 512 bytes (xfs_info shows sectsz=512 at \"log\"): only a new file \
             system writes its log in whole blocks; copy the data there",
        Risk::Data("/dev/NEW").of("mkfs.xfs -s size=4096 /dev/NEW"),
    )
}

/// MySQL, and its thread that writes the log in records of 512 bytes ("innodb_log_write_ahead_size"). MariaDB's setting
/// of that name is read-only.
const MYSQL: [&str; 2] = ["mysqld", "ib_log_writer"];

fn whole_records(v: Verdict, case: &Case, task: &str) -> Verdict {
    if MYSQL.contains(&task) {
        return v.try_on(
            Acts::Victim,
            "InnoDB's log in blocks of 4096 bytes; each record takes more room",
            "mysql -e 'SET GLOBAL innodb_log_write_ahead_size=4096'",
        );
    }
    v.try_on(
        Acts::Victim,
        format!("have {task} write whole blocks: 4 KiB at multiples of 4 KiB, each small record in one of its own; see what it writes now"),
        strace(case, "-fy", "write,pwrite64,writev,pwritev2,io_submit", Some(task).filter(|task| is_named(task))),
    )
}
