//! What makes each change safe before an operation returns that is no sync: an option of the mount, or a flag of the file.

use crate::case::{Case, MIN_SHARE};
use crate::claimable::FLUSHING;
use crate::journal::again::Again;
use crate::journal::growing;
use crate::paths::Paths;
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::slow::Slow;
use crate::target::{is_over, pattern, strace};
use crate::thresholds::durable::MUCH;
use crate::verdict::Verdict;
use evidence::Mount;
use life::Io;
use operation::{Kind, Wait};
use stats::{Group, TailRow};
use trace::{Call, DevId, Nanos};
use waits::Selection;

/// Options that make every change synchronous, and which changes (mount(8); xfs(5), `wsync`).
const SYNCHRONOUS: [(&str, &str); 3] =
    [("sync", "every write and every change of a file"), ("dirsync", CHANGES), ("wsync", CHANGES)];
const CHANGES: &str = "every file that is created, renamed or deleted";

/// Adds why operations are synchronous and what to do about it; the second value is whether they are. A sync counts only with `data=journal`.
pub(crate) fn told(v: Verdict, case: &Case, slow: &Slow) -> (Verdict, bool) {
    if let Some(mount) = of_all_data(case, slow.group) {
        return (all_data(v, mount, &case.name(slow.on.id)), true);
    }
    let call = match slow.group.op.map(|op| op.kind) {
        Some(Kind::AioWrite | Kind::RingWrite) if flushes(case, slow) => {
            return (by_file(v, case, slow), true)
        }
        Some(Kind::Call(call)) if !syncs(slow.group) => call,
        _ => return (v, false),
    };
    let option = case.mount_of(slow.group).and_then(|mount| Some((mount, synchronous(mount, call)?)));
    match option {
        Some((mount, (option, what))) => (by_mount(v, mount, option, what, &case.name(slow.on.id)), true),
        None if call == Call::Write && (syncs_itself(case, slow) || flushes_itself(case, slow)) => {
            (by_file(v, case, slow), true)
        }
        None if changes_a_folder(call) && commits_itself(case, slow) => (by_folder(v, slow), true),
        None => (v, false),
    }
}

/// The groups on a device whose operations are no syncs, and synced before they return nevertheless: as stacks show, or by the mount's option.
pub(crate) fn groups_on<'c>(case: &'c Case, dev: DevId) -> impl Iterator<Item = &'c Group> {
    let all = Paths::of(case);
    let of_stacks = move |number| all.iter().any(|p| p.number == number && p.kept_share(&SYNCING) >= MUCH);
    let synced = move |(number, group): &(usize, &Group)| {
        let Some(Kind::Call(call)) = group.op.map(|op| op.kind) else { return false };
        let by_mount = case.mount_of(group).is_some_and(|mount| synchronous(mount, call).is_some());
        group.dev == dev && (by_mount || of_stacks(*number))
    };
    case.focus.groups.iter().enumerate().filter(synced).map(|(_, group)| group)
}

/// Whether flushes are a visible part of a group's time: a write that is sent by itself only waits for one that it asks for. What is behind
/// others' flushes counts if its task syncs nothing: a worker flushes for it once its data is written (`iomap_dio_complete_work`).
fn flushes(case: &Case, slow: &Slow) -> bool {
    let its_syncs = |g: &Group| g.task == slow.group.task && syncs(g);
    let has_syncs = case.focus.groups.iter().any(its_syncs);
    let is_behind = |row: &TailRow| case.facts.waits.culprit_of(row.culprit).io == Some(Io::Flush);
    let flushing: Nanos = (slow.group.rows(&case.facts.waits, Selection::default()).iter())
        .filter(|row| FLUSHING.contains(&row.reason) || !has_syncs && is_behind(row))
        .map(|row| row.time)
        .sum();
    flushing.0 as f64 >= MIN_SHARE * slow.group.all.time.total.0 as f64
}

/// Whether a call changes a folder.
fn changes_a_folder(call: Call) -> bool {
    matches!(call, Call::Open | Call::Unlink | Call::Rename | Call::Mkdir | Call::Link)
}

/// Whether most of what operations waited for was the journal's commit: such a call needs none, unless the folder asks
/// for it (`ext4_handle_sync`, fs/ext4/namei.c).
fn commits_itself(case: &Case, slow: &Slow) -> bool {
    let (mut commits, mut all) = (0, 0);
    for row in case.rows(slow.group_number) {
        commits += if row.waits.has(Wait::JournalCommit) { row.time.0 } else { 0 };
        all += row.time.0;
    }
    commits > all / 2
}

/// Adds that the folder asks for it, since the mount does not.
fn by_folder(v: Verdict, slow: &Slow) -> Verdict {
    v.because(proof!(
        "{what} of {task} are synchronous: the folder has the attribute D or S",
        task = slow.group.task,
        what = slow.words()
    ))
    .try_on(
        Acts::Victim,
        "see which folder has the attribute D or S; chattr -D FOLDER takes it away: what was done in the last seconds before a crash may be lost",
        Action::look("lsattr -d FOLDER"),
    )
}

/// Whether a group's operations are syncs.
fn syncs(group: &Group) -> bool {
    group.op.is_some_and(|op| matches!(op.kind, Kind::Call(call) if call.is_sync()))
}

/// Functions in which an operation that is no sync syncs what it changes: `generic_write_sync` (fs/sync.c), what file systems do in it, and the
/// end of a change that is committed at once (`handle->h_sync`, fs/jbd2/transaction.c), which waits for nothing else.
const SYNCING: [&str; 6] = [
    "generic_write_sync",
    "vfs_fsync_range",
    "ext4_sync_file",
    "xfs_file_fsync",
    "btrfs_sync_file",
    "jbd2_journal_stop",
];

/// Whether the slowest writes spent much of their time in syncing the file, not behind a lock or the journal, as far as stacks show.
fn syncs_itself(case: &Case, slow: &Slow) -> bool {
    let all = Paths::of(case);
    let its = all.iter().find(|paths| paths.number == slow.group_number);
    its.is_some_and(|paths| paths.kept_share(&SYNCING) >= MUCH)
}

/// Whether most flushes that writes waited for were part of their own direct I/O: only such a write asks for one itself
/// (block/fops.c and fs/iomap/direct-io.c, `IOCB_DSYNC`).
fn flushes_itself(case: &Case, slow: &Slow) -> bool {
    let (mut direct, mut all) = (0, 0);
    for row in case.rows(slow.group_number).iter().filter(|row| FLUSHING.contains(&row.reason)) {
        direct += if row.waits.has(Wait::DirectIo) { row.time.0 } else { 0 };
        all += row.time.0;
    }
    2 * direct > all
}

/// The option that makes such a call synchronous, and what it applies to; options for directories do not apply to writes.
fn synchronous(mount: &Mount, call: Call) -> Option<(&'static str, &'static str)> {
    let applies = |(option, what): &(&str, &str)| {
        mount.option(option).is_some() && (*what != CHANGES || call != Call::Write)
    };
    SYNCHRONOUS.into_iter().find(applies)
}

fn by_mount(v: Verdict, mount: &Mount, option: &str, what: &str, name: &str) -> Verdict {
    let v = v.because(proof!(
        "{point} is mounted with {option} ({at}): {what} is synced before the call returns, without any fsync",
        point = mount.target.clone(),
        option = Text(option.to_string()),
        at = mount.at.clone(),
        what = Text(what.to_string())
    ));
    let again = Again::of(Some(mount), name);
    let loses = "what was done in the last seconds before a crash may be lost, unless a program syncs it";
    match option {
        // Of these options only this one can be changed by a remount (include/linux/fs.h, MS_RMT_MASK).
        "sync" => v.try_on(
            Acts::Victim,
            format!("mount it without sync: {loses}"),
            Action::Run { command: again.as_it_is("async"), risk: Risk::PowerCut },
        ),
        _ => v.try_on(
            Acts::Victim,
            format!("mount it without {option}: {loses}"),
            Risk::Downtime.of(again.without(option)),
        ),
    }
}

/// The mount of a group's file system, if all data goes through its journal.
pub(crate) fn of_all_data<'c>(case: &'c Case, group: &Group) -> Option<&'c Mount> {
    case.mount_of(group).filter(|mount| mount.option("data") == Some("journal"))
}

/// Adds that a sync waits until all data is in the journal, if that is so.
pub(crate) fn written_twice(v: Verdict, case: &Case, group: &Group, name: &str) -> Verdict {
    match of_all_data(case, group).filter(|_| is_written_twice(case, group)) {
        Some(mount) => all_data(v, mount, name),
        None => v,
    }
}

/// Whether operations are syncs on a file system where all data goes through the journal.
pub(crate) fn is_written_twice(case: &Case, group: &Group) -> bool {
    group.op.is_some_and(|op| op.kind.makes_safe()) && of_all_data(case, group).is_some()
}

/// Adds that ext4 has `data=journal`: all data is written to the journal, and later in place (Documentation/filesystems/ext4/journal.rst).
pub(crate) fn all_data(v: Verdict, mount: &Mount, name: &str) -> Verdict {
    v.because(proof!(
        "{point} is mounted with data=journal ({at}): all data is written twice, to the journal first",
        point = mount.target.clone(),
        at = mount.at.clone()
    ))
    .try_this(
        "mount it with data=ordered, the default: after a crash a file that was being overwritten may have old and new blocks",
        Risk::Downtime.of(Again::of(Some(mount), name).with("data=ordered")),
    )
}

/// Adds that the file asks for it, since the mount does not.
fn by_file(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let task = &slow.group.task;
    let costs = "one fsync after several writes costs as much as one of them";
    let (what, look) = match is_over(case, task) {
        true => (
            format!("see how {task} opens its files: with O_DSYNC or O_SYNC (or lsattr FILE shows S); {costs}"),
            strace(case, "-f", "open,openat", Some(task)),
        ),
        false => (
            format!("see how {task} opened its files: flags with 010000 are O_DSYNC, with 04010000 O_SYNC (or lsattr FILE shows S); {costs}"),
            Action::look(format!("for p in $(pgrep -x {}); do grep -H flags /proc/$p/fdinfo/*; done", pattern(task))),
        ),
    };
    let v = v.because(proof!(
        "{what} of {task} are synchronous: the file is opened with O_SYNC or O_DSYNC, or has the attribute S",
        task,
        what = slow.words()
    ));
    growing::told_of_writes(v, case, slow.group).try_on(Acts::Victim, what, look)
}
