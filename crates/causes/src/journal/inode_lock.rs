//! `inode-lock`: an operation waits for a lock of its file, which another operation on the same file holds.
//!
//! An open file has a lock for its position (f_pos_lock), which `read` and `write` take if its descriptor is shared.
//! A file has one lock for writers (i_rwsem). On XFS readers take it too, shared with each other; on ext4 a direct write that
//! extends the file takes it exclusively. A task that waits for it waits for everything that the holder does meanwhile, including
//! I/O. The ledger below the wait shows what the holder did, and this cause claims it: without the lock the task would not have
//! waited for that. What all tasks would wait for as long is not claimed: a limit of their cgroup, a free tag, the journal.

use crate::case::{is_named, Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{Paths, Waited};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::target::strace;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Part, Wait, Waits};
use std::collections::BTreeMap;
use trace::Nanos;
use units::words::shell;

/// Functions that write through the page cache: they take the lock exclusively, wherever they write (fs/ext4/file.c, fs/xfs/xfs_file.c).
const BUFFERED: [&str; 2] = ["ext4_buffered_write_iter", "xfs_file_buffered_write"];

/// Waits of the holder that other tasks would have, too, if it did not hold the lock.
const SHARED: [Wait; 6] = [
    Wait::JournalCommit,
    Wait::JournalHandle,
    Wait::JournalBuffer,
    Wait::JournalUpdates,
    Wait::Tag,
    Wait::WritebackThrottle,
];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "inode-lock",
    title: "operations wait for their file's lock, held by another operation during its I/O",
    nature: Nature::Rare,
    page: include_str!("../../pages/inode-lock.md"),
    judge: Judge::Waited(
        Waited::new("waiting for a lock of the file, and for what its holder did meanwhile", for_the_lock),
        found,
    ),
};

fn for_the_lock(waits: Waits, reason: Reason) -> bool {
    let is_shared = SHARED.iter().any(|wait| waits.has(*wait));
    let is_lock = waits.has(Wait::InodeLock) || waits.has(Wait::FilePosition);
    is_lock && !is_shared && !matches!(reason, Reason::WaitCpu | Reason::CgroupLimit)
}

fn found(case: &Case, v: Verdict, groups: &[usize]) -> Verdict {
    let (by_position, by_inode): (Vec<usize>, Vec<usize>) =
        groups.iter().partition(|group| is_for_the_position(case, **group));
    let v = case.of_each(v, &by_position, |v, group| of_position(case, v, &group.task));
    let v = if by_inode.is_empty() { v } else { of_inode(case, v, &by_inode) };
    v.unless("operations just as slow on a file that nothing else uses")
}

/// Whether a group waits for the position of an open file more than for the lock of the file itself.
fn is_for_the_position(case: &Case, group: usize) -> bool {
    let rows = case.rows(group).iter();
    let sum = |wait: Wait| rows.clone().filter(|row| row.waits.has(wait)).map(|row| row.time).sum::<Nanos>();
    sum(Wait::FilePosition) > sum(Wait::InodeLock)
}

fn of_position(case: &Case, v: Verdict, task: &str) -> Verdict {
    v.because(proof!(
        "it is the lock of an open file's position (f_pos_lock): whoever shares the descriptor reads and writes one after the other"
    ))
    .try_on(
        Acts::Victim,
        "use pread and pwrite, which need no position, or open the file in each thread; see which descriptor is shared",
        strace(case, "-fy", "read,write", Some(task).filter(|task| is_named(task))),
    )
}

fn of_inode(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    let (mut mount, mut buffered) = (None, false);
    for paths in Paths::of(case).iter().filter(|p| groups.contains(&p.number)) {
        buffered |= paths.kept_share(&BUFFERED) >= MIN_SHARE;
        if let Some((kept, _)) = paths.worst(for_the_lock) {
            let of_file = paths.inode_share(kept.operation.inode);
            if kept.operation.inode != 0 {
                v = v.because(proof!(
                    "{of_file} of the slowest {what} sampled were on one file, inode {inode}",
                    of_file = Share(of_file),
                    what = paths.group.words(),
                    inode = Text(kept.operation.inode.to_string())
                ));
                let at = case.mount_of(paths.group).map(|m| (m.target.clone(), kept.operation.inode));
                mount = mount.or(at);
            }
            let mut holders = BTreeMap::<String, u32>::new();
            for node in &kept.account.nodes {
                if let Part::Task(tid) = node.part {
                    let name = kept.names.get(&tid).cloned().unwrap_or_else(|| "?".into());
                    *holders.entry(name).or_default() += 1;
                }
            }
            if let Some((who, _)) = holders.into_iter().max_by_key(|(_, n)| *n) {
                v = v.because(proof!("the longest waited for {who}", who));
            }
        }
    }
    if let Some((at, inode)) = mount {
        let then = match buffered {
            true => "have its writers write less at a time, or give each its own file",
            false => {
                "write it once at full size: direct overwrites share the lock, writes that extend the file do not; or \
                     give each writer its own file"
            }
        };
        v = v.try_this(
            format!("find out which file it is; then {then}"),
            Action::look(format!("find {} -xdev -inum {inode}", shell(&at))),
        );
    }
    v = v.try_this(
        "see who else reads and writes that file, and how",
        strace(case, "-fy", "read,write,pread64,pwrite64,fallocate,ftruncate", None),
    );
    if !buffered {
        v = v.try_this(
        "direct writes over existing data share the lock: write the whole file once, before anything is in it (costs the \
         time to write it, and its space)",
        Risk::Data("FILE").of("fio --name=lay --filename=FILE --rw=write --bs=1M --size=SIZE --direct=1 --end_fsync=1"),
        );
    }
    v
}
