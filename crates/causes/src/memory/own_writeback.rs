//! What waits behind data that its own task wrote: why the call writes it out, and how to avoid that.
//!
//! Not a cause of its own: it replaces the remedies of `writeback-flood` if there is no other task to hold back. Measured on ext4: a rename over a
//! file of 3 MB took 17 ms, and 1.3 with `noauto_da_alloc`; an open that truncates a file under writeback 24 ms instead of 1.2.

use crate::case::{is_named, Case};
use crate::journal::again::Again;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::risk::Risk;
use crate::slow::Slow;
use crate::target::strace;
use crate::verdict::Verdict;
use life::Io;
use operation::{Kind, Wait};
use trace::{Call, Fs, Nanos};
use waits::CulpritKind;

/// Adds evidence and remedies if most of the writeback that the slowest met is their own task's and the call explains it; else `None`.
pub(crate) fn told(v: Verdict, case: &Case, slow: &Slow) -> Option<Verdict> {
    let op = slow.group.op.filter(|_| is_own(case, slow))?;
    let renames = matches!((op.kind, op.fs), (Kind::Call(Call::Rename | Call::Close), Fs::Ext4));
    let cuts = matches!(op.kind, Kind::Call(Call::Open | Call::Truncate)) && waits_for_pages(case, slow);
    let (why, what, calls) = if renames {
        (
            "ext4 writes out what is new in a file that is renamed over another, or was cut and is closed (auto_da_alloc)",
            "write the file less often, or less of it: see which files, and how large; it is written out each time",
            "rename,renameat,renameat2,write,pwrite64,ftruncate",
        )
    } else if cuts {
        (
            "a file is cut only after what is being written back of it is written",
            "write a new file and rename it over the old one, instead of cutting that one (O_TRUNC, ftruncate); see which",
            "open,openat,truncate,ftruncate,rename,renameat2",
        )
    } else {
        return None;
    };
    let task = &slow.group.task;
    let v = v
        .because(proof!(
            "{what} of {task} wait for data that it wrote itself: {why}",
            what = slow.words(),
            task,
            why = Text(why.into())
        ))
        .try_on(Acts::Victim, what, strace(case, "-fy", calls, Some(&**task).filter(|task| is_named(task))));
    if !renames {
        return Some(v);
    }
    let again = Again::of(case.mount_of(slow.group), &case.name(slow.on.id));
    Some(v.try_on(
        Acts::Victim,
        "rename without writing out: after a crash the file may be empty, unless it was synced before",
        Risk::PowerCut.of(again.as_it_is("noauto_da_alloc")),
    ))
}

/// Whether most of the slowest operations' time was waiting for pages of the file under writeback.
fn waits_for_pages(case: &Case, slow: &Slow) -> bool {
    let rows = || case.rows(slow.group_number).iter();
    let pages: Nanos = rows().filter(|row| row.waits.has(Wait::OwnData)).map(|row| row.time).sum();
    let all: Nanos = rows().map(|row| row.time).sum();
    pages.0 > all.0 / 2
}

/// Whether most of the writeback that delayed the slowest operations was their own task's.
fn is_own(case: &Case, slow: &Slow) -> bool {
    let (mut own, mut all) = (Nanos(0), Nanos(0));
    for row in case.rows(slow.group_number) {
        let culprit = case.facts.waits.culprit_of(row.culprit);
        if culprit.io == Some(Io::BackgroundWrite) {
            all += row.time;
            own += if culprit.kind == CulpritKind::Own { row.time } else { Nanos(0) };
        }
    }
    own.0 > all.0 / 2
}
