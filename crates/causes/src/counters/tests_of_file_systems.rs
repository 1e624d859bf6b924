//! File systems that stop or are damaged, beside errors of their devices or without.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Confidence, Verdict};
use tooltext::ToolOutput;

const NAME: &str = "file-system-error";

fn verdicts(text: &str) -> Vec<Verdict> {
    judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())])
}

fn found(text: &str) -> Vec<&'static str> {
    verdicts(text).iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause).collect()
}

fn of(text: &str) -> Verdict {
    verdicts(text).into_iter().find(|v| v.cause == NAME).unwrap_or_else(|| panic!("nothing of {text}"))
}

fn said(v: &Verdict) -> String {
    v.evidence.iter().map(|e| e.sentence() + "\n").collect()
}

fn commands(v: &Verdict) -> String {
    v.remedies.iter().map(|r| format!("{}: {}\n", r.what, r.command())).collect()
}

const SHUT_DOWN: &str = "[ 61.2] XFS (sdb1): Filesystem has been shut down due to log error (0x2).\n";

#[test]
fn after_errors_of_the_disk_or_its_link_it_is_a_consequence() {
    let medium =
        "[ 61.0] critical medium error, dev sdb, sector 8472 op 0x0:(READ) flags 0x3000 phys_seg 1\n";
    let gone = "[ 61.0] sd 3:0:0:1: [sdb] Synchronizing SCSI cache\n[ 61.0] sd 3:0:0:1: [sdb] Synchronize Cache(10) failed: Result: \
        hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK\n";
    let nvme = "[ 60.1] nvme nvme0: I/O 12 QID 3 timeout, aborting\n[ 61.1] nvme nvme0: Removing after probe failure status: -19\n\
        [ 61.1] XFS (nvme0n1p2): log I/O error -5\n";
    let of_nvme = SHUT_DOWN.replace("sdb1", "nvme0n1p2");
    for (text, first, of_what) in [
        (medium.repeat(2) + SHUT_DOWN, "device-errors", "errors of sdb "),
        ("[ 61.1] XFS (sdb1): log I/O error -5\n".repeat(2) + SHUT_DOWN, "device-errors", "errors of sdb1 "),
        (
            gone.to_owned() + &"[ 61.1] XFS (sdb1): log I/O error -5\n".repeat(2) + SHUT_DOWN,
            "link-reset",
            "errors of sdb ",
        ),
        (nvme.to_owned() + &of_nvme, "link-reset", "errors of nvme0 "),
    ] {
        assert_eq!(found(&text), [first, NAME], "{text}");
        let v = of(&text);
        assert!(said(&v).contains("a consequence of the ") && said(&v).contains(of_what), "{}", said(&v));
    }
    // Another disk's error explains nothing.
    let other = medium.replace("sdb", "sdc").repeat(2) + SHUT_DOWN;
    assert!(!said(&of(&other)).contains("consequence"));
}

/// Nothing is lost then, and nothing has to be taken out of use.
#[test]
fn what_was_repaired_needs_no_backup_first() {
    let one =
        "[ 1.1] BTRFS error (device dm-15): bdev /dev/dm-10 errs: wr 0, rd 0, flush 0, corrupt 1, gen 0\n\
        [ 1.1] BTRFS error (device dm-15): fixed up error at logical 5 on dev /dev/dm-10 physical 7\n";
    let v = of(&one.repeat(3));
    assert!(said(&v).contains("btrfs repaired 3 blocks of dm-10 from another copy"), "{}", said(&v));
    assert!(
        !commands(&v).contains("back up") && commands(&v).contains("btrfs device stats"),
        "{}",
        commands(&v)
    );
    let lost = one.repeat(3) + &"[ 1.2] BTRFS error (device dm-15): unable to fixup (regular) error at logical 5 on dev /dev/dm-10\n".repeat(4);
    assert!(commands(&of(&lost)).contains("back up"), "{}", commands(&of(&lost)));
}

#[test]
fn damage_is_found_from_two_messages_and_is_not_the_disks() {
    let bad = "[ 9.1] EXT4-fs error (device sdb1): ext4_lookup:1855: inode #393: comm find: iget: checksum invalid\n";
    assert_eq!(of(bad).verdict, Answer::CannotTell);
    let v = of(&bad.repeat(2));
    assert_eq!((v.verdict, v.confidence), (Answer::Found, Some(Confidence::Medium)));
    assert_eq!(found(&bad.repeat(2)), [NAME]);
    assert!(said(&v).contains("ext4 on sdb1 finds its data damaged: 2 messages"), "{}", said(&v));
    let all = commands(&v);
    assert!(all.contains("e2fsck -fn /dev/sdb1") && all.contains("the disk need not fail"), "{all}");
    assert!(!all.contains("ddrescue"), "{all}");
}

#[test]
fn damage_that_is_told_twice_is_one() {
    // XFS prints the damaged block between its two lines.
    let row = "[ 9.1] ffff91559a395000: 2f 76 61 72 2f 6c 69 62 2f 70 75 6c 70 2f 63 6f  /var/lib/pulp/co\n";
    let text = "[ 9.1] XFS (dm-8): Metadata corruption detected at xfs_dir3_data_read_verify+0x5e/0x110 [xfs], block 0x5e070348\n".to_owned()
        + &row.repeat(8)
        + "[ 9.1] XFS (dm-8): metadata I/O error: block 0x5e070348 (\"xfs_trans_read_buf_map\") error 117 numblks 8\n";
    assert_eq!(of(&text).verdict, Answer::CannotTell);
    assert_eq!(found(&text.repeat(2)), [NAME]);
}

#[test]
fn every_file_system_is_checked_by_its_own_program_which_only_reads() {
    for (line, command) in [
        ("XFS (dm-8): I/O Error Detected. Shutting down filesystem", "xfs_repair -n /dev/dm-8"),
        ("EXT4-fs (sda1): Remounting filesystem read-only", "e2fsck -fn /dev/sda1"),
        ("Aborting journal on device sda1-8.", "e2fsck -fn /dev/sda1"),
        ("BTRFS info (device sdc2): forced readonly", "btrfs check --readonly /dev/sdc2"),
        ("F2FS-fs (mmcblk0p3): Stopped filesystem due to reason: 1", "fsck.f2fs --dry-run /dev/mmcblk0p3"),
        ("FAT-fs (sdb1): Filesystem has been set read-only", "fsck.fat -n /dev/sdb1"),
    ] {
        let v = of(&format!("[ 9.1] {line}\n"));
        assert_eq!(v.verdict, Answer::Found, "{line}");
        assert!(commands(&v).contains(command), "{line}: {}", commands(&v));
    }
}

#[test]
fn lack_of_space_is_no_error_of_the_disk() {
    let text =
        "[ 9.1] BTRFS: error (device vda2: state A) in __btrfs_free_extent:3079: errno=-28 No space left\n\
        [ 9.1] BTRFS info (device vda2: state EA): forced readonly\n";
    assert_eq!(found(text), [NAME]);
    assert!(said(&of(text)).contains("no space") && commands(&of(text)).contains("filesystem usage"));
}

#[test]
fn a_device_that_is_gone_is_told_by_the_file_system_too() {
    let text = "[ 9.1] EXT4-fs warning (device dm-1): ext4_end_bio:316: I/O error -19 writing to inode 10223621 (offset 0 size 4096)\n";
    assert_eq!(found(&text.repeat(2)), ["link-reset"]);
    assert!(commands(&verdicts(&text.repeat(2))[0]).contains("lsblk -s"));
}

#[test]
fn a_file_system_with_a_uuid_has_no_disk_of_a_number() {
    let v = of("[1.0] bcachefs (000bfc4b-0000-41dd-895b-a200832c0000): inconsistency detected - emergency read only\n");
    assert_eq!(v.verdict, Answer::Found);
    assert!(!commands(&v).contains("scsi_device"), "{}", commands(&v));
}

/// A pool whose volumes cannot write, and errors of its volumes that are the consequence.
#[test]
fn a_thin_pool_without_space_is_no_disk_that_fails() {
    let volume =
        "[ 61.5] Buffer I/O error on dev dm-7, logical block 2621407, lost async page write\n".repeat(3);
    let full = "[ 61.0] device-mapper: thin: 253:4: switching pool to out-of-data-space (queue IO) mode\n";
    assert_eq!(found(&format!("{full}{volume}")), ["file-system-error"]);
    let v = of(full);
    assert_eq!(said(&v), "the thin pool dm-4 has no free space: new writes wait, or fail (dmesg:1)\n");
    assert!(commands(&v).contains("lvs -a -o lv_name") && !commands(&v).contains("back up"), "{v:?}");
    let failed = "[ 61.0] device-mapper: thin: 253:4: unable to service pool target messages in READ_ONLY or FAIL mode\n";
    assert_eq!(
        said(&of(failed)),
        "the thin pool dm-4 takes no more writes: it failed or is read-only (dmesg:1)\n"
    );
    // Nearly full is nothing yet.
    let low = "[ 61.0] device-mapper: thin: 253:4: reached low water mark for data device: sending event.\n";
    assert_eq!(found(&format!("{low}{volume}")), ["device-errors"]);
}

/// The page cache's error of such a request accuses no disk.
#[test]
fn requests_behind_the_end_of_a_device_are_no_failure_of_it() {
    let text = "[ 9.0] attempt to access beyond end of device\n[ 9.0] sdb1: rw=0, want=3907029176, limit=3907024896\n\
        [ 9.1] Buffer I/O error on dev sdb1, logical block 488378646, async page read\n";
    let v = of(&text.repeat(2));
    assert_eq!(v.verdict, Answer::CannotTell);
    assert!(said(&v).starts_with("sdb1: 2 requests behind its end (dmesg:2)"), "{}", said(&v));
    assert!(verdicts(text).iter().all(|v| v.cause == NAME), "nothing else is told");
}

#[test]
fn a_file_system_without_memory_is_not_damaged() {
    let text = "[ 9.0] EXT4-fs error (device sdc1) in ext4_free_blocks:4879: Out of memory\n[ 9.1] Aborting journal on device sdc1-8.\n";
    let v = of(text);
    assert!(said(&v).contains(", since it got no memory (dmesg:1)"), "{}", said(&v));
    assert!(commands(&v).contains("free -m") && !commands(&v).contains("e2fsck"), "{}", commands(&v));
}

#[test]
fn a_volume_without_space_says_so() {
    let text = "[ 9.0] critical space allocation error, dev dm-3, sector 8 op 0x1:(WRITE) flags 0x800\n\
        [ 9.1] Buffer I/O error on dev dm-3, logical block 1, lost async page write\n";
    let v = of(&text.repeat(2));
    assert!(said(&v).starts_with("the pool below dm-3 has no free space"), "{}", said(&v));
    assert_eq!(found(text), [NAME]);
}
