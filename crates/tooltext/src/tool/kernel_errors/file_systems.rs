//! File systems that report trouble in the kernel's log: which one speaks, of which device, and what its numbers of errors mean.
//!
//! ```text
//! XFS (dm-8): Metadata corruption detected at xfs_dir3_data_read_verify+0x5e/0x110 [xfs], ...      dm-8: corruption messages
//! XFS (dm-8): xfs_do_force_shutdown(0x1) called from line 370 of file fs/xfs/xfs_trans_buf.c.      read-only or shut down
//! EXT4-fs warning (device dm-1): ext4_end_bio:316: I/O error -19 writing to inode 10223621 (...    dm-1: offline messages
//! JBD2: Detected IO errors while flushing file data on sda1-8                                      sda1: I/O errors
//! device-mapper: thin: 253:4: switching pool to out-of-data-space (queue IO) mode                  dm-4: lacks of space
//! BTRFS error (device sda1): bdev /dev/sdb1 errs: wr 0, rd 3536, flush 0, corrupt 0, gen 0         sdb1: I/O errors
//! BTRFS warning (device sdb): duplicate device fsid:devid for UUID:1 old:/dev/sdb new:/dev/sdc     sdb: disconnects, if it has errors
//! btrfs: checksum error at logical 2621 on dev /dev/sdb2, sector 428, root 264, ...                sdb2: corruption messages, Linux 3
//! ```

use super::says::By;
use super::*;

/// The names of file systems at the start of a line (fs/xfs/xfs_message.c; fs/ext4/super.c; fs/btrfs/messages.c; fs/f2fs/super.c;
/// fs/fat/misc.c; fs/bcachefs/bcachefs.h), and what they are called.
const NAMES: [(&str, By, &str); 11] = [
    ("XFS", By::Xfs, "XFS"),
    ("EXT4-fs", By::Ext, "ext4"),
    ("EXT3-fs", By::Ext, "ext3"),
    ("EXT2-fs", By::Ext, "ext2"),
    ("BTRFS", By::Btrfs, "btrfs"),
    ("BTRFS:", By::Btrfs, "btrfs"),
    (OLD_BTRFS, By::Btrfs, "btrfs"),
    ("F2FS-fs", By::F2fs, "F2FS"),
    ("FAT-fs", By::Fat, "FAT"),
    ("exFAT-fs", By::Fat, "exFAT"),
    ("bcachefs", By::Bcachefs, "bcachefs"),
];

/// How lines of btrfs begin before Linux 3.14. They name no file system, some a device.
const OLD_BTRFS: &str = "btrfs:";

/// Words of a line after its name within which the device stands: `BTRFS error (device sda1: state EA) in`.
const MOST_BEFORE_DEVICE: usize = 3;

/// The file system that speaks at the start of a line, of which device, and the number of words that say so.
pub(super) fn speaker(words: &[Word]) -> Option<(By, String, usize)> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = without_level(text(0));
    match [first, text(1), text(2)] {
        ["device-mapper:", "thin:", number] => return Some((By::Thin, mapped(number)?, 3)),
        ["JBD2:" | "JBD:", ..] => {
            let mut all = words.iter().take(LONGEST).skip_while(|w| !["on", "for"].contains(&w.text)).skip(1);
            return Some((By::Jbd2, of_journal(all.next()?.text)?, 1));
        }
        ["Aborting", "journal", "on"] if text(3) == "device" => {
            return Some((By::Jbd2, of_journal(text(4))?, 5))
        }
        // XFS before Linux 2.6.39 (fs/xfs/xfs_buf.c, fs/xfs/xfs_rw.c).
        ["I/O", "error", "in"] if text(3) == "filesystem" => {
            return Some((By::Xfs, device(text(4).trim_matches(['(', ')', '"']))?, 5))
        }
        ["Filesystem", name, _] if name.ends_with(':') => {
            return Some((By::Xfs, device(name.trim_matches([':', '"']))?, 2));
        }
        [OLD_BTRFS, ..] => {
            let path = words.iter().take(LONGEST).find_map(|w| w.text.strip_prefix("/dev/"))?;
            return Some((By::Btrfs, device(path.trim_end_matches(','))?, 1));
        }
        _ => {}
    }
    if let Some(of) = first.strip_prefix("xfs_force_shutdown(") {
        return Some((By::Xfs, device(of.split_once(',')?.0)?, 1));
    }
    let (_, by, _) = NAMES.iter().find(|(name, ..)| *name == first)?;
    let at = (1..=MOST_BEFORE_DEVICE).find(|i| text(*i).starts_with('('))?;
    let (name, used) = match text(at) {
        "(device" => (text(at + 1), at + 2),
        name => (name.strip_prefix('(').filter(|name| name.ends_with("):"))?, at + 1),
    };
    let name = name.trim_end_matches([':', ')']);
    let of =
        device(name).or_else(|| Some(name.to_owned()).filter(|name| *by == By::Bcachefs && is_uuid(name)))?;
    Some((*by, of, used))
}

/// Whether a name is a UUID: bcachefs names itself so if it has several devices.
fn is_uuid(name: &str) -> bool {
    UUID.contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Characters of a UUID with its hyphens, also of one that was printed as a pointer.
const UUID: std::ops::RangeInclusive<usize> = 16..=36;

/// What the file system that speaks is called; `None` if the line does not say whose journal it is about.
pub(super) fn name(words: &[Word]) -> Option<&'static str> {
    let first = without_level(words.first()?.text);
    let called = NAMES.iter().find(|(name, ..)| *name == first).map(|(.., called)| *called);
    called.or_else(|| match speaker(words)?.0 {
        By::Xfs => Some("XFS"),
        By::Jbd2 => Some("ext4"),
        By::Thin => Some(THIN_POOL),
        _ => None,
    })
}

/// What a pool of device-mapper, from which volumes take their blocks, is called beside file systems.
const THIN_POOL: &str = "the thin pool";

/// The device of device-mapper with a number: `253:4:` is dm-4.
fn mapped(number: &str) -> Option<String> {
    let (major, minor) = number.strip_suffix(':')?.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("dm-{minor}"))
}

/// Words of a line in which the device of a journal is searched for.
const LONGEST: usize = 16;

/// A word without the level of a line that comes from /proc/kmsg: `<1>I/O`.
fn without_level(text: &str) -> &str {
    match text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((level, rest)) if level.len() == 1 && level.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => text,
    }
}

fn device(name: &str) -> Option<String> {
    evidence::is_device_name(name).then(|| name.to_owned())
}

/// The device of a journal, `sda1-8`, without the number of its inode, which an external one does not have (fs/jbd2/journal.c).
fn of_journal(name: &str) -> Option<String> {
    let name = name.trim_end_matches(['.', ',', ':']);
    match name.rsplit_once('-') {
        Some((of, inode)) if of != "dm" && inode.bytes().all(|b| b.is_ascii_digit()) => device(of),
        _ => device(name),
    }
}

/// The member of a btrfs of several devices that a line is about: `bdev /dev/sdb1 errs:`, `on /dev/sdb1 (-5)`, `on dev /dev/sdb1, physical`. A name of device-mapper is
/// no name of the kernel's. Of a device that has another name by now, the old one.
pub(super) fn member(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(" /dev/").or_else(|| text.split_once(" old:/dev/"))?;
    device(rest.split([' ', ',', ')']).next()?)
}

/// What is meant by the totals of btrfs, of which one has just grown (fs/btrfs/volumes.c, `btrfs_dev_stat_inc_and_print`). At a mount they
/// are of an earlier time, and information only.
pub(super) fn totals(text: &str) -> Option<&'static str> {
    let (level, all) = text.split_once(" errs: wr ")?;
    let counts = |names: &[&str]| {
        let all = format!("wr {all}");
        let of =
            |name: &str| all.split(", ").any(|one| one.strip_prefix(name).is_some_and(|n| n.trim() != "0"));
        names.iter().any(|name| of(name))
    };
    Some(match () {
        () if !level.contains(" error ") => says::NOTHING,
        () if counts(&["wr ", "rd ", "flush "]) => TOTAL,
        () => DAMAGE,
    })
}

/// What errors mean by their numbers (include/uapi/asm-generic/errno.h; XFS and ext4 take 117, EUCLEAN, for damage, and 74, EBADMSG, for a
/// wrong checksum). 61, ENODATA, is an error of the medium (block/blk-core.c, `blk_errors`).
const ERRNO: [(i32, &str); 11] = [
    (5, SEEN),
    (6, OFFLINE),
    (12, NO_MEMORY),
    (19, OFFLINE),
    (28, FULL),
    (30, STOPPED),
    (61, SENSE),
    (67, TRANSPORT),
    (74, DAMAGE),
    (110, TIMEOUTS),
    (117, DAMAGE),
];

/// Statuses of a bio, which ext4 and btrfs print since Linux 4.13, without a sign (include/linux/blk_types.h, `BLK_STS_..`).
const STATUS: [(i32, &str); 10] = [
    (1, UNSUPPORTED),
    (2, TIMEOUTS),
    (3, FULL),
    (4, TRANSPORT),
    (5, REFUSED),
    (6, RESERVED),
    (7, SENSE),
    (8, PROTECTION),
    (10, SEEN),
    (16, OFFLINE),
];

/// The kind of an error whose number a line has after `error`, `errno=` or in parentheses: `error 117`, `errno=-5`, `(-5)`; an I/O error if
/// it has none.
pub(super) fn numbered(by: By, text: &str) -> &'static str {
    let number = |word: &str| word.trim_matches(['(', ')', '.', ',', ';']).parse::<i32>().ok();
    let words: Vec<&str> = text.split(' ').collect();
    let after = |i: usize| match words[i] {
        "error" | "Error" | "no" | "errors" => number(words.get(i + 1)?),
        word if word.starts_with("(-") => number(word),
        word => number(word.strip_prefix("errno=")?),
    };
    let Some(n) = (0..words.len()).rev().find_map(after) else { return SEEN };
    let of_bio = by != By::Xfs && n > 0;
    let all: &[(i32, &'static str)] = if of_bio { &STATUS } else { &ERRNO };
    let other = if of_bio { SEEN } else { says::NOTHING };
    all.iter().find(|(known, _)| *known == n.abs()).map_or(other, |(_, kind)| kind)
}
