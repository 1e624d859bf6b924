//! Files that grow with each `fdatasync`: the new size, or the first write to reserved blocks, is a change that the journal has to
//! commit besides the data. Overwriting needs no commit. Measured: 5.6 ms and 2.1 (ext4), 2.4 and 0.95 (XFS).

use crate::case::{is_named, Case, MIN_SHARE};
use crate::proof::proof;
use crate::remedy::Acts;
use crate::target::strace;
use crate::verdict::Verdict;
use operation::{Kind, Wait};
use stats::Group;
use trace::{Call, Fs, Nanos};
use waits::Selection;

/// Adds how much of their time fdatasyncs wait for the journal, if that is a visible part, and how to avoid it.
pub(crate) fn told(v: Verdict, case: &Case, group: &Group) -> Verdict {
    match group.op.map(|op| op.kind) {
        Some(Kind::Call(Call::Fdatasync)) => {
            told_of(v, case, group, "its files grow, or preallocated blocks are written for the first time")
        }
        _ => v,
    }
}

/// The same for writes that are safe when they return. With O_SYNC a commit also makes the file's times safe; with O_DSYNC it does not.
pub(crate) fn told_of_writes(v: Verdict, case: &Case, group: &Group) -> Verdict {
    told_of(v, case, group, "its files grow, blocks that were only reserved are written, or their times are kept safe, too (O_SYNC instead of O_DSYNC)")
}

fn told_of(v: Verdict, case: &Case, group: &Group, why: &str) -> Verdict {
    // These file systems write each block to a new place, also if it is overwritten. Measured on btrfs: 19.7 ms, and 18.6 for appends.
    let copies = group.op.is_some_and(|op| matches!(op.fs, Fs::Btrfs | Fs::F2fs));
    if copies || !is_named(&group.task) {
        return v;
    }
    let rows = group.rows(&case.facts.waits, Selection::default());
    let commits =
        rows.iter().filter(|row| row.waits.has(Wait::JournalCommit) || row.waits.has(Wait::LogForce));
    let commits: Nanos = commits.map(|row| row.time).sum();
    let part = commits.0 as f64 / group.all.time.total.0.max(1) as f64;
    if part < MIN_SHARE {
        return v;
    }
    v.because(proof!(
        "{what} of {task} waited for the journal for {part} of their time: {why}",
        what = Text(group.words().to_string()),
        task = group.task.clone(),
        part = Share(part),
        why = Text(why.into())
    ))
    .try_on(
        Acts::Victim,
        format!("its files grow: have {} overwrite a file of fixed size, filled once (SQLite: journal_mode=WAL, not \
             persist or truncate); then it waits for the data alone; see what it writes", group.task),
        strace(case, "-fy", "write,pwrite64,fallocate,fdatasync", Some(&group.task)),
    )
}
