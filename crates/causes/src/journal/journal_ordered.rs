//! `journal-ordered`: an fsync of one file waits for other files' data.
//!
//! With data=ordered the ext4 journal writes the data of all files in a transaction before it commits: a task that
//! waits for the commit waits for all of that data (`jbd2_journal_finish_inode_data_buffers`, fs/jbd2/commit.c).

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::memory::dirty_limits::begins_after;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::risk::Risk;
use crate::verdict::Verdict;
use operation::{Wait, Waits};
use trace::Bytes;
use units::words::shell;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "journal-ordered",
    title: "the journal's commit writes other files' data first (data=ordered)",
    nature: Nature::Everyday,
    page: include_str!("../../pages/journal-ordered.md"),
    judge: Judge::Waited(
        Waited::new(
            "while the journal's commit waited for other files' data (data=ordered)",
            |waits: Waits, _| waits.has(Wait::OrderedData),
        ),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let mount = case.mount_of(&case.focus.groups[number]);
        let (target, source) = mount.map_or(("/MOUNTPOINT", "/dev/DEV"), |m| (&m.target, &m.source));
        if let Some(m) = mount {
            v = v.because(proof!(
                "{target} is mounted with {options}",
                target,
                options = m.options.join(",")
            ));
        }
        // Both are defaults: with them data is written before it enters a transaction (ext4_should_dioread_nolock, fs/ext4).
        let turned_off = [
            ("dioread_lock", "dioread_nolock"),
            ("nodioread_nolock", "dioread_nolock"),
            ("nodelalloc", "delalloc"),
        ];
        let off: Vec<_> =
            turned_off.iter().filter(|(off, _)| mount.is_some_and(|m| m.option(off).is_some())).collect();
        if !off.is_empty() {
            let (from, to): (Vec<_>, Vec<_>) = off.into_iter().copied().unzip();
            v = v.try_this(
                format!(
                    "{} -> {}, the default: data of new files is written before it enters a transaction, and \
                         no commit waits for it; also in /etc/fstab",
                    from.join(","),
                    to.join(",")
                ),
                Action::Remount { mount: shell(target), options: to.join(",") },
            );
        }
        v = v
            .when(
                begins_after(case, Bytes(33_554_432)),
                "less dirty data at a time, so that a commit finds little to write; applies to the whole host",
                Action::Sysctl(&[("vm.dirty_background_bytes", 33_554_432), ("vm.dirty_bytes", 268_435_456)]),
            )
            .try_this(
                "put the files that are fsynced on a file system of their own: its commits then write no \
                     other files' data",
                Risk::Data("/dev/NEW").of("mkfs.ext4 /dev/NEW && mount /dev/NEW /NEW"),
            )
            .try_this(
                "data=writeback, from the next mount on: commits wait for no data. After a crash new files may hold old contents of \
                     the disk",
                format!("tune2fs -o journal_data_writeback {}", shell(source)),
            );
    }
    v.unless("fsyncs just as slow when nothing else writes to the file system")
}
