//! What file systems say in the kernel's log, and what of it is counted for which device.

use crate::output::log_fact::LogFact;
use crate::output::ToolOutput;
use crate::tool::testing::{all, one};

/// Rows in words, sorted: `sda1 2 I/O errors`.
fn told(text: &str) -> Vec<String> {
    let output = ToolOutput::read("dmesg", text.as_bytes());
    let rows = output.runs.iter().flat_map(|r| r.of("kernel log")).flat_map(|r| r.rows.clone());
    let mut all: Vec<String> = rows
        .flat_map(|row| {
            row.values.iter().map(|(kind, n)| format!("{} {} {kind}", row.of, n.value)).collect::<Vec<_>>()
        })
        .collect();
    all.sort();
    all
}

#[test]
fn each_file_system_is_told() {
    for (line, said) in [
        ("XFS (dm-0): log I/O error -5", "dm-0 1 I/O errors"),
        ("XFS (dm-0): metadata I/O error in \"xfs_imap_to_bp+0x5c/0x80 [xfs]\" at daddr 0x8a66c0 len 32 error 5", "dm-0 1 I/O errors"),
        ("XFS (sdc1): metadata I/O error in \"xfs_read_agf+0x9b/0x110 [xfs]\" at daddr 0x1 len 1 error 61", "sdc1 1 medium errors"),
        ("XFS (sdc1): metadata I/O error: block 0x5e070348 (\"xfs_trans_read_buf_map\") error 117 numblks 8", "sdc1 1 further corruption messages"),
        ("XFS (nvme0n1p2): log I/O error -19", "nvme0n1p2 1 offline messages"),
        ("XFS (dm-0): Filesystem has been shut down due to log error (0x2).", "dm-0 1 read-only or shut down"),
        ("XFS (sda2): Corruption of in-memory data detected.  Shutting down filesystem", "sda2 1 corruption messages"),
        ("XFS (dm-0): xfs_log_force: error -5 returned.", "dm-0 1 read-only or shut down"),
        ("XFS (loop0): Metadata CRC error detected at xfs_agi_read_verify+0xcb/0xf0 [xfs], xfs_agi block 0x2", "loop0 1 corruption messages"),
        ("EXT4-fs error (device mmcblk0p2): ext4_journal_check_start:56: Detected aborted journal", "mmcblk0p2 1 read-only or shut down"),
        ("EXT4-fs error (device sda1) in ext4_writepages:2921: Journal has aborted", "sda1 1 read-only or shut down"),
        ("EXT4-fs (sda1): Remounting filesystem read-only", "sda1 1 read-only or shut down"),
        ("EXT4-fs error (device sda1): ext4_lookup:1855: inode #393: comm find: iget: checksum invalid", "sda1 1 corruption messages"),
        ("EXT4-fs error (device dm-2): ext4_readdir:227: inode #12: block 1059: comm ls: path /x: bad entry in directory: rec_len is smaller than minimal", "dm-2 1 corruption messages"),
        ("EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0", "sda1 1 I/O errors"),
        ("EXT4-fs (sda1): I/O error while writing superblock", "sda1 1 I/O errors"),
        ("EXT4-fs warning (device sda1): ext4_end_bio:309: I/O error 10 writing to inode 17 (offset 8388608 size 8388608 starting block 36864)", "sda1 1 I/O errors"),
        ("EXT4-fs warning (device sda1): ext4_end_bio:343: I/O error 7 writing to inode 17 starting block 36864)", "sda1 1 medium errors"),
        ("EXT4-fs warning (device dm-1): ext4_end_bio:316: I/O error -19 writing to inode 10223621 (offset 50331648 size 6148096 starting block 14409150)", "dm-1 1 offline messages"),
        ("Aborting journal on device dm-0-8.", "dm-0 1 read-only or shut down"),
        ("Aborting journal on device nvme0n1p1-8.", "nvme0n1p1 1 read-only or shut down"),
        ("JBD2: Detected IO errors while flushing file data on sda1-8", "sda1 1 I/O errors"),
        ("JBD2: I/O error when updating journal superblock for sda1-8.", "sda1 1 I/O errors"),
        ("JBD2: Error -5 detected when updating journal superblock for sda1-8.", "sda1 1 I/O errors"),
        ("BTRFS critical (device sdc2): corrupt leaf: root=2 block=1029783552 slot=1, unexpected item end", "sdc2 1 corruption messages"),
        ("BTRFS: error (device sdc2: state EA) in cleanup_transaction:1670: errno=-5 IO failure", "sdc2 1 read-only or shut down"),
        ("BTRFS: error (device vda2: state A) in __btrfs_free_extent:3079: errno=-28 No space left", "vda2 1 lacks of space"),
        ("BTRFS info (device sdc2): forced readonly", "sdc2 1 read-only or shut down"),
        ("BTRFS error (device sda1): parent transid verify failed on 1094631424 wanted 414662 found 414661", "sda1 1 corruption messages"),
        ("BTRFS warning (device sda2): csum failed root 257 ino 248728 off 28672 csum 0x137053c8 expected csum 0x7dff8390 mirror 1", "sda2 1 corruption messages"),
        ("BTRFS error (device dm-0): bdev /dev/mapper/root_1 errs: wr 0, rd 3535, flush 0, corrupt 0, gen 0", "dm-0 1 I/O errors"),
        ("BTRFS error (device sda1): bdev /dev/sdb1 errs: wr 0, rd 0, flush 0, corrupt 2, gen 0", "sdb1 1 further corruption messages"),
        ("BTRFS warning (device dm-0): direct IO failed ino 4077816 rw 0,0 sector 0x3660bb80 len 4096 err no 10", "dm-0 1 I/O errors"),
        ("BTRFS warning (device sdc2): devid 4 uuid 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e is missing", "sdc2 1 missing devices"),
        ("BTRFS error (device sdc2): open_ctree failed", "sdc2 1 failed mounts"),
        ("BTRFS error (device sdc2 state C): open_ctree failed: -22", "sdc2 1 failed mounts"),
        ("btrfs: checksum error at logical 5 on dev /dev/sdc2, sector 9, root 5, inode 3, offset 0, length 4096, links 1 (path: a)", "sdc2 1 corruption messages"),
        ("btrfs: unable to fixup (regular) error at logical 5 on dev /dev/sdc2", "sdc2 1 corruption messages"),
        ("F2FS-fs (mmcblk0p3): inconsistent node block, nid:5, node_footer[nid:0,ino:0,ofs:0,cpver:0,blkaddr:0]", "mmcblk0p3 1 corruption messages"),
        ("FAT-fs (sdb1): Filesystem has been set read-only", "sdb1 1 read-only or shut down"),
        ("FAT-fs (sdb1): Directory bread(block 8192) failed", "sdb1 1 I/O errors"),
        ("<1>I/O error in filesystem (\"sda2\") meta-data dev sda2 block 0xf054f4 (\"xlog_iodone\") error 5 buf count 32768", "sda2 1 I/O errors"),
        ("<5>xfs_force_shutdown(sda2,0x2) called from line 956 of file fs/xfs/xfs_log.c.", "sda2 1 read-only or shut down"),
        ("sd 0:0:0:0: [sda] Read Capacity(16) failed: Result: hostbyte=DID_BAD_TARGET driverbyte=DRIVER_OK", "sda 1 offline messages"),
    ] {
        assert_eq!(told(&format!("[  700.000001] {line}\n")), [said], "{line}");
        assert_eq!(told(&format!("Mar 1 10:00:00 db kernel: {line}\n")), [said], "{line}");
    }
}

/// What a scrub finds on one device of several, and what it repairs there.
#[test]
fn damage_and_its_repair_are_of_the_member() {
    let found = "[ 1.1] BTRFS warning (device sda1): checksum error at logical 5 on dev /dev/sdb1, physical 7, root 5, inode 3, offset 0\n\
        [ 1.1] BTRFS error (device sda1): bdev /dev/sdb1 errs: wr 0, rd 0, flush 0, corrupt 1, gen 0\n";
    let mended = "[ 1.1] BTRFS error (device sda1): fixed up error at logical 5 on dev /dev/sdb1\n";
    assert_eq!(
        told(&(found.to_owned() + mended)),
        ["sdb1 1 corruption messages", "sdb1 1 further corruption messages", "sdb1 1 repaired blocks"]
    );
    let lost =
        "[ 1.1] BTRFS error (device sda1): unable to fixup (regular) error at logical 5 on dev /dev/sdb1\n";
    assert_eq!(told(lost), ["sdb1 1 corruption messages"]);
}

#[test]
fn a_healthy_file_system_is_not() {
    for line in [
        "XFS (sda1): Mounting V5 Filesystem",
        "XFS (sda1): Mounting V5 Filesystem 0d2b1d4e-6a3c-4b0e-8f5e-3f3c7f1c2a11",
        "XFS (sda1): Ending clean mount",
        "XFS (sda1): Starting recovery (logdev: internal)",
        "XFS (sda1): Ending recovery (logdev: internal)",
        "XFS (sda1): Unmounting Filesystem",
        "XFS (sda1): Quotacheck needed: Please wait.",
        "XFS (sdb1): Invalid superblock magic number",
        "XFS (sdb1): User initiated shutdown received. Shutting down filesystem",
        "XFS (sdb1): User initiated shutdown (0x8) has been detected at xfs_fs_goingdown+0x5d/0xb0 [xfs].  Shutting down filesystem.",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode. Quota mode: none.",
        "EXT4-fs (sda1): re-mounted. Opts: errors=remount-ro. Quota mode: none.",
        "EXT4-fs (sda1): recovery complete",
        "EXT4-fs (sda1): orphan cleanup on readonly fs",
        "EXT4-fs (sda1): error count since last fsck: 12",
        "EXT4-fs (sda1): last error at time 1669139180: ext4_journal_check_start:61",
        "EXT4-fs (sda1): warning: maximal mount count reached, running e2fsck is recommended",
        "EXT4-fs (sda1): couldn't mount as ext3 due to feature incompatibilities",
        "BTRFS info (device sda1): disk space caching is enabled",
        "BTRFS info (device sda1): using crc32c (crc32c-intel) checksum algorithm",
        "BTRFS info (device sda1): bdev /dev/sda1 errs: wr 0, rd 3, flush 0, corrupt 0, gen 0",
        "BTRFS info (device sda1): scrub: finished on devid 1 with status: 0",
        "btrfs: bdev /dev/sdc2 errs: wr 0, rd 3, flush 0, corrupt 0, gen 0",
        "btrfs: disk space caching is enabled",
        "BTRFS warning (device sdc): duplicate device fsid:devid for 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e:1 old:/dev/sdc new:/dev/sdd",
        "BTRFS: device label data devid 1 transid 12 /dev/sda1 scanned by systemd-udevd (312)",
        "F2FS-fs (mmcblk0p3): Mounted with checkpoint version = 4dfc3f2a",
        "FAT-fs (sda1): Volume was not properly unmounted. Some data may be corrupt. Please run fsck.",
        "sdb: detected capacity change from 31116288 to 0",
        "loop0: detected capacity change from 8 to 0",
        "loop0: detected capacity change from 0 to 113640",
        "sd 6:0:0:0: [sdb] Synchronize Cache(10) failed: Result: hostbyte=DID_ERROR driverbyte=DRIVER_OK",
    ] {
        assert!(told(&format!("[    1.000001] {line}\n")).is_empty(), "{line}");
    }
    let prose = "XFS (or EXT4) had an error, JBD2: see the list on xfs. BTRFS (device mapper) was shut down.";
    assert!(told(prose).is_empty(), "{:?}", told(prose));
}

#[test]
fn one_failure_counts_once_for_file_system_and_disk() {
    let disk = "[ 14.0] critical medium error, dev sdb, sector 8472 op 0x0:(READ) flags 0x3000 phys_seg 1 prio class 2\n";
    let seen = "[ 14.0] EXT4-fs error (device sdb1): __ext4_get_inode_loc_noinmem:4596: inode #12: block 1059: comm ls: unable to read itable block\n";
    assert_eq!(told(&format!("{disk}{seen}").repeat(2)), ["sdb 2 medium errors"]);
    let given_up = "[ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s\n";
    assert_eq!(told(&format!("{given_up}{seen}")), ["sdb 1 transport errors"]);
    let write = "[ 9.1] BTRFS warning (device sda3): lost page write due to IO error on /dev/sdb3 (-5)\n\
        [ 9.1] BTRFS error (device sda3): bdev /dev/sdb3 errs: wr 1, rd 0, flush 0, corrupt 0, gen 0\n";
    assert_eq!(told(&write.repeat(3)), ["sdb3 3 I/O errors"]);
    let damage = "[ 9.1] XFS (dm-8): Metadata corruption detected at xfs_dir3_data_read_verify+0x5e/0x110 [xfs], xfs_dir3_data block 0x5e070348 \n\
        [ 9.1] XFS (dm-8): metadata I/O error: block 0x5e070348 (\"xfs_trans_read_buf_map\") error 117 numblks 8 \n";
    assert_eq!(told(damage), ["dm-8 1 corruption messages", "dm-8 1 further corruption messages"]);
}

#[test]
fn an_error_that_btrfs_returns_for_damage_is_none_of_the_disk() {
    let text = "[ 979.223767] BTRFS critical (device sdc2): corrupt leaf: root=2\nblock=1029783552 slot=1, unexpected item end, have 16161 expect 16250\n\
        [ 979.223808] BTRFS: error (device sdc2) in __btrfs_cow_block:1080:\nerrno=-5 IO failure\n\
        [ 979.223810] BTRFS info (device sdc2): forced readonly\n";
    assert_eq!(told(text), ["sdc2 1 corruption messages", "sdc2 1 read-only or shut down"]);
}

/// XFS and ext4 find damage, or cannot read, and what they say of that afterwards is no error of the disk, or no damage.
#[test]
fn what_a_file_system_returns_once_it_stopped_is_no_error_of_the_disk() {
    let write = "[ 9.3] XFS (dm-8): writeback error on sector 738263040\n";
    let stop = "[ 9.1] XFS (dm-8): xfs_imap_to_bp: xfs_trans_read_buf() returned error -117.\n\
        [ 9.2] XFS (dm-8): xfs_do_force_shutdown(0x8) called from line 3486 of file fs/xfs/xfs_inode.c.  Return address = 0\n\
        [ 9.2] XFS (dm-8): Corruption of in-memory data detected.  Shutting down filesystem\n";
    let stopped =
        ["dm-8 1 corruption messages", "dm-8 1 further corruption messages", "dm-8 1 read-only or shut down"];
    assert_eq!(told(&format!("{stop}{write}{write}")), stopped);
    assert!(told(&format!("{write}{write}{stop}")).contains(&"dm-8 2 I/O errors".to_owned()));
    let unread = "[ 9.1] EXT4-fs error (device sda1): ext4_discard_preallocations:3961: comm a: Error reading block bitmap for 138\n\
        [ 9.1] EXT4-fs error (device sda1): ext4_discard_preallocations:3954: comm a: Error -5 loading buddy information for 138\n";
    assert_eq!(told(unread)[0], "sda1 1 I/O errors");
    let full = "[ 9.1] BTRFS: Transaction aborted (error -28)\n[ 9.1] BTRFS: error (device sda1) in btrfs_run_delayed_refs:2188: errno=-28 No space left\n";
    assert_eq!(told(full), ["sda1 1 lacks of space"]);
}

/// What btrfs uses under the old name is gone, whether its errors come before or after it is seen again; other disks fail themselves.
#[test]
fn errors_of_a_disk_that_came_back_under_another_name_are_none_of_its_own() {
    let moved = "[ 31.0] BTRFS warning (device sdc1): duplicate device fsid:devid for 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e:1 old:/dev/sdc1 new:/dev/sdk1\n";
    let failed = |disk: &str, at: u32| {
        format!("[ {at}.0] BTRFS error (device sdc1): bdev /dev/{disk} errs: wr 1, rd {at}, flush 0, corrupt 0, gen 0\n")
    };
    let text = format!("{}{}{moved}{}", failed("sdd1", 11), failed("sdc1", 12), failed("sdc1", 45));
    assert_eq!(told(&text), ["sdc1 1 disconnects", "sdc1 2 transport errors", "sdd1 1 I/O errors"]);
    let output = ToolOutput::read("dmesg", text.as_bytes());
    assert_eq!(output.log_fact(LogFact::NewName, "sdc1"), Some("sdk1"));
    let other = format!("{moved}{}", failed("sdd1", 45));
    assert_eq!(told(&other), ["sdd1 1 I/O errors"], "a copy of the disk was attached");
}

/// Totals of a mount are of an earlier time, and read by themselves.
#[test]
fn totals_between_the_lines_of_a_failed_mount_are_not_lost() {
    let text =
        "[ 7.0] BTRFS warning (device sdc2): devid 4 uuid 0b9e8a52-3f77-4a63-9d6e-1f0c2b3a4d5e is missing\n\
        [ 7.1] BTRFS info (device sdc2): bdev /dev/sdc2 errs: wr 3, rd 0, flush 0, corrupt 0, gen 0\n\
        [ 7.2] BTRFS error (device sdc2): open_ctree failed\n";
    assert_eq!(told(text), ["sdc2 1 failed mounts", "sdc2 1 missing devices"]);
    assert_eq!(all(text, "btrfs stats").len(), 1);
    // Before Linux 3.14 nothing tells them from those of an error, between whose lines they stand.
    let old = "[ 7.0] btrfs: checksum error at logical 5 on dev /dev/sdc2, sector 9, root 5\n\
        [ 7.0] btrfs: bdev /dev/sdc2 errs: wr 0, rd 0, flush 0, corrupt 1, gen 0\n\
        [ 7.0] btrfs: unable to fixup (regular) error at logical 5 on dev /dev/sdc2\n";
    assert_eq!(
        (told(old), all(old, "btrfs stats").len()),
        (vec!["sdc2 2 corruption messages".to_owned()], 0)
    );
}

#[test]
fn bcachefs_stops_under_its_uuid_or_its_device() {
    for (text, of) in [
        ("[1.0] bcachefs (000bfc4b-0000-41dd-895b-a200832c0000): inconsistency detected - emergency read only at journal seq 8\n", "000bfc4b-0000-41dd-895b-a200832c0000"),
        ("[1.0] bcachefs (sda1): fatal error - emergency read only\n", "sda1"),
    ] {
        let reading = one(text, "kernel log");
        assert_eq!(reading.row(of).and_then(|row| row.value("read-only or shut down")), Some(1.0), "{text}");
    }
    let stuck = one("[1.0] bcachefs (sda1): Journal stuck? Waited for 10 seconds...\n", "kernel log");
    assert_eq!(stuck.rows[0].value("stuck journals"), Some(1.0));
    for text in [
        "[1.0] bcachefs (sda1): emergency read only due to ioctl\n",
        "[1.0] bcachefs (sda1): mounted version 1.7\n",
    ] {
        assert!(all(text, "kernel log").is_empty(), "{text}");
    }
}

#[test]
fn f2fs_that_cannot_be_mounted_is_damaged() {
    let text = "[1.0] F2FS-fs (dm-1): Mismatch valid blocks 872 vs. 237\n[1.1] F2FS-fs (dm-1): Failed to initialize F2FS segment manager (-117)\n";
    let reading = one(text, "kernel log");
    let row = reading.row("dm-1").expect("a row");
    assert_eq!(
        (row.value("corruption messages"), row.value("further corruption messages")),
        (Some(1.0), Some(1.0))
    );
    let memory = one("[1.0] F2FS-fs (dm-1): Failed to initialize F2FS segment manager (-12)\n", "kernel log");
    let kinds: Vec<&str> = memory.rows[0].values.iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["lacks of memory"]);
}

/// A test's request, with ext4 and XFS; another file system that stops by itself is told.
#[test]
fn a_shutdown_on_request_is_no_trouble() {
    let asked = "[1.0] EXT4-fs (sda1): shut down requested (2)\n[1.1] Aborting journal on device sda1-8.\n";
    assert!(all(asked, "kernel log").is_empty());
    let xfs = "[1.0] XFS (sda1): User initiated shutdown received. Shutting down filesystem\n[1.1] XFS (sda1): Please unmount the filesystem\n";
    assert!(all(xfs, "kernel log").is_empty());
    let both = one(&format!("{asked}[1.2] Aborting journal on device sdb1-8.\n"), "kernel log");
    assert_eq!((both.rows.len(), both.rows[0].value("read-only or shut down")), (1, Some(1.0)));
}
